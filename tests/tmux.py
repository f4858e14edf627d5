"""A terminal for the tests: tmux, with one window that runs statecli."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parent.parent
TMUX = shutil.which("tmux")
#: A test that waits longer than this for something on the screen fails.
SECONDS = 20.0


class Terminal:
    """`statecli ARGS` in a window of 100 columns and 50 rows; ``[exit N]`` stands behind its end.
    The window stays, with all that was printed."""

    def __init__(self, data: Path, *args: str, columns: int = 100, **environment: str) -> None:
        self.name = f"statecli-{uuid.uuid4().hex[:8]}"
        given = {"STATECLI_DATA": str(data), "STATECLI_MODEL": "", **environment}
        settings = [f"{key}={value}" for key, value in given.items()]
        words = ["env", *settings, sys.executable, "-m", "statecli", *args]
        command = f'trap : INT; {shlex.join(words)}; echo "[exit $?]"; sleep 1000'
        self.tmux(
            "-f", "/dev/null", "new-session", "-d", "-x", str(columns), "-y", "50",
            "-c", str(ROOT), "sh", "-c", command,
        )  # fmt: skip

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        subprocess.run(["tmux", "-L", self.name, "kill-server"], check=False, capture_output=True)

    def tmux(self, *words: str, text: str | None = None) -> str:
        done = subprocess.run(
            ["tmux", "-L", self.name, *words],
            input=text,
            capture_output=True,
            check=True,
            text=True,
            env={**os.environ, "LANG": "C.UTF-8", "TERM": "xterm-256color"},
        )
        return done.stdout

    def screen(self, *, colors: bool = False) -> list[str]:
        """All lines, also those that scrolled away; wrapped ones as one."""
        words = ["capture-pane", "-p", "-J", "-S", "-2000", *(["-e"] if colors else [])]
        return [line.rstrip() for line in self.tmux(*words).rstrip().split("\n")]

    def press(self, *keys: str) -> None:
        """Keys by their names in tmux: Enter, C-c, M-Enter."""
        self.tmux("send-keys", *keys)

    def type(self, line: str) -> None:
        """A line and Enter, once the screen shows a prompt to type at."""
        self.wait_for_prompt()
        before = self.prompts()
        if line:
            self.press("-l", line)
        self.press("Enter")
        self.wait_until(lambda: self.prompts() > before or self.ended(), f"a prompt after {line!r}")

    def prompts(self) -> int:
        """How many lines have a prompt, if the last one waits to be typed at; else 0."""
        found = [line for line in self.screen() if re.match(r"[\w -]+>( |$)|\?( |$)", line)]
        waits = bool(found) and (found[-1].endswith(">") or found[-1] == "?")
        return len(found) if waits else 0

    def asks_to_start(self) -> bool:
        """Whether the question is open if a server may be started."""
        found = [line for line in self.screen() if line]
        asked = [n for n, line in enumerate(found) if line.endswith("for this graph? (yes or no)")]
        return bool(asked) and found[asked[-1] + 1 : asked[-1] + 2] == ["?"]

    def wait(self, text: str) -> None:
        """Until a text is on the screen."""
        self.wait_until(lambda: any(text in line for line in self.screen()), repr(text))

    def wait_for_prompt(self) -> None:
        self.wait_until(lambda: self.prompts() > 0, "a prompt")

    def ended(self) -> bool:
        return any(line.startswith("[exit ") for line in self.screen())

    def code(self) -> int:
        """The exit code, once the command is through."""
        self.wait_until(self.ended, "the end")
        line = next(line for line in self.screen() if line.startswith("[exit "))
        return int(line[6:-1])

    def pid(self) -> int:
        """The process of statecli."""
        shell = self.tmux("list-panes", "-F", "#{pane_pid}").strip()
        words = ["ps", "-o", "pid=", "--ppid", shell]
        return int(subprocess.run(words, capture_output=True, check=True).stdout.split()[0])

    def wait_until(self, holds: Callable[[], bool], what: str) -> None:
        end = time.monotonic() + SECONDS
        while not holds():
            assert time.monotonic() < end, f"{what} never came:\n" + "\n".join(self.screen())
            time.sleep(0.03)
