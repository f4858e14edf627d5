"""The library against those that keep what they did: memory, and a long history read back."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from measure import ROOT, Usage, run
from peer_list import PYTHON
from statecli_side import HERE
from table import Table

FEW, MANY = 500, 3_000
HISTORY = 10_000
#: What is compared: a function of step_loop.py, its title, whether a file keeps the steps.
MEMORY = (
    ("statecli", "statecli, events in memory", False),
    ("langgraph_memory", "langgraph, InMemorySaver", False),
    ("statecli_sqlite", "statecli, SQLite store", True),
    ("burr_sqlite", "apache-burr, SQLite persister", True),
    ("langgraph_sqlite", "langgraph, SQLite saver", True),
    ("statemachine_sqlite", "python-statemachine, a row a step", True),
)
READERS = (("statecli", "statecli"), ("burr", "apache-burr"), ("langgraph", "langgraph"))


def library(python: str, quick: bool, folder: Path) -> bool:
    """Print peak and growth of memory, and what reading a history back costs."""
    fits = _memory(python, folder)
    return _history(python, 3 if quick else 7) & fits


def _command(python: str, library: str, *words: str) -> Usage:
    interpreter = python if library.startswith("statecli") else str(PYTHON)
    return run(["env", f"PYTHONPATH={ROOT}", interpreter, *words])


def _memory(python: str, folder: Path) -> bool:
    """Peak of the whole process, and what each further step adds to it."""
    print(f"\nmemory: peak of the process after {MANY:,} steps, and what a step adds after {FEW:,}")
    table = Table(("", 34), ("peak MiB", 9), ("bytes/step", 10), ("peak", 7))
    ours: float = 0
    fits = True
    for function, title, kept in MEMORY:
        peaks = []
        for steps in (FEW, MANY):
            for path in folder.glob("memory.db*"):
                os.remove(path)
            words = [str(HERE / "step_loop.py"), function, str(steps)]
            usage = _command(python, function, *words, *([str(folder / "memory.db")] * kept))
            if usage.code != 0:
                table.row([title, f"ends with {usage.code}: {usage.last_line[:80]}"])
                break
            peaks.append(usage.peak)
        if len(peaks) < 2:
            continue
        growth = (peaks[1] - peaks[0]) * 2**20 / (MANY - FEW)
        cells = [title, f"{peaks[1]:.1f}", f"{growth:,.0f}"]
        if function.startswith("statecli"):
            ours = peaks[1]
            table.row(cells)
            continue
        over = ours >= peaks[1]
        fits &= not over
        table.row([*cells, f"{ours / peaks[1]:.3f}x", "OVER" if over else "less"])
    return fits


def _history(python: str, rounds: int) -> bool:
    """The data after each of so many steps, from a file that another process wrote."""
    print(
        f"\nhistory of {HISTORY:,} steps read back from SQLite, best of {rounds} interleaved runs"
    )
    table = Table(("", 34), ("CPU ms", 8), ("wall ms", 8), ("CPU", 7), ("wall", 7))
    found: dict[str, tuple[float, float]] = {}
    script = str(HERE / "history_loop.py")
    with tempfile.TemporaryDirectory() as name:
        for library, title in READERS:
            words = [script, "keep", library, str(HISTORY), f"{name}/{library}.db"]
            usage = _command(python, library, *words)
            if usage.code != 0:
                table.row([title, f"ends with {usage.code}: {usage.last_line[:80]}"])
        for _ in range(rounds):
            for library, title in READERS:
                words = [script, "read", library, str(HISTORY), f"{name}/{library}.db"]
                usage = _command(python, library, *words)
                if usage.code == 0:
                    cpu, wall = (float(word) * 1000 for word in usage.output.split())
                    best = found.get(title, (cpu, wall))
                    found[title] = (min(best[0], cpu), min(best[1], wall))
    if "statecli" not in found:
        return False
    fits, mine = True, found["statecli"]
    for title, theirs in found.items():
        cells = [title, *(f"{value:.0f}" for value in theirs)]
        if title == "statecli":
            table.row(cells)
            continue
        ratios = [own / other for own, other in zip(mine, theirs, strict=True)]
        fits &= ratios[0] < 1
        shown = [f"{ratio:.3f}x" for ratio in ratios]
        table.row([*cells, *shown, "faster" if ratios[0] < 1 else "OVER"])
    return fits
