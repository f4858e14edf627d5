"""Generated graphs: the same seed gives the same bytes, and `statecli validate` has nothing to say.

    python benchmarks/generate.py states|plan|chain|local|local-plan COUNT FILE

`states`, `chain` and `local` are YAML in the `states` form, the others JSON in the `plan` form. The
routes of `local` graphs lead to near states, as in graphs that people draw.
Every state has a description of its own and leads to the next one, so all are reachable and the
last one ends every graph.
"""

import json
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

KINDS = ("user", "agent", "tool", "decision", "planner", "executor", "verifier")
CHAIN_KINDS = ("user", "agent", "tool")  # one target is enough for each of these
WORDS = (
    "collect",
    "verify",
    "confirm",
    "route",
    "search",
    "summarise",
    "plan",
    "execute",
    "answer",
    "greet",
    "escalate",
    "review",
    "update",
    "order",
    "refund",
    "account",
    "ticket",
    "policy",
    "customer",
    "step",
    "result",
    "context",
    "reply",
    "question",
)
SEED = 7
NEAR = 50  # how far nine of ten transitions reach, in states
SECTION = 10  # states between two comment lines


class Sketch(NamedTuple):
    """A graph before it is written in some language; `targets` hold indexes into `names`."""

    names: list[str]
    kinds: list[str]
    descriptions: list[str]
    targets: list[tuple[int, ...]]


def branching(count: int) -> Sketch:
    """Sketch `count` states (four or more) with three targets each; the last one ends the run."""
    if count < 4:
        raise ValueError("three other targets need four states or more")
    rng = random.Random(SEED)
    targets = [_three_targets(rng, here, count) for here in range(count - 1)]
    return _sketch(targets, KINDS)


def chain(count: int) -> Sketch:
    """Sketch `count` states in one line: as deep as a graph can get."""
    return _sketch([(here + 1,) for here in range(count - 1)], CHAIN_KINDS)


def local(count: int) -> Sketch:
    """Sketch `count` states that go on, skip one or go back a little; one of 100 leads far away."""
    rng = random.Random(SEED)
    targets = [_near_targets(rng, here, count) for here in range(count - 1)]
    return _sketch(targets, CHAIN_KINDS)


def _near_targets(rng: random.Random, here: int, count: int) -> tuple[int, ...]:
    targets = [here + 1]
    if rng.random() < 0.3:
        targets.append(min(count - 1, here + 2))
    if rng.random() < 0.35:
        targets.append(max(0, here - rng.randint(1, 4)))
    if rng.random() < 0.01:
        targets.append(rng.randrange(count))
    return tuple(target for target in dict.fromkeys(targets) if target != here)[:3]


def _three_targets(rng: random.Random, here: int, count: int) -> tuple[int, ...]:
    low, high = max(0, here - NEAR), min(count - 1, here + NEAR)
    targets = [here + 1]
    while len(targets) < 3:
        target = rng.randint(low, high) if rng.random() < 0.9 else rng.randrange(count)
        if target != here and target not in targets:
            targets.append(target)
    return tuple(targets)


def _sketch(targets: list[tuple[int, ...]], kinds: Sequence[str]) -> Sketch:
    count = len(targets) + 1
    rng = random.Random(count)
    return Sketch(
        names=[_name(here) for here in range(count)],
        kinds=[kinds[here % len(kinds)] for here in range(count - 1)] + ["terminal"],
        descriptions=[_description(rng, here) for here in range(count)],
        targets=[*targets, ()],
    )


def _name(here: int) -> str:
    return f"{WORDS[here % len(WORDS)]}_{WORDS[here // len(WORDS) % len(WORDS)]}_{here}"


def _description(rng: random.Random, here: int) -> str:
    return " ".join(rng.choices(WORDS, k=9)).capitalize() + f" (state {here})"


