"""Which keys may have been set before a state: the fast way against looking at every way."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from statecli.config import Config
from statecli.lint import flow
from statecli.lint.linter import lint
from statecli.load.loader import load
from statecli.model import graphs

EDGES = st.integers(1, 9).flatmap(
    lambda size: st.lists(
        st.lists(st.integers(0, size - 1), max_size=3), min_size=size, max_size=size
    )
)


def after(edges: list[list[int]], start: int) -> set[int]:
    """Every node that at least one step leads to."""
    found: set[int] = set()
    stack = [start]
    while stack:
        for target in edges[stack.pop()]:
            if target not in found:
                found.add(target)
                stack.append(target)
    return found


@given(EDGES)
def test_bits_arrive_where_a_way_leads(edges: list[list[int]]) -> None:
    order = graphs.components(edges)[::-1]
    arrived = flow.carried(edges, order, {node: 1 << node for node in range(len(edges))})
    for node in range(len(edges)):
        sources = {source for source in range(len(edges)) if node in after(edges, source)}
        assert {source for source in range(len(edges)) if arrived[node] >> source & 1} == sources


KEYS = st.sets(st.integers(0, 3), max_size=2)


@pytest.mark.parametrize("near", [0, 50])
@given(edges=EDGES, data=st.data())
def test_set_too_late_or_never(near: int, edges: list[list[int]], data: st.DataObject) -> None:
    """In the states form: an error for each read of a reachable state that no way sets before,
    whether the setters are found one by one or reckoned all at once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(flow, "_NEAR", near)
        _check(edges, data)


def _check(edges: list[list[int]], data: st.DataObject) -> None:
    size = len(edges)
    writes = [data.draw(KEYS) for _ in range(size)]
    reads = [data.draw(KEYS) for _ in range(size)]
    states = {
        f"s{number}": {
            "type": "agent",
            "writes": [f"k{key}" for key in sorted(writes[number])],
            "reads": [f"k{key}" for key in sorted(reads[number])],
            "transition": {"next": [f"s{target}" for target in edges[number]]},
        }
        for number in range(size)
    }
    loaded = load("g.json", json.dumps({"initial": "s0", "states": states}))
    found = {
        (item.rule, item.finding.states[0], item.message.split("'")[1])
        for item in lint(loaded, Config(select=("field-never-written", "field-written-later")))
    }
    live = after(edges, 0) | {0}
    wanted = set()
    for reader in live:
        for key in reads[reader] - writes[reader]:
            setters = [number for number in range(size) if key in writes[number]]
            if not setters:
                wanted.add(("field-never-written", f"s{reader}", f"k{key}"))
            elif live.issuperset(setters) and not any(reader in after(edges, s) for s in setters):
                wanted.add(("field-written-later", f"s{reader}", f"k{key}"))
    assert found == wanted
