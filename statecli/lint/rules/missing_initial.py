"""The graph does not say with which state it begins.

Why: the first state of the file is used, so moving states around changes where a run begins.

Bad:
    states:
      ask:
        type: user
        transition: {next: [done]}
      done:
        type: terminal

Good:
    initial: ask
    states:
      ask:
        type: user
        transition: {next: [done]}
      done:
        type: terminal

Fix: add `initial`; the safe fix writes the state that is used now. In a plan the first state is
the initial one by rule, so this is silent there.
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint.facts import Facts
from statecli.model.data import is_list, is_map
from statecli.model.diagnostic import Edit, Finding, Fix
from statecli.model.span import Place
from statecli.text.document import offsets
from statecli.text.scalars import written

FAMILY = "references"
SEVERITY = "warning"
FIX = "safe"


def check(facts: Facts) -> Iterator[Finding]:
    """One finding, where the `states` form has neither `initial` nor entry transitions."""
    graph = facts.graph
    if graph is None or facts.is_plan or not graph.states or graph.initial_path is not None:
        return
    value = graph.settings.get("initial")
    if is_map(value) or is_list(value) or graph.entries or "initial" in facts.meant.get((), ()):
        return
    name = graph.initial
    yield Finding(
        message=f"there is no 'initial': the first state, '{name}', is used",
        at=facts.place(name) if graph.bare else Place(("states",), "key"),
        states=(name,),
        hint=f"add 'initial' with '{name}', or with the state that a run begins in",
        fix=_fix(facts, name),
    )


def _fix(facts: Facts, name: str) -> Fix | None:
    document = facts.document
    title = f"write 'initial' with '{name}'"
    text = written(name, document.language)
    if facts.graph is not None and "initial" in facts.graph.settings:
        node = document.node(("initial",))
        if node is None or node.text:
            return None
        return Fix(title, (Edit(offsets(node.start, node.start), f" {text}"),), safe=True)
    root = document.tree
    if root is None or not root.pairs:
        return None
    first = root.pairs[0][0]
    if document.language == "json":
        return _inserted(title, first.start, f'"initial": {text}, ')
    if root.style == "flow":
        return _inserted(title, first.start, f"initial: {text}, ")
    before = document.text[document.text.rfind("\n", 0, first.start) + 1 : first.start]
    # A mapping that begins behind `--- ` cannot be given a line above it.
    if before.strip():
        return None
    return _inserted(title, first.start, f"initial: {text}{document.newline}{before}")


def _inserted(title: str, at: int, text: str) -> Fix:
    return Fix(title, (Edit(offsets(at, at), text),), safe=True)
