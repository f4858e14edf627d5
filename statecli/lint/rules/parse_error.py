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
from statecli.lint.problems import from_problems
from statecli.model.diagnostic import Finding

FAMILY = "syntax"
SEVERITY = "error"
EXCLUSIVE = True
OWN_FORM = False


def check(facts: Facts) -> Iterator[Finding]:
    """The problems that the reader had with the text itself."""
    yield from from_problems(facts, "parse-error")
