"""Every console block of the README prints what the README says; every other block is true too."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from transcripts import fits

from statecli.config import SEVERITIES
from statecli.lint.rule import rules

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
TEXT = README.read_text("utf-8")
CONSOLE = re.findall(r"^```console\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


def steps() -> list[tuple[str, list[str]]]:
    """Each command with the lines it should print."""
    found: list[tuple[str, list[str]]] = []
    for block in CONSOLE:
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            found.append((command, shown.splitlines()))
    return found


def printed(command: str, folder: Path) -> list[str]:
    """What a shell shows for a command, with `statecli` being this one."""
    shim = folder / "statecli"
    shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m statecli "$@"\n')
    shim.chmod(0o755)
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    data = str(folder / "data")
    environment = {**os.environ, "PATH": path, "STATECLI_DATA": data, "COLUMNS": "120"}
    done = subprocess.run(  # noqa: PLW1510 - the exit code of a pipe says nothing here
        ["sh", "-c", command],
        capture_output=True,
        cwd=ROOT,
        env=environment,
        text=True,
        encoding="utf-8",
    )
    return done.stdout.rstrip("\n").split("\n")


def rewritten(command: str, lines: list[str]) -> None:
    """STATECLI_UPDATE=1: write what is printed now; read the difference."""
    text = README.read_text("utf-8")
    pattern = rf"^\$ {re.escape(command)}\n(?:(?!```|\$ ).*\n)*"
    shown = "\n".join([f"$ {command}", *lines, ""])
    README.write_text(re.sub(pattern, lambda _: shown, text, flags=re.MULTILINE), "utf-8")


@pytest.mark.parametrize(("command", "expected"), steps(), ids=lambda value: str(value)[:50])
def test_console_block(command: str, expected: list[str], tmp_path: Path) -> None:
    lines = printed(command, tmp_path)
    if os.environ.get("STATECLI_UPDATE"):
        rewritten(command, lines)
        return
    assert fits(expected, lines), "\n".join(lines)


def test_two_commands_install_and_run() -> None:
    """One runs the main job, one the tests; `.ci/run` takes the second from here."""
    commands = re.findall(r"^```sh\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    assert [c.strip() for c in commands] == [
        "python -m pip install . && statecli validate graphs docs/broken.yaml",
        'python -m pip install -e ".[test]" && python -m pytest',
    ]


def test_the_settings_shown_are_settings() -> None:
    (block,) = re.findall(r"^```toml\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    settings = tomllib.loads(block)
    assert set(settings["extend-select"]) <= set(rules())
    assert set(settings["severity"]) <= set(rules())
    assert set(settings["severity"].values()) <= set(SEVERITIES)


def test_the_python_shown_runs() -> None:
    blocks = re.findall(r"^```python\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    assert blocks
    for block in blocks:
        subprocess.run([sys.executable, "-c", block], check=True, cwd=ROOT, capture_output=True)
