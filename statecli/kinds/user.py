"""`user`: waits for a line of the person; with one field in `writes` it is parsed into that."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from statecli.kernel.reducers import Misfit, taken
from statecli.kernel.values import Unfit, parsed
from statecli.kinds.step import Delta, Step
from statecli.model.event import Refused


async def run(step: Step) -> AsyncIterator[Delta | None]:
    """The line is already among the messages; here it becomes data, or is asked for again."""
    writes = step.state.writes
    if len(writes) != 1 or writes[0] == "messages":
        return
    value: Any = parsed(taken(step.graph, writes[0]), step.snapshot.line or "")
    reason = value.reason if isinstance(value, Unfit) else ""
    if not reason:
        try:
            step.change({writes[0]: value})
        except Misfit as error:
            reason = str(error)
    if reason:
        step.emit(Refused(step.number, step.state.name, "line", reason))
        step.again = True
    yield None
