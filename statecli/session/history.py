"""The history of a run's data as a tree: each step's delta points to the one before (model.md 7).

Made of the events alone: what was undone, every branch of a split and every fork point are in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from statecli.kernel.apply import apply
from statecli.kernel.branches import message_of
from statecli.model.event import (
    Answered,
    Body,
    Changed,
    Edited,
    Ended,
    Entered,
    Event,
    Filtered,
    Joined,
    Jumped,
    Returned,
    Said,
    Split,
    Started,
    Undone,
)
from statecli.model.graph import Graph
from statecli.model.snapshot import Snapshot
from statecli.session.data import Data


class Point(NamedTuple):
    """One change of the data. `number` is that of its event, `before` those of the points it
    follows (none for the root, several for a join). `delta` is what was given to the reducers;
    `root`: the data began anew here (a filter, a merge strategy), what was dropped is gone."""

    number: int
    before: tuple[int, ...]
    token: int
    state: str
    what: str
    delta: Mapping[str, Any]
    root: bool = False


class Difference(NamedTuple):
    """One field in which two points differ; `old` and `new` are None where it is not set, which
    `added` and `removed` tell from a None that is."""

    key: str
    old: Any
    new: Any
    added: bool = False
    removed: bool = False


class History(Mapping[int, Point]):
    """The points of a run by the number of their event, in order. Data is rebuilt when it is asked
    for; a snapshot is kept every so many events, so that no rebuild goes back to the beginning."""

    #: A rebuild folds at most about so many events.
    EVERY = 64

    def __init__(self, graph: Graph, events: Sequence[Event]) -> None:
        self.graph = graph
        self.events = events
        self._points: dict[int, Point] = {}
        self._kept: dict[int, Snapshot] = {}
        self._undone: dict[int, int] = {}
        self._lines: dict[int, int] = {}
        self._near = (0, Snapshot())  # the last rebuild: the next point is but one step from it
        self._read()

    # --- the tree -------------------------------------------------------------------------------

    def __getitem__(self, number: int) -> Point:
        return self._points[number]

    def __iter__(self) -> Iterator[int]:
        return iter(self._points)

    def __len__(self) -> int:
        return len(self._points)

    @property
    def root(self) -> Point:
        """Where the run began."""
        return next(iter(self._points.values()))

    def children(self, number: int) -> list[Point]:
        """The points that follow one: several where the run split or was taken back."""
        return [point for point in self._points.values() if number in point.before]

    def tips(self) -> list[Point]:
        """The points that nothing follows: where the run is, and where it went before an undo."""
        followed = {number for point in self._points.values() for number in point.before}
        return [point for point in self._points.values() if point.number not in followed]

    def path(self, number: int) -> list[Point]:
        """The points from the root to one; of a join, those of all its branches."""
        wanted, stack = {number}, [number]
        while stack:
            for before in self[stack.pop()].before:
                if before not in wanted:
                    wanted.add(before)
                    stack.append(before)
        return [point for point in self._points.values() if point.number in wanted]

    # --- data -----------------------------------------------------------------------------------

    def snapshot(self, number: int) -> Snapshot:
        """The whole run after an event. KeyError where there is none of this number."""
        if not 1 <= number <= len(self.events):
            raise KeyError(f"the run has events 1 to {len(self.events)}, not {number}")
        chain: list[int] = []
        at, lines, kept = number, self._lines, self._kept
        near, snapshot = self._near
        while at and at != near and at not in kept:
            chain.append(at)
            at = lines[at]
        if at != near:
            snapshot = kept[at] if at else Snapshot()
        graph, events, every = self.graph, self.events, self.EVERY
        for one in reversed(chain):
            body = events[one - 1].body
            if type(body) is not Undone:  # that leaves the run as it was after another event
                snapshot = apply(graph, snapshot, body)
            if one % every == 1:
                kept[one] = snapshot
        self._near = (number, snapshot)
        return snapshot

    def at(self, number: int) -> Mapping[str, Any]:
        """The data after an event, as the branch of that event sees it."""
        snapshot = self.snapshot(number)
        if snapshot.branches:
            token = getattr(self.events[number - 1].body, "token", None)
            branch = snapshot.branches.get(token) if token is not None else None
            if branch is not None:
                return Data(branch.data)
        return Data(snapshot.data)

    def compare(self, one: int, other: int) -> list[Difference]:
        """The fields in which the data after two events differs, in the order of the first."""
        old, new = self.at(one), self.at(other)
        return [
            Difference(key, old.get(key), new.get(key), key not in old, key not in new)
            for key in {**old, **new}
            if key not in old or key not in new or old[key] != new[key]
        ]

    # --- reading --------------------------------------------------------------------------------

    def _read(self) -> None:
        """Note what follows what, without folding anything. An undone event is followed by none of
        those that come later."""
        last, split = 0, False
        tips: dict[int, tuple[int, ...]] = {}
        wanted = {event.body.to for event in self.events if type(event.body) is Undone}
        kept: dict[int, dict[int, tuple[int, ...]]] = {}
        lines = self._lines
        for _, number, _, body in self.events:
            kind = type(body)
            if isinstance(body, Undone):
                tips = dict(kept[body.to])
                lines[number] = body.to
            else:
                lines[number] = last
                reader = _READERS.get(kind)
                if reader is not None:
                    split = split or kind is Split
                    if (found := reader(body)) is not None:
                        self._note(number, body, *found, tips)
                elif split and isinstance(body, Ended) and self._ends_all(last, number):
                    ends = tuple(sorted({n for numbers in tips.values() for n in numbers}))
                    self._points[number] = Point(number, ends, body.token, body.state, "ended", {})
                    tips = {self.snapshot(number).token.id: (number,)}
            if number in wanted:
                kept[number] = dict(tips)
            last = number

    def _ends_all(self, last: int, number: int) -> bool:
        """Whether an event is the end of the last branch: what all of them did is folded there."""
        return bool(self.snapshot(last).branches) and not self.snapshot(number).branches

    def _note(
        self,
        number: int,
        body: Body,
        delta: Mapping[str, Any],
        root: bool,
        tips: dict[int, tuple[int, ...]],
    ) -> None:
        """Put the point of an event into the tree. `tips`: for each token the points it is at."""
        token = getattr(body, "token", 0)
        if isinstance(body, Split):
            before = tips.pop(token, ())
            tips.update(dict.fromkeys(body.tokens, before))
            return
        if isinstance(body, Joined):
            gone = (tips.pop(one, ()) for one in body.tokens)
            before = tuple(sorted({n for numbers in gone for n in numbers}))
        else:
            if token not in tips and len(tips) == 1:
                token = next(iter(tips))
            before = tips.get(token, ())
        state = getattr(body, "state", "")
        name = type(body).__name__.lower()
        self._points[number] = Point(number, before, token, state, name, delta, root)
        tips[token] = (number,)


#: What an event does to the data: a delta (or all of it), and whether it begins anew.
Doing = tuple[Mapping[str, Any], bool]


def _changed(body: Changed) -> Doing | None:
    return (body.data, False) if body.data else None


def _told(body: Said | Answered | Returned) -> Doing | None:
    message = message_of(body)
    return ({"messages": [message]}, False) if message else None


def _moved(body: Entered | Jumped) -> Doing | None:
    return ({}, True) if body.forgotten else None


#: What the events do that may change the data (and a split, which parts its history).
_READERS: dict[type, Callable[[Any], Doing | None]] = {
    Started: lambda body: (body.data, True),
    Changed: _changed,
    Said: _told,
    Answered: _told,
    Returned: _told,
    Edited: lambda body: ({body.key: body.value}, False),
    Joined: lambda body: (body.data or {}, body.data is not None),
    Filtered: lambda body: (body.data or {}, True),
    Split: lambda body: ({}, False),
    Entered: _moved,
    Jumped: _moved,
}
