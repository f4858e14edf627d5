"""Runs one tool server and sees to it that nothing of it outlives statecli.

A program of its own: ``python keeper.py FD COMMAND...``. `FD` is the reading end of a pipe whose
other end only statecli holds; when that end is closed, by statecli or by its death however sudden,
the server and everything it started in its group are ended: asked first, killed after a moment.
On Linux also what left its group: who has lost their parent becomes a child of this program.
Standard input and output are the server's.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time

#: Seconds between the question to end and the end.
GRACE = 1.0
#: Of <linux/prctl.h>.
_PR_SET_CHILD_SUBREAPER = 36


def main(words: list[str]) -> int:
    """Run the command; its exit code, as a shell gives it."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: None)  # the pipe says when to end
    _adopt()
    try:
        child = subprocess.Popen(words[1:], start_new_session=True)  # noqa: S603 - as was allowed
    except OSError as error:
        sys.stderr.write(f"{words[1]}: {error.strerror}\n")
        return 127
    watch = threading.Thread(target=_watch, args=(int(words[0]), child.pid), daemon=True)
    watch.start()
    code = child.wait()
    _signal(child.pid, signal.SIGKILL)  # what the server itself left behind
    _end_orphans()
    return 128 - code if code < 0 else code


def _adopt() -> None:
    """Become the parent of every process below that loses its own (Linux; elsewhere nothing)."""
    if sys.platform == "linux":
        import ctypes

        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _end_orphans() -> None:
    """Kill what was adopted, and in turn what that leaves behind."""
    end = time.monotonic() + GRACE
    while (left := _children()) and time.monotonic() < end:
        for pid in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        time.sleep(0.01)


def _children() -> list[int]:
    """The processes whose parent is this one; none where there is no /proc."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for name in filter(str.isdecimal, os.listdir("/proc")):
            with contextlib.suppress(OSError, ValueError), open(f"/proc/{name}/stat", "rb") as file:
                # The name of a program stands in brackets, and may have spaces and brackets in it.
                if int(file.read().rpartition(b")")[2].split()[1]) == os.getpid():
                    found.append(int(name))
    return found


def _watch(pipe: int, group: int) -> None:
    """Wait for the other end to be closed, then end the group."""
    with contextlib.suppress(OSError):
        while os.read(pipe, 1):
            pass
    _signal(group, signal.SIGTERM)
    time.sleep(GRACE)
    _signal(group, signal.SIGKILL)


def _signal(group: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stderr.flush()
    os._exit(code)
