"""The recorded runs of the plan engine, and our own, against the kernel.

Every `*.json` of the cases' folder `plan-kernel` (README there) is driven through `kernel/`; no
case is skipped by name.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from plan_driver import Driver

from statecli.kernel.order import routes_of
from statecli.kernel.tasks import addressed
from statecli.load.loader import load
from statecli.model.snapshot import Snapshot

ROOT = Path(
    os.environ.get("STATECLI_CASES") or Path(__file__).parent.parent.parent / "shared/cases"
)
FOLDER = ROOT / "plan-kernel"
FILES = sorted(FOLDER.rglob("*.json"))

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason=f"the cases are not at {FOLDER}")


def compare(expected: Any, actual: Any, where: str) -> None:
    """Every key that the case names; dicts are compared key by key."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        for key, value in expected.items():
            assert key in actual, f"{where}: no {key} in {actual}"
            compare(value, actual[key], f"{where}.{key}")
    else:
        assert actual == expected, where


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(FOLDER)))
def test_recorded_run(path: Path) -> None:
    case = json.loads(path.read_text("utf-8"))
    driver = Driver(case["plan"])
    assert driver.to.snapshot.state == case["expect_initial"]
    for number, step in enumerate(case["steps"]):
        answer = driver.run(step["op"], step.get("args") or {})
        compare(step.get("expect") or {}, answer, f"{path.name} step {number} {step['op']}")


def test_a_key_shared_by_tasks_addresses_both() -> None:
    graph = load(
        "p.yaml",
        "states: [{id: a, title: A, tasks: [{id: t, description: d, deliverables:"
        " [{key: k}]}, {id: u, description: d, deliverables: [{key: k}]}]}]",
    ).graph
    assert graph is not None
    state = graph.states["a"]
    snapshot = Snapshot(data={"k": "x"})
    assert [addressed(snapshot, state, task) for task in state.tasks] == [True, True]


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ("{target_state_id: a}", ["a", "b"]),
        ("{target_state_id: nowhere}", ["nowhere", "b"]),
        (
            (
                "{target_state_id: a}, {target_state_id: c, condition_type: deliverable_exists,"
                " condition_config: {key: k}}"
            ),
            ["a", "c", "b"],
        ),
        ("{target_state_id: c}", ["c"]),
        ("{target_state_id: __end__}", ["__end__"]),
    ],
)
def test_routes_of_a_goal_that_never_fire_leave_the_order_in_force(
    written: str, wanted: list[str]
) -> None:
    goal = "type: goal, goal: {objective: o, deliverables: [{key: k}]}"
    graph = load(
        "p.yaml",
        f"states: [{{id: a, title: A, {goal}, transitions: [{written}]}},"
        " {id: b, title: B}, {id: c, title: C}]",
    ).graph
    assert graph is not None
    assert [route.target for route in routes_of(graph, "a")] == wanted


def test_routes_of_a_task_state_to_itself_leave_the_order_in_force() -> None:
    graph = load(
        "p.yaml",
        "states: [{id: a, title: A, tasks: [{id: t, description: d}],"
        " transitions: [{target_state_id: a}]}, {id: b, title: B}]",
    ).graph
    assert graph is not None
    assert [route.target for route in routes_of(graph, "a")] == ["a", "b"]
