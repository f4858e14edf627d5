"""Data that is one object of a person's own class: as plain data, back, and undone."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping, MutableMapping
from typing import Any

from statecli.kernel.given import fields_of
from statecli.kernel.typed import made


def plain(data: Any) -> dict[str, Any]:
    """Data as the run keeps it: of a pydantic model what its JSON has, as Agentex dumps it."""
    if data is None:
        return {}
    if hasattr(data, "model_dump"):
        found: dict[str, Any] = data.model_dump(mode="json")
        return found
    if dataclasses.is_dataclass(data) and not isinstance(data, type):
        return dataclasses.asdict(data)
    return copy.deepcopy(fields_of(data))


def instance(kind: Any, values: Mapping[str, Any]) -> Any:
    """Saved data as an instance of its type."""
    own = copy.deepcopy(dict(values))
    found = made(kind, own)
    return found if found is not own else kind(**own)


def set_back(live: Any, before: Any) -> Any:
    """Give an object the content of an earlier copy of it; the object."""
    if isinstance(live, MutableMapping):
        live.clear()
        live.update(before)
    elif hasattr(live, "__setstate__"):
        live.__setstate__(before.__getstate__())
    elif live is not None:
        found = before.__getstate__()
        own, slots = found if isinstance(found, tuple) else (found, None)
        if own is not None:
            live.__dict__.clear()
            live.__dict__.update(own)
        for name, value in (slots or {}).items():
            object.__setattr__(live, name, value)
    return live
