"""Where a run is: the fold of its events. Values, never changed in place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, overload


class Messages(Sequence[Any]):
    """A list of messages that only grows: one shared list and a length, so that a snapshot costs
    nothing and a fork copies only when it goes another way."""

    __slots__ = ("_items", "_length")

    def __init__(self, items: list[Any] | None = None, length: int | None = None) -> None:
        self._items = items if items is not None else []
        self._length = len(self._items) if length is None else length

    def added(self, message: object) -> Messages:
        """The messages with one more at the end."""
        items = self._items
        if len(items) != self._length:
            items = items[: self._length]
        items.append(message)
        return Messages(items, self._length + 1)

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[Any]:
        items = self._items
        for at in range(self._length):
            yield items[at]

    @overload
    def __getitem__(self, at: int) -> Any: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Any]: ...
    def __getitem__(self, at: int | slice) -> Any:
        if isinstance(at, slice):
            return self._items[: self._length][at]
        if not -self._length <= at < self._length:
            raise IndexError(at)
        return self._items[at if at >= 0 else self._length + at]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

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


class Snapshot(NamedTuple):
    """The state of a run after some event.

    `data`: fields that are set. `early`: values for later tasks of strict states, invisible to
    guards. `tasks`: ``state/task`` to completed or skipped. `goals`: state to the outcome its goal
    last had (achieved, given_up, skipped). `turns`: turns of the session; `steps`: bodies run
    since the last wait. `status`: running, waiting, limited, failed, stuck, ended. `line`: what the
    person said last, until a body took it; `awaits_reply`: nothing was said to them since.
    `entries`: states among which the model still chooses where to begin.
    """

    tokens: tuple[Token, ...] = ()
    data: Mapping[str, Any] = {}
    early: Mapping[str, Any] = {}
    tasks: Mapping[str, str] = {}
    goals: Mapping[str, str] = {}
    insights: tuple[tuple[str, Any], ...] = ()
    turns: int = 0
    steps: int = 0
    status: str = "running"
    line: str | None = None
    awaits_reply: bool = False
    entries: tuple[str, ...] = ()

    @property
    def token(self) -> Token:
        """The only token of a run that has not split."""
        return self.tokens[0]

    @property
    def state(self) -> str:
        """The state of the only token; empty before the start."""
        return self.tokens[0].state if self.tokens else ""
