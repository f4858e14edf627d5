"""What the ARKOS documentation's examples import, so that custom states run unchanged.

While a plugin loads, the documents' modules (`state_module.state`, `state_module.state_registry`,
`model_module.ArkModelNew`, `tool_module.tool_call`) resolve to this one, and the names that the
examples use without importing them (`register_state`, `json`) are there.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType
from typing import Any, Self, TypeVar, overload

from statecli.model.ports import AuthRequired

T = TypeVar("T")
NAMES = (
    "state_module", "state_module.state", "state_module.state_registry", "model_module",
    "model_module.ArkModelNew", "tool_module", "tool_module.tool_call",
)  # fmt: skip

#: What `register_state` has seen: (kind or None, class or function). The first list is that of the
#: program itself, the others those of plugins that load.
_registered: list[list[tuple[str | None, Any]]] = [[]]


class State:
    """Base of custom states: override `run`, and `check_transition_ready` to wait."""

    def __init__(self, name: str, config: Mapping[str, Any]) -> None:
        self.name = name
        self.is_terminal: bool = False
        self.transition = config.get("transition", {})

    def check_transition_ready(self, context: Any) -> bool:
        """False: the run waits for a line and runs the state again."""
        return True

    def run(self, context: Any, agent: Any = None) -> Any:
        """The body; may be async, may return a message."""
        raise NotImplementedError(f"{type(self).__name__} has no run()")


class Message:
    """A message of a conversation; `content` is its text. The loop of document 000 awaits what its
    own `GreetingState` simply returns: a message that is awaited is itself."""

    role = "system"

    def __init__(self, content: str = "", **more: Any) -> None:
        self.content = content
        self.__dict__.update(more)

    def __await__(self) -> Generator[Any, None, Self]:
        yield from ()
        return self


class SystemMessage(Message):
    role = "system"


class AIMessage(Message):
    role = "assistant"


class UserMessage(Message):
    role = "user"


class ToolMessage(Message):
    role = "tool"


class AuthRequiredError(AuthRequired):
    """A tool needs the person to connect a service first."""

    def __init__(
        self,
        service: str = "",
        connect_url: str = "",
        service_info: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(service, connect_url)
        self.connect_url = connect_url
        self.service_info = dict(service_info or {})


@overload
def register_state(found: str) -> Callable[[T], T]: ...
@overload
def register_state(found: T) -> T: ...
def register_state(found: Any) -> Any:
    """A decorator of a class, or with a kind ``@register_state("kind")`` of a class or function."""
    if isinstance(found, str):
        kind = found

        def decorate(thing: Any) -> Any:
            _registered[-1].append((kind, thing))
            return thing

        return decorate
    _registered[-1].append((getattr(found, "type", None), found))
    return found


@contextmanager
def registering() -> Iterator[list[tuple[str | None, Any]]]:
    """What is registered inside of this, by a plugin that loads; the program does not see it."""
    found: list[tuple[str | None, Any]] = []
    _registered.append(found)
    try:
        yield found
    finally:
        _registered.pop()


def registered() -> dict[str, Any]:
    """What the program itself registered, by kind. A class without a `type` has the kind of its
    name: ``GreetingState`` and ``StateGreeting`` are `greeting`."""
    return {kind or _kind_of(thing.__name__): thing for kind, thing in _registered[0]}


def _kind_of(name: str) -> str:
    bare = name.removeprefix("State") or name
    bare = bare.removesuffix("State") or bare
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", bare).lower()


@contextmanager
def importable() -> Iterator[dict[str, Any]]:
    """The documents' module names resolve to this module; yields the names to set in a plugin."""
    here = sys.modules[__name__]
    before = {name: sys.modules.get(name) for name in NAMES}
    for name in NAMES:
        module = here if "." in name else ModuleType(name)
        sys.modules[name] = module
    for name in NAMES:
        package, dot, leaf = name.partition(".")
        if dot:
            setattr(sys.modules[package], leaf, here)
    try:
        yield {"register_state": register_state, "json": json}
    finally:
        for name, module_before in before.items():
            if module_before is None:
                sys.modules.pop(name, None)
            else:
                sys.modules[name] = module_before


MESSAGES: dict[str, Callable[..., Message]] = {
    "system": SystemMessage,
    "assistant": AIMessage,
    "user": UserMessage,
    "tool": ToolMessage,
}


def as_message(message: Mapping[str, Any]) -> Message:
    """A message of the data as the documents' examples know it, with its id where it has one."""
    make = MESSAGES.get(str(message.get("role")), SystemMessage)
    identity = {"id": message["id"]} if message.get("id") else {}
    return make(content=str(message.get("content", "")), **identity)
