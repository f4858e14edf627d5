"""`planner`: the model breaks the wish into steps, and says whether the person must agree first."""

from __future__ import annotations

from collections.abc import AsyncIterator

from statecli.kinds.prompt import system_prompt
from statecli.kinds.schemas import plan_schema
from statecli.kinds.step import Delta, Step
from statecli.model.ports import ModelError


async def run(step: Step) -> AsyncIterator[Delta | None]:
    """Writes `plan`, `plan_step` and `needs_permission`; with permission only waiting targets."""
    prompt = system_prompt(step.graph, step.state, step.snapshot)
    async for piece in step.ask(step.request("plan", prompt, schema=plan_schema()), shown=False):
        yield piece
    value = step.answer.value
    steps = value.get("steps") if isinstance(value, dict) else None
    if not isinstance(steps, list) or not all(isinstance(item, str) for item in steps):
        raise ModelError("the model gave no list of steps")
    permission = bool(value.get("needs_permission"))
    step.change({"plan": steps, "plan_step": 0, "needs_permission": permission})
    rows = [f"{number}. {item}" for number, item in enumerate(steps, 1)]
    question = ["Is that all right?"] if permission else []
    step.say("\n".join(["The plan:", *rows, *question]))
    if permission:
        targets = (route.target for route in step.state.transitions)
        step.options = [name for name in targets if step.waits(name)]
    yield None
