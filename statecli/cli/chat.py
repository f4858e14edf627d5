"""`statecli chat`: talk to a graph in the terminal, or pipe lines through it."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from statecli.cli.one_graph import named, spare
from statecli.cli.output import tell, wants_color, write
from statecli.cli.running import Opened, custom_kinds, data_folder, near, open_graph, open_store
from statecli.model.nearest import did_you_mean
from statecli.model.unable import Unable
from statecli.text.excerpt import plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from statecli.chat.lines import Lines
    from statecli.chat.screen import Screen
    from statecli.chat.talk import Stops
    from statecli.cli.opening import Held
    from statecli.engine.advance import Custom
    from statecli.llm.scrub import Veil
    from statecli.model.graph import Graph
    from statecli.model.ports import Store
    from statecli.session.session import Session

NAME = "chat"
HELP = "talk to a graph in the terminal, or pipe lines through it"


def add(parser: argparse.ArgumentParser) -> None:
    """The options, in the order of `--help`."""
    flag = "store_true"
    parser.add_argument("graph", nargs="?", metavar="GRAPH", help="the graph to run")
    group = parser.add_argument_group("who answers")
    group.add_argument(
        "--model",
        metavar="NAME",
        help="rules (asks you; the default), human (you play the model), script:FILE, "
        "replay:FILE, or a model: openai:NAME, ollama:NAME, NAME",
    )
    group.add_argument("--base-url", metavar="URL", help="where the model is served")
    group = parser.add_argument_group("the session")
    group.add_argument(
        "--resume", nargs="?", const="", metavar="ID", help="go on with a session (the newest)"
    )
    group.add_argument("--fork", metavar="ID@N", help="begin a new session after event N of ID")
    group.add_argument("--task-id", metavar="ID", help="the id of the new session")
    group.add_argument("--user-id", metavar="ID", help="who talks, told to every tool")
    group.add_argument("--store", metavar="URL", help="where sessions are kept: a file, or memory")
    group.add_argument(
        "--input", action="append", default=[], metavar="KEY=VALUE", help="a value from the start"
    )
    group = parser.add_argument_group("where it stops (off a terminal the chat ends there)")
    group.add_argument(
        "--halt-before",
        action="append",
        default=[],
        metavar="STATE",
        help="before this state runs",
    )
    group.add_argument(
        "--halt-after",
        action="append",
        default=[],
        metavar="STATE",
        help="once this state has run and its way out is chosen",
    )
    group.add_argument("--step", action=flag, help="before every step")
    group.add_argument(
        "--max-steps", type=int, metavar="N", help="after N steps without the person"
    )
    group.add_argument(
        "--budget-tokens", type=int, metavar="N", help="once the model has used N tokens"
    )
    group.add_argument("--budget-cost", type=float, metavar="X", help="once the model has cost X")
    group.add_argument("--timeout", type=float, metavar="S", help="after S seconds at work")
    group = parser.add_argument_group("what is shown")
    group.add_argument("--json", action=flag, help="events as JSON lines")
    group.add_argument("--trace", metavar="FILE", help="also write the events to this file")
    group.add_argument(
        "--record", metavar="FILE", help="keep the conversation, for --model replay:FILE"
    )
    group.add_argument("--no-stream", action=flag, help="each answer as a whole, not as it comes")
    group = parser.add_argument_group("trust")
    group.add_argument("--force", action=flag, help="run a graph that has errors")
    group.add_argument(
        "--allow-plugins",
        action=flag,
        help="run code beside the graph (state_*.py, tools in Python)",
    )
    group.add_argument(
        "--allow-tools",
        action="append",
        default=[],
        metavar="NAME",
        help="start and call this tool without asking: a server, server.tool or all (default: ask)",
    )


def run(args: argparse.Namespace) -> int:
    """Talk until the run ends or the input does."""
    import asyncio

    if args.graph is None and args.resume and os.path.isfile(args.resume):
        args.graph, args.resume = args.resume, ""  # --resume GRAPH: the newest session of it
    if args.graph is None:
        raise Unable("which graph?", "statecli chat GRAPH")
    for option, file in (("--record", args.record), ("--trace", args.trace)):
        spare(option, file, args.graph)
    spare("--trace", args.trace, args.record)
    named(args)
    if args.record:
        from statecli.text.whole_file import may_write

        may_write(args.record)  # before there is a session
    if args.record and (args.resume is not None or args.fork):
        way = "begin a new session; statecli sessions export ID writes what happened in one"
        raise Unable("--record keeps a conversation from its beginning", way)
    if args.input and (args.resume is not None or args.fork):
        raise Unable("--input gives values to a new session", "/set changes one in a chat")
    opened = open_graph(args)
    if opened is None:
        return 1
    for name in [*args.halt_before, *args.halt_after]:
        if name not in opened.graph.states:
            raise Unable(f"no state is named '{name}'", did_you_mean(name, opened.graph.states))
    try:
        return asyncio.run(_talk(args, opened))
    except asyncio.CancelledError:  # SIGTERM in the middle of a step
        raise KeyboardInterrupt from None


async def _talk(args: argparse.Namespace, opened: Opened) -> int:
    from statecli.chat.talk import Talk
    from statecli.cli import opening
    from statecli.cli.models import Models
    from statecli.cli.tooling import toolbox
    from statecli.llm.asking import WAY_OUT
    from statecli.llm.scrub import Veil, known_secrets
    from statecli.model.ports import EndOfInput, NotAllowed, Unanswered
    from statecli.session.world import SessionWorld

    graph = opened.graph
    custom = custom_kinds(opened, args)
    typed = sys.stdin is not None and sys.stdin.isatty()
    terminal = typed and sys.stdout.isatty() and not args.json
    shown = Shown(Veil(known_secrets()))
    say = shown.noted if args.json else shown.said
    lines, screen = _ends(args, graph, shown, terminal=terminal)
    models = Models(
        opened,
        model=args.model or "",
        base_url=args.base_url or "",
        streams=not args.no_stream,
    )
    provider, first = await models.chosen(opening.confirming(lines) if terminal else None)
    box = toolbox(args, opened, lines, screen)
    say(plain(first))
    warning = models.warning(provider)
    if warning:
        tell(warning)
    store = _traced(args, open_store(args, opened.config))
    held = opening.Held()
    talk: Talk | None = None
    before = dict(opening.scripted(provider))
    try:
        session = await _session(args, opened, store, held, lines, say, before, custom, terminal)
        session.custom = custom
        box.allowance.recall(store.events(session.run))
        skills, user = data_folder() / "skills", args.user_id
        world = SessionWorld(graph, provider, lines, skills, user_id=user, toolbox=box)
        talk = Talk(
            session,
            world,
            screen,
            lines,
            stops=_stops(args),
            terminal=terminal,
            models=models.named,
            record=args.record or "",
            changed=lambda session: held.take(session.run),
        )
        if args.resume is not None or args.fork:
            talk.recording.gap = "its beginning was in another chat"
        return await talk.run()
    except EndOfInput:
        return 0
    except Unanswered as error:
        way = error.way if isinstance(error, NotAllowed) else WAY_OUT
        raise Unable(plain(str(error)), plain(way)) from None
    finally:
        await box.close()
        if talk is not None and talk.snapshot.status != "ended" and args.store != "memory":
            run_ = talk.session.run
            shown.noted(f"session {run_}; go on with: {_again(args, run_)}")
        if talk is not None:
            await talk.close()
        held.release()
        store.close()


async def _session(
    args: argparse.Namespace,
    opened: Opened,
    store: Store,
    held: Held,
    lines: Lines,
    say: Callable[[str], None],
    before: dict[str, Any],
    custom: Custom,
    terminal: bool,
) -> Session:
    """The session that the options mean, locked. `before` are values of a new one."""
    from statecli.cli import opening

    if args.resume is not None:
        return await opening.resume(
            args, opened, store, held, lambda text: say(plain(text)), lines, terminal=terminal
        )
    if args.fork:
        session = opening.fork(args, opened, store)
    else:
        data = await opening.given(args.input, opened.graph, before, lines, terminal=terminal)
        session = opening.start(args, opened, store, data, custom)
    held.take(session.run)
    return session


def _stops(args: argparse.Namespace) -> Stops:
    from statecli.chat.talk import Stops

    resumed = args.resume is not None
    return Stops(set(args.halt_before), set(args.halt_after), args.step, passing=resumed)


class Shown(NamedTuple):
    """What a person gets to see: no secret of the environment is in it."""

    veil: Veil

    def said(self, text: str) -> None:
        show(self.veil.text(text))

    def noted(self, text: str) -> None:
        tell(self.veil.text(text))

    def raw(self, text: str) -> None:
        write([self.veil.text(text)])


def _ends(
    args: argparse.Namespace, graph: Graph, shown: Shown, *, terminal: bool
) -> tuple[Lines, Screen]:
    """Where lines come from and where events go."""
    if terminal:
        from statecli.chat.repl import TerminalLines
        from statecli.chat.terminal import TerminalScreen

        color = wants_color(args.no_color)
        screen = TerminalScreen(graph, shown.raw, color=color)
        kept = data_folder() / "history"
        return TerminalLines(graph, screen, color=color, history=kept), screen
    from statecli.chat.lines import PipedLines
    from statecli.chat.screen import Screen, SilentScreen

    if args.json:
        return PipedLines(shown.noted), SilentScreen(graph, shown.noted, shown.noted)
    return PipedLines(shown.said), Screen(graph, shown.said, shown.noted, moves=False)


def _traced(args: argparse.Namespace, store: Store) -> Store:
    """The store, with every event also written where the options say."""
    from statecli.store.traced import TracedStore

    if args.json:
        store = TracedStore(store, show)
    if args.trace:
        trace = _Trace(args.trace)
        store = TracedStore(store, trace.write, trace.close)
    return store


class _Trace:
    """A file that grows by a line for each event."""

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            self._file = open(path, "a", encoding="utf-8")  # noqa: SIM115 - until it is closed
        except OSError as error:
            raise self._unable(error) from None

    def write(self, line: str) -> None:
        try:
            self._file.write(f"{line}\n")
            self._file.flush()
        except OSError as error:
            raise self._unable(error) from None

    def close(self) -> None:
        self._file.close()

    def _unable(self, error: OSError) -> Unable:
        return Unable(f"--trace {self.path}: {(error.strerror or str(error)).lower()}")


def _again(args: argparse.Namespace, run_: str) -> str:
    """The command that goes on with a session."""
    words = ["statecli", "chat", near(args.graph), "--resume", run_]
    if args.store:
        words += ["--store", args.store]
    if args.model:
        # A file has said all that it says.
        played = args.model.startswith(("script:", "replay:"))
        words += ["--model", "NAME" if played else args.model]
    if args.base_url:
        from statecli.llm.servers import shown

        words += ["--base-url", shown(args.base_url)]
    for name in args.allow_tools:
        words += ["--allow-tools", name]
    return shlex.join(words + (["--allow-plugins"] if args.allow_plugins else []))


def show(text: str) -> None:
    write([f"{text}\n"])
