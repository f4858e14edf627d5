"""Everything that can be expected of a turn: what holds is silent, what does not is told with the
place, what is expected and what is there; what cannot be right is told before anything runs."""

from __future__ import annotations

import pytest
from playing import played, told

STATES = """
initial: greet
fields:
  topic: {type: enum, values: [order, trouble, done]}
  number: {type: int, default: 0}
  tags: {type: set}
  note: {type: str}
tools: {shop: {command: [shop]}}
states:
  greet: {type: agent, speaks_first: true, transition: {next: [hear]}}
  hear: {type: user, transition: {next: [sort]}}
  sort:
    type: agent
    writes: [topic, number, tags, note]
    transition:
      next:
        - {to: look_up, when: {topic: order, number__gt: 5}}
        - {to: help, when: {topic: trouble}}
        - {to: bye, when: {topic: done}}
        - hear
  look_up: {type: tool, tool: shop.find, writes: [note], on_error: help, transition: {next: [hear]}}
  help: {type: agent, transition: {next: [hear, bye]}}
  bye: {type: terminal, message: Goodbye!}
"""
#: Greets, then looks an order up.
TALK = """\
graph: graph.yaml
turns:
  - replies: [Hello there!]
  - say: Where is 7?
    replies:
      - {writes: {topic: order, number: 7, tags: [b, a]}, reply: Let me see.}
      - calls: [shop.find: {number: 7, fast: true}]
      - result: {note: In Hamburg}
    expect: EXPECT
"""


def after(expect: str, graph: str = STATES, talk: str = TALK) -> list[str]:
    """The problems of a conversation that expects this."""
    return told(played(graph, talk.replace("EXPECT", expect)))


@pytest.mark.parametrize(
    "expect",
    [
        "{}",
        "{state: hear}",
        "{entered: [sort, hear]}",
        "{entered: look_up}",
        "{left: [sort, look_up]}",
        "{takes: hear}",
        "{takes: [sort, look_up, hear]}",
        "{takes: sort -> look_up}",
        "{takes: 'states.sort.transition.next[0]'}",
        "{takes: 'transition.next[0]'}",
        "{takes: {from: sort, to: look_up, at: 'next[0]', by: order}}",
        "{data: {topic: order, number: 7.0, tags: [a, b], note: In Hamburg}}",
        "{data: {note: {matches: '^In', contains: Hamburg}}}",
        "{data: {note: {equals: In Hamburg}, number: {unset: false}}}",
        "{data: {tags: {contains: a}, plan: null, needs_permission: {unset: true}}}",
        "{collected: [topic, note]}",
        "{collected: tags}",
        "{said: Let me see}",
        "{said: [Let, {matches: 'see.$'}, {equals: Let me see.}]}",
        "{not_said: [Hello, {matches: '^see'}]}",
        "{called: shop.find}",
        "{called: find}",
        "{called: {shop.find: {number: 7}}}",
        "{called: [{shop.find: {number: 7, fast: true}}]}",
        "{guards: {look_up: true}}",
        "{guards: {'sort -> look_up': true, 'sort.transition.next[0]': true}}",
        "{ended: false}",
        "{status: waiting}",
        "{x-note: whatever}",
    ],
)
def test_what_holds_is_silent(expect: str) -> None:
    assert after(expect) == []


