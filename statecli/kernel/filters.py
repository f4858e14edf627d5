"""`state_filter`: what of the data a route passes on (model.md 7)."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from statecli.kernel.given import fields_of, given
from statecli.kernel.recorder import Recorder
from statecli.kernel.reducers import of_type
from statecli.model.event import Filtered
from statecli.model.graph import Transition
from statecli.model.snapshot import Snapshot


def filter_data(to: Recorder, number: int, route: Transition) -> None:
    """Record what goes on along a route. Raises what a function raises, Misfit for what a field
    cannot hold."""
    wanted = route.state_filter
    if wanted is None:
        return
    data = data_of(to.snapshot, number)
    if isinstance(wanted, tuple):
        code = next((w for w in wanted if ":" in w and w not in to.graph.fields), None)
        if code is not None:
            raise ValueError(
                f"the state_filter '{code}' names no field; a function of Python is written "
                f'{{python: "{code}"}}'
            )
        kept = tuple(key for key in data if key in wanted)
        if len(kept) < len(data):
            to.emit(Filtered(number, route.target, kept))
        return
    made = whole(to, wanted(given(to.graph.settings.get("data_type"), data)))
    to.emit(Filtered(number, route.target, data=made))


def whole(to: Recorder, value: Any) -> dict[str, Any]:
    """All the data as a function made it, checked field by field. TypeError for what is none."""
    if inspect.iscoroutine(value):
        value.close()
        raise TypeError("the function cannot be async: it gives back all of the data at once")
    if not isinstance(value, Mapping) and not hasattr(value, "__dict__"):
        kind = type(value).__name__
        raise TypeError(f"the function gave back a {kind}, not all of the data as a mapping")
    data = fields_of(value)
    for key, item in data.items():
        field = to.graph.fields.get(key)
        if field is not None:
            data[key] = of_type(field, item)
    return data


def data_of(snapshot: Snapshot, number: int) -> Any:
    """The data that a token sees."""
    return snapshot.branches[number].data if snapshot.branches else snapshot.data
