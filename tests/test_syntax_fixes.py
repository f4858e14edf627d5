"""Every fix of the syntax and reference rules leaves a text that reads, with one mistake less."""

from __future__ import annotations

import pytest
from fixtures import Case, cases

from statecli.config import Config
from statecli.lint.linter import lint
from statecli.lint.rule import rules
from statecli.load.loader import load
from statecli.model.diagnostic import Diagnostic
from statecli.text import edits
from statecli.text.document import Document

FAMILIES = ("syntax", "references")


def found(path: str, text: str) -> tuple[Document, list[Diagnostic]]:
    loaded = load(path, text)
    return loaded.document, lint(loaded, Config(select=FAMILIES))


def repaired(path: str, text: str, only: str = "") -> str:
    """The text with one fix after the other made, each checked."""
    for _ in range(50):
        document, diagnostics = found(path, text)
        fixable = [d for d in diagnostics if d.finding.fix and (not only or d.rule == only)]
        if not fixable:
            return text
        first = fixable[0]
        assert first.finding.fix is not None
        changes = edits.changes(document, first.finding.fix)
        assert changes is not None, f"{first.rule}: {first.message} cannot be fixed"
        text = edits.apply(text, changes)
        after = [d.rule for d in found(path, text)[1]]
        before = [d.rule for d in diagnostics]
        assert "parse-error" not in after or "parse-error" in before, f"{first.rule} broke it"
        assert after.count(first.rule) < before.count(first.rule), f"{first.rule}: {first.message}"
    raise AssertionError("the fixes never end")


OWN = [case for case in cases() if rules()[case.rule].family in FAMILIES]


@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize("case", OWN, ids=lambda case: f"{case.rule}: {case.name}")
def test_each_fix_takes_one_mistake_away(case: Case, newline: str) -> None:
    text = repaired(f"g{case.suffix}", case.text.replace("\n", newline))
    assert "\n" not in text.replace(newline, ""), "line ends are kept"


OLD = """\
initial: greet
states:
  greet:   # first
    response: Hello
    transitions:
      user_input: find
      timeout: done
  find:
    tool: {name: lookup}
    transitions: {ready: done, "": "on"}
  "on":
    is_terminal: false
    transitions:

      go: done   # on
  done:
    is_terminal: true
"""
NEW = """\
initial: greet
states:
  greet:   # first
    type: user
    response: Hello
    transition:
      next: [find, done]
  find:
    type: tool
    tool: {name: lookup}
    transition: {next: [done, 'on']}
  "on":
    type: agent
    transition:

      next: [done]   # on
  done:
    type: terminal
"""


def test_the_older_form_is_rewritten() -> None:
    assert repaired("g.yaml", OLD, "old-form") == NEW


REMARKED = """\
initial: greet
states:
  # what we say first
  greet:
    transitions:   # where it goes
      user_input: find   # the usual
      # nobody there
      timeout: 'done'
    # the end of greet
  find:
    transitions: {ready: done}   # only
  done:
    is_terminal: true   # really
"""
KEPT = """\
initial: greet
states:
  # what we say first
  greet:
    type: user
    transition:   # where it goes
      next:
      - find   # the usual
      # nobody there
      - 'done'
    # the end of greet
  find:
    type: agent
    transition: {next: [done]}   # only
  done:
    type: terminal   # really
"""


def test_the_older_form_keeps_its_comments() -> None:
    assert repaired("g.yaml", REMARKED, "old-form") == KEPT


@pytest.mark.parametrize(
    "events",
    [
        "\n      x: b  # one\n      y: b",
        "\n      x:  # one\n        b",
        "{x: b,  # one\n      y: c}",
    ],
)
def test_where_a_comment_would_be_lost_the_older_form_is_left(events: str) -> None:
    text = f"initial: a\nstates:\n  a:\n    transitions: {events}\n  b: {{is_terminal: true}}\n"
    (one,) = (d for d in found("g.yaml", text)[1] if d.rule == "old-form")
    assert one.finding.fix is None


END = "{a: {type: terminal}}"
FIRST = [
    ("g.yaml", f"states: {END}", f"initial: a\nstates: {END}"),
    ("g.yaml", f"{{states: {END}}}", f"{{initial: a, states: {END}}}"),
    ("g.yaml", f"---\n# x\nstates: {END}", f"---\n# x\ninitial: a\nstates: {END}"),
    ("g.yaml", f"initial:\nstates: {END}", f"initial: a\nstates: {END}"),
    ("g.yaml", "states: {on: {}}", "initial: 'on'\nstates: {on: {}}"),
    ("g.json", '{"states": {"a": {}}}', '{"initial": "a", "states": {"a": {}}}'),
]


@pytest.mark.parametrize(("path", "before", "after"), FIRST)
def test_initial_is_written_first(path: str, before: str, after: str) -> None:
    assert repaired(path, before, "missing-initial") == after


BARE = """\
initial: a
# the first
a:
  type: agent
  prompt: |
    one

      two
  transition: {next: [b]}
b:
  type: terminal
"""
UNDER_STATES = """\
initial: a
# the first
states:
  a:
    type: agent
    prompt: |
      one

        two
    transition: {next: [b]}
  b:
    type: terminal
"""


def test_states_are_put_under_states() -> None:
    assert repaired("g.yaml", BARE, "missing-states") == UNDER_STATES
    before, after = load("g.yaml", BARE).graph, load("g.yaml", UNDER_STATES).graph
    assert before is not None
    assert after is not None
    assert before.states["a"].settings == after.states["a"].settings
    state = '"a": {"type": "user", "transition": {"next": ["a"]}}'
    moved = f'{{"initial": "a", "states": {{{state}}}}}'
    assert repaired("g.json", f'{{"initial": "a", {state}}}', "missing-states") == moved


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{type: user, next: [b]}", "{type: user, transition: {next: [b]}}"),
        ("{type: user, next: b}", "{type: user, transition: {next: [b]}}"),
        ("\n    type: user\n    next: [b]", "\n    type: user\n    transition: {next: [b]}"),
        (
            "\n    type: user\n    next:\n    - b # c\n    title: A",
            "\n    type: user\n    transition:\n      next:\n      - b # c\n    title: A",
        ),
        (
            "\n    next:\n      # c\n      - b\n    type: user",
            "\n    transition:\n      next:\n        # c\n        - b\n    type: user",
        ),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_next_is_moved_into_its_transition(before: str, after: str, newline: str) -> None:
    graph = "initial: a\nstates:\n  a: {}\n  b:\n    type: terminal\n"
    start = graph.replace("{}", before).replace("\n", newline)
    wanted = graph.replace("{}", after).replace("\n", newline)
    assert repaired("g.yaml", start) == wanted


def test_next_is_moved_in_json() -> None:
    text = '{"initial": "a", "states": {"a": {"type": "user", "next": ["a"]}}}'
    moved = '"transition": {"next": ["a"]}'
    assert repaired("g.json", text) == text.replace('"next": ["a"]', moved)
