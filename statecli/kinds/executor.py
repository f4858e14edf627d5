"""`executor`: carries out one step of the plan; the cursor moves only when it succeeded."""

from __future__ import annotations

from collections.abc import AsyncIterator

from statecli.kinds.calling import own_tools, worked
from statecli.kinds.prompt import system_prompt
from statecli.kinds.schemas import step_schema
from statecli.kinds.step import Delta, Step


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
        if step.snapshot.status != "running":
            return
        value = step.answer.value
        succeeded = not (isinstance(value, dict) and value.get("ok") is False)
        if succeeded:
            number += 1
            step.change({"plan_step": number})
        reply = value.get("reply") if isinstance(value, dict) else ""
        text = step.answer.text or (reply if isinstance(reply, str) else "")
        step.say(f"{text or note}{'' if succeeded else ' (failed)'}")
    targets = [route.target for route in state.transitions]
    others = [name for name in targets if name != state.name]
    again = succeeded and number < len(steps) and state.name in targets
    step.options = [state.name] if again else others
    yield None


async def _carried_out(step: Step, note: str) -> AsyncIterator[Delta | None]:
    """The model works on one step, with the tools of the state, until it answers without a call."""
    tools = await own_tools(step)
    yield None
    prompt = system_prompt(step.graph, step.state, step.snapshot)
    request = step.request("step", prompt, schema=step_schema(), note=note, tools=tools)
    async for piece in worked(step, request, [], note):
        yield piece
