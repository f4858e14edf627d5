"""One process per session: a lock of the operating system, gone when its process dies."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import IO


class Locked(Exception):
    """Another process has the session open."""


class Lock:
    """Held from `take` until `release` (or the end of the process)."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: IO[bytes] | None = None

    def take(self) -> None:
        """Raises Locked when another process holds it."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        file = self.path.open("ab")
        try:
            _lock(file)
        except OSError:
            file.close()
            raise Locked(str(self.path)) from None
        self._file = file

    def release(self) -> None:
        if self._file is not None:
            self._file.close()
            # The file stays: to remove it while another process opens it would make two locks.
            self._file = None


if sys.platform == "win32":  # pragma: no cover
    import msvcrt

    def _lock(file: IO[bytes]) -> None:
        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
