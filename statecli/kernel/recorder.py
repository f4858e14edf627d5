"""A snapshot that grows by events: what bodies and moves record into."""

from __future__ import annotations

from statecli.kernel.apply import CHANGES
from statecli.kernel.branches import in_branch, view
from statecli.model.event import Body
from statecli.model.graph import Graph
from statecli.model.snapshot import Snapshot, Token


class Recorder:
    """A snapshot that grows by events; `bodies` are those emitted so far."""

    __slots__ = ("bodies", "graph", "snapshot")

    def __init__(self, graph: Graph, snapshot: Snapshot) -> None:
        self.graph = graph
        self.snapshot = snapshot
        self.bodies: list[Body] = []

    def emit(self, body: Body) -> None:
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
        return Recorder(self.graph, snapshot)
