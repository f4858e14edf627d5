"""A step that was cut off, by a crash or by the person: what its events say of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from statecli.model.event import (
    BARRIERS,
    Answered,
    Body,
    Called,
    Changed,
    Chose,
    Edited,
    Ended,
    Entered,
    Event,
    Failed,
    Filtered,
    Interrupted,
    Jumped,
    Limited,
    Resumed,
    Returned,
    Said,
    Split,
    Started,
    Streamed,
    Unauthorized,
    Undone,
    Waiting,
)
from statecli.model.snapshot import Snapshot

#: Events with which a step begins.
ENTRIES = (Started, Said, Entered, Jumped, Resumed, Waiting, Edited)


class Open(NamedTuple):
    """A step that was cut off: the event with which it began, what it had said, and the calls it
    had sent (done or not). `branches`: the tokens of a run that has split whose steps were."""

    entry: int
    text: str = ""
    calls: tuple[Called, ...] = ()
    branches: tuple[int, ...] = ()


def effective(events: Sequence[Event]) -> list[Event]:
    """The events that count: `undone` takes back everything after the event it names."""
    kept: list[Event] = []
    for event in events:
        if isinstance(event.body, Undone):
            while kept and kept[-1].number > event.body.to:
                kept.pop()
        else:
            kept.append(event)
    return kept


def open_step(snapshot: Snapshot, kept: Sequence[Event], last: int, *, in_plan: bool) -> Open:
    """What the step of a run that has not split had said and called, if one was cut off. `kept`:
    the events that count; `last`: the number of the last of all; `in_plan`: it is in a plan state.
    """
    if snapshot.status == "interrupted":
        return _stopped(kept)
    if snapshot.status != "running":
        return Open(last)
    entry = entry_of(kept)
    late = [event.body for event in kept if event.number > entry]
    if in_plan:
        # Each call in a plan state is a step of its own: what was said before it stays said.
        said = [n for n, body in enumerate(late) if not isinstance(body, Streamed)]
        late = late[said[-1] + 1 :] if said else late
    text = "".join(body.text for body in late if isinstance(body, Streamed | Answered))
    calls = [body for body in late if isinstance(body, Called)]
    if late and isinstance(late[-1], Interrupted) and late[-1].again:
        # Nobody answered. If that was what a tool gives back, the person plays it: not sent.
        done = {body.call for body in late if isinstance(body, Returned)}
        calls = [call for call in calls if call.call in done]
    return Open(entry, text, tuple(calls))


def open_branches(snapshot: Snapshot, kept: Sequence[Event], last: int) -> Open:
    """The same of a run that has split: each branch may have an open step."""
    late: dict[int, list[Body]] = {
        number: []
        for number, branch in snapshot.branches.items()
        if branch.status in ("running", "interrupted")
    }
    for event in kept:
        body = event.body
        number = getattr(body, "token", None)
        if isinstance(body, Resumed) and body.runs:
            for bodies in late.values():
                bodies.clear()
        if number not in late:
            continue
        if isinstance(body, (*ENTRIES, Failed)) or (isinstance(body, Interrupted) and
                                                    body.again):  # fmt: skip
            late[number].clear()
        else:
            late[number].append(body)
    text, calls = "", list[Called]()
    for number, bodies in late.items():
        stopped = snapshot.branches[number].status == "interrupted"
        text += (
            "" if stopped else "".join(b.text for b in bodies if isinstance(b, Streamed | Answered))
        )
        calls += [body for body in bodies if isinstance(body, Called)]
    running = (n for n, b in snapshot.branches.items() if b.status == "running")
    opened = tuple(number for number in running if late[number])
    return Open(last, text, tuple(calls), opened)


#: Events that are what came of a step.
_CAME = (Changed, Filtered, Chose, Answered, Called, Returned, Failed, Limited, Ended)


def before_last_step(events: Sequence[Event]) -> int | None:
    """The event with which the last step began that came to something."""
    done = False
    for event in reversed(events):
        if done and isinstance(event.body, ENTRIES):
            number: int = event.number
            return number
        done = done or isinstance(event.body, _CAME)
    return None


def half_split(events: Sequence[Event]) -> int | None:
    """The event before a split whose branches were not all entered (a fork may cut there)."""
    at = max((n for n, event in enumerate(events) if isinstance(event.body, Split)), default=-1)
    split = events[at].body if at >= 0 else None
    if not isinstance(split, Split):
        return None
    placed = {e.body.token for e in events[at:] if isinstance(e.body, Entered | Ended)}
    if placed.issuperset(split.tokens):
        return None
    while at > 0:
        before = events[at - 1].body
        if isinstance(before, BARRIERS) or getattr(before, "token", None) != split.token:
            break
        at -= 1
    return events[at - 1].number


def _stopped(events: Sequence[Event]) -> Open:
    """A step that the person stopped: what it had called. One that stopped because a service must
    be connected called nothing."""
    begins = (e for e in events if isinstance(e.body, ENTRIES))
    entry = max(
        (e.number for e in begins if not isinstance(e.body, Resumed) or e.body.runs), default=0
    )
    late = [event.body for event in events if event.number > entry]
    if any(isinstance(body, Unauthorized) for body in late):
        return Open(entry)
    return Open(entry, "", tuple(body for body in late if isinstance(body, Called)))


def entry_of(events: Sequence[Event]) -> int:
    """The number of the event with which the last step began."""
    return max((e.number for e in events if isinstance(e.body, ENTRIES)), default=0)