@pytest.mark.parametrize(
    ("expect", "message"),
    [
        ("{state: bye}", "9:21: expected to be in 'bye'; it is in 'hear'"),
        ("{entered: [sort, help]}", ("9:30: expected 'help' to be entered; entered: 'sort', "
         "'look_up' and 'hear'")),
        ("{entered: [hear, sort]}", ("9:30: expected 'sort' to be entered after 'hear'; entered: "
         "'sort', 'look_up' and 'hear'")),
        ("{entered: []}", "9:23: expected that no state is entered: 'sort', 'look_up' and 'hear'"),
        ("{left: bye}", "9:20: expected 'bye' to be left; left: 'hear', 'sort' and 'look_up'"),
        ("{takes: bye}", ("9:21: expected the way to 'bye' to be taken; taken: 'hear' -> 'sort'; "
         "'sort' -> 'look_up'; 'look_up' -> 'hear'")),
        ("{takes: [look_up, sort]}", ("9:31: expected the way to 'sort' to be taken after the way "
         "to 'look_up'; taken: 'hear' -> 'sort'; 'sort' -> 'look_up'; 'look_up' -> 'hear'")),
        ("{takes: [sort, sort]}", ("9:28: expected the way to 'sort' to be taken 2 times; taken: "
         "'hear' -> 'sort'; 'sort' -> 'look_up'; 'look_up' -> 'hear'")),
        ("{called: [find, find]}", ("9:29: expected 'find' to be called 2 times; called: "
         "shop.find(number=7, fast=true)")),
        ("{takes: []}", ("9:21: expected that no way is taken; taken: 'hear' -> 'sort'; 'sort' -> "
         "'look_up'; 'look_up' -> 'hear'")),
        ("{takes: {from: hear, by: model}}", ("9:21: expected the way from 'hear' by model to be "
         "taken; taken: 'hear' -> 'sort'; 'sort' -> 'look_up'; 'look_up' -> 'hear'")),
        ("{data: {number: 8}}", "9:29: expected 'number' to be 8; it is 7"),
        ("{data: {number: '7'}}", "9:29: expected 'number' to be '7'; it is 7"),
        ("{data: {number: {matches: '7'}}}", ("9:29: expected 'number' to be a match of '7'; "
         "it is 7")),
        ("{data: {note: {unset: true}}}", ("9:27: expected 'note' to be not set; it is "
         "'In Hamburg'")),
        ("{data: {plan: [a]}}", "9:27: expected 'plan' to be ['a']; it is not set"),
        ("{data: {tags: {contains: c}}}", ("9:27: expected 'tags' to be something that contains "
         "'c'; it is ['a', 'b']")),
        ("{collected: plan}", ("9:25: expected 'plan' to be collected; collected: 'topic', "
         "'number', 'tags' and 'note'")),
        ("{collected: []}", ("9:25: expected that nothing is collected; collected: 'topic', "
         "'number', 'tags' and 'note'")),
        ("{said: Hello}", ("9:20: expected a reply that contains 'Hello'; said: "
         "'Let me see.'")),
        ("{not_said: see}", ("9:24: expected no reply that contains 'see'; said: "
         "'Let me see.'")),
        ("{called: shop.pay}", ("9:22: expected 'shop.pay' to be called; called: "
         "shop.find(number=7, fast=true)")),
        ("{called: {find: {number: 8}}}", ("9:29: expected find(number=8) to be called; called: "
         "shop.find(number=7, fast=true)")),
        ("{called: []}", ("9:22: expected that no tool is called; called: "
         "shop.find(number=7, fast=true)")),
        ("{guards: {look_up: false}}", ("9:32: expected the guard to 'look_up' to be false; it is "
         "true")),
        ("{guards: {help: false}}", ("9:29: expected the guard to 'help' to be false; it was not "
         "tried, another way was taken before it")),
        ("{ended: true}", "9:21: expected that the run has ended; it is waiting in 'hear'"),
        ("{ended: bye}", "9:21: expected the end in 'bye'; it is waiting in 'hear'"),
        ("{status: stuck}", "9:22: expected the status 'stuck'; it is 'waiting'"),
        ("{refused: choice}", ("9:23: expected a refusal that contains 'choice'; "
         "refused: nothing")),
    ],
)  # fmt: skip
def test_what_does_not_hold_is_told(expect: str, message: str) -> None:
    assert after(expect) == [f"x.yaml:{message}"]


