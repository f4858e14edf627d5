"""`test --persona`: a model plays the person, another (or the same) the graph."""

from __future__ import annotations

import argparse
import os

from statecli.cli.asked import Asked
from statecli.cli.output import write
from statecli.cli.suggesting import written
from statecli.scenario.job import Graph
from statecli.scenario.persona import Talked, talk
from statecli.scenario.walks import WRONG
from statecli.scenario.writing import expected_of
from statecli.session.drive import finished
from statecli.session.session import digest
from statecli.text.conversation import write as as_file
from statecli.text.excerpt import harmless, plain


def simulated(args: argparse.Namespace, opened: Graph) -> int:
    """Talk as each persona; 1 where a run went wrong."""
    graph = opened.loaded.graph
    assert graph is not None
    asked = Asked(args)
    model = asked.of(opened)
    code = 0
    for persona in args.persona:
        work = talk(graph, persona, model, most=args.max_turns, budget=args.budget_cost,
                    custom=opened.custom)  # fmt: skip
        found = finished(work, waits=True)
        write(_shown(opened.path, persona, found))
        if found.status in WRONG:
            code = 1
        if args.write:
            write([f"  kept in {_kept(args.write, opened, persona, found)}\n"])
    asked.close()
    return code


def _shown(path: str, persona: str, found: Talked) -> list[str]:
    """The conversation, and how it went."""
    lines = [f"{harmless(path)} with: {harmless(persona)}\n"]
    for message in found.whole.after.data.get("messages") or ():
        if message.get("role") in ("user", "assistant"):
            sign = "> " if message["role"] == "user" else ""
            lines.append(f"  {sign}{plain(str(message.get('content')))}\n".replace("\n  ", "\n"))
    turns, state = found.whole.lines, found.whole.after.state
    over = found.status in (*WRONG, "ended")
    parts = [f"{found.status if over else 'stopped'} in '{state}'"]
    parts += [] if over else [found.stopped]
    parts.append(f"{turns} turn{'' if turns == 1 else 's'}")
    parts += [f"{found.tokens:,} tokens"] if found.tokens else []
    parts += [f"cost {found.cost:.4f}"] if found.cost else []
    why = f": {found.why}" if found.status in WRONG else ""
    return [*lines, f"  {harmless(', '.join(parts) + why)}\n"]


def _kept(folder: str, opened: Graph, persona: str, found: Talked) -> str:
    """Write it as a conversation that runs offline."""
    turns = [
        {**turn, "expect": expected_of(seen)}
        for turn, seen in zip(found.turns, found.seen, strict=False)
        if turn  # the graph only began to wait
    ]
    stem = os.path.splitext(os.path.basename(opened.path))[0]
    text = as_file(
        turns,
        graph=os.path.relpath(opened.path, folder).replace(os.sep, "/"),
        digest=digest(opened.text),
        about=persona,
        compact=True,
    )
    return written(folder, f"{stem}.{persona[:40]}", text)
