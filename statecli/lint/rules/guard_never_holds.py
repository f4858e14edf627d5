"""A condition contradicts itself, so it never holds.

Why: the transition is never taken, and nobody is told: the conversation goes another way.

Bad:
    states:
      - id: rate
        title: Rate
        tasks:
          - id: ask
            description: Ask for a rating
            deliverables: [{key: rating, type: number}]
        transitions:
          - target_state_id: thanks
            condition_type: deliverable_value_numeric
            condition_config: {key: rating, operator: between, min: 7, max: 4}
          - {target_state_id: thanks, priority: 9}
      - id: thanks
        title: Thanks

Bad (two values at once):
    initial: triage
    states:
      triage:
        type: agent
        writes: [amount]
        transition:
          next:
            - {to: refund, when: {amount__gt: 5, amount__lt: 3}}
            - done
      refund: {type: terminal, description: Pays back}
      done: {type: terminal, description: Ends}

Good:
    states:
      - id: rate
        title: Rate
        tasks:
          - id: ask
            description: Ask for a rating
            deliverables: [{key: rating, type: number}]
        transitions:
          - target_state_id: thanks
            condition_type: deliverable_value_numeric
            condition_config: {key: rating, operator: between, min: 4, max: 7}
          - {target_state_id: thanks, priority: 9}
      - id: thanks
        title: Thanks

Fix: correct the bounds, or write `any_of` where either part should be enough.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from statecli.lint import guardplaces
from statecli.lint.facts import Facts
from statecli.lint.guardtable import guard_table
from statecli.lint.hiding import Named
from statecli.model.data import is_map, shown
from statecli.model.diagnostic import Finding, Related
from statecli.model.guard import (
    AllOf,
    AnyOf,
    Atom,
    Bounds,
    Expr,
    Guard,
    Invalid,
    Not,
    invalid,
    walk,
)
from statecli.model.span import Path, Place
from statecli.model.words import in_words

FAMILY = "guards"
SEVERITY = "error"


def check(facts: Facts) -> Iterator[Finding]:
    """Guards that no data, no counter and nothing unknown makes true; parts of an `any` too. A part
    of which these rules say why it never holds is left to them; the others are not."""
    others = Named(facts, "value-not-in-enum", "compare-type-mismatch")
    for number in facts.suspects(lambda _, table: bool(table.dead) or not all(table.truths)):
        table = facts.guard_table(number)
        assert table is not None
        state = facts.states[number]
        for at, way in enumerate(facts.routes[number]):
            if way.guard is None:
                continue
            if not table.truths[at]:
                never = [way.guard]
            else:
                never = _outermost([part for route, part in table.dead if route == at])
            for part in never:
                yield from _reasons(facts, state.name, part, others)


def _outermost(parts: list[Guard]) -> list[Guard]:
    """Without those that stand inside another one."""
    inner = {id(child) for part in parts for child in walk(part) if child is not part}
    return [part for part in parts if id(part) not in inner]


def _reasons(facts: Facts, state: str, guard: Guard, others: Named) -> Iterator[Finding]:
    """Where in a guard that never holds the contradiction is. What cannot be read (Invalid) is
    another rule's finding."""
    if isinstance(guard, Atom):
        if invalid(guard) is not None:
            yield _turned_round(facts, state, guard)
        elif not others.at(guard.path):
            yield _atom(facts, state, guard)
    elif isinstance(guard, AnyOf):
        if not guard.children:
            yield Finding(
                message="a choice between no conditions never holds",
                at=_conditions(facts, guard.path),
                states=(state,),
                hint="list the conditions of which one is enough",
            )
        for child, rows in _truths(facts, guard):
            if not rows:
                yield from _reasons(facts, state, child, others)
    elif isinstance(guard, AllOf):
        yield from _conflict(facts, state, guard, others)
    elif isinstance(guard, Not) and invalid(guard) is not None:
        for part in walk(guard):
            if isinstance(part, Atom) and invalid(part) is not None:
                yield _turned_round(facts, state, part)
    elif not isinstance(guard, Invalid) and not others.at(guard.path):
        several = isinstance(guard, Expr) and isinstance(guard.tree, ast.BoolOp)
        yield Finding(
            message=f"'{in_words(guard)}' never holds",
            at=Place(guard.path),
            states=(state,),
            hint="its parts exclude each other: correct one of them" if several else "",
        )


def _conditions(facts: Facts, path: Path) -> Place:
    """The list of a composite's parts."""
    return Place((*path, "conditions") if is_map(facts.value(path)) else path)


def _truths(facts: Facts, guard: AllOf | AnyOf) -> list[tuple[Guard, int]]:
    """Each part of a composite with the rows in which it holds by itself."""
    table = guard_table(guard.children, facts.fields)
    return list(zip(guard.children, table.truths, strict=True)) if table is not None else []


def _turned_round(facts: Facts, state: str, atom: Atom) -> Finding:
    bounds = atom.operand
    assert isinstance(bounds, Bounds)
    low, high = shown(bounds.low), shown(bounds.high)
    return Finding(
        message=f"no number lies between {low} and {high}: 'min' is larger than 'max'",
        at=guardplaces.operand(facts, atom),
        states=(state,),
        hint=f"write min {high} and max {low}",
    )


def _atom(facts: Facts, state: str, atom: Atom) -> Finding:
    field = facts.fields.get(atom.key)
    kind = field.type if field is not None else ""
    hint = ""
    if atom.op == "in" and not atom.operand:
        message = "a list without values: nothing is among them"
        hint = f"list the values of '{atom.key}' that lead on"
    elif isinstance(atom.operand, Bounds) and not atom.operand.inclusive and kind != "int":
        value = shown(atom.operand.low)
        message = f"no number lies between {value} and {value} when the ends do not count"
        hint = "remove 'inclusive: false', or move the ends apart"
    elif kind == "int":
        message = f"'{in_words(atom)}' holds for no whole number, and '{atom.key}' is one"
        hint = f"compare it with whole numbers, or declare '{atom.key}' as a number"
    elif kind == "enum":
        message = f"'{in_words(atom)}' holds for none of the values of '{atom.key}'"
        hint = "compare it with one of them"
    else:
        message = f"'{in_words(atom)}' never holds"
    return Finding(message=message, at=guardplaces.operand(facts, atom), states=(state,), hint=hint)


def _conflict(facts: Facts, state: str, guard: AllOf, others: Named) -> Iterator[Finding]:
    """The parts that never hold by themselves, and two that exclude each other; else all."""
    truths = _truths(facts, guard)
    for child, rows in truths:
        if not rows:
            yield from _reasons(facts, state, child, others)
    able = [(child, rows) for child, rows in truths if rows]
    for later, (second, rows) in enumerate(able):
        for first, earlier in able[:later]:
            if not earlier & rows:
                yield Finding(
                    message=f"'{in_words(first)}' and '{in_words(second)}' never hold together",
                    at=_place(facts, second),
                    states=(state,),
                    related=(Related("the other one is here", _place(facts, first)),),
                    hint="correct one of them, or use 'any_of' where one is enough",
                )
                return
    if len(able) == len(truths):
        yield Finding(
            message=f"'{in_words(guard)}' never holds", at=Place(guard.path), states=(state,)
        )


def _place(facts: Facts, guard: Guard) -> Place:
    return guardplaces.operand(facts, guard) if isinstance(guard, Atom) else Place(guard.path)
