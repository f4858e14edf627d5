"""`agent`: one model call over the conversation; its answer is said, its fields become data. With
`tools` the model may call them first, as often as `max_calls` says."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from statecli.kernel.reducers import taken
from statecli.kernel.values import Unfit, fits
from statecli.kinds.calling import own_tools, worked
from statecli.kinds.prompt import system_prompt
from statecli.kinds.schemas import delta_schema
from statecli.kinds.step import Delta, Step
from statecli.model.event import Refused
from statecli.model.ports import Exchange, ModelError


async def run(step: Step) -> AsyncIterator[Delta | None]:
    """With `writes` the model fills `{reply, field...}`; nulls stay out of the delta. An answer
    that does not fit is asked for once more."""
    state = step.state
    prompt = system_prompt(step.graph, state, step.snapshot, step.world.known_skills())
    tools = await own_tools(step)
    yield None
    done: list[Exchange] = []
    if not state.writes:
        async for piece in worked(step, step.request("reply", prompt, tools=tools), done):
            yield piece
        if step.snapshot.status != "running":
            return
        if not step.answer.text.strip():
            raise ModelError("the model gave an empty reply")
        step.say(step.answer.text)
        yield None
        return
    schema = delta_schema(step.graph, state)
    request = step.request("delta", prompt, schema=schema, tools=tools)
    async for piece in worked(step, request, done):
        yield piece
    if step.snapshot.status != "running":
        return
    delta, said = _delta(step, step.answer.value), step.answer.text
    if isinstance(delta, Unfit):
        step.emit(Refused(step.number, state.name, "answer", delta.reason))
        # What the person has read already is not said to them once more.
        again = request._replace(note=delta.reason)
        async for piece in worked(step, again, done, shown=not said):
            yield piece
        if step.snapshot.status != "running":
            return
        delta = _delta(step, step.answer.value)
        if isinstance(delta, Unfit):
            raise ModelError(f"the model's answer does not fit: {delta.reason}")
    step.change(delta, null=_keeps_null(step))
    reply = said or step.answer.text or step.answer.value.get("reply")
    if isinstance(reply, str) and reply.strip():
        step.say(reply)
    yield None


def _keeps_null(step: Step) -> bool:
    return step.state.settings.get("allow_writes_null") is True


def _delta(step: Step, value: Any) -> dict[str, Any] | Unfit:
    """The fields of an answer, each by its type."""
    if not isinstance(value, dict):
        return Unfit("the answer is no object")
    delta: dict[str, Any] = {}
    for key in step.state.writes:
        item = value.get(key)
        if item is None:
            if key in value and _keeps_null(step):
                delta[key] = None
            continue
        stored = fits(taken(step.graph, key), item)
        if isinstance(stored, Unfit):
            return stored
        delta[key] = stored
    return delta
