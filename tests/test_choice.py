"""When the model chooses where to go (model.md 6)."""

from __future__ import annotations

from typing import Any

import pytest
from scripted import World, play

from statecli.kinds.choice import named
from statecli.model.event import Chose, Failed, Limited, Refused
from statecli.model.ports import ModelError

NAMES = ["supervisor", "ask_user", "Use Tool", "end", "wrap-up"]


@pytest.mark.parametrize(
    ("answer", "meant"),
    [
        ({"next_state": "ask_user"}, "ask_user"),
        ('{"next_state": "ask_user"}', "ask_user"),
        ('Sure! ```json\n{"next_state": "ask_user"}\n```', "ask_user"),
        ('I think {"next_state": "ask_user", "why": {"a": 1}} is best.', "ask_user"),
        ('{"why": {"b": {}}, "next_state": "supervisor"}', "supervisor"),
        ('{"next_state": "Supervisor"}', "supervisor"),
        ('{"next_state": " ASK_USER "}', "ask_user"),
        ('{"next_state": "ask user"}', "ask_user"),
        ('{"next_state": "use tool"}', "Use Tool"),
        ('{"next_state": "wrap up"}', "wrap-up"),
        ("ask_user", "ask_user"),
        (" Ask_User. ", "ask_user"),
        ("`ask_user`", "ask_user"),
        ('"ask_user"', "ask_user"),
        ("**ask_user**", "ask_user"),
        ("```\nask_user\n```", "ask_user"),
        ("```text\nask_user\n```", "ask_user"),
        ("END", "end"),
        ('{"next_state": "ask_user"} {"next_state": "ask_user"}', "ask_user"),
        # and these name none
        ('{"next_state": "supevisor"}', None),
        ("supevisor", None),
        ("I would go to ask_user now", None),
        ("Not to the supervisor but to ask_user", None),
        ("", None),
        ("   ", None),
        ("null", None),
        ("{}", None),
        ('{"next_state": ""}', None),
        ('{"next_state": null}', None),
        ('{"next_state": ["ask_user"]}', None),
        ('{"state": "ask_user"}', None),
        ('{"next_state": "ask_user"} or {"next_state": "supervisor"}', None),
        ('{"next_state": "ask_user"', None),
        ("__end__", None),
        ("ask_userx", None),
        (None, None),
        (7, None),
        ([], None),
        ("{" * 2000, None),
    ],
)
def test_what_an_answer_names(answer: Any, meant: str | None) -> None:
    assert named(answer, NAMES) == meant


def test_two_names_that_differ_in_case_only_are_told_apart_by_it() -> None:
    assert named("End", ["end", "End"]) == "End"
    assert named("END", ["end", "End"]) is None


GRAPH = """
initial: work
states:
  work:
    type: agent
    ON_INVALID
    transition: {next: [look, {to: ask, description: Something is unclear}OTHER]}
  look: {type: decision, description: A look at the files, transition: {next: [ask]}}
  ask: {type: user, description: Wait, transition: {next: [work]}}
  rest: {type: user, transition: {next: [work]}}
"""


def graph(on_invalid: str = "", other: str = "") -> str:
    line = f"on_invalid: {on_invalid}" if on_invalid else "title: Work"
    return GRAPH.replace("ON_INVALID", line).replace("OTHER", other)


def test_the_model_gets_name_and_description() -> None:
    """Of the transition, else of the target state."""
    played = play(graph(), answers=["x", {"next_state": "ask"}])
    options = [tuple(option) for option in played.world.requests[-1].options]
    assert options == [("look", "A look at the files"), ("ask", "Something is unclear")]


def test_it_is_asked_again_once_with_the_options() -> None:
    played = play(graph(), answers=["x", {"next_state": "supevisor"}, "look"])
    first, second = [r for r in played.world.requests if r.what == "choice"]
    assert first.note == ""
    assert second.note == '\'{"next_state": "supevisor"}\' is none of: look, ask'
    (chose,) = [body for body in played.of(Chose) if body.state == "work"]
    assert chose.answers == ('{"next_state": "supevisor"}', "look")
    assert (chose.target, chose.by, chose.options) == ("look", "model", ("look", "ask"))
    assert [body.what for body in played.of(Refused)] == ["choice"]


@pytest.mark.parametrize("bad", ["", "END", "supevisor", "I would rather look", {"next": "look"}])
def test_bad_answers_never_lead_anywhere_else(bad: Any) -> None:
    """bugs.md 4: never a crash, never a state that is not in `next`; each answer is kept."""
    played = play(graph(), answers=["x", bad, bad])
    assert played.snapshot.state == "ask", "the only option that waits"
    (chose,) = played.of(Chose)
    assert (chose.by, len(chose.answers)) == ("fallback", 2)
    assert len(played.of(Refused)) == 2


def test_on_invalid_comes_first() -> None:
    played = play(graph("look"), answers=["x", "?", "?"])
    assert played.of(Chose)[0].by == "on_invalid"
    assert played.path == ["look", "ask"]


def test_on_invalid_may_be_another_target_of_the_state() -> None:
    other = ", {to: rest, priority: 5}"
    played = play(graph("rest", other), answers=["x", "?", "?"])
    assert played.snapshot.state == "rest"
    (chose,) = played.of(Chose)
    assert (chose.by, chose.number, chose.options) == ("on_invalid", 2, ("look", "ask"))


def test_on_invalid_that_is_no_target_is_never_gone_to() -> None:
    assert play(graph("rest"), answers=["x", "?", "?"]).snapshot.state == "ask"


def test_two_waiting_options_are_no_way_out() -> None:
    played = play(graph("", ", rest"), answers=["x", "?", "?"])
    (limited,) = played.of(Limited)
    assert limited.limit == "choice"
    assert limited.message == "the model named none of look, ask, rest, asked twice"
    assert played.snapshot.status == "limited"
    assert played.snapshot.state == "work"
    played.world.answers = ["y", "rest"]
    assert played.say("go on").snapshot.state == "rest"


def test_a_model_that_cannot_be_asked_fails_the_step() -> None:
    played = play(graph(), answers=["x", ModelError("no network")])
    assert [body.error for body in played.of(Failed)] == ["no network"]
    assert played.snapshot.state == "work"


def test_one_option_needs_no_question() -> None:
    text = graph().replace("look, {to: ask, description: Something is unclear}", "ask")
    played = play(text, answers=["x"])
    assert [r.what for r in played.world.requests] == ["reply"]
    assert played.snapshot.state == "ask"


def test_guards_come_before_the_question() -> None:
    text = graph().replace("[look,", "[{to: ask, when: {x: 1}}, look,")
    assert play(text, answers=["hi"], data={"x": 1}).snapshot.state == "ask"


def test_the_choice_is_not_shown_to_the_person() -> None:
    world = World(["x", ['{"next_', 'state": "ask"}']])
    played = play(graph(), world=world)
    assert played.said == ["x"]
    assert played.snapshot.state == "ask"
