"""What is looked for: conversations that take a way, random walks, people whom a model plays."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from playing import Script, graph_of, played, told
from run_cli import run
from walks import any_graph, built

from statecli.model.graph import KINDS
from statecli.scenario.counts import all_ways
from statecli.scenario.persona import talk
from statecli.scenario.suggest import keys_of, played_text, suggestions
from statecli.scenario.values import Values
from statecli.scenario.walks import WRONG, walks
from statecli.scenario.walks import told as told_of
from statecli.text.conversation import write

GOAL = """
id: p
title: P
states:
  - id: talk
    title: Talk
    type: goal
    goal: {objective: o, deliverables: [{key: sure, type: integer}, {key: why, required: false}]}
    transitions:
      - {target_state_id: small, priority: 1, condition_type: all_of, condition_config: {conditions: [
          {condition_type: goal_achieved},
          {condition_type: deliverable_value_numeric, condition_config: {key: sure, operator: lt, value: 7}}]}}
      - {target_state_id: fine, priority: 2, condition_type: goal_achieved}
      - {target_state_id: fine, priority: 3, condition_type: turn_count_exceeded, condition_config: {turns: 3}}
  - {id: small, title: S, tasks: [{id: a, description: A}, {id: b, description: B}]}
  - {id: fine, title: F, tasks: [{id: c, description: C, deliverables: [{key: rating, required: false}]}]}
"""  # noqa: E501 - as files have it


def test_each_way_gets_a_conversation_that_takes_it() -> None:
    opened = graph_of(GOAL)
    graph = opened.loaded.graph
    assert graph is not None
    found, complete = suggestions(graph, all_ways(graph), name="graph.yaml", digest="d")
    assert complete
    assert [(one.key[0], one.key[3], one.turns) for one in found] == [
        ("talk", "small", 1), ("talk", "fine", 1), ("talk", "fine", 3),
        ("small", "fine", 1), ("fine", "__end__", 1),
    ]  # fmt: skip
    for one in found:
        result = played(GOAL, one.text)
        assert told(result) == []
        assert result.notes == ("the graph has changed since this was recorded",)


@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
@given(any_graph)
def test_what_is_suggested_takes_the_way(value: dict[str, Any]) -> None:
    """Of any graph: the conversation passes, and takes what it was made for."""
    graph = built(value)
    if not graph.states or any(s.kind not in KINDS for s in graph.states.values()):
        return
    found, _ = suggestions(graph, all_ways(graph)[:4], name="g.json", digest="", budget=400)
    for one in found:
        if one.text:
            again = played_text(graph, one.text)
            assert again is not None
            assert again.passed, [problem.message for problem in again.problems]
            assert one.key in keys_of(again)


def test_a_way_that_is_never_taken_gets_none() -> None:
    graph = graph_of(
        "initial: a\nfields: {n: {type: int}}\nstates:\n"
        "  a: {type: user, writes: [n], transition: {next: ["
        "{to: b, when: {n__gt: 5}}, {to: c, when: {n__gt: 7}}, a]}}\n"
        "  b: {type: terminal}\n  c: {type: terminal}\n"
    ).loaded.graph
    assert graph is not None
    found, complete = suggestions(graph, all_ways(graph), name="g", digest="")
    assert complete
    assert [bool(one.text) for one in found] == [True, False, True]


def test_values_are_of_their_types_and_differ_to_the_guards() -> None:
    graph = graph_of(
        "initial: a\nfields: {n: {type: int}, e: {type: enum, values: [x, y, z]}, s: {type: str},"
        " b: {type: bool}}\nstates:\n  a: {type: user, transition: {next: ["
        "{to: b, when: {n__gt: 5}}, {to: b, when: \"e == 'x' and s == 'q'\"}, "
        '{to: b, when: "n * 2 > 50 or b"}, a]}}\n  b: {type: terminal}\n'
    ).loaded.graph
    assert graph is not None
    values = Values(graph)
    assert set(values.of("e")) >= {"x", "y"}
    assert all(isinstance(value, int) for value in values.of("n"))
    assert {True, False} <= set(values.of("b"))
    assert "q" in values.of("s")
    assert len(values.of("s")) > 1


# --- walks ----------------------------------------------------------------------------------------

TRAP = """
initial: ask
fields: {mood: {type: enum, values: [good, bad]}}
states:
  ask: {type: user, writes: [mood], transition: {next: [judge]}}
  judge: {type: decision, transition: {next: [{to: bye, when: {mood: good}}]}}
  bye: {type: terminal}
"""


def test_the_same_seed_walks_the_same_ways() -> None:
    graph = graph_of(TRAP).loaded.graph
    assert graph is not None
    one, two, other = (walks(graph, 30, seed, 10) for seed in (1, 1, 2))
    assert [walk.conversation for walk in one.walks] == [walk.conversation for walk in two.walks]
    assert [w.conversation for w in one.walks] != [w.conversation for w in other.walks]
    assert one.how_many("ended") + one.how_many("stuck") == 30
    assert one.how_many("stuck")


def test_what_went_wrong_can_be_replayed() -> None:
    graph = graph_of(TRAP).loaded.graph
    assert graph is not None
    found = walks(graph, 30, 1, 10)
    ((walk, count),) = found.wrong()
    assert (walk.status, walk.state, count) == ("stuck", "judge", found.how_many("stuck"))
    text = write(walk.conversation, graph="graph.yaml", digest="")
    result = played(TRAP, text)
    assert told(result)[0].endswith(
        "the run is stuck in 'judge': nothing holds in 'judge' (-> bye: does not hold)"
    )
    assert any("stuck in 'judge'" in line or "stuck" in line for line in told_of(found, "g.yaml"))


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(any_graph)
def test_any_graph_is_walked_and_every_walk_replays(value: dict[str, Any]) -> None:
    graph = built(value)
    if not graph.states or any(s.kind not in KINDS for s in graph.states.values()):
        return
    found = walks(graph, 3, 0, 6)
    for walk in found.walks:
        text = write(walk.conversation, graph="g.json", digest="")
        if not walk.conversation:
            continue
        again = played_text(graph, text)
        assert again is not None
        stands = (again.whole.after.status, again.whole.after.state)
        status = walk.status if walk.status != "open" else "waiting"
        assert stands == (status, walk.state), [p.message for p in again.problems]
        assert again.passed or walk.status in WRONG


# --- a model as the person ------------------------------------------------------------------------


DESK = """
initial: ask
fields: {intent: {type: enum, values: [refund, other]}}
states:
  ask: {type: user, transition: {next: [sort]}}
  sort: {type: agent, writes: [intent],
         transition: {next: [{to: pay, when: {intent: refund}}, ask]}}
  pay: {type: terminal}
