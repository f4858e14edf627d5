"""`terminal`: shows its message, and the run is over."""

from __future__ import annotations

from collections.abc import AsyncIterator

from statecli.kernel.template import filled
from statecli.kinds.step import Delta, Step


async def run(step: Step) -> AsyncIterator[Delta | None]:
    """Says `message` if there is one."""
    message = step.state.settings.get("message")
    if isinstance(message, str) and message.strip():
        step.say(filled(message.strip(), step.snapshot.data))
    step.ended = True
    yield None
