"""Exact reasoning over the guards of one state: a table whose rows are all situations that its
guards can tell apart, and for each guard the set of rows in which it holds.

A row is one choice for each variable: a class of values for each field that is read (absent
included), a truth for what cannot be known here (whether the tasks are complete, what an opaque
condition says), a reading of the turn counters. A set of rows is one int, a bit per row, so that
"whenever this holds, that holds too" is one operation.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from statecli.model.classes import ABSENT, Answer, Test, answer, classes, open_ended
from statecli.model.graph import Field
from statecli.model.guard import (
    SCOPES,
    AllOf,
    AnyOf,
    Atom,
    Closed,
    Complete,
    Expr,
    Guard,
    Not,
    Opaque,
    Turns,
    invalid,
)
from statecli.model.parts import has_asked, parts

#: A state whose guards tell more situations apart is not reasoned about.
MOST_ROWS = 4096


class Variable:
    """What is one of several things in each row; `size` says how many."""

    __slots__ = ("_repeat", "size", "stride", "total")

    def __init__(self, size: int) -> None:
        self.size = size
        self.stride = self.total = self._repeat = 1

    def lay_out(self, stride: int, total: int) -> None:
        """Give the variable its place: its choice changes every `stride` of `total` rows."""
        self.stride, self.total = stride, total
        self._repeat = ((1 << total) - 1) // ((1 << (stride * self.size)) - 1)

    def rows(self, choices: int) -> int:
        """The rows in which the choice is one of `choices` (a bit for each)."""
        if self.total == self.size:
            return choices
        stride, block, at = self.stride, 0, 0
        unit = (1 << stride) - 1
        while choices:
            if choices & 1:
                block |= unit << at
            choices >>= 1
            at += stride
        return block * self._repeat


class Axis(Variable):
    """A field, with its classes of values; `answers[i]` is what the tests say of `samples[i]`.

    Tests that no samples exhaust are not among `tests`: each of them is a variable of its own."""

    __slots__ = ("answers", "field", "samples", "tests")

    def __init__(self, field: Field | None, tests: Sequence[Test]) -> None:
        self.field = field
        self.tests = tests
        self.samples, self.answers = classes(field, tests)
        super().__init__(len(self.samples))

    def of_another(self, field: Field | None) -> Axis:
        """The same axis for another field."""
        axis = Axis.__new__(Axis)
        axis.size, axis.stride, axis.total = self.size, self.stride, self.total
        axis._repeat = self._repeat
        axis.field, axis.tests = field, self.tests
        axis.samples, axis.answers = self.samples, self.answers
        return axis

    def saying(self, number: int, wanted: Answer) -> int:
        """The rows in which test `number` says `wanted`."""
        found, bit = 0, 1
        for pattern in self.answers:
            if pattern[number] is wanted:
                found |= bit
            bit <<= 1
        return self.rows(found)

    @property
    def present(self) -> int:
        """The rows in which the field is set."""
        return self.rows((1 << self.size) - 2)

    def where(self, value: object) -> int:
        """The rows in which the field has a value like this one; none if it never has."""
        if value is ABSENT:
            return self.rows(1)
        pattern = tuple(answer(test, value) for test in self.tests)
        for number, known in enumerate(self.answers):
            if number and known == pattern:
                return self.rows(1 << number)
        return 0


class GuardTable:
    """The rows of several guards: `truths` has those of each (all rows for None, no guard), `full`
    are all rows. `dead` are the parts of an `any` that never hold, with their guard's number."""

    __slots__ = ("axes", "dead", "full", "truths")

    def __init__(self, guards: Sequence[Guard | None], columns: Columns) -> None:
        self.axes = columns.axes
        self.full = columns.full
        self.dead: list[tuple[int, Guard]] = []
        self.truths = [
            self.full if guard is None else self._rows(guard, columns, number)
            for number, guard in enumerate(guards)
        ]

    def of_another(self, key: str, other: str, field: Field | None) -> GuardTable:
        """The same table for guards that ask the same of another field."""
        table = GuardTable.__new__(GuardTable)
        table.axes = {other: self.axes[key].of_another(field)}
        table.full, table.truths, table.dead = self.full, self.truths, []
        return table

    def _rows(self, guard: Guard, columns: Columns, number: int) -> int:
        """The rows in which a guard holds; one that cannot be read never does."""
        if type(guard) is not Atom and invalid(guard) is not None:
            return 0
        return self._truth(guard, columns, number)

    def _truth(self, guard: Guard, columns: Columns, number: int) -> int:
        if isinstance(guard, AllOf):
            rows = self.full
            for child in guard.children:
                rows &= self._truth(child, columns, number)
            return rows
        if isinstance(guard, AnyOf):
            rows = 0
            for child in guard.children:
                held = self._truth(child, columns, number)
                if not held:
                    self.dead.append((number, child))
                rows |= held
            return rows
        if isinstance(guard, Not):
            return self.full & ~self._truth(guard.child, columns, number)
        return columns.of(guard)


