"""Burr's ApplicationBuilder: what an application is made of."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any, Self

from statecli.burr.application import Application
from statecli.burr.graph import Graph, GraphBuilder
from statecli.burr.lifecycle import CALLED, known_as_hooks
from statecli.burr.state import State
from statecli.model.ports import Store


class ApplicationBuilder:
    """Collects what an application is made of; `build` makes it. ValueError for what does not fit
    together, as the methods say."""

    def __init__(self) -> None:
        self.app_id = str(uuid.uuid4())
        self.partition_key: str | None = None
        self.sequence_id: int | None = None
        self.start: str | None = None
        self.state = State()
        self.store: Store | None = None
        self.hooks: list[Any] = []
        self.graph_builder = GraphBuilder()

    def with_actions(self, *action_list: Any, **action_dict: Any) -> Self:
        """Actions, by position (functions are named as they are) or by name."""
        self.graph_builder.with_actions(*action_list, **action_dict)
        return self

    def with_transitions(self, *transitions: Sequence[Any]) -> Self:
        """``(from, to)`` or ``(from, to, condition)``, tried in their order."""
        self.graph_builder.with_transitions(*transitions)
        return self

    def with_graph(self, graph: Graph) -> Self:
        """A graph made before; it may have many applications at once."""
        self.graph_builder.with_graph(graph)
        return self

    def with_graphs(self, *graphs: Graph) -> Self:
        """Several graphs, as one."""
        for graph in graphs:
            self.with_graph(graph)
        return self

    def with_state(self, state: State | None = None, **values: Any) -> Self:
        """The state to begin with."""
        self.state = self.state.merge(state or {}).update(**values)
        return self

    def with_entrypoint(self, action: str) -> Self:
        """The action that runs first. ValueError for a second one."""
        if self.start is not None:
            raise ValueError(f"the entrypoint is '{self.start}' already")
        self.start = action
        return self

    def with_identifiers(
        self,
        app_id: str | None = None,
        partition_key: str | None = None,
        sequence_id: int | None = None,
    ) -> Self:
        """Who this is: `app_id` is the id of the run (made up if it is not given)."""
        self.app_id = app_id if app_id is not None else self.app_id
        self.partition_key = partition_key if partition_key is not None else self.partition_key
        self.sequence_id = sequence_id if sequence_id is not None else self.sequence_id
        return self

    def with_hooks(self, *adapters: Any) -> Self:
        """Burr's hooks (``pre_run_step``, ``post_run_step``, ``post_stream_item``,
        ``post_application_create``; async ones too), and ours. ValueError for what has none."""
        for adapter in adapters:
            if not known_as_hooks(adapter):
                raise ValueError(f"{adapter!r} has none of {', '.join(CALLED)}")
            self.hooks.append(adapter)
        return self

    def with_store(self, store: Store) -> Self:
        """Where every event is kept (`statecli.store`): it takes the place of Burr's trackers and
        persisters."""
        self.store = store
        return self

    def __getattr__(self, name: str) -> Any:
        why = _NOT_HERE.get(name, "there is no such method")
        raise AttributeError(f"statecli.burr has no ApplicationBuilder.{name}: {why}")

    def build(self) -> Application:
        """The application. ValueError without actions or entrypoint, or for names that are not
        there."""
        return self._built(awaited=False)

    async def abuild(self) -> Application:
        """The application, for the async methods only."""
        return self._built(awaited=True)

    def _built(self, *, awaited: bool) -> Application:
        graph = self.graph_builder.build()
        if self.start is None:
            raise ValueError("there is no entrypoint: with_entrypoint(...)")
        return Application(self, graph, awaited=awaited)


_KEPT = "every event of a run is kept already; with_store(SqliteStore(path)) keeps them in a file"
#: What Burr's builder has and this one has not, and why.
_NOT_HERE = {
    "with_tracker": f"{_KEPT}, and `statecli sessions` shows them",
    "with_state_persister": f"{_KEPT}",
    "initialize_from": "a run of a store is taken up by statecli.Run.resume(graph, store, run), "
    "one that was dumped by Run.load(saved, graph)",
    "with_typing": "fields are declared by statecli.GraphBuilder().with_schema(Model)",
    "with_parallel_executor": "branches run side by side: statecli.GraphBuilder().with_fanout",
    "with_spawning_parent": "a run has no parent but the one it was forked from",
}
