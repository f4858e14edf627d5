"""Where a model chooses the next state, and what it is told about each option (model.md 6)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from statecli.model.graph import Transition
from statecli.model.span import Place

if TYPE_CHECKING:
    from statecli.lint.facts import Facts


class Choice(NamedTuple):
    """The ways that the model chooses from in one state; `state` is "" for the choice among the
    entry transitions."""

    state: str
    ways: Sequence[Transition]

    @property
    def where(self) -> str:
        return f"in '{self.state}'" if self.state else "at the start"


def choices(facts: Facts) -> Iterator[Choice]:
    """Every choice of the graph. A plan's routes all have a condition, so a plan has none."""
    if facts.graph is None or facts.is_plan:
        return
    entries = {
        name: Transition("", name, None, 1, number, path, path)
        for number, (name, path) in enumerate(facts.graph.entries)
        if name in facts.index
    }
    if len(entries) > 1:
        yield Choice("", list(entries.values()))
    for number, state in enumerate(facts.states):
        if len(state.transitions) > 1 and (ways := facts.options(number)):
            yield Choice(state.name, ways)


def description(facts: Facts, way: Transition) -> str:
    """What the model is told: the transition's own description, else that of the target."""
    own = way.description.strip()
    return own or facts.states[facts.index[way.target]].description.strip()


def description_place(facts: Facts, way: Transition) -> Place:
    if way.description.strip():
        return Place((*way.path, "description"))
    return Place((*facts.states[facts.index[way.target]].path, "description"))
