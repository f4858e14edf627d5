"""Run whole processes and read what the kernel says they used."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
LONG = 10.0  # CPU seconds after which a command is not run again: its noise is small
MAXRSS_UNIT = 1024 * 1024 if sys.platform == "darwin" else 1024  # `ru_maxrss` per MiB


class Usage(NamedTuple):
    """One process with all its children; `cpu` and `wall` in seconds, `peak` in MiB."""

    cpu: float
    wall: float
    peak: float
    code: int
    output: str
    errors: str

    @property
    def last_line(self) -> str:
        """What the process said last: of a traceback, the error."""
        lines = (self.output + self.errors).strip().splitlines()
        return lines[-1] if lines else ""


def run(command: Sequence[str], cpu_limit: int | None = None) -> Usage:
    """Run a command from the root of the repository; past `cpu_limit` seconds it is killed.

    CPU and peak memory are `os.wait4`'s `ru_utime + ru_stime` and `ru_maxrss`. Linux counts what
    this process occupies when it forks towards the child's peak, so it must stay small: graphs
    are generated in processes of their own.
    """
    if cpu_limit is not None:
        command = ["sh", "-c", f'ulimit -t {cpu_limit}; exec "$@"', "sh", *command]
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        start = time.perf_counter()
        child = subprocess.Popen(
            command,
            cwd=ROOT,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
        )
        _, status, used = os.wait4(child.pid, 0)
        wall = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        said = [_text(output), _text(errors)]
    cpu = used.ru_utime + used.ru_stime
    return Usage(cpu, wall, used.ru_maxrss / MAXRSS_UNIT, child.returncode, *said)


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8", "replace")


def _environment() -> dict[str, str]:
    """Leave byte code on (a cold start reads it) and make set order the same in every run."""
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return kept | {"PYTHONHASHSEED": "0", "NO_COLOR": "1"}


def best(
    commands: Mapping[str, Sequence[str]], rounds: int, cpu_limit: int | None = None
) -> dict[str, Usage]:
    """Run the commands in turn, `rounds` times, and keep the run of each with the least CPU.

    In turn, so that a busy moment of the machine meets all of them.
    """
    found: dict[str, Usage] = {}
    for _ in range(rounds):
        for name, command in commands.items():
            if name in found and found[name].cpu > LONG:
                continue
            usage = run(command, cpu_limit)
            if name not in found or usage.cpu < found[name].cpu:
                found[name] = usage
    return found