"""


def simulated(*replies: str | dict[str, Any], most: int = 9, budget: float | None = None) -> Any:
    graph = graph_of(DESK).loaded.graph
    assert graph is not None
    model = Script(*replies)
    return model, asyncio.run(talk(graph, "in a hurry", model, most=most, budget=budget))


def test_a_model_plays_the_person() -> None:
    model, found = simulated(
        "Hello", {"writes": {}, "reply": "Yes?"}, "My money!", {"writes": {"intent": "refund"}}
    )
    assert (found.status, found.stopped, found.whole.lines) == ("ended", "", 2)
    asked = model.requests[2]
    assert "in a hurry" in asked.prompt
    roles = [(m["role"], m["content"]) for m in asked.snapshot.data["messages"]]
    assert roles == [("assistant", "Hello"), ("user", "Yes?")]


@pytest.mark.parametrize(
    ("replies", "stopped"),
    [
        (["[done]"], "the person had nothing left to say"),
        (["Hi", {"writes": {}, "reply": "?"}] * 3, "2 turns were used up"),
    ],
)
def test_it_is_bounded(replies: list[Any], stopped: str) -> None:
    _, found = simulated(*replies, most=2)
    assert found.stopped == stopped
    assert found.status == "waiting"


def test_it_is_bounded_by_money() -> None:
    spent = {"input": 5, "output": 5, "cost": 0.2}
    dear: dict[str, Any] = {"writes": {}, "reply": "?", "usage": spent}
    _, found = simulated("Hi", dear, "Hi", dear, "Hi", dear, budget=0.4)
    assert found.stopped == "the budget of 0.4 is used up"
    assert (found.tokens, found.cost) == (20, 0.4)


# --- several branches, and kinds of one's own -----------------------------------------------------

FORKED = """
initial: ask
fields: {a: {type: enum, values: [x, y]}, b: {type: int}, c: {type: str}, log: {type: list,
         reducer: extend, default: []}}
tools: {crm: {command: [crm]}, shop: {command: [shop]}}
states:
  ask: {type: user, transition: {next: [fork]}}
  fork: {type: decision, transition: {fanout: all, next: [hear, find, buy, think]}}
  hear: {type: user, writes: [a], transition: {next: [join]}}
  find: {type: tool, tool: crm.find, arguments: {}, writes: [b], transition: {next: [join]}}
  buy: {type: tool, tool: shop.buy, writes: [c], transition: {next: [join]}}
  think: {type: agent, writes: [log], transition: {next: [join]}}
  join: {type: decision, join: all, transition: {next: [{to: good, when: {a: x, b__gt: 3}}, bad]}}
  good: {type: terminal}
  bad: {type: terminal}
"""


def test_branches_are_walked_and_every_walk_replays() -> None:
    graph = graph_of(FORKED).loaded.graph
    assert graph is not None
    found = walks(graph, 30, 1, 10)
    assert {walk.status for walk in found.walks} == {"ended"}
    assert {walk.state for walk in found.walks} == {"good", "bad"}
    for walk in found.walks:
        result = played(FORKED, write(walk.conversation, graph="g.yaml", digest=""))
        assert told(result) == []


def test_branches_get_suggestions() -> None:
    graph = graph_of(FORKED).loaded.graph
    assert graph is not None
    wanted = all_ways(graph)
    found, complete = suggestions(graph, wanted, name="g.yaml", digest="")
    assert complete
    assert [one.key for one in found if not one.text] == []
    assert all(told(played(FORKED, one.text)) == [] for one in found)


def test_a_kind_of_its_own_is_walked_with_its_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "desk.yaml").write_text(
        "initial: hear\nstates:\n  hear: {type: user, transition: {next: [greet]}}\n"
        "  greet: {type: greeter, transition: {next: [hear, bye]}}\n  bye: {type: terminal}\n"
    )
    (tmp_path / "state_greeter.py").write_text(
        "from state_module.state import State\n"
        "from state_module.state_registry import register_state\n\n\n"
        "@register_state('greeter')\nclass Greeter(State):\n"
        "    async def run(self, context, agent):\n        return 'Hello!'\n"
    )
    refused = run("test", "--random", "5", "desk.yaml")
    assert refused.code == 2
    assert "--allow-plugins" in refused.err
    done = run("test", "--random", "5", "--allow-plugins", "desk.yaml")
    assert done.code == 0, done.err
    assert "5 walks by chance: 5 ended" in done.out
    shown = run("test", "--suggest", "--allow-plugins", "desk.yaml")
    assert "nothing is suggested: what states of the kind 'greeter' do is not known" in shown.out
