"""What an event does to a snapshot. Pure; a run is the fold of its events."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from statecli.kernel.reducers import reduced
from statecli.model.event import (
    Answered,
    Body,
    Changed,
    Edited,
    Ended,
    Entered,
    Failed,
    Insight,
    Interrupted,
    Jumped,
    Limited,
    Resumed,
    Returned,
    Said,
    Skipped,
    Started,
    Turned,
    Waiting,
)
from statecli.model.graph import END, Graph
from statecli.model.snapshot import Snapshot, Token

#: Ways of choosing (`Chose.by`) that follow the body of a non-waiting state; "line" follows that
#: of a waiting one, the others follow none.
STEPS = frozenset({"order", "model", "on_invalid", "fallback", "body"})


def apply(graph: Graph, snapshot: Snapshot, body: Body) -> Snapshot:
    """The snapshot after an event. Events that only tell (asked, chose, refused ...) change
    nothing."""
    change = _CHANGES.get(type(body))
    return snapshot if change is None else change(graph, snapshot, body)


def fold(graph: Graph, bodies: Iterable[Body], snapshot: Snapshot | None = None) -> Snapshot:
    """Where a run is after its events. `Undone` is the store's business: it cuts the events."""
    result = snapshot or Snapshot()
    for body in bodies:
        result = apply(graph, result, body)
    return result


def _token(snapshot: Snapshot, number: int, **changes: Any) -> tuple[Token, ...]:
    if len(snapshot.tokens) == 1:
        return (snapshot.tokens[0]._replace(**changes),)
    return tuple(t._replace(**changes) if t.id == number else t for t in snapshot.tokens)


def _started(graph: Graph, snapshot: Snapshot, body: Started) -> Snapshot:
    token = Token(0, body.state, fresh=False)
    return Snapshot(
        tokens=(token,), data=dict(body.data), awaits_reply=body.speaks, entries=body.entries
    )


def _entered(graph: Graph, snapshot: Snapshot, body: Entered) -> Snapshot:
    """A new visit: its turns and its goal begin anew, tasks and values stay (unless reset).

    After a body the person's line is taken; that of a non-waiting state counts for `max_steps`.
    """
    data, early, tasks = snapshot.data, snapshot.early, snapshot.tasks
    messages = data.get("messages")
    since = len(messages) if messages else 0
    new = Token(body.token, body.state, 0, 0, "", True, False, since)
    tokens: tuple[Token, ...] = (new,)
    if len(snapshot.tokens) > 1:
        tokens = tuple(new if t.id == body.token else t for t in snapshot.tokens)
    if body.forgotten:
        gone = set(body.forgotten)
        data = {key: value for key, value in data.items() if key not in gone}
        early = {key: value for key, value in early.items() if key not in gone}
    if body.reopened:
        opened = set(body.reopened)
        tasks = {key: value for key, value in tasks.items() if key not in opened}
    step = body.by in STEPS
    line = None if step or body.by == "line" else snapshot.line
    entries = () if body.by == "entry" else snapshot.entries
    return Snapshot(
        tokens, data, early, tasks, snapshot.goals, snapshot.insights, snapshot.turns,
        snapshot.steps + step, "running", line, snapshot.awaits_reply, entries,
    )  # fmt: skip


def _message(
    graph: Graph, snapshot: Snapshot, role: str, content: object, identity: str
) -> dict[str, Any]:
    message: dict[str, Any] = {"role": role, "content": content}
    if identity:
        message["id"] = identity
    return reduced(graph, snapshot.data, {"messages": [message]})


def _said(graph: Graph, snapshot: Snapshot, body: Said) -> Snapshot:
    data = _message(graph, snapshot, "user", body.text, body.id)
    return snapshot._replace(
        data=data, steps=0, status="running", line=body.text, awaits_reply=True
    )


def _answered(graph: Graph, snapshot: Snapshot, body: Answered) -> Snapshot:
    if not body.text:
        return snapshot._replace(awaits_reply=False)
    data = _message(graph, snapshot, "assistant", body.text, body.id)
    return snapshot._replace(data=data, awaits_reply=False)


def _returned(graph: Graph, snapshot: Snapshot, body: Returned) -> Snapshot:
    if not body.message:
        return snapshot
    return snapshot._replace(data=_message(graph, snapshot, "tool", body.result, body.call))


