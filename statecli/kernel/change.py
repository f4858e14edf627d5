"""Values that a body writes: checked, given what they lack, and recorded (model.md 7)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from statecli.kernel.recorder import Recorder
from statecli.kernel.reducers import fitted, is_conversation
from statecli.model.event import Changed, Warned
from statecli.model.snapshot import Messages


def change(
    to: Recorder,
    number: int,
    delta: Mapping[str, Any],
    new_id: Callable[[], str],
    *,
    null: bool = False,
) -> None:
    """Record a delta of the token's state. Raises Misfit for what a field cannot hold; what is no
    field of a graph that declares its fields is left out, and told. Messages get an id."""
    named = {
        key: _with_ids(value, new_id) if is_conversation(to.graph, key) else value
        for key, value in delta.items()
    }
    found = fitted(to.graph, to.snapshot.data, named, null=null)
    name = to.token(number).state
    for key in found.dropped:
        message = f"'{name}' writes '{key}', which is no declared field: it is not kept"
        to.emit(Warned(number, name, message))
    if found.delta:
        to.emit(Changed(number, name, found.delta))


def _with_ids(value: Any, new_id: Callable[[], str]) -> Any:
    if not isinstance(value, list | tuple | Messages):
        return _with_id(value, new_id)
    return [_with_id(message, new_id) for message in value]


def _with_id(message: Any, new_id: Callable[[], str]) -> Any:
    if isinstance(message, Mapping) and not message.get("id"):
        return {**message, "id": new_id()}
    return message
