"""`verifier`: the model says whether the goal is reached and where to go; no second question."""

from __future__ import annotations

from collections.abc import AsyncIterator

from statecli.kernel.choose import Ask, Take, choose
from statecli.kinds.choice import named
from statecli.kinds.prompt import system_prompt
from statecli.kinds.schemas import verdict_schema
from statecli.kinds.step import Delta, Step
from statecli.model.graph import Transition
from statecli.model.ports import Option


async def run(step: Step) -> AsyncIterator[Delta | None]:
    """`next` of the answer is the choice, where it names an option."""
    choice = choose(step.graph, step.snapshot, step.token)
    routes: tuple[Transition, ...] = ()
    if isinstance(choice, Ask):
        routes = choice.options
    elif isinstance(choice, Take):
        routes = (choice.transition,)
    states = step.graph.states
    options = tuple(
        Option(route.target, route.description or states[route.target].description)
        for route in routes
    )
    names = [option.name for option in options]
    request = step.request(
        "verdict",
        system_prompt(step.graph, step.state),
        schema=verdict_schema(names),
        options=options,
    )
    async for piece in step.ask(request):
        yield piece
    value = step.answer.value
    if isinstance(value, dict):
        if value.get("reason"):
            step.say(str(value["reason"]))
        step.target = named({"next_state": value.get("next")}, names)
    yield None
