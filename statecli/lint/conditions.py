"""Conditions that the loader could not read, as findings of the rule that reports them."""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint.facts import Facts
from statecli.model.diagnostic import Edit, Finding, Fix
from statecli.model.keys import OPERATOR_SLIPS
from statecli.model.nearest import nearest
from statecli.model.shape import BadCondition
from statecli.model.span import Place


def from_conditions(facts: Facts, rule: str) -> Iterator[Finding]:
    """The unreadable conditions that one rule reports; where a word was expected, with the
    nearest one."""
    for issue in facts.issues(BadCondition):
        if issue.rule != rule:
            continue
        guess = meant(issue)
        at = Place(issue.path, issue.part, issue.within)
        fix = None
        if guess is not None:
            text = guess
            if issue.part == "key":
                text = f"{str(issue.path[-1]).removesuffix(issue.word)}{guess}"
            fix = Fix(f"write '{text}'", (Edit(at, text, "text"),))
        yield Finding(
            message=issue.message,
            at=at,
            states=facts.owner(issue.path),
            hint=f"did you mean '{guess}'?" if guess is not None else _listed(issue.choices),
            fix=fix,
        )


def meant(issue: BadCondition) -> str | None:
    """The choice that the word was probably meant to be."""
    if not issue.word or issue.word in issue.choices:
        return None
    if issue.word.casefold() == "xor":  # near "or", but something else
        return None
    slip = OPERATOR_SLIPS.get(issue.word)
    return slip if slip in issue.choices else nearest(issue.word, issue.choices)


def _listed(choices: tuple[str, ...]) -> str:
    return f"write one of: {', '.join(choices)}" if choices else ""
