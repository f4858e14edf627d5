"""The graphs that were made for one mistake each: verifier and oracle say the same."""

from __future__ import annotations

import pytest
from kernel_walks import graph_of
from verify_directed import GRAPHS
from verify_oracle.lists import lists
from verify_oracle.reader import book
from witness_replay import replays

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
