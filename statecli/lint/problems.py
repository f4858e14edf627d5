"""The reader's problems with the text itself, as findings of the rule that reports them."""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint.facts import Facts
from statecli.model.diagnostic import Finding, Related
from statecli.text.document import offsets


def from_problems(facts: Facts, rule: str) -> Iterator[Finding]:
    """The problems of the document that one rule reports."""
    for problem in facts.document.problems:
        if problem.rule == rule:
            related: tuple[Related, ...] = ()
            if problem.other is not None:
                message, start, end = problem.other
                related = (Related(message, offsets(start, end)),)
            yield Finding(
                message=problem.message,
                at=offsets(problem.start, problem.end, problem.where),
                states=facts.owner(problem.where),
                hint=problem.hint,
                related=related,
            )
