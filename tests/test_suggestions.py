"""`test --suggest`, from nothing to everything: each suggestion runs and takes its way, and all of
them together take every way that is not proved to be impossible."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playing import graph_of

from statecli.load.loader import load
from statecli.scenario.counts import added, no_counts
from statecli.scenario.coverage import GraphCoverage
from statecli.scenario.exact import runs
from statecli.scenario.job import Order, run
from statecli.scenario.suggest import Suggestion, suggestions

ROOT = Path(__file__).parent.parent
#: Plans of the field, as they stand in documents and repositories.
SEEN = Path("/work/shared/cases/plan-files")
GRAPHS = [
    path for path in sorted([*ROOT.glob("graphs/*.*"), *SEEN.glob("*.json")])
    if path.suffix in (".yaml", ".json") and (g := load(str(path)).graph) is not None and g.states
]  # fmt: skip


def coverage(text: str, *parts: Any) -> GraphCoverage:
    """What conversations have seen of a graph."""
    opened = graph_of(text)
    counts = added(parts) if parts else no_counts()
    return GraphCoverage(opened.path, "", opened.loaded, opened.config, counts, [])


def suggested(text: str) -> list[Suggestion]:
    graph = graph_of(text).loaded.graph
    assert graph is not None
    wanted = [way.key for way in coverage(text).ways if not way.never]
    return suggestions(graph, wanted, name="graph.yaml", digest="")[0]


@pytest.mark.parametrize("path", GRAPHS, ids=lambda path: path.stem)
def test_from_nothing_to_everything(path: Path) -> None:
    text = path.read_text("utf-8")
    order = Order(lambda _path, _talk: graph_of(text), coverage=True)
    results = [run("x.yaml", one.text.encode(), order) for one in suggested(text) if one.text]
    assert [result.problems for result in results if result.status != "passed"] == []
    found = coverage(text, *(result.counts for result in results))
    assert [way.key for way in found.ways if not way.taken and not way.never] == []
    assert found.summary.states.seen == found.summary.states.of


HARD = """
initial: ask
fields: {a: {type: int}, b: {type: int}, c: {type: int}, d: {type: int},
         e: {type: enum, values: [x, y, z]}}
states:
  ask: {type: user, transition: {next: [fill]}}
  fill:
    type: agent
    writes: [a, b, c, d, e]
    transition:
      next:
        - {to: deep, when: "a == 17 and b == 23 and c > 99 and d < 3 and e == 'z'"}
        - {to: lost, when: {a__gt: 10, a__lt: 5}}
        - ask
  deep: {type: user, transition: {next: [{to: done, when: {a: 18}}, {to: done, when: {a: 17}}]}}
  lost: {type: user, transition: {next: [done]}}
  done: {type: terminal}
"""


def test_several_values_at_once_and_what_cannot_be() -> None:
    found = {one.key[0::3]: one for one in suggested(HARD)}
    assert found["fill", "deep"].turns == found["fill", "ask"].turns == 1
    assert "{a: 17, b: 23, c: 100, d: 2, e: z}" in found["fill", "deep"].text
    never = {way.key[0::3]: way.never for way in coverage(HARD).ways if way.never}
    assert "guard-never-holds" in str(never["fill", "lost"])
    assert found["lost", "done"].never
    assert found["lost", "done"].text == ""


COUNTED = """
id: p
title: P
states:
  - {id: a, title: A, tasks: [{id: t, description: T, deliverables: [{key: n, type: integer}]}],
     transitions: [
       {target_state_id: b, condition_type: deliverable_value_numeric,
        condition_config: {key: n, operator: gte, value: 5}},
       {target_state_id: c, condition_type: turn_count_exceeded, condition_config: {turns: 3}}]}
  - {id: b, title: B, tasks: [{id: u, description: U}]}
  - {id: c, title: C, tasks: [{id: v, description: V}]}
"""


@pytest.mark.parametrize("text", [HARD, COUNTED], ids=["states", "plan"])
def test_the_verifier_finds_the_ways_that_it_follows(text: str) -> None:
    """The search over single runs is not needed for them."""
    graph = graph_of(text).loaded.graph
    assert graph is not None
    wanted = [way.key for way in coverage(text).ways if not way.never]
    reached = [key for key in wanted if key[0] != "lost"]
    assert set(runs(graph, wanted)) == set(reached)


def test_what_the_verifier_does_not_follow_is_searched() -> None:
    text = """
initial: a
tools: {t: {command: [t]}}
states:
  a: {type: user, transition: {next: [b]}}
  b: {type: tool, tool: t, on_error: d, transition: {next: [c]}}
  c: {type: decision, on_invalid: d, transition: {next: [a, b]}}
  d: {type: terminal}
"""
    found = {one.key[1]: one for one in suggested(text)}
    assert "error: it cannot be reached" in found["on_error"].text
    assert all(one.text for key, one in found.items() if key != "on_invalid")
