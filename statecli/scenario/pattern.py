"""Regular expressions of a file, which may take longer than anybody waits."""

from __future__ import annotations

import re
import signal
import threading
from typing import NoReturn

#: Seconds that one expression may look at one text: far more than any sensible one needs.
LIMIT = 2.0


class TooSlow(Exception):
    """An expression such as ``(a+)+$`` tries more ways through a text than there is time for."""


def occurs(pattern: str, text: str) -> bool:
    """Whether an expression matches somewhere. Raises TooSlow, where the system has alarms and
    this is the thread that gets them."""
    search = re.compile(pattern, re.MULTILINE).search
    alone = threading.current_thread() is threading.main_thread()
    if not (alone and hasattr(signal, "setitimer")):
        return search(text) is not None
    handler = signal.signal(signal.SIGALRM, _stop)
    before = signal.setitimer(signal.ITIMER_REAL, LIMIT)
    try:
        return search(text) is not None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, *before)


def _stop(_number: int, _frame: object) -> NoReturn:
    raise TooSlow
