"""The names of ARKOS's documents over our own (documents 000 and 001)."""

from __future__ import annotations

from statecli.kinds.arkos_names import (
    AIMessage,
    AuthRequiredError,
    Message,
    State,
    SystemMessage,
    ToolMessage,
    UserMessage,
    register_state,
)

__all__ = [
    "AIMessage", "AuthRequiredError", "Message", "State", "SystemMessage", "ToolMessage",
    "UserMessage", "register_state",
]  # fmt: skip
