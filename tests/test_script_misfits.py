"""What a conversation file says in vain, or lacks: each is told with its place and the cure."""

from __future__ import annotations

import pytest
from playing import played, told

FLOW = """
initial: ask
fields: {{intent: {{type: str}}, amount: {{type: int}}}}
tools: {{crm: {{command: [crm]}}, shop: {{command: [shop]}}}}
states:
  ask: {{type: user, transition: {{next: [work]}}}}
  work: {work}
  more: {{type: user, transition: {{next: [ask]}}}}
  bye: {{type: terminal}}
"""
ON = "transition: {next: [bye]}"
#: A state of each kind that asks a model, and what it is asked for.
#: What a state asks for; and the keys of a reply to it, where that is not a text.
ASKING = {
    f"{{type: agent, {ON}}}": "a reply",
    f"{{type: agent, tools: [crm, shop], {ON}}}": "a reply",
    f"{{type: agent, writes: [intent, amount], {ON}}}":
        "its fields: 'intent' and 'amount'; 'writes'",
    "{type: decision, transition: {next: [more, bye]}}":
        "the next state: 'more' or 'bye'; 'choice'",
    f"{{type: tool, tools: [crm, shop], {ON}}}": "a tool; 'tool' or 'calls'",
    f"{{type: tool, tool: crm, {ON}}}": "the arguments of a call; 'calls'",
    f"{{type: planner, {ON}}}": "a plan; 'plan'",
    "{type: verifier, transition: {next: [more, bye]}}": "a verdict; 'verdict'",
    f"{{type: skill_builder, {ON}}}": "a skill; 'skill'",
    "{type: strict, title: T, tasks: [{id: t, description: T}], transitions: []}":
        "a reply or calls",
}  # fmt: skip


@pytest.mark.parametrize("replies", ["", ", replies: []"])
@pytest.mark.parametrize("work", ASKING, ids=lambda work: str(work.split(",")[0])[7:])
def test_a_call_that_nobody_scripted(work: str, replies: str) -> None:
    """Of whatever kind: also where the file has no texts at all."""
    result = played(FLOW.format(work=work), f"graph: g.yaml\nturns:\n  - {{say: x{replies}}}\n")
    asked, _, keys = ASKING[work].partition("; ")
    lacks = f"'work' asks for {asked}, but this turn has no reply left"
    hint = f"; write one with {keys}" if keys else ""
    assert told(result) == [f"x.yaml:3:5: {lacks}{hint}"]


REPLIES = [
    "a text", "{reply: b}", "{writes: {intent: x}}", "{choice: bye}", "{check: {agree: true}}",
    "{calls: [crm: {}]}", "{tool: crm}", "{result: {}}", "{plan: {steps: [a]}}", "{ok: true}",
    "{verdict: {done: true, next: bye}}", "{skill: {name: a, text: b}}", "{answer: 'yes'}",
]  # fmt: skip


@pytest.mark.parametrize("reply", REPLIES)
def test_a_reply_that_nobody_asked_for(reply: str) -> None:
    graph = FLOW.format(work="{type: decision, transition: {next: [bye]}}")
    result = played(graph, f"graph: g.yaml\nturns:\n  - {{say: x, replies: [{reply}]}}\n")
    assert len(result.problems) == 1
    assert told(result)[0].startswith("x.yaml:3:24: nobody asked for this reply ('")


AGENT = f"{{type: agent, writes: [intent, amount], {ON}}}"
TOOL = f"{{type: tool, tool: crm.find, writes: [intent, amount], {ON}}}"
PICK = f"{{type: tool, tools: [crm.find, shop.buy], {ON}}}"
PLAN = ("{type: strict, title: T, tasks: [{id: t, description: T, deliverables: [{key: amount, "
        "type: integer}]}], transitions: [{target_state_id: bye}]}")  # fmt: skip
CALLED = "{calls: [find: {}]}"


@pytest.mark.parametrize(
    ("work", "replies", "message"),
    [
        (AGENT, "{writes: {intnet: x}}", "3:34: 'work' writes no 'intnet'; did you mean 'intent'?"),
        (AGENT, "{writes: {zzz: x}}", "'work' writes no 'zzz'; it writes 'intent' and 'amount'"),
        (AGENT, "{writes: {reply: x}}", "3:34: 'reply' stands beside 'writes', not in it"),
        (TOOL, f"{CALLED}, {{result: {{amuont: 3, id: 7}}}}",
         "3:55: 'work' writes no 'amuont'; did you mean 'amount'?"),
        (TOOL, "{calls: [fnd: {}]}", "3:33: 'work' calls 'crm.find', and the file 'fnd'"),
        (TOOL, "{calls: [find: {}, find: {}]}",
         "'work' makes one call each time it runs; here are 2"),
        (TOOL, "{calls: []}", "'work' makes one call each time it runs; here are 0"),
        (PICK, "{calls: [crm.fnd: {}]}", "'work' has no tool 'crm.fnd'; did you mean 'crm.find'?"),
        (PICK, "{calls: [buy: {}, find: {}]}",
         "'work' makes one call each time it runs; here are 2"),
        (PICK, "{tool: buy}, {calls: [find: {}]}", "'work' calls 'shop.buy', and the file 'find'"),
        (PLAN, "{calls: [set_delivrable: {key: amount, value: 3}]}",
         "there is no call 'set_delivrable' in 'work'; did you mean 'set_deliverable'?"),
        (PLAN, "{calls: [set_deliverable: {keys: amount, value: 3}]}",
         "3:51: 'set_deliverable' takes no 'keys'; did you mean 'key'?"),
    ],
)  # fmt: skip
def test_a_name_that_nobody_reads(work: str, replies: str, message: str) -> None:
    talk = f"graph: g.yaml\nturns:\n  - {{say: x, replies: [{replies}]}}\n"
    found = told(played(FLOW.format(work=work), talk))
    assert len(found) == 1
    assert message in found[0]


