"""A snapshot that grows by events: what bodies and moves record into."""

from __future__ import annotations

from collections.abc import Callable

from statecli.kernel.apply import CHANGES
from statecli.kernel.branches import in_branch, view
from statecli.model.event import Body
from statecli.model.graph import Graph
from statecli.model.snapshot import Snapshot, Token


class Recorder:
    """A snapshot that grows by events; `bodies` are those emitted so far. `clean` is what becomes
    of each before it counts (None: it stays as it is)."""

    __slots__ = ("bodies", "clean", "graph", "snapshot")

    def __init__(
        self, graph: Graph, snapshot: Snapshot, clean: Callable[[Body], Body] | None = None
    ) -> None:
        self.graph = graph
        self.snapshot = snapshot
        self.clean = clean
        self.bodies: list[Body] = []

    def emit(self, body: Body) -> None:
        if self.clean is not None:
            body = self.clean(body)
        change = CHANGES.get(type(body))
        if change is not None:
            snapshot = self.snapshot
            if snapshot.branches:
                self.snapshot = in_branch(change, self.graph, snapshot, body)
            else:
                self.snapshot = change(self.graph, snapshot, body)
        self.bodies.append(body)

    def token(self, number: int) -> Token:
        snapshot = self.snapshot
        return snapshot.branches[number].token if snapshot.branches else snapshot.tokens[0]

    def seen_by(self, number: int) -> Recorder:
        """A recorder of what one branch alone sees; its `bodies` have to be emitted here then."""
        snapshot = view(self.snapshot, number) if self.snapshot.branches else self.snapshot
        return Recorder(self.graph, snapshot, self.clean)
