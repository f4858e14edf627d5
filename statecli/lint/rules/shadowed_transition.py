"""A transition never fires, because whenever it holds an earlier one holds too.

Why: transitions are tried by priority (lower first), then in the order of the file, and the first
that holds wins. The later one looks like a route but is none.

Bad:
    states:
      - id: risk
        title: Risk
        tasks:
          - id: ask
            description: Ask for the score
            deliverables: [{key: score, type: number}]
        transitions:
          - target_state_id: watch
            priority: 1
            condition_type: deliverable_value_numeric
            condition_config: {key: score, operator: gte, value: 4}
          - target_state_id: urgent
            priority: 2
            condition_type: deliverable_value_numeric
            condition_config: {key: score, operator: gte, value: 8}
          - {target_state_id: watch, priority: 10}
      - id: urgent
        title: Urgent
      - id: watch
        title: Watch

Good:
    states:
      - id: risk
        title: Risk
        tasks:
          - id: ask
            description: Ask for the score
            deliverables: [{key: score, type: number}]
        transitions:
          - target_state_id: urgent
            priority: 1
            condition_type: deliverable_value_numeric
            condition_config: {key: score, operator: gte, value: 8}
          - target_state_id: watch
            priority: 2
            condition_type: deliverable_value_numeric
            condition_config: {key: score, operator: gte, value: 4}
          - {target_state_id: watch, priority: 10}
      - id: urgent
        title: Urgent
      - id: watch
        title: Watch

Fix: give the narrower condition the lower priority number, or write it first. A second way to the
same state is only redundant (info); so is a last one for values that earlier ones cover already.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from statecli.lint.facts import Facts
from statecli.lint.guardtable import GuardTable
from statecli.lint.hiding import ABOUT_GUARDS, Named, hides_later
from statecli.model.diagnostic import Finding, Related
from statecli.model.graph import State, Transition
from statecli.model.guard import AllOf, AnyOf, Guard, Turns, walk
from statecli.model.span import Place
from statecli.model.words import in_words, part_in_words

FAMILY = "guards"
SEVERITY = "error"
#: Conditions that are longer than this together are not quoted.
_LONG = 100


def check(facts: Facts) -> Iterator[Finding]:
    """Routes whose rows are all taken by earlier ones."""
    others = Named(facts, *ABOUT_GUARDS, "guard-never-holds", "duplicate-transition")
    misplaced = Named(facts, "wrong-value-type")
    for number in facts.suspects(_overlaid):
        ways = facts.routes[number]
        state = facts.states[number]
        table = facts.guard_table(number)
        if table is not None and not state.fans_out:
            hiding = [
                hides_later(facts, state, way) and not _asks_nothing(way) and way not in misplaced
                for way in ways
            ]
            for later in _covered(facts, state, table, ways, hiding):
                if ways[later] not in others:
                    yield from _finding(state, table, ways, hiding, later)


def _overlaid(guards: Sequence[Guard | None], table: GuardTable) -> bool:
    """Whether a route's rows would all be taken, if every guarded one before it took its own."""
    taken = 0
    for guard, rows in zip(guards, table.truths, strict=True):
        if rows and not rows & ~taken:
            return True
        if guard is not None:
            taken |= rows
    return False


def _asks_nothing(way: Transition) -> bool:
    """Whether a route has a composite without conditions: the mistake is there, and once it is
    mended what comes later is taken again."""
    parts = walk(way.guard) if isinstance(way.guard, AllOf | AnyOf) else ()
    return any(isinstance(part, AllOf) and not part.children for part in parts)


def _covered(
    facts: Facts,
    state: State,
    table: GuardTable,
    ways: tuple[Transition, ...],
    hiding: list[bool],
) -> list[int]:
    """The routes that hold only where earlier ones do. What comes after one without a guard is
    another rule's finding."""
    found: list[int] = []
    taken = 0
    for at, way in enumerate(ways):
        rows = table.truths[at]
        if hides_later(facts, state, way):
            if rows and not rows & ~taken and way.origin == "written":
                found.append(at)
            if way.guard is None:
                break
        if hiding[at]:
            taken |= rows
    return found


def _finding(
    state: State,
    table: GuardTable,
    ways: tuple[Transition, ...],
    hiding: list[bool],
    later: int,
) -> Iterator[Finding]:
    way, rows = ways[later], table.truths[later]
    before = [at for at in range(later) if hiding[at]]
    whole = [at for at in before if not rows & ~table.truths[at]]
    covering = whole[:1] or [at for at in before if rows & table.truths[at]]
    if len(covering) == 1:
        first = ways[covering[0]]
        if isinstance(way.guard, Turns) and isinstance(first.guard, Turns):
            return  # turn-guard-shadowed says so
        reason = _reason(first, way)
    else:
        reason = "the ones before it leave nothing for it"
    same = all(ways[at].target == way.target for at in covering)
    # A net below routes that already cover everything does no harm; it is just never needed.
    several = len(covering) > 1 and all(not table.truths[at] & ~rows for at in covering)
    net = way.guard is None or several
    message = f"the way to '{way.target}' is never taken: {reason}"
    if same:
        message = f"redundant: {message}"
    elif net:
        message = f"the way to '{way.target}' is never needed: {reason}"
    yield Finding(
        message=message,
        at=Place(way.at),
        states=(state.name, way.target),
        related=tuple(
            Related(f"'{_words(ways[at])}' leads to '{ways[at].target}'", Place(ways[at].path))
            for at in covering[:5]
        ),
        hint="remove it" if same or net else _cure(covering, ways, way),
        severity="info" if same or net else None,
    )


def _reason(first: Transition, way: Transition) -> str:
    """Why the first one always comes before the other."""
    if first.priority == way.priority:
        order = "it stands before this one"
    else:
        order = f"priority {first.priority:g} before {way.priority:g}"
    if way.guard is None:
        return f"'{_words(first)}' always holds, and that leads to '{first.target}' first ({order})"
    if first.guard == way.guard:
        return f"the same condition leads to '{first.target}' first ({order})"
    one, two = (part_in_words(guard) for guard in (first.guard, way.guard) if guard is not None)
    if len(one) + len(two) > _LONG:
        return f"whenever it holds, the way to '{first.target}' is taken first ({order})"
    return f"whenever {two}, {one} too, and that leads to '{first.target}' first ({order})"


def _words(way: Transition) -> str:
    return in_words(way.guard) if way.guard is not None else "always"


def _cure(covering: list[int], ways: tuple[Transition, ...], way: Transition) -> str:
    if len(covering) == 1 and ways[covering[0]].priority == way.priority:
        return f"put the way to '{way.target}' first, or narrow the other condition"
    return f"give the way to '{way.target}' a lower priority number, or narrow the other condition"
