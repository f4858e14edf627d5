"""From a drawing to bytes in a file or on standard output."""

from __future__ import annotations

import argparse
import json
import sys

from statecli.cli.one_graph import Examined, spare
from statecli.cli.output import tell, write, write_bytes
from statecli.model.unable import Unable
from statecli.render.drawing import Drawing, Look
from statecli.render.engine import Engine, find
from statecli.render.renderer import Request, renderer


def rendered(
    args: argparse.Namespace, to: str, found: Examined, drawing: Drawing, look: Look
) -> bytes:
    """The drawing in a format."""

    def engine(pdf: bool) -> Engine:
        return find(args.renderer or "", args.dot, pdf=pdf)

    def details() -> object:
        from statecli.cli import graph_text

        whole = range(len(found.facts.states))
        pieces = graph_text.pieces(found.facts, found.diagnostics, whole, "json", whole=True)
        return json.loads("".join(pieces))

    return renderer(to).render(
        Request(
            graph=found.graph,
            drawing=drawing,
            look=look,
            engine=engine,
            said=lambda line: tell(f"{found.path}: {line}"),
            details=details,
        )
    )


def spare_inputs(args: argparse.Namespace) -> None:
    """Raises Unable where -o names a file that is read."""
    for name in ("graph", "trace", "witness", "coverage"):
        spare("-o", args.output, getattr(args, name))


def deliver(args: argparse.Namespace, to: str, content: bytes) -> None:
    """Write it whole to the file, or to standard output."""
    if args.output is not None and args.output != "-":
        from statecli.text.whole_file import write_file

        write_file(args.output, content)
        return
    if not renderer(to).BINARY:
        write([content.decode("utf-8")])
        return
    if sys.stdout.isatty():
        raise Unable(f"{to} is nothing for a terminal", f"add -o FILE.{to}")
    write_bytes(content)