class Tables:
    """Makes guard tables, and remembers those of one field: the states of a large plan ask the
    same few questions, each of a field of its own."""

    def __init__(self, fields: Mapping[str, Field]) -> None:
        self.fields = fields
        self._known: dict[tuple[object, ...], tuple[str, GuardTable]] = {}

    def of(self, guards: Sequence[Guard | None]) -> GuardTable | None:
        """The table of the guards of one state; None where it would have too many rows."""
        key, asked = self.asked(guards)
        if not asked:
            return guard_table(guards, self.fields)
        known = self._known.get(asked)
        if known is not None:
            return known[1].of_another(known[0], key, self.fields.get(key))
        table = guard_table(guards, self.fields)
        if table is not None:
            self._known[asked] = (key, table)
        return table

    def asked(self, guards: Sequence[Guard | None]) -> tuple[str, tuple[object, ...]]:
        """The one field that is asked about, and all that matters for the table but its name;
        nothing where it is not as simple as that."""
        key = ""
        asked: list[object] = []
        for guard in guards:
            kind = type(guard)
            if kind is Atom:
                assert isinstance(guard, Atom)
                if key != guard.key:
                    if key:
                        return "", ()
                    key = guard.key
                operand = guard.operand
                if isinstance(operand, (dict, list)) or type(operand) is tuple:
                    return "", ()
                asked += (guard.op, type(operand), operand)
            elif guard is None or kind is Complete or kind is Closed:
                asked.append(kind)
            else:
                return "", ()
        field = self.fields.get(key)
        if not key or (field is not None and field.has_default):
            return "", ()
        if field is not None:
            asked.append(field.type)
            if field.values:
                if not all(type(value) is str for value in field.values):
                    return "", ()
                asked.append(field.values)
        return key, tuple(asked)


def guard_table(guards: Sequence[Guard | None], fields: Mapping[str, Field]) -> GuardTable | None:
    """The table of some guards of one state; None where it would have more than MOST_ROWS rows."""
    columns = Columns(fields)
    for guard in guards:
        if guard is not None:
            columns.add(guard)
    return GuardTable(guards, columns) if columns.lay_out() else None


