"""Other provers on the same questions: z3, yamlgraph's three z3 checks, and Spin; verdicts and
times."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from measure import ROOT, Usage, best, run
from peer_list import PYTHON
from statecli_side import HERE, statecli
from table import Table

GRAPHS, NODES = 12, 10
QUICK_GRAPHS = 3
#: Of `tests/verify_graphs.py`: plans are even, `states` graphs odd.
SPIN_SEEDS = (10, 14, 44, 120, 144, 292, 3, 17, 29, 47, 77, 91)
QUESTIONS = ("gap", "overlap", "shadow")


def provers(python: str, quick: bool, folder: Path) -> bool:
    """Print where each prover agrees with ours, and what each costs."""
    fits = True
    if PYTHON.exists():
        fits &= _questions(python, QUICK_GRAPHS if quick else GRAPHS, folder)
    else:
        print("\nprovers: z3 and yamlgraph are not installed (--install)")
    return fits & _spin(python, SPIN_SEEDS[:: 4 if quick else 1])


class Asked(NamedTuple):
    """One prover's answers, and what they cost."""

    answers: Mapping[str, Any]
    usage: Usage


def _questions(python: str, graphs: int, folder: Path) -> bool:
    print(
        f"\nprovers: gaps, overlaps and shadows of {NODES} nodes a graph, nothing before or after"
    )
    print(
        "(s over: CPU beyond a start of that Python; messages: of `validate`, of yamlgraph's lint)"
    )
    table = Table(
        ("graph", 8), ("found", 6), ("ours, s over", 12), ("z3", 8), ("yamlgraph", 9),
        ("z3", 9), ("yamlgraph", 24), ("messages", 9), ("theirs", 7),
    )  # fmt: skip
    fits = True
    for seed in range(1, graphs + 1):
        asked = _ask(python, seed, folder)
        if isinstance(asked, str):
            table.row([f"seed {seed}", asked])
            fits = False
            continue
        fits &= _compared(table, seed, asked, _messages(python, folder / f"statecli_{seed}.json"))
    return fits


def _ask(python: str, seed: int, folder: Path) -> dict[str, Asked] | str:
    files = {"statecli": ".json", "yamlgraph": ".yaml", "z3": ".json"}
    commands = {}
    for prover, suffix in files.items():
        form = "neutral" if prover == "z3" else prover
        path = folder / f"{prover}_{seed}{suffix}"
        words = [sys.executable, str(HERE / "guard_questions.py"), form, str(seed), str(NODES)]
        run([*words, str(path)])
        interpreter = python if prover == "statecli" else str(PYTHON)
        start = ["env", f"PYTHONPATH={ROOT}"] if prover == "statecli" else []
        side = [*start, interpreter, str(HERE / "prover_side.py")]
        commands[prover] = [*side, prover, str(path)]
        commands[f"no {prover}"] = [*side, "nothing", str(path)]
    found = best(commands, rounds=3)
    asked = {}
    for prover in files:
        usage = found[prover]
        if usage.code != 0:
            return f"{prover} ends with {usage.code}: {usage.last_line[:90]}"
        over = usage.cpu - found[f"no {prover}"].cpu
        asked[prover] = Asked(json.loads(usage.output), usage._replace(cpu=over))
    return asked


def _messages(python: str, path: Path) -> int:
    usage = run(statecli(python, "validate", "--format", "json", str(path)))
    found = json.loads(usage.output)["diagnostics"]
    return sum(one["severity"] != "info" for one in found)


def _compared(table: Table, seed: int, asked: Mapping[str, Asked], messages: int) -> bool:
    ours, z3, yamlgraph = (asked[name].answers for name in ("statecli", "z3", "yamlgraph"))
    same = all(ours[question] == z3[question] for question in QUESTIONS)
    missed, explained = _missed(yamlgraph, ours, z3)
    told = "all ours" if not missed else f"MISSED {missed}"
    if explained:
        told += f", {explained} no mistake"
    table.row([
        f"seed {seed}", str(sum(len(ours[question]) for question in QUESTIONS)),
        *(f"{asked[name].usage.cpu:.3f}" for name in ("statecli", "z3", "yamlgraph")),
        "same" if same else "DIFFERS", told, str(messages), str(yamlgraph["said"]),
    ])  # fmt: skip
    return same and not missed


def _missed(
    theirs: Mapping[str, Any], ours: Mapping[str, Any], z3: Mapping[str, Any]
) -> tuple[int, int]:
    """What yamlgraph alone finds, and what of it is no mistake: a gap where a field is not there
    (the body before writes all of its fields; `!=` is true of nothing there), or between two whole
    numbers (it reads all numbers as real). z3, told so, agrees."""
    missed = explained = 0
    for question in QUESTIONS:
        for item in theirs[question]:
            if item not in ours[question]:
                explained += item not in z3[question]
                missed += item in z3[question]
    return missed, explained + len(theirs["unset"])


def _spin(python: str, seeds: tuple[int, ...]) -> bool:
    print("\nSpin: random graphs of tests/verify_graphs.py as Promela models, both environments")
    print("(verify: in one process; search: its two searches alone; all: with spin -a and gcc)")
    words = ["env", f"PYTHONPATH={ROOT}:{ROOT / 'tests'}", python, str(HERE / "spin_side.py")]
    table = Table(("graph", 12), ("verify s", 8), ("search s", 8), ("all s", 8), ("verdicts", 40))
    fits = True
    for seed in seeds:
        usage = run([*words, str(seed)])
        if usage.code != 0:
            table.row([f"seed {seed}", f"ends with {usage.code}: {usage.last_line[:90]}"])
            fits = False
            continue
        told = json.loads(usage.output)
        fits &= not told["differs"]
        found = f"the same, {told['found']} findings"
        verdicts = f"DIFFERS in {', '.join(told['differs'])}" if told["differs"] else found
        seconds = [f"{told[key]:.3f}" for key in ("verify", "search", "total")]
        table.row([f"seed {seed}", *seconds, verdicts])
    return fits
