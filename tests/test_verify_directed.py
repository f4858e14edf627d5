"""The graphs that were made for one mistake each: verifier and oracle say the same."""

from __future__ import annotations

import pytest
from kernel_walks import graph_of
from verify_directed import GRAPHS
from verify_oracle.lists import lists
from verify_oracle.reader import book
from witness_replay import replays

from statecli.load.loader import load
from statecli.verify import LISTS
from statecli.verify.verifier import verify


@pytest.mark.parametrize("name", GRAPHS)
def test_the_verifier_finds_what_the_oracle_finds(name: str) -> None:
    report = verify(graph_of(GRAPHS[name]))
    assert report.exact
    expected = lists(book(GRAPHS[name]))
    assert {key: report.lists[key] for key in LISTS} == dict(expected)


@pytest.mark.parametrize("name", GRAPHS)
def test_every_witness_replays_and_needs_all_its_answers(name: str) -> None:
    graph = graph_of(GRAPHS[name])
    for finding in verify(graph).findings:
        assert finding.verdict != "possible", finding
        if finding.witness:
            assert not replays(graph, GRAPHS[name], finding)


def test_passes_that_max_hops_cuts_claim_nothing_of_where_they_lead() -> None:
    """It was a KeyError: the only way into a state is a pass that has no move left."""
    text = """
initial: s0
limits: {max_hops: 1, max_steps: 1, max_calls: 1, stuck_turns: 0}
states:
  s0: {type: strict, title: s0, tasks: [], on_error: s0, transition: {next: [{to: s1}]}}
  s1: {type: user, transition: {next: []}}
"""
    graph = load("g.yaml", text).graph
    assert graph is not None
    found = verify(graph)
    assert not found.exact
    assert not [f for f in found.findings if f.verdict == "proved"]


@pytest.mark.parametrize("kind", ["decision", "user", "agent"])
def test_a_witness_writes_what_a_kind_writes_and_nothing_else(kind: str) -> None:
    """A decision writes nothing, and a person who is asked for two fields gives none."""
    text = f"""
initial: ask
states:
  ask: {{type: user, writes: [n], transition: {{next: [pick]}}}}
  pick: {{type: {kind}, writes: [note, other], transition: {{next: [sort]}}}}
  sort: {{type: agent, transition: {{next: [{{to: done, when: {{n__gt: 5}}}}]}}}}
  done: {{type: terminal}}
"""
    graph = load("g.yaml", text).graph
    assert graph is not None
    stuck = next(f for f in verify(graph).findings if f.rule == "stuck-state")
    assert stuck.verdict == "witnessed"
    assert stuck.witness is not None
    written = [set(turn) for visit in stuck.witness.visits[1:2] for turn in visit.turns]
    assert written == ([{"note", "other"}] if kind == "agent" else [])
