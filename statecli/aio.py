"""`statecli.aio`: running a graph from a program that is async itself.

```python
from statecli import aio
run = aio.Run(graph, data={...})
state, result, data = await run.run(halt_after=["reply"])
```
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from statecli.kinds.step import closing
from statecli.session.walk import RunError, Step, Walk

__all__ = ["Run", "RunError", "Step"]


class Run(Walk):
    """One walk of a graph: as `statecli.Run`, to be awaited."""

    def _set_up(self, *args: Any) -> None:
        super()._set_up(*args)
        self._body.waits = True

    async def step(self, inputs: Mapping[str, Any] | None = None) -> Step | None:
        """Run one body; None where there is nothing to run."""
        found = self._plain() if inputs is None else None
        return found if found is not None else await self._step(inputs)

    async def iterate(
        self,
        halt_after: Sequence[str] = (),
        halt_before: Sequence[str] = (),
        inputs: Mapping[str, Any] | None = None,
    ) -> AsyncIterator[Step]:
        """Steps until a halt, the end or a wait; at least one is taken."""
        while True:
            found = await self.step(inputs)
            inputs = None
            if found is not None:
                yield found
            if self._halt(found, halt_after, halt_before) is not None:
                return

    async def run(
        self,
        halt_after: Sequence[str] = (),
        halt_before: Sequence[str] = (),
        inputs: Mapping[str, Any] | None = None,
    ) -> Step:
        """Step to the halt and give its step. `halt_before` wins."""
        while True:
            found = await self.step(inputs)
            inputs = None
            end = self._halt(found, halt_after, halt_before)
            if end is not None:
                return end

    async def stream_result(
        self,
        halt_after: Sequence[str] = (),
        halt_before: Sequence[str] = (),
        inputs: Mapping[str, Any] | None = None,
    ) -> AsyncIterator[str]:
        """The pieces of text that bodies stream on the way to a halt, the end or a wait."""
        while True:
            async with closing(self._pieces(inputs)) as pieces:
                async for piece in pieces:
                    yield piece
            inputs = None
            if self._halt(self._last, halt_after, halt_before) is not None:
                return
