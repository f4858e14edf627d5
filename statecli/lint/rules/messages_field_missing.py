"""The graph declares `fields` and talks, but `messages` is not among them.

Why: the conversation is a field like the others. Undeclared it exists all the same, as a list to
which messages are appended; written down, the schema is complete.

Bad:
    initial: ask
    fields:
      name: {type: str}
    states:
      ask: {type: user, writes: [name], transition: {next: [ask]}}

Good:
    initial: ask
    fields:
      messages: {type: list, reducer: append_messages}
      name: {type: str}
    states:
      ask: {type: user, writes: [name], transition: {next: [ask]}}

Fix: the safe fix adds the field as it is without being written.
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint.facts import Facts
from statecli.model.diagnostic import Edit, Finding, Fix
from statecli.model.graph import PLAN_KINDS
from statecli.model.span import Place

FAMILY = "data"
SEVERITY = "info"
FIX = "safe"
NAME = "messages"
#: Kinds that add messages to the conversation.
TALKING = PLAN_KINDS | {"user", "agent", "planner", "executor", "verifier"}


def check(facts: Facts) -> Iterator[Finding]:
    """At `fields`."""
    graph = facts.graph
    if graph is None or not graph.declares_fields or TALKING.isdisjoint(facts.kinds):
        return
    declared = [name for name, field in graph.fields.items() if field.origin == "declared"]
    if NAME in declared:
        return
    yield Finding(
        message="a conversation needs the field 'messages'; undeclared it exists all the same",
        at=Place(("fields",), "key"),
        hint="add messages: {type: list, reducer: append_messages}",
        fix=_fix(facts, declared),
    )


def _fix(facts: Facts, declared: list[str]) -> Fix | None:
    """The field in front of the first one, written as its neighbours are."""
    document = facts.document
    field = "messages: {type: list, reducer: append_messages}"
    if document.language == "json":
        field = '"messages": {"type": "list", "reducer": "append_messages"}'
    title = "declare 'messages'"
    node = document.node(("fields",))
    if node is None or not declared:
        return Fix(title, (Edit(Place(("fields",)), f"{{{field}}}"),), safe=True)
    first = Place(("fields", declared[0]), "key")
    key = document.key_node(("fields", declared[0]))
    if key is None or not node.start <= key.start < node.end:  # behind an alias
        return None
    line = document.line_start(document.position(key.start).line)
    lead = document.text[line : key.start]
    if node.style == "block":
        separator = "\n" + " " * len(lead)
    else:
        separator = f",\n{lead}" if not lead.strip() else ", "
    return Fix(title, (Edit(first, field + separator, "before"),), safe=True)