@pytest.mark.parametrize(
    ("expect", "message"),
    [
        ("{stat: hear}", "9:14: nothing is expected by 'stat'; did you mean 'state'?"),
        ("{zzz: 1}", "9:14: nothing is expected by 'zzz'; there are: state, "),
        ("{never: bye}", "9:14: nothing is expected by 'never'; it stands in the 'expect' of the "),
        ("{state: heer}", "9:21: no state is named 'heer'; did you mean 'hear'?"),
        ("{state: 3}", "9:21: a state is named here, not the number 3"),
        ("{state: __end__}", "9:21: no state is named '__end__'"),
        ("{takes: lok_up}", "9:21: no state is named 'lok_up'; did you mean 'look_up'?"),
        ("{takes: 'transitions[9]'}", "9:21: no transition stands at 'transitions[9]'; "),
        ("{takes: {at: 'next[9]'}}", "9:26: no transition stands at 'next[9]'; "),
        ("{takes: {too: bye}}", "9:22: a transition has no 'too'; did you mean 'to'?"),
        ("{takes: {to: [bye]}}", "9:26: 'to' is text, not a list"),
        ("{takes: [3]}", "9:22: a transition is a target or a place, not the number 3"),
        ("{data: {numbr: 3}}", "9:21: the graph has no field 'numbr'; did you mean 'number'?"),
        ("{data: 3}", "9:20: 'data' is a mapping, not the number 3"),
        ("{data: {note: {matches: '('}}}", "9:37: this regular expression cannot be read: "),
        ("{data: {note: {unset: maybe}}}", "9:35: 'unset' is true or false, not the text 'maybe'"),
        ("{collected: numbr}", "9:25: the graph has no field 'numbr'; did you mean 'number'?"),
        ("{said: 3}", "9:20: 'said' is text or a test of it, not the number 3"),
        ("{said: {match: x}}", "9:21: a text has no test 'match'; did you mean 'matches'?"),
        ("{called: set_deliverable}", "9:22: 'set_deliverable' is a call of the plan, not a tool"),
        ("{called: shopp.find}", ("9:22: the graph has no tool 'shopp.find'; did you mean "
         "'shop.find'?")),
        ("{called: fnd}", "9:22: the graph has no tool 'fnd'; did you mean 'find'?"),
        ("{called: {fnd: {}}}", "9:23: the graph has no tool 'fnd'; did you mean 'find'?"),
        ("{refused: complete_tsk}", ("9:23: nothing that may be refused is called 'complete_tsk'; "
         "did you mean 'complete_task'?")),
        ("{refused: shop.fnd}", ("9:23: nothing that may be refused is called 'shop.fnd'; did you "
         "mean 'shop.find'?")),
        ("{called: {find: 3}}", "9:29: the arguments of 'find' are a mapping, not the number 3"),
        ("{called: [3]}", "9:23: a tool is named here, not the number 3"),
        ("{guards: {lok_up: true}}", "9:23: no way leads to 'lok_up'; did you mean 'look_up'?"),
        ("{guards: {hear: true}}", "9:23: the way to 'hear' has no condition"),
        ("{guards: {look_up: 1}}", "9:32: a guard is true or false, not the number 1"),
        ("{tasks: {a: completed}}", "9:22: no task is named 'a'"),
        ("{status: stick}", ("9:22: a status is waiting, limited, failed, stuck, ended or running, "
         "not the text 'stick'; did you mean 'stuck'?")),
    ],
)  # fmt: skip
def test_what_cannot_be_right_is_told_before_it_runs(expect: str, message: str) -> None:
    result = played(STATES, TALK.replace("EXPECT", expect))
    assert result.status == "error"
    assert len(result.problems) == 1
    assert told(result)[0].startswith(f"x.yaml:{message}")


@pytest.mark.parametrize(
    ("tools", "message"),
    [
        ("", "; it has none"),
        ("tools: {shop: {python: 'a:b'}}", "; there are: shop"),
        ("tools: {shop: {command: [a]}}", ""),  # a server says itself what its tools are called
    ],
)
def test_a_tool_that_nothing_offers(tools: str, message: str) -> None:
    graph = (
        "initial: a\nstates:\n  a: {type: user, transition: {next: [b]}}\n  b: {type: terminal}\n"
    )
    talk = "graph: graph.yaml\nturns: [{say: x, expect: {not_said: x}}]\nexpect: {called: pay}\n"
    found = played(f"{graph}{tools}\n", talk)
    assert (found.status == "error") is bool(message)
    assert told(found)[0].endswith(message or "expected 'pay' to be called; called: none")


