"""The calls with which a model works a plan state (model.md 5.1): accepted, or refused with a
reason it can act on. Pure: each answers what happened, as events; the caller settles afterwards."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from statecli.kernel.choose import view_of
from statecli.kernel.limits import limit
from statecli.kernel.order import routes_of
from statecli.kernel.recorder import Recorder
from statecli.kernel.reducers import Misfit, fitted
from statecli.kernel.tasks import addressed, current, offered, record
from statecli.kernel.values import Unfit
from statecli.model.data import shown
from statecli.model.event import Changed, Insight, Refused
from statecli.model.graph import Deliverable, State, Task
from statecli.model.guard import as_number, evaluate, fold, reads
from statecli.model.snapshot import Snapshot

#: The key by which older agents said that a goal is reached; read as `close_goal("achieved")`.
OLD_GOAL_KEY = "__goal_achieved__"
OUTCOMES = ("achieved", "given_up")


class Outcome(NamedTuple):
    """Whether a call was accepted, and what to tell the model."""

    ok: bool
    text: str


class Plan:
    """The calls on one token's plan state. Every accepted change is emitted as an event."""

    def __init__(self, to: Recorder, token: int) -> None:
        self.to = to
        self.number = token

    @property
    def snapshot(self) -> Snapshot:
        return self.to.snapshot

    @property
    def state(self) -> State:
        return self.to.graph.states[self.to.token(self.number).state]

    # --- values ---------------------------------------------------------------------------------

    def set_deliverable(self, key: str, value: Any) -> Outcome:
        """Collect a value. In a strict state one for a later task waits unconfirmed."""
        state = self.state
        items = [item for item in state.deliverables() if item.key == key]
        if not items:
            return self._undeclared(key, value)
        stored = self._stored(items[0], value)
        if isinstance(stored, Unfit):
            return self._refuse(f"set_deliverable {key}", stored.reason)
        if state.kind == "strict" and not self._is_due(key):
            if self.snapshot.early.get(key, None) != stored or key not in self.snapshot.early:
                self.to.emit(Changed(self.number, state.name, early={key: stored}))
            return Outcome(True, f"'{key}' is kept; confirm it when its task comes up")
        if key in self.snapshot.data and _equal(self.snapshot.data[key], stored):
            return Outcome(True, f"'{key}' already has this value")
        self.to.emit(Changed(self.number, state.name, data={key: stored}, progress=True))
        return Outcome(True, f"'{key}' is {shown(stored)}")

    def _stored(self, item: Deliverable, value: Any) -> Any:
        """The value by the deliverable's type, and by that of the field where the graph declares
        one; else Unfit."""
        stored = converted(item, value)
        field = self.to.graph.fields.get(item.key)
        if isinstance(stored, Unfit) or field is None or field.origin != "declared":
            return stored
        try:
            return fitted(self.to.graph, self.snapshot.data, {item.key: stored}).delta[item.key]
        except Misfit as error:
            return Unfit(str(error))

    def _undeclared(self, key: str, value: Any) -> Outcome:
        state = self.state
        if state.kind != "goal":
            listed = ", ".join(dict.fromkeys(item.key for item in state.deliverables())) or "none"
            reason = f"'{state.name}' collects no '{key}'; it collects: {listed}"
            return self._refuse(f"set_deliverable {key}", reason)
        if self.closes(key, value):
            return self.close_goal("achieved")
        most = limit(self.to.graph, "max_insights")
        if len(self.snapshot.insights) >= most:
            return self._refuse("insight", f"{most} insights are kept in a session; no more")
        self.to.emit(Insight(self.number, state.name, key, value))
        return Outcome(True, f"'{key}' is kept as an insight")

    def _is_due(self, key: str) -> bool:
        """Whether a strict state takes this value now: its task is the current or an earlier one,
        or is addressed anyhow."""
        state = self.state
        now = current(self.snapshot, state)
        for task in state.tasks:
            if any(item.key == key for item in task.deliverables) and (
                task is now or addressed(self.snapshot, state, task)
            ):
                return True
        return False

    # --- tasks ----------------------------------------------------------------------------------

    def complete_task(self, name: str) -> Outcome:
        """Close a task that needs no further value."""
        found = self._find(name)
        if isinstance(found, Outcome):
            return found
        state, call = self.state, f"complete_task {name}"
        status = self.snapshot.tasks.get(record(state, found))
        if status != "skipped" and addressed(self.snapshot, state, found):
            return Outcome(True, f"'{name}' is already done")
        if state.kind == "strict" and status is None:
            now = current(self.snapshot, state)
            if now is not None and found is not now:
                return self._refuse(call, f"one task at a time: '{now.id}' comes first")
        lacking = [
            item.key
            for item in found.deliverables
            if item.required and item.key not in self.snapshot.data
        ]
        if lacking:
            listed = ", ".join(f"'{key}'" for key in lacking)
            return self._refuse(call, f"still missing: {listed}")
        return self._mark({record(state, found): "completed"}, f"'{name}' is completed")

    def skip_task(self, name: str) -> Outcome:
        """Leave a task open for good; loose states only."""
        found = self._find(name)
        if isinstance(found, Outcome):
            return found
        state = self.state
        if addressed(self.snapshot, state, found):
            return Outcome(True, f"'{name}' is already done")
        if state.kind == "strict":
            return self._refuse(f"skip_task {name}", "tasks of a strict state cannot be skipped")
        return self._mark({record(state, found): "skipped"}, f"'{name}' is skipped")

    def _find(self, name: str) -> Task | Outcome:
        """The task of the current state; a task of another state is either done or refused."""
        state = self.state
        if state.kind != "goal":
            for task in state.tasks:
                if task.id == name:
                    return task
        for other in self.to.graph.states.values():
            for task in other.tasks if other.kind != "goal" else ():
                if task.id == name and other is not state:
                    if addressed(self.snapshot, other, task):
                        return Outcome(True, f"'{name}' is already done")
        if state.kind == "goal":
            return self._refuse(name, "a goal state has no tasks; it is closed with close_goal")
        listed = ", ".join(offered(self.snapshot, state)) or "none"
        return self._refuse(name, f"no such task in '{state.name}'; open now: {listed}")

    def skip_state(self, name: str = "") -> Outcome:
        """Skip every open task of the current state; in a goal state, give the goal up."""
        state = self.state
        if name and name != state.name:
            return self._refuse("skip_state", f"the current state is '{state.name}', not '{name}'")
        if state.kind == "strict":
            return self._refuse("skip_state", "a strict state cannot be skipped")
        if state.kind == "goal":
            return self.close_goal("given_up")
        left = [task for task in state.tasks if not addressed(self.snapshot, state, task)]
        if not left:
            return Outcome(True, f"nothing is open in '{state.name}'")
        marks = {record(state, task): "skipped" for task in left}
        return self._mark(marks, f"the open tasks of '{state.name}' are skipped")

    def _mark(self, tasks: dict[str, str], text: str) -> Outcome:
        self.to.emit(Changed(self.number, self.state.name, tasks=tasks, progress=True))
        return Outcome(True, text)

    # --- the goal -------------------------------------------------------------------------------

    def closes(self, key: str, value: Any) -> bool:
        """Whether a value is the way in which older agents say that the goal is reached: it needs
        the second check as `close_goal` does."""
        state = self.state
        declared = any(item.key == key for item in state.deliverables())
        return state.kind == "goal" and key == OLD_GOAL_KEY and value is True and not declared

    def close_goal(self, outcome: str) -> Outcome:
        """Close the goal of this visit. The second check (5.4) has agreed before this is called."""
        refusal = self.goal_refusal(outcome)
        if refusal:
            return self._refuse("close_goal", refusal)
        if self.to.token(self.number).closed:
            return Outcome(True, "the goal is already closed")
        self.to.emit(Changed(self.number, self.state.name, goal=outcome, progress=True))
        return Outcome(True, "the goal is reached" if outcome == "achieved" else "given up")

    def goal_refusal(self, outcome: str) -> str:
        """Why the goal cannot be closed like this yet, or an empty text."""
        state = self.state
        if state.kind != "goal":
            return f"'{state.name}' has no goal"
        if outcome not in OUTCOMES:
            return f"the outcome is 'achieved' or 'given_up', not '{outcome}'"
        if outcome == "given_up":
            return ""
        required = [item.key for item in state.deliverables() if item.required]
        early = [key for key in required if key in self.snapshot.early]
        if early:
            return f"still to be confirmed: {', '.join(early)}"
        lacking = [key for key in required if key not in self.snapshot.data]
        if not lacking or self._data_route_holds():
            return ""
        wanted = self._routed_keys()
        if wanted:
            return f"still missing: any one of {', '.join(wanted)}"
        return f"still missing: {', '.join(lacking)}"

    def _data_route_holds(self) -> bool:
        """Whether a route that reads data would be taken once the goal is closed."""
        token = self.to.token(self.number)._replace(closed="achieved")
        view = view_of(self.to.graph, self.snapshot, token, None)
        return any(
            route.guard is not None and reads(route.guard) and evaluate(route.guard, view)
            for route in routes_of(self.to.graph, self.state.name)
        )

    def _routed_keys(self) -> list[str]:
        own = {item.key for item in self.state.deliverables()}
        keys: dict[str, None] = {}
        for route in routes_of(self.to.graph, self.state.name):
            if route.guard is not None:
                keys.update((key, None) for key in reads(route.guard) if key in own)
        return list(keys)

    def _refuse(self, what: str, reason: str) -> Outcome:
        self.to.emit(Refused(self.number, self.state.name, what, reason))
        return Outcome(False, reason)


