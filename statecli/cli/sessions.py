"""`statecli sessions`: what is kept of earlier conversations."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from statecli.cli.output import tell, write
from statecli.cli.running import near, open_store
from statecli.model.nearest import did_you_mean
from statecli.model.unable import Unable
from statecli.text.excerpt import columns, plain

if TYPE_CHECKING:
    from statecli.model.event import Event
    from statecli.model.ports import Store, Stored

NAME = "sessions"
HELP = "list, show, resume, fork, export and remove stored conversations"
ACTIONS = ("list", "show", "resume", "fork", "export", "rm", "prune")
DAY = 86_400


def add(parser: argparse.ArgumentParser) -> None:
    """The options, in the order of `--help`."""
    parser.add_argument(
        "action", nargs="?", default="list", metavar="ACTION", help=f"one of: {', '.join(ACTIONS)}"
    )
    parser.add_argument("session", nargs="?", metavar="ID", help="the session (fork: ID@N)")
    parser.add_argument("--store", metavar="URL", help="where sessions are kept")
    parser.add_argument("-o", "--output", metavar="FILE", help="export: write to this file")
    parser.add_argument(
        "--days", type=int, default=30, metavar="N", help="prune: what was not used for N days"
    )
    parser.add_argument("--json", action="store_true", help="list and show as JSON")


def run(args: argparse.Namespace) -> int:
    """One action on the store."""
    if args.action not in ACTIONS:
        hint = did_you_mean(args.action, ACTIONS) or f"one of: {', '.join(ACTIONS)}"
        raise Unable(f"sessions: nothing is named '{args.action}'", hint)
    store = open_store(args)
    try:
        if args.action in ("list", "prune"):
            return {"list": _list, "prune": _prune}[args.action](args, store)
        stored = _find(args, store)
        action: Callable[[argparse.Namespace, Store, Stored], int] = {
            "show": _show,
            "resume": _resume,
            "fork": _fork,
            "export": _export,
            "rm": _remove,
        }[args.action]
        return action(args, store, stored)
    finally:
        store.close()


def _find(args: argparse.Namespace, store: Store) -> Stored:
    """The session that is named, by its id or the beginning of it."""
    from statecli.cli.opening import find

    word = args.session
    if not word:
        raise Unable(f"sessions {args.action}: which one?", "statecli sessions list shows them")
    return find(store, word.partition("@")[0] if args.action == "fork" else word)


def _list(args: argparse.Namespace, store: Store) -> int:
    runs = store.runs()
    if args.json:
        import json

        rows = [_plain(stored) for stored in runs]
        write([json.dumps(rows, indent=1) + "\n"])
        return 0
    if not runs:
        tell("no sessions yet; statecli chat GRAPH begins one")
        return 0
    rows_ = [
        (stored.run, _when(stored.updated), stored.status, stored.state, str(stored.events),
         near(stored.path))
        for stored in runs
    ]  # fmt: skip
    write(_table([("session", "last used", "status", "state", "events", "graph"), *rows_]))
    return 0


def _table(rows: list[tuple[str, ...]]) -> list[str]:
    """Rows with aligned columns; wide characters count as what a terminal shows."""
    safe = [[plain(cell).replace("\n", " ") for cell in row] for row in rows]
    widths = [max(columns(row[at]) for row in safe) for at in range(len(rows[0]))]
    lines: list[str] = []
    for row in safe:
        cells = [
            cell + " " * (width - columns(cell)) for cell, width in zip(row, widths, strict=True)
        ]
        lines.append("  ".join(cells).rstrip() + "\n")
    return lines


def _show(args: argparse.Namespace, store: Store, stored: Stored) -> int:
    """The conversation as it was, what it took, and where it stands."""
    from statecli.session.account import account
    from statecli.session.open_step import effective

    events = store.events(stored.run)
    sums = account(events)
    if args.json:
        import json

        row = {**_plain(stored), "text": stored.text, **sums.plain()}
        write([json.dumps(row) + "\n"])
        return 0
    head = [
        f"session {stored.run}, {stored.status} in '{stored.state}'",
        f"graph   {near(stored.path)}",
        f"begun   {_when(stored.created)}, last used {_when(stored.updated)}",
        f"events  {stored.events}",
        *sums.lines(),
    ]
    if stored.parent:
        head.append(f"forked  from {stored.parent} after event {stored.fork_at}")
    shown = (plain(line) for line in _lines(effective(events)))
    write(f"{line}\n" for line in [*map(plain, head), "", *shown])
    return 0


def _lines(events: list[Event]) -> Iterator[str]:
    """The events that a reader of the conversation wants, with their numbers (for forks)."""
    from statecli.model.event import (
        Answered,
        Called,
        Chose,
        Edited,
        Ended,
        Entered,
        Failed,
        Jumped,
        Limited,
        Refused,
        Returned,
        Said,
    )
    from statecli.session.account import call_words, choice

    made = {event.body.call for event in events if isinstance(event.body, Called)}
    for event in events:
        body, number = event.body, f"{event.number:>5}"
        indent = "\n" + " " * 8
        if isinstance(body, Said):
            yield f"{number} > {body.text.replace(chr(10), indent)}"
        elif isinstance(body, Answered) and body.text:
            cut = " (cut off)" if body.partial else ""
            yield f"{number}   {body.text.replace(chr(10), indent)}{cut}"
        elif isinstance(body, Chose) and body.answers:
            yield f"{number}   {choice(body)}"
        elif isinstance(body, Returned) and body.call not in made:
            continue  # why it was not made stands there already
        elif isinstance(body, Called | Returned | Refused):
            yield f"{number}   {call_words(body).replace(chr(10), indent)}"
        elif isinstance(body, Entered | Jumped):
            yield f"{number}   -> {body.state}"
        elif isinstance(body, Edited):
            yield f"{number}   {body.key} was set by hand"
        elif isinstance(body, Limited | Failed):
            text = body.message if isinstance(body, Limited) else body.error
            yield f"{number}   {event.name}: {text}"
        elif isinstance(body, Ended):
            yield f"{number}   the end"


def _resume(args: argparse.Namespace, store: Store, stored: Stored) -> int:
    """The same as `chat GRAPH --resume ID`, with the graph that the session knows."""
    store.close()
    from statecli.cli.app import main

    words = ["chat", stored.path, "--resume", stored.run]
    return main(words + (["--store", args.store] if args.store else []))


def _fork(args: argparse.Namespace, store: Store, stored: Stored) -> int:
    from statecli.load.loader import load
    from statecli.session.session import Session

    at = args.session.partition("@")[2]
    if "@" in args.session and not at.isdecimal():
        raise Unable(f"sessions fork {args.session}: write ID@N, N the number of an event")
    graph = load(stored.path, stored.text).graph
    if graph is None:
        raise Unable(f"the graph of session {stored.run} cannot be read any more")
    try:
        forked = Session.open(graph, store, stored.run).fork(int(at) if at else None)
    except ValueError as error:
        raise Unable(f"sessions fork {args.session}: {error}") from None
    write([f"{forked.run}\n"])
    tell(f"go on with: statecli sessions resume {forked.run}")
    return 0


def _export(args: argparse.Namespace, store: Store, stored: Stored) -> int:
    """Every event as one JSON line."""
    from statecli.store.rows import line

    lines = [line(event) + "\n" for event in store.events(stored.run)]
    if args.output:
        from statecli.text.whole_file import write_file

        write_file(args.output, "".join(lines).encode())
        tell(f"{len(lines)} events in {args.output}")
    else:
        write(lines)
    return 0


def _remove(_: argparse.Namespace, store: Store, stored: Stored) -> int:
    """Remove a session for good, unless another process talks in it."""
    from statecli.cli.opening import locked

    lock = locked(stored.run)
    store.remove(stored.run)
    lock.release()
    tell(f"session {stored.run} is removed")
    return 0


def _prune(args: argparse.Namespace, store: Store) -> int:
    """Remove what nobody used for some days; sessions that are open stay."""
    from statecli.cli.opening import locked

    if args.days < 0:
        raise Unable("--days: at least 0")
    gone = 0
    for stored in store.runs():
        if stored.updated > time.time() - args.days * DAY:
            continue
        try:
            lock = locked(stored.run)
        except Unable:
            continue
        store.remove(stored.run)
        lock.release()
        gone += 1
    tell(f"{gone} session{'' if gone == 1 else 's'} removed")
    return 0


def _when(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def _plain(stored: Stored) -> dict[str, object]:
    return {key: value for key, value in stored._asdict().items() if key != "text"}
