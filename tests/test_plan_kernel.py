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

from statecli.kernel.calls import Outcome, Plan
from statecli.kernel.order import routes_of
from statecli.kernel.recorder import Recorder
from statecli.kernel.settle import end_turn, settle
from statecli.kernel.tasks import (
    GOAL_DELIVERABLES,
    addressed,
    deliverable_status,
    offered,
    progress,
    state_status,
    task_status,
)
from statecli.load.loader import load
from statecli.model.event import Started
from statecli.model.graph import State
from statecli.model.snapshot import Snapshot

ROOT = Path(
    os.environ.get("STATECLI_CASES") or Path(__file__).parent.parent.parent / "shared/cases"
)
FOLDER = ROOT / "plan-kernel"
FILES = sorted(FOLDER.rglob("*.json"))

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason=f"the cases are not at {FOLDER}")


class Driver:
    """Our kernel behind the operations of the cases."""

    def __init__(self, plan: dict[str, Any]) -> None:
        graph = load("plan.json", json.dumps(plan)).graph
        assert graph is not None
        self.graph = graph
        self.to = Recorder(graph, Snapshot())
        self.to.emit(Started(graph.initial, {}))
        self.plan = Plan(self.to, 0)

    def run(self, op: str, args: dict[str, Any]) -> dict[str, Any]:
        if op in {"set_deliverable", "complete_task", "skip_task", "skip_state", "close_goal"}:
            return self.call(op, args)
        if op == "settle":
            return {"moved": settle(self.to, 0), **self.where()}
        if op in {"end_turn", "finish_turn"}:
            if op == "end_turn":
                self.forget_this_turn()
            return {"moved": end_turn(self.to, 0), **self.where()}
        if op == "pending":
            return {"tasks": offered(self.to.snapshot, self.plan.state)}
        return {**self.where(), "states": self.states()}

    def call(self, op: str, args: dict[str, Any]) -> dict[str, Any]:
        outcome: Outcome
        if op == "set_deliverable":
            outcome = self.plan.set_deliverable(args["key"], args["value"])
        elif op == "skip_state":
            outcome = self.plan.skip_state(args.get("state") or "")
        elif op == "close_goal":
            outcome = self.plan.close_goal(args["outcome"])
        else:
            outcome = getattr(self.plan, op)(args["task"])
        if not outcome.ok:
            return {"ok": False, **self.where()}
        return {"ok": True, "moved": settle(self.to, 0), **self.where()}

    def forget_this_turn(self) -> None:
        token = self.to.snapshot.token._replace(fresh=False, progressed=False)
        self.to.snapshot = self.to.snapshot._replace(tokens=(token,))

    def where(self) -> dict[str, Any]:
        snapshot = self.to.snapshot
        return {
            "state": snapshot.state,
            "progress": progress(self.graph, snapshot).percent,
            "idle_turns": snapshot.token.idle,
            "total_turns": snapshot.turns,
            "ended": snapshot.status == "ended",
        }

    def states(self) -> dict[str, Any]:
        snapshot = self.to.snapshot
        found: dict[str, Any] = {}
        for state in self.graph.states.values():
            status = state_status(snapshot, state)
            tasks = self.goal_tasks(state, status)
            for task in state.tasks:
                tasks[task.id] = {
                    "status": task_status(snapshot, state, task),
                    "deliverables": {
                        item.key: deliverable_status(snapshot, state, task, item)
                        for item in task.deliverables
                    },
                }
            found[state.name] = {"status": status, "tasks": tasks}
        return found

    def goal_tasks(self, state: State, status: str) -> dict[str, Any]:
        """The synthetic task under which the cases show a goal's deliverables."""
        if state.kind != "goal" or state.goal is None or not state.goal.deliverables:
            return {}
        data, early = self.to.snapshot.data, self.to.snapshot.early
        shown = {}
        for item in state.goal.deliverables:
            missing = "skipped" if status == "completed" else "pending"
            late = "partial" if item.key in early else missing
            shown[item.key] = "completed" if item.key in data else late
        required = [item.key for item in state.goal.deliverables if item.required]
        if status == "completed" or (required and all(key in data for key in required)):
            word = "completed"
        else:
            word = "in_progress" if any(key in data for key in required) else "pending"
        return {GOAL_DELIVERABLES: {"status": word, "deliverables": shown}}


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
