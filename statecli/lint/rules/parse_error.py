"""A file is not valid YAML or JSON.

Why: nothing of the graph can be read, so nothing else is checked.

Bad:
    {initial: a, states: {a: [

Good:
    initial: a
    states:
      a:
        type: terminal

Fix: correct the text at the place the message names; most often it is an indentation, a missing
quote or a missing bracket.
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint.facts import Facts
from statecli.model.diagnostic import Finding, Related
from statecli.text.document import offsets

FAMILY = "syntax"
SEVERITY = "error"
EXCLUSIVE = True
OWN_FORM = False


def check(facts: Facts) -> Iterator[Finding]:
    """The problems that the reader had with the text itself."""
    yield from from_problems(facts, "parse-error")


def from_problems(facts: Facts, rule: str) -> Iterator[Finding]:
    """The reader's problems that one rule reports."""
    for problem in facts.document.problems:
        if problem.rule == rule:
            related: tuple[Related, ...] = ()
            if problem.other is not None:
                message, start, end = problem.other
                related = (Related(message, offsets(start, end)),)
            yield Finding(
                message=problem.message,
                at=offsets(problem.start, problem.end, problem.where),
                hint=problem.hint,
                related=related,
            )