@pytest.mark.parametrize(
    ("work", "replies"),
    [
        (TOOL, f"{CALLED}, {{result: {{amount: 3, amounts: [3], id: 7}}}}"),
        (TOOL, f"{CALLED}, {{result: {{status: gone}}}}"),
        (TOOL, "{calls: [crm.find: {}]}, {result: {error: gone}}"),
        (PICK, "{calls: [buy: {}]}, {result: {}}"),
        (AGENT, "{writes: {intent: x}}"),
        (AGENT, "{writes: {intent: x, amount: 3}, reply: Fine}"),
        (AGENT, "{writes: {intnet: x}, usage: {input: 1}}"),
    ],
)  # fmt: skip
def test_what_is_in_order_is_silent(work: str, replies: str) -> None:
    """Tools tell more than is kept; what a real model said was recorded as it was."""
    talk = f"graph: g.yaml\nturns:\n  - {{say: x, replies: [{replies}]}}\n"
    assert told(played(FLOW.format(work=work), talk)) == []


@pytest.mark.parametrize(
    ("work", "replies", "why"),
    [
        (AGENT, "{writes: {amount: many}}", "once more ('amount'"),
        ("{type: decision, transition: {next: [more, bye]}}", "{choice: mor}",
         'once more (\'{"next_state": "mor"}\' is none of'),
        (PICK, "{tool: sell}", "a tool once more (no 'sell'; one of: crm.find, shop.buy)"),
        (PLAN, "{calls: [set_deliverable: {key: amount, value: many}]}",
         "(set_deliverable was refused:"),
        (PLAN, "{calls: [complete_task: {id: u}]}", "(complete_task was refused:"),
        (PLAN, "{calls: [dance: {}]}", "(dance was refused: there is no call 'dance'"),
    ],
)  # fmt: skip
def test_what_was_refused_leaves_its_trace(work: str, replies: str, why: str) -> None:
    """The model is asked once more, and nobody scripted that: the message says why it is."""
    talk = f"graph: g.yaml\nturns:\n  - {{say: x, replies: [{replies}]}}\n"
    found = told(played(FLOW.format(work=work), talk))
    assert len(found) == 1
    assert why in found[0]
    assert found[0].endswith("but this turn has no reply left")


GOAL = """
id: p
title: P
states:
  - {id: talk, title: Talk, type: goal, goal: {objective: Talk},
     transitions: [{target_state_id: bye}, {target_state_id: other,
                    condition_type: deliverable_exists, condition_config: {key: z}}]}
  - {id: bye, title: Bye, tasks: [{id: w, description: Wave}]}
  - {id: other, title: Other, tasks: [{id: o, description: O}]}
"""
CLOSE = "calls: [close_goal: {outcome: achieved, quote: I am done}]"
AGREE = "check: {agree: true, quote: I am done}"


def closed(*replies: str) -> list[str]:
    talk = "graph: g.yaml\nturns:\n  - replies: [Hi]\n  - say: I am done\n    replies: ["
    talk += f"{', '.join(replies)}]\n"
    return told(played(GOAL, f"{talk}    expect: {{takes: bye, said: Fine}}\n"))


def test_a_text_beside_calls_that_close_a_goal() -> None:
    """As one writes it: the text is said once the check has agreed, or with the calls where the
    model says more."""
    assert closed(f"{{{CLOSE}, reply: Fine}}", f"{{{AGREE}}}") == []
    assert closed(f"{{{CLOSE}}}", f"{{{AGREE}}}", "Fine") == []
    assert closed(f"{{{CLOSE}, reply: Fine}}", f"{{{AGREE}}}", "Bye") == []


def test_a_text_beside_calls_that_end_the_turn() -> None:
    talk = "graph: g.yaml\nturns:\n  - {say: x, replies: [{calls: [set_deliverable: {key: amount,"
    talk += " value: 3}], reply: Fine}]}\n"
    found = told(played(FLOW.format(work=PLAN), talk))
    assert len(found) == 1
    assert "nobody asked for this reply ('reply'): 'Fine'; the calls beside this text" in found[0]
    graph = FLOW.format(work=PLAN.replace("bye", "more")).replace(
        "more: {type: user, transition: {next: [ask]}}",
        "more: {type: agent, writes: [intent], transition: {next: [bye]}}",
    )
    assert told(played(graph, talk.replace("Fine}]", "Fine}, {writes: {intent: x}}]"))) == []
