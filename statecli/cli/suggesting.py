"""`test --suggest`: a shortest conversation for each transition that was not taken."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Sequence

from statecli.cli.output import write
from statecli.discover import reason_of
from statecli.model.graph import KINDS
from statecli.model.unable import Unable
from statecli.scenario.coverage import GraphCoverage
from statecli.scenario.job import Graph
from statecli.scenario.suggest import Suggestion, in_words, suggestions
from statecli.session.session import digest
from statecli.text.excerpt import harmless, plain
from statecli.text.whole_file import write_file


def suggested(args: argparse.Namespace, graphs: Sequence[tuple[Graph, GraphCoverage]]) -> None:
    """Show the suggestions of every graph, or write them."""
    for opened, coverage in graphs:
        wanted = [w.key for w in coverage.ways if not w.taken and not w.never]
        path = coverage.path
        for way in coverage.ways:
            if way.never and not way.taken:
                title = harmless(f"{path}: {in_words(way.key)}")
                write([f"{title}: nothing can take it: {harmless('; '.join(way.never))}\n"])
        if not wanted:
            write([f"{harmless(path)}: every transition that can be was taken\n"])
            continue
        graph = opened.loaded.graph
        assert graph is not None
        strange = next((s.kind for s in graph.states.values() if s.kind not in KINDS), None)
        if strange is not None:
            why = f"what states of the kind '{strange}' do is not known; --random N walks them"
            write([f"{harmless(path)}: nothing is suggested: {plain(why)}\n"])
            continue
        folder = args.write or os.path.join(os.path.dirname(path), "tests")
        name = os.path.relpath(path, folder).replace(os.sep, "/")
        found, complete = suggestions(graph, wanted, name=name, digest=digest(opened.text))
        shown: set[object] = set()
        # What takes many ways comes first: it makes others superfluous.
        for one in sorted(found, key=lambda one: -len(one.also)):
            if one.key in shown:
                continue
            shown |= {one.key, *one.also}
            write([_told(args, path, one, complete=complete)])


def _told(args: argparse.Namespace, path: str, one: Suggestion, *, complete: bool) -> str:
    """One suggestion as it is printed: the file, or where it was written."""
    title = f"{path}: {in_words(one.key)}"
    if one.never:
        return f"{harmless(title)}: nothing can take it, which is proved\n"
    if not one.text:
        why = (
            "no conversation takes it, as far as can be seen"
            if complete
            else ("no conversation was found within the budget of the search")
        )
        return f"{harmless(title)}: {why}\n"
    more = f"; also takes {'; '.join(map(in_words, one.also))}" if one.also else ""
    turns = f"{one.turns} turn{'' if one.turns == 1 else 's'}"
    head = f"{harmless(title)}: {turns}{harmless(more)}\n"
    if args.write:
        file = written(args.write, _file_name(path, one), one.text)
        return f"{head.rstrip()} -> {file}\n"
    return head + "".join(f"    {line}\n" for line in plain(one.text).splitlines())


def _file_name(path: str, one: Suggestion) -> str:
    stem = os.path.splitext(os.path.basename(path))[0]
    source, origin, number, target = one.key
    return f"{stem}.{source}-{number if number >= 0 else origin}-{target}"


def written(folder: str, name: str, text: str) -> str:
    """Write a conversation into a folder; one that is there is not overwritten."""
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise Unable(f"--write {folder}: {reason_of(error)}") from None
    stem = re.sub(r"[^\w.-]+", "_", name)[:120]
    path, count = os.path.join(folder, f"{stem}.yaml"), 1
    while os.path.lexists(path):
        count += 1
        path = os.path.join(folder, f"{stem}-{count}.yaml")
    write_file(path, text.encode("utf-8", "replace"))
    return path
