"""Conversations as tests: `statecli test` against a plain loop over our engine, and against ADK."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from measure import ROOT, best, run
from peer_list import PYTHON
from statecli_side import HERE, statecli
from table import Table, verdict

ROUNDS = 5
QUICK_ROUNDS = 3
TURNS = 10
LOOP_LIMIT = 2.0  # times the CPU of the plain loop
JOBS_LIMIT = 0.75  # of the wall time of one process, with two


def replays(python: str, quick: bool, folder: Path) -> bool:
    """Print what 1,000 conversations of ten turns cost."""
    count = 200 if quick else 1000
    rounds = QUICK_ROUNDS if quick else ROUNDS
    place = folder / "conversations"
    place.mkdir()
    loop = str(HERE / "conversation_loop.py")
    run([sys.executable, loop, "make", str(place), str(count), str(TURNS)])
    with_ours = ["env", f"PYTHONPATH={ROOT}"]
    commands = {
        "loop": [*with_ours, python, loop, "play", str(place)],
        "test": statecli(python, "test", "-q", str(place)),
        "coverage": statecli(python, "test", "-q", "--coverage", str(place)),
        "jobs": statecli(python, "test", "-q", "--jobs", "2", str(place)),
    }
    found = best(commands, rounds)
    titles = {
        "loop": "a plain loop over our engine",
        "test": "statecli test",
        "coverage": "statecli test --coverage",
        "jobs": "statecli test --jobs 2",
    }
    print(f"\n{count:,} conversations of {TURNS} turns, whole processes, best of {rounds}\n")
    table = Table(("", 30), ("CPU s", 7), ("wall s", 7), ("CPU", 7), ("wall", 7))
    base = found["loop"]
    for name, usage in found.items():
        if usage.code != 0:
            print(f"{titles[name]} ends with {usage.code}: {usage.last_line[:120]}")
            return False
        ratios = (usage.cpu / base.cpu, usage.wall / base.wall)
        cells = [f"{usage.cpu:.2f}", f"{usage.wall:.2f}", *(f"{ratio:.2f}x" for ratio in ratios)]
        table.row([titles[name], *cells])
    _adk(table, count, rounds, base.cpu)
    ratio = found["test"].cpu / base.cpu
    print(f"\nstatecli test / the loop: {ratio:.2f}x CPU, {verdict(ratio, LOOP_LIMIT)}")
    return ratio <= LOOP_LIMIT and _scales(commands["test"], commands["jobs"], rounds)


def _scales(one: list[str], two: list[str], rounds: int) -> bool:
    """Whether two processes take less time than one; only an idle machine can tell."""
    walls = [(run(one).wall, run(two).wall) for _ in range(rounds)]
    ratio = min(wall for _, wall in walls) / min(wall for wall, _ in walls)
    busy = os.getloadavg()[0] > (os.cpu_count() or 1) + 1
    told = "not judged, the machine is busy" if busy else verdict(ratio, JOBS_LIMIT)
    print(f"two processes / one: {ratio:.2f}x wall, {told}")
    return busy or ratio <= JOBS_LIMIT


def _adk(table: Table, count: int, rounds: int, base: float) -> None:
    """Google's ADK, where it is installed: fewer conversations, because it takes long."""
    part = max(1, count // 20)
    words = [str(PYTHON), str(HERE / "adk_loop.py"), str(part), str(TURNS)]
    if not PYTHON.exists() or run([*words[:2], "0", "0"]).code != 0:
        table.row(["google-adk: not installed"])
        return
    empty = best({"adk": [*words[:2], "0", "0"]}, rounds)["adk"]
    full = best({"adk": words}, rounds)["adk"]
    cpu = empty.cpu + (full.cpu - empty.cpu) * count / part
    table.row([f"google-adk ({part} measured)", f"{cpu:.2f}", "", f"{cpu / base:.2f}x"])
