"""Running a graph from Python (documents 001 and 003): step, iterate, run, stream.

`statecli.aio` has the same for programs that are async themselves.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Any

from statecli.session.drive import each, finished
from statecli.session.halts import halts_of
from statecli.session.walk import RunError, Step, Stuck, Walk

__all__ = ["Run", "RunError", "Step", "Stuck"]


class Run(Walk):
    """One walk of a graph.

    Each method has a twin to be awaited: `astep`, `aiterate`, `arun`, `astream_result`. One run is
    walked by one thread or task at a time; a graph may have many runs at once.
    """

    def step(self, inputs: Mapping[str, Any] | None = None) -> Step | None:
        """Run one body; None where there is nothing to run (the end, or a wait for a line).

        `inputs` reach this step only, as keyword arguments of the function; those that it does not
        take are left out, a missing required one raises MissingInput before the step. RunError
        where the body failed (its cause is what the body raised), Stuck where no way out holds.
        """
        if inputs is None:
            found = self._plain()
            if found is not None:
                return found
        return finished(self._step(inputs, waits=self._waits), waits=self._waits)

    def iterate(
        self,
        halt_after: Sequence[str] | None = None,
        halt_before: Sequence[str] | None = None,
        inputs: Mapping[str, Any] | None = None,
    ) -> Generator[Step, None, Step]:
        """Steps until a halt, the end or a wait. At least one is taken; its state, result and data
        (for `halt_before`, which wins: the state that comes next and None) are the generator's
        value. A halt is the name of a state, or ``@tag:name``: ValueError for one that is not
        there. `inputs` reach the first step only."""
        halts = halts_of(self.graph, halt_after, halt_before)
        while True:
            found = self.step(inputs)
            inputs = None
            if found is not None:
                yield found
            end = self._halt(found, halts)
            if end is not None:
                return end

    def run(
        self,
        halt_after: Sequence[str] | None = None,
        halt_before: Sequence[str] | None = None,
        inputs: Mapping[str, Any] | None = None,
    ) -> Step:
        """Iterate to the halt and give its step: what `iterate` returns."""
        steps = self.iterate(halt_after, halt_before, inputs)
        while True:
            try:
                next(steps)
            except StopIteration as stop:
                found: Step = stop.value
                return found

    def stream_result(
        self,
        halt_after: Sequence[str] | None = None,
        halt_before: Sequence[str] | None = None,
        inputs: Mapping[str, Any] | None = None,
    ) -> Iterator[Any]:
        """What bodies stream on the way to a halt, the end or a wait: pieces of text, and the value
        of each `Item`. Closed early, the body is broken off: its step leaves nothing behind."""
        halts = halts_of(self.graph, halt_after, halt_before)
        while True:
            yield from each(self._pieces(inputs, waits=self._waits), waits=self._waits)
            inputs = None
            if self._halt(self._last, halts) is not None:
                return
