"""Where a run is: the fold of its events. Values, never changed in place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, overload


class Messages(Sequence[Any]):
    """A list of messages that only grows: one shared list and a length, so that a snapshot costs
    nothing and a fork copies only when it goes another way. Shared with it are the places of the
    ids, so that a message that is already there is found at once."""

    __slots__ = ("_items", "_length", "_places")

    def __init__(self, items: Sequence[Any] = ()) -> None:
        self._items = list(items)
        self._length = len(self._items)
        self._places: dict[object, int] = {}
        for place, message in enumerate(self._items):
            self._note(message, place)

    def added(self, message: object) -> Messages:
        """The messages with one more at the end."""
        old = self if len(self._items) == self._length else Messages(self[:])
        new = object.__new__(Messages)
        new._items, new._places, new._length = old._items, old._places, old._length + 1
        new._items.append(message)
        new._note(message, old._length)
        return new

    def knows(self, identity: object) -> bool:
        """Whether a message with this id is there."""
        return self._places.get(identity, self._length) < self._length

    def _note(self, message: object, place: int) -> None:
        identity = message.get("id") if isinstance(message, Mapping) else None
        if isinstance(identity, str | int):
            self._places.setdefault(identity, place)

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[Any]:
        items = self._items
        for at in range(self._length):
            yield items[at]

    @overload
    def __getitem__(self, at: int) -> Any: ...
    @overload
    def __getitem__(self, at: slice) -> list[Any]: ...
    def __getitem__(self, at: int | slice) -> Any:
        if isinstance(at, slice):
            return self._items[: self._length][at]
        if not -self._length <= at < self._length:
            raise IndexError(at)
        return self._items[at if at >= 0 else self._length + at]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, list | Messages) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(list(self))


class Token(NamedTuple):
    """One place where the run is. `total` and `idle` are the turns of this visit; `closed` the
    outcome of its goal; `fresh`: entered in this turn; `progressed`: something new came in this
    turn; `since`: how many messages there were when the state was entered."""

    id: int
    state: str
    total: int = 0
    idle: int = 0
    closed: str = ""
    fresh: bool = True
    progressed: bool = False
    since: int = 0


class Work(NamedTuple):
    """What only some events look at: plan states and budgets.

    `early`: values for later tasks of strict states, invisible to guards. `tasks`: ``state/task``
    to completed or skipped. `goals`: state to the outcome its goal last had (achieved, given_up,
    skipped). `turns`: turns of the session. `visited`: the states with ``on_reenter: reset`` that
    were entered. `tokens_spent` and `cost_spent` count from the last time that they stopped the
    run.
    """

    early: Mapping[str, Any] = {}
    tasks: Mapping[str, str] = {}
    goals: Mapping[str, str] = {}
    insights: tuple[tuple[str, Any], ...] = ()
    turns: int = 0
    visited: frozenset[str] = frozenset()
    tokens_spent: int = 0
    cost_spent: float = 0.0


class Snapshot(NamedTuple):
    """The state of a run after some event.

    `data`: fields that are set. `status`: running, waiting, interrupted (by the person), limited,
    failed, stuck, ended. `steps`: bodies run since the last wait. `line`: what the person said
    last, until a body took it; `entries`: states among which the model still chooses where to
    begin; `awaits_reply`: nothing was said to the person since their line.
    """

    tokens: tuple[Token, ...] = ()
    data: Mapping[str, Any] = {}
    status: str = "running"
    steps: int = 0
    line: str | None = None
    entries: tuple[str, ...] = ()
    awaits_reply: bool = False
    work: Work = Work()

    @property
    def token(self) -> Token:
        """The only token of a run that has not split."""
        return self.tokens[0]

    @property
    def state(self) -> str:
        """The state of the only token; empty before the start."""
        return self.tokens[0].state if self.tokens else ""

    @property
    def early(self) -> Mapping[str, Any]:
        return self.work.early

    @property
    def tasks(self) -> Mapping[str, str]:
        return self.work.tasks

    @property
    def goals(self) -> Mapping[str, str]:
        return self.work.goals

    @property
    def insights(self) -> tuple[tuple[str, Any], ...]:
        return self.work.insights

    @property
    def turns(self) -> int:
        return self.work.turns
