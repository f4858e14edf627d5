"""`executor`: carries out one step of the plan; the cursor moves only when it succeeded."""

from __future__ import annotations

from collections.abc import AsyncIterator

from statecli.kinds.prompt import system_prompt
from statecli.kinds.schemas import step_schema
from statecli.kinds.step import Delta, Step
from statecli.model.event import Changed


async def run(step: Step) -> AsyncIterator[Delta | None]:
    """Itself is the only option while steps remain, the other targets after the last or a failed
    one."""
    state, data = step.state, step.snapshot.data
    plan, cursor = data.get("plan"), data.get("plan_step", 0)
    steps = list(plan) if isinstance(plan, list | tuple) else []
    number = cursor if isinstance(cursor, int) else 0
    succeeded = True
    if number < len(steps):
        note = f"step {number + 1} of {len(steps)}: {steps[number]}"
        prompt = system_prompt(step.graph, state)
        request = step.request("step", prompt, schema=step_schema(), note=note)
        async for piece in step.ask(request):
            yield piece
        value = step.answer.value
        succeeded = not (isinstance(value, dict) and value.get("ok") is False)
        text = step.answer.text or (value.get("reply") if isinstance(value, dict) else "")
        step.say(f"{text or note}{'' if succeeded else ' (failed)'}")
        if succeeded:
            number += 1
            step.emit(Changed(step.number, state.name, {"plan_step": number}))
    others = [route.target for route in state.transitions if route.target != state.name]
    again = succeeded and number < len(steps)
    step.options = [state.name] if again else others
    yield None
