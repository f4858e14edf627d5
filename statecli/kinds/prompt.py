"""The system text of a state: the graph's, the state's, what it may read, and its tasks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from statecli.kernel.tasks import addressed, current
from statecli.kernel.template import filled
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
    parts = [filled(t.strip(), now.data) for t in texts if isinstance(t, str) and t.strip()]
    parts.extend("\n".join(lines) for lines in _lists(state, now, skills) if len(lines) > 1)
    return "\n\n".join(parts)


def _prompt(state: State) -> object:
    return state.settings.get("prompt") or state.description


def _lists(state: State, now: Snapshot, skills: Sequence[str]) -> Iterator[list[str]]:
    """Headings with what stands under them; those with nothing under them say nothing."""
    reads = [key for key in state.reads if key in now.data and key != "messages"]
    yield ["Known:", *(f"- {key}: {shown(now.data[key], MAX_VALUE)}" for key in reads)]
    if state.kind == "goal":
        yield ["Your goal:", *_goal(state, now)]
    elif state.is_plan:
        yield ["Open tasks:", *_tasks(state, now)]
    yield ["Skills:", *(f"- {skill}" for skill in skills)]


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
