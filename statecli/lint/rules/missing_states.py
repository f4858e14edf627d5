"""A graph has no states.

Why: there is nothing to run, so nothing else is checked. A file that is the map of states itself
(without `initial` and `states` around it) is read, and this is only a note.

Bad:
    initial: ask

Bad (empty):
    initial: ask
    states: {}

Bad (the map of states itself; a note):
    ask:
      type: user
      transition: {next: [ask]}

Bad (the states as a list, as only a plan has them):
    initial: ask
    states:
      - {id: ask, type: user, transition: {next: [ask]}}

Good:
    initial: ask
    states:
      ask:
        type: user
        transition: {next: [ask]}

Fix: put the states under `states`, as a mapping from names to states, or as a list for a plan.
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint.facts import Facts
from statecli.load.loader import holds_states, is_state
from statecli.model.data import described, is_list, is_map
from statecli.model.diagnostic import Edit, Finding, Fix
from statecli.model.graph import KINDS, PLAN_KINDS
from statecli.model.nearest import nearest
from statecli.model.span import Place
from statecli.text.document import Document, offsets

FAMILY = "syntax"
SEVERITY = "error"
FIX = "unsafe"
EXCLUSIVE = True
OWN_FORM = False
#: Rewriting a whole file is offered up to this many characters.
MOST = 1_000_000


def check(facts: Facts) -> Iterator[Finding]:
    """One finding at most."""
    top = facts.document.value
    if any(problem.rule == "parse-error" for problem in facts.document.problems):
        return
    if not is_map(top):
        yield Finding(message=_no_graph(facts.document), at=Place(()), hint=_SHAPE)
        return
    if _is_listed(top):
        yield Finding(
            message="this is the states form written as a list",
            at=Place(("states",), "key"),
            hint="write a mapping from names to states: states: {ask: {type: user, ...}, ...}",
        )
    elif facts.graph is not None and facts.graph.bare:
        yield Finding(
            message="the file is the map of states itself, without 'states' around it",
            at=Place(()),
            hint="put the states under 'states'",
            fix=_wrapped(facts),
            severity="info",
        )
    elif not facts.states and not _is_wrong(top.get("states")):
        yield _none(top)


def _is_listed(top: dict[str, object]) -> bool:
    """Whether these are states of the `states` form, each with its name inside; a plan has keys
    that no such state has."""
    states = top.get("states")
    if not is_list(states) or not states or "initial_state_id" in top:
        return False
    maps = [state for state in states if is_map(state) and _OF_PLANS.isdisjoint(state)]
    leading = any(is_map(state.get("transition")) for state in maps)
    ours = leading or any(state.get("type") in _KINDS for state in maps)
    return len(maps) == len(states) and ours and (leading or "initial" in top)


#: What only a state of a plan has, and the kinds that none has.
_OF_PLANS = frozenset({"tasks", "goal", "transitions"})
_KINDS = tuple(kind for kind in KINDS if kind not in PLAN_KINDS)
_SHAPE = "write a mapping with 'states'"


def _no_graph(document: Document) -> str:
    if document.value is not None:
        return f"a graph is a mapping with 'states'; this file holds {described(document.value)}"
    lines = [line.strip() for line in document.text.splitlines()]
    if not any(lines):
        return "the file is empty"
    if all(not line or line.startswith("#") for line in lines):
        return "the file holds only comments"
    return "the file holds nothing"


def _is_wrong(value: object) -> bool:
    """What is neither empty nor gives states is the matter of wrong-value-type."""
    return value is not None and value not in ({}, [])


def _none(top: dict[str, object]) -> Finding:
    if "states" in top:
        beside = next((key for key, value in top.items() if is_state(value)), None)
        hint = "indent the states below 'states:'" if beside is not None else "add the states"
        message = "'states' is empty"
        if beside is not None:
            message += f"; '{beside}' stands beside it, not inside"
        return Finding(message=message, at=Place(("states",), "key"), hint=hint)
    renamed = next((key for key, value in top.items() if holds_states(value)), None)
    renamed = renamed or nearest("states", top)
    if renamed is not None:
        at = Place((renamed,), "key")
        return Finding(
            message="there is no 'states'",
            at=at,
            hint=f"did you mean 'states' by '{renamed}'?",
            fix=Fix("write 'states'", (Edit(at, "states", "text"),)),
        )
    return Finding(message="there is no 'states'", at=Place(()), hint=_SHAPE)


def _wrapped(facts: Facts) -> Fix | None:
    """The states moved under `states`, where they stand together at the end of the file."""
    document = facts.document
    keys = list(document.value) if is_map(document.value) else []
    names = [state.name for state in facts.states]
    if len(document.text) > MOST or keys[len(keys) - len(names) :] != names:
        return None
    root = document.tree
    if root is None:
        return None
    first = Place((names[0],), "key")
    title = "put the states under 'states'"
    if root.style == "flow":
        last = Place((names[-1],))
        opening = "states: {" if document.language == "yaml" else '"states": {'
        return Fix(title, (Edit(first, opening, "before"), Edit(last, "}", "after")))
    start = document.offsets(first)[0]
    if document.text[document.text.rfind("\n", 0, start) + 1 : start]:
        return None
    lines = document.text[start : root.end].split("\n")
    indented = "\n".join(f"  {line}" if line.strip() else line for line in lines)
    text = f"states:{document.newline}{indented}"
    return Fix(title, (Edit(offsets(start, root.end), text),))
