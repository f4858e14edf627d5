"""Spans of a run: each transition with the data before and after it, when, and for which task.

What Agentex's ``trace_transitions`` writes (document 003), with the names of its spans.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from statecli.model.event import Chose, Event
from statecli.model.snapshot import Messages
from statecli.session.hooks import Hooks

#: Each span is told here too: states, time and task in the text, the span itself as ``span``.
logger = logging.getLogger("statecli.spans")
STEP, RESET = "state_transition", "state_transition_reset"


class ClientError(ValueError):
    """Transitions are to be traced, and there is no task id: `set_task_id` first."""


class Span(NamedTuple):
    """One transition. `trace_id` is the task's id; `input` and `output` are the data before and
    after, `data` has `input_state` and `output_state`; times are aware (UTC). `error`: the body
    raised, and the run stayed where it was."""

    name: str
    trace_id: str
    input: Mapping[str, Any]
    output: Mapping[str, Any]
    data: Mapping[str, str]
    start_time: datetime
    end_time: datetime
    error: str = ""

    @property
    def task_id(self) -> str:
        """The task that the transition belongs to."""
        return self.trace_id

    @property
    def seconds(self) -> float:
        """How long it took."""
        return (self.end_time - self.start_time).total_seconds()


class _Open:
    """A body at work. `targets`: where its route leads, several where the run splits."""

    def __init__(self, task: str, data: Mapping[str, Any]) -> None:
        self.task = task
        self.input = _plain(data)
        self.start = self.end = time.time()
        self.targets: list[str] = []


class Spans(Hooks):
    """Makes a span of every step and of every transition from outside. They are in `spans`, or go
    to `export` one by one. ``Run(trace_transitions=True)`` has one; raises ClientError before a
    step of a run without a task id, so that nothing happens."""

    def __init__(self, export: Callable[[Span], None] | None = None) -> None:
        self.spans: list[Span] = []
        self._export = export or self.spans.append
        self._open: dict[str, list[_Open]] = {}

    def before_step(
        self, *, run: Any, state: str, data: Mapping[str, Any], inputs: Mapping[str, Any]
    ) -> None:
        self._open.setdefault(state, []).append(_Open(task_of(run), data))

    def on_event(self, *, run: Any, event: Event) -> None:
        body = event.body
        if not isinstance(body, Chose):
            return
        at_work = self._open.get(body.state, [])
        found = [span for span in at_work if not span.targets or body.by == "all"] or at_work
        if found:
            found[0].targets.append(body.target)
            found[0].end = event.time

    def after_step(
        self, *, run: Any, state: str, result: Any, data: Mapping[str, Any], error: Exception | None
    ) -> None:
        at_work = self._open.get(state)
        if not at_work:  # a hook before this one kept the body from running
            return
        span = at_work.pop(0)
        target = ", ".join(span.targets) if span.targets and error is None else state
        end = span.end if span.targets else time.time()
        why = f"{type(error).__name__}: {error}" if error is not None else ""
        self._tell(STEP, span, (state, target), _plain(data), end, why)

    def moved(self, run: Any, before: str, after: str, name: str = STEP) -> None:
        """A transition from outside: it takes no time and changes no data."""
        span = _Open(task_of(run), run.data)
        self._tell(name, span, (before, after), span.input, span.start)

    def _tell(
        self, name: str, span: _Open, states: tuple[str, str], output: Mapping[str, Any],
        end: float, error: str = "",
    ) -> None:  # fmt: skip
        start, stop = (datetime.fromtimestamp(at, UTC)
                       for at in (span.start, max(span.start, end)))  # fmt: skip
        data = {"input_state": states[0], "output_state": states[1]}
        found = Span(name, span.task, span.input, output, data, start, stop, error)
        failed = " failed" if error else ""
        logger.info("task %s: %s -> %s%s, %.1f ms", span.task, *states, failed,
                    found.seconds * 1000, extra={"span": found})  # fmt: skip
        self._export(found)


def task_of(run: Any) -> str:
    """The task that the spans of a run belong to. Raises ClientError where nobody said."""
    if run.task_id is None:
        raise ClientError(
            "trace_transitions needs a task id: give task_id, or call set_task_id before the first "
            "transition"
        )
    return str(run.task_id)


def _plain(data: Mapping[str, Any]) -> dict[str, Any]:
    """Data as it was: values of a run are never changed in place."""
    return {key: list(v) if isinstance(v, Messages) else v for key, v in data.items()}
