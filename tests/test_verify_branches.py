"""Looking at graphs with branches ends, whatever loops, and costs no more than its budget."""

from __future__ import annotations

import time
from typing import Any

import pytest

from statecli import GraphBuilder, when
from statecli.model.graph import Graph
from statecli.verify.verifier import verify


def _nothing(data: Any) -> dict[str, Any]:
    return {}


def _graph(branches: int, back: tuple[str, str] | None, *, join: bool, fields: int = 0) -> Graph:
    """A split into so many branches that come together again, and a way back from one state to
    another; the end asks for so many fields that anybody may write."""
    names = [f"b{number}" for number in range(branches)]
    states = dict.fromkeys(("begin", "split", *names, "together", "end"), _nothing)
    asks = [("together", "end", when(**{f"field{number}": 1})) for number in range(fields)]
    built = (
        GraphBuilder()
        .with_states(**states)
        .with_transitions(("begin", "split"), *[("split", name) for name in names])
        .with_transitions((names, "together"), *asks, ("together", "end", when(done=True)))
        .with_transitions(*([back] if back else []))
        .with_fanout("split")
    )
    return (built.with_join("together") if join else built).build()


@pytest.mark.parametrize("branches", [2, 4])
@pytest.mark.parametrize("target", ["begin", "split"])
def test_a_loop_around_a_split_is_decided(branches: int, target: str) -> None:
    once = verify(_graph(branches, None, join=True))
    again = verify(_graph(branches, ("together", target), join=True))
    assert again.exact
    assert again.expansions < 10 * once.expansions
    assert not _graph(branches, ("together", target), join=True).lint()


@pytest.mark.parametrize(
    "graph",
    [
        _graph(2, ("together", "split"), join=False),
        _graph(3, ("b0", "split"), join=True),
        _graph(30, None, join=True),
        _graph(30, ("together", "split"), join=True),
        _graph(4, ("together", "split"), join=True, fields=8),
    ],
    ids=["no join", "one branch goes back", "wide", "wide and back", "many values"],
)
def test_what_is_too_much_is_not_decided_in_the_time_of_the_budget(graph: Graph) -> None:
    began = time.process_time()
    report = verify(graph, budget=20_000)
    assert not report.exact
    assert "not known" in report.undecided[-1]
    assert report.expansions < 30_000
    assert time.process_time() - began < 20
