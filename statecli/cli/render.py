"""`statecli render`: a graph as a drawing."""

from __future__ import annotations

import argparse
import gc
import os

from statecli.cli.one_graph import Examined, examined
from statecli.cli.output import tell
from statecli.load.loader import FORMS
from statecli.model.nearest import did_you_mean
from statecli.model.unable import Unable
from statecli.render.drawing import Drawing, Look, Marks
from statecli.render.renderer import names

NAME = "render"
HELP = "draw a graph as SVG, PNG, PDF, HTML, Mermaid, DOT, JSON or text"


def add(parser: argparse.ArgumentParser) -> None:
    """The options, in the order of `--help`."""
    text = "the graph file, or a graph in Python code, package.module:graph"
    parser.add_argument("graph", metavar="GRAPH", help=text)
    parser.add_argument("-o", "--output", metavar="FILE", help="write to this file")
    parser.add_argument(
        "--to", choices=names(), help="the format (default: by the name of -o, else dot)"
    )
    parser.add_argument("--form", choices=FORMS, help="read the file as a graph of this form")
    parser.add_argument(
        "--allow-plugins", action="store_true", help="run the module of package.module:graph"
    )
    _add_contents(parser.add_argument_group("what is shown"))
    _add_marks(parser.add_argument_group("what is marked"))
    _add_looks(parser.add_argument_group("how it looks"))


def _add_contents(group: argparse._ArgumentGroup) -> None:
    flag = "store_true"
    group.add_argument("--focus", metavar="STATE", help="only this state and what is around it")
    group.add_argument(
        "--depth", type=int, metavar="N", help="with --focus: so many routes around it (default: 2)"
    )
    group.add_argument(
        "--collapse",
        choices=("auto", "none"),
        default="auto",
        help="make one box of chains, circles and phases of large graphs (default: auto)",
    )
    group.add_argument("--tasks", action=flag, help="list the tasks of plan states")
    group.add_argument("--no-implicit", action=flag, help="only the routes that are written")
    group.add_argument(
        "--labels",
        choices=("guard", "description", "none"),
        default="guard",
        help="what stands beside an arrow (default: guard)",
    )
    group.add_argument("--legend", action=flag, help="say what shapes and lines mean")


def _add_marks(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--lint", action="store_true", help="mark what validate finds")
    for option, metavar, text in (
        ("--session", "ID", "mark where this session was"),
        ("--trace", "FILE", "mark where the runs of a trace were (chat --trace, sessions export)"),
        ("--witness", "FILE", "number the path of a conversation file (chat: /save FILE)"),
        ("--coverage", "FILE", "mark what no test has seen (test --coverage-file FILE)"),
        ("--store", "URL", "where sessions are kept: a file (default: in your data folder)"),
    ):
        group.add_argument(option, metavar=metavar, help=text)


def _add_looks(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--theme", choices=("light", "dark", "auto"), default="auto", help="colours (default: auto)"
    )
    group.add_argument(
        "--rankdir", choices=("TB", "LR"), default="TB", help="top-down or left to right"
    )
    group.add_argument(
        "--renderer",
        choices=("bundled", "system"),
        help="which layout engine (default: bundled, else system)",
    )
    group.add_argument("--dot", metavar="PATH", help="the dot program to use")


def run(args: argparse.Namespace) -> int:
    """Draw without looking for garbage: drawings hold no cycles."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        return _run(args)
    finally:
        if collecting:
            gc.enable()


def _run(args: argparse.Namespace) -> int:
    """Read the graph, draw it, and write the drawing."""
    from statecli.cli.rendering import spare_inputs

    to = _format(args)
    spare_inputs(args)
    found = examined(args, args.graph, proves=args.lint or to == "html")
    if found is None:
        return 1
    marks = _marks(args, found)
    drawing = _part(args, _drawn(args, found, marks))
    from statecli.cli import rendering

    if args.legend and to not in ("svg", "html"):
        tell(f"--legend: a {to} drawing has none; svg and html have")
    content = rendering.rendered(args, to, found, drawing, _look(args))
    rendering.deliver(args, to, content)
    return 0


def _format(args: argparse.Namespace) -> str:
    from statecli.render.renderer import by_suffix

    if args.depth is not None and args.focus is None:
        raise Unable("--depth says how much around --focus is shown", "add --focus STATE")
    if args.depth is not None and args.depth < 0:
        raise Unable("--depth: at least 0")
    if args.to:
        return str(args.to)
    if args.output is None:
        return "dot"
    name = by_suffix(args.output)
    if not name:
        raise Unable(f"-o {args.output}: which format?", f"add --to, one of {', '.join(names())}")
    return name


def _marks(args: argparse.Namespace, found: Examined) -> Marks:
    from statecli.cli import marking

    return marking.marks(args, found)


def _drawn(args: argparse.Namespace, found: Examined, marks: Marks) -> Drawing:
    from statecli.render.draw import Wish, draw

    waiting = frozenset(found.config.waiting_kinds)
    wish = Wish(args.labels, args.tasks, not args.no_implicit, waiting)
    graph = found.graph
    title = graph.settings.get("title")
    name = title if isinstance(title, str) and title.strip() else os.path.basename(found.path)
    return draw(graph, " ".join(name.split()), wish, marks)


def _part(args: argparse.Namespace, drawing: Drawing) -> Drawing:
    """What of the drawing is shown."""
    if args.focus is not None:
        from statecli.render.focus import focused

        states = [box.name for box in drawing.states()]
        if args.focus not in states:
            hint = did_you_mean(args.focus, states) or f"statecli explain {args.graph} lists them"
            raise Unable(f"--focus: no state is named '{args.focus}'", hint)
        return focused(drawing, args.focus, 2 if args.depth is None else args.depth)
    if args.collapse == "none":
        return drawing
    from statecli.render.collapse import collapsed

    smaller = collapsed(drawing)
    if smaller is not drawing:
        before, after = len(drawing.states()), len(smaller.boxes)
        tell(f"{before} states are drawn as {after} boxes; --collapse none or --focus shows all")
    return smaller


def _look(args: argparse.Namespace) -> Look:
    return Look(args.theme, args.rankdir, args.legend)
