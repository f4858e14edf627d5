"""Tools as bodies call them: picked, given arguments that fit, called, and the result read."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from statecli.kernel.values import spaced
from statecli.kinds.arguments import refusal
from statecli.kinds.schemas import tool_schema
from statecli.kinds.step import Delta, Step
from statecli.model.event import Called, Refused, Returned
from statecli.model.ports import ModelError, ToolResult, ToolSpec

#: How often a model is asked when what it says does not fit: once, and with the error twice more.
ATTEMPTS = 3
#: What goes back to a model of its mistake is no longer than this.
MAX_REASON = 800


class Calling:
    """One call of a tool; `tool`, `arguments` and `result` hold what came of each part."""

    def __init__(self, step: Step) -> None:
        self.step = step
        self.tool = ToolSpec("", "")
        self.arguments: dict[str, Any] = {}
        self.result = ToolResult(False, "")

    async def pick(self, tools: Sequence[ToolSpec], prompt: str) -> AsyncIterator[Delta | None]:
        """The model picks one of several; one alone needs no question."""
        if len(tools) == 1:
            self.tool = tools[0]
            return
        schema = tool_schema([tool.name for tool in tools])
        request = self.step.request("tool", prompt, tools=tuple(tools), schema=schema)
        for _ in range(ATTEMPTS):
            async for piece in self.step.ask(request, shown=False):
                yield piece
            value = self.step.answer.value
            name = value.get("tool") if isinstance(value, dict) else value or self.step.answer.text
            found = [tool for tool in tools if spaced(tool.name) == spaced(str(name))]
            if len(found) == 1:
                self.tool = found[0]
                return
            listed = ", ".join(tool.name for tool in tools)
            request = request._replace(note=self._refused("tool", f"no '{name}'; one of: {listed}"))
            yield None
        raise ModelError(f"no tool was picked in {ATTEMPTS} attempts: {request.note}")

    async def fill(self, prompt: str) -> AsyncIterator[Delta | None]:
        """The model fills in the arguments, against the schema of the tool."""
        tool = self.tool
        request = self.step.request("arguments", prompt, tools=(tool,), schema=tool.schema)
        for _ in range(ATTEMPTS):
            async for piece in self.step.ask(request, shown=False):
                yield piece
            value = self.step.answer.value
            reason = refusal(tool.schema, value)
            if not reason and isinstance(value, dict):
                self.arguments = value
                return
            note = self._refused(f"arguments of {tool.name}", reason)
            request = request._replace(note=note)
            yield None
        raise ModelError(f"no arguments that fit {tool.name} in {ATTEMPTS} attempts: {note}")

    def _refused(self, what: str, reason: str) -> str:
        short = reason if len(reason) <= MAX_REASON else f"{reason[: MAX_REASON - 1]}…"
        self.step.emit(Refused(self.step.number, self.step.state.name, what, short))
        return short

    def refusal_of(self, tool: ToolSpec, arguments: Mapping[str, Any]) -> str:
        """Take what a model calls by itself; why it must not be sent, or an empty text."""
        self.tool, self.arguments = tool, dict(arguments)
        return refusal(tool.schema, self.arguments)[:MAX_REASON]

    async def send(self, *, message: bool) -> AsyncIterator[Delta | None]:
        """Call the tool. `message`: what it gives back becomes a message, unless it is an error."""
        step, tool = self.step, self.tool
        call, name = step.world.new_id(), step.state.name
        user = step.world.user_id or ""
        step.emit(Called(step.number, name, call, tool.name, self.arguments, user))
        yield None
        self.result = await step.world.call(tool, self.arguments)
        given = told(self.result)
        kept = message and self.result.ok
        step.emit(Returned(step.number, name, call, given, self.result.ok, message=kept))
        yield None


def told(result: ToolResult) -> str | Mapping[str, Any]:
    """What a tool gave back, as data where it has any."""
    return result.structured if result.structured is not None else result.text
