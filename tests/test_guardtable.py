"""The table of a state's guards agrees with the kernel: row by row, and for any data at all."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from statecli.lint.guardtable import Columns, GuardTable, Tables, guard_table
from statecli.load.guardtext import GuardReader
from statecli.model.classes import ABSENT
from statecli.model.graph import Field
from statecli.model.guard import (
    SCOPES,
    AllOf,
    AnyOf,
    Atom,
    Bounds,
    Closed,
    Complete,
    Guard,
    Invalid,
    Not,
    Opaque,
    Turns,
    View,
    evaluate,
)


def field(name: str, kind: str, values: tuple[object, ...] = (), **more: Any) -> Field:
    return Field(name, kind, values, "overwrite", "default" in more, more.get("default"), "", ())


FIELDS = {
    "s": field("s", "str"),
    "n": field("n", "float"),
    "i": field("i", "int"),
    "b": field("b", "bool"),
    "e": field("e", "enum", ("low", "High", "3")),
    "l": field("l", "list"),
    "d": field("d", "int", default="later"),
}
KEYS = [*FIELDS, "u", "v"]
TEXTS = ["x", "X ", "high", "low", "3", "3.0", "", " ", "other", "true", "xy", "5", "1e1"]
NUMBERS = [0, 1, 3, 3.5, 4, 5, -2, 10]
SCALARS = [*TEXTS, *NUMBERS, True, False, None]
LISTS: list[object] = [[], ["x"], [3], ["X"]]
VALUES: dict[str, list[object]] = {
    "s": [*TEXTS, "an x", "xX", " 3", "zzz", "4.2", "+5", "-7"],
    "n": [*NUMBERS, 2, 3.25, 4.5, 99, -99, 0.5, 3.0],
    "i": [0, 1, 2, 3, 4, 5, 6, -2, -3, 10, 11, 99, -99],
    "b": [True, False],
    "e": ["low", "High", "3"],
    "l": [*LISTS, ["x", 3], [True]],
    "d": [0, 3, 4, "later"],
    "u": [*SCALARS, *LISTS, "an x", 2, 4.5, 99, -99, {}, {"x": 1}],
    "v": [*SCALARS, *LISTS, "4.5", 0.5],
}
OPERATORS = [
    *("exists", "absent", "eq", "ne", "in", "notin", "contains", "is", "isnot"),
    *("gt", "gte", "lt", "lte", "eq#", "neq#", "between"),
]


@st.composite
def atoms(draw: st.DrawFn, keys: Sequence[str] = KEYS) -> Guard:
    key = draw(st.sampled_from(keys))
    op = draw(st.sampled_from(OPERATORS))
    if op in ("exists", "absent"):
        return Atom(key, op)
    if op == "between":
        low, high = draw(st.sampled_from(NUMBERS)), draw(st.sampled_from(NUMBERS))
        return Atom(key, op, Bounds(low, high, draw(st.booleans())))
    if op in ("gt", "gte", "lt", "lte", "eq#", "neq#"):
        return Atom(key, op, draw(st.sampled_from([*NUMBERS, "3", "4.5"])))
    if op in ("in", "notin"):
        return Atom(key, op, tuple(draw(st.lists(st.sampled_from(SCALARS), max_size=3))))
    return Atom(key, op, draw(st.sampled_from([*SCALARS, ("x",), (3,)])))


@st.composite
def expressions(draw: st.DrawFn, keys: Sequence[str] = KEYS) -> Guard:
    text = draw(_words(2, keys))
    guard = GuardReader([], in_goal=False).expression(text, ())
    assert not isinstance(guard, Invalid), text
    return guard


@st.composite
def _words(draw: st.DrawFn, depth: int, keys: Sequence[str]) -> str:
    kind = draw(st.integers(0, 9 if depth else 6))
    key = draw(st.sampled_from(keys))
    constant = repr(draw(st.sampled_from(SCALARS)))
    number = repr(draw(st.sampled_from(NUMBERS)))
    if kind == 0:
        return f"{key} {draw(st.sampled_from(['==', '!=', 'is', 'is not']))} {constant}"
    if kind == 1:
        return f"{key} {draw(st.sampled_from(['<', '<=', '>', '>=']))} {number}"
    if kind == 2:
        return f"{key} {draw(st.sampled_from(['in', 'not in']))} ({constant}, {number})"
    if kind == 3:
        return f"{number} < {key} <= {draw(st.sampled_from(NUMBERS))}"
    if kind == 4:
        return draw(st.sampled_from([key, "True", "0"]))
    if kind == 5:
        return f"has({key})"
    if kind == 6:
        return draw(st.sampled_from([f"{key} == u", f"{key} + 1 > {number}", f"'x' in {key}"]))
    if kind == 7:
        return f"not ({draw(_words(depth - 1, keys))})"
    word = "and" if kind == 8 else "or"
    return f"({draw(_words(depth - 1, keys))}) {word} ({draw(_words(depth - 1, keys))})"


def guards(keys: Sequence[str], leaves: Sequence[st.SearchStrategy[Guard]] = ()) -> Any:
    """Guard trees over these keys, and these other leaves."""
    return st.recursive(
        st.one_of(atoms(keys), expressions(keys), *leaves),
        lambda inner: st.one_of(
            st.builds(AllOf, st.lists(inner, max_size=3).map(tuple)),
            st.builds(AnyOf, st.lists(inner, max_size=3).map(tuple)),
            st.builds(Not, inner),
        ),
        max_leaves=4,
    )


OTHERS: list[st.SearchStrategy[Guard]] = [
    st.builds(Turns, st.integers(-1, 4), st.sampled_from(SCOPES)),
    st.just(Complete()),
    st.just(Closed()),
]
GUARDS = guards(KEYS, OTHERS)


@settings(max_examples=40, deadline=None)
@given(st.lists(GUARDS, min_size=1, max_size=3))
def test_every_row_is_what_the_kernel_says(guards: list[Guard]) -> None:
    columns = Columns(FIELDS)
    for guard in guards:
        columns.add(guard)
    if not columns.lay_out():
        return
    table = GuardTable(guards, columns)
    known = {(Complete, ""), (Closed, "")}
    if not set(columns.free) <= known:
        return  # what cannot be known has no value in the kernel
    names, free = list(columns.axes), list(columns.free)
    values = [range(columns.axes[name].size) for name in names]
    seen = 0
    for numbers in itertools.product(*values, *[range(2) for _ in free]):
        for at, reading in enumerate(columns.readings):
            assert reading == tuple(sorted(reading)), "idle turns are turns of the visit"
            row = columns.counters.rows(1 << at)
            data: dict[str, object] = {}
            for name, number in zip(names, numbers, strict=False):
                axis = columns.axes[name]
                row &= axis.rows(1 << number)
                if axis.samples[number] is not ABSENT:
                    data[name] = axis.samples[number]
            said = dict(zip(free, map(bool, numbers[len(names) :]), strict=True))
            for what, truth in said.items():
                row &= columns.free[what].rows(1 << truth)
            assert row.bit_count() == 1
            seen |= row
            view = View(
                data,
                complete=said.get((Complete, "")),
                closed=said.get((Closed, "")),
                turns=dict(zip(SCOPES, reading, strict=True)),
            )
            for guard, rows in zip(guards, table.truths, strict=True):
                assert bool(rows & row) is evaluate(guard, view), (guard, view)
    assert seen == table.full


@pytest.mark.parametrize("key", KEYS)
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_whatever_a_field_holds_some_row_says_the_same(key: str, data: st.DataObject) -> None:
    """The classes leave no way out in which the guards can agree and disagree."""
    asked = data.draw(st.lists(guards([key]), min_size=2, max_size=4))
    table = guard_table(asked, FIELDS)
    if table is None:
        return
    for held in ({}, *({key: value} for value in VALUES[key])):
        rows = table.full
        for guard, truth in zip(asked, table.truths, strict=True):
            rows &= truth if evaluate(guard, View(held)) else table.full & ~truth
        assert rows, (asked, held)


@settings(max_examples=40, deadline=None)
@given(st.lists(GUARDS, min_size=1, max_size=3), st.data())
def test_whatever_the_data_some_row_says_the_same(guards: list[Guard], source: Any) -> None:
    table = guard_table(guards, FIELDS)
    if table is None:
        return
    data = {
        key: source.draw(st.sampled_from(VALUES[key]), label=key)
        for key in KEYS
        if source.draw(st.integers(0, 3), label=f"has {key}")
    }
    counts = sorted(source.draw(st.lists(st.integers(0, 6), min_size=3, max_size=3)))
    view = View(
        data,
        complete=source.draw(st.booleans()),
        closed=source.draw(st.booleans()),
        turns=dict(zip(SCOPES, counts, strict=True)),
    )
    rows = table.full
    for guard, truth in zip(guards, table.truths, strict=True):
        rows &= truth if evaluate(guard, view) else table.full & ~truth
    assert rows, (guards, view)


def expression(text: str) -> Guard:
    guard = GuardReader([], in_goal=False).expression(text, ())
    assert not isinstance(guard, Invalid)
    return guard


NARROW: list[tuple[str, object, list[Guard]]] = [
    ("s", "X ", [Atom("s", "eq", "x"), expression("s == 'x'")]),
    ("s", "+5", [Atom("s", "eq", "5"), Atom("s", "gte", 5), Atom("s", "lte", 5)]),
    ("s", "ab", [Atom("s", "contains", "a"), Atom("s", "contains", "b"), Atom("s", "eq", "a")]),
    ("l", ["x", 3], [Atom("l", "contains", "x"), Atom("l", "contains", 3)]),
    ("d", "later", [Atom("d", "eq", "later"), Atom("d", "exists")]),
    ("i", 1, [expression("i == True"), Atom("i", "exists")]),
    (
        "u",
        [],
        [
            Atom("u", "exists"),
            Atom("u", "eq", ""),
            *map(expression, ("u is None", "u", "u > 0 or True")),
        ],
    ),
    ("u", False, [Atom("u", "eq", 0), expression("u"), expression("u > -1")]),
    ("u", "low", [Atom("u", "contains", "lo"), Atom("u", "contains", "w"), Atom("u", "ne", "lo")]),
    ("n", 4.5, [Atom("n", "gt", 4), Atom("n", "lt", 5), expression("n == True")]),
    ("s", "b", [expression("s > 'a'"), expression("s < 'c'"), Atom("s", "in", ("a", "c"))]),
    ("n", 3.0, [expression("n is 3"), expression("n == 3")]),
]


@pytest.mark.parametrize(("key", "value", "asked"), NARROW)
def test_a_value_that_only_one_pattern_of_answers_shows(
    key: str, value: object, asked: list[Guard]
) -> None:
    table = guard_table(asked, FIELDS)
    assert table is not None
    rows = table.full
    for guard, truth in zip(asked, table.truths, strict=True):
        rows &= truth if evaluate(guard, View({key: value})) else table.full & ~truth
    assert rows


@pytest.mark.parametrize(
    "guard",
    [
        Atom("s", "contains", "a"),
        Atom("l", "ne", "a"),
        *map(expression, ("s > 'a'", "s + t > 0", "True or s == 'x'", "l == 3", "s or l")),
    ],
)
def test_nothing_holds_of_a_field_that_is_not_set(guard: Guard) -> None:
    key = "l" if guard in (Atom("l", "ne", "a"), expression("l == 3")) else "s"
    table = guard_table([Atom(key, "exists"), guard], FIELDS)
    assert table is not None
    there, holds = table.truths
    assert holds
    assert not holds & ~there


def test_what_is_decided_in_code_is_free() -> None:
    table = guard_table([Opaque("f"), Opaque("g"), Not(Opaque("f"))], {})
    assert table is not None
    first, second, third = table.truths
    assert first & second
    assert first & ~second
    assert third == table.full & ~first


def test_too_many_situations_are_not_reasoned_about() -> None:
    guards = [Atom(f"k{number}", "eq", "x") for number in range(20)]
    assert guard_table([AllOf(tuple(guards))], {}) is None


def test_a_condition_that_cannot_be_read_never_holds() -> None:
    table = guard_table([AnyOf((Complete(), Invalid("no such operator"))), None], {})
    assert table is not None
    assert table.truths == [0, table.full]


@given(st.lists(st.one_of(atoms(["s"]), st.just(Complete()), st.none()), max_size=4), st.data())
def test_a_remembered_table_is_the_table(asked: list[Guard | None], source: st.DataObject) -> None:
    """The states of a large plan ask the same of other fields; so do these of two."""
    for one in ("s", "n", "b", "e"):
        fields = {one: FIELDS[one], "other": FIELDS[one]._replace(name="other")}
        tables = Tables(fields)
        for key in (one, "other"):
            guards = [g._replace(key=key) if isinstance(g, Atom) else g for g in asked]
            made, wanted = tables.of(guards), guard_table(guards, fields)
            assert (made is None) == (wanted is None)
            if made is not None and wanted is not None:
                assert made.truths == wanted.truths
                assert made.full == wanted.full
                assert list(made.axes) == list(wanted.axes)
                value = source.draw(st.sampled_from(VALUES[one]))
                for axis, like in zip(made.axes.values(), wanted.axes.values(), strict=True):
                    assert axis.field == like.field
                    assert axis.where(value) == like.where(value)
