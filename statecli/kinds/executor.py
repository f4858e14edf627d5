"""`executor`: carries out one step of the plan; the cursor moves only when it succeeded."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from statecli.kernel.limits import limit
from statecli.kinds.calling import Calling
from statecli.kinds.prompt import system_prompt
from statecli.kinds.schemas import step_schema
from statecli.kinds.step import Delta, Step
from statecli.model.event import Refused
from statecli.model.ports import Call, Exchange, ModelError, ToolSpec


async def run(step: Step) -> AsyncIterator[Delta | None]:
    """Itself is the only option while steps remain, the other targets after the last or a failed
    one. A state that is no target of its own always goes on to the others."""
    state, data = step.state, step.snapshot.data
    plan, cursor = data.get("plan"), data.get("plan_step", 0)
    steps = list(plan) if isinstance(plan, list | tuple) else []
    number = cursor if isinstance(cursor, int) else 0
    succeeded = True
    if number < len(steps):
        note = f"step {number + 1} of {len(steps)}: {steps[number]}"
        async for piece in _carried_out(step, note):
            yield piece
        value = step.answer.value
        succeeded = not (isinstance(value, dict) and value.get("ok") is False)
        if succeeded:
            number += 1
            step.change({"plan_step": number})
        text = step.answer.text or (value.get("reply") if isinstance(value, dict) else "")
        step.say(f"{text or note}{'' if succeeded else ' (failed)'}")
    targets = [route.target for route in state.transitions]
    others = [name for name in targets if name != state.name]
    again = succeeded and number < len(steps) and state.name in targets
    step.options = [state.name] if again else others
    yield None


async def _carried_out(step: Step, note: str) -> AsyncIterator[Delta | None]:
    """The model works on one step, with the tools of the state, until it answers without a call."""
    listed = step.state.settings.get("tools")
    tools: Sequence[ToolSpec] = ()
    if isinstance(listed, list) and listed:
        tools = await step.world.tools(listed)
    prompt = system_prompt(step.graph, step.state, step.snapshot)
    request = step.request("step", prompt, schema=step_schema(), note=note, tools=tuple(tools))
    transcript: list[Exchange] = []
    most = limit(step.graph, "max_calls")
    for _ in range(most):
        async for piece in step.ask(request._replace(transcript=tuple(transcript))):
            yield piece
        answer = step.answer
        if not answer.calls:
            return
        if answer.text.strip():
            step.say(answer.text)
        for call in answer.calls:
            async for piece in _called(step, tools, call, transcript):
                yield piece
    raise ModelError(f"{most} model calls in {note} without an answer (max_calls)")


async def _called(
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
