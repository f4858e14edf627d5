"""What the slash commands show: where the run is, its data, tasks, routes and neighbourhood."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from statecli.kernel.choose import Ask, choose
from statecli.kernel.order import routes_of
from statecli.kernel.tasks import addressed, offered, progress, task_status
from statecli.model.data import shown
from statecli.model.event import Chose, Event, Failed, Started, Trial
from statecli.model.graph import WAITING_KINDS, Graph
from statecli.model.snapshot import Snapshot
from statecli.model.words import in_words
from statecli.session.tries import target_words, way_tried

if TYPE_CHECKING:
    from statecli.llm.messages import Sheet
    from statecli.model.ports import Request
    from statecli.session.session import Session


#: What there is to say of a plan that has ended: it is in no state any more.
OVER = "the plan has ended; /undo goes back"
_STATUS = {
    "waiting": "waiting for you", "interrupted": "stopped by you", "running": "in the middle",
    "limited": "stopped by a limit", "failed": "failed", "stuck": "stuck: no way out holds",
    "ended": "at the end",
}  # fmt: skip
#: How a branch stands, where that is something else than for a run.
_BRANCH = {"joining": "waits for the other branches", "running": "comes next"}


def state(graph: Graph, snapshot: Snapshot) -> Iterator[str]:
    """The state, its kind, and how the run stands."""
    here = graph.states.get(snapshot.state)
    token = snapshot.token
    if here is None:
        yield OVER
        return
    yield f"{here.name} ({here.kind})" + (f": {here.description}" if here.description else "")
    yield f"{_STATUS.get(snapshot.status, snapshot.status)}; turns so far: {turns(snapshot)}"
    if snapshot.branches:
        yield from branches(snapshot)
    if here.is_plan:
        yield f"turns of this visit: {token.total}, of them without progress: {token.idle}"
        yield f"{progress(graph, snapshot).percent} % of the plan is done"


def branches(snapshot: Snapshot) -> Iterator[str]:
    """Where each branch is, in routing order; ``>`` is the one that is talked to."""
    yield f"{len(snapshot.branches)} branches:"
    for number, branch in snapshot.branches.items():
        mark = ">" if number == snapshot.token.id else " "
        status = _BRANCH.get(branch.status) or _STATUS.get(branch.status, branch.status)
        yield f"{mark} {branch.token.state}: {status}"


def data(snapshot: Snapshot) -> Iterator[str]:
    """Every field that is set; values of strict states that wait for confirmation apart."""
    for key, value in snapshot.data.items():
        if key == "messages":
            yield f"messages: {len(value)}"
        else:
            yield f"{key}: {shown(value, 200)}"
    for key, value in snapshot.early.items():
        yield f"{key}: {shown(value, 200)} (to be confirmed)"
    for key, value in snapshot.insights:
        yield f"{key}: {shown(value, 200)} (insight)"


def tasks(graph: Graph, snapshot: Snapshot) -> Iterator[str]:
    """The tasks of the current plan state with their status, and the values they collect."""
    here = graph.states.get(snapshot.state)
    if here is None or not here.is_plan:
        yield f"'{here.name}' has no tasks" if here is not None else OVER
        return
    if here.kind == "goal":
        yield f"goal: {here.goal.objective if here.goal else ''}"
        for item in here.deliverables():
            yield f"  {item.key}: {_value(snapshot, item.key)}"
        return
    now = offered(snapshot, here)
    for task in here.tasks:
        mark = ">" if task.id in now else " "
        yield f"{mark} {task.id}: {task_status(snapshot, here, task)}"
        for item in task.deliverables:
            optional = "" if item.required else " (optional)"
            yield f"    {item.key}{optional}: {_value(snapshot, item.key)}"


def _value(snapshot: Snapshot, key: str) -> str:
    if key in snapshot.data:
        return shown(snapshot.data[key])
    return f"{shown(snapshot.early[key])} (to be confirmed)" if key in snapshot.early else "open"


def routes(graph: Graph, snapshot: Snapshot) -> Iterator[str]:
    """The ways out in the order they are tried, with what each one's guard is now."""
    token = snapshot.token
    if token.state not in graph.states:
        yield OVER
        return
    trials: list[Trial] = []
    choice = choose(graph, snapshot, token, trials, at_turn_end=True)
    known = {trial.number: trial for trial in trials}
    options = {r.number for r in choice.options} if isinstance(choice, Ask) else set()
    found = routes_of(graph, token.state)
    for route in found:
        yield way_tried(route, known.get(route.number), option=route.number in options)
    if not found:
        yield f"'{token.state}' has no way out"


def why(graph: Graph, events: list[Event]) -> Iterator[str]:
    """The routes of the last choice, with the value each guard had then."""
    for event in reversed(events):
        body = event.body
        if isinstance(body, Chose | Failed) and body.state in graph.states and body.trials:
            yield from _last(graph, body)
            return
    yield "nothing was chosen yet"


#: What a model is asked for, in words (`Request.what`).
_ASKED = {
    "reply": "a reply", "delta": "a reply and its fields", "turn": "a reply or calls",
    "choice": "the next state", "tool": "a tool", "arguments": "the arguments of a tool",
    "plan": "a plan", "step": "a step of the plan", "verdict": "a verdict", "skill": "a skill",
    "check": "a second look", "structured": "a value",
}  # fmt: skip
#: How a route was chosen (`Chose.by`).
_BY = {
    "order": "the first that holds", "all": "every one that holds", "line": "the first that holds",
    "settle": "the first that holds", "model": "as the model chose",
    "entry": "as the model chose where to begin", "body": "as the state itself said",
    "on_invalid": "because the model named none of the options (on_invalid)",
    "fallback": "because the model named none of the options",
}  # fmt: skip


