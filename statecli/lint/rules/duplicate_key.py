"""The same key stands twice in one mapping.

Why: most readers, PyYAML and the JSON of Python and JavaScript among them, silently keep only the
last one, so half of what was written is not there at run time.

Bad:
    initial: ask
    states:
      ask:
        type: user
        transition: {next: [answer]}
      answer:
        type: terminal
      answer:
        type: agent
        transition: {next: [ask]}

Bad (in JSON):
    {"initial": "a", "states": {"a": {"type": "user", "type": "terminal"}}}

Good:
    initial: ask
    states:
      ask:
        type: user
        transition: {next: [answer]}
      answer:
        type: agent
        transition: {next: [ask]}

Fix: remove one of the two, or give it another name.
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint.facts import Facts
from statecli.lint.problems import from_problems
from statecli.model.diagnostic import Finding

FAMILY = "syntax"
SEVERITY = "error"


def check(facts: Facts) -> Iterator[Finding]:
    """The keys that the reader saw a second time."""
    yield from from_problems(facts, "duplicate-key")
