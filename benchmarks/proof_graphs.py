"""Graphs for measuring the verifier: the same arguments give the same bytes.

    python benchmarks/proof_graphs.py chain STATES FILE [RETRY]   a long plan with branches
    python benchmarks/proof_graphs.py pairs PAIRS FILE            correlated answers

`chain`: every third state asks for something new (enum, boolean, integer or text in turn), those
after it read the answer: branches, and RETRY of a hundred states have a way back. The answers are
read soon after they are given, as in long plans that people write. `pairs`: for every pair a branch
sets the second answer to the first; the last state reads all of them, so all have to be
remembered. That is the verifier's worst case: n pairs are 2^n combinations.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from typing import Any

SEED = 11
TYPES = ("enum", "boolean", "integer", "string")
MEMBERS = ["billing", "technical", "other"]
DONE = {"condition_type": "all_tasks_complete"}


def chain(count: int, retry: int) -> dict[str, Any]:
    """A plan of `count` states in a line, with branches; `retry` of a hundred states lead back."""
    rng = random.Random(SEED)
    back = {key for key in range(count // 3) if rng.random() * 100 < 3 * retry}
    states = [_link(rng, here, count, back) for here in range(count)]
    return {"id": f"chain-{count}", "title": "Chain", "states": states}


def _link(rng: random.Random, here: int, count: int, back: set[int]) -> dict[str, Any]:
    """One state. Of three, the first asks, the second may pass over the third for one answer, the
    third may lead back to the first for another one (all three begin anew then)."""
    key, place = here // 3, here % 3
    low, high = _conditions(key)
    task: dict[str, Any] = {"id": f"t{here}", "description": f"Talk about step {here}"}
    state = {"id": f"s{here}", "title": f"Step {here}", "type": "loose", "tasks": [task]}
    routes: list[dict[str, Any]] = []
    if place == 0:
        task["deliverables"] = [_deliverable(key)]
    if key in back:
        state["on_reenter"] = "reset"
    if place == 1 and here + 2 < count:
        routes.append({"target_state_id": f"s{here + 2}", "priority": 1} | low)
        if key and key - 1 not in back and rng.random() < 0.2:
            before = _conditions(key - 1)[1]
            routes.append({"target_state_id": f"s{here + 2}", "priority": 2} | before)
    if place == 2 and key in back:
        routes.append({"target_state_id": f"s{here - 2}", "priority": 1} | high)
    if here + 1 < count:
        routes.append({"target_state_id": f"s{here + 1}", "priority": 5} | DONE)
    return state | {"transitions": routes}


def _deliverable(key: int) -> dict[str, Any]:
    kind = TYPES[key % len(TYPES)]
    found: dict[str, Any] = {"key": f"k{key}", "type": kind, "description": f"Answer {key}"}
    return found | ({"enum_values": MEMBERS} if kind == "enum" else {})


def _conditions(key: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Two conditions on an answer that exclude each other."""
    kind, name = TYPES[key % len(TYPES)], f"k{key}"
    if kind == "enum":
        return _value(name, MEMBERS[0]), _value(name, MEMBERS[1])
    if kind == "boolean":
        return _value(name, True), _value(name, False)
    if kind == "integer":
        return _number(name, "gte", 8), _number(name, "lt", 3)
    return _value(name, "yes"), _value(name, "no")


def _value(key: str, value: object) -> dict[str, Any]:
    config = {"key": key, "value": value}
    return {"condition_type": "deliverable_value", "condition_config": config}


def _number(key: str, operator: str, value: int) -> dict[str, Any]:
    config = {"key": key, "operator": operator, "value": value}
    return {"condition_type": "deliverable_value_numeric", "condition_config": config}


def pairs(count: int) -> dict[str, Any]:
    """`count` pairs of booleans that are always equal; the last state asks whether they differ."""
    fields: dict[str, Any] = {}
    states: dict[str, Any] = {}
    for n in range(count):
        fields |= {f"p{n}": {"type": "bool"}, f"q{n}": {"type": "bool"}}
        after = f"ask{n + 1}" if n + 1 < count else "check"
        states[f"ask{n}"] = _agent(
            [f"p{n}"], [{"to": f"yes{n}", "when": {f"p{n}": True}}, f"no{n}"], f"ask {n}"
        )
        for word, value in (("yes", True), ("no", False)):
            routes: list[Any] = [{"to": after, "when": {f"q{n}": value}}, "end"]
            states[f"{word}{n}"] = _agent([f"q{n}"], routes, f"{word} {n}")
    unequal = [{"to": "odd", "when": {f"p{n}": True, f"q{n}": False}} for n in range(count)]
    states["check"] = {"type": "decision", "description": "check",
                       "transition": {"next": [*unequal, "end"]}}  # fmt: skip
    states["odd"] = {"type": "terminal", "description": "never"}
    states["end"] = {"type": "terminal", "description": "the end"}
    return {"initial": "ask0", "fields": fields, "states": states}


def _agent(writes: list[str], routes: list[Any], text: str) -> dict[str, Any]:
    return {
        "type": "agent", "description": text, "writes": writes, "transition": {"next": routes},
    }  # fmt: skip


def main() -> None:
    """Write one graph to a file."""
    kind, count, path = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
    retry = int(sys.argv[4]) if len(sys.argv) > 4 else 0
    found = pairs(count) if kind == "pairs" else chain(count, retry)
    path.write_text(json.dumps(found, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
