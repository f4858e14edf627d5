"""The model that `test` asks instead of the file: found once for each graph."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from statecli.cli.output import tell
from statecli.llm.script import ScriptProvider
from statecli.text.conversation import Turn

if TYPE_CHECKING:
    from statecli.model.ports import Provider
    from statecli.scenario.job import Graph


class Asked:
    """Finds the model of `--model` for each graph."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        self._known: dict[str, Provider] = {}

    def of(self, graph: Graph) -> Provider:
        """The model for a graph. Raises Unable where it cannot be used."""
        found = self._known.get(graph.path)
        if found is None:
            found = self._known[graph.path] = in_a_row(self._open(graph))
        return found

    def close(self) -> None:
        """Let go of what the models hold: connections."""
        from statecli.session.drive import finished

        for found in self._known.values():
            close = getattr(found, "aclose", None)
            if close is not None:
                finished(close(), waits=True)

    def _open(self, graph: Graph) -> Provider:
        """The model, with what the graph says of it (settings, models of its states)."""
        from statecli.cli.models import Models
        from statecli.cli.running import Opened
        from statecli.session.drive import finished

        found, args = graph.loaded.graph, self.args
        assert found is not None
        if args.budget_cost is not None:
            found = found.with_limits(max_cost=args.budget_cost)
        opened = Opened(graph.path, graph.text, found, graph.config)
        # Nobody watches the answers come in.
        models = Models(opened, model=args.model, base_url=args.base_url or "", streams=False)
        provider, _ = finished(models.chosen(None), waits=True)
        warning = models.warning(provider)
        if warning:
            tell(f"{graph.path}: {warning}")
        return provider


def in_a_row(found: Provider) -> Provider:
    """A script plays a model with all its replies in a row, whatever the turns."""
    if isinstance(found, ScriptProvider):
        replies = [reply for turn in found.conversation.turns for reply in turn.replies]
        found.begin(Turn(None, tuple(replies), {}, ("turns",)))
    return found
