"""`verifier`: the model says whether the goal is reached and where to go; no second question."""

from __future__ import annotations

from collections.abc import AsyncIterator

from statecli.kernel.choose import Ask, Take, choose
from statecli.kinds.calling import own_tools, worked
from statecli.kinds.choice import options_of
from statecli.kinds.prompt import system_prompt
from statecli.kinds.schemas import verdict_schema
from statecli.kinds.step import Delta, Step
from statecli.model.graph import Transition


async def run(step: Step) -> AsyncIterator[Delta | None]:
    """With `tools` the model may call them first. `next` of the answer is the choice, where it
    names an option. With no way to go there is nothing to ask."""
    choice = choose(step.graph, step.snapshot, step.token)
    routes: tuple[Transition, ...] = ()
    if isinstance(choice, Ask):
        routes = choice.options
    elif isinstance(choice, Take):
        routes = (choice.transition,)
    if not routes:
        return
    tools = await own_tools(step)
    yield None
    request = step.request(
        "verdict",
        system_prompt(step.graph, step.state, step.snapshot),
        schema=verdict_schema([route.target for route in routes]),
        options=options_of(step.graph, routes),
        tools=tools,
    )
    async for piece in worked(step, request, [], shown=False):
        yield piece
    if step.snapshot.status != "running":
        return
    value = step.answer.value
    if isinstance(value, dict):
        reason = value.get("reason")
        if isinstance(reason, str) and reason.strip():
            step.say(reason)
        step.answered = {"next_state": value.get("next")}
    else:
        step.answered = step.answer.text
    yield None
