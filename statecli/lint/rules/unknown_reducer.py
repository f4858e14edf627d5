"""A field names a reducer that is not built in.

Why: the run does not know how to merge a new value into the field, so it stops at the first one.

Bad:
    initial: ask
    fields:
      messages: {type: list, reducer: append_message}
    states:
      ask: {type: user, transition: {next: [ask]}}

Good:
    initial: ask
    fields:
      messages: {type: list, reducer: append_messages}
    states:
      ask: {type: user, transition: {next: [ask]}}

Fix: name a reducer that is built in (overwrite, append_messages, append, extend, merge,
increment), or load the plugin that brings it (`plugins` in the config).
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint.facts import Facts
from statecli.model.data import is_map
from statecli.model.diagnostic import Edit, Finding, Fix
from statecli.model.graph import REDUCERS
from statecli.model.nearest import nearest
from statecli.model.span import Place

FAMILY = "data"
SEVERITY = "error"
FIX = "unsafe"


def check(facts: Facts) -> Iterator[Finding]:
    """Each reducer of a field or of a `merge`; with plugins only those that look misspelt."""
    for place, name, states in _named(facts):
        if name in REDUCERS or (facts.is_python and _registered(name)):
            continue
        guess = nearest(name, REDUCERS)
        if guess is None and facts.config.plugins:
            continue
        yield Finding(
            message=f"no reducer is named '{name}'",
            at=place,
            states=states,
            hint=f"did you mean '{guess}'?" if guess else _hint(),
            fix=Fix(f"write '{guess}'", (Edit(place, guess, "text"),)) if guess else None,
        )


def _registered(name: str) -> bool:
    from statecli.kernel.reducers import known_reducer  # a graph in a file needs none of it

    return known_reducer(name)


def _hint() -> str:
    return f"use one of {', '.join(REDUCERS)}, or name its plugin under 'plugins' in the config"


def _named(facts: Facts) -> Iterator[tuple[Place, str, tuple[str, ...]]]:
    """Every reducer that the graph names, and the state that does."""
    graph = facts.graph
    if graph is None:
        return
    for field in graph.fields.values() if graph.declares_fields else ():
        if field.origin == "declared" and field.reducer != REDUCERS[0]:
            yield Place((*field.path, "reducer")), field.reducer, ()
    for state in facts.states if "merge" in facts.document.survey.names else ():
        merge = state.settings.get("merge")
        if is_map(merge):
            for group, name in merge.items():
                if isinstance(name, str):
                    yield Place((*state.path, "merge", group)), name, (state.name,)
