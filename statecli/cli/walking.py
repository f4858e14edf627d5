"""`test --random` and `--persona`: people who are played, by chance or by a model."""

from __future__ import annotations

import argparse
import os

from statecli.cli.conversations import Conversations, Graphs
from statecli.cli.output import write
from statecli.cli.suggesting import written
from statecli.model.unable import Unable
from statecli.scenario.job import Graph
from statecli.scenario.walks import told, walks
from statecli.session.session import digest
from statecli.text.conversation import write as as_file
from statecli.text.excerpt import harmless, plain


def walk(args: argparse.Namespace, files: Conversations) -> int:
    """Walk every graph; 1 where a walk went wrong."""
    graphs = Graphs(args)
    names = [args.graph] if args.graph else sorted(files.graphs)
    if not names:
        raise Unable("which graph?", "statecli test --random 100 GRAPH")
    code = 0
    for name in names:
        if len(names) == 1:
            opened = graphs.open(name)
        else:
            try:
                opened = graphs.open(name)
            except Unable as error:
                write([f"{harmless(name)}: not walked: {plain(error.message)}\n"])
                continue
        if args.persona:
            from statecli.cli.simulating import simulated

            code = max(code, simulated(args, opened))
        if args.random is not None:
            code = max(code, _walked(args, opened))
    return code


def _walked(args: argparse.Namespace, opened: Graph) -> int:
    graph = opened.loaded.graph
    assert graph is not None
    found = walks(graph, args.random, args.seed, args.max_turns, opened.custom)
    write(f"{harmless(line)}\n" for line in told(found, opened.path))
    wrong = found.wrong()
    for one, count in wrong:
        times = f"{count} walk{'' if count == 1 else 's'}"
        write([f"  {one.status} in '{harmless(one.state)}': {harmless(one.why)} ({times})\n"])
        if args.write:
            stem = os.path.splitext(os.path.basename(opened.path))[0]
            name = f"{stem}.random.{args.seed}-{one.number}"
            relative = os.path.relpath(opened.path, args.write).replace(os.sep, "/")
            text = as_file(
                one.conversation,
                graph=relative,
                digest=digest(opened.text),
                about=f"walk {one.number} of seed {args.seed}: {one.status} in '{one.state}'",
                compact=True,
            )
            write([f"    replay it: statecli test {written(args.write, name, text)}\n"])
    if wrong and not args.write:
        write(["  --write DIR writes a conversation that shows each of them\n"])
    return 1 if wrong else 0
