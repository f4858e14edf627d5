"""The data of a run as a program sees it: it can be read, and nothing in it can be changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from statecli.kernel.given import FIXED, copied
from statecli.model.snapshot import Messages


class Data(Mapping[str, Any]):
    """Reads as a mapping. A value that could be changed comes as a copy each time it is read, so
    what a program does to it shows up nowhere; keep it in a variable if you look at it often."""

    __slots__ = ("_data",)

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data

    def __getitem__(self, key: str) -> Any:
        value = self._data[key]
        if type(value) in FIXED:
            return value
        return _Copies(value) if type(value) is Messages else copied(value)

    def __contains__(self, key: object) -> bool:
        return key in self._data

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Data):
            return self._data == other._data
        return isinstance(other, Mapping) and dict(self._data) == dict(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(dict(self._data))


class _Copies(Messages):
    """Messages, each of which is copied when it is read: a long conversation is not copied whole
    for a look at its last line."""

    __slots__ = ()

    def __init__(self, messages: Messages) -> None:
        self._items = messages._items
        self._length = messages._length
        self._places = messages._places

    def __iter__(self) -> Iterator[Any]:
        return map(copied, super().__iter__())

    def __getitem__(self, at: Any) -> Any:
        return copied(super().__getitem__(at))

    def __deepcopy__(self, memo: object) -> list[Any]:
        return list(self)
