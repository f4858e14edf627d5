"""A Python function that a file names (``package.module:function``)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from statecli.model.graph import Graph

#: The setting of a join whose own function makes the data of its branches one.
STRATEGY = "multi_input_merge_strategy"


class Code:
    """The function, once the person allowed it to be loaded; until then it is only named: a file
    may come from a stranger."""

    __slots__ = ("function", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self.function: Callable[..., Any] | None = None

    def __call__(self, *given: Any) -> Any:
        if self.function is None:
            raise ValueError(f"'{self.name}' is Python code that was not loaded; "
                             "chat and test load it with --allow-plugins")  # fmt: skip
        return self.function(*given)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Code) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"Code({self.name!r})"


def codes(graph: Graph) -> Iterator[tuple[str, Code]]:
    """Every function that the file of a graph names, each with the key that names it."""
    for state in graph.states.values():
        strategy = state.settings.get(STRATEGY)
        if isinstance(strategy, Code):
            yield f"'{STRATEGY}' of '{state.name}'", strategy
        for way in state.transitions:
            if isinstance(way.state_filter, Code):
                yield (
                    f"'state_filter' of the way from '{state.name}' to '{way.target}'",
                    (way.state_filter),
                )
