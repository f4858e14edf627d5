"""The model chooses between states, and one of them has no description.

Why: where several transitions have no guard, the model picks one by name and description. Without
a description it picks by the name alone, and often wrongly.

Bad:
    initial: reply
    states:
      reply:
        type: agent
        transition: {next: [help, search]}
      help:
        type: terminal
      search:
        type: terminal
        description: The person wants something looked up

Good:
    initial: reply
    states:
      reply:
        type: agent
        transition:
          next:
            - {to: help, description: The person does not know how to go on}
            - search
      help:
        type: terminal
      search:
        type: terminal
        description: The person wants something looked up

Fix: write a `description` at the state, or at the item of `next` that leads there.
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint.choice import choices
from statecli.lint.facts import Facts
from statecli.model.diagnostic import Finding, Related
from statecli.model.span import Place
from statecli.model.wording import listed

FAMILY = "model"
SEVERITY = "warning"


def check(facts: Facts) -> Iterator[Finding]:
    """One finding for each state without a description, with those that choose it."""
    bare = {state.name for state in facts.states if not state.description.strip()}
    if not bare:
        return
    choosers: dict[str, list[Related]] = {}
    names: dict[str, list[str]] = {}
    for choice in choices(facts):
        for way in choice.ways:
            if way.target not in bare or way.description.strip():
                continue
            if "description" not in facts.misspelt(way.target):
                related = Related(f"{choice.where} the model chooses here", Place(way.at))
                choosers.setdefault(way.target, []).append(related)
                names.setdefault(way.target, []).append(choice.state)
    for target, places in choosers.items():
        states = [name for name in names[target] if name]
        where = f"in {listed(states)}" if states else "at the start"
        yield Finding(
            message=f"'{target}' has no description, and {where} the model chooses by it",
            at=facts.place(target),
            states=(target, *(name for name in states if name != target)),
            related=tuple(places[:5]),
            hint="describe when to go there, at the state or at the transition",
        )
