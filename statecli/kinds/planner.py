"""`planner`: the model breaks the wish into steps, and says whether the person must agree first."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from statecli.kinds.calling import own_tools, worked
from statecli.kinds.prompt import system_prompt
from statecli.kinds.schemas import plan_schema
from statecli.kinds.step import Delta, Step, asked_twice
from statecli.model.ports import Exchange, Request


async def run(step: Step) -> AsyncIterator[Delta | None]:
    """With `tools` the model may call them first. Writes `plan`, `plan_step` and
    `needs_permission`; with permission only waiting targets. An answer that is no plan is asked for
    once more."""
    prompt = system_prompt(step.graph, step.state, step.snapshot)
    tools, done = await own_tools(step), list[Exchange]()
    yield None
    request = step.request("plan", prompt, schema=plan_schema(), tools=tools)

    def works(asked: Request) -> AsyncIterator[Delta | None]:
        return worked(step, asked, done, shown=False)

    async for piece in asked_twice(step, request, _misfit, works):
        yield piece
    if step.snapshot.status != "running":
        return
    value = step.answer.value
    steps: list[str] = value["steps"]
    permission = bool(value.get("needs_permission"))
    step.change({"plan": steps, "plan_step": 0, "needs_permission": permission})
    rows = [f"{number}. {item}" for number, item in enumerate(steps, 1)]
    question = ["Is that all right?"] if permission else []
    step.say("\n".join(["The plan:", *rows, *question]))
    if permission:
        targets = (route.target for route in step.state.transitions)
        step.options = [name for name in targets if step.waits(name)]
    yield None


def _misfit(value: Any) -> str:
    """Why an answer is no plan, or an empty text."""
    steps = value.get("steps") if isinstance(value, dict) else None
    if not isinstance(steps, list) or not all(isinstance(item, str) for item in steps):
        return "the model gave no list of steps"
    return ""
