"""Guards as boxes: where one holds and where it does not, compiled once per state and mode."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import NamedTuple

from statecli.model.expression import has_key
from statecli.model.graph import State
from statecli.model.guard import (
    AllOf,
    AnyOf,
    Atom,
    Closed,
    Complete,
    Expr,
    Guard,
    Not,
    Turns,
    invalid,
)
from statecli.verify.box import Frame
from statecli.verify.domain import Axis, Domain

#: A guard that falls apart into more boxes than this is not decided.
MOST_CUBES = 400


class TooMany(Exception):
    """A guard falls apart into too many boxes."""


class Mode(NamedTuple):
    """What guards may look at beside the data. `free`: how the leaves that nobody can decide read
    in this evaluation, one bit each."""

    closed: bool = False
    total: int = 0
    idle: int = 0
    free: int = 0


class Truth(NamedTuple):
    """Where a guard holds, where it does not, and where reading it fails (an expression on which
    Python would raise)."""

    yes: list[int]
    no: list[int]
    fails: list[int]


class Compiler:
    """Compiles the guards of one state."""

    def __init__(self, frame: Frame, domain: Domain, state: State) -> None:
        self.frame = frame
        self.domain = domain
        self.state = state
        #: The leaves that are not decided, by what they are: the number of their bit.
        self.free: dict[object, int] = {}
        self._full = [frame.full]
        self._tasks: Truth | None = None

    def cube(self, axis: Axis, mask: int) -> list[int]:
        """The valuations in which an axis has one of these classes."""
        mask &= axis.all
        if not mask:
            return []
        return [self.frame.full & ~axis.group | mask << axis.at]

    def meet(self, left: Sequence[int], right: Sequence[int]) -> list[int]:
        if left is self._full:
            return list(right)
        if right is self._full:
            return list(left)
        some = self.frame.some
        found = [both for a in left for b in right if some(both := a & b)]
        return self.simple(found)

    def join(self, *sets: Sequence[int]) -> list[int]:
        return self.simple([box for boxes in sets for box in boxes])

    def simple(self, boxes: list[int]) -> list[int]:
        """The same without boxes that others hold."""
        if len(boxes) < 2:
            return boxes
        if len(boxes) > 2 * MOST_CUBES:
            raise TooMany
        kept: list[int] = []
        for box in dict.fromkeys(boxes):
            if not any(box & other == box for other in kept):
                kept = [other for other in kept if other & box != other]
                kept.append(box)
        if len(kept) > MOST_CUBES:
            raise TooMany
        return kept

    def truth(self, guard: Guard | None, mode: Mode) -> Truth:
        """Where a guard holds."""
        if guard is None:
            return Truth(self._full, [], [])
        if invalid(guard) is not None:
            return Truth([], self._full, [])
        return self.part(guard, mode)

    def part(self, guard: Guard, mode: Mode) -> Truth:
        """The same for a part of a guard that can be read."""
        if isinstance(guard, AllOf):
            return self._all([self.part(child, mode) for child in guard.children])
        if isinstance(guard, AnyOf):
            found = self._all([_turned(self.part(child, mode)) for child in guard.children])
            return _turned(found)
        if isinstance(guard, Not):
            return _turned(self.part(guard.child, mode))
        if isinstance(guard, Atom):
            return self._atom(guard, mode)
        if isinstance(guard, Expr):
            return self._expr(guard, mode)
        if isinstance(guard, Complete):
            return self.complete()
        if isinstance(guard, Closed):
            return self._constant(mode.closed)
        if isinstance(guard, Turns) and guard.scope != "session":
            count = mode.total if guard.scope == "total" else mode.idle
            return self._constant(count >= guard.turns)
        return self._free(guard, mode)

    def _constant(self, value: bool) -> Truth:
        return Truth(self._full, [], []) if value else Truth([], self._full, [])

    def _all(self, children: list[Truth]) -> Truth:
        yes: list[int] = self._full
        no: list[int] = []
        for child in children:
            no = self.join(no, child.no)
            yes = self.meet(yes, child.yes)
        return Truth(yes, no, [])

    def _name(self, leaf: Guard) -> object:
        if isinstance(leaf, Atom):
            return leaf.key, leaf.op, repr(leaf.operand)
        return type(leaf), getattr(leaf, "text", ""), getattr(leaf, "turns", 0)

    def _free(self, leaf: Guard, mode: Mode) -> Truth:
        bit = self.free.setdefault(self._name(leaf), len(self.free))
        return self._constant(bool(mode.free >> bit & 1))

    def _atom(self, atom: Atom, mode: Mode) -> Truth:
        if atom.key in self.domain.implicit:
            return self._free(atom, mode)
        axis = self.domain.keys[atom.key]
        if atom.op == "exists":
            return Truth(self.cube(axis, axis.present), self.cube(axis, axis.absent), [])
        if atom.op == "absent":
            return Truth(self.cube(axis, axis.absent), self.cube(axis, axis.present), [])
        place = self.domain.places.get(id(atom))
        if place is None:
            free = self._free(atom, mode)
            return Truth(
                self.meet(free.yes, self.cube(axis, axis.present)),
                self.join(free.no, self.cube(axis, axis.absent)),
                [],
            )
        mask = axis.saying(place[1], True)
        return Truth(self.cube(axis, mask), self.cube(axis, ~mask), [])

    # --- expressions ----------------------------------------------------------------------------

    def _expr(self, guard: Expr, mode: Mode) -> Truth:
        """False as a whole where a field is unset that it reads outside of `has`."""
        keys = self.domain.keys
        there: list[int] = self._full
        lacking: list[int] = []
        for name in guard.required:
            axis = keys.get(name)
            if axis is not None:
                there = self.meet(there, self.cube(axis, axis.present))
                lacking += self.cube(axis, axis.absent)
        if id(guard) in self.domain.parts:
            inner = self._node(guard.tree)
        else:
            inner = self._free(guard, mode)
        no = self.join(lacking, inner.no, inner.fails)
        return Truth(self.meet(there, inner.yes), no, [])

    def _node(self, node: ast.expr) -> Truth:
        if isinstance(node, ast.BoolOp):
            either = isinstance(node.op, ast.Or)
            parts = [self._node(part) for part in node.values]
            going: list[int] = self._full
            stopped: list[int] = []
            failed: list[int] = []
            for part in parts:
                stops, goes = (part.yes, part.no) if either else (part.no, part.yes)
                stopped = self.join(stopped, self.meet(going, stops))
                failed = self.join(failed, self.meet(going, part.fails))
                going = self.meet(going, goes)
            return Truth(stopped, going, failed) if either else Truth(going, stopped, failed)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return _turned(self._node(node.operand))
        if isinstance(node, ast.Call):
            axis = self.domain.keys[has_key(node)]
            return Truth(self.cube(axis, axis.present), self.cube(axis, axis.absent), [])
        if isinstance(node, ast.Constant):
            return self._constant(bool(node.value))
        axis, number = self.domain.places[id(node)]
        return Truth(
            self.cube(axis, axis.saying(number, True)),
            self.cube(axis, axis.saying(number, False)),
            self.cube(axis, axis.saying(number, None)),
        )

    # --- tasks ----------------------------------------------------------------------------------

    def addressed(self, task: str) -> Truth:
        """Where a task of the state is addressed."""
        done = self.domain.done[self.state.name, task]
        yes, no = self.cube(done.axis, done.mask), self.cube(done.axis, ~done.mask)
        if done.keys:
            there: list[int] = self._full
            lacking: list[int] = []
            for axis in done.keys:
                there = self.meet(there, self.cube(axis, axis.present))
                lacking += self.cube(axis, axis.absent)
            yes, no = self.join(yes, there), self.meet(no, lacking)
        return Truth(yes, no, [])

    def complete(self) -> Truth:
        """Where every task of the state is addressed; everywhere without tasks. That a goal state
        has tasks at all is a mistake: they are never offered."""
        if self._tasks is None:
            tasks = [task.id for task in self.state.tasks] if self.state.kind != "goal" else []
            self._tasks = self._all([self.addressed(task) for task in tasks])
        return self._tasks


def _turned(truth: Truth) -> Truth:
    return Truth(truth.no, truth.yes, truth.fails)
