"""Tools as bodies call them: picked, given arguments that fit, called, and the result read."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from statecli.kernel.limits import limit
from statecli.kernel.values import spaced
from statecli.kinds.arguments import refusal
from statecli.kinds.schemas import tool_schema
from statecli.kinds.step import Delta, Step
from statecli.model.event import Called, Refused, Returned, Warned
from statecli.model.ports import (
    AuthRequired,
    Call,
    Exchange,
    ModelError,
    Request,
    ToolResult,
    ToolSpec,
)

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

    async def send(self, *, message: bool, errors: bool = True) -> AsyncIterator[Delta | None]:
        """Call the tool, if that is allowed. `message`: what it gives back becomes a message, with
        `errors` also that it went wrong."""
        step, tool = self.step, self.tool
        call, name = step.world.new_id(), step.state.name
        user = step.world.user_id or ""
        reason = await step.world.permit(tool, self.arguments)
        overheard(step)
        if reason:
            step.emit(Refused(step.number, name, tool.name, reason))
            self.result = ToolResult(False, reason)
        else:
            step.emit(Called(step.number, name, call, tool.name, self.arguments, user))
            yield None
            try:
                self.result = await step.world.call(tool, self.arguments)
            except AuthRequired as error:
                step.emit(Returned(step.number, name, call, str(error), False))
                raise
            except ModelError as error:
                self.result = ToolResult(False, str(error))
        given, ok = told(self.result), self.result.ok
        kept = message and (ok or errors)
        if kept or not reason:
            step.emit(Returned(step.number, name, call, given, ok, message=kept))
        yield None


async def own_tools(step: Step) -> tuple[ToolSpec, ...]:
    """Those that a state lists: its model may call them before it answers."""
    listed = step.state.settings.get("tools")
    return await offered(step, listed) if isinstance(listed, list) and listed else ()


async def offered(step: Step, names: Sequence[str] | None) -> tuple[ToolSpec, ...]:
    """The tools that a state may use, and what happened while they were looked for."""
    try:
        return await step.world.tools(names)
    finally:
        overheard(step)


def overheard(step: Step) -> None:
    """Record what the person allowed or denied, and what could not be connected."""
    for news in step.world.heard():
        told_ = Warned(step.number, step.state.name, news) if isinstance(news, str) else news
        step.emit(told_)


async def worked(
    step: Step,
    request: Request,
    transcript: list[Exchange],
    about: str = "",
    *,
    shown: bool = True,
) -> AsyncIterator[Delta | None]:
    """The model works with the tools of a request until it answers without a call; what came of
    each call is in `transcript`. Afterwards the run may be stopped: a budget is used up."""
    most = limit(step.graph, "max_calls")
    for _ in range(most):
        sent = request._replace(transcript=tuple(transcript))
        async for piece in step.ask(sent, shown=shown):
            yield piece
        answer = step.answer
        if not answer.calls or not request.tools:
            return
        if answer.text.strip():
            step.say(answer.text)
        for call in answer.calls:
            async for piece in _one(step, request.tools, call, transcript):
                yield piece
        if step.over_budget():
            yield None
            return
    what = f" in {about}" if about else ""
    raise ModelError(f"{most} model calls{what} without an answer (max_calls)")


async def _one(
    step: Step, tools: Sequence[ToolSpec], call: Call, transcript: list[Exchange]
) -> AsyncIterator[Delta | None]:
    """One call of the model; what is wrong with it goes back to the model."""
    calling = Calling(step)
    tool = next((tool for tool in tools if tool.name == call.name), None)
    listed = ", ".join(tool.name for tool in tools) or "none"
    reason = f"there is no such tool; there are: {listed}"
    if call.error:
        reason = call.error
    elif tool is not None:
        reason = calling.refusal_of(tool, call.arguments)
    if reason:
        step.emit(Refused(step.number, step.state.name, call.name, reason))
        transcript.append(Exchange(call, False, reason))
        yield None
        return
    async for piece in calling.send(message=False):
        yield piece
    transcript.append(Exchange(call, calling.result.ok, calling.result.text))


def told(result: ToolResult) -> str | Mapping[str, Any]:
    """What a tool gave back, as data where it has any."""
    return result.structured if result.structured is not None else result.text


def whole(structured: Mapping[str, Any]) -> Any:
    """A structured result as one value; servers wrap what is no object as ``{"result": ...}``."""
    return structured["result"] if set(structured) == {"result"} else structured
