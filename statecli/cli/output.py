"""Where text goes: standard output, and standard error for what is said beside it."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable, Iterator
from typing import TextIO

from statecli.discover import reason_of
from statecli.model.unable import Unable


def streams() -> None:
    """UTF-8 whatever the locale; a character that a terminal cannot show is replaced. A stream
    that was closed before we began takes everything and shows nothing."""
    if sys.stdout is None or sys.stderr is None:
        null = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - until the process ends
        sys.stdout, sys.stderr = sys.stdout or null, sys.stderr or null
    for stream in (sys.stdout, sys.stderr):
        change = getattr(stream, "reconfigure", None)
        if change is None:
            continue
        if stream.isatty():
            change(errors="replace")
        else:
            change(encoding="utf-8", errors="replace")


def write(pieces: Iterable[str]) -> None:
    """Write to standard output. A reader that went away (`| head`) is no error."""
    with _to_reader():
        for piece in pieces:
            sys.stdout.write(piece)
        sys.stdout.flush()


def write_bytes(content: bytes) -> None:
    """Likewise, for what is no text."""
    with _to_reader():
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()


@contextlib.contextmanager
def _to_reader() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        hush()
    except OSError as error:
        hush()
        raise Unable(f"standard output: {reason_of(error)}") from error


def tell(line: str) -> None:
    """Say something that is no result: on standard error."""
    with contextlib.suppress(BrokenPipeError):
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()


def flush() -> None:
    """Send out what is still held back, at the end of the process."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):  # nobody reads it any more
            hush()


def hush() -> None:
    """Let nothing more be written to a standard output that nobody reads, nor complained about."""
    try:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)
    except (OSError, ValueError):  # a stream without a descriptor, in tests
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - until the end


def wants_color(no_color: bool, stream: TextIO | None = None) -> bool:
    """Whether a stream (standard output if none is given) is a terminal that shows colours, and
    nobody asked for none."""
    if no_color or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return (stream or sys.stdout).isatty()


def width() -> int:
    """The columns of the terminal; 120 where there is none."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdigit() and int(columns) > 20:
        return int(columns)
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns
    except (OSError, ValueError):
        return 120
