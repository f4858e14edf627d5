"""`statecli test --help` is the manual: what it shows as an example runs, every reply that it lists
can be read, every expectation too. A stranger has nothing else."""

from __future__ import annotations

import re
from textwrap import dedent

import pytest
import yaml
from playing import played, told

from statecli.cli.test import EXAMPLE
from statecli.scenario.expect import ANYTIME, WHOLE
from statecli.text.conversation import read

PARTS = EXAMPLE.split("\n\n")
PLAN = """
id: p
title: P
states:
  - {id: ask, title: Ask, type: TYPE, tasks: [
      {id: age, description: Age, deliverables: [{key: age, type: integer}]},
      {id: TASK, description: The end}], transitions: [{target_state_id: NEXT}]}
  - {id: NEXT, title: Next, tasks: [{id: bye, description: Bye}]}
"""


def block(begin: str) -> str:
    """The indented lines behind a line that begins so."""
    lines = EXAMPLE.split("\n")
    at = next(n for n, line in enumerate(lines) if line.startswith(begin)) + 1
    found: list[str] = []
    while lines[at].startswith("  ") or not (lines[at] or found):
        found.append(lines[at])
        at += 1
    return dedent("\n".join(found))


def test_the_example_runs() -> None:
    graph, talk = dedent(PARTS[1]), dedent(PARTS[3])
    result = played(graph, talk)
    assert told(result) == []
    assert result.status == "passed"


@pytest.mark.parametrize("kind", ["strict", "loose"])
def test_the_example_of_a_plan_runs(kind: str) -> None:
    turns = block("a plan (").partition("other calls:")[0]
    result = played(PLAN.replace("TYPE", kind), f"graph: graph.yaml\n{turns}")
    assert told(result) == []
    assert result.turns == 1


def test_closing_a_goal_is_as_it_is_shown() -> None:
    shown = "{close_goal: {outcome: achieved or given_up, quote: the person's words}}"
    check = "{check: {agree: true, quote: the person's words}}"
    assert shown in EXAMPLE
    assert check in EXAMPLE
    graph = """
id: p
title: P
states:
  - {id: talk, title: Talk, type: goal, goal: {objective: Talk}}
  - {id: bye, title: Bye, tasks: [{id: w, description: Wave}]}
"""
    call = shown.replace("achieved or given_up", "achieved")
    turns = (
        f"turns:\n  - replies: [Hi]\n  - say: the person's words\n    replies: [calls: [{call}], "
    )
    assert (
        told(played(graph, f"graph: g.yaml\n{turns}{check}, Bye]\n    expect: {{left: talk}}"))
        == []
    )


def test_every_reply_that_is_listed_can_be_read() -> None:
    lines = block("replies, by what").split("\n")
    texts = [re.split(r"\s{2,}", line)[0] for line in lines if line.startswith("- ")]
    texts += re.findall(
        r"\{(?:plan|ok|verdict|skill)\b.*?\}(?=\s\s|$)", "\n".join(lines), re.MULTILINE
    )
    assert len(texts) >= 9
    filled = [text.removeprefix("- ").replace("..]", "a]").replace(": ..", ": a") for text in texts]
    for text in filled:
        value = yaml.safe_load(text)
        talk = yaml.safe_dump({"turns": [{"replies": [value]}]}, sort_keys=False)
        assert len(read("x.yaml", talk.encode()).turns[0].replies) == 1, text


def test_every_expectation_is_listed() -> None:
    for name in (*ANYTIME, *WHOLE):
        assert re.search(rf"\b{name}: ", EXAMPLE), name


def test_what_has_to_be_known_is_said() -> None:
    """What strangers stumbled over."""
    for words in ("{error: why} if it fails", "close_goal: {outcome:", "first what the model fills",
                  "then what the tool gives back", "in quotes ('transitions[1]'"):  # fmt: skip
        assert words in EXAMPLE
