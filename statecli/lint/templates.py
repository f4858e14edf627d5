"""The `{{name}}` variables in the texts of a graph, each with its characters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from statecli.model.data import is_list, is_map
from statecli.model.graph import Graph, State
from statecli.model.span import Path

#: `{{ user.name | upper }}`: the name, then keys of it, then filters. `\{{` is no variable, and
#: `{{#if}}`, `{{> part}}`, `{{f(x)}}` or the braces of a JSON example are none either.
_VARIABLE = re.compile(
    r"(?<!\\)\{\{-?\s*([^\W\d][\w-]*?)(?:\.[\w-]+|\[[^\]{}]*\])*\s*(?:\|[^{}]*?)?-?\}\}"
)
#: Names that a template binds itself: `{% for x in y %}`, `{% set x = 1 %}`.
_BOUND = re.compile(r"\{%-?\s*(?:for|set|with|macro)\s+([^%]*?)(?:\bin\b|=|%\})")
#: Blocks whose inner names belong to something else: all of Mustache's but plain conditions.
_SECTION = re.compile(r"\{\{[#^]\s*(?!if\b|unless\b)[\w.-]+")
_WORDS = frozenset({"else", "this", "end", "true", "false", "none", "null", "loop", "self"})

_STATE_TEXTS = ("description", "prompt", "message")
_TASK_TEXTS = ("description", "instruction")
_GOAL_TEXTS = ("objective", "context", "depth_guidance", "boundaries", "success_description")
_DELIVERABLE_TEXTS = ("description", "acceptance_criteria")
_END_NODE = ("metadata", "plan_builder", "canvas", "end_node_config")


class Variable(NamedTuple):
    """A variable in the text at `path`, its name being the characters `start` up to `end`.
    `state` is the number of the state, -1 for a text of the graph."""

    state: int
    name: str
    path: Path
    start: int
    end: int


def variables(graph: Graph, states: list[State]) -> list[Variable]:
    """Every variable, the graph's own texts first."""
    found: list[Variable] = []
    for path, text in _graph_texts(graph):
        found.extend(Variable(-1, name, path, *at) for name, at in named(text))
    for number, state in enumerate(states):
        for path, text in _texts(state):
            if "{{" in text:
                found.extend(Variable(number, name, path, *at) for name, at in named(text))
    return found


def named(text: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """The names in one text, with their characters."""
    if "{{" not in text or _SECTION.search(text):
        return
    bound = _WORDS
    if "{%" in text:
        bound = bound.union(*(re.findall(r"\w+", names) for names in _BOUND.findall(text)))
    for match in _VARIABLE.finditer(text):
        if match.group(1) not in bound:
            yield match.group(1), match.span(1)


def _graph_texts(graph: Graph) -> Iterator[tuple[Path, str]]:
    yield from _of(graph.settings, ("description", "system_prompt"), ())
    ending: object = graph.settings
    for step in _END_NODE:
        ending = ending.get(step) if is_map(ending) else None
    if is_map(ending):
        yield from _of(ending, ("farewell_message",), _END_NODE)


def _texts(state: State) -> Iterator[tuple[Path, str]]:
    settings, path = state.settings, state.path
    if not is_map(settings):
        return
    yield from _of(settings, _STATE_TEXTS, path)
    for number, task in _items(settings.get("tasks")):
        at = (*path, "tasks", number)
        yield from _of(task, _TASK_TEXTS, at)
        yield from _deliverables(task, at)
    goal = settings.get("goal")
    if is_map(goal):
        yield from _of(goal, _GOAL_TEXTS, (*path, "goal"))
        yield from _deliverables(goal, (*path, "goal"))
    for number, way in _items(settings.get("transitions")):
        yield from _of(way, ("description",), (*path, "transitions", number))
    transition = settings.get("transition")
    for number, way in _items(transition.get("next") if is_map(transition) else None):
        yield from _of(way, ("description",), (*path, "transition", "next", number))


def _deliverables(owner: dict[str, object], path: Path) -> Iterator[tuple[Path, str]]:
    for number, item in _items(owner.get("deliverables")):
        yield from _of(item, _DELIVERABLE_TEXTS, (*path, "deliverables", number))


def _items(value: object) -> Iterator[tuple[int, dict[str, object]]]:
    if is_list(value):
        for number, item in enumerate(value):
            if is_map(item):
                yield number, item


def _of(value: object, keys: tuple[str, ...], path: Path) -> Iterator[tuple[Path, str]]:
    if is_map(value):
        for key in keys:
            text = value.get(key)
            if isinstance(text, str) and text:
                yield (*path, key), text
