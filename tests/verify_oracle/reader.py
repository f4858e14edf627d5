"""Reads a graph file into what the oracle searches: both forms, JSON or YAML."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from verify_oracle.conditions import Condition, plan_condition, when_condition
from verify_oracle.values import Kind

END = "__end__"
PLAN = ("strict", "loose", "goal")
IMPLICIT = {"messages", "plan", "plan_step", "needs_permission"}


class Way(NamedTuple):
    """One way out. `number` is None for an implicit one; `stated`: the file gives a priority.
    `kept`: the only fields that are passed on, if not all are."""

    target: str
    condition: Condition | None
    priority: float
    number: int | None
    stated: bool = False
    kept: tuple[str, ...] | None = None


class Job(NamedTuple):
    """A task: its keys, and those that must be there for it to be done by its values."""

    name: str
    optional: bool
    keys: tuple[str, ...]
    required: tuple[str, ...]

    @property
    def needed(self) -> tuple[str, ...]:
        return self.required or self.keys


class Place(NamedTuple):
    """One state. `ways` in the order in which they are tried; `keys` are those that it collects or
    that its body writes; `required` those of its goal."""

    name: str
    kind: str
    ways: tuple[Way, ...]
    jobs: tuple[Job, ...]
    keys: dict[str, Kind]
    required: tuple[str, ...]
    resets: bool
    following: str | None
    on_error: str | None = None
    on_invalid: str | None = None

    @property
    def is_plan(self) -> bool:
        return self.kind in PLAN


class Book(NamedTuple):
    """A graph file as it was read. `given`: key to kind and whether it may be missing, known before
    the first turn; `data`: what is there at the start, of these `kinds`."""

    plan: bool
    places: dict[str, Place]
    roots: tuple[str, ...]
    data: dict[str, Any]
    given: dict[str, tuple[Kind, bool]]
    stuck_turns: int
    max_hops: int
    kinds: dict[str, Kind]

    def next_to(self, place: Place) -> set[str]:
        """The states that a state may lead to on paper."""
        named = {way.target for way in place.ways} | {place.on_error, place.on_invalid}
        return {name for name in named if name in self.places}

    def on_paper(self) -> set[str]:
        """The states that some path of ways leads to."""
        seen = {name for name in self.roots if name in self.places}
        todo = list(seen)
        while todo:
            new = self.next_to(self.places[todo.pop()]) - seen
            seen |= new
            todo += new
        return seen


def read(path: Path) -> Book:
    text = path.read_text(encoding="utf-8")
    return book(json.loads(text) if path.suffix == ".json" else yaml.safe_load(text))


def book(top: dict[str, Any]) -> Book:
    """The graph of a parsed file."""
    plan = isinstance(top.get("states"), list)
    found = _plan_places(top["states"]) if plan else _places(top)
    initial = top.get("initial_state_id" if plan else "initial") or next(iter(found))
    entries = top.get("entry_transitions")
    entries = [entries] if isinstance(entries, str) else entries
    limits = top.get("limits") or {}
    data = {} if plan else {
        name: field["default"] for name, field in (top.get("fields") or {}).items()
        if "default" in (field or {})
    }  # fmt: skip
    return Book(
        plan, found, tuple(dict.fromkeys(entries or [initial])), data, _given(top),
        limits.get("stuck_turns", 10), limits.get("max_hops", 10), {} if plan else _kinds(top),
    )  # fmt: skip


def _given(top: dict[str, Any]) -> dict[str, tuple[Kind, bool]]:
    listed = (top.get("session_context") or {}).get("fields") or []
    kinds = {"string": "str", "number": "float", "boolean": "bool", "select": "enum"}
    return {
        item["id"]: (
            Kind(kinds.get(item.get("type", "string"), "any"), tuple(item.get("options") or ())),
            not item.get("required"),
        )
        for item in listed
    }


def _plan_places(listed: list[dict[str, Any]]) -> dict[str, Place]:
    names = [state["id"] for state in listed]
    found = {}
    for at, state in enumerate(listed):
        following = names[at + 1] if at + 1 < len(names) else None
        place = _plan_place(state["id"], state, following)
        found[place.name] = place._replace(ways=_sorted(_with_implicit(place, set(names))))
    return found


def _plan_place(name: str, state: dict[str, Any], following: str | None) -> Place:
    kind = {"sequential": "strict", "flexible": "loose"}.get(k := state.get("type", "loose"), k)
    in_goal = kind == "goal"
    ways = [
        Way(
            item["target_state_id"],
            plan_condition(item.get("condition_type"), item.get("condition_config"), in_goal),
            item.get("priority", 1), number, "priority" in item,
        )
        for number, item in enumerate(state.get("transitions") or [])
    ]  # fmt: skip
    goal = (state.get("goal") or {}).get("deliverables") or []
    tasks = [] if kind == "goal" else state.get("tasks") or []
    keys: dict[str, Kind] = {}
    for item in goal if kind == "goal" else [d for t in tasks for d in t.get("deliverables") or []]:
        keys.setdefault(item["key"], _deliverable(item))
    jobs = []
    for task in tasks:
        items = task.get("deliverables") or []
        jobs.append(Job(
            task["id"], task.get("required") is False, tuple(d["key"] for d in items),
            tuple(d["key"] for d in items if d.get("required") is not False),
        ))  # fmt: skip
    required = tuple(d["key"] for d in goal if d.get("required") is not False)
    return Place(name, kind, tuple(ways), tuple(jobs), keys, required,
                 state.get("on_reenter") == "reset", following,
                 state.get("on_error"), state.get("on_invalid"))  # fmt: skip


def _deliverable(item: dict[str, Any]) -> Kind:
    kinds = {"number": "float", "integer": "int", "boolean": "bool", "enum": "enum"}
    return Kind(kinds.get(item.get("type", "string"), "str"), tuple(item.get("enum_values") or ()))


def _with_implicit(place: Place, names: set[str]) -> list[Way]:
    """The one way that a plan state has without writing it (model.md 5.3)."""
    done: Condition = ("closed",) if place.kind == "goal" else ("complete",)
    ways, target = list(place.ways), place.following or END
    live = [w for w in ways if w.target != place.name and w.target in names | {END}]
    if not live:
        return [*ways, Way(target, done, 1, None)]
    if place.kind == "goal":
        if any(w.condition == ("closed",) for w in live):
            return ways
        return [*ways, Way(target, done, math.inf, None)]
    if place.following is None or not place.jobs:
        return ways
    if any(w.target != place.following or w.condition == ("complete",) for w in live):
        return ways
    return [*ways, Way(target, done, 1000, None)]


def _sorted(ways: list[Way] | tuple[Way, ...]) -> tuple[Way, ...]:
    return tuple(sorted(ways, key=lambda way: way.priority))


def _places(top: dict[str, Any]) -> dict[str, Place]:
    states = top.get("states", top)
    names = list(states)
    fields = _kinds(top)
    found = {}
    for at, name in enumerate(names):
        state = states[name]
        following = names[at + 1] if at + 1 < len(names) else None
        found[name] = _place(name, state, following, fields if "fields" in top else None)
    return found


def _kinds(top: dict[str, Any]) -> dict[str, Kind]:
    """The declared fields."""
    return {
        name: Kind((field or {}).get("type", "any"), tuple((field or {}).get("values") or ()))
        for name, field in (top.get("fields") or {}).items()
    }


def _place(
    name: str, state: dict[str, Any], following: str | None, fields: dict[str, Kind] | None
) -> Place:
    kind = state["type"]
    if kind in PLAN:
        place = _plan_place(name, state, following)
        if not place.ways:
            default: Condition = ("closed",) if kind == "goal" else ("complete",)
            place = place._replace(ways=tuple(
                way if way.condition is not None else way._replace(condition=default)
                for way in _next(state, kind == "goal")
            ))  # fmt: skip
        return place._replace(ways=_sorted(place.ways))
    written = state.get("writes") or [] if kind in ("user", "agent", "tool") else []
    if kind == "user" and (len(written) != 1 or written == ["messages"]):
        written = []
    keys = {
        key: fields[key] if fields and key in fields else Kind("any", ())
        for key in written
        if fields is None or key in fields or key in IMPLICIT
    }
    if kind == "user":  # a line is text, and what a person types has no space at its ends
        keys = {key: Kind("line") if k.type in ("any", "str") else k for key, k in keys.items()}
    ways = () if kind == "terminal" else _sorted(_next(state, in_goal=False))
    jumps = state.get("on_error"), state.get("on_invalid")
    return Place(name, kind, ways, (), keys, (), False, following, *jumps)


def _next(state: dict[str, Any], in_goal: bool) -> list[Way]:
    listed = (state.get("transition") or {}).get("next") or []
    ways = []
    for number, item in enumerate([listed] if isinstance(listed, str) else listed):
        if isinstance(item, str):
            ways.append(Way(item, None, 1, number))
        else:
            condition = when_condition(item.get("when"), in_goal)
            kept = tuple(item["state_filter"]) if "state_filter" in item else None
            rank, stated = item.get("priority", 1), "priority" in item
            ways.append(Way(item["to"], condition, rank, number, stated, kept))
    return ways
