"""Where a walk stops: states by their names, or by their tags."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from statecli.model.graph import Graph
from statecli.model.nearest import did_you_mean

_NOWHERE: frozenset[str] = frozenset()


class Halts(NamedTuple):
    """The names of the states after and before which a walk stops."""

    after: frozenset[str]
    before: frozenset[str]


def halts_of(graph: Graph, after: Sequence[str] | None, before: Sequence[str] | None) -> Halts:
    """What halts name. ValueError for what is neither a state nor ``@tag:name``."""
    return Halts(_names(graph, after), _names(graph, before))


def _names(graph: Graph, halts: Sequence[str] | None) -> frozenset[str]:
    if not halts:
        return _NOWHERE
    tags = tagged(graph)
    found: set[str] = set()
    for halt in [halts] if isinstance(halts, str) else halts:
        named = [halt] if halt in graph.states else tags.get(halt)
        if named is None:
            known = (*graph.states, *tags)
            hint = did_you_mean(halt, known) or f"there are: {', '.join(known)}"
            raise ValueError(f"nothing to halt at is named '{halt}' ({hint})")
        found.update(named)
    return frozenset(found)


def tagged(graph: Graph) -> dict[str, list[str]]:
    """Tags as halts name them (``@tag:name``), with the states that have them."""
    known: dict[str, list[str]] | None = graph.memory.get("tags")
    if known is None:
        known = {}
        for name, state in graph.states.items():
            tags = state.settings.get("tags")
            for tag in tags if isinstance(tags, list | tuple) else ():
                known.setdefault(f"@tag:{tag}", []).append(name)
        graph.memory["tags"] = known
    return known
