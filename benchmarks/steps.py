"""Steps of a run: ours against the libraries that run state machines, and what a store costs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from measure import ROOT, Usage, run
from peer_list import PYTHON
from statecli_side import HERE
from table import Table, verdict

ROUNDS = 7
QUICK_ROUNDS = 3
HISTORY_LIMIT = 3.0  # times the CPU of the steps
RESUME_LIMIT = 10.0  # times the CPU of reading the rows
MEMORY_LIMIT = 1.10  # peak after many steps against peak after few


class Loop(NamedTuple):
    """One library: its function in step_loop.py, what it is called in the table, how many steps."""

    function: str
    title: str
    steps: int
    with_file: bool = False


OURS = Loop("statecli", "statecli, events in memory", 20_000)
PEERS = (
    Loop("transitions", "transitions", 20_000),
    Loop("burr", "apache-burr", 3_000),
    Loop("pydantic_graph", "pydantic-graph", 3_000),
    Loop("statemachine", "python-statemachine", 3_000),
    Loop("langgraph", "langgraph", 2_000),
    Loop("langgraph_memory", "langgraph, InMemorySaver", 2_000),
)
OURS_SPLIT = Loop("statecli_branches", "statecli, events in memory", 1_000)
PEERS_SPLIT = (Loop("langgraph_branches", "langgraph", 1_000),)
OURS_SPLIT_STORED = Loop("statecli_branches", "statecli, SQLite store", 1_000, True)
PEERS_SPLIT_STORED = (Loop("langgraph_branches", "langgraph, SQLite saver", 1_000, True),)
OURS_STORED = Loop("statecli_sqlite", "statecli, SQLite store", 5_000, True)
PEERS_STORED = (
    Loop("burr_sqlite", "apache-burr, SQLite persister", 500, True),
    Loop("langgraph_sqlite", "langgraph, SQLite saver", 500, True),
    Loop("statemachine_sqlite", "python-statemachine, a row a step", 2_000, True),
)


def steps(python: str, quick: bool, folder: Path) -> bool:
    """Print microseconds per step, the cost of a resume and the memory of a long run."""
    rounds = QUICK_ROUNDS if quick else ROUNDS
    print(f"\nsteps of a loop between two states, best of {rounds} interleaved runs")
    print("(ratios are ours/peer, below 1 we are faster)")
    fits = _against(python, OURS, PEERS, rounds, folder)
    fits &= _against(python, OURS_STORED, PEERS_STORED, rounds, folder)
    fits &= _against(python, OURS_SPLIT, PEERS_SPLIT, rounds, folder, "one of 1,000 branches")
    fits &= _against(python, OURS_SPLIT_STORED, PEERS_SPLIT_STORED, rounds, folder,
                     "one of 1,000 branches")  # fmt: skip
    fits &= _resume(python, folder)
    fits &= _history(python, folder)
    return fits & _memory(python, 30_000 if quick else 100_000, folder)


def _against(
    python: str,
    ours: Loop,
    peers: tuple[Loop, ...],
    rounds: int,
    folder: Path,
    what: str = "one step",
) -> bool:
    """Ours must need less CPU, and less time, than each of them."""
    found: dict[str, tuple[float, float]] = {}
    problems: dict[str, str] = {}
    for _ in range(rounds):
        for loop in (ours, *peers):
            usage = _looped(python if loop is ours else str(PYTHON), loop, folder)
            if usage.code != 0:
                problems[loop.title] = f"ends with {usage.code}: {usage.last_line[:80]}"
                continue
            cpu, wall = (float(word) / loop.steps * 1e6 for word in usage.output.split())
            best = found.get(loop.title, (cpu, wall))
            found[loop.title] = (min(best[0], cpu), min(best[1], wall))
    print()
    table = Table((what, 30), ("CPU us", 8), ("wall us", 8), ("CPU", 7), ("wall", 7))
    if ours.title not in found:
        print(problems.get(ours.title, "it does not run"))
        return False
    mine = found[ours.title]
    table.row([ours.title, *(f"{value:.2f}" for value in mine)])
    fits = True
    for loop in peers:
        if loop.title not in found:
            table.row([loop.title, problems.get(loop.title, "")])
            continue
        theirs = found[loop.title]
        ratios = [own / other for own, other in zip(mine, theirs, strict=True)]
        cells = [f"{value:.2f}" for value in theirs] + [f"{ratio:.3f}x" for ratio in ratios]
        over = ratios[0] >= 1 or ratios[1] >= 1
        fits &= not over
        table.row([loop.title, *cells, "OVER" if over else "faster"])
    return fits


def _looped(python: str, loop: Loop, folder: Path) -> Usage:
    words = [python, str(HERE / "step_loop.py"), loop.function, str(loop.steps)]
    return run(["env", f"PYTHONPATH={ROOT}", *words, *_file(loop, folder)])


def _file(loop: Loop, folder: Path) -> list[str]:
    if not loop.with_file:
        return []
    for path in folder.glob("steps.db*"):
        os.remove(path)
    return [str(folder / "steps.db")]


def _resume(python: str, folder: Path) -> bool:
    """Opening a session of 10,000 events against reading its rows and nothing else."""
    usage = _looped(python, Loop("resume", "resume", 10_000, True), folder)
    if usage.code != 0:
        print(f"resume ends with {usage.code}: {usage.last_line[:120]}")
        return False
    opened, rows = map(float, usage.output.split())
    ratio = opened / rows
    print(
        f"\nresume of a session of 10,000 events: {opened * 1000:.1f} ms, its rows alone"
        f" {rows * 1000:.1f} ms: {ratio:.2f}x, {verdict(ratio, RESUME_LIMIT)}"
    )
    return ratio <= RESUME_LIMIT


def _history(python: str, folder: Path) -> bool:
    """The tree of 10,000 steps against the steps themselves."""
    usage = _looped(python, Loop("history", "history", 10_000), folder)
    if usage.code != 0:
        print(f"the history ends with {usage.code}: {usage.last_line[:120]}")
        return False
    built, walked = map(float, usage.output.split())
    ratio = built / walked
    print(
        f"history of 10,000 steps with 1,000 points rebuilt {built * 1000:.1f} ms, the steps"
        f" {walked * 1000:.1f} ms: {ratio:.2f}x, {verdict(ratio, HISTORY_LIMIT)}"
    )
    return ratio <= HISTORY_LIMIT


def _memory(python: str, many: int, folder: Path) -> bool:
    """Peak memory of a long run with the store on and a bounded `messages`."""
    peaks = []
    for count in (many // 10, many):
        usage = _looped(python, Loop("statecli_messages", "messages", count, True), folder)
        if usage.code != 0:
            print(f"the long run ends with {usage.code}: {usage.last_line[:120]}")
            return False
        peaks.append(usage.peak)
    ratio = peaks[1] / peaks[0]
    print(
        f"memory after {many // 10:,} stored steps {peaks[0]:.1f} MiB, after {many:,} steps"
        f" {peaks[1]:.1f} MiB: {ratio:.3f}x, {verdict(ratio, MEMORY_LIMIT)}"
    )
    return ratio <= MEMORY_LIMIT
