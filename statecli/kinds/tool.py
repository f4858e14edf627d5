"""`tool`: the model picks a tool and fills its arguments; the result is a message, and data."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from statecli.kernel.reducers import taken
from statecli.kernel.template import with_values
from statecli.kernel.values import Unfit, fits
from statecli.kinds.arguments import refusal
from statecli.kinds.calling import Calling, offered, whole
from statecli.kinds.prompt import system_prompt
from statecli.kinds.step import Delta, Step
from statecli.model.ports import ModelError, ToolResult, ToolSpec


async def run(step: Step) -> AsyncIterator[Delta | None]:
    """Arguments that do not fit the tool's schema are never sent: the reason goes back. What went
    wrong in the tool is a message too, so that the model knows; with `on_error` the step fails."""
    state = step.state
    fixed = state.settings.get("tool")
    listed = state.settings.get("tools")
    names = [fixed] if isinstance(fixed, str) else listed if isinstance(listed, list) else None
    tools = await offered(step, names)
    yield None
    if not tools:
        raise ModelError("no tool is declared that this state could use")
    prompt = system_prompt(step.graph, state, step.snapshot)
    calling = Calling(step)
    async for piece in calling.pick(tools, prompt):
        yield piece
    written = state.settings.get("arguments")
    if isinstance(written, dict):
        calling.arguments = _fixed(step, calling.tool, written)
    else:
        async for piece in calling.fill(prompt):
            yield piece
    fails = any(key == "on_error" for key, _ in state.jumps)
    async for piece in calling.send(message=True, errors=not fails):
        yield piece
    if not calling.result.ok:
        if fails:
            raise ModelError(f"{calling.tool.name}: {calling.result.text}")
        return
    delta = _delta(step, calling.result)
    if delta:
        step.change(delta)
    yield None


def _fixed(step: Step, tool: ToolSpec, written: dict[str, Any]) -> dict[str, Any]:
    """The arguments that the graph gives, with values for their variables."""
    try:
        found: dict[str, Any] = with_values(written, step.snapshot.data)
    except KeyError as error:
        raise ModelError(f"{tool.name} needs '{error.args[0]}', which is not set") from None
    reason = refusal(tool.schema, found)
    if reason:
        raise ModelError(f"the arguments of {tool.name} do not fit: {reason}")
    return found


def _delta(step: Step, result: ToolResult) -> dict[str, Any]:
    """Keys of a structured result that `writes` names; a single field takes the whole result."""
    writes = step.state.writes
    structured = result.structured
    found: dict[str, Any] = {}
    if structured is not None:
        found = {key: structured[key] for key in writes if key in structured}
    if not found and len(writes) == 1:
        found = {writes[0]: whole(structured) if structured is not None else result.text}
    for key, value in found.items():
        stored = fits(taken(step.graph, key), value)
        if isinstance(stored, Unfit):
            raise ModelError(f"the result does not fit: {stored.reason}")
        found[key] = stored
    return found
