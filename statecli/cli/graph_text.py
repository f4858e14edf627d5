"""A graph as `explain` prints it: each state, what it collects, and its ways out in order."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from statecli import __version__
from statecli.lint.account import Account, Accounts, Route, told
from statecli.lint.facts import Facts
from statecli.lint.firsts import Example
from statecli.model.diagnostic import Diagnostic
from statecli.model.graph import Deliverable, Graph, State, Transition
from statecli.model.span import Place, dotted
from statecli.model.words import deliverable_words
from statecli.report.json import dumps
from statecli.report.reporter import shown_path
from statecli.text.excerpt import harmless


def pieces(
    facts: Facts, found: Sequence[Diagnostic], numbers: Iterable[int], form: str, *, whole: bool
) -> Iterator[str]:
    """The states with these numbers; `whole`: they are all, so the graph comes first."""
    graph = facts.graph
    assert graph is not None
    accounts = map(Accounts(facts, found).of, numbers)
    if form == "json":
        about = _about_states(found)
        yield dumps(
            {
                "version": 1,
                "statecli": __version__,
                "path": facts.document.path,
                "form": graph.form,
                "initial": graph.initial,
                "entries": [name for name, _ in graph.entries],
                "states": [
                    _object(facts, account, about.get(account.state.name, ()))
                    for account in accounts
                ],
            }
        )
        yield "\n"
        return
    if whole:
        yield _head(facts, graph)
    for number, account in enumerate(accounts):
        yield "\n" if number or whole else ""
        for line in _lines(facts, account):
            yield f"{harmless(line)}\n"


# --- for people -----------------------------------------------------------------------------------


def _head(facts: Facts, graph: Graph) -> str:
    count = f"{len(facts.states)} state{'s' if len(facts.states) != 1 else ''}"
    names = [name for name, _ in graph.entries] or [graph.initial]
    start = harmless(" or ".join(f"'{name}'" for name in names))
    return f"{shown_path(facts.document.path)}: {graph.form} form, {count}, begins in {start}\n"


def _lines(facts: Facts, account: Account) -> Iterator[str]:
    state = account.state
    line = _line(facts, facts.place(state))
    kind = state.kind or "no type"
    yield f"{state.name} ({kind}), line {line}"
    about = ": ".join(dict.fromkeys(filter(None, (state.title.strip(), state.description.strip()))))
    if about:
        yield f"  {' '.join(about.split())}"
    yield from _collected(state)
    heading = "ways out, in the order they are tried"
    if state.fans_out:
        heading = "ways out; all that hold are taken at once"
    if account.routes:
        yield f"  {heading}"
    for number, route in enumerate(account.routes, 1):
        yield from _route(facts, number, route)
    for key, target in state.jumps:
        where = _line(facts, Place((*state.path, key)))
        yield f"  {key}: {target}, line {where}"
    if account.otherwise:
        yield f"  {account.otherwise}"


def _collected(state: State) -> Iterator[str]:
    if state.tasks and state.kind != "goal":
        yield "  tasks, in this order" if state.kind == "strict" else "  tasks, in any order"
        for task in state.tasks:
            optional = "" if task.required else " (optional)"
            collects = f" → {_keys(task.deliverables)}" if task.deliverables else ""
            text = f": {' '.join(task.description.split())}" if task.description.strip() else ""
            yield f"    {task.id}{optional}{text}{collects}"
    if state.goal is not None and state.kind == "goal":
        collects = f" → {_keys(state.goal.deliverables)}" if state.goal.deliverables else ""
        yield f"  goal: {' '.join(state.goal.objective.split())}{collects}"
    for key, names in (("reads", state.reads), ("writes", state.writes)):
        if names:
            yield f"  {key}: {', '.join(names)}"


def _keys(items: Iterable[Deliverable]) -> str:
    return ", ".join(map(deliverable_words, items))


def _route(facts: Facts, number: int, route: Route) -> Iterator[str]:
    way = route.way
    yield f"    {number}. {way.target}: {route.needs}"
    yield f"       {', '.join(_origin(facts, way))}"
    if way.description.strip():
        yield f"       {' '.join(way.description.split())}"
    if route.never:
        yield from (f"       never taken: {reason}" for reason in route.never)
    elif _tells(route):
        held = "taken" if facts.states[facts.index[way.source]].fans_out else "taken first"
        yield f"       {held}, for example, with {route.example}"
    for text in sorted({*map(told, route.notes)} - {*route.never}):
        yield f"       note: {text}"


def _tells(route: Route) -> bool:
    """Whether the example says more than the condition itself."""
    if route.example is None or not route.example:
        return False
    return str(route.example) not in (route.needs, route.needs.removeprefix("after "))


def _origin(facts: Facts, way: Transition) -> list[str]:
    """Where a route comes from."""
    if way.origin != "written":
        after = "after all others" if math.isinf(way.priority) else f"priority {way.priority:g}"
        return [f"implicit ({way.why})", after]
    found = [f"line {_line(facts, Place(way.at))}", f"priority {way.priority:g}"]
    return [*found, f"group {way.group}"] if way.group else found


def _line(facts: Facts, place: Place) -> int:
    return facts.document.span(place).start.line


# --- for programs ---------------------------------------------------------------------------------


def _object(facts: Facts, account: Account, found: Sequence[Diagnostic]) -> dict[str, object]:
    state = account.state
    told_there = {id(note) for route in account.routes for note in route.notes}
    notes = [item for item in found if id(item) not in told_there]
    return {
        "state": state.name,
        "kind": state.kind,
        "title": state.title,
        "description": state.description,
        "where": dotted(state.path),
        "line": _line(facts, facts.place(state)),
        "tasks": [
            {
                "id": task.id,
                "description": task.description,
                "required": task.required,
                "deliverables": list(map(_deliverable, task.deliverables)),
            }
            for task in state.tasks
        ],
        "goal": {
            "objective": state.goal.objective,
            "success_description": state.goal.success_description,
            "deliverables": list(map(_deliverable, state.goal.deliverables)),
        }
        if state.goal is not None
        else None,
        "reads": list(state.reads),
        "writes": list(state.writes),
        "fanout": "all" if state.fans_out else "first",
        "routes": [
            _route_object(facts, number, route) for number, route in enumerate(account.routes, 1)
        ],
        "jumps": [{"key": key, "target": target} for key, target in state.jumps],
        "otherwise": account.otherwise or None,
        "diagnostics": list(map(_note, notes)),
    }


def _about_states(found: Sequence[Diagnostic]) -> dict[str, list[Diagnostic]]:
    """What is found in each state as such; what is found in a route stands there."""
    about: dict[str, list[Diagnostic]] = {}
    for item in found:
        if item.severity != "info" and item.finding.states:
            about.setdefault(item.finding.states[0], []).append(item)
    return about


def _note(item: Diagnostic) -> dict[str, str]:
    return {"rule": item.rule, "severity": item.severity, "message": item.message}


def _deliverable(item: Deliverable) -> dict[str, object]:
    return {
        "key": item.key,
        "type": item.type,
        "required": item.required,
        "values": list(item.values),
    }


def _route_object(facts: Facts, number: int, route: Route) -> dict[str, object]:
    way = route.way
    written = way.origin == "written"
    return {
        "order": number,
        "target": way.target,
        "origin": way.origin,
        "why": way.why or None,
        "needs": route.needs,
        "guarded": way.guard is not None,
        "choice": list(route.choice),
        "priority": None if math.isinf(way.priority) else way.priority,
        "group": way.group or None,
        "description": way.description,
        "where": dotted(way.path) if written else None,
        "line": _line(facts, Place(way.at)) if written else None,
        "never": list(route.never),
        "example": _example(route.example),
        "diagnostics": list(map(_note, route.notes)),
    }


def _example(example: Example | None) -> dict[str, object] | None:
    if example is None:
        return None
    return {
        "data": dict(example.data),
        "holding": list(example.holding),
        "turns": dict(example.turns),
    }
