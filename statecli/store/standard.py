"""Values of Python's own library as JSON and back, faithfully: times, paths, decimals, members of
an Enum. Loaded only where a run holds one."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Any
from uuid import UUID


def written(value: Any, tell: Callable[[Any], Any]) -> Any:
    """The object that stands for a value, None where it is none of these, or a member of an Enum
    that is made inside of a function: nobody could find that again. `tell` writes the value of a
    member."""
    if isinstance(value, Enum):
        if "<locals>" in type(value).__qualname__:
            return None
        return {"$enum": [type(value).__module__, type(value).__qualname__, tell(value.value)]}
    if isinstance(value, Path):
        return {"$path": str(value)}
    write = _WRITE.get(type(value))
    return write(value) if write is not None else None


def _moment(value: datetime) -> Any:
    """As text; where the hour is that of a place, with its name: an offset alone would forget when
    the clocks there change."""
    place = getattr(value.tzinfo, "key", None)
    if place is None:
        return {"$datetime": value.isoformat()}
    return {"$datetime": [value.replace(tzinfo=None).isoformat(), place, value.fold]}


def _moment_of(told: Any) -> datetime:
    if isinstance(told, str):
        return datetime.fromisoformat(told)
    from zoneinfo import ZoneInfo

    text, place, fold = told
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(place), fold=fold)


def _member(module: str, name: str, value: Any) -> Any:
    """The member of an Enum that the program has loaded; its value where it has not, or where the
    Enum has no such member any more. Nothing is imported: a store says no more than what something
    is called."""
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = vars(found).get(part) if hasattr(found, "__dict__") else None
    if isinstance(found, type) and issubclass(found, Enum):
        try:
            return found(value)
        except Exception:  # also of its own `_missing_`
            return value
    return value


_WRITE: dict[type, Callable[[Any], Any]] = {
    datetime: _moment,
    date: lambda value: {"$date": value.isoformat()},
    time: lambda value: {"$time": value.isoformat()},
    timedelta: lambda value: {"$timedelta": [value.days, value.seconds, value.microseconds]},
    Decimal: lambda value: {"$decimal": str(value)},
    UUID: lambda value: {"$uuid": str(value)},
}
#: What was written, by its key: lists are read before.
READ: dict[str, Callable[[Any], Any]] = {
    "$enum": lambda told: _member(*told),
    "$path": Path,
    "$datetime": _moment_of,
    "$date": date.fromisoformat,
    "$time": time.fromisoformat,
    "$timedelta": lambda told: timedelta(*told),
    "$decimal": Decimal,
    "$uuid": UUID,
}
