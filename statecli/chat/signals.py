"""What Ctrl-C, SIGTERM and the end of the terminal do to a chat."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def signals(strike: Callable[[], None], leave: Callable[[], None]) -> Iterator[None]:
    """While a chat runs: SIGINT calls `strike`; SIGTERM and SIGHUP call `leave`."""
    wanted = {"SIGINT": strike, "SIGTERM": leave, "SIGHUP": leave}
    before: dict[int, object] = {}
    try:
        for name, action in wanted.items():
            number = getattr(signal, name, None)  # Windows has no SIGHUP
            if number is not None:
                before[number] = signal.signal(number, lambda *_, act=action: act())
    except ValueError:  # not the main thread: whoever runs this handles signals
        pass
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]
