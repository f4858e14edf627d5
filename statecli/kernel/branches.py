"""What events do to a run that has split: each changes the branch of its token, seen alone.

A branch sees the data at the split and what it did since, never what another one does: so nothing
depends on which of them is faster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from statecli.kernel.fanin import folded
from statecli.kernel.joins import merge_of, must_wait
from statecli.model.event import (
    Answered,
    Body,
    Changed,
    Edited,
    Entered,
    Failed,
    Filtered,
    Interrupted,
    Joined,
    Jumped,
    Resumed,
    Returned,
    Said,
    Split,
    Unauthorized,
    Waiting,
)
from statecli.model.graph import Graph
from statecli.model.snapshot import WHOLE, Branch, Past, Snapshot, Token

Change = Callable[[Graph, Snapshot, Any], Snapshot]

#: The status of a run by those of its branches: the first of these that one of them has.
_ORDER = ("limited", "running", "failed", "stuck", "interrupted", "waiting")
#: A branch with one of these goes on when the run is told to.
STOPPED = ("limited", "failed", "stuck", "interrupted")


def view(snapshot: Snapshot, number: int) -> Snapshot:
    """The run as one of its branches sees it: whole."""
    branch = snapshot.branches[number]
    return snapshot._replace(
        tokens=(branch.token,), data=branch.data, status=branch.status, line=branch.line,
        branches=WHOLE,
    )  # fmt: skip


def in_the_whole(snapshot: Snapshot, bodies: Iterable[Body]) -> Iterator[Body]:
    """What one branch did, seen alone, as events of the whole run: the branches that a split made
    get numbers of their own there."""
    names: dict[int, int] = {}
    first = max(snapshot.branches, default=0) + 1
    for own in bodies:
        body: Any = own
        if isinstance(own, Split):
            numbers = tuple(range(first, first + len(own.tokens)))
            names = dict(zip(own.tokens, numbers, strict=True))
            body = own._replace(tokens=numbers)
        elif getattr(own, "token", None) in names:
            body = body._replace(token=names[body.token])
        yield body


def in_branch(change: Change, graph: Graph, snapshot: Snapshot, body: Any) -> Snapshot:
    """What an event of a run that has split does."""
    special = SPECIAL.get(type(body))
    if special is not None:
        return special(change, graph, snapshot, body)
    number: int = getattr(body, "token", -1)
    if number not in snapshot.branches:
        return snapshot
    before = view(snapshot, number)
    after = change(graph, before, body)
    branch = snapshot.branches[number]
    changed = branch._replace(
        token=after.tokens[0],
        data=after.data,
        past=_past(branch, body, after),
        status=after.status,
        line=after.line,
    )
    if isinstance(body, Answered) and body.partial and branch.start is not None:
        # What was shown of an answer that broke off stays, though its step begins anew.
        start, past = branch.start
        kept = change(graph, before._replace(data=start), body).data
        changed = changed._replace(start=(kept, _past(branch._replace(past=past), body, after)))
    if isinstance(body, Failed) and body.stuck:  # the step is done: what it wrote stays
        changed = changed._replace(start=(changed.data, changed.past))
    elif type(body) in _UNFINISHED:
        changed = _back(graph, changed)
    elif isinstance(body, Entered | Jumped):
        changed = _placed(graph, changed, branch, body)
    branches = {**snapshot.branches, number: changed}
    rest = after._replace(
        tokens=snapshot.tokens, data=snapshot.data, status=snapshot.status, line=snapshot.line,
        branches=branches,
    )  # fmt: skip
    if type(body) is Waiting:
        rest = _summed_up(rest)
        return rest if rest.status == "waiting" else rest._replace(steps=snapshot.steps)
    if changed.status == "ended" and branch.status != "ended":
        return _over(graph, rest)
    return _told(snapshot, rest, changed)


def _told(before: Snapshot, after: Snapshot, changed: Branch) -> Snapshot:
    """The run as a whole after one branch changed. Most often nothing else is to be looked at."""
    if "limited" in (before.status, changed.status):
        return _summed_up(after)
    focus = before.tokens[0].id
    if before.status == "running" and focus != changed.token.id:
        if after.branches[focus].status == "running":
            return after
    elif focus == changed.token.id and before.status == changed.status:
        return after._replace(tokens=(changed.token,), data=changed.data, line=changed.line)
    running = (branch for branch in after.branches.values() if branch.status == "running")
    chosen = next(running, None)
    if chosen is None:
        return _summed_up(after)
    return after._replace(
        tokens=(chosen.token,), data=chosen.data, line=chosen.line, status="running"
    )


#: Events after which the open step of a branch has left nothing behind.
_UNFINISHED = (Failed, Interrupted, Unauthorized)


def _past(branch: Branch, body: Any, after: Snapshot) -> Past:
    """The history of a branch with what an event added."""
    if isinstance(body, Changed):
        return Past(branch.past, delta=body.data) if body.data else branch.past
    if isinstance(body, Said | Answered | Returned):
        message = message_of(body)
        return Past(branch.past, delta={"messages": [message]}) if message else branch.past
    if isinstance(body, Entered | Jumped) and body.forgotten:
        return Past(branch.past, kept=frozenset(after.data))
    return branch.past


def message_of(body: Said | Answered | Returned) -> dict[str, Any]:
    """What an event adds to the conversation; empty where it adds nothing."""
    if isinstance(body, Said):
        message: dict[str, Any] = {"role": "user", "content": body.text}
        identity = body.id
    elif isinstance(body, Answered):
        if not body.text:
            return {}
        message = {"role": "assistant", "content": body.text}
        if body.partial:
            message["partial"] = True
        identity = body.id
    else:
        if not body.message:
            return {}
        content = body.result if body.ok else f"error: {body.result}"
        message = {"role": "tool", "content": content}
        identity = body.call
    if identity:
        message["id"] = identity
    return message


def _back(graph: Graph, branch: Branch) -> Branch:
    """The branch as it was when it entered its state. In a plan state each call is a step."""
    state = graph.states.get(branch.token.state)
    if branch.start is None or state is None or state.is_plan:
        return branch
    data, past = branch.start
    return branch._replace(data=data, past=past)


def _placed(graph: Graph, branch: Branch, before: Branch, body: Entered | Jumped) -> Branch:
    """A branch that is in another state: it may have to wait there for others."""
    number = body.number if isinstance(body, Entered) else None
    came = (before.token.state, number) if number is not None and number >= 0 else None
    waits = must_wait(graph, body.state, came)
    return branch._replace(
        came=came,
        status="joining" if waits else "running",
        start=(branch.data, branch.past),
    )


def _summed_up(snapshot: Snapshot) -> Snapshot:
    """The run as a whole: its status, and the branch that matters now."""
    branches = snapshot.branches
    statuses = {branch.status for branch in branches.values()}
    status = next((word for word in _ORDER if word in statuses), "running")
    number = next((n for n, b in branches.items() if b.status == status), next(iter(branches)))
    chosen = branches[number]
    return snapshot._replace(
        tokens=(chosen.token,), data=chosen.data, line=chosen.line, status=status
    )


def _over(graph: Graph, snapshot: Snapshot) -> Snapshot:
    """A branch has ended. With the last one the run has: their ends are folded in routing order."""
    branches = list(snapshot.branches.values())
    if any(branch.status != "ended" for branch in branches):
        return _summed_up(snapshot)
    data = folded(graph, branches).data
    return snapshot._replace(
        tokens=(branches[-1].token,), data=data, status="ended", line=None, branches=WHOLE
    )


# --- events of several branches -----------------------------------------------------------------


def split(graph: Graph, snapshot: Snapshot, body: Split) -> Snapshot:
    """One token becomes several in its place; a body of a non-waiting state is done."""
    if snapshot.branches:
        parent = snapshot.branches[body.token]
    else:
        first = Past(None, data=snapshot.data, root=True)
        parent = Branch(snapshot.token, snapshot.data, first)
    past = Past(parent.past, data=parent.data)
    transition = graph.states[body.state].settings.get("transition")
    cancels = isinstance(transition, Mapping) and transition.get("on_failure") == "cancel"
    new = {
        number: Branch(
            parent.token._replace(id=number), parent.data, past, start=(parent.data, past),
            cancels=cancels,
        )
        for number in body.tokens
    }  # fmt: skip
    branches: dict[int, Branch] = {}
    for number, branch in (snapshot.branches or {body.token: parent}).items():
        if number == body.token:
            branches.update(new)
        else:
            branches[number] = branch
    steps = snapshot.steps if body.by == "line" else snapshot.steps + 1
    return _summed_up(snapshot._replace(branches=branches, steps=steps, line=None))


def alone(graph: Graph, snapshot: Snapshot, source: str, body: Entered) -> Snapshot:
    """A run that has not split comes to a state that may wait for others: then it waits too."""
    came = (source, body.number) if body.number is not None and body.number >= 0 else None
    if not must_wait(graph, body.state, came):
        return snapshot
    past = Past(None, data=snapshot.data, root=True)
    start = (snapshot.data, past)
    only = Branch(snapshot.token, snapshot.data, past, "joining", None, came, start)
    return snapshot._replace(branches={body.token: only})


def joined(graph: Graph, snapshot: Snapshot, body: Joined) -> Snapshot:
    """Several tokens become one, in the place of the first; it goes on in the state."""
    gone = [snapshot.branches[number] for number in body.tokens]
    data, past = folded(graph, gone, merge_of(graph.states[body.state], body.group))
    if body.data is not None:
        data = body.data
        past = Past(past, data=data, root=True)
    messages = data.get("messages")
    token = Token(body.token, body.state, since=len(messages) if messages else 0)
    cancels = all(branch.cancels for branch in gone)
    made = Branch(token, data, past, start=(data, past), cancels=cancels)
    branches: dict[int, Branch] = {}
    for number, branch in snapshot.branches.items():
        if number == body.tokens[0]:
            branches[body.token] = made
        elif number not in body.tokens:
            branches[number] = branch
    if len(branches) > 1:
        return _summed_up(snapshot._replace(branches=branches))
    return snapshot._replace(
        tokens=(token,), data=data, status="running", line=None, branches=WHOLE
    )


def filtered(_: Graph, snapshot: Snapshot, body: Filtered) -> Snapshot:
    """Only what a filter keeps goes on, in a run that has not split."""
    return snapshot._replace(data=_kept(snapshot.data, body))


def _kept(data: Mapping[str, Any], body: Filtered) -> Mapping[str, Any]:
    if body.data is not None:
        return body.data
    return {key: value for key, value in data.items() if key in body.fields}


def _filtered(_change: Change, _graph: Graph, snapshot: Snapshot, body: Filtered) -> Snapshot:
    branch = snapshot.branches[body.token]
    data = _kept(branch.data, body)
    if body.data is not None:
        past = Past(branch.past, data=data, root=True)
    else:
        past = Past(branch.past, kept=frozenset(body.fields))
    changed = branch._replace(data=data, past=past)
    return _summed_up(snapshot._replace(branches={**snapshot.branches, body.token: changed}))


def _said(change: Change, graph: Graph, snapshot: Snapshot, body: Said) -> Snapshot:
    """One branch takes the line; those that had stopped go on."""
    number = body.token if body.token in snapshot.branches else snapshot.tokens[0].id
    told = going(graph, snapshot)
    before = view(told, number)
    after = change(graph, before, body)
    branch = told.branches[number]
    data, past = after.data, _past(branch, body, after)
    status = "joining" if branch.status == "joining" else after.status
    changed = branch._replace(
        data=data, past=past, status=status, line=after.line, start=(data, past)
    )
    branches = {**told.branches, number: changed}
    return _summed_up(told._replace(branches=branches, steps=0, awaits_reply=True))


def going(graph: Graph, snapshot: Snapshot) -> Snapshot:
    """Every branch that had stopped goes on where it is."""
    branches = {
        number: branch._replace(status=_begun(graph, branch))
        if branch.status in STOPPED
        else branch
        for number, branch in snapshot.branches.items()
    }
    return _summed_up(snapshot._replace(branches=branches, steps=0))


def _begun(graph: Graph, branch: Branch) -> str:
    return "joining" if must_wait(graph, branch.token.state, branch.came) else "running"


def _resumed(_: Change, graph: Graph, snapshot: Snapshot, body: Any) -> Snapshot:
    return going(graph, snapshot) if body.runs else snapshot


def _edited(change: Change, graph: Graph, snapshot: Snapshot, body: Edited) -> Snapshot:
    """A value set by hand counts in the branch that the person talks to."""
    number = snapshot.tokens[0].id
    after = change(graph, view(snapshot, number), body)
    branch = snapshot.branches[number]
    past = Past(branch.past, data=after.data, root=True)
    changed = branch._replace(data=after.data, past=past, start=(after.data, past))
    branches = {**snapshot.branches, number: changed}
    return _summed_up(snapshot._replace(branches=branches, work=after.work))


def _split(_: Change, graph: Graph, snapshot: Snapshot, body: Split) -> Snapshot:
    return split(graph, snapshot, body)


def _joined(_: Change, graph: Graph, snapshot: Snapshot, body: Joined) -> Snapshot:
    return joined(graph, snapshot, body)


#: Events that are not simply one branch's.
SPECIAL: dict[type, Callable[[Change, Graph, Snapshot, Any], Snapshot]] = {
    Said: _said,
    Resumed: _resumed,
    Edited: _edited,
    Split: _split,
    Joined: _joined,
    Filtered: _filtered,
}
