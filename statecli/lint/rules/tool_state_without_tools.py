"""A `tool` state, while the graph declares that there are no tools.

Why: the model is asked to pick a tool from an empty list.

Bad:
    tools: {}
    initial: look_up
    states:
      look_up:
        type: tool
        transition: {next: [done]}
      done:
        type: terminal

Good:
    tools:
      files: {command: [mcp-server-files, --root, .]}
    initial: look_up
    states:
      look_up:
        type: tool
        transition: {next: [done]}
      done:
        type: terminal

Fix: declare the tools, or leave `tools` out where they come from somewhere else.
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint.facts import Facts
from statecli.model.diagnostic import Finding, Related
from statecli.model.span import Place

FAMILY = "model"
SEVERITY = "warning"


def check(facts: Facts) -> Iterator[Finding]:
    """One finding for the graph, on its first tool state; the others are related."""
    if facts.graph is None or "tools" not in facts.graph.settings or facts.config.tools:
        return
    if facts.graph.settings["tools"] not in ({}, None):
        return
    found = [state for state in facts.states if state.kind == "tool"]
    if not found:
        return
    others = [Related("and this one", Place((*state.path, "type"))) for state in found[1:6]]
    yield Finding(
        message=f"'{found[0].name}' calls a tool, but 'tools' is empty",
        at=Place((*found[0].path, "type")),
        states=tuple(state.name for state in found),
        related=(Related("declared empty here", Place(("tools",), "key")), *others),
        hint="declare the tools, or leave 'tools' out",
    )
