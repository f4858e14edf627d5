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
from collections.abc import AsyncIterator
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

from statecli.engine.branches import _Lane
from statecli.verify import Report
from statecli.verify.branch_witness import pieces
from statecli.verify.sites import Budget
from statecli.verify.steps import Steps
from statecli.verify.tokens import Joins, Token
from statecli.verify.verifier import Verification, verify

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


TWO = [{"to": "j", "description": "j"}, {"to": "f", "description": "f"}]
#: A body of each kind beside another branch, and what is answered there.
BODIES: dict[str, tuple[dict[str, Any], list[Any]]] = {
    "decision": ({"type": "decision", "transition": {"next": ["j"]}}, []),
    "decision, chosen": ({"type": "decision", "transition": {"next": TWO}}, [{"choice": "j"}]),
    "decision, all ways": (
        {"type": "decision", "transition": {"next": ["j", "f"], "fanout": "all"}}, [],
    ),
    "decision, stuck": (
        {"type": "decision", "transition": {"next": [{"to": "j", "when": "a"}]}}, [],
    ),
    "agent": (agent("j"), [{"reply": "said"}]),
    "agent, all ways": (
        {**agent(), "transition": {"next": ["j", "f"], "fanout": "all"}}, [{"reply": "said"}],
    ),
    "agent, stuck": (agent({"to": "j", "when": "a"}), [{"reply": "said"}]),
    "agent, writing": (agent("j", writes=["a"]), [{"writes": {"a": True}}]),
    "agent, chosen": (agent(*TWO), [{"reply": "said"}, {"choice": "j"}]),
    "agent, by a guard": (
        agent({"to": "j", "when": "a"}, *TWO[1:], writes=["a"]), [{"writes": {"a": True}}],
    ),
    "tool": (
        {"type": "tool", "tool": "x", "transition": {"next": ["j"]}},
        [{"calls": [{"x": {}}]}, {"result": "r"}],
    ),
    "tool, filled in": (
        {"type": "tool", "tool": "x", "arguments": {}, "transition": {"next": ["j"]}},
        [{"result": "r"}],
    ),
    "tool, picked, chosen": (
        {"type": "tool", "tools": ["x", "y"], "transition": {"next": TWO}},
        [{"calls": [{"x": {}}]}, {"result": "r"}, {"choice": "j"}],
    ),
    "planner": (
        {"type": "planner", "transition": {"next": ["j"]}},
        [{"plan": {"steps": ["one"], "needs_permission": False}}],
    ),
    "verifier": (
        {"type": "verifier", "transition": {"next": TWO}},
        [{"verdict": {"done": True, "reason": "r", "next": "j"}}],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BODIES)
def test_a_body_takes_as_many_turns_as_the_engine_gives_it(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So a witness has the order of the engine."""
    taken: list[_Lane] = []

    class Counted(_Lane):
        def __init__(self, engine: Any, **more: Any) -> None:
            super().__init__(engine, **more)
            self.state = engine.snapshot.state

        async def segment(self) -> AsyncIterator[Any]:
            taken.extend([self] if self.state == "p" else [])
            async for piece in super().segment():
                yield piece

    monkeypatch.setattr("statecli.engine.branches._Lane", Counted)
    monkeypatch.setenv("STATECLI_DATA", str(tmp_path / "data"))
    state, replies = BODIES[name]
    graph = several(
        s={"type": "user", "transition": {"fanout": "all", "next": ["p", "q"]}},
        p={"description": "d", **state},
        q={"type": "decision", "transition": {"next": ["f"]}},
        j={"type": "decision", "transition": {"next": ["e"]}},
    )
    graph["tools"] = {tool: {"python": "m:f"} for tool in "xy"}
    (tmp_path / "g.json").write_text(json.dumps(graph), encoding="utf-8")
    talk = {"graph": "g.json", "turns": [{"say": "go", "replies": replies}]}
    (tmp_path / "talk.yaml").write_text(json.dumps(talk), encoding="utf-8")
    played = run(
        "chat", "--force", "--allow-plugins", "--model", f"script:{tmp_path / 'talk.yaml'}",
        str(tmp_path / "g.json"),
    )  # fmt: skip
    assert played.code == (1 if "stuck" in name else 0), played.err
    sites = Verification(graph_of(graph), Budget(1000, None), ()).sites
    steps = Steps(Joins(sites, seen=True), coop=True, single=True)
    here = sites.layout.index["p"]
    found = steps.of(Token(here, -1, "", sites.layout.start(here, coop=True)))
    assert len(set(taken)) == 1
    told = {pieces(sites[here], step) for step in found}
    assert len(taken) in told, (len(taken), told)
