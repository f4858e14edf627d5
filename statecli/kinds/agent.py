"""`agent`: one model call over the conversation; its answer is said, its fields become data."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from statecli.kernel.values import Unfit, fits
from statecli.kinds.prompt import system_prompt
from statecli.kinds.schemas import delta_schema
from statecli.kinds.step import Delta, Step
from statecli.model.event import Changed
from statecli.model.ports import ModelError


async def run(step: Step) -> AsyncIterator[Delta | None]:
    """With `writes` the model fills `{reply, field...}`; nulls stay out of the delta."""
    state = step.state
    prompt = system_prompt(step.graph, state)
    if not state.writes:
        async for piece in step.ask(step.request("reply", prompt)):
            yield piece
        if not step.answer.text:
            raise ModelError("the model gave an empty reply")
        step.say(step.answer.text)
        yield None
        return
    schema = delta_schema(step.graph, state)
    note = ""
    for attempt in range(2):
        async for piece in step.ask(step.request("delta", prompt, schema=schema, note=note)):
            yield piece
        delta = _delta(step, step.answer.value)
        if not isinstance(delta, Unfit):
            break
        note = delta.reason
        if attempt:
            raise ModelError(f"the model's answer does not fit: {delta.reason}")
    assert not isinstance(delta, Unfit)
    if step.answer.text:
        step.say(step.answer.text)
    if delta:
        step.emit(Changed(step.number, state.name, delta))
    yield None


def _delta(step: Step, value: Any) -> dict[str, Any] | Unfit:
    """The fields of an answer, each by its type."""
    if not isinstance(value, dict):
        return Unfit("the answer is no object")
    keep_null = step.state.settings.get("allow_writes_null") is True
    delta: dict[str, Any] = {}
    for key in step.state.writes:
        item = value.get(key)
        if item is None:
            if keep_null and key in value:
                delta[key] = None
            continue
        stored = fits(step.graph.fields.get(key), item)
        if isinstance(stored, Unfit):
            return stored
        delta[key] = stored
    return delta
