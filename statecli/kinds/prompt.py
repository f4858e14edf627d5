"""The system text of a state: the graph's, the state's, what it may read, and its tasks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from statecli.kernel.tasks import addressed, current
from statecli.kernel.template import filled
from statecli.llm.prompts import prompt
from statecli.model.data import shown
from statecli.model.graph import Deliverable, Graph, State, Task
from statecli.model.snapshot import Snapshot

#: A value that a state reads is told up to this many characters.
MAX_VALUE = 4_000


def system_prompt(
    graph: Graph,
    state: State,
    snapshot: Snapshot | None = None,
    skills: Sequence[str] = (),
) -> str:
    """`system_prompt` of the graph and `prompt` (else the description) of the state, with values
    for their variables; then the fields it reads, its open tasks or its goal, and the skills."""
    now = snapshot or Snapshot()
    texts = (graph.settings.get("system_prompt"), _prompt(state))
    first, second = (filled(t.strip(), now.data) if isinstance(t, str) else "" for t in texts)
    lists = {name: "\n".join(lines) for name, lines in _lists(state, now, skills)}
    return prompt(graph, "system", now.data, system_prompt=first, prompt=second, **lists)


def _prompt(state: State) -> object:
    return state.settings.get("prompt") or state.description


def _lists(
    state: State, now: Snapshot, skills: Sequence[str]
) -> Iterator[tuple[str, Iterable[str]]]:
    """What stands under each heading of the prompt `system`; often nothing."""
    reads = [key for key in state.reads if key in now.data and key != "messages"]
    yield "known", (f"- {key}: {shown(now.data[key], MAX_VALUE)}" for key in reads)
    yield "goal", _goal(state, now) if state.kind == "goal" else ()
    works = state.is_plan and state.kind != "goal"
    yield "tasks", _tasks(state, now) if works else ()
    yield "skills", (f"- {skill}" for skill in skills)


def _goal(state: State, now: Snapshot) -> Iterator[str]:
    """The objective and what is still missing; never a list of tasks (model.md 5.4)."""
    written = state.settings.get("goal")
    settings: Mapping[str, Any] = written if isinstance(written, Mapping) else {}
    for key in ("objective", "success_description", "context", "depth_guidance", "boundaries"):
        text = settings.get(key)
        if isinstance(text, str) and text.strip():
            yield f"- {key.replace('_', ' ')}: {filled(text.strip(), now.data)}"
    yield from (_item(item, now) for item in state.deliverables() if item.key not in now.data)


def _tasks(state: State, now: Snapshot) -> Iterator[str]:
    """The open tasks; in a strict state the one whose turn it is."""
    only = current(now, state) if state.kind == "strict" else None
    for task in state.tasks:
        if task is only if state.kind == "strict" else not addressed(now, state, task):
            yield from _task(task, now)


def _task(task: Task, now: Snapshot) -> Iterator[str]:
    optional = "" if task.required else " (optional)"
    yield f"- {task.id}: {filled(task.description, now.data)}{optional}"
    if task.instruction:
        yield f"    {filled(task.instruction.strip(), now.data)}"
    yield from (f"    {_item(i, now)}" for i in task.deliverables if i.key not in now.data)


def _item(item: Deliverable, now: Snapshot) -> str:
    """One value to collect; one that was said too early has to be confirmed."""
    kind = f"one of {', '.join(map(str, item.values))}" if item.values else item.type
    more = "" if item.required else ", optional"
    about = f" - {filled(item.description, now.data)}" if item.description else ""
    early = now.early.get(item.key)
    asked = f"; said before: {shown(early)}, to be confirmed" if item.key in now.early else ""
    return f"- {item.key} ({kind}{more}){about}{asked}"
