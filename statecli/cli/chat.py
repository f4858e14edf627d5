"""`statecli chat`: talk to a graph in the terminal, or pipe lines through it."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from statecli.cli.output import tell, wants_color, write
from statecli.cli.running import (
    Opened,
    chosen_model,
    custom_kinds,
    data_folder,
    open_graph,
    open_store,
    values,
)
from statecli.model.nearest import did_you_mean
from statecli.model.unable import Unable

if TYPE_CHECKING:
    from statecli.chat.repl import TerminalLines, TerminalScreen
    from statecli.model.graph import Graph

NAME = "chat"
HELP = "talk to a graph in the terminal, or pipe lines through it"


def add(parser: argparse.ArgumentParser) -> None:
    """The options, in the order of `--help`."""
    flag = "store_true"
    parser.add_argument("graph", metavar="GRAPH", help="the graph to run")
    group = parser.add_argument_group("who answers")
    group.add_argument(
        "--model",
        metavar="NAME",
        help="rules (asks you; the default), human (you play the model), script:FILE",
    )
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
    group = parser.add_argument_group("where it stops")
    group.add_argument("--halt-before", action="append", default=[], metavar="STATE")
    group.add_argument("--halt-after", action="append", default=[], metavar="STATE")
    group.add_argument("--step", action=flag, help="stop before every step")
    group.add_argument("--max-steps", type=int, metavar="N", help="steps between two waits")
    group = parser.add_argument_group("what is shown")
    group.add_argument("--json", action=flag, help="events as JSON lines")
    group.add_argument("--trace", metavar="FILE", help="also write the events to this file")
    group = parser.add_argument_group("trust")
    group.add_argument("--force", action=flag, help="run a graph that has errors")
    group.add_argument(
        "--allow-plugins", action=flag, help="run code beside the graph (state_*.py)"
    )


def run(args: argparse.Namespace) -> int:
    """Talk until the run ends or the input does."""
    import asyncio

    opened = open_graph(args)
    if opened.graph is None:
        return 1
    return asyncio.run(_talk(args, opened))


async def _talk(args: argparse.Namespace, opened: Opened) -> int:
    from statecli.chat.lines import Lines, PipedLines
    from statecli.chat.screen import JsonScreen, Screen
    from statecli.chat.talk import Stops, Talk
    from statecli.model.ports import Unanswered
    from statecli.session.world import SessionWorld

    graph = opened.graph
    assert graph is not None
    for name in [*args.halt_before, *args.halt_after]:
        if name not in graph.states:
            raise Unable(f"no state is named '{name}'", did_you_mean(name, graph.states))
    custom = custom_kinds(graph, args)
    provider, said = chosen_model(args.model, graph)
    terminal = sys.stdin.isatty() and sys.stdout.isatty() and not args.json
    screen: Screen = JsonScreen(show, tell) if args.json else Screen(show, tell, moves=terminal)
    lines: Lines = PipedLines(tell if args.json else show)
    if terminal:
        lines, screen = _terminal(args, graph)
    (tell if args.json else show)(f"model: {provider.label}{said}")
    store = open_store(args)
    session, lock = opened.session(
        args, store, values(args, graph, terminal=terminal), show, custom
    )
    talk = Talk(
        session,
        SessionWorld(graph, provider, lines, data_folder() / "skills"),
        screen,
        lines,
        stops=Stops(set(args.halt_before), set(args.halt_after), args.step),
        terminal=terminal,
        models=lambda name: chosen_model(name, graph)[0],
    )
    if args.trace:
        talk.trace(Path(args.trace))
    try:
        return await talk.run()
    except Unanswered as error:
        raise Unable(str(error)) from None
    finally:
        if talk.snapshot.status != "ended" and args.store != "memory":
            run_ = talk.session.run
            tell(f"session {run_}; go on with: statecli chat {args.graph} --resume {run_}")
        lock.release()
        store.close()


def _terminal(args: argparse.Namespace, graph: Graph) -> tuple[TerminalLines, TerminalScreen]:
    from statecli.chat.repl import TerminalLines, TerminalScreen

    screen = TerminalScreen(show, color=wants_color(args.no_color))
    return TerminalLines(graph, show, history=data_folder() / "history"), screen


def show(text: str) -> None:
    write([f"{text}\n"])
