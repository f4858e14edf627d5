"""Files that are there as a whole or not at all."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager

from statecli.discover import reason_of
from statecli.model.unable import Unable


def write_file(path: str, content: bytes) -> None:
    """Write a file as a whole: whoever reads it sees the old content or the new one.

    A link stays a link, and the permissions stay.
    """
    real = os.path.realpath(path)
    with _told(path, real):
        if os.path.exists(real) and not os.access(real, os.W_OK):
            # To put another file into its place would be allowed, and is not what was meant.
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        if os.path.exists(real) and not os.path.isfile(real):  # /dev/null, a pipe
            with open(real, "wb") as file:
                file.write(content)
        else:
            _replace(real, content)


def may_write(path: str) -> None:
    """Raises what `write_file` would, and writes nothing."""
    real = os.path.realpath(path)
    with _told(path, real):
        if os.path.isdir(real):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if os.path.exists(real) and not os.path.isfile(real):
            return
        import tempfile

        folder, name = os.path.split(real)
        with tempfile.NamedTemporaryFile(prefix=f".{name}.", dir=folder):
            pass


@contextmanager
def _told(path: str, real: str) -> Iterator[None]:
    """What the system says of a file that cannot be written, in our words."""
    try:
        yield
    except OSError as error:
        folder = os.path.dirname(real)
        if not os.path.isdir(folder):
            raise Unable(f"{path}: there is no folder {os.path.dirname(path)}") from error
        raise Unable(f"{path}: {reason_of(error)}") from error


def check_place(path: str) -> None:
    """Raise Unable where a file could not be written: better before the work than after it."""
    real = os.path.realpath(path)
    folder = os.path.dirname(real)
    if os.path.isdir(real):
        raise Unable(f"{path}: this is a folder")
    if not os.path.isdir(folder):
        raise Unable(f"{path}: there is no folder {os.path.dirname(path) or folder}")
    if not os.access(real if os.path.exists(real) else folder, os.W_OK):
        raise Unable(f"{path}: nothing may be written here")


def _replace(path: str, content: bytes) -> None:
    import tempfile

    folder, name = os.path.split(path)
    handle, temporary = tempfile.mkstemp(prefix=f".{name}.", dir=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(temporary, _mode(path))
        os.replace(temporary, path)
    except BaseException:  # Ctrl-C too leaves nothing behind
        os.unlink(temporary)
        raise


def _mode(path: str) -> int:
    """The permissions a file has, or would get."""
    try:
        return os.stat(path).st_mode & 0o7777
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
