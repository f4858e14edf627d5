"""`planner`: the model breaks the wish into steps, and says whether the person must agree first."""

from __future__ import annotations

from collections.abc import AsyncIterator

from statecli.kinds.prompt import system_prompt
from statecli.kinds.schemas import plan_schema
from statecli.kinds.step import Delta, Step
from statecli.model.event import Changed
from statecli.model.graph import WAITING_KINDS
from statecli.model.ports import ModelError


async def run(step: Step) -> AsyncIterator[Delta | None]:
    """Writes `plan`, `plan_step` and `needs_permission`; with permission only waiting targets."""
    prompt = system_prompt(step.graph, step.state)
    async for piece in step.ask(step.request("plan", prompt, schema=plan_schema())):
        yield piece
    value = step.answer.value
    steps = value.get("steps") if isinstance(value, dict) else None
    if not isinstance(steps, list) or not all(isinstance(item, str) for item in steps):
        raise ModelError("the model gave no list of steps")
    permission = bool(value.get("needs_permission"))
    rows = [f"{number}. {item}" for number, item in enumerate(steps, 1)]
    question = ["Is that all right?"] if permission else []
    step.say("\n".join(["The plan:", *rows, *question]))
    delta = {"plan": steps, "plan_step": 0, "needs_permission": permission}
    step.emit(Changed(step.number, step.state.name, delta))
    if permission:
        states = step.graph.states
        step.options = [
            route.target
            for route in step.state.transitions
            if route.target in states and states[route.target].kind in WAITING_KINDS
        ]
    yield None
