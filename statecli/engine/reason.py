"""Why a body failed, in words."""

from __future__ import annotations

from statecli.model.guard import GuardMissingField
from statecli.model.ports import ModelError


def reason(error: Exception) -> str:
    """With the kind of the error, where a body in Python raised it."""
    try:
        text = str(error)
    except Exception:  # a class of a person, whose own text fails
        text = ""
    if text and isinstance(error, ModelError | GuardMissingField):
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