_YES = frozenset({"true", "yes", "on", "1"})
_NO = frozenset({"false", "no", "off", "0"})


def converted(item: Deliverable, value: Any) -> Any:
    """The value as it is stored, or Unfit. Text is converted where the type asks for more."""
    if value is None or isinstance(value, list | dict | tuple):
        what = "null" if value is None else "a list or mapping"
        return Unfit(f"'{item.key}' takes one value, not {what}")
    if item.type == "enum":
        for member in item.values:
            if _equal(member, value) or (
                isinstance(member, str) and isinstance(value, str) and fold(member) == fold(value)
            ):
                return member
        listed = ", ".join(shown(member) for member in item.values)
        return Unfit(f"{shown(value)} is none of the values of '{item.key}': {listed}")
    if item.type in ("number", "integer"):
        return _number(item, value)
    if item.type == "boolean":
        return _boolean(item, value)
    if isinstance(value, str):
        return value
    return json.dumps(value)


def _number(item: Deliverable, value: Any) -> Any:
    number = as_number(value)
    if number is None:
        return Unfit(f"'{item.key}' takes a number, not {shown(value)}")
    if item.type == "integer":
        if number != int(number):
            return Unfit(f"'{item.key}' takes a whole number, not {shown(value)}")
        return int(number)
    return number


def _boolean(item: Deliverable, value: Any) -> Any:
    if isinstance(value, bool):
        return value
    word = fold(str(value))
    if word in _YES:
        return True
    if word in _NO:
        return False
    return Unfit(f"'{item.key}' takes true or false, not {shown(value)}")


def _equal(left: object, right: object) -> bool:
    """Equal values of one sort: true is not 1."""
    return isinstance(left, bool) == isinstance(right, bool) and left == right
