"""Spin, a model checker that many have looked at, says the same (where it is installed)."""

from __future__ import annotations

from pathlib import Path

import pytest
from kernel_walks import graph_of
from promela import LISTS, MISSING, SPIN_MISSING, spin
from verify_directed import GRAPHS
from verify_graphs import graph
from verify_oracle.reader import book

from statecli.verify.verifier import verify

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(MISSING), reason=SPIN_MISSING)]

NAMES = ("a strict state asks in order", "answers that always agree",
         "the turn of entry is not counted", "nothing gets on without the net")  # fmt: skip
#: Plans and `states` graphs. (More of them: benchmarks/run.py --only provers.)
SEEDS = (10, 14, 44, 120, 3, 17, 29, 47)
CASES = {name: GRAPHS[name] for name in NAMES} | {f"seed {seed}": graph(seed) for seed in SEEDS}


@pytest.mark.parametrize("name", CASES)
def test_spin_says_the_same(name: str, tmp_path: Path) -> None:
    report = verify(graph_of(CASES[name]), witnesses=False)
    told = spin(book(CASES[name]), tmp_path)
    assert {key: report.lists[key] for key in LISTS} == {key: told.lists[key] for key in LISTS}
