"""What `Run` is given: said at once where it is something else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from statecli.kernel.given import fields_of
from statecli.model.graph import Graph
from statecli.model.ports import Store
from statecli.store.memory import MemoryStore


def checked(graph: Any, provider: Any, hooks: Any) -> None:
    """TypeError for what is no graph, no provider, no hooks."""
    if not isinstance(graph, Graph):
        raise TypeError(f"a run is of a graph, not of a {type(graph).__name__}{_graph_of(graph)}")
    if provider is not None and not callable(getattr(provider, "complete", None)):
        raise TypeError(f"a provider is an object with 'complete', not {provider!r}: that of a "
                        "model is statecli.llm.openai_compatible.model('openai:...')")  # fmt: skip
    if not isinstance(hooks, Sequence):
        raise TypeError(f"hooks are a list: hooks=[{type(hooks).__name__}(...)]")
    for hook in hooks:
        if not callable(getattr(hook, "before_step", None)) or isinstance(hook, type):
            raise TypeError(f"{hook!r} is no hook: an object of a class of Hooks is")


def _graph_of(given: Any) -> str:
    """How to get the graph of it."""
    if callable(getattr(given, "build", None)):
        return ": call its build()"
    return ": it has a graph, write .graph" if hasattr(given, "graph") else ""


def data_of(data: Any) -> Mapping[str, Any]:
    """The fields of what a run begins with. TypeError for what has none."""
    if data is None:
        return {}
    try:
        return fields_of(data)
    except TypeError:
        raise TypeError(
            "data are a mapping of fields, or an instance of a model or a dataclass, "
            f"not a {type(data).__name__}"
        ) from None


def inputs_of(inputs: Any) -> Mapping[str, Any]:
    """The inputs of a step. TypeError for what has no names."""
    if inputs is not None and not isinstance(inputs, Mapping):
        kind = type(inputs).__name__
        raise TypeError(f"inputs are a mapping of their names to values, not a {kind}")
    return inputs or {}


def store_of(store: Any) -> Store:
    """The store, or one in memory. TypeError for what is none."""
    if store is None:
        return MemoryStore()
    if not callable(getattr(store, "create", None)):
        raise TypeError(f"a store is an object like SqliteStore(path), not {store!r}")
    found: Store = store
    return found
