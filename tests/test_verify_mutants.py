"""A mistake that is planted in a copy of the verifier is noticed by the graphs that are compared
with the oracle: the directed ones, and some random ones that are the same in each run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from verify_directed import GRAPHS, SPLITS
from verify_graphs import graph
from verify_mutants import MUTANTS, PACKAGE, Mutant, planted
from verify_oracle.branching import branching
from verify_oracle.lists import lists
from verify_oracle.reader import book
from verify_oracle.search import TooLarge
from verify_splits import split_graph

pytestmark = pytest.mark.slow

SUBSET = Path(__file__).parent / "verify_subset.py"
SEEDS = range(60)
SPLIT_SEEDS = range(60)


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the oracle says of every graph, as verify_subset.py reads it."""
    named = [*GRAPHS.items(), *((f"seed {seed}", graph(seed)) for seed in SEEDS)]
    splits = [*SPLITS.items(), *((f"split {seed}", split_graph(seed)) for seed in SPLIT_SEEDS)]
    rows: list[Any] = []
    for name, value in named:
        try:
            found = lists(book(value), most=20_000)
        except TooLarge:
            continue
        rows.append([name, value, {key: sorted(items) for key, items in found.items()}])
    for name, value in splits:
        try:
            found = branching(value, most=3_000)
        except TooLarge:
            continue
        rows.append([name, value, {key: sorted(items) for key, items in found.items()}])
    path = tmp_path_factory.mktemp("expected") / "lists.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


def compared(package: Path, expected: Path) -> subprocess.CompletedProcess[str]:
    """The verifier of a package over all graphs, in a process of its own."""
    return subprocess.run(
        [sys.executable, str(SUBSET), str(expected)],
        env={**os.environ, "PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def test_without_a_mistake_nothing_differs(expected: Path) -> None:
    done = compared(PACKAGE, expected)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_the_mistake_is_noticed(mutant: Mutant, expected: Path, tmp_path: Path) -> None:
    planted(mutant, tmp_path)
    done = compared(tmp_path / "statecli", expected)
    assert done.returncode == 1, f"nothing differs: {done.stdout}{done.stderr}"
    assert "Traceback" not in done.stderr, done.stderr
