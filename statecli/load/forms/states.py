"""The `states` form (ARKOS, extended): a mapping under `states`, or the bare state map."""

from __future__ import annotations

from collections.abc import Container

from statecli.load.build import Builder
from statecli.load.forms.plan import plan_state
from statecli.load.guardtext import GuardReader
from statecli.load.shape import STATE_KEYS
from statecli.model.code import Code
from statecli.model.data import is_list, is_map
from statecli.model.graph import PLAN_KINDS, REDUCERS, Field, Graph, State, Transition
from statecli.model.shape import ScalarNext, WrongType
from statecli.model.span import Path

NAME = "states"


def build(builder: Builder, bare: list[str]) -> Graph:
    """The graph of a document in this form; what does not fit is left out and noted. `bare` are
    the states of a file that is the state map itself."""
    top = builder.top
    if bare:
        source: dict[str, object] = {name: top[name] for name in bare}
        at: Path = ()
        rest = {key: value for key, value in top.items() if key not in source}
        builder.walker.check("states graph", rest, ())
        for name, value in source.items():
            if is_map(value):
                builder.walker.named("state", value, (name,))
    else:
        states_value = top.get("states")
        source, at = (states_value if is_map(states_value) else {}), ("states",)
        builder.walker.check("states graph", top, ())
        if isinstance(source.get("type"), str):
            source = _without_outdented(builder, source)
    states = {
        name: _state(builder, name, value, (*at, name), source) for name, value in source.items()
    }
    builder.odd_keys(source, at)
    initial, initial_path = builder.initial("initial", list(states))
    return Graph(
        form=NAME,
        initial=initial,
        initial_path=initial_path,
        states=states,
        fields=_fields(top.get("fields"), states),
        entries=_entries(builder, top.get("entry_transitions"), states),
        declares_fields=is_map(top.get("fields")),
        limits=builder.mapping("limits"),
        settings=top,
        bare=bool(bare),
    )


def _without_outdented(builder: Builder, source: dict[str, object]) -> dict[str, object]:
    """The states without the keys of a state that stand beside it, one level too far out: that is
    one mistake, noted for the first of them."""
    outdented = {name for name, value in source.items() if name in STATE_KEYS and not _typed(value)}
    gone = {("states", name) for name in outdented}
    builder.issues[:] = [issue for issue in builder.issues if issue.path[:2] not in gone]
    first = next(name for name in source if name in outdented)
    issue = WrongType(("states", first), first, "a mapping", source[first])
    builder.issues.append(issue)
    return {name: value for name, value in source.items() if name not in outdented}


def _typed(value: object) -> bool:
    return is_map(value) and "type" in value


def _entries(
    builder: Builder, value: object, states: Container[str]
) -> tuple[tuple[str, Path], ...]:
    at: Path = ("entry_transitions",)
    if value is None:
        return ()
    if is_list(value):
        found: list[tuple[str, Path]] = []
        for number, item in enumerate(value):
            here = (*at, number)
            if builder.is_empty(item, here, states):
                builder.issues.append(WrongType(here, "", "the name of a state", None))
            else:
                found.append((builder.name(item, here), here))
        return tuple(found)
    return () if is_map(value) else ((builder.name(value, at), at),)


def _fields(value: object, states: dict[str, State]) -> dict[str, Field]:
    """The declared fields, then what plan states inside collect."""
    fields: dict[str, Field] = {}
    if is_map(value):
        for name, spec in value.items():
            path: Path = ("fields", name)
            settings = spec if is_map(spec) else {}
            values = settings.get("values")
            reducer = settings.get("reducer")
            kind = settings.get("type")
            fields[name] = Field(
                name,
                kind if isinstance(kind, str) else "any",
                tuple(values) if is_list(values) else (),
                reducer if isinstance(reducer, str) else REDUCERS[0],
                "default" in settings,
                settings.get("default"),
                "declared",
                path,
            )
    for state in states.values():
        for item in state.deliverables() if state.tasks or state.goal else ():
            fields.setdefault(item.key, Builder.field_of(item))
    return fields


def _state(builder: Builder, name: str, value: object, path: Path, states: Container[str]) -> State:
    if not is_map(value):
        return State(name, "", path)
    kind = value.get("type")
    kind = builder.meant.get(kind, kind) if isinstance(kind, str) else ""
    transition = value.get("transition")
    if kind in PLAN_KINDS:
        written = _transitions(builder, name, kind, transition, path, states)
        return plan_state(builder, name, kind, value, path, extra=written)
    text = value.get("description")
    title = value.get("title")
    return State(
        name,
        kind,
        path,
        transitions=_transitions(builder, name, kind, transition, path, states)
        if transition
        else (),
        title=title if type(title) is str else "",
        description=text if type(text) is str else "",
        reads=builder.names(value.get("reads")) if "reads" in value else (),
        writes=builder.names(value.get("writes")) if "writes" in value else (),
        jumps=builder.jumps(value, path),
        settings=builder.settings(value, path),
    )


def _transitions(
    builder: Builder,
    source: str,
    kind: str,
    transition: object,
    path: Path,
    states: Container[str],
) -> tuple[Transition, ...]:
    if not is_map(transition):
        return ()
    targets = transition.get("next")
    at = (*path, "transition", "next")
    plan = kind in PLAN_KINDS
    if isinstance(targets, str):
        builder.issues.append(ScalarNext(at, targets))
        guard = _reader(builder, kind).default(at) if plan else None
        return (Transition(source, targets, guard, 1, 0, at, at),)
    if not is_list(targets):
        if targets is not None and not is_map(targets):
            expected = "a list or the name of a state"
            builder.issues.append(WrongType(at, "next", expected, targets))
        return ()
    reader: GuardReader | None = None
    found: list[Transition] = []
    for index, item in enumerate(targets):
        here = (*at, index)
        if type(item) is str and not plan:
            found.append(Transition(source, item, None, 1, index, here, here))
            continue
        reader = reader or _reader(builder, kind)
        if not is_map(item):
            if builder.is_empty(item, here, states):
                builder.issues.append(WrongType(here, "", "the name of a state", None))
            elif not is_list(item):
                guard = reader.default(here) if plan else None
                name = builder.name(item, here)
                found.append(Transition(source, name, guard, 1, index, here, here))
            continue
        if item.get("to") is None or is_map(item["to"]) or is_list(item["to"]):
            continue
        guard = reader.when(item.get("when"), (*here, "when"))
        if guard is None and plan:
            guard = reader.default(here)
        group = item.get("group")
        text = item.get("description")
        found.append(
            Transition(
                source,
                builder.name(item["to"], (*here, "to")),
                guard,
                builder.priority(item.get("priority")),
                index,
                here,
                (*here, "to"),
                description=text if isinstance(text, str) else "",
                group=group if isinstance(group, str) else "",
                stated_priority="priority" in item,
                state_filter=_filter(builder, item.get("state_filter"), (*here, "state_filter")),
            )
        )
    return tuple(found)


def _filter(builder: Builder, value: object, path: Path) -> tuple[str, ...] | Code | None:
    """The fields that a route passes on, or the function that says so; None: all."""
    if isinstance(value, str):
        return (value,)
    if is_map(value):
        return builder.code(value, path)
    return tuple(k for k in value if isinstance(k, str)) if is_list(value) else None


def _reader(builder: Builder, kind: str) -> GuardReader:
    return GuardReader(builder.issues, in_goal=kind == "goal")
