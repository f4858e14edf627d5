"""Random plans for property tests, as the values a JSON file would hold."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

KEYS = ("k", "n", "e", "b")
TYPES: dict[str, dict[str, Any]] = {
    "k": {"type": "string"},
    "n": {"type": "number"},
    "e": {"type": "enum", "enum_values": ["x", "Y"]},
    "b": {"type": "boolean"},
}
VALUES = st.one_of(
    st.sampled_from(["x", " X", "y", "no", "5", " 7 ", "abc", True, False, 0, 5, 7.5, -1]),
    st.text(max_size=3),
)


@st.composite
def conditions(draw: st.DrawFn, depth: int = 0) -> dict[str, Any]:
    """A condition of the plan form, nested up to two deep."""
    kinds = [
        "all_tasks_complete", "deliverable_exists", "deliverable_value", "deliverable_value_in",
        "deliverable_value_numeric", "turn_count_exceeded",
    ]  # fmt: skip
    if depth < 2:
        kinds += ["all_of", "any_of", "compound"]
    kind = draw(st.sampled_from(kinds))
    key = draw(st.sampled_from(KEYS))
    config: dict[str, Any] = {}
    if kind == "deliverable_exists":
        config = {"key": key}
    elif kind == "deliverable_value":
        config = {"key": key, "value": draw(VALUES)}
    elif kind == "deliverable_value_in":
        config = {"key": key, "values": draw(st.lists(VALUES, max_size=3))}
    elif kind == "deliverable_value_numeric":
        operator = draw(st.sampled_from(["gt", "gte", "lt", "lte", "eq", "neq"]))
        config = {"key": key, "operator": operator, "value": draw(st.integers(-2, 9))}
    elif kind == "turn_count_exceeded":
        scope = draw(st.sampled_from(["without_progress", "total", "session"]))
        config = {"turns": draw(st.integers(1, 4)), "scope": scope}
    elif kind != "all_tasks_complete":
        config = {"conditions": draw(st.lists(conditions(depth + 1), min_size=1, max_size=2))}
        if kind == "compound":
            config["operator"] = draw(st.sampled_from(["and", "or"]))
    return {"condition_type": kind, "condition_config": config}


@st.composite
def plans(draw: st.DrawFn) -> dict[str, Any]:
    """A plan of two to six states with shared keys, all kinds, self and end targets."""
    names = [f"s{n}" for n in range(draw(st.integers(2, 6)))]
    states: list[dict[str, Any]] = []
    for name in names:
        kind = draw(st.sampled_from(["strict", "loose", "goal"]))
        state: dict[str, Any] = {"id": name, "title": name, "type": kind}
        if kind == "goal":
            keys = draw(st.lists(st.sampled_from(KEYS), max_size=2, unique=True))
            items = [{"key": k, "required": draw(st.booleans()), **TYPES[k]} for k in keys]
            state["goal"] = {"objective": "o", "deliverables": items}
        else:
            state["tasks"] = draw(tasks(name))
        routes = draw(st.lists(conditions(), max_size=3))
        state["transitions"] = [
            {"target_state_id": draw(st.sampled_from([*names, "__end__", "nowhere"])),
             "priority": draw(st.integers(1, 3)), **route}
            for route in routes
        ]  # fmt: skip
        if draw(st.booleans()):
            state["on_reenter"] = draw(st.sampled_from(["keep", "reset"]))
        states.append(state)
    limits = draw(st.sampled_from([{}, {"stuck_turns": 3}, {"stuck_turns": 0}]))
    return {"id": "p", "title": "P", "states": states, "limits": limits}


@st.composite
def tasks(draw: st.DrawFn, state: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for number in range(draw(st.integers(0, 3))):
        keys = draw(st.lists(st.sampled_from(KEYS), max_size=2, unique=True))
        items = [{"key": k, "required": draw(st.booleans()), **TYPES[k]} for k in keys]
        found.append({"id": f"{state}t{number}", "description": "d",
                      "required": draw(st.booleans()), "deliverables": items})  # fmt: skip
    return found


@st.composite
def operations(draw: st.DrawFn) -> list[tuple[str, Any, Any]]:
    """What a model and a person may do, in any order."""
    found: list[tuple[str, Any, Any]] = []
    for _ in range(draw(st.integers(1, 25))):
        op = draw(
            st.sampled_from(["set", "set", "complete", "skip", "skip_state", "close", "turn"])
        )
        task = f"s{draw(st.integers(0, 5))}t{draw(st.integers(0, 2))}"
        key = draw(st.sampled_from([*KEYS, "zz", "__goal_achieved__"]))
        outcome = draw(st.sampled_from(["achieved", "given_up", "hm"]))
        first = {"set": key, "complete": task, "skip": task, "close": outcome}.get(op, "")
        found.append((op, first, draw(VALUES)))
    return found
