"""States of a `StateHandler`: what the loop of document 000 asks each of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from statecli.kinds.arkos_names import Message, State
from statecli.model.graph import WAITING_KINDS
from statecli.model.graph import State as Node

if TYPE_CHECKING:
    from statecli.arkos.agent import Agent


class KindState(State):
    """A state of a built-in kind. `run` needs an `Agent`, in whose run it happens."""

    def __init__(self, node: Node) -> None:
        super().__init__(node.name, node.settings)
        self.type = node.kind
        self.description = node.description
        self.is_terminal = node.kind == "terminal"

    def check_transition_ready(self, context: Any) -> bool:
        """A state that waits is ready once the person has the last word."""
        if self.type not in WAITING_KINDS:
            return True
        last = context[-1] if context else None
        role = last.get("role") if isinstance(last, dict) else getattr(last, "role", None)
        return role == "user"

    async def run(self, context: Any, agent: Any = None) -> Message | None:
        """One body of the agent's run; what it said last. TypeError without an `Agent`."""
        from statecli.arkos.agent import Agent

        if not isinstance(agent, Agent):
            raise TypeError(f"'{self.name}' is a built-in kind ({self.type}): run it with an Agent")
        return await agent.flow.get_state(self.name).run(context, agent)  # type: ignore[no-any-return]


class FunctionState(State):
    """A state whose kind is a function that was registered."""

    def __init__(self, node: Node, function: Callable[..., Any]) -> None:
        super().__init__(node.name, node.settings)
        self.type = node.kind
        self.description = node.description
        self._function = function

    def run(self, context: Any, agent: Any = None) -> Any:
        """What the function gives back; a coroutine where it is one."""
        try:
            inspect.signature(self._function).bind(context, agent)
        except TypeError:
            return self._function(context)
        return self._function(context, agent)


class BoundState(State):
    """A state of one agent's run. `run` runs its body by the engine, for built-in and custom kinds
    alike; what a custom kind's own object has is here too (`inner`).

    `is_terminal`: there is nothing to do here: the run has ended, or it waits for the person.
    """

    def __init__(self, node: Node, inner: Any, agent: Agent) -> None:
        self.name = node.name
        self.type = node.kind
        self.description = node.description
        self.transition = node.settings.get("transition", {})
        self.inner = inner
        self._agent = agent

    @property
    def is_terminal(self) -> bool:  # type: ignore[override]
        return self._agent.rests_at(self.name)

    def check_transition_ready(self, context: Any) -> bool:
        """Whether its body is done, so that the run may move on."""
        return self._agent.held_at(self.name)

    async def run(self, context: Any, agent: Any = None) -> Message | None:
        """One body; what it said last. RunError where it failed or a limit struck,
        AuthRequiredError where a service has to be connected first. The conversation is that of the
        run (`context` is not needed)."""
        return await self._agent.run_state(self.name)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "inner":
            raise AttributeError(name)
        return getattr(self.inner, name)