class Columns:
    """The variables of some guards, and the rows in which each of their leaves holds."""

    def __init__(self, fields: Mapping[str, Field]) -> None:
        self.fields = fields
        self.axes: dict[str, Axis] = {}
        #: What is true or not as it likes, by what it is.
        self.free: dict[object, Variable] = {}
        #: What the turn counters can read, as far as the guards can tell, by scope.
        self.readings: list[tuple[int, ...]] = []
        self.counters = Variable(1)
        self.full = 1
        self._tests: dict[str, list[Test]] = {}
        self._turns: list[Turns] = []
        #: For a test that samples exhaust, by its identity: its field and its number there.
        self._places: dict[int, tuple[Axis, int]] = {}

    def add(self, guard: Guard) -> None:
        """Take in the leaves of a guard, before `lay_out`."""
        if isinstance(guard, Atom):
            self._test(guard)
        elif isinstance(guard, AllOf | AnyOf):
            for child in guard.children:
                self.add(child)
        elif isinstance(guard, Not):
            self.add(guard.child)
        elif isinstance(guard, Expr):
            self._expression(guard)
        elif isinstance(guard, Turns):
            self._turns.append(guard)
        elif isinstance(guard, Complete | Closed | Opaque):
            self.free.setdefault(_name(guard), Variable(2))

    def _test(self, test: Test) -> None:
        tests = self._tests.setdefault(test.key, [])
        if not open_ended(self.fields.get(test.key), test):
            tests.append(test)
        else:
            assert isinstance(test, Atom)
            self.free.setdefault(_name(test), Variable(2))

    def _expression(self, guard: Expr) -> None:
        """Exact if all of it is about single fields whose values samples exhaust."""
        for name in guard.names:
            self._tests.setdefault(name, [])
        found = parts(guard.tree)
        if found is None or any(
            open_ended(self.fields.get(part.key), part) for part in found.values()
        ):
            self.free.setdefault(_name(guard), Variable(2))
            return
        for part in found.values():
            self._test(part)

    def lay_out(self) -> bool:
        """Give every variable its place; False if there would be too many rows."""
        for key, tests in self._tests.items():
            axis = self.axes[key] = Axis(self.fields.get(key), tests)
            for number, test in enumerate(tests):
                self._places[_identity(test)] = (axis, number)
        self.readings = _readings(self._turns)
        self.counters = Variable(len(self.readings))
        variables = [*self.axes.values(), *self.free.values(), self.counters]
        total = 1
        for variable in variables:
            total *= variable.size
            if total > MOST_ROWS:
                return False
        stride = 1
        for variable in variables:
            variable.lay_out(stride, total)
            stride *= variable.size
        self.full = (1 << total) - 1
        return True

    @property
    def asks_completion(self) -> bool:
        """Whether some guard asks whether all tasks are done."""
        return _name(Complete()) in self.free

    def of(self, leaf: Guard) -> int:
        """The rows in which a leaf holds."""
        if isinstance(leaf, Atom):
            place = self._places.get(id(leaf))
            if place is not None:
                return place[0].saying(place[1], True)
            return self.free[_name(leaf)].rows(2) & self.axes[leaf.key].present
        if isinstance(leaf, Turns):
            scope, choices = SCOPES.index(leaf.scope), 0
            for number, reading in enumerate(self.readings):
                choices |= (reading[scope] >= leaf.turns) << number
            return self.counters.rows(choices)
        free = self.free.get(_name(leaf))
        rows = free.rows(2) if free is not None else 0
        if isinstance(leaf, Expr):
            if free is None:
                rows = self._value(leaf.tree)[0]
            for name in leaf.required:
                rows &= self.axes[name].present
        return rows

    def _value(self, node: ast.expr) -> tuple[int, int]:
        """The rows in which a part of an exact expression is true, and those in which it fails:
        what Python would raise on ends the whole expression, unless `and` or `or` never gets there.
        """
        if isinstance(node, ast.BoolOp):
            either = isinstance(node.op, ast.Or)
            going, found, failed = self.full, 0, 0
            for part in node.values:
                true, fails = self._value(part)
                failed |= going & fails
                stop = going & (true if either else self.full & ~(true | fails))
                going &= ~(stop | fails)
                found |= stop
            return (found if either else going), failed
        if isinstance(node, ast.UnaryOp):
            true, fails = self._value(node.operand)
            return self.full & ~(true | fails), fails
        asked = has_asked(node)
        if asked is not None:
            return self.axes[asked].present, 0
        if isinstance(node, ast.Constant):
            return (self.full if node.value else 0), 0
        axis, number = self._places[id(node)]
        return axis.saying(number, True), axis.saying(number, None)


def _identity(test: Test) -> int:
    """A test by the object that a guard holds."""
    return id(test) if isinstance(test, Atom) else id(test.node)


def _name(leaf: Guard) -> object:
    """What makes two leaves the same unknown: the same text reads the same data."""
    if isinstance(leaf, Atom):
        return leaf.key, leaf.op, repr(leaf.operand)
    return type(leaf), getattr(leaf, "text", "")


def _readings(turns: Sequence[Turns]) -> list[tuple[int, ...]]:
    """The readings of the three counters that the guards tell apart. Turns without progress are
    turns of the visit, and those are turns of the session."""
    if not turns:
        return [(0, 0, 0)]
    found: list[tuple[int, ...]] = [()]
    for scope in SCOPES:
        marks = sorted({0, *(guard.turns for guard in turns if guard.scope == scope)})
        longer: dict[tuple[int, ...], None] = {}
        for reading in found:
            low = reading[-1] if reading else 0
            for mark in marks:
                later = [other for other in marks if other > mark]
                value = max(mark, low)
                if not later or value < later[0]:
                    longer[(*reading, value)] = None
        found = list(longer)
    return found
