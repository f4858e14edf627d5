"""Burr's graph: actions and transitions, over our own Graph."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

from statecli.burr.action import Action, named
from statecli.burr.body import body_of
from statecli.burr.drawing import drawn
from statecli.model.calls import Call, calling
from statecli.model.graph import Field
from statecli.model.graph import Graph as OurGraph
from statecli.session.builder import GraphBuilder as OurBuilder
from statecli.session.builder import placed
from statecli.session.guards import When, default


class Transition(NamedTuple):
    """From one action to another, where the condition holds. `place`: by which call it was made,
    and as which of its arguments."""

    from_: Action
    to: Action
    condition: When
    place: tuple[Call, int] | None = None

    def __repr__(self) -> str:
        return f"Transition({self.from_.name} -> {self.to.name}: {self.condition.name})"


@dataclass(frozen=True, repr=False)
class Graph:
    """Actions and transitions, in their order. One graph may have many applications at once."""

    actions: list[Action]
    transitions: list[Transition]
    _made: dict[str, OurGraph] = field(default_factory=dict, repr=False, compare=False)

    def __repr__(self) -> str:
        begin = getattr(self, "entrypoint", None)
        names = ", ".join(action.name for action in self.actions)
        at = f"; begins at {begin.name}" if begin is not None else ""
        return f"{type(self).__name__}({names}{at})"

    def get_action(self, action_name: str) -> Action:
        """The action of a name. ValueError where there is none."""
        for action in self.actions:
            if action.name == action_name:
                return action
        listed = ", ".join(action.name for action in self.actions)
        raise ValueError(f"no action is named '{action_name}'; there are: {listed}")

    def get_actions_by_tag(self, tag: str) -> list[Action]:
        """The actions with a tag. ValueError where there is none."""
        found = [action for action in self.actions if tag in action.tags]
        if not found:
            raise ValueError(f"no action has the tag '{tag}'")
        return found

    def visualize(
        self,
        output_file_path: str | os.PathLike[str] | None = None,
        include_conditions: bool = False,
        **more: Any,
    ) -> str | None:
        """Write a drawing (``x.svg``, ``x.png``, ``x.mmd``, ...; a name without a suffix gets
        `format`, else png); without a file, the text of a Mermaid diagram. The rest of Burr's
        arguments is about graphviz, which is not used."""
        begin = getattr(self, "entrypoint", self.actions[0]).name
        path = None if output_file_path is None else os.fspath(output_file_path)
        return drawn(self.graph(begin), path, more.get("format"), conditions=include_conditions)

    def graph(self, entrypoint: str) -> OurGraph:
        """Our graph, for `validate`, `render` and the like; the same one each time."""
        made = self._made.get(entrypoint)
        if made is None:
            bodies = {action.name: body_of(action) for action in self.actions}
            tags = {action.name: list(action.tags) for action in self.actions if action.tags}
            ways = [(t.from_.name, t.to.name, t.condition, placed(*t.place) if t.place else {})
                    for t in self.transitions]  # fmt: skip
            builder = OurBuilder().with_states(**bodies).with_tags(**tags)
            made = _free(builder.with_transitions(*ways).with_initial(entrypoint).build())
            made = self._made.setdefault(entrypoint, made)
        return made


def _free(graph: OurGraph) -> OurGraph:
    """The graph with a field `messages` like any other: an update of Burr's gives all of it, where
    ours would add to the conversation."""
    field = Field("messages", "any", (), "overwrite", False, None, "implicit", ())
    return OurGraph(graph.form, graph.initial, None, graph.states, {"messages": field},
                    limits=graph.limits, settings=graph.settings)  # fmt: skip


@dataclass(frozen=True, repr=False)
class ApplicationGraph(Graph):
    """The graph of an application: with the action where it begins."""

    entrypoint: Action = field(kw_only=True)


class GraphBuilder:
    """Collects actions and transitions; `build` makes the graph."""

    def __init__(self) -> None:
        self.actions: list[Action] = []
        self.transitions: list[tuple[str, str, When, tuple[Call, int] | None]] = []

    def with_actions(self, *action_list: Any, **action_dict: Any) -> Self:
        """Decorated functions (named as they are) and Actions, or both by a name. ValueError for
        what is neither."""
        self.actions += [named(given) for given in action_list]
        self.actions += [named(given, name) for name, given in action_dict.items()]
        return self

    def with_transitions(self, *transitions: Sequence[Any]) -> Self:
        """``(from, to)`` or ``(from, to, condition)``; `from` may be a list. They are tried in
        their order."""
        call = calling(len(transitions))
        for number, (source, target, *more) in enumerate(transitions):
            if len(more) > 1 or not all(isinstance(item, When) for item in more):
                raise ValueError(f"a transition is (from, to) or (from, to, condition), not "
                                 f"{(source, target, *more)!r}")  # fmt: skip
            condition = more[0] if more else default
            sources = source if isinstance(source, list | tuple) else [source]
            self.transitions += [(name, target, condition, (call, number)) for name in sources]
        return self

    def with_graph(self, graph: Graph) -> Self:
        """All that another graph has."""
        self.actions += graph.actions
        self.transitions += [(t.from_.name, t.to.name, t.condition, t.place)
                             for t in graph.transitions]  # fmt: skip
        return self

    def build(self) -> Graph:
        """The graph. ValueError for no actions, two of one name, a transition from or to none, and
        for a second way without a condition out of one action."""
        if not self.actions:
            raise ValueError("there are no actions: with_actions(...)")
        actions: dict[str, Action] = {}
        for action in self.actions:
            if action.name in actions:
                raise ValueError(f"two actions are named '{action.name}'")
            actions[action.name] = action
        always: set[str] = set()
        for source, target, condition, _ in self.transitions:
            for name in (source, target):
                if name not in actions:
                    raise ValueError(f"no action is named '{name}': with_actions({name}=...)")
            if condition.guard is None and source in always:
                raise ValueError(f"'{source}' -> '{target}' is never taken: '{source}' has a way "
                                 "without a condition before it")  # fmt: skip
            always.update([source] if condition.guard is None else [])
        ways = [Transition(actions[a], actions[b], when, place)
                for a, b, when, place in self.transitions]  # fmt: skip
        return Graph(list(actions.values()), ways)