def _last(graph: Graph, body: Chose | Failed) -> Iterator[str]:
    if isinstance(body, Chose):
        yield f"from '{body.state}' to '{target_words(body.target)}', {_BY.get(body.by, body.by)}:"
    else:
        yield f"in '{body.state}' nothing held:"
    trials = {trial.number: trial for trial in body.trials}
    for route in routes_of(graph, body.state):
        option = isinstance(body, Chose) and bool(body.answers) and route.target in body.options
        yield f"  {way_tried(route, trials.get(route.number), option=option)}"
    if isinstance(body, Chose) and body.answers:
        yield f"  answered: {'; '.join(body.answers)}"


def neighbourhood(graph: Graph, snapshot: Snapshot) -> Iterator[str]:
    """The current state between the states before and after it, as text."""
    name = snapshot.state
    if name not in graph.states:
        yield OVER
        return
    before = [
        _marked(graph, other.name)
        for other in graph.states.values()
        if other.name != name and any(r.target == name for r in routes_of(graph, other.name))
    ]
    width = max(map(len, before), default=0)
    for other in before:
        yield f"  {other.ljust(width)} --+"
    lead = f"  {' ' * width}   +-->" if before else " "
    yield f"{lead} [{_marked(graph, name)}]"
    indent = " " * (len(lead) + 3)
    for route in routes_of(graph, name):
        guard = f"   {in_words(route.guard)}" if route.guard is not None else ""
        line = ".." if route.origin == "implicit" else "--"
        target = "itself" if route.target == name else _marked(graph, route.target)
        yield f"{indent}+{line}> {target}{guard}"
    yield "  (* waits for you, # ends the run, ..> implicit)"


def _marked(graph: Graph, name: str) -> str:
    """A state with its mark: ``*`` waits for the person, ``#`` ends the run."""
    found = graph.states.get(name)
    if found is None or found.kind == "terminal":
        return f"{target_words(name)} #"
    return f"{name} *" if found.kind in WAITING_KINDS else name


def done(graph: Graph, snapshot: Snapshot) -> str:
    """For the status line: tasks done of those the state has."""
    here = graph.states.get(snapshot.state)
    if here is None or not here.is_plan or here.kind == "goal" or not here.tasks:
        return ""
    finished = sum(addressed(snapshot, here, task) for task in here.tasks)
    return f"{finished}/{len(here.tasks)} tasks"


def turns(snapshot: Snapshot) -> int:
    """How many lines the person has said."""
    messages = snapshot.data.get("messages") or ()
    return sum(isinstance(m, Mapping) and m.get("role") == "user" for m in messages)


def last_said(snapshot: Snapshot) -> str:
    """What was said to the person last, if it was the last thing said."""
    messages = snapshot.data.get("messages") or ()
    last = messages[-1] if messages else None
    if isinstance(last, Mapping) and last.get("role") == "assistant":
        return str(last.get("content"))
    return ""


def given(session: Session) -> dict[str, Any]:
    """The values a run was begun with, besides the defaults of its fields."""
    first = session.store.events(session.run)[0].body
    values = first.data if isinstance(first, Started) else {}
    fields = session.graph.fields
    return {
        key: value
        for key, value in values.items()
        if key not in fields or not fields[key].has_default or fields[key].default != value
    }


def sent(request: Request, sheet: Sheet) -> Iterator[str]:
    """A request as a model gets it: who asks, each message, the tools, the schema."""
    yield f"'{request.state.name}' asks a model for {_ASKED.get(request.what, request.what)}:"
    for message in sheet.messages:
        yield f"--- {message['role']}"
        if message.get("content"):
            yield message["content"]
        for call in message.get("tool_calls") or ():
            yield f"calls {call['function']['name']}({call['function']['arguments']})"
    if sheet.tools:
        yield f"--- tools: {', '.join(sheet.names[t['function']['name']] for t in sheet.tools)}"
    if sheet.schema is not None and not sheet.tools:
        yield f"--- to be answered with JSON: {json.dumps(sheet.schema, ensure_ascii=False)}"


def event(item: Event) -> str:
    """One event on one line: its number, its name, and what it says."""
    body = item.body
    said = {
        name: value
        for name, value in zip(body._fields, body, strict=True)
        if name not in ("token", "id") and value != body._field_defaults.get(name, ...)
    }
    words = [str(said.pop(name)) for name in ("state", "text") if isinstance(said.get(name), str)]
    words += [f"{name}={_brief(value)}" for name, value in said.items()]
    return " ".join(f"{item.number:>5} {item.name:<9} {' '.join(words)}".split("\n")).rstrip()


def _brief(value: object) -> str:
    """A part of an event: trials as ``target yes``, everything else shortened."""
    if isinstance(value, tuple) and value and isinstance(value[0], Trial):
        truths = {True: "yes", False: "no", None: "open"}
        return ", ".join(f"{trial.target} {truths[trial.value]}" for trial in value)
    return shown(value, 80)
