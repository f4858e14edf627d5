"""The limits of a run (model.md 4.3): N means N."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from statecli.model.graph import Graph
from statecli.model.keys import OBJECTS

if TYPE_CHECKING:  # validate asks for the limits, and has no run
    from statecli.model.snapshot import Snapshot


class Hit(NamedTuple):
    """A limit that is used up, and what to say of it."""

    limit: str
    message: str


def limit(graph: Graph, name: str) -> int:
    """A limit of the graph that counts something, or its default."""
    value = graph.limits.get(name)
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    default = OBJECTS["limits"][name].default
    return default if isinstance(default, int) else 0


def used_up(graph: Graph, snapshot: Snapshot, seconds: float) -> Hit | None:
    """The budget of the session that is used up, if one is: tokens, money, or time at work."""
    tokens, cost = _budget(graph, "max_tokens"), _budget(graph, "max_cost")
    work = snapshot.work
    if tokens and work.tokens_spent >= tokens:
        return Hit("max_tokens", f"max_tokens: {work.tokens_spent:,} of {tokens:,.0f} tokens")
    if cost and work.cost_spent >= cost:
        return Hit("max_cost", f"max_cost: {work.cost_spent:.4g} of {cost:g} is spent")
    most = _budget(graph, "timeout")
    return out_of_time(graph) if most and seconds >= most else None


def out_of_time(graph: Graph) -> Hit:
    """That the limit `timeout` struck."""
    return Hit("timeout", f"timeout: {_budget(graph, 'timeout'):g} seconds at work")


def time_left(graph: Graph, seconds: float) -> float | None:
    """What is left of the limit `timeout` after these seconds; None where there is none."""
    most = _budget(graph, "timeout")
    return max(0.0, most - seconds) if most else None


def _budget(graph: Graph, name: str) -> float:
    """What may be spent; 0 is no limit."""
    value = graph.limits.get(name)
    return value if isinstance(value, int | float) and value is not True and value > 0 else 0
