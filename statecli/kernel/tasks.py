"""Tasks, deliverables and goals: what is addressed, offered, done (model.md 5)."""

from __future__ import annotations

from typing import NamedTuple

from statecli.model.graph import Deliverable, Graph, State, Task
from statecli.model.snapshot import Snapshot

#: The id under which the goal itself is offered and shown.
GOAL = "__goal__"
GOAL_DELIVERABLES = "__goal_deliverables__"


def record(state: State, task: Task) -> str:
    """The key of a task's record: its status is kept per state."""
    return f"{state.name}/{task.id}"


def addressed(snapshot: Snapshot, state: State, task: Task) -> bool:
    """Completed or skipped, or with deliverables of which all needed ones are collected."""
    if record(state, task) in snapshot.tasks:
        return True
    needed = task.needed
    return bool(needed) and all(item.key in snapshot.data for item in needed)


def complete(snapshot: Snapshot, state: State) -> bool:
    """Every task of the state, required and optional, is addressed; true without tasks."""
    return all(addressed(snapshot, state, task) for task in state.tasks)


def current(snapshot: Snapshot, state: State) -> Task | None:
    """In a strict state the task whose turn it is: the first that is not addressed."""
    return next((task for task in state.tasks if not addressed(snapshot, state, task)), None)


def offered(snapshot: Snapshot, state: State) -> list[str]:
    """The ids of the tasks that may be worked on now."""
    if state.kind == "goal":
        return [GOAL]
    if state.kind == "strict":
        task = current(snapshot, state)
        return [task.id] if task is not None else []
    return [task.id for task in state.tasks if not addressed(snapshot, state, task)]


def task_status(snapshot: Snapshot, state: State, task: Task) -> str:
    """completed, skipped, in_progress (one of its values is there) or pending."""
    status = snapshot.tasks.get(record(state, task))
    if status is not None:
        return status
    if addressed(snapshot, state, task):
        return "completed"
    values = snapshot.data.keys() | snapshot.early.keys()
    return "in_progress" if any(i.key in values for i in task.deliverables) else "pending"


def deliverable_status(snapshot: Snapshot, state: State, task: Task, item: Deliverable) -> str:
    """completed, partial (not confirmed yet), skipped (its task is) or pending."""
    if item.key in snapshot.data:
        return "completed"
    if item.key in snapshot.early:
        return "partial"
    return "skipped" if snapshot.tasks.get(record(state, task)) == "skipped" else "pending"


def state_status(snapshot: Snapshot, state: State) -> str:
    """active, completed or pending. A state without tasks is complete before it was entered; a
    goal state once a visit of it was closed, given up or released."""
    if snapshot.status != "ended" and any(t.state == state.name for t in snapshot.tokens):
        return "active"
    done = state.name in snapshot.goals if state.kind == "goal" else complete(snapshot, state)
    return "completed" if done else "pending"


class Progress(NamedTuple):
    """How much of a plan is done: `have` of `need`."""

    have: int
    need: int

    @property
    def percent(self) -> int:
        """Rounded half up; 100 when nothing is needed."""
        return (200 * self.have + self.need) // (2 * self.need) if self.need else 100


def progress(graph: Graph, snapshot: Snapshot) -> Progress:
    """Over all states: the required values, and the required tasks that declare none. A key counts
    once in each state; unconfirmed values and insights do not count."""
    have = need = 0
    for state in graph.states.values():
        if not state.is_plan:
            continue
        keys: dict[str, None] = {}
        for task in state.tasks:
            if not task.required:
                continue
            if not task.deliverables:
                need += 1
                have += snapshot.tasks.get(record(state, task)) == "completed"
            keys.update((item.key, None) for item in task.deliverables if item.required)
        if state.kind == "goal" and state.goal is not None:
            keys.update((item.key, None) for item in state.goal.deliverables if item.required)
        need += len(keys)
        have += sum(key in snapshot.data for key in keys)
    return Progress(have, need)
