"""`user`: waits for a line of the person; with one field in `writes` it is parsed into that."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from statecli.kernel.values import Unfit, parsed
from statecli.kinds.step import Delta, Step
from statecli.model.event import Changed, Refused


async def run(step: Step) -> AsyncIterator[Delta | None]:
    """The line is already among the messages; here it becomes data, or is asked for again."""
    state = step.state
    if len(state.writes) != 1:
        return
    key = state.writes[0]
    value: Any = parsed(step.graph.fields.get(key), step.snapshot.line or "")
    if isinstance(value, Unfit):
        step.emit(Refused(step.number, state.name, "line", value.reason))
        step.again = True
    else:
        step.emit(Changed(step.number, state.name, {key: value}))
    yield None
