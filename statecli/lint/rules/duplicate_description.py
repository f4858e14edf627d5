"""The model chooses between two states that have the same description.

Why: name and description are all the model knows of an option. Two options with one description
cannot be told apart, so the choice is chance.

Bad:
    initial: reply
    states:
      reply:
        type: agent
        transition: {next: [help, search]}
      help:
        type: terminal
        description: Answer the question
      search:
        type: terminal
        description: Answer the question

Good:
    initial: reply
    states:
      reply:
        type: agent
        transition: {next: [help, search]}
      help:
        type: terminal
        description: The person does not know how to go on
      search:
        type: terminal
        description: The person wants something looked up

Fix: say in each description when to go there.
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint.choice import choices, description, description_place
from statecli.lint.facts import Facts
from statecli.model.diagnostic import Finding, Related
from statecli.model.graph import Transition
from statecli.model.guard import fold
from statecli.model.span import Path

FAMILY = "model"
SEVERITY = "warning"


def check(facts: Facts) -> Iterator[Finding]:
    """Options of one choice with equal descriptions, on the later one; once for each pair of
    descriptions, however many states choose between them."""
    repeated = _repeated(facts) if not facts.is_plan else set()  # (a plan leaves no choice)
    told: set[tuple[Path, Path]] = set()
    for choice in choices(facts) if repeated else ():
        first: dict[str, Transition] = {}
        for way in choice.ways:
            text = fold(description(facts, way))
            before = first.setdefault(text, way) if text in repeated else way
            if before is way:
                continue
            here, there = description_place(facts, way), description_place(facts, before)
            if (here.path, there.path) in told:
                continue
            told.update(((here.path, there.path), (there.path, here.path)))
            yield Finding(
                message=f"'{way.target}' has the same description as '{before.target}', "
                f"and {choice.where} the model chooses between them by it",
                at=here,
                states=(way.target, before.target),
                related=(Related(f"the description of '{before.target}'", there),),
                hint="say in each when to go there",
            )


def _repeated(facts: Facts) -> set[str]:
    """The descriptions that stand in the graph more than once."""
    seen: set[str] = set()
    found: set[str] = set()
    for state in facts.states:
        texts = [way.description for way in state.transitions if way.description]
        for text in (state.description, *texts):
            folded = fold(text)
            (found if folded in seen else seen).add(folded)
    return found - {""}
