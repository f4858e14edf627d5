"""Text to a graph: the document, its form, and everything noted on the way."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from statecli.load.build import Builder
from statecli.load.forms import plan, states
from statecli.model.data import is_list, is_map
from statecli.model.graph import Graph
from statecli.model.keys import OBJECTS, STATE_MARKS
from statecli.model.shape import Issue
from statecli.text import reading
from statecli.text.document import MAX_BYTES, Document

FORMS = (states.NAME, plan.NAME)
#: No kind of a state is read as another one.
AS_WRITTEN: Mapping[str, str] = MappingProxyType({})


class Loaded(NamedTuple):
    """A document, its graph (None where there is none to build) and the issues of its shape."""

    document: Document
    graph: Graph | None
    issues: tuple[Issue, ...] = ()


def load(path: str, text: str | bytes | None = None, form: str | None = None) -> Loaded:
    """Read a graph. Bad input is in `document.problems` and `issues`, never an exception.

    `text` is the content; without it the file is read (OSError as usual). `form` forces one of
    FORMS instead of telling it from the shape.
    """
    if text is None:
        with open(path, "rb") as file:
            text = file.read(MAX_BYTES + 1)
    if isinstance(text, bytes):
        return build(reading.document(path, text), form)
    return build(reading.parse(path, text), form)


def build(
    document: Document, form: str | None = None, meant: Mapping[str, str] = AS_WRITTEN
) -> Loaded:
    """The graph of a document. `meant`: see Builder."""
    top = document.value
    if not is_map(top):
        return Loaded(document, None)
    builder = Builder(document, top, meant)
    kind = form or form_of(top)
    if kind == plan.NAME:
        graph = plan.build(builder)
    elif kind == states.NAME:
        graph = states.build(builder, bare_states(top) if "states" not in top else [])
    else:
        return Loaded(document, None)
    found = Loaded(document, graph, tuple(builder.issues))
    graph.origin = found._replace(graph=None)  # a graph holds no circle
    return found


def form_of(top: dict[str, object]) -> str | None:
    """The form a mapping has: a list under `states` is a plan, everything else a state map."""
    if "states" in top:
        listed = is_list(top["states"])
        plan_only = not is_map(top["states"]) and "initial_state_id" in top
        return plan.NAME if listed or plan_only else states.NAME
    if "initial_state_id" in top:
        return plan.NAME
    return states.NAME if "initial" in top or bare_states(top) else None


def bare_states(top: dict[str, object]) -> list[str]:
    """The names in a file that is the state map itself; empty when it does not look like one.

    A file that says `initial` is meant to be a graph, so there any mapping is a state, unless it
    is the map of the states under another name.
    """
    known = OBJECTS["states graph"]
    names = [
        name
        for name, value in top.items()
        if name not in known and not name.startswith("x-") and (is_map(value) or value is None)
    ]
    if "initial" in top:
        return [] if any(holds_states(top[name]) for name in names) else names
    return names if any(is_state(top[name]) for name in names) else []


def is_state(value: object) -> bool:
    return is_map(value) and "type" in value and any(mark in value for mark in STATE_MARKS)


def holds_states(value: object) -> bool:
    """Whether this is a map or list of states; a state itself holds none."""
    inner = list(value.values()) if is_map(value) else value if is_list(value) else []
    return any(is_state(item) for item in inner) and all(is_map(item) for item in inner)
