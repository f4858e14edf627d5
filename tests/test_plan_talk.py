"""What document 004 says a model is shown: a state's purpose, its tasks, the gaps of a goal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from run_cli import run
from scripted import World, call, play
from test_seed_plans import plan, state

from statecli.model.ports import Request

TALK = """
states:
  - id: intake
    title: Intake
    type: MODE
    description: Collect what the routing needs
    tasks:
      - id: identify
        description: Identify the customer
        instruction: Ask for the account number
        deliverables:
          - {key: account, type: integer, description: Number of the account}
          - {key: nickname, type: string, required: false}
      - id: classify
        description: Classify the issue
        required: false
        deliverables: [{key: issue, type: enum, enum_values: [billing, technical]}]
  - {id: end, title: End, tasks: [{id: bye, description: Say it}]}
"""
GOAL = """
states:
  - id: explore
    title: Daily Routine
    type: goal
    tasks: [{id: old, description: A left over task, deliverables: [{key: stale}]}]
    goal:
      objective: Understand a normal day
      success_description: We know when they get up
      deliverables:
        - {key: morning, description: What they do in the morning, required: true}
        - {key: evening, description: What they do in the evening, required: false}
  - {id: end, title: End, tasks: [{id: bye, description: Say it}]}
"""


def lines_of(request: Request) -> list[str]:
    return [line.strip() for line in request.prompt.splitlines()]


def tools_of(request: Request) -> set[str]:
    return {tool.name for tool in request.tools}


def test_004_a_loose_state_shows_its_purpose_and_every_open_task() -> None:
    played = play(TALK.replace("MODE", "loose"), answers=["Hi"])
    assert lines_of(played.world.requests[0]) == [
        "Collect what the routing needs", "", "Open tasks:",
        "- identify: Identify the customer", "Ask for the account number",
        "- account (integer) - Number of the account", "- nickname (string, optional)",
        "- classify: Classify the issue (optional)", "- issue (one of billing, technical)",
    ]  # fmt: skip
    assert {"set_deliverable", "complete_task", "skip_task"} <= tools_of(played.world.requests[0])


def test_004_a_strict_state_shows_one_task_and_offers_no_skipping() -> None:
    played = play(TALK.replace("MODE", "strict"), answers=["Hi"])
    (request,) = played.world.requests
    assert "- identify: Identify the customer" in lines_of(request)
    assert "classify" not in request.prompt
    assert not {"skip_task", "skip_state"} & tools_of(request)


def test_004_a_goal_state_shows_what_is_missing_and_no_tasks() -> None:
    """ "The agent is not shown a task list; it sees what is still missing towards the goal"."""
    played = play(GOAL, answers=["Hi"])
    first = played.world.requests[0]
    assert "- objective: Understand a normal day" in lines_of(first)
    assert "- success description: We know when they get up" in lines_of(first)
    assert "- morning (string) - What they do in the morning" in lines_of(first)
    assert "- evening (string, optional) - What they do in the evening" in lines_of(first)
    for text in ("Open tasks", "left over", "stale"):
        assert text not in first.prompt
    assert "close_goal" in tools_of(first)
    assert not {"complete_task", "skip_task"} & tools_of(first)
    played.world.answers = [call("set_deliverable", key="morning", value="coffee"), "And then?"]
    played.say("coffee first")
    later = played.world.requests[-1].prompt
    assert "evening" in later
    assert "- morning" not in later, "it is known now"


def test_004_the_second_check_is_told_what_reaches_no_goal() -> None:
    close = call("close_goal", outcome="given_up", quote="no idea really")
    agree = {"agree": True, "quote": "no idea really", "reason": "declines"}
    played = play(GOAL, "no idea really", world=World(["Hi", close, agree, "Good."]))
    check = next(request for request in played.world.requests if request.what == "check")
    for text in ('Small talk or a "maybe" closes no goal', "given_up", "no idea really",
                 "Understand a normal day", "We know when they get up"):  # fmt: skip
        assert text in check.prompt
    assert played.snapshot.goals == {"explore": "given_up"}


@pytest.mark.parametrize("to", ["text", "dot", "html"])
def test_004_the_title_is_what_is_displayed(to: str, tmp_path: Path) -> None:
    """ "Display name for the state": beside its id, in every drawing that has room for it."""
    given = plan({**state("hello"), "title": "Welcome them"}, {**state("bye"), "title": "Part"})
    (tmp_path / "p.json").write_text(json.dumps(given), encoding="utf-8")
    drawn = run("render", tmp_path / "p.json", "--to", to).out
    for text in ("hello", "Welcome them", "bye", "Part"):
        assert text in drawn


@pytest.mark.parametrize(("quote", "closes"), [("You get up early", False), ("before six", True)])
def test_004_a_quote_is_of_the_participant(quote: str, closes: bool) -> None:
    """ "Quoting the participant's own words": what the agent said itself closes nothing."""
    close = call("close_goal", outcome="given_up", quote=quote)
    agree = {"agree": True, "quote": quote, "reason": "said so"}
    answers = ["You get up early then?", close, agree, "Good."]
    played = play(GOAL, "yes, before six", world=World(answers))
    assert played.snapshot.goals == ({"explore": "given_up"} if closes else {})
    assert played.snapshot.state == ("end" if closes else "explore")
