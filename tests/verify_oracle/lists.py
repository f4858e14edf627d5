"""The eleven lists that the oracle and the verifier must agree on, computed from two searches."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from verify_oracle.reader import END, Book
from verify_oracle.search import Move, Node, Search, World

#: More configurations than this are not searched.
MOST = 60_000

Lists = Mapping[str, frozenset[Any]]


def lists(book: Book, most: int = MOST, forget: bool = True) -> Lists:
    """What can happen in a graph, and what cannot. Raises TooLarge.

    unreachable: states on some path of ways that are never entered (FULL). dead: (state, number) of
    an entered state, never the first that holds (FULL). fallthrough: goal states left in order
    because nothing matched (FULL). stuck, rescued: states (COOP). tie: (state, number, number)
    (COOP). unset: (state, key) asked for and not there (COOP). never_set: those of `unset` that are
    not there any time (FULL). doomed: states with an entry in COOP from which no FULL run ends.
    loops: the states that such runs go round in (COOP). settle_loops: (state, target) where a pass
    would go back into a state that it visited (FULL).
    """
    world = World(book, forget)
    full = Search(world, coop=False, most=most)
    coop = Search(world, coop=True, most=most)
    ending = _ending(full.moves)
    assert coop.moves.keys() <= full.moves.keys(), "every COOP run is a FULL run"
    doomed = [
        (name, move) for name, move in coop.entries
        if move.to is not None and move.to not in ending
    ]  # fmt: skip
    return {
        "unreachable": frozenset(book.on_paper() - full.entered),
        "dead": frozenset(_dead(book, full)),
        "fallthrough": frozenset(
            name for name, place in book.places.items()
            if place.kind == "goal" and (name, None) in full.firsts
            and any(way.number is None and way.priority == math.inf for way in place.ways)
        ),
        "stuck": frozenset(coop.stuck),
        "rescued": frozenset(coop.rescued),
        "tie": frozenset(coop.ties),
        "unset": frozenset(coop.asked),
        "never_set": frozenset(coop.asked - full.found),
        "doomed": frozenset(name for name, _ in doomed),
        "loops": _loops(doomed, coop.moves),
        "settle_loops": frozenset(full.cut),
    }  # fmt: skip


def _dead(book: Book, full: Search) -> Iterable[tuple[str, int]]:
    for name in full.entered:
        place = book.places[name]
        for way in place.ways:
            if way.number is None or (place.is_plan and way.target == name):
                continue
            if way.target not in book.places and not (book.plan and way.target == END):
                continue
            if (name, way.number) not in full.firsts:
                yield name, way.number


def _ending(moves: Mapping[Node, list[Move]]) -> set[Node]:
    """The nodes from which a run can end."""
    before: dict[Node, list[Node]] = {}
    todo: list[Node] = []
    for node, found in moves.items():
        for move in found:
            if move.to is None:
                todo.append(node)
            else:
                before.setdefault(move.to, []).append(node)
    seen = set(todo)
    while todo:
        for node in before.get(todo.pop(), ()):
            if node not in seen:
                seen.add(node)
                todo.append(node)
    return seen


def _loops(
    doomed: list[tuple[str, Move]], moves: Mapping[Node, list[Move]]
) -> frozenset[tuple[str, ...]]:
    """Where runs that cannot end go round: parts of the moves between states in which each state
    leads to every other."""
    edges: set[tuple[str, str]] = set()
    todo: list[Node] = []
    seen: set[Node] = set()
    for _, move in doomed:
        edges.update(move.hops)
        if move.to is not None:
            todo.append(move.to)
    while todo:
        node = todo.pop()
        if node in seen:
            continue
        seen.add(node)
        for move in moves[node]:
            edges.update(move.hops)
            if move.to is not None:
                todo.append(move.to)
    after: dict[str, set[str]] = {}
    for source, target in edges:
        after.setdefault(source, set()).add(target)
    reach = {name: _reach(name, after) for name in after}
    return frozenset(
        tuple(sorted(other for other in reach[name] if name in reach.get(other, ())))
        for name in after if name in reach[name]
    )  # fmt: skip


def _reach(name: str, after: Mapping[str, set[str]]) -> set[str]:
    seen: set[str] = set()
    todo = [name]
    while todo:
        for other in after.get(todo.pop(), ()):
            if other not in seen:
                seen.add(other)
                todo.append(other)
    return seen
