"""Graphs that split and join: the verifier finds what an oracle finds that tries every order.

STATECLI_VERIFY_SPLIT=1234 python -m pytest tests/test_verify_branches.py     one graph again
STATECLI_VERIFY_SPLITS=5000 python -m pytest tests/test_verify_branches.py    many
python tests/verify_splits.py 1234                                            prints a graph
"""

from __future__ import annotations

import json
import os
import time
import zlib
from pathlib import Path
from typing import Any

import pytest
from branch_replay import shown_beside
from kernel_walks import graph_of
from run_cli import run
from verify_directed import SPLITS, agent, several
from verify_oracle.branching import LISTS, branching
from verify_oracle.search import TooLarge
from verify_splits import split_graph

from statecli.verify import Report
from statecli.verify.verifier import verify

ONE = os.environ.get("STATECLI_VERIFY_SPLIT")
COUNT = 1 if ONE else int(os.environ.get("STATECLI_VERIFY_SPLITS", "100"))
BATCH = 25
BATCHES = range((COUNT + BATCH - 1) // BATCH)
RULES = {
    "waits": "join-never-satisfied", "open": "end-with-open-branches", "twice": "duplicate-branch",
}  # fmt: skip


@pytest.fixture(scope="session")
def first_seed() -> int:
    """The same in all processes of a run."""
    if ONE:
        return int(ONE)
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID") or str(time.time_ns())
    return zlib.crc32(run.encode()) * 10_000


def seeds(first: int, batch: int) -> range:
    return range(first + batch * BATCH, first + min(COUNT, (batch + 1) * BATCH))


def again(seed: int) -> str:
    return (
        f"seed {seed}: STATECLI_VERIFY_SPLIT={seed} python -m pytest tests/test_verify_branches.py"
    )


def told(report: Report) -> dict[str, frozenset[Any]]:
    """What the verifier says, by the oracle's names."""
    found = {name: report.lists[name] for name in LISTS if name not in RULES}
    for name, rule in RULES.items():
        found[name] = frozenset(one.state for one in report.findings if one.rule == rule)
    return found


@pytest.mark.parametrize("name", SPLITS)
def test_one_mistake_each(name: str) -> None:
    report = verify(graph_of(SPLITS[name]))
    assert report.exact
    assert told(report) == branching(SPLITS[name])


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("batch", BATCHES)
def test_the_verifier_finds_what_the_oracle_finds(batch: int, first_seed: int) -> None:
    listed = seeds(first_seed, batch)
    print(f"seeds {listed}")
    compared = 0
    for seed in listed:
        value = split_graph(seed)
        report = verify(graph_of(value))
        if not report.exact:  # it says so: its branches become more and more
            continue
        try:
            expected = branching(value, most=4_000)
        except TooLarge:
            continue
        compared += 1
        assert told(report) == expected, again(seed)
    assert ONE or compared >= len(listed) * 3 // 4, f"of the seeds {listed} only {compared}"


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("batch", BATCHES)
def test_every_witness_replays(batch: int, first_seed: int) -> None:
    """Every finding about a run has a witness, and the real engine shows it."""
    for seed in seeds(first_seed, batch):
        graph = graph_of(split_graph(seed))
        report = verify(graph)
        for finding in report.findings:
            assert not report.exact or finding.verdict != "possible", f"{finding}: {again(seed)}"
            assert finding.values.get("other", "s") in graph.states, f"{finding}: {again(seed)}"
            if finding.witness is not None:
                assert shown_beside(graph, finding), f"{finding}: {again(seed)}"


@pytest.mark.parametrize("name", SPLITS)
def test_a_witness_replays(name: str) -> None:
    graph = graph_of(SPLITS[name])
    for finding in verify(graph).findings:
        assert finding.verdict != "possible", finding
        assert finding.witness is None or shown_beside(graph, finding), finding


def test_a_written_witness_is_played_by_chat(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whose body comes to an end first is not written: a tool takes two steps, an agent one."""
    monkeypatch.setenv("STATECLI_DATA", str(tmp_path / "data"))
    graph = several(
        s={"type": "user", "transition": {"fanout": "all", "next": ["p", "q"]}},
        p={"type": "tool", "tool": "x", "writes": ["a"], "transition": {"next": [
            {"to": "j", "when": "a"}, {"to": "f", "description": "f"}]}},
        q=agent({"to": "j", "when": "b"}, {"to": "f", "description": "f"}, writes=["b"]),
        j=agent("e", join="all"),
    )  # fmt: skip
    graph["tools"] = {"x": {"python": "m:f"}}
    path = tmp_path / "g.json"
    path.write_text(json.dumps(graph), encoding="utf-8")
    run("validate", str(path), "--witness-dir", str(tmp_path / "w"))
    files = sorted((tmp_path / "w").glob("*join-never-satisfied*"))
    assert files
    for file in files:
        played = run("chat", "--force", "--allow-plugins", "--model", f"script:{file}", str(path))
        assert "'j' waits for a branch from each of its sources" in played.out + played.err
