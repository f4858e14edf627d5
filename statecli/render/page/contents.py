"""What the page knows about the graph, as plain data.

Everything is told by number: scripts never look anything up by a name of the graph, which may be
`constructor` or worse. Texts are made harmless here, once; scripts show them as text only.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any, cast

from statecli.kernel.order import routes_of
from statecli.model.graph import END, Deliverable, Graph, State, Task
from statecli.model.words import deliverable_words, turns_words, value_words
from statecli.render.drawing import NO_MARK, STATE, Arrow, Box, Drawing, Mark
from statecli.render.geometry import Layout
from statecli.render.kinds import css_class
from statecli.render.renderer import Request
from statecli.text.excerpt import plain

Object = dict[str, Any]
#: Settings that are told elsewhere on the page.
_TOLD = frozenset(
    {"id", "name", "type", "kind", "title", "description", "tasks", "goal", "transitions",
     "transition", "reads", "writes", "on_error", "on_invalid", "states", "nodes", "edges",
     "initial", "initial_state_id", "limits"}
)  # fmt: skip
#: A setting longer than this is cut: the page is to stay light.
_LONG = 6000


def contents(request: Request, layout: Layout) -> Object:
    """States with everything to be read about them, and what of them is drawn where."""
    graph, drawing = request.graph, request.drawing
    told = cast("Mapping[str, Any]", request.details())
    details = {str(item["state"]): item for item in told["states"]}
    numbers = {name: at for at, name in enumerate(graph.states)}
    states = [
        _state(state, details.get(state.name, {}), numbers) for state in graph.states.values()
    ]
    found: Object = _clean(
        {
            "title": drawing.title,
            "path": os.path.basename(told.get("path", "")),
            "counted": drawing.counted,
            "about": graph.settings.get("description", ""),
            "settings": _settings(graph.settings),
            "limits": [[key, _words(value)] for key, value in graph.limits.items()],
            "begins": [numbers[name] for name in graph.roots()],
            "states": states,
            "boxes": [_box(box, layout, numbers) for box in drawing.boxes],
            "arrows": list(_arrows(graph, drawing, numbers)),
        }
    )
    return found


# --- states ---------------------------------------------------------------------------------------


def _state(state: State, told: Mapping[str, Any], numbers: Mapping[str, int]) -> Object:
    return _short(
        name=state.name,
        kind=state.kind,
        look=css_class(state.kind),
        title=" ".join(state.title.split()),
        about=state.description.strip(),
        line=told.get("line"),
        where=told.get("where"),
        goal=_goal(state),
        tasks=[] if state.kind == "goal" else list(map(_task, state.tasks)),
        ordered=state.kind == "strict",
        reads=list(state.reads),
        writes=list(state.writes),
        settings=_settings(state.settings),
        together=state.fans_out,
        routes=[_route(item, numbers) for item in told.get("routes", ())],
        jumps=[_to(target, numbers) | {"key": key} for key, target in state.jumps],
        otherwise=told.get("otherwise"),
        notes=_notes(told),
    )


def _route(told: Mapping[str, Any], numbers: Mapping[str, int]) -> Object:
    written = told["origin"] == "written"
    return _to(told["target"], numbers) | _short(
        needs=_needs(told),
        chosen=len(told["choice"]) > 1,
        implicit="" if written else told["why"] or "not written in the file",
        about=" ".join(told["description"].split()),
        line=told["line"],
        group=told["group"],
        never=list(told["never"]),
        example=_example(told["example"]) if not told["never"] else "",
        notes=_notes(told),
    )


def _notes(told: Mapping[str, Any]) -> list[list[str]]:
    """The diagnostics of a state or a route, each with its severity."""
    return [
        [note["severity"], f"{note['message']} [{note['rule']}]"]
        for note in told.get("diagnostics", ())
    ]


def _needs(told: Mapping[str, Any]) -> str:
    """The condition; among what the model chooses stands beside it."""
    among = f"the model chooses among: {', '.join(told['choice'])}"
    return str(told["needs"]).replace(among, "the model chooses")


def _to(target: str, numbers: Mapping[str, int]) -> Object:
    """Where a route leads: the number of a state, or a name with -1 for a missing one."""
    if target == END and target not in numbers:
        return {"to": -1, "end": True}
    at = numbers.get(target, -1)
    return {"to": at} if at >= 0 else {"to": -1, "name": target}


def _example(told: Mapping[str, Any] | None) -> str:
    """A situation in which a route is taken, in words; nothing where it is one thing only, which
    the condition says already."""
    if not told or sum(len(told[part]) for part in ("data", "holding", "turns")) < 2:
        return ""
    said = [f"{key} = {value_words(value)}" for key, value in told["data"].items()]
    said += told["holding"]
    said += [turns_words(count, scope) for scope, count in told["turns"].items()]
    return ", ".join(said)


def _task(task: Task) -> Object:
    return _short(
        name=task.id,
        about=" ".join(task.description.split()),
        how=task.instruction.strip(),
        optional=not task.required,
        collects=list(map(_deliverable, task.deliverables)),
    )


def _goal(state: State) -> Object | None:
    if state.goal is None or state.kind != "goal":
        return None
    goal = state.goal
    return _short(
        about=goal.objective.strip(),
        how=goal.success_description.strip(),
        collects=list(map(_deliverable, goal.deliverables)),
    )


def _deliverable(item: Deliverable) -> Object:
    return _short(name=deliverable_words(item), about=" ".join(item.description.split()))


def _settings(settings: Mapping[str, object]) -> list[list[str]]:
    return [
        [str(key), _words(value)]
        for key, value in settings.items()
        if key not in _TOLD and value not in (None, "", [], {})
    ]


def _words(value: object) -> str:
    """A setting as a text that people can read."""
    if isinstance(value, str):
        text = value.strip()
    elif isinstance(value, list) and all(isinstance(item, str | int | float) for item in value):
        text = ", ".join(map(str, value))
    elif isinstance(value, list | dict):
        text = _yaml(value)
    else:
        text = value_words(value)
    return text if len(text) <= _LONG else f"{text[:_LONG]} …"


def _yaml(value: object) -> str:
    import yaml

    try:
        return str(yaml.safe_dump(value, allow_unicode=True, sort_keys=False, width=60)).strip()
    except (yaml.YAMLError, RecursionError):
        return str(value)


# --- the drawing ----------------------------------------------------------------------------------


def _box(box: Box, layout: Layout, numbers: Mapping[str, int]) -> Object:
    spot = layout.boxes[box.id]
    drawn = box.role == STATE and not box.missing
    return _short(
        id=box.id,
        role="missing" if box.missing else box.role,
        at=[round(value) for value in spot],
        name="" if drawn else box.name,
        state=numbers.get(box.name) if drawn else None,
        waits=box.waits,
        ends=box.ends,
        members=[numbers[name] for name in box.members if name in numbers],
        hidden=box.hidden or None,
        **_mark(box.mark),
    )


def _arrows(graph: Graph, drawing: Drawing, numbers: Mapping[str, int]) -> Iterator[Object]:
    boxes = {box.id: at for at, box in enumerate(drawing.boxes)}
    tried: dict[str, dict[int, int]] = {}
    for arrow in drawing.arrows:
        if arrow.state in graph.states and arrow.state not in tried:
            ways = routes_of(graph, arrow.state)
            tried[arrow.state] = {way.number: at for at, way in enumerate(ways)}
        route = _written(arrow, tried, numbers)
        yield _short(
            id=arrow.id,
            ends=[boxes[arrow.source], boxes[arrow.target]],
            style=arrow.style,
            label="" if route else arrow.label,
            about="" if route else arrow.about,
            ways=arrow.ways if arrow.ways > 1 else None,
            route=route,
            **_mark(arrow.mark),
        )


def _written(
    arrow: Arrow, tried: Mapping[str, Mapping[int, int]], numbers: Mapping[str, int]
) -> list[int] | None:
    """The route of an arrow: the number of its state, and its place among those tried there."""
    place = tried.get(arrow.state, {}).get(arrow.number)
    return None if place is None or arrow.ways > 1 else [numbers[arrow.state], place]


def _mark(mark: Mark) -> Object:
    if mark == NO_MARK:
        return {}
    return {
        "severity": mark.severity,
        "messages": list(map(list, mark.messages)),
        "times": mark.times,
        "here": mark.current,
        "steps": list(mark.steps),
    }


# --- as text --------------------------------------------------------------------------------------


def _short(**parts: object) -> Object:
    """The parts without what says nothing; 0 says something, and so does an empty name."""
    return {
        key: value
        for key, value in parts.items()
        if key == "name" or (value is not None and value is not False and value not in ("", []))
    }


def _clean(value: Any) -> Any:
    """The same with every text made harmless."""
    if isinstance(value, str):
        return value if value.isascii() and value.isprintable() else plain(value)
    if isinstance(value, dict):
        return {key: _clean(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_clean(item) for item in value]
    return value


_SPECIAL = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}


def as_script(data: Object) -> str:
    """The data as JSON that can stand in a script element: nothing in it can end that."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return text.translate(_SPECIAL)
