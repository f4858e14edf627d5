"""The kernel of plans behind the few operations that a model and its turns are made of."""

from __future__ import annotations

import json
from typing import Any

from statecli.kernel.calls import Outcome, Plan
from statecli.kernel.recorder import Recorder
from statecli.kernel.settle import end_turn, settle
from statecli.kernel.tasks import (
    GOAL_DELIVERABLES,
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