def states_text(sketch: Sketch) -> str:
    """Write a sketch in the `states` form as people do: YAML with comments and flow lists."""
    names = sketch.names
    lines = [f"# generated: {len(names)} states", f"initial: {names[0]}", "", "states:"]
    for here, targets in enumerate(sketch.targets):
        if here % SECTION == 0:
            lines.append(f"  # === section {here // SECTION} ===")
        lines.append(f"  {names[here]}:")
        lines.append(f'    description: "{sketch.descriptions[here]}"')
        lines.append(f"    type: {sketch.kinds[here]}")
        if targets:
            remark = "  # loop, go on or hand over" if here % SECTION == 5 else ""
            listed = ", ".join(names[target] for target in targets)
            lines.append(f"    transition:\n      next: [{listed}]{remark}")
        lines.append("")
    return "\n".join(lines)


def states_json(sketch: Sketch) -> str:
    """The same in JSON, for peers that read JSON or are handed lists."""
    states: dict[str, Any] = {}
    for here, targets in enumerate(sketch.targets):
        state: dict[str, Any] = {
            "description": sketch.descriptions[here],
            "type": sketch.kinds[here],
        }
        if targets:
            state["transition"] = {"next": [sketch.names[target] for target in targets]}
        states[sketch.names[here]] = state
    return json.dumps({"initial": sketch.names[0], "states": states}, indent=1)


def plan_text(sketch: Sketch) -> str:
    """Write a sketch in the `plan` form: indented JSON."""
    names = [name.replace("_", "-") for name in sketch.names]
    plan = {
        "id": f"plan-{len(names)}",
        "title": "Generated plan",
        "initial_state_id": names[0],
        "states": [_plan_state(sketch, names, here) for here in range(len(names))],
    }
    return json.dumps(plan, indent=2)


def _plan_state(sketch: Sketch, names: list[str], here: int) -> dict[str, Any]:
    """Give a state one task with one deliverable; all routes but the last read its value.

    The routes of a state exclude each other, so none shadows another, and the state forgets its
    value when it is entered again, so no old value routes at once.
    """
    targets = sketch.targets[here]
    deliverable, guards = (_choice if here % 2 else _number)(f"k_{here}")
    task = {
        "id": f"t-{here}",
        "description": sketch.descriptions[here],
        "required": True,
        "deliverables": [deliverable],
    }
    return {
        "id": names[here],
        "title": names[here].replace("-", " ").title(),
        "type": ("strict", "loose")[here % 2],
        "description": sketch.descriptions[here],
        "on_reenter": "reset",
        "tasks": [task],
        "transitions": [
            {"target_state_id": names[target], **guard}
            for target, guard in zip(reversed(targets), guards[-len(targets) :], strict=False)
        ],
    }


def _choice(key: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    values = ["billing", "technical", "other"]
    deliverable = {"key": key, "type": "enum", "enum_values": values, "required": True}
    equal = [{"key": key, "value": value} for value in values[:2]]
    return deliverable, _guards("deliverable_value", equal)


def _number(key: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    deliverable = {"key": key, "type": "number", "required": True}
    ranges = [
        {"key": key, "operator": "gte", "value": 8},
        {"key": key, "operator": "between", "min": 4, "max": 7},
    ]
    return deliverable, _guards("deliverable_value_numeric", ranges)


def _guards(condition: str, configs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    first, second = configs
    return [
        {"condition_type": condition, "priority": 1, "condition_config": first},
        {"condition_type": condition, "priority": 2, "condition_config": second},
        {"condition_type": "all_tasks_complete", "priority": 10},
    ]


def main() -> None:
    """Write one graph to a file."""
    form, count, path = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
    make = {"chain": chain, "local": local, "local-plan": local}.get(form, branching)
    sketch = make(count)
    plans = {"plan": plan_text, "local-plan": plan_text}
    write = {**plans, "states-json": states_json}.get(form, states_text)
    path.write_text(write(sketch), encoding="utf-8")


if __name__ == "__main__":
    main()
