"""ARKOS's `StateHandler`: the states of a file, and where a run may go from each."""

from __future__ import annotations

import copy
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from statecli.arkos.states import BoundState, FunctionState, KindState
from statecli.engine.advance import Custom, first_state
from statecli.kernel.choose import Ask, Take, choose, every_way
from statecli.kernel.reducers import first_data
from statecli.kinds import custom
from statecli.kinds.arkos_names import State, registered
from statecli.kinds.choice import options_of
from statecli.kinds.custom import CustomKind
from statecli.kinds.facade import message_of
from statecli.load.loader import load
from statecli.model.graph import KINDS, Graph, Transition
from statecli.model.graph import State as Node
from statecli.model.nearest import did_you_mean
from statecli.model.snapshot import Messages, Snapshot, Token
from statecli.model.unable import Unable

if TYPE_CHECKING:
    from enum import Enum

    from statecli.arkos.agent import Agent


class StateHandler:
    """The states of a graph in a file, as the loop of document 000 asks for them.

    Kinds that are not built in are those that the program registered (`@register_state`), and with
    `allow_plugins`, which runs their code, the files `plugins` and ``state_<kind>.py`` beside the
    graph. `waiting_kinds` are custom kinds that wait for the person. ValueError for a file that is
    no graph, and for kinds that nothing runs; OSError as usual.
    """

    def __init__(
        self,
        yaml_path: str | Path,
        *,
        allow_plugins: bool = False,
        plugins: Sequence[str | Path] = (),
        waiting_kinds: Collection[str] = (),
    ) -> None:
        self.path = Path(yaml_path)
        self.graph = _graph(self.path)
        self.allow_plugins = allow_plugins
        self.bodies = _bodies(self.graph, self.path, allow_plugins, plugins)
        self.custom = Custom(self.bodies, frozenset(waiting_kinds))
        self._agent: Agent | None = None

    def for_agent(self, agent: Agent) -> StateHandler:
        """The same for one agent: its states know where the agent's run is."""
        found = copy.copy(self)
        found.bodies = {kind: body.for_agent(agent) for kind, body in self.bodies.items()}
        found.custom = self.custom._replace(bodies=found.bodies)
        found._agent = agent
        return found

    def enum(self) -> type[Enum]:
        """The names of the states: the document's ``AgentState``."""
        return self.graph.enum()

    def get_initial_state(self) -> State:
        """The state where a run begins."""
        return self.get_state(first_state(self.graph)[0])

    def get_state(self, name: str) -> State:
        """The state of this name (or member of `enum`). ValueError where there is none."""
        node = self._node(name)
        if self._agent is not None:
            return BoundState(node, self._instance(node), self._agent)
        found = self._instance(node)
        if found is None:
            return KindState(node)
        return found if isinstance(found, State) else FunctionState(node, found)

    def get_transitions(
        self,
        state: State | str,
        messages: Sequence[Any] = (),
        data: Mapping[str, Any] | None = None,
    ) -> dict[str, list[str]]:
        """``{"tt": names, "td": descriptions}``: where a run goes from a state, in the order they
        are tried. A guard that holds wins; else the first without one and all others of its
        priority, among which a model chooses; all that hold where the state takes every way. None
        where nothing holds, or the state is an end. A description is that of the transition, else
        of its target.

        Guards read the data of the agent's run. A handler that has no agent knows the `data` it is
        given, the defaults of the fields and the `messages`. ValueError for an unknown state.
        """
        node = self._node(state if isinstance(state, str) else state.name)
        if self._agent is not None:
            snapshot, allowed = self._agent.snapshot, self._agent.allowed(node.name)
        else:
            snapshot, allowed = _snapshot(self.graph, node.name, messages, data or {}), None
        routes = _ways(self.graph, snapshot, node, allowed)
        found = options_of(self.graph, [r for r in routes if r.target in self.graph.states])
        return {"tt": [o.name for o in found], "td": [o.description for o in found]}

    def _node(self, name: Any) -> Node:
        plain = str(getattr(name, "value", name))
        node = self.graph.states.get(plain)
        if node is None:
            hint = did_you_mean(plain, self.graph.states)
            known = hint or f"there are: {', '.join(self.graph.states)}"
            raise ValueError(f"no state is named '{plain}' ({known})")
        return node

    def _instance(self, node: Node) -> Any:
        body = self.bodies.get(node.kind)
        return body.instance(node) if body is not None else None


def _graph(path: Path) -> Graph:
    loaded = load(str(path))
    if loaded.graph is not None and loaded.graph.states:
        return loaded.graph
    from statecli.lint.linter import lint

    for found in lint(loaded):
        if found.severity == "error":
            at = found.span.start
            raise ValueError(f"{path}:{at.line}:{at.column}: {found.message}")
    raise ValueError(f"{path}: this is no graph")


def _bodies(
    graph: Graph, path: Path, allowed: bool, plugins: Sequence[str | Path]
) -> dict[str, CustomKind]:
    """What runs the custom kinds of a graph."""
    kinds = dict.fromkeys(state.kind for state in graph.states.values())
    known = {k: CustomKind(thing) for k, thing in registered().items() if k in kinds}
    if allowed:
        try:
            return custom.load(graph, path.parent, [Path(plugin) for plugin in plugins], known)
        except Unable as error:
            why = f"{error.message}: {error.hint}" if error.hint else error.message
            raise ValueError(why) from error
    for name, state in graph.states.items():
        kind = state.kind
        if not kind:
            raise ValueError(f"{path}: the state '{name}' has no type")
        if kind not in KINDS and kind not in known:
            raise ValueError(
                f"nothing here runs states of the kind '{kind}': register one (@register_state), "
                f"or allow the code of state_{kind}.py beside the graph (allow_plugins=True)"
            )
    return known


def _snapshot(
    graph: Graph, name: str, messages: Sequence[Any], data: Mapping[str, Any]
) -> Snapshot:
    """A run that stands at a state and knows no more than this."""
    values = first_data(graph, data)
    if messages:
        values["messages"] = Messages([message_of(message) for message in messages])
    return Snapshot((Token(0, name),), values)


def _ways(
    graph: Graph, snapshot: Snapshot, node: Node, allowed: Sequence[str] | None
) -> list[Transition]:
    """The routes that a run takes or chooses among from here, as `move` sees them."""
    token = next((t for t in snapshot.tokens if t.state == node.name), None)
    token = token or snapshot.token._replace(state=node.name)
    if node.fans_out:
        return every_way(graph, snapshot, token, [], [], allowed)
    choice = choose(graph, snapshot, token)
    if isinstance(choice, Take):
        route = choice.transition
        free = allowed is None or route.guard is not None or route.target in allowed
        return [route] if free else []
    if isinstance(choice, Ask):
        return [r for r in choice.options if allowed is None or r.target in allowed]
    return []