def _changed(graph: Graph, snapshot: Snapshot, body: Changed) -> Snapshot:
    data, early, tasks, goals = snapshot.data, snapshot.early, snapshot.tasks, snapshot.goals
    if body.data:
        data = reduced(graph, data, body.data)
        if early:
            early = {key: value for key, value in early.items() if key not in body.data}
    if body.early:
        early = {**early, **body.early}
    if body.tasks:
        tasks = {**tasks, **body.tasks}
    tokens = snapshot.tokens
    if body.goal:
        goals = {**goals, body.state: body.goal}
        tokens = _token(snapshot, body.token, closed=body.goal, idle=0, progressed=True)
    elif body.progress:
        tokens = _token(snapshot, body.token, idle=0, progressed=True)
    return Snapshot(
        tokens, data, early, tasks, goals, snapshot.insights, snapshot.turns, snapshot.steps,
        snapshot.status, snapshot.line, snapshot.awaits_reply,
    )  # fmt: skip


def _insight(graph: Graph, snapshot: Snapshot, body: Insight) -> Snapshot:
    return snapshot._replace(insights=(*snapshot.insights, (body.key, body.value)))


def _skipped(graph: Graph, snapshot: Snapshot, body: Skipped) -> Snapshot:
    tasks = {**snapshot.tasks, **dict.fromkeys(body.tasks, "skipped")}
    goals = {**snapshot.goals, body.state: "skipped"} if body.goal else snapshot.goals
    return snapshot._replace(tasks=tasks, goals=goals)


def _turned(graph: Graph, snapshot: Snapshot, body: Turned) -> Snapshot:
    """Counters move: the turn of entry is no turn of the visit, one with progress is not idle."""
    token = next(t for t in snapshot.tokens if t.id == body.token)
    total, idle = token.total, token.idle
    if not token.fresh:
        total += 1
        if not token.progressed:
            idle += 1
    tokens = _token(snapshot, body.token, total=total, idle=idle, fresh=False, progressed=False)
    return snapshot._replace(tokens=tokens, turns=snapshot.turns + 1, line=None)


def _waiting(graph: Graph, snapshot: Snapshot, body: Waiting) -> Snapshot:
    """What is entered at the end of a turn has its first own turn next."""
    tokens = _token(snapshot, body.token, fresh=False)
    return snapshot._replace(tokens=tokens, status="waiting", steps=0)


def _limited(graph: Graph, snapshot: Snapshot, body: Limited) -> Snapshot:
    return snapshot._replace(status="limited", steps=0)


def _failed(graph: Graph, snapshot: Snapshot, body: Failed) -> Snapshot:
    return snapshot._replace(status="stuck" if body.stuck else "failed", steps=0)


def _interrupted(graph: Graph, snapshot: Snapshot, body: Interrupted) -> Snapshot:
    return snapshot._replace(status="waiting", steps=0)


def _edited(graph: Graph, snapshot: Snapshot, body: Edited) -> Snapshot:
    early = {key: value for key, value in snapshot.early.items() if key != body.key}
    return snapshot._replace(data={**snapshot.data, body.key: body.value}, early=early)


def _jumped(graph: Graph, snapshot: Snapshot, body: Jumped) -> Snapshot:
    return _entered(graph, snapshot, Entered(body.token, body.state))


def _resumed(graph: Graph, snapshot: Snapshot, body: Resumed) -> Snapshot:
    return snapshot if snapshot.status == "ended" else snapshot._replace(steps=0)


def _ended(graph: Graph, snapshot: Snapshot, body: Ended) -> Snapshot:
    tokens = snapshot.tokens
    if body.state == END:
        tokens = tuple(t._replace(state=END) if t.id == body.token else t for t in tokens)
    return snapshot._replace(tokens=tokens, status="ended")


_CHANGES: dict[type, Callable[[Graph, Snapshot, Any], Snapshot]] = {
    Started: _started,
    Entered: _entered,
    Said: _said,
    Answered: _answered,
    Returned: _returned,
    Changed: _changed,
    Insight: _insight,
    Skipped: _skipped,
    Turned: _turned,
    Waiting: _waiting,
    Limited: _limited,
    Failed: _failed,
    Interrupted: _interrupted,
    Edited: _edited,
    Jumped: _jumped,
    Resumed: _resumed,
    Ended: _ended,
}
