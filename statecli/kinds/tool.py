"""`tool`: the model picks a tool and fills its arguments; the result is a message, and data."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from statecli.kernel.values import Unfit, fits
from statecli.kinds.prompt import filled, system_prompt
from statecli.kinds.schemas import refusal, tool_schema
from statecli.kinds.step import Delta, Step
from statecli.model.event import Called, Changed, Refused, Returned
from statecli.model.ports import ModelError, ToolResult, ToolSpec

#: How often a model may get the arguments wrong before the step fails.
ATTEMPTS = 3


async def run(step: Step) -> AsyncIterator[Delta | None]:
    """Arguments that do not fit the tool's schema are never sent: the reason goes back."""
    state = step.state
    fixed = state.settings.get("tool")
    listed = state.settings.get("tools")
    names = [fixed] if isinstance(fixed, str) else listed if isinstance(listed, list) else None
    tools = await step.world.tools(names)
    if not tools:
        raise ModelError("no tool is declared that this state could use")
    tool = tools[0]
    if len(tools) > 1:
        request = step.request("tool", system_prompt(step.graph, state), tools=tools)
        request = request._replace(schema=tool_schema([t.name for t in tools]))
        async for piece in step.ask(request):
            yield piece
        tool = _picked(step.answer.value, tools)
    arguments: Any = state.settings.get("arguments")
    if isinstance(arguments, dict):
        data = step.snapshot.data
        arguments = {k: filled(v, data) if isinstance(v, str) else v for k, v in arguments.items()}
    else:
        async for piece in _arguments(step, tool):
            yield piece
        arguments = step.answer.value
    call = step.world.new_id()
    step.emit(Called(step.number, state.name, call, tool.name, arguments))
    yield None
    result = await step.world.call(tool, arguments)
    shown = result.structured if result.structured is not None else result.text
    step.emit(Returned(step.number, state.name, call, shown, result.ok, message=True))
    if not result.ok:
        yield None
        raise ModelError(f"{tool.name}: {result.text}")
    delta = _delta(step, result)
    if delta:
        step.emit(Changed(step.number, state.name, delta))
    yield None


def _picked(value: Any, tools: tuple[ToolSpec, ...]) -> ToolSpec:
    name = value.get("tool") if isinstance(value, dict) else value
    for tool in tools:
        if tool.name == name:
            return tool
    raise ModelError(f"there is no tool '{name}'; there are: {', '.join(t.name for t in tools)}")


async def _arguments(step: Step, tool: ToolSpec) -> AsyncIterator[Delta | None]:
    note = ""
    for _ in range(ATTEMPTS):
        request = step.request("arguments", tools=(tool,), schema=tool.schema, note=note)
        async for piece in step.ask(request):
            yield piece
        note = refusal(tool.schema, step.answer.value)
        if not note:
            return
        step.emit(Refused(step.number, step.state.name, f"arguments of {tool.name}", note))
        yield None
    raise ModelError(f"no arguments that fit {tool.name} in {ATTEMPTS} attempts: {note}")


def _delta(step: Step, result: ToolResult) -> dict[str, Any]:
    """Keys of a structured result that `writes` names; a single field takes the whole result."""
    writes = step.state.writes
    structured = result.structured
    found: dict[str, Any] = {}
    if structured is not None:
        found = {key: structured[key] for key in writes if key in structured}
    if not found and len(writes) == 1:
        found = {writes[0]: structured if structured is not None else result.text}
    for key, value in found.items():
        stored = fits(step.graph.fields.get(key), value)
        if isinstance(stored, Unfit):
            raise ModelError(f"the result does not fit: {stored.reason}")
        found[key] = stored
    return found
