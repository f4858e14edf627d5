"""What a program may hear of a run while it runs: before and after each step, each streamed piece,
each event. One small protocol, for the synchronous and the asynchronous face."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from statecli.model.event import Event


class Hooks:
    """Every method does nothing: override what you need, as a function or with ``async def``.

    ``Run(graph, hooks=[A(), B()])`` calls those of A before those of B. `run` is the run itself,
    `data` cannot be changed. What a method raises comes out of the call that steps (`step`, `run`,
    ...) as it is; what was stored before stays. After every `before_step` comes one `after_step`,
    also where the body failed, or the step was broken off.
    """

    def before_step(
        self, *, run: Any, state: str, data: Mapping[str, Any], inputs: Mapping[str, Any]
    ) -> Awaitable[None] | None:
        """A body is about to run; `inputs` are those of the call. What this raises keeps it from
        running: the run stays where it is, and nothing is recorded."""
        return None

    def after_step(
        self, *, run: Any, state: str, result: Any, data: Mapping[str, Any], error: Exception | None
    ) -> Awaitable[None] | None:
        """A body is done and what it did is stored: `result` is what it gave back, `data` the data
        after it. `error`: what it raised, or why it was broken off; the data is as before then."""
        return None

    def on_item(self, *, run: Any, state: str, text: str) -> Awaitable[None] | None:
        """A piece of text that a body streams, before it is passed on."""
        return None

    def on_event(self, *, run: Any, event: Event) -> Awaitable[None] | None:
        """An event, once it is stored. What happens between steps (the start, a transition from
        outside) is told at once; to an ``async`` method when the next step begins."""
        return None


def wait(hooks: Sequence[Hooks]) -> bool:
    """Whether any of them needs an event loop: it has an async method, or `waits`."""
    names = ("before_step", "after_step", "on_item", "on_event")
    return any(
        getattr(hook, "waits", False) or inspect.iscoroutinefunction(getattr(hook, name))
        for hook in hooks
        for name in names
    )


class Listeners:
    """The hooks of one run, in their order. `heard` is the number of the last event they know."""

    def __init__(self, run: Any, hooks: Sequence[Hooks]) -> None:
        self.run = run
        self.hooks = tuple(hooks)
        self.heard = 0
        self._late: list[tuple[Hooks, Event]] = []

    async def before_step(
        self, state: str, data: Mapping[str, Any], inputs: Mapping[str, Any]
    ) -> None:
        for hook in self.hooks:
            await _done(hook.before_step(run=self.run, state=state, data=data, inputs=inputs))

    async def after_step(
        self, state: str, result: Any, data: Mapping[str, Any], error: Exception | None
    ) -> None:
        for hook in self.hooks:
            await _done(hook.after_step(run=self.run, state=state, result=result, data=data,
                                        error=error))  # fmt: skip

    async def item(self, state: str, text: str) -> None:
        for hook in self.hooks:
            await _done(hook.on_item(run=self.run, state=state, text=text))

    async def event(self, event: Event) -> None:
        self.heard = event.number
        for hook in self.hooks:
            await _done(hook.on_event(run=self.run, event=event))

    def between(self, events: Sequence[Event]) -> None:
        """What happens between steps, where nothing can be awaited."""
        for event in events:
            self.heard = event.number
            for hook in self.hooks:
                if inspect.iscoroutinefunction(hook.on_event):
                    self._late.append((hook, event))
                else:
                    hook.on_event(run=self.run, event=event)

    async def catch_up(self, last: int, events: Callable[[], Sequence[Event]]) -> None:
        """Tell what could not be told before. `last` is the number of the last event there is."""
        late, self._late = self._late, []
        for hook, event in late:
            await _done(hook.on_event(run=self.run, event=event))
        if last > self.heard:  # what was recorded while a step was broken off
            for event in [event for event in events() if event.number > self.heard]:
                await self.event(event)


async def _done(found: Awaitable[None] | None) -> None:
    if found is not None:
        await found
