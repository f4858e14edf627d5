"""A value is of another type than its field takes.

Why: what was written cannot be used, so it is left out or stops the run. In YAML, text that looks
like a number, or a template variable without quotes, is not text.

Bad:
    initial: ask
    states:
      ask:
        type: user
        transition: {next: 5}

Bad (a word that the field does not know):
    initial: ask
    states:
      ask:
        type: user
        join: sometimes
        transition: {next: [ask]}

Bad (a template variable without quotes is a mapping):
    initial: greet
    states:
      greet:
        type: agent
        prompt: {{greeting}}
        transition: {next: [done]}
      done:
        type: terminal

Good:
    initial: ask
    states:
      ask:
        type: user
        join: any
        transition: {next: [ask]}

Fix: write a value of the type that the message names; put text that looks like something else
into quotes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from statecli.lint.facts import Facts
from statecli.lint.problems import from_problems
from statecli.load.shape import STATE_KEYS
from statecli.model.data import described, is_list, is_map, shown
from statecli.model.diagnostic import Finding
from statecli.model.guard import as_number
from statecli.model.nearest import did_you_mean
from statecli.model.shape import WrongChoice, WrongType
from statecli.model.span import Path, Place
from statecli.model.wording import joined

FAMILY = "syntax"
SEVERITY = "error"
_ENTRIES: dict[str | int, str] = {"states": "state", "fields": "field", "tools": "tool"}
_GLUED = re.compile(r"[\w.-]+:[^\s/]")
_TRUE = ("yes", "on", "true", "y", "1")
_FALSE = ("no", "off", "false", "n", "0")


def check(facts: Facts) -> Iterator[Finding]:
    """Values of another type, words that are no choice, and what the reader could not take."""
    yield from from_problems(facts, "wrong-value-type")
    for issue in facts.issues(WrongType):
        subject, value = _subject(issue), issue.value
        but = f"not {described(value)}" if value is not None else "but it is empty"
        message = f"{subject} must be {issue.expected}, {but}"
        if value is None and issue.expected == "the name of a state":
            message = f"an empty item in '{_list(issue.path)}'"
        yield Finding(
            message=message,
            at=Place(issue.path),
            states=facts.owner(issue.path),
            hint=_advice(issue),
        )
    for choice in facts.issues(WrongChoice):
        if choice.rule == "wrong-value-type":
            hint = did_you_mean(choice.value, choice.choices)
            yield Finding(
                message=f"{shown(choice.value)} is no value of '{choice.key}'",
                at=Place(choice.path),
                states=facts.owner(choice.path),
                hint=hint or f"write {joined(choice.choices, 'or')}",
            )


def _subject(issue: WrongType) -> str:
    """What the value belongs to: its key, or the list that it is an item of."""
    if issue.path and isinstance(issue.path[-1], int):
        return f"an item of '{_list(issue.path)}'"
    if len(issue.path) == 2 and issue.path[0] in _ENTRIES:
        return f"the {_ENTRIES[issue.path[0]]} '{issue.path[-1]}'"
    return f"'{issue.key}'"


def _list(path: Path) -> str:
    """The key of the list that an item stands in."""
    return [step for step in path if isinstance(step, str)][-1]


def _advice(issue: WrongType) -> str:
    """How to write what was probably meant."""
    value, expected = issue.value, issue.expected
    if value is None and expected == "the name of a state":
        return "name a state, or remove it"
    if issue.path[:-1] == ("states",) and issue.key in STATE_KEYS:
        return "indent it, and what follows it, into the state above"
    if expected == "a mapping" and isinstance(value, str) and _GLUED.match(value):
        return "write a space after the colon"
    if expected == "true or false" and not is_map(value) and not is_list(value):
        word = str(value).strip().casefold()
        if word in _TRUE:
            return "write true"
        return "write false" if word in _FALSE else "write true or false"
    if expected == "text" and isinstance(value, bool | int | float):
        return f'put it in quotes: "{shown(value)}"'
    if "number" in expected and isinstance(value, str) and as_number(value) is not None:
        return f"write it without quotes: {value.strip()}"
    if issue.key == "transition" and (is_list(value) or isinstance(value, str)):
        return "write transition: {next: [...]}"
    if expected == "a list" and isinstance(value, str):
        return f"write [{value}]" if value.replace("_", "").isalnum() else "write a list: [...]"
    return ""
