"""`test --coverage`, `--fail-under` and `--suggest`: what the conversations have seen of the
graphs."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from statecli.cli.conversations import Conversations, Graphs
from statecli.cli.output import tell, write
from statecli.discover import identity
from statecli.model.unable import Unable
from statecli.report.json import dumps
from statecli.scenario.counts import added
from statecli.scenario.coverage import GraphCoverage, report, table, total
from statecli.scenario.job import Graph, Result
from statecli.session.session import digest
from statecli.text.excerpt import harmless, plain
from statecli.text.whole_file import write_file


def covered(args: argparse.Namespace, files: Conversations, results: Sequence[Result]) -> int:
    """Show or write the coverage; the exit code that it means."""
    opened = _graphs(args, files, results)
    graphs = [graph for _, graph in opened]
    if args.coverage:
        before = [] if args.quiet or not results else [""]
        write(f"{harmless(line)}\n" for line in (*before, *table(graphs), ""))
    if args.coverage_file:
        write_file(args.coverage_file, f"{dumps(report(graphs))}\n".encode("utf-8", "replace"))
    code = 0
    percent = total(graphs).total.percent
    if args.fail_under is not None and percent < args.fail_under:
        tell(f"coverage is {int(percent * 10) / 10:g} %, below {args.fail_under:g} %")
        code = 1
    if args.suggest:
        from statecli.cli.suggesting import suggested

        suggested(args, opened)
    return code


def _graphs(
    args: argparse.Namespace, files: Conversations, results: Sequence[Result]
) -> list[tuple[Graph, GraphCoverage]]:
    """The coverage of every graph that a conversation names, or that was named or found."""
    graphs = Graphs(args)
    paths = {identity(r.graph): r.graph for r in results if r.graph}
    if not args.graph:
        for path in files.graphs:
            paths.setdefault(identity(path), path)
    found: list[tuple[Graph, GraphCoverage]] = []
    for key, path in sorted(paths.items(), key=lambda item: item[1]):
        try:
            opened = graphs.open(path)
        except Unable as error:
            tell(plain(f"{path}: not counted: {error.message}"))
            continue
        mine = [r for r in results if r.graph and identity(r.graph) == key]
        counts = added(r.counts for r in mine if r.counts is not None)
        names = [r.path for r in mine]
        coverage = GraphCoverage(
            path.replace("\\", "/"),
            digest(opened.text),
            opened.loaded,
            opened.config,
            counts,
            names,
        )
        found.append((opened, coverage))
    return found
