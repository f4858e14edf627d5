"""A condition compares a value with something of another type.

Why: text is never equal to a number or to true, so the comparison never holds (or always does, when
it asks for a difference).

Bad:
    states:
      - id: consent
        title: Consent
        tasks:
          - id: ask
            description: Ask for consent
            deliverables: [{key: agreed, type: boolean}]
        transitions:
          - target_state_id: go-on
            condition_type: deliverable_value
            condition_config: {key: agreed, value: "true"}
          - {target_state_id: stop, priority: 9}
      - id: go-on
        title: Go on
      - id: stop
        title: Stop

Bad (an operator for numbers):
    states:
      - id: consent
        title: Consent
        tasks:
          - id: ask
            description: Ask for consent
            deliverables: [{key: agreed, type: boolean}]
        transitions:
          - target_state_id: go-on
            condition_type: deliverable_value_numeric
            condition_config: {key: agreed, operator: gt, value: 0}
          - {target_state_id: stop, priority: 9}
      - id: go-on
        title: Go on
      - id: stop
        title: Stop

Good:
    states:
      - id: consent
        title: Consent
        tasks:
          - id: ask
            description: Ask for consent
            deliverables: [{key: agreed, type: boolean}]
        transitions:
          - target_state_id: go-on
            condition_type: deliverable_value
            condition_config: {key: agreed, value: true}
          - {target_state_id: stop, priority: 9}
      - id: go-on
        title: Go on
      - id: stop
        title: Stop

Fix: write the value in the type of the field (the unsafe fix does where it is clear), or declare
the field with the type that is meant. Numbers compared with text are only an info: text that is a
number counts as one.
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint import guardplaces
from statecli.lint.facts import Facts
from statecli.lint.misfits import MEMBER, OPERATOR, Misfit
from statecli.model.classes import kind_of
from statecli.model.data import described
from statecli.model.diagnostic import Finding
from statecli.model.guard import NUMERIC, Atom, as_number

FAMILY = "guards"
SEVERITY = "error"
FIX = "unsafe"
_A = {
    "bool": "a boolean", "int": "a whole number", "float": "a number", "str": "text",
    "list": "a list", "tuple": "a list", "set": "a set", "dict": "a mapping",
}  # fmt: skip
_TRUE, _FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0")


def check(facts: Facts) -> Iterator[Finding]:
    """The comparisons that do not fit the type of their field, those of enums with a value that is
    none of theirs aside."""
    for misfit in facts.misfits:
        if misfit.what == OPERATOR:
            yield _operator(facts, misfit)
        elif misfit.what != MEMBER:
            yield _value(facts, misfit)


def _operator(facts: Facts, misfit: Misfit) -> Finding:
    """What compares cannot be asked of the field's type."""
    key, kind, test = misfit.field.name, kind_of(misfit.field), misfit.test
    hint = f"declare '{key}' as a number, or compare it with one of its values"
    severity = None
    if kind == "enum":
        fact = f"none of the values of '{key}' is a number"
    else:
        fact = f"'{key}' is {_A[kind]}"
    if not isinstance(test, Atom):
        message = f"{fact}: compared with a number the whole condition is false"
    elif test.op not in NUMERIC:
        message = f"{fact}: it contains nothing"
        hint = f"compare '{key}' with a value"
    elif kind == "str":
        message = f"{fact}: this holds only when it is written as a number"
        hint, severity = f"declare '{key}' as a number, if it is one", "info"
    else:
        message = f"{fact}: a comparison of numbers never holds"
    if kind == "bool":
        hint = f"compare '{key}' with true or false"
    elif kind in ("list", "tuple", "set", "dict"):
        hint = f"to count its items, write len({key}) in an expression"
    at = guardplaces.operator(facts, test) if isinstance(test, Atom) else None
    return Finding(
        message=message,
        at=at or guardplaces.compared(facts, misfit),
        states=(misfit.state.name,),
        related=(guardplaces.declared(misfit.field),),
        hint=hint,
        severity=severity,
    )


def _value(facts: Facts, misfit: Misfit) -> Finding:
    """A value of another type."""
    field, value = misfit.field, misfit.value
    kind = kind_of(field)
    at = guardplaces.compared(facts, misfit)
    meant = _meant(kind, value)
    outcome = "never" if misfit.alike else "always something else than"
    asked = "contains" if isinstance(misfit.test, Atom) and misfit.test.op == "contains" else "is"
    message = f"'{field.name}' is {_A[kind]}: it {_verb(asked, outcome)} {_described(value)}"
    if meant is not None:
        hint = f"write {guardplaces.spelled(meant)}"
    elif value is None:
        hint = _unset(misfit)
    elif kind in ("list", "tuple", "set"):
        hint = f"write {field.name}__contains to ask for one of its items"
    else:
        hint = f"compare it with {_A[kind]}, or declare '{field.name}' with another type"
    return Finding(
        message=message,
        at=at,
        states=(misfit.state.name,),
        related=(guardplaces.declared(misfit.field),),
        hint=hint,
        fix=guardplaces.rewritten(at, value, meant) if meant is not None else None,
    )


def _described(value: object) -> str:
    return "null" if value is None else described(value)


def _verb(asked: str, outcome: str) -> str:
    return f"never {asked}" if asked == "contains" else f"is {outcome}"


def _unset(misfit: Misfit) -> str:
    key = misfit.field.name
    if misfit.expression is not None:
        return f"write not has({key}) to ask whether it is unset"
    return f"write {key}__exists: false to ask whether it is unset"


def _meant(kind: str, value: object) -> object:
    """The value in the type of the field, where it is clear; else None."""
    if kind == "bool":
        word = str(value).strip().casefold()
        return True if word in _TRUE else False if word in _FALSE else None
    if kind in ("int", "float") and isinstance(value, str):
        return as_number(value)
    if kind == "str" and isinstance(value, bool):
        return "true" if value else "false"
    if kind == "str" and isinstance(value, int | float):
        return str(value)
    return None
