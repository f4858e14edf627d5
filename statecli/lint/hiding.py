"""What keeps a route from being taken, and which causes other rules already name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from statecli.model.data import is_list
from statecli.model.graph import END, State, Transition
from statecli.model.span import Path

if TYPE_CHECKING:
    from statecli.lint.facts import Facts

#: Rules that say why a single guard is wrong; what else follows from it is no finding of its own.
ABOUT_GUARDS = (
    "value-not-in-enum", "compare-type-mismatch", "field-never-written", "field-written-later",
    "goal-condition-outside-goal", "guard-syntax", "condition-config-missing",
    "unknown-condition-type", "unknown-operator", "wrong-value-type",
)  # fmt: skip


def hides_later(facts: Facts, state: State, way: Transition) -> bool:
    """Whether a route, if it holds, keeps those after it from being tried. A target that does not
    exist is passed over; so is a plan state's way to itself (model.md 4.1)."""
    if state.is_plan and way.target == state.name:
        return False
    return way.target in facts.index or (way.target == END and facts.is_plan)


def fully_read(facts: Facts, state: State) -> bool:
    """Whether every written route of a state could be read; what is left out is another rule's
    finding, and may be what seems to be missing."""
    if facts.astray and facts.index[state.name] in facts.astray:
        return False
    listed = state.settings.get("transitions")
    if not is_list(listed):
        listed = facts.value((*state.path, "transition", "next"))
    return not is_list(listed) or len(listed) == len(state.transitions)


class Named:
    """The places, and the routes, that findings of certain rules (infos aside) are about; the rules
    run only when one is asked for."""

    def __init__(self, facts: Facts, *rules: str) -> None:
        self.facts = facts
        self.rules = rules
        self._places: set[Path] | None = None

    def __contains__(self, way: Transition) -> bool:
        return self.at(way.path)

    def at(self, path: Path) -> bool:
        """Whether a finding stands there or further inside."""
        if self._places is None:
            self._places = {
                finding.at.path[:size]
                for rule in self.rules
                for finding in self.facts.fired(rule)
                if finding.severity != "info"
                for size in range(len(finding.at.path) + 1)
            }
        return path in self._places
