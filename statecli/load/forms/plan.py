"""The `plan` form (document 004): a list of states with tasks, deliverables and conditions."""

from __future__ import annotations

from statecli.load.build import Builder
from statecli.load.guardtext import GuardReader
from statecli.model.data import is_list, is_map
from statecli.model.graph import Deliverable, Field, Goal, Graph, State, Task, Transition
from statecli.model.keys import FIELD_TYPE_OF, OLD_MODES
from statecli.model.shape import OldSpelling
from statecli.model.span import Path

NAME = "plan"


def build(builder: Builder) -> Graph:
    """The graph of a document in this form; what does not fit is left out and noted."""
    top = builder.top
    builder.walker.check("plan graph", top, ())
    listed = top.get("states")
    states: dict[str, State] = {}
    for index, value in enumerate(listed if is_list(listed) else ()):
        path: Path = ("states", index)
        if not is_map(value):
            continue
        name = _id(builder, value, path, index)
        kind = _kind(builder, value, path)
        if name not in states:
            states[name] = plan_state(builder, name, kind, value, path)
    initial, initial_path = builder.initial("initial_state_id", list(states))
    fields: dict[str, Field] = {}
    for state in states.values():
        for item in state.deliverables():
            fields.setdefault(item.key, Builder.field_of(item))
    fields.update(_context(top.get("session_context")))
    return Graph(
        form=NAME,
        initial=initial,
        initial_path=initial_path,
        states=states,
        fields=fields,
        limits=builder.mapping("limits"),
        settings=top,
    )


def _id(builder: Builder, value: dict[str, object], path: Path, index: int) -> str:
    found = value.get("id")
    if found is None or is_map(found) or is_list(found):
        return f"states[{index}]"
    return builder.name(found, (*path, "id"))


def _kind(builder: Builder, value: dict[str, object], path: Path) -> str:
    kind = value.get("type")
    if not isinstance(kind, str):
        return "loose"
    if kind in OLD_MODES:
        builder.issues.append(OldSpelling((*path, "type"), kind, OLD_MODES[kind], False))
        return OLD_MODES[kind]
    return builder.meant.get(kind, kind)


def plan_state(
    builder: Builder,
    name: str,
    kind: str,
    value: dict[str, object],
    path: Path,
    extra: tuple[Transition, ...] = (),
) -> State:
    """A strict, loose or goal state of either form. `extra` are its `transition.next`."""
    title, text = value.get("title"), value.get("description")
    return State(
        name,
        kind,
        path,
        transitions=_transitions(builder, name, kind, value.get("transitions"), path) or extra,
        title=title if type(title) is str else "",
        description=text if type(text) is str else "",
        reads=builder.names(value.get("reads")) if "reads" in value else (),
        writes=builder.names(value.get("writes")) if "writes" in value else (),
        tasks=_tasks(builder, value.get("tasks"), path),
        goal=_goal(value.get("goal"), path),
        jumps=builder.jumps(value, path),
        settings=builder.settings(value, path),
    )


def _transitions(
    builder: Builder, source: str, kind: str, value: object, path: Path
) -> tuple[Transition, ...]:
    if not is_list(value):
        return ()
    reader = GuardReader(builder.issues, in_goal=kind == "goal")
    found: list[Transition] = []
    for index, item in enumerate(value):
        here = (*path, "transitions", index)
        if not is_map(item):
            continue
        guard = reader.condition(item.get("condition_type"), item.get("condition_config"), here)
        target = item.get("target_state_id")
        if target is None or is_map(target) or is_list(target):
            continue
        text = item.get("description")
        at = (*here, "target_state_id")
        found.append(
            Transition(
                source,
                target if type(target) is str else builder.name(target, at),
                guard,
                builder.priority(item.get("priority")),
                index,
                here,
                at,
                text if type(text) is str else "",
                "written",
                "",
                "",
                "priority" in item,
            )
        )
    return tuple(found)


def _tasks(builder: Builder, value: object, path: Path) -> tuple[Task, ...]:
    if not is_list(value):
        return ()
    tasks: list[Task] = []
    for index, item in enumerate(value):
        here = (*path, "tasks", index)
        if not is_map(item):
            continue
        found = item.get("id")
        text, instruction = item.get("description"), item.get("instruction")
        tasks.append(
            Task(
                builder.name(found, (*here, "id")) if found is not None else f"task {index + 1}",
                text if type(text) is str else "",
                instruction if type(instruction) is str else "",
                item.get("required") is not False,
                _deliverables(item.get("deliverables"), here),
                here,
            )
        )
    return tuple(tasks)


def _goal(value: object, path: Path) -> Goal | None:
    if not is_map(value):
        return None
    objective, success = value.get("objective"), value.get("success_description")
    return Goal(
        objective if isinstance(objective, str) else "",
        success if isinstance(success, str) else "",
        _deliverables(value.get("deliverables"), (*path, "goal")),
        (*path, "goal"),
    )


def _deliverables(value: object, path: Path) -> tuple[Deliverable, ...]:
    if not is_list(value):
        return ()
    found: list[Deliverable] = []
    for index, item in enumerate(value):
        if not is_map(item):
            continue
        key, kind, values = item.get("key"), item.get("type"), item.get("enum_values")
        text = item.get("description")
        if type(key) is str:
            found.append(
                Deliverable(
                    key,
                    kind if type(kind) is str else "string",
                    item.get("required") is not False,
                    tuple(values) if is_list(values) else (),
                    (*path, "deliverables", index),
                    text if type(text) is str else "",
                )
            )
    return tuple(found)


def _context(value: object) -> dict[str, Field]:
    """The session context: asked or given before the first turn, so never written by a state."""
    listed = value.get("fields") if is_map(value) else None
    fields: dict[str, Field] = {}
    for index, item in enumerate(listed if is_list(listed) else ()):
        name = item.get("id") if is_map(item) else None
        if not is_map(item) or not isinstance(name, str):
            continue
        options = item.get("options")
        kind = item.get("type")
        fields[name] = Field(
            name,
            FIELD_TYPE_OF.get(kind, "any") if isinstance(kind, str) else "str",
            tuple(options) if is_list(options) else (),
            "overwrite",
            "default_value" in item,
            item.get("default_value"),
            "context",
            ("session_context", "fields", index),
        )
    return fields
