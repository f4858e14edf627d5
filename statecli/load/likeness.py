"""Whether what stands in a file looks like a graph at all (cli.md), and why not."""

from __future__ import annotations

import os
import re

from statecli.load.loader import holds_states
from statecli.model.data import is_list, is_map
from statecli.model.graph import KINDS
from statecli.model.keys import STATE_MARKS
from statecli.model.nearest import nearest

#: One of these words stands in everything that looks like a graph.
_WORDS = (b"states", b"initial", b"transition", b"tasks")
_GRAPH_TEXT = r"""(?<![\w-])(["']?)(?:states|transition)\1\s*:"""


def may_be_graph(path: str, data: bytes) -> bool:
    """A first look at the bytes, so that the other files of a folder are not parsed for nothing."""
    return any(word in data for word in _WORDS) or b"\0" in data[:200] or _in_graphs(path)


def why_not(path: str, text: str, value: object, broken: bool) -> str:
    """Why a file does not look like a graph; empty if it does. `broken`: it could not be read."""
    if broken:
        if re.search(_GRAPH_TEXT, text) or _in_graphs(path):
            return ""
        return "it cannot be read, and nothing in it looks like a graph"
    if not is_map(value):
        if _in_graphs(path):
            return ""
        if value is None:
            return "there is nothing in it" if not text.strip() else "there are only comments in it"
        return "a list, not a graph" if is_list(value) else "a single value, not a graph"
    if is_list(value.get("turns")) and "states" not in value:
        return "this is a conversation; statecli test plays it"
    foreign = _foreign(value)
    if foreign:
        return f"this looks like {foreign}, which is not read yet"
    if "states" in value or "initial" in value or "initial_state_id" in value:
        return ""
    if any(_is_state(item) for item in value.values()):
        return ""
    if any(holds_states(item) and nearest(key, ("states",)) for key, item in value.items()):
        return ""
    return "it has neither 'states' nor 'initial'"


def _in_graphs(path: str) -> bool:
    folder = os.path.dirname(os.path.abspath(path))
    return os.path.basename(folder) == "graphs"


def _is_state(value: object) -> bool:
    return is_map(value) and "type" in value and any(mark in value for mark in STATE_MARKS)


def _foreign(value: dict[str, object]) -> str:
    """A form of another tool whose shape is certain (model.md 2.3)."""
    if "StartAt" in value and "States" in value:
        return "an Amazon States Language machine"
    if is_list(value.get("nodes")) and is_list(value.get("edges")) and "states" not in value:
        return "a drawing of nodes and edges, as LangGraph writes it"
    states = value.get("states")
    if is_map(states) and states:
        shapes = [item for item in states.values() if is_map(item)]
        ours = any(
            "transition" in item or "transitions" in item or item.get("type") in KINDS
            for item in shapes
        )
        nested = any(is_map(item.get("on")) or is_map(item.get("states")) for item in shapes)
        if not ours and ("on" in value or nested):
            return "an XState chart"
    return ""
