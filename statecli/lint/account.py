"""What can be said about the ways out of a state: what each needs, when it is the first that is
taken, and why it never is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from statecli.kernel.limits import limit
from statecli.kernel.order import options
from statecli.lint.facts import Facts
from statecli.lint.firsts import Example, Firsts
from statecli.model.diagnostic import Diagnostic
from statecli.model.graph import END, State, Transition
from statecli.model.guard import AllOf, Atom, invalid
from statecli.model.span import Path
from statecli.model.words import in_words

#: A route with one of these is never taken.
_NEVER = frozenset(
    {"dead-transition", "shadowed-transition", "turn-guard-shadowed", "default-not-last",
     "undefined-target", "goal-condition-outside-goal", "guard-syntax", "unknown-operator",
     "condition-config-missing", "unknown-condition-type"}
)  # fmt: skip
#: These say what is wrong in a condition; other parts of it may hold nevertheless.
_IN_PART = frozenset({"guard-never-holds", "value-not-in-enum", "compare-type-mismatch"})
#: What an account says already.
_LEAD = re.compile(r"\bthe way to '.*?' is never (?:taken|tried): ")
#: A route whose whole condition is an atom (or several that must all hold) on a field that is never
#: set is not, unless the atom asks for that.
_UNSET = frozenset({"field-never-written", "field-written-later"})
#: Milder diagnostics are told if they are of these families.
_ABOUT_ROUTES = frozenset({"guards", "references", "data"})


class Route(NamedTuple):
    """One way out. `needs` in words; `choice` are the targets among which the model chooses;
    `example` is a situation in which it is the first to be taken, None where that is not known;
    `never` says why it is not taken at all; `notes` are the diagnostics on it."""

    way: Transition
    needs: str
    choice: tuple[str, ...]
    example: Example | None
    never: tuple[str, ...]
    notes: tuple[Diagnostic, ...]


class Account(NamedTuple):
    """A state with its routes in the order in which they are tried, and what else happens."""

    state: State
    routes: tuple[Route, ...]
    otherwise: str


class Accounts:
    """The accounts of one graph's states."""

    def __init__(self, facts: Facts, diagnostics: Sequence[Diagnostic]) -> None:
        self.facts = facts
        self.notes: dict[Path, list[Diagnostic]] = {}
        for item in diagnostics:
            path = item.finding.at.path
            for size in range(1, len(path) + 1):
                self.notes.setdefault(path[:size], []).append(item)

    def of(self, number: int) -> Account:
        """The account of a state by its number."""
        state, ways = self.facts.states[number], self.facts.routes[number]
        firsts = Firsts(self.facts, state, ways)
        chosen = () if state.fans_out else options(ways)
        routes = tuple(
            self._route(state, way, at, firsts, chosen if way in chosen else ())
            for at, way in enumerate(ways)
        )
        return Account(state, routes, _otherwise(self.facts, number, routes))

    def _route(
        self,
        state: State,
        way: Transition,
        at: int,
        firsts: Firsts,
        chosen: Sequence[Transition],
    ) -> Route:
        found = self.notes.get(way.path, []) if way.origin == "written" else []
        notes = tuple(
            note
            for note in found
            if note.severity == "error" or note.rule in _NEVER or note.family in _ABOUT_ROUTES
        )
        dead = firsts.dead(at)
        never = _never(self.facts, state, way, notes, dead=dead) or firsts.never(at)
        choice = tuple(dict.fromkeys(option.target for option in chosen))
        needs, choice = self._needs(state, way, at, choice)
        example = None if never or (way.guard is None and not at) else firsts.example(at)
        return Route(way, needs, choice if len(choice) > 1 else (), example, never, notes)

    def _needs(
        self, state: State, way: Transition, at: int, choice: tuple[str, ...]
    ) -> tuple[str, tuple[str, ...]]:
        """What a route needs, in words, and the targets beside which it is an option."""
        if way.guard is not None:
            return in_words(way.guard), ()
        after = ""
        if state.kind == "executor" and state.name in choice and len(choice) > 1:
            # The steps of the plan decide which of them are options (model.md 3).
            if way.target == state.name:
                return "while steps remain", ()
            choice = tuple(name for name in choice if name != state.name)
            after = "after the last step or a failed one"
        if len(choice) > 1:
            needs = f"the model chooses among: {', '.join(choice)}{self._permitted(state, choice)}"
            return f"{after}, {needs}" if after else needs, choice
        return after or ("otherwise" if at and not state.fans_out else "always"), choice

    def _permitted(self, state: State, choice: Sequence[str]) -> str:
        """What a planner's choice is narrowed to when the person must agree to the plan first."""
        facts = self.facts
        names = [n for n in choice if n in facts.index and facts.waiting[facts.index[n]]]
        if state.kind != "planner" or not names or len(names) == len(choice):
            return ""
        return f"; with needs_permission only: {', '.join(names)}"


def told(note: Diagnostic) -> str:
    """A diagnostic as an account of its route tells it."""
    return f"{_LEAD.sub('', note.message)} [{note.rule}]"


def _never(
    facts: Facts, state: State, way: Transition, notes: Sequence[Diagnostic], *, dead: bool
) -> tuple[str, ...]:
    """Why a route is never taken, as far as it can be told without the others; `dead`: its whole
    condition never holds."""
    if state.ends:
        return ("a terminal state ends the run",)
    certain = [
        note
        for note in notes
        if note.rule in _NEVER or (dead and note.rule in _IN_PART) or _is_unset(way, note)
    ]
    if certain:
        return tuple(map(told, certain))
    if way.target not in facts.index and not (way.target == END and facts.is_plan):
        return (f"no state is named '{way.target}'",)
    if state.is_plan and way.target == state.name:
        return ("a plan state does not move to itself",)
    wrong = invalid(way.guard) if way.guard is not None else None
    return (wrong.reason,) if wrong is not None else ()


def _is_unset(way: Transition, note: Diagnostic) -> bool:
    """Whether the note is about an unset field without which the guard cannot hold."""
    if note.rule not in _UNSET or note.severity != "error":
        return False
    parts = way.guard.children if isinstance(way.guard, AllOf) else (way.guard,)
    path = note.finding.at.path
    return any(
        isinstance(part, Atom) and part.op != "absent" and path[: len(part.path)] == part.path
        for part in parts
    )


def _otherwise(facts: Facts, number: int, routes: Sequence[Route]) -> str:
    """What happens when no route is taken; empty if one always is."""
    state = facts.states[number]
    report = facts.verified
    if report is not None and state.name in report.lists["unreachable"]:
        return "no run gets here"
    if state.ends:
        return "the run ends here"
    if not state.routed:
        return f"the code of '{state.kind}' decides among these"
    live = [route for route in routes if not route.never]
    if any(route.way.guard is None for route in live):
        return ""
    if not state.transitions and not live:
        return "it waits" if facts.waiting[number] else "no way out: the run stops here"
    if not facts.waiting[number]:
        return "if none holds: the run stops here, stuck"
    return f"if none holds: it waits{_net(facts, number)}"


def _net(facts: Facts, number: int) -> str:
    """The way out of a plan state in which nothing moves (model.md 4.3)."""
    graph = facts.graph
    if graph is None or not graph.is_plan or not facts.states[number].is_plan:
        return ""
    turns = limit(graph, "stuck_turns")
    if turns == 0:
        return ""
    following = facts.states[number + 1].name if number + 1 < facts.end else ""
    target = f"goes on to '{following}'" if following else "ends"
    return f"; after {turns} turns without progress the run {target}"