def test_every_mistake_of_a_file_is_told() -> None:
    talk = TALK.replace("EXPECT", "{stat: a, state: heer, data: {numbr: 1}}") + "data: {x: 1}\n"
    assert [line.partition(": ")[0] for line in told(played(STATES, talk))] == [
        "x.yaml:9:14", "x.yaml:9:30", "x.yaml:9:43", "x.yaml:10:8",
    ]  # fmt: skip


PLAN = """
id: p
title: P
states:
  - id: ask
    title: Ask
    type: strict
    tasks:
      - {id: name, description: Name, deliverables: [{key: name}]}
      - {id: size, description: Size, deliverables: [{key: size, type: enum, enum_values: [s, l]}]}
    transitions: [{target_state_id: help, condition_type: deliverable_value, condition_config:
                   {key: size, value: l}}]
  - {id: help, title: Help, type: loose, tasks: [{id: size, description: x}], transitions:
     [{target_state_id: __end__, condition_type: turn_count_exceeded, condition_config:
       {turns: 1, scope: total}}]}
"""
PLAN_TALK = """\
graph: graph.yaml
turns:
  - replies: [Who are you?]
  - say: Large, Ann
    replies:
      - {calls: [{set_deliverable: {key: size, value: l}}, {complete_task: {id: size}}], reply: Hm}
    expect: EXPECT
"""


@pytest.mark.parametrize(
    "expect",
    [
        "{state: ask, takes: [], collected: [], data: {size: null}}",
        "{tasks: {name: pending, ask/size: in_progress}, guards: {help: false}}",
        "{refused: 'one task at a time'}",
        "{refused: {matches: '^complete_task'}}",
    ],
)
def test_plan_states(expect: str) -> None:
    assert after(expect, PLAN, PLAN_TALK) == []


@pytest.mark.parametrize(
    ("expect", "message"),
    [
        ("{collected: size}", ("7:25: expected 'size' to be collected; collected: none (it waits "
         "to be confirmed)")),
        ("{data: {size: l}}", ("7:27: expected 'size' to be 'l'; it is not set ('l' waits to be "
         "confirmed)")),
        ("{tasks: {name: completed}}", ("7:28: expected the task 'ask/name' completed; it is "
         "pending")),
        ("{tasks: {size: completed}}", ("7:22: several states have a task 'size': write ask/size "
         "or help/size")),
        ("{tasks: {name: done}}", ("7:28: the status of a task is completed, skipped, in_progress "
         "or pending, not the text 'done'")),
    ],
)  # fmt: skip
def test_plan_states_that_differ(expect: str, message: str) -> None:
    assert after(expect, PLAN, PLAN_TALK) == [f"x.yaml:{message}"]


def test_the_end_of_a_plan_has_a_name() -> None:
    talk = """\
graph: graph.yaml
turns:
  - replies: [Who are you?]
  - say: Ann, large
    replies:
      - {calls: [{set_deliverable: {key: name, value: Ann}}, {set_deliverable: {key: size, value: l}}], reply: So}
  - {say: go on, replies: [Bye], expect: {state: __end__, takes: help -> __end__, ended: true, left: help}}
expect: {never: [], ended: __end__, turns_at_most: 2, entered: [ask, help]}
"""  # noqa: E501 - as files have it
    assert told(played(PLAN, talk)) == []
    worse = talk.replace("never: []", "never: help").replace("turns_at_most: 2", "turns_at_most: 1")
    assert told(played(PLAN, worse)) == [
        "x.yaml:8:17: expected that 'help' is never entered; it was",
        "x.yaml:8:54: expected at most 1 turns; there were 2",
    ]
