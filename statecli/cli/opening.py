"""The session that a chat's options mean: a new one, one to go on with, or a fork."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from statecli.chat.screen import cut
from statecli.cli.output import tell
from statecli.cli.running import Opened, data_folder
from statecli.kernel.apply import apply
from statecli.kernel.reducers import Misfit
from statecli.llm import asking
from statecli.llm.script import ScriptProvider
from statecli.model.event import Answered, Event, Waiting
from statecli.model.nearest import did_you_mean
from statecli.model.ports import EndOfInput
from statecli.model.snapshot import Snapshot
from statecli.model.unable import Unable
from statecli.session.open_step import Open, effective
from statecli.session.session import Session, digest
from statecli.text.excerpt import plain

if TYPE_CHECKING:
    from statecli.config.trust import Confirm
    from statecli.engine.advance import Custom
    from statecli.model.graph import Graph
    from statecli.model.ports import Ask, Provider, Store, Stored
    from statecli.store.lock import Lock

#: What an id may consist of: it also names a file.
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def confirming(ask: Ask) -> Confirm:
    """Asks a person yes or no, before the chat begins."""

    async def confirm(question: str) -> bool:
        try:
            return await asking.yes_no(ask, question)
        except EndOfInput:
            raise Unable("the question was not answered, so nothing was done") from None

    return confirm


class Held:
    """The lock of the session that is open; a second process is told."""

    def __init__(self) -> None:
        self._lock: Lock | None = None

    def take(self, run: str) -> None:
        """Lock a session, and let go of the one before."""
        lock = locked(run)
        self.release()
        self._lock = lock

    def release(self) -> None:
        if self._lock is not None:
            self._lock.release()
            self._lock = None


def locked(run: str) -> Lock:
    """The lock of a session. Raises Unable where another process has it."""
    from statecli.store.lock import Lock, Locked

    lock = Lock(data_folder() / "locks" / f"{run}.lock")
    try:
        lock.take()
    except Locked:
        raise Unable(f"session {run} is open in another process") from None
    except OSError as error:
        way = "STATECLI_DATA names another folder"
        raise Unable(f"{lock.path}: {(error.strerror or str(error)).lower()}", way) from None
    return lock


def start(
    args: argparse.Namespace, opened: Opened, store: Store, data: Mapping[str, Any], custom: Custom
) -> Session:
    """A new session."""
    run: str = args.task_id or ""
    if run and not _ID.fullmatch(run):
        raise Unable(f"--task-id {plain(run)}: letters, digits, '.', '_' and '-', at most 64")
    if run and store.get(run) is not None:
        way = f"--resume {run} goes on with it"
        raise Unable(f"there is already a session '{run}'", way)
    try:
        return Session.start(
            opened.graph,
            store,
            path=os.path.realpath(opened.path),
            text=opened.text,
            data=data,
            run=run,
            first_line=True,
            custom=custom,
        )
    except Misfit as error:
        raise Unable(plain(str(error))) from None


async def resume(
    args: argparse.Namespace,
    opened: Opened,
    store: Store,
    held: Held,
    show: Callable[[str], None],
    ask: Ask,
    *,
    terminal: bool,
) -> Session:
    """A session where it was left: its last messages are shown, and what changed since."""
    stored = find(store, args.resume) if args.resume else _newest(opened.path, store)
    held.take(stored.run)
    graph = opened.graph
    session = Session.open(graph, store, stored.run, path=stored.path)
    if session.snapshot.status == "ended":
        way = f"--fork {stored.run}@N goes back to event N; statecli sessions show lists them"
        raise Unable(f"session {stored.run} has ended", way)
    note = ""
    if stored.digest != digest(opened.text):
        note = changed(stored.text, opened.text, opened.path)
        tell(plain(f"the graph changed since: {note}"))
    if session.snapshot.state not in graph.states:
        state = plain(session.snapshot.state)
        raise Unable(f"'{state}' is no state any more", _fork_points(graph, store, stored))
    show_last(session, show)
    left = session.open_step()
    if left.text:
        show(f"(interrupted) {left.text}")
    if not left.calls or await _repeated(session, left, ask, terminal=terminal):
        session.recover(note)
    else:
        session.set_aside(note)
        tell(f"'{plain(session.snapshot.state)}' waits: /continue runs it, /goto STATE leaves it")
    return session


async def _repeated(session: Session, left: Open, ask: Ask, *, terminal: bool) -> bool:
    """Whether calls that a step had sent when it was cut off are to be made again. They may have
    done their work, so nobody but the person can say."""
    listed = ", ".join(call.tool for call in left.calls)
    told = plain(f"{listed} was being called when this session stopped, and may have done its work")
    if not terminal:
        way = (
            f"resume it on a terminal, where you are asked whether to repeat it, or begin again "
            f"before it: --fork {session.run}@{left.entry}"
        )
        raise Unable(told, way)
    return await asking.yes_no(ask, f"{told}. Repeat it?")


def fork(args: argparse.Namespace, opened: Opened, store: Store) -> Session:
    """A new session with the events of another one up to a number."""
    run, at, number = args.fork.partition("@")
    if at and not number.isdecimal():
        raise Unable(f"--fork {plain(args.fork)}: write ID@N, N the number of an event")
    stored = find(store, run)
    try:
        session = Session.open(opened.graph, store, stored.run, path=stored.path).fork(
            int(number) if at else None
        )
    except ValueError as error:
        raise Unable(f"--fork {plain(args.fork)}: {error}") from None
    snapshot = session.snapshot
    if snapshot.status == "ended" or snapshot.state not in opened.graph.states:
        way = _fork_points(opened.graph, store, stored)
        store.remove(session.run)
        told = f"'{plain(snapshot.state)}' is no state any more"
        if snapshot.status == "ended":
            told = f"at event {session.number} session {stored.run} has ended"
        raise Unable(told, way)
    session.recover()
    return session


def find(store: Store, word: str) -> Stored:
    """The session that is named, by its id or the beginning of it."""
    found = [stored for stored in store.runs() if stored.run.startswith(word)]
    exact = [stored for stored in found if stored.run == word]
    if len(exact or found) != 1:
        said = "several sessions begin with" if found else "no session is named"
        raise Unable(f"{said} '{plain(word)}'", "statecli sessions list shows them")
    return (exact or found)[0]


def _newest(path: str, store: Store) -> Stored:
    """The newest unfinished session of a graph."""
    real = os.path.realpath(path)
    for stored in store.runs():
        if stored.path == real and stored.status != "ended":
            return stored
    raise Unable(f"no unfinished session of {path}", "without --resume a new one begins")


def _fork_points(graph: Graph, store: Store, stored: Stored) -> str:
    """Where a fork could begin: the last waits in states that the graph still has."""
    snapshot = Snapshot()
    points: list[tuple[Event, str]] = []
    for event in effective(store.events(stored.run)):
        snapshot = apply(graph, snapshot, event.body)
        if isinstance(event.body, Waiting) and snapshot.state in graph.states:
            points.append((event, snapshot.state))
    if not points:
        return "none of its states is left: begin a new one"
    listed = (f"--fork {stored.run}@{event.number} in '{plain(state)}'" for event, state in points)
    return "it can go on from: " + ", ".join(list(listed)[-5:])


def show_last(session: Session, show: Callable[[str], None], count: int = 4) -> None:
    """The last messages of a session that is gone on with; those that were cut off say so."""
    said = (event.body for event in session.store.events(session.run))
    partial = {body.id: cut(body) for body in said if isinstance(body, Answered)}
    for message in (session.snapshot.data.get("messages") or ())[-count:]:
        role = "> " if message.get("role") == "user" else ""
        show(f"{role}{message.get('content')}{partial.get(message.get('id'), '')}")


def changed(before: str, after: str, path: str) -> str:
    """What changed in a graph, in a few words: states that came, went, or read otherwise."""
    from statecli.load.loader import load

    old, new = load(path, before).graph, load(path, after).graph
    if old is None or new is None:
        return "its text"
    gone = [name for name in old.states if name not in new.states]
    came = [name for name in new.states if name not in old.states]
    parts = [f"without {', '.join(gone)}"] if gone else []
    parts += [f"with {', '.join(came)}"] if came else []
    other = [n for n in old.states if n in new.states and _reads_otherwise(old, new, n)]
    parts += [f"different in {', '.join(other)}"] if other else []
    return "; ".join(parts) or "its text, with the same states"


def _reads_otherwise(old: Graph, new: Graph, name: str) -> bool:
    return old.states[name].settings != new.states[name].settings


def scripted(provider: Provider) -> Mapping[str, Any]:
    """The values that a conversation file begins with."""
    return provider.conversation.data if isinstance(provider, ScriptProvider) else {}


# --- values that are given ------------------------------------------------------------------------


async def given(
    words: list[str], graph: Graph, before: Mapping[str, Any], ask: Ask, *, terminal: bool
) -> dict[str, Any]:
    """The values of `--input`, each by its field's type; required context that is missing is
    asked for on a terminal and an error elsewhere."""
    found = {**before, **dict(_input(word, graph) for word in words)}
    for name in _required(graph):
        field = graph.fields.get(name)
        if name in found or field is None or field.has_default:
            continue
        if not terminal:
            raise Unable(f"'{plain(name)}' must be given", f"--input {plain(name)}=VALUE")
        found[name] = await asking.value_of(ask, field, asking.about(graph, name) or name)
    return found


def _input(word: str, graph: Graph) -> tuple[str, Any]:
    from statecli.kernel.values import Unfit, parsed

    key, equals, text = word.partition("=")
    if not equals or not key:
        raise Unable(f"--input {plain(word)}: write KEY=VALUE")
    if key not in graph.fields and (graph.declares_fields or graph.is_plan or key == "messages"):
        names = [name for name in graph.fields if name != "messages"]
        hint = did_you_mean(key, names) or f"there are: {', '.join(names) or 'none'}"
        raise Unable(f"--input {plain(key)}: the graph has no such field", plain(hint))
    value = parsed(graph.fields.get(key), text)
    if isinstance(value, Unfit):
        raise Unable(f"--input {plain(key)}: {plain(value.reason)}")
    return key, value


def _required(graph: Graph) -> list[str]:
    """The context fields that a conversation needs from the start."""
    context = graph.settings.get("session_context")
    listed = context.get("fields") if isinstance(context, dict) else None
    return [
        item["id"]
        for item in (listed if isinstance(listed, list) else ())
        if isinstance(item, dict)
        and item.get("required") is True
        and isinstance(item.get("id"), str)
    ]
