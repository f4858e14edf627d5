"""Running a graph from Python (documents 001 and 003): step, iterate, run, stream.

`statecli.aio` has the same for programs that are async themselves.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Any

from statecli.session.drive import each, finished
from statecli.session.walk import RunError, Step, Walk

__all__ = ["Run", "RunError", "Step"]


class Run(Walk):
    """One walk of a graph."""

    def step(self, inputs: Mapping[str, Any] | None = None) -> Step | None:
        """Run one body; None where there is nothing to run (the end, or a wait for a line).

        `inputs` reach this step only; a missing required one raises MissingInput before it. Raises
        RunError where the body failed.
        """
        if inputs is None:
            found = self._plain()
            if found is not None:
                return found
        return finished(self._step(inputs), waits=self._waits)

    def iterate(
        self,
        halt_after: Sequence[str] = (),
        halt_before: Sequence[str] = (),
        inputs: Mapping[str, Any] | None = None,
    ) -> Generator[Step, None, Step]:
        """Steps until a halt, the end or a wait. At least one is taken; its state, result and data
        (for `halt_before`: the state that comes next and None) are the generator's value."""
        while True:
            found = self.step(inputs)
            inputs = None
            if found is not None:
                yield found
            end = self._halt(found, halt_after, halt_before)
            if end is not None:
                return end

    def run(
        self,
        halt_after: Sequence[str] = (),
        halt_before: Sequence[str] = (),
        inputs: Mapping[str, Any] | None = None,
    ) -> Step:
        """Iterate to the halt and give its step. `halt_before` wins."""
        steps = self.iterate(halt_after, halt_before, inputs)
        while True:
            try:
                next(steps)
            except StopIteration as stop:
                found: Step = stop.value
                return found

    def stream_result(
        self,
        halt_after: Sequence[str] = (),
        halt_before: Sequence[str] = (),
        inputs: Mapping[str, Any] | None = None,
    ) -> Iterator[str]:
        """The pieces of text that bodies stream on the way to a halt, the end or a wait."""
        while True:
            yield from each(self._pieces(inputs), waits=self._waits)
            inputs = None
            if self._halt(self._last, halt_after, halt_before) is not None:
                return
