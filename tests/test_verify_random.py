"""The verifier against the oracle on random graphs: eleven lists each, no disagreement.

New graphs in each run, whose seeds are printed; what fails names the one seed and the command that
repeats it. To repeat one graph, a whole run, or to look at many:

    STATECLI_VERIFY_SEED=1234 python -m pytest tests/test_verify_random.py
    STATECLI_VERIFY_FIRST=1230000 python -m pytest tests/test_verify_random.py
    STATECLI_VERIFY_GRAPHS=5000 python -m pytest tests/test_verify_random.py
    python tests/verify_graphs.py 1234

Measured on 5,000 graphs (seeds 51000000.., the oracle up to 10,000 configurations): 4,912 equal
on all lists, 88 too large for the oracle, none different; all 5,000 exact, no finding without a
witness, every witness played by the real engine and none of its answers too many.
"""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Mapping
from typing import Any

import pytest
from kernel_walks import graph_of
from verify_graphs import graph
from verify_oracle.lists import lists
from verify_oracle.reader import book
from verify_oracle.search import TooLarge
from witness_replay import replays

from statecli.verify import LISTS, Report, backward, explore, site
from statecli.verify.verifier import verify

ONE = os.environ.get("STATECLI_VERIFY_SEED")
FIRST = os.environ.get("STATECLI_VERIFY_FIRST")
COUNT = 1 if ONE else int(os.environ.get("STATECLI_VERIFY_GRAPHS", "300"))
#: Graphs of one test: so many tests run beside each other.
BATCH = 25
BATCHES = range((COUNT + BATCH - 1) // BATCH)
#: The oracle gives up here; such a graph is only counted.
MOST = int(os.environ.get("STATECLI_VERIFY_MOST", "30000"))


@pytest.fixture(scope="session")
def first_seed(request: pytest.FixtureRequest) -> int:
    """The same in all processes of a run."""
    if ONE:
        return int(ONE)
    if FIRST:
        return int(FIRST)
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID") or str(time.time_ns())
    return zlib.crc32(run.encode()) * 10_000


def untrue(report: Report, expected: Mapping[str, frozenset[Any]]) -> set[Any]:
    """What a report calls impossible and is not, even where other things are not decided. A state
    that is held possible and is not has ways that no run takes, too."""
    nowhere = expected["unreachable"]
    dead = report.lists["dead"] - expected["dead"]
    return {*(report.lists["unreachable"] - nowhere), *(d for d in dead if d[0] not in nowhere)}


def seeds(first: int, batch: int) -> range:
    return range(first + batch * BATCH, first + min(COUNT, (batch + 1) * BATCH))


def again(seed: int) -> str:
    return f"seed {seed}: STATECLI_VERIFY_SEED={seed} python -m pytest tests/test_verify_random.py"


def differences(found: Report, expected: dict[str, frozenset[Any]]) -> list[str]:
    """Where two sets of lists say something else."""
    return [
        f"{name}: verifier alone {sorted(found.lists[name] - expected[name])}, "
        f"oracle alone {sorted(expected[name] - found.lists[name])}"
        for name in LISTS
        if found.lists[name] != expected[name]
    ]


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("batch", BATCHES)
def test_the_verifier_finds_what_the_oracle_finds(batch: int, first_seed: int) -> None:
    listed = seeds(first_seed, batch)
    print(f"seeds {listed}")
    large = 0
    for seed in listed:
        value = graph(seed)
        report = verify(graph_of(value), witnesses=False)
        try:
            expected = dict(lists(book(value), most=MOST))
        except TooLarge:
            large += 1
            continue
        if report.exact:
            assert not differences(report, expected), again(seed)
        assert not untrue(report, expected), again(seed)
    assert large <= 1 + len(listed) // 10, f"{large} of the seeds {listed} are too large"


@pytest.mark.timeout(1800)
def test_nearly_all_end_exact(first_seed: int) -> None:
    inexact = [seed for batch in BATCHES for seed in seeds(first_seed, batch)
               if not verify(graph_of(graph(seed)), witnesses=False).exact]  # fmt: skip
    assert len(inexact) <= COUNT // 100, f"not exact: {inexact}"


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("batch", BATCHES)
def test_every_witness_replays_and_needs_all_its_answers(batch: int, first_seed: int) -> None:
    """Every finding of a graph that is decided has a witness, and each of its answers is needed."""
    for seed in seeds(first_seed, batch):
        value = graph(seed)
        found = graph_of(value)
        report = verify(found)
        if not report.exact:
            continue
        for finding in report.findings:
            assert finding.verdict != "possible", f"{finding}: {again(seed)}"
            if finding.witness:
                assert not replays(found, value, finding), again(seed)


@pytest.mark.parametrize("seed", [501694, 500054, 41234561008, 41234561046])
def test_what_a_hull_took_in_is_looked_at(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Boxes that wait when the budget is used up go into the hull, which nobody has looked at yet:
    these graphs had states that no run was said to reach."""
    for most in (explore.MOST_BOXES, 2):
        monkeypatch.setattr(explore, "MOST_BOXES", most)
        for budget in range(12):
            found = graph_of(graph(seed))
            report = verify(found, budget=budget, witnesses=False)
            assert not untrue(report, verify(found, witnesses=False).lists)


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("budget", [5, 50, 10**6])
def test_what_is_widened_stays_right(
    budget: int, first_seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With one or two boxes a state, an evaluation that falls apart at once, and hardly a budget:
    nothing is called impossible that is possible, and nothing that happens is lost."""
    monkeypatch.setattr(explore, "MOST_BOXES", 2)
    monkeypatch.setattr(backward, "MOST_BOXES", 2)
    monkeypatch.setattr(site, "MOST_PIECES", 2)
    widened = 0
    for seed in range(first_seed, first_seed + min(COUNT, 60)):
        value = graph(seed)
        report = verify(graph_of(value), budget=budget, witnesses=False)
        widened += not report.exact
        try:
            expected = dict(lists(book(value), most=5_000))
        except TooLarge:
            continue
        if report.exact:
            assert not differences(report, expected), again(seed)
        assert not untrue(report, expected), again(seed)
        for name in ("stuck", "rescued", "tie", "unset"):
            assert report.lists[name] >= expected[name], again(seed)
    assert ONE or widened > 2
