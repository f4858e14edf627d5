"""Fan-in: the deltas of branches since they parted, folded by the reducers (model.md 7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from statecli.kernel.difference import as_delta, reducer_of
from statecli.kernel.reducers import MISSING, Misfit, fitted, reduced, reducer
from statecli.model.graph import Graph
from statecli.model.snapshot import Branch, Past


class Folded(NamedTuple):
    """The data of several branches as one, and the history that leads to it."""

    data: Mapping[str, Any]
    past: Past


class _Part(NamedTuple):
    """What one branch brings: its deltas since the split with the point each stands at, oldest
    first, and the fields of the common data that it still has (None: all)."""

    deltas: list[tuple[int, Mapping[str, Any]]]
    has: frozenset[str] | None


def folded(graph: Graph, branches: Sequence[Branch], merge: str = "") -> Folded:
    """Begin where the branches parted, and apply the deltas of each in turn, each delta once.

    `merge` names the reducer that brings together what several branches wrote to a field that is
    simply overwritten. A field that every branch dropped on its way is gone. Raises Misfit where a
    reducer fails or its result is not of the field's type.
    """
    top = common([branch.past for branch in branches])
    assert top.data is not None  # branches part where the data is kept
    parts = [_part(graph, branch.past, top) for branch in branches]
    data, past = _base(top, parts)
    seen: set[tuple[int, str]] = set()
    merged: dict[str, Any] = {}
    for part in parts:
        last: dict[str, Any] = {}
        for point, delta in part.deltas:
            new = {key: value for key, value in delta.items() if (point, key) not in seen}
            seen.update((point, key) for key in new)
            if merge not in ("", "overwrite"):
                last |= {k: v for k, v in new.items() if reducer_of(graph, k) == "overwrite"}
                new = {key: value for key, value in new.items() if key not in last}
            data, past = _added(graph, data, past, new)
        for key, value in last.items():
            merged[key] = _merged(merge, key, merged.get(key, MISSING), value)
    return Folded(*_added(graph, data, past, merged))


def common(pasts: Sequence[Past]) -> Past:
    """The last point that all of them come from."""
    found = pasts[0]
    for past in pasts[1:]:
        other: Past = past
        while found is not other:
            if found.depth >= other.depth:
                assert found.before is not None  # every branch begins at the first split
                found = found.before
            else:
                assert other.before is not None
                other = other.before
    return found


def _part(graph: Graph, past: Past, top: Past) -> _Part:
    """What a branch brings. Read from its end: a filter holds for everything before it."""
    assert top.data is not None
    deltas: list[tuple[int, Mapping[str, Any]]] = []
    has: frozenset[str] | None = None
    point = past
    while point is not top:
        if point.kept is not None:
            has = point.kept if has is None else has & point.kept
        elif point.root and point.data is not None:
            own = frozenset(point.data) if has is None else has & point.data.keys()
            brings = as_delta(graph, top.data, {key: point.data[key] for key in own})
            order = [key for key in point.data if key in brings]
            deltas.append((id(point), {key: brings[key] for key in order}))
            has = own
            break
        elif point.delta is not None:
            kept = {key: v for key, v in point.delta.items() if has is None or key in has}
            deltas.append((id(point), kept))
        assert point.before is not None
        point = point.before
    return _Part(deltas[::-1], has)


def _base(top: Past, parts: Sequence[_Part]) -> tuple[Mapping[str, Any], Past]:
    """The data where the branches parted, without what all of them dropped."""
    data = top.data or {}
    if any(part.has is None for part in parts):
        return data, top
    kept = frozenset().union(*(part.has or () for part in parts))
    return {key: value for key, value in data.items() if key in kept}, Past(top, kept=kept)


def _added(
    graph: Graph, data: Mapping[str, Any], past: Past, delta: Mapping[str, Any]
) -> tuple[Mapping[str, Any], Past]:
    if not delta:
        return data, past
    if graph.fields:
        fitted(graph, data, delta, null=True)
    return reduced(graph, data, delta), Past(past, delta=delta)


def _merged(name: str, key: str, old: Any, new: Any) -> Any:
    try:
        return reducer(name)(old, new)
    except Exception as error:
        raise Misfit(f"'{key}' cannot be merged ({name}): {error}") from error
