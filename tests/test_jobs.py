"""`test --jobs`: processes that cost little to begin, and that may die without a word."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from statecli.cli.jobs import _context

ROOT = Path(__file__).parent.parent
GRAPH = """
initial: ask
states:
  ask: {type: user, transition: {next: [work]}}
  work: {type: fragile, transition: {next: [end]}}
  end: {type: terminal}
"""
#: A kind whose code ends its process for one of the people.
FRAGILE = """
import os
from state_module.state import State
from state_module.state_registry import register_state

@register_state("fragile")
class Fragile(State):
    def run(self, context, agent=None):
        if context[-1].content == "crash":
            os._exit(7)
"""
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="processes are copied on Linux only")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "graph.yaml").write_text(GRAPH)
    (tmp_path / "state_fragile.py").write_text(FRAGILE)
    return tmp_path


def command(
    place: Path, *flags: str, python: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, *python, "-m", "statecli", "test", *flags, "."]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        words, cwd=place, env=env, capture_output=True, text=True, timeout=120, check=False
    )


def say(place: Path, number: int, word: str) -> None:
    text = f"graph: graph.yaml\nturns:\n  - {{say: {word}, expect: {{state: end}}}}\n"
    (place / f"t{number:02}.yaml").write_text(text)


@pytest.mark.parametrize("crashing", [{0}, {4, 5}, {11}, set(range(12))])
def test_a_process_that_dies_takes_only_its_file_along(crashing: set[int], place: Path) -> None:
    for number in range(12):
        say(place, number, "crash" if number in crashing else "hello")
    done = command(place, "--jobs", "2", "--allow-plugins")
    heads = [line for line in done.stdout.splitlines() if not line.startswith(" ")]
    words = ["ERROR" if number in crashing else "passed" for number in range(12)]
    assert [head.split()[0] for head in heads[:-1]] == words
    assert done.stdout.count("the process that played it ended before it was done") == len(crashing)
    assert (done.returncode, done.stderr) == (2, "")


@LINUX
def test_a_process_more_imports_nothing_again(place: Path) -> None:
    """Importing takes longer than many conversations: two processes would take more time in all
    than one."""
    (place / "graph.yaml").write_text(GRAPH.replace("fragile", "decision"))
    for number in range(8):
        say(place, number, "hello")
    done = command(place, "--jobs", "2", python=("-X", "importtime"))
    assert done.returncode == 0, done.stderr
    names = [line.rpartition("|")[2].strip() for line in done.stderr.splitlines()]
    again = {name for name in names if name.startswith("statecli") and names.count(name) > 1}
    assert "statecli.scenario.job" in names
    assert again == set()


@LINUX
def test_where_threads_are_at_work_nothing_is_copied() -> None:
    """What another thread holds is held for ever in a copy."""
    wait = threading.Event()
    thread = threading.Thread(target=wait.wait)
    thread.start()
    try:
        assert _context().get_start_method() == "spawn"
    finally:
        wait.set()
        thread.join()
