"""What is marked on a drawing: diagnostics, where runs were, what tests have seen."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping

from statecli.cli.one_graph import Examined
from statecli.cli.output import tell
from statecli.kernel.order import routes_of
from statecli.model.diagnostic import SEVERITIES, Diagnostic, Visit
from statecli.model.graph import END
from statecli.model.unable import Unable
from statecli.render.drawing import NO_MARK, Mark, Marks, Message

Route = tuple[str, int]


def marks(args: argparse.Namespace, found: Examined) -> Marks:
    """All that the options ask for. At most one of them may count."""
    options = ("session", "trace", "witness", "coverage")
    asked = [name for name in options if getattr(args, name) is not None]
    if len(asked) > 1:
        raise Unable(f"--{asked[0]} and --{asked[1]} both say where runs were", "give one of them")
    board = Board()
    if asked:
        _count(args, found, asked[0], board)
    if args.lint:
        _diagnosed(found, board)
        if not asked:
            _proved(found, board)
    return Marks(board.states, board.routes, board.counts, board.jumps)


class Board:
    """Marks as they come together."""

    def __init__(self) -> None:
        self.states: dict[str, Mark] = {}
        self.routes: dict[Route, Mark] = {}
        self.jumps: dict[tuple[str, str], Mark] = {}
        self.counts = ""

    def state(self, name: str) -> Mark:
        return self.states.get(name, NO_MARK)

    def route(self, route: Route) -> Mark:
        return self.routes.get(route, NO_MARK)

    def count(self, states: Mapping[str, int], routes: Mapping[Route, int], counts: str) -> None:
        """How often each was visited or taken; 0 counts, too."""
        self.counts = counts
        for name, number in states.items():
            self.states[name] = self.state(name)._replace(times=number)
        for route, number in routes.items():
            self.routes[route] = self.route(route)._replace(times=number)


# --- diagnostics ----------------------------------------------------------------------------------


def _diagnosed(found: Examined, board: Board) -> None:
    """Each finding at the route it points into, else at its state; else it is said."""
    at = _places(found)
    for item in found.diagnostics:
        if item.severity == "info":
            continue
        route = next((at[path] for path in _above(item) if path in at), None)
        text = Message(item.severity, f"{item.message} [{item.rule}]")
        names = [name for name in item.finding.states if name in found.graph.states]
        if route is not None and route[1] >= 0:
            board.routes[route] = _more(board.route(route), item, text)
        elif route is not None or names:
            name = route[0] if route is not None else names[0]
            board.states[name] = _more(board.state(name), item, text)
        else:
            line = item.span.start.line
            tell(f"{found.path}:{line}: {text}")


def _proved(found: Examined, board: Board) -> None:
    """The path that proves the most severe finding that has one, as numbered steps."""
    proofs = [
        item for item in found.diagnostics if item.finding.witness and item.severity != "info"
    ]
    if not proofs:
        return
    item = min(proofs, key=lambda item: SEVERITIES.index(item.severity))
    assert item.finding.witness is not None
    visits = item.finding.witness.visits
    step = 0
    for visit in visits:
        number = _taken(found, visit)
        if number is not None:
            step += 1
            mark = board.route((visit.state, number))
            board.routes[visit.state, number] = mark._replace(steps=(*mark.steps, step))
    last = visits[-1].state
    board.states[last] = board.state(last)._replace(current=True)
    others = f"; {len(proofs) - 1} more have a path of their own" if len(proofs) > 1 else ""
    tell(f"{found.path}: the path that is marked shows: {item.message} [{item.rule}]{others}")


def _taken(found: Examined, visit: Visit) -> int | None:
    """The number of the route that a step of a path takes."""
    if visit.takes is None or visit.state not in found.graph.states:
        return None
    if not visit.takes.startswith("implicit"):
        return visit.taken
    ways = routes_of(found.graph, visit.state)
    return next((way.number for way in ways if way.origin != "written"), None)


def _places(found: Examined) -> dict[tuple[str | int, ...], Route]:
    """The routes and the states (number -1) by their place in the file."""
    at: dict[tuple[str | int, ...], Route] = {}
    for state in found.graph.states.values():
        at[state.path] = (state.name, -1)
        for route in state.transitions:
            at[route.path] = at[route.at] = (state.name, route.number)
    return at


def _above(item: Diagnostic) -> Iterable[tuple[str | int, ...]]:
    """The place of a finding and all that it lies in, from within."""
    path = item.finding.at.path
    return (path[:end] for end in range(len(path), 0, -1))


def _more(mark: Mark, item: Diagnostic, text: Message) -> Mark:
    severities = [item.severity, *filter(None, [mark.severity])]
    worst = min(severities, key=SEVERITIES.index)
    return mark._replace(severity=worst, messages=(*mark.messages, text))


# --- where runs were ------------------------------------------------------------------------------


def _count(args: argparse.Namespace, found: Examined, option: str, board: Board) -> None:
    from statecli.cli import paths

    if option == "coverage":
        states, routes, jumps = paths.covered(args.coverage, found)
        board.count(states, routes, f"tests in {args.coverage}")
        board.jumps = {way: Mark(times=number) for way, number in jumps.items()}
        _untested(board)
        return
    walk = getattr(paths, f"of_{option}")(args, found)
    graph = found.graph
    states = {name: walk.states.get(name, 0) for name in graph.states}
    routes = {
        (name, route.number): walk.routes.get((name, route.number), 0)
        for name in graph.states
        for route in routes_of(graph, name)
    }
    strange = [name for name in walk.states if name not in graph.states and name != END]
    if END in walk.states:
        states[END] = walk.states[END]
    if strange:
        tell(f"{found.path}: {option} was in states that are not here: {', '.join(strange)}")
    if option == "witness":
        for at, route in enumerate(walk.steps, 1):
            mark = board.route(route)
            board.routes[route] = mark._replace(steps=(*mark.steps, at))
        board.counts = walk.counts
    else:
        board.count(states, routes, walk.counts)
    if walk.at:
        board.states[walk.at] = board.state(walk.at)._replace(current=True)


_UNVISITED = Message("warning", "no test comes here")
_UNTAKEN = Message("warning", "no test goes this way")


def _untested(board: Board) -> None:
    """What no test has seen is no mistake, but what one looks for in such a drawing."""
    for name, mark in board.states.items():
        if mark.times == 0:
            board.states[name] = mark._replace(severity="warning", messages=(_UNVISITED,))
    for route, mark in board.routes.items():
        if mark.times == 0:
            board.routes[route] = mark._replace(severity="warning", messages=(_UNTAKEN,))
    for way, mark in board.jumps.items():
        if mark.times == 0:
            board.jumps[way] = mark._replace(severity="warning", messages=(_UNTAKEN,))
