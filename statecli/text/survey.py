"""One walk over the value of a document, for what several readers want to know of all of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

#: Deeper than any graph, and far below what would exhaust the stack.
MAX_DEPTH = 100
#: Texts from this length on are kept; shorter ones hold nothing that is looked for.
LONG = 12


class Survey(NamedTuple):
    """`keys`: how many keys all mappings have, `values`: how many values are texts (counted in
    JSON only), `names`: the different keys, `texts`: every long text."""

    keys: int
    values: int
    names: frozenset[str]
    texts: list[str]


def survey(value: object) -> Survey | None:
    """Level by level, so that depth costs no stack; None below MAX_DEPTH levels."""
    keys = values = 0
    names: set[str] = set()
    texts: list[str] = []
    level: list[object] = [[value]]
    for _ in range(MAX_DEPTH + 2):
        inner: list[object] = []
        for container in level:
            items: Iterable[Any] = ()
            if isinstance(container, dict):
                keys += len(container)
                names.update(container)
                items = container.values()
            elif isinstance(container, list):
                items = container
            for item in items:
                kind: type = type(item)
                if kind is str:
                    values += 1
                    if len(item) >= LONG:
                        texts.append(item)
                elif kind is dict or kind is list:
                    inner.append(item)
        if not inner:
            return Survey(keys, values, frozenset(names), texts)
        level = inner
    return None
