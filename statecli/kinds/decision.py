"""`decision`: says nothing and writes nothing; only its routes count."""

from __future__ import annotations

from collections.abc import AsyncIterator

from statecli.kinds.step import Delta, Step


async def run(step: Step) -> AsyncIterator[Delta | None]:  # noqa: ARG001 - what every body takes
    """Nothing to do: the engine chooses."""
    yield None
