"""What every command that runs a graph needs: the graph, who answers, the store, the session."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from statecli.cli.output import tell
from statecli.model.nearest import did_you_mean
from statecli.model.unable import Unable

if TYPE_CHECKING:
    from statecli.engine.advance import Custom
    from statecli.model.graph import Graph
    from statecli.model.ports import Provider, Store
    from statecli.session.session import Session
    from statecli.store.lock import Lock

MODELS = ("rules", "human", "script:FILE")


def data_folder() -> Path:
    """The person's data folder for statecli (STATECLI_DATA, XDG_DATA_HOME, APPDATA)."""
    named = os.environ.get("STATECLI_DATA")
    if named:
        return Path(named)
    if sys.platform == "win32":  # pragma: no cover
        return Path(os.environ.get("APPDATA", Path.home())) / "statecli"
    base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base) / "statecli"


@dataclass
class Opened:
    """A graph that may be run; `graph` None after its errors were shown."""

    path: str
    text: str
    graph: Graph | None

    def session(
        self,
        args: argparse.Namespace,
        store: Store,
        data: Mapping[str, Any],
        show: Callable[[str], None],
        custom: Custom,
    ) -> tuple[Session, Lock]:
        """The session that the options mean: a new one, one to go on with, or a fork."""
        from statecli.session.session import Session

        assert self.graph is not None
        if args.fork:
            session = self._fork(args.fork, store)
        elif args.resume is not None:
            session = self._resume(args.resume, store, show)
        else:
            if args.task_id and store.get(args.task_id) is not None:
                way = f"--resume {args.task_id} goes on with it"
                raise Unable(f"there is already a session '{args.task_id}'", way)
            session = Session.start(
                self.graph,
                store,
                path=os.path.realpath(self.path),
                text=self.text,
                data=data,
                run=args.task_id or "",
                first_line=True,
                custom=custom,
            )
        session.custom = custom
        return session, locked(session.run)

    def _resume(self, run: str, store: Store, show: Callable[[str], None]) -> Session:
        from statecli.session.session import Session, digest

        assert self.graph is not None
        run = run or self._newest(store)
        stored = store.get(run)
        if stored is None:
            raise Unable(f"no session is named '{run}'", "statecli sessions list shows them")
        session = Session.open(self.graph, store, run, path=stored.path)
        note = ""
        if stored.digest != digest(self.text):
            note = changed(stored.text, self.text, self.path)
            tell(f"the graph changed since: {note}")
            if session.snapshot.state not in self.graph.states:
                way = f"statecli chat {self.path} --fork {run}@N begins before that"
                raise Unable(f"'{session.snapshot.state}' is no state any more", way)
        show_last(session, show)
        left = session.recover(note)
        if left.text:
            show(f"(interrupted) {left.text}")
        for call in left.calls:
            tell(f"a call of {call.tool} was open; it may have happened already")
        return session

    def _newest(self, store: Store) -> str:
        path = os.path.realpath(self.path)
        for stored in store.runs():
            if stored.path == path and stored.status != "ended":
                return stored.run
        raise Unable(f"no unfinished session of {self.path}", "without --resume a new one begins")

    def _fork(self, word: str, store: Store) -> Session:
        from statecli.session.session import Session

        assert self.graph is not None
        run, at, number = word.partition("@")
        if store.get(run) is None:
            raise Unable(f"no session is named '{run}'", "statecli sessions list shows them")
        if at and not number.isdigit():
            raise Unable(f"--fork {word}: write ID@N, N the number of an event")
        try:
            return Session.open(self.graph, store, run).fork(int(number) if at else None)
        except ValueError as error:
            raise Unable(f"--fork {word}: {error}") from None


def locked(run: str) -> Lock:
    """The lock of a session; a second process is told."""
    from statecli.store.lock import Lock, Locked

    lock = Lock(data_folder() / "locks" / f"{run}.lock")
    try:
        lock.take()
    except Locked:
        raise Unable(f"session {run} is open in another process") from None
    except OSError as error:
        raise Unable(
            f"{lock.path}: {error.strerror}", "STATECLI_DATA names another folder"
        ) from None
    return lock


def show_last(session: Session, show: Callable[[str], None], count: int = 4) -> None:
    """The last messages of a session that is gone on with."""
    from statecli.text.excerpt import plain

    for message in (session.snapshot.data.get("messages") or ())[-count:]:
        role = "> " if message.get("role") == "user" else ""
        show(plain(f"{role}{message.get('content')}"))


def changed(before: str, after: str, path: str) -> str:
    """What changed in a graph, in a few words: states that came and went."""
    from statecli.load.loader import load

    old, new = load(path, before).graph, load(path, after).graph
    if old is None or new is None:
        return "its text"
    gone = [name for name in old.states if name not in new.states]
    came = [name for name in new.states if name not in old.states]
    parts = [f"without {', '.join(gone)}"] if gone else []
    parts += [f"with {', '.join(came)}"] if came else []
    return "; ".join(parts) or "its text, with the same states"


