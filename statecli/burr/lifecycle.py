"""Burr's hooks, called by ours."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Mapping
from typing import TYPE_CHECKING, Any

from statecli.burr.state import State
from statecli.session.hooks import Hooks

if TYPE_CHECKING:
    from statecli.burr.application import Application

#: The methods of Burr's hooks that are called here.
CALLED = ("pre_run_step", "post_run_step", "post_stream_item", "post_application_create")


class PreRunStepHook:
    """Override ``pre_run_step(*, state, action, inputs, **future_kwargs)``."""


class PostRunStepHook:
    """Override ``post_run_step(*, state, action, result, exception, **future_kwargs)``."""


class PostStreamItemHook:
    """Override ``post_stream_item(*, item, item_index, action, **future_kwargs)``."""


class PreRunStepHookAsync(PreRunStepHook):
    """The same with ``async def``."""


class PostRunStepHookAsync(PostRunStepHook):
    """The same with ``async def``."""


def known_as_hooks(adapter: Any) -> bool:
    """Whether an object has a method that is called here."""
    return isinstance(adapter, Hooks) or any(hasattr(adapter, name) for name in CALLED)


class Adapted(Hooks):
    """One of Burr's adapters as hooks of ours."""

    def __init__(self, adapter: Any, application: Application) -> None:
        self.adapter = adapter
        self.application = application
        self.items = 0
        methods = [getattr(adapter, name, None) for name in CALLED]
        self.waits = any(map(inspect.iscoroutinefunction, methods))

    def before_step(
        self, *, run: Any, state: str, data: Mapping[str, Any], inputs: Mapping[str, Any]
    ) -> Awaitable[None] | None:
        self.items = 0
        return self._call("pre_run_step", state, state=State(data), inputs=dict(inputs))

    def after_step(
        self, *, run: Any, state: str, result: Any, data: Mapping[str, Any], error: Exception | None
    ) -> Awaitable[None] | None:
        return self._call("post_run_step", state, state=State(data), result=result, exception=error)

    def on_item(self, *, run: Any, state: str, text: Any) -> Awaitable[None] | None:
        self.items += 1
        return self._call("post_stream_item", state, item=text, item_index=self.items)

    def created(self) -> None:
        """The application is there; the method of Burr's that is called then is never async."""
        application = self.application
        if hasattr(self.adapter, "post_application_create"):
            self.adapter.post_application_create(
                app_id=application.uid, partition_key=application.partition_key,
                state=application.state, application_graph=application.graph,
                parent_pointer=None, spawning_parent_pointer=None,
            )  # fmt: skip

    def _call(self, method: str, of: str, /, **more: Any) -> Awaitable[None] | None:
        call = getattr(self.adapter, method, None)
        if call is None:
            return None
        application = self.application
        action = of if method == "post_stream_item" else application.graph.get_action(of)
        found: Awaitable[None] | None = call(
            action=action, app_id=application.uid, sequence_id=application.sequence_id,
            partition_key=application.partition_key, **more,
        )  # fmt: skip
        return found
