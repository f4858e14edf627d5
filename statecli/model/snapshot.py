"""Where a run is: the fold of its events. Values, never changed in place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
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
        again = len(self._items) > self._length and _same(self._items[self._length], message)
        old = self if again or len(self._items) == self._length else Messages(self[:])
        new = object.__new__(Messages)
        new._items, new._places, new._length = old._items, old._places, old._length + 1
        if not again:
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


def _same(one: object, other: object) -> bool:
    """Whether the same event brought both: a part of a run is folded once more to explain it."""
    if not isinstance(one, Mapping) or not isinstance(other, Mapping):
        return False
    return isinstance(one.get("id"), str | int) and one == other


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


class Past:
    """One point in the history of a branch, with the one `before` it.

    It holds a `delta`, or the fields that a filter `kept`, or all the `data` where branches part
    or (`root`) something began anew that owes nothing to what was before.
    """

    __slots__ = ("before", "data", "delta", "depth", "kept", "root")

    def __init__(
        self,
        before: Past | None,
        *,
        delta: Mapping[str, Any] | None = None,
        kept: frozenset[str] | None = None,
        data: Mapping[str, Any] | None = None,
        root: bool = False,
    ) -> None:
        self.before = before
        self.delta = delta
        self.kept = kept
        self.data = data
        self.root = root
        self.depth: int = before.depth + 1 if before is not None else 0

    def __eq__(self, other: object) -> bool:
        """The same all the way back. Not by recursion: a branch may be long."""
        one: Past | None = self
        two = other if isinstance(other, Past) else None
        while one is not None and two is not None and one is not two:
            if (one.depth, one.delta, one.kept, one.data, one.root) != (
                two.depth, two.delta, two.kept, two.data, two.root,
            ):  # fmt: skip
                return False
            one, two = one.before, two.before
        return one is two

    __hash__ = object.__hash__


class Branch(NamedTuple):
    """One token of a run that has split, with what it alone sees (model.md 7).

    `status`: as of a run, or joining (it waits for the others of its group). `line`: what the
    person said to it. `came`: the state it came from and the number of the route. `start`: data
    and past when the state was entered; a step that is not finished leaves nothing behind.
    `cancels`: where it fails the others are stopped.
    """

    token: Token
    data: Mapping[str, Any]
    past: Past
    status: str = "running"
    line: str | None = None
    came: tuple[str, int] | None = None
    start: tuple[Mapping[str, Any], Past] | None = None
    cancels: bool = False


#: The branches of a run that has not split.
WHOLE: Mapping[int, Branch] = MappingProxyType({})


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

    `branches`: of a run that has split every token by its id, in routing order; then `tokens`,
    `data` and `line` are those of the one that matters now (the person talks to it, it failed).
    """

    tokens: tuple[Token, ...] = ()
    data: Mapping[str, Any] = {}
    status: str = "running"
    steps: int = 0
    line: str | None = None
    entries: tuple[str, ...] = ()
    awaits_reply: bool = False
    work: Work = Work()
    branches: Mapping[int, Branch] = WHOLE

    @property
    def token(self) -> Token:
        """The only token of a run that has not split; else the one that matters now."""
        return self.tokens[0]

    @property
    def everywhere(self) -> tuple[Token, ...]:
        """All tokens, in routing order."""
        if not self.branches:
            return self.tokens
        return tuple(branch.token for branch in self.branches.values())

    @property
    def state(self) -> str:
        """The state of that token; empty before the start."""
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