def open_graph(args: argparse.Namespace) -> Opened:
    """Read and check a graph. One with errors is not run (unless --force)."""
    from statecli.lint.linter import lint
    from statecli.load.loader import load

    try:
        content = Path(args.graph).read_bytes()
    except OSError as error:
        raise Unable(f"{args.graph}: {(error.strerror or str(error)).lower()}") from None
    loaded = load(args.graph, content)
    errors = [d for d in lint(loaded) if d.severity == "error"]
    if loaded.graph is None or (errors and not args.force):
        for diagnostic in errors[:10]:
            start = diagnostic.span.start
            where = f"{args.graph}:{start.line}:{start.column}"
            tell(f"{where}: {diagnostic.message} [{diagnostic.rule}]")
        if loaded.graph is None and not errors:
            tell(f"{args.graph}: this is no graph")
        tell(f"{args.graph} has errors; statecli validate shows them" + _forced(loaded.graph))
        return Opened(args.graph, loaded.document.text, None)
    graph = loaded.graph
    for state in graph.states.values():
        if state.fans_out:
            way = "branches come in a later version; statecli validate and explain know them"
            raise Unable(f"'{state.name}' takes several ways at once (fanout: all)", way)
    if args.max_steps is not None:
        graph = graph.with_limits(max_steps=args.max_steps)
    return Opened(args.graph, loaded.document.text, graph)


def _forced(graph: Graph | None) -> str:
    return ", --force runs it all the same" if graph is not None else ""


def chosen_model(name: str | None, graph: Graph) -> tuple[Provider, str]:
    """Who answers, and where that came from, as the first line of a chat says it."""
    origin = ", from --model"
    if name is None:
        model = graph.settings.get("model")
        listed = model.get("name") if isinstance(model, dict) else model
        asked = os.environ.get("STATECLI_MODEL")
        if isinstance(listed, str) or asked:
            named = listed if isinstance(listed, str) else asked
            tell(f"the model '{named}' is not used: only {', '.join(MODELS)} are built in yet")
        name = "rules"
        origin = ", because no other model can be used" if listed or asked else ", none is named"
    if name == "rules":
        from statecli.llm.rules import RulesProvider

        return RulesProvider(), origin
    if name == "human":
        from statecli.llm.human import HumanProvider

        return HumanProvider(), origin
    if name.startswith("script:"):
        return _script(name.removeprefix("script:")), origin
    way = did_you_mean(name, ("rules", "human", "script:")) or f"one of: {', '.join(MODELS)}"
    raise Unable(f"the model '{name}' cannot be used", way)


def _script(file: str) -> Provider:
    from statecli.llm.script import ScriptProvider
    from statecli.text.conversation import BadConversation, read

    try:
        return ScriptProvider(read(file, Path(file).read_bytes()))
    except OSError as error:
        raise Unable(f"{file}: {(error.strerror or str(error)).lower()}") from None
    except BadConversation as error:
        raise Unable(str(error)) from None


def open_store(args: argparse.Namespace) -> Store:
    """Where sessions are kept: `--store`, else one file in the person's data folder."""
    if args.store == "memory":
        from statecli.store.memory import MemoryStore

        return MemoryStore()
    from statecli.store.sqlite import SqliteStore

    if args.store and "://" in args.store and not args.store.startswith("sqlite://"):
        raise Unable(f"--store {args.store}: only files, sqlite:///FILE and memory are built in")
    name = (args.store or "").removeprefix("sqlite:///").removeprefix("sqlite://")
    return SqliteStore(Path(name) if name else data_folder() / "sessions.db")


def custom_kinds(graph: Graph, args: argparse.Namespace) -> Custom:
    """The bodies of kinds that are not built in. Their code runs only with --allow-plugins."""
    from statecli.engine.advance import Custom
    from statecli.model.graph import KINDS

    unknown = [state for state in graph.states.values() if state.kind not in KINDS]
    if not unknown:
        return Custom()
    kind = unknown[0].kind
    if not args.allow_plugins:
        way = f"--allow-plugins runs the code of state_{kind}.py beside the graph"
        raise Unable(f"nothing here runs states of the kind '{kind}'", way)
    from statecli.kinds import custom

    return Custom(custom.load(graph, Path(args.graph).parent))


def values(args: argparse.Namespace, graph: Graph, *, terminal: bool) -> dict[str, Any]:
    """The values of `--input`, each by its field's type; required context that is missing is
    asked for on a terminal and an error elsewhere."""
    from statecli.kernel.values import Unfit, parsed

    found: dict[str, Any] = {}
    for word in args.input:
        key, equals, text = word.partition("=")
        if not equals or not key:
            raise Unable(f"--input {word}: write KEY=VALUE")
        value = parsed(graph.fields.get(key), text)
        if isinstance(value, Unfit):
            raise Unable(f"--input {key}: {value.reason}")
        found[key] = value
    for name, field in graph.fields.items():
        if field.origin != "context" or name in found or field.has_default:
            continue
        if _is_required(graph, name):
            if not terminal:
                raise Unable(f"'{name}' must be given", f"--input {name}=VALUE")
            found[name] = _asked(name, field)
    return found


def _is_required(graph: Graph, name: str) -> bool:
    context = graph.settings.get("session_context")
    listed = context.get("fields") if isinstance(context, dict) else None
    for item in listed if isinstance(listed, list) else ():
        if isinstance(item, dict) and item.get("id") == name:
            return item.get("required") is True
    return False


def _asked(name: str, field: Any) -> Any:
    from statecli.kernel.values import Unfit, parsed

    while True:
        try:
            value = parsed(field, input(f"{name}: "))
        except EOFError:
            raise Unable(f"'{name}' must be given", f"--input {name}=VALUE") from None
        if not isinstance(value, Unfit):
            return value
        tell(f"{value.reason}.")
