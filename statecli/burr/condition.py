"""Burr's conditions: our guards, under its names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from statecli.burr.state import State
from statecli.session.guards import When, decided_by, default, expr, when

__all__ = ["Condition", "default", "expr", "lmda", "safe_expr", "when"]

safe_expr = expr


def lmda(resolver: Callable[[State], Any], state_keys: Sequence[str]) -> When:
    """A condition that is a function of the state; it is false where a key is not there."""
    name = getattr(resolver, "__name__", "")
    return Condition(state_keys, resolver, name=f"lmda_{name}_")


class Condition(When):
    """A condition decided in code: `resolver` is asked with the state where all `keys` are there.
    Nobody can read it; `when` and `expr` can be proved."""

    __slots__ = ()

    def __init__(
        self,
        keys: Sequence[str],
        resolver: Callable[[State], Any],
        name: str | None = None,
        optional_keys: Sequence[str] | None = None,
    ) -> None:
        def holds(data: Any) -> bool:
            return all(key in data for key in keys) and bool(resolver(State(data)))

        found = decided_by(holds, name or str(getattr(resolver, "__name__", "")))
        super().__init__(found.guard)

    when = staticmethod(when)
    expr = staticmethod(expr)
    safe_expr = staticmethod(expr)
    lmda = staticmethod(lmda)
    default = default
