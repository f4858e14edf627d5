"""Conversations with a model that is asked: lines that get their replies once, files that are
checked against a real model."""

from __future__ import annotations

from typing import Any

import pytest
from playing import Script, graph_of, played, told

from statecli.model.ports import Provider
from statecli.scenario.completing import complete
from statecli.scenario.job import Result, guarded

DESK = """
initial: ask
fields: {intent: {type: enum, values: [refund, other]}}
tools: {shop: {command: [shop]}}
states:
  ask: {type: user, transition: {next: [sort]}}
  sort:
    type: agent
    writes: [intent]
    transition: {next: [{to: pay, when: {intent: refund}}, ask]}
  pay: {type: tool, tool: shop.pay, transition: {next: [bye]}}
  bye: {type: terminal}
"""
LINES = """\
# only what people say
graph: graph.yaml
turns:
  - say: Hello     # politely
  - say: My rake is broken.
    replies:
      - result: {paid: 20}
"""
OTHER: dict[str, Any] = {"writes": {"intent": "other"}, "reply": "Yes?"}
REFUND: dict[str, Any] = {"writes": {"intent": "refund"}, "reply": "Sorry!"}
CALL: dict[str, Any] = {"calls": [{"shop.pay": {"amount": 20}}]}


def completed(text: str, model: Provider) -> Result:
    """A file that a model has completed."""
    opened = graph_of(DESK)
    return guarded(
        "x.yaml",
        lambda: complete("x.yaml", text.encode(), lambda _path, _c: opened, lambda _graph: model),
    )


def test_lines_get_replies_and_expectations() -> None:
    result = completed(LINES, Script(OTHER, REFUND, CALL))
    assert (result.status, result.problems) == ("passed", ())
    assert (
        result.text
        == """\
# only what people say
graph: graph.yaml
turns:
  - say: Hello     # politely
    replies:
    - writes: {intent: other}
      reply: Yes?
    expect:
      takes: [sort, ask]
      state: ask
      data: {intent: other}
  - say: My rake is broken.
    replies:
      - writes: {intent: refund}
        reply: Sorry!
      - calls:
        - shop.pay: {amount: 20}
      - result: {paid: 20}
    expect:
      takes: [sort, pay, bye]
      state: bye
      data: {intent: refund}
      called: shop.pay
      ended: true
"""
    )
    assert told(played(DESK, result.text)) == []


def test_what_is_there_already_stays() -> None:
    """Replies of a turn are played from the file, expectations are compared and kept."""
    half = LINES.replace("# politely", "\n    replies: [{writes: {}, reply: Hm?}]")
    half = half.replace("      - result", "      - result").replace(
        "20}\n", "20}\n    expect: {state: bye}\n"
    )
    result = completed(half, Script(REFUND, CALL))
    assert result.status == "passed"
    assert result.text is not None
    assert "replies: [{writes: {}, reply: Hm?}]" in result.text
    assert result.text.count("expect") == 1
    again = completed(result.text, Script())
    assert (again.text, again.notes) == (None, ("every turn has its replies already",))


@pytest.mark.parametrize(
    ("replies", "message"),
    [
        ([OTHER, REFUND], "'shop.pay' is called and gives a result, and the file has no"),
        ([OTHER], "'sort' asks for its fields: 'intent', but this turn has no reply left"),
    ],
)
def test_nothing_is_written_where_it_goes_wrong(replies: list[Any], message: str) -> None:
    lines = LINES.replace("      - result: {paid: 20}", "      []") if len(replies) > 1 else LINES
    result = completed(lines, Script(*replies, *([CALL] if len(replies) > 1 else [])))
    assert (result.status, result.text) == ("failed", None)
    assert message in result.problems[0].message
    assert result.notes == ("nothing was written",)


def test_mistakes_are_told_before_the_model_is_asked() -> None:
    model = Script()
    result = completed(f"{LINES}expect: {{stat: x}}\n", model)
    assert result.problems[0].message == "nothing is expected by 'stat'; did you mean 'state'?"
    assert model.requests == []


# --- a real model against the file ----------------------------------------------------------------

TALK = """\
graph: graph.yaml
turns:
  - say: My rake is broken.
    replies:
      - {writes: {intent: refund}, reply: Sorry!}
      - calls: [shop.pay: {amount: 20}]
      - result: {paid: 20}
    expect: {state: bye, takes: [sort, pay], said: Sorry!, data: {intent: refund}, called: {shop.pay: {amount: 20}}}
"""  # noqa: E501 - as files have it
COOL: dict[str, Any] = {"writes": {"intent": "refund"}, "reply": "Oh no.",
                        "usage": {"input": 7, "output": 3, "cost": 0.5}}  # fmt: skip
LESS: dict[str, Any] = {"calls": [{"shop.pay": {"amount": 10}}]}


def test_a_model_is_compared_by_where_it_goes() -> None:
    """Tools give back what the file says; the words are the model's own."""
    result = played(DESK, TALK, model=Script(COOL, LESS))
    assert (result.status, result.tokens, result.cost) == ("passed", 10, 0.5)
    strict = played(DESK, TALK, model=Script(COOL, LESS), everything=True)
    assert [line.partition(";")[0] for line in told(strict)] == [
        "x.yaml:8:52: expected a reply that contains 'Sorry!'",
        "x.yaml:8:103: expected shop.pay(amount=20) to be called",
    ]
    wrong = played(DESK, TALK, model=Script(OTHER))
    assert [line.partition(";")[0] for line in told(wrong)] == [
        "x.yaml:8:21: expected to be in 'bye'",
        "x.yaml:8:40: expected the way to 'pay' to be taken",
    ]


def test_a_tool_of_which_the_file_says_nothing() -> None:
    result = played(
        DESK, TALK.replace("      - result: {paid: 20}\n", ""), model=Script(COOL, LESS)
    )
    assert "the file has no result for it" in result.problems[0].message
