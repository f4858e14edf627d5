"""A witness as the turns of a conversation file (model.md 10): calls, writes, choices, no text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from statecli.kernel.order import options, routes_of
from statecli.model.data import is_map, shown
from statecli.model.diagnostic import Visit, Witness
from statecli.model.graph import Graph, State

#: What the person says where the words make no difference.
SILENT = "..."


def turns(graph: Graph, witness: Witness) -> list[dict[str, Any]]:
    """The turns that `--model script:FILE` plays."""
    script = _Script(graph)
    for number, visit in enumerate(witness.visits):
        following = witness.visits[number + 1].state if number + 1 < len(witness.visits) else ""
        script.visit(visit, following)
    return script.finished()


class _Script:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.turns: list[dict[str, Any]] = []
        self.open: dict[str, Any] | None = None
        self.calls: list[dict[str, Any]] | None = None
        self._begins()

    def _begins(self) -> None:
        """A plan that speaks first has a turn without a line; a graph whose first state does not
        wait reads a line first where there is a `user` state at all."""
        graph = self.graph
        roots = graph.roots()
        state = graph.states[roots[0]]
        if state.is_plan:
            if not self._on_demand():
                self._turn(None)
                self.open = None
        elif state.kind != "user":
            talks = any(one.kind == "user" for one in graph.states.values())
            first = state.settings.get("speaks_first") is True
            self._turn(SILENT if talks and not first else None)

    def _on_demand(self) -> bool:
        found: Any = self.graph.settings
        for key in ("metadata", "plan_builder", "start", "agent_spawn_mode"):
            found = found.get(key) if isinstance(found, Mapping) else None
        return bool(found == "on_demand")

    def _turn(self, say: str | None) -> dict[str, Any]:
        turn: dict[str, Any] = {"replies": []}
        if say is not None:
            turn = {"say": say, "replies": []}
        self.turns.append(turn)
        self.open, self.calls = turn, None
        return turn

    def visit(self, visit: Visit, following: str) -> None:
        state = self.graph.states[visit.state]
        if state.is_plan:
            for call in visit.turns:
                self._call(call)
            self._leave_plan(visit, following)
        else:
            self._body(state, visit)
            after = self.graph.states.get(following)
            if after is not None and after.is_plan:
                self.open = None

    def _leave_plan(self, visit: Visit, following: str) -> None:
        if following and not self.graph.states[following].is_plan:
            self.calls = None
        if visit.takes in ("net", "max_hops"):
            self.open = None

    def _call(self, call: Mapping[str, object]) -> None:
        if not call:
            if self.open is None:
                self._turn(SILENT)
            self.open = None
            return
        turn = self.open or self._turn(_spoken(call))
        if self.calls is None:
            self.calls = []
            turn["replies"].append({"calls": self.calls})
        if set(call) == {"close"}:
            quote = turn.get("say", SILENT)
            self.calls.append({"close_goal": {"outcome": "achieved", "quote": quote}})
            turn["replies"].append({"check": {"agree": True, "quote": quote}})
            self.calls = None
        elif set(call) == {"done"}:
            name = "complete_task" if self._completes(str(call["done"])) else "skip_task"
            self.calls.append({name: {"id": call["done"]}})
        else:
            for key, value in call.items():
                self.calls.append({"set_deliverable": {"key": key, "value": value}})

    def _completes(self, task: str) -> bool:
        """Whether a task can be completed without a value."""
        for state in self.graph.states.values():
            for found in state.tasks:
                if found.id == task:
                    return not any(item.required for item in found.deliverables)
        return True

    def _body(self, state: State, visit: Visit) -> None:
        written = dict(visit.turns[0]) if visit.turns else {}
        if state.kind == "user" and len(state.writes) == 1 and not written and not visit.takes:
            return  # the run comes here, and nothing is said any more
        if state.kind == "user":
            self._turn(_line(written))
        turn = self.open or self._turn(None)
        self.calls = None
        turn["replies"] += _replies(state, written)
        number = visit.taken
        if number is not None:
            target = state.transitions[number].target
            chosen = options(routes_of(self.graph, state.name))
            names = dict.fromkeys(way.target for way in chosen)
            if state.transitions[number] in chosen and len(names) > 1:
                if state.kind == "verifier":
                    turn["replies"] = [
                        {"verdict": {"done": True, "reason": SILENT, "next": target}}
                    ]
                else:
                    turn["replies"].append({"choice": target})

    def finished(self) -> list[dict[str, Any]]:
        for turn in self.turns:
            if not turn["replies"]:
                del turn["replies"]
        return self.turns


def _spoken(call: Mapping[str, object]) -> str:
    """What the person may have said."""
    if set(call) <= {"done", "close"}:
        return SILENT
    return ", ".join(f"{key} = {shown(value)}" for key, value in call.items())


def _line(written: Mapping[str, object]) -> str:
    """The line that is parsed into the one field of a `user` state."""
    for value in written.values():
        if isinstance(value, bool):
            return "yes" if value else "no"
        return str(value)
    return SILENT


def _replies(state: State, written: Mapping[str, object]) -> list[dict[str, Any]]:
    """What the model (and a tool) answers in the body of a state."""
    if state.kind == "tool":
        tool = _tool(state)
        return [{"calls": [{tool: {}}]}, {"result": dict(written) or SILENT}]
    if state.kind == "planner":
        return [{"plan": {"steps": [SILENT], "needs_permission": False}}]
    if state.kind == "executor":
        return [{"ok": True}]
    if state.kind == "skill_builder":
        return [{"skill": {"name": "skill", "text": SILENT}}, {"answer": "yes"}]
    if state.kind == "verifier":
        return []
    return [{"writes": dict(written)}] if written and state.kind == "agent" else []


def _tool(state: State) -> str:
    tool, tools = state.settings.get("tool"), state.settings.get("tools")
    if isinstance(tool, str):
        return tool
    return str(tools[0]) if isinstance(tools, list) and tools and not is_map(tools[0]) else "tool"
