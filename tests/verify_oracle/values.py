"""Which concrete values the oracle tries for a key: on both sides of every constant."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

from verify_oracle.conditions import number


class Kind(NamedTuple):
    """The type of a key (str int float bool enum any; line: what is typed), and its members."""

    type: str
    members: tuple[Any, ...] = ()


def candidates(kind: Kind, constants: Iterable[Any], twice: bool) -> list[Any]:
    """Values of this type. Numbers lie on a grid of a quarter. `twice`: give two of everything that
    has two, for where it matters that a value changed although no condition sees it."""
    listed = list(constants)
    if kind.type == "bool":
        return [False, True]
    if kind.type == "enum":
        return _distinct(kind.members)
    numbers = sorted({n for n in map(number, listed) if n is not None})
    if kind.type == "int":
        return _whole(numbers) if numbers else [0, 1] if twice else [0]
    if kind.type == "float":
        return _grid(numbers, twice)
    texts = _texts([value for value in listed if isinstance(value, str)], numbers, twice)
    if kind.type == "line":
        return _distinct(text.strip() for text in texts if text.strip())
    if kind.type == "str":
        return texts
    return _distinct([*texts, *_grid(numbers, twice), False, True])


def _whole(numbers: list[float]) -> list[Any]:
    found: set[int] = set()
    for n in numbers:
        found |= {math.floor(n) - 1, math.floor(n), math.ceil(n), math.ceil(n) + 1}
    return sorted(found)


def _grid(numbers: list[float], twice: bool) -> list[Any]:
    if not numbers:
        return [0.5, 1.5] if twice else [0.5]
    step = (0.25, 0.5) if twice else (0.25,)
    found = {n + d * sign for n in numbers for d in (0.0, *step) for sign in (1, -1)}
    return sorted(found)


def _texts(texts: list[str], numbers: list[float], twice: bool) -> list[Any]:
    found = ["zzz", "zzy"] if twice else ["zzz"]
    for text in texts:
        found += [text, f" {text.swapcase()}", f"a{text}b"]
    found += [f"{n:g}" for n in _grid(numbers, twice)] if numbers else []
    found += [f"{n:.2f}" for n in numbers]  # the same number, another text
    return _distinct(found)


def _distinct(values: Iterable[Any]) -> list[Any]:
    """Each once; true is not 1."""
    found: dict[tuple[bool, Any], Any] = {}
    for value in values:
        found.setdefault((isinstance(value, bool), value), value)
    return list(found.values())
