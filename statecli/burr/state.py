"""Burr's State: a mapping that is never changed; each method gives a new one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any


class State(Mapping[str, Any]):
    """The data of an application. ``state["x"]``, `get` and the like read; `update`, `append`,
    `extend`, `increment`, `wipe` give a new state and leave this one as it is."""

    __slots__ = ("_values",)

    def __init__(self, initial_values: Mapping[str, Any] | None = None) -> None:
        self._values: Mapping[str, Any] = {} if initial_values is None else initial_values

    def __getitem__(self, key: str) -> Any:
        try:
            return self._values[key]
        except KeyError:
            known = ", ".join(self._values)
            raise KeyError(f"the state has no key '{key}'; it has: {known}") from None

    def __contains__(self, key: object) -> bool:
        return key in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return repr(dict(self._values))

    def keys(self) -> list[str]:  # type: ignore[override]  # Burr's is a list
        """The keys, as a list."""
        return list(self._values)

    def get_all(self) -> dict[str, Any]:
        """All of it as a dictionary."""
        return dict(self._values)

    def update(self, **updates: Any) -> State:
        """The state with these values."""
        return State({**self._values, **updates})

    def append(self, **updates: Any) -> State:
        """The state with one more value at the end of each of these lists; one that is not there
        begins. ValueError for what is no list."""
        return self.update(**{k: [*self._of(k, list, "append to"), v] for k, v in updates.items()})

    def extend(self, **updates: Sequence[Any]) -> State:
        """The state with more values at the end of each of these lists. ValueError as `append`."""
        return self.update(**{k: [*self._of(k, list, "extend"), *v] for k, v in updates.items()})

    def increment(self, **updates: int) -> State:
        """The state with these numbers added; one that is not there counts from 0. ValueError for
        what is no whole number."""
        return self.update(**{k: self._of(k, int, "increment") + v for k, v in updates.items()})

    def wipe(self, delete: Sequence[str] | None = None, keep: Sequence[str] | None = None) -> State:
        """The state without the keys in `delete`, or with those in `keep` only; without either,
        empty. ValueError for both."""
        if delete is not None and keep is not None:
            raise ValueError(f"wipe takes delete or keep, not both: {delete} and {keep}")
        gone = set(delete) if delete is not None else set(self._values) - set(keep or ())
        return State({key: value for key, value in self._values.items() if key not in gone})

    def merge(self, other: Mapping[str, Any]) -> State:
        """Both together; where they differ, the other's values."""
        return State({**self._values, **other})

    def subset(self, *keys: str, ignore_missing: bool = True) -> State:
        """Only these keys. KeyError for one that is not there, unless `ignore_missing`."""
        return State({key: self[key] for key in keys if key in self or not ignore_missing})

    def _of(self, key: str, kind: type, verb: str) -> Any:
        value = self._values.get(key, kind())
        if not isinstance(value, kind):
            found = type(value).__name__
            raise ValueError(f"cannot {verb} '{key}': it is a {found}, not a {kind.__name__}")
        return value
