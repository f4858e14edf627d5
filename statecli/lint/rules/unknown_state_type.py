"""A state is of a kind that is not built in.

Why: a kind that nobody knows cannot run. A custom kind is one whose Python file stands beside the
graph, or that the config names; the file is looked for, never imported.

Bad:
    initial: ask
    states:
      ask:
        type: usr
        transition: {next: [ask]}

Bad (no built-in kind is near, so a warning):
    initial: ask
    states:
      ask:
        type: wizard
        transition: {next: [ask]}

Good:
    initial: ask
    states:
      ask:
        type: user
        transition: {next: [ask]}

Fix: write the kind that was meant; or put `state_<type>.py` beside the graph; or name the kind in
`custom-kinds` of the config.
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint.facts import Facts
from statecli.lint.kinds import is_module, unknown_kinds
from statecli.model.diagnostic import Edit, Finding, Fix
from statecli.model.graph import KINDS, State
from statecli.model.span import Place

FAMILY = "syntax"
SEVERITY = "warning"
FIX = "unsafe"


def check(facts: Facts) -> Iterator[Finding]:
    """Near misses at each state, as errors; a kind without one once, at its first state."""
    if facts.graph is None:
        return
    if facts.slips:
        yield from _misspelt(facts)
    unknown = unknown_kinds(facts.loaded, facts.config, facts.kinds)
    using: dict[str, list[State]] = {}
    for state in facts.states if unknown else ():
        if state.kind in unknown:
            using.setdefault(state.kind, []).append(state)
    for kind, states in using.items():
        yield _unknown(kind, states)


def _misspelt(facts: Facts) -> Iterator[Finding]:
    for state in facts.states:
        kind = state.settings.get("type")
        guess = facts.slips.get(kind) if isinstance(kind, str) else None
        if guess is not None:
            at = Place((*state.path, "type"))
            yield Finding(
                message=f"'{kind}' is not a kind of state",
                at=at,
                states=(state.name,),
                hint=f"did you mean '{guess}'?",
                fix=Fix(f"write '{guess}'", (Edit(at, guess, "text"),)),
                severity="error",
            )


def _unknown(kind: str, states: list[State]) -> Finding:
    places = [Place((*state.path, "type")) for state in states]
    if kind in KINDS:
        message = f"'{kind}' is not a kind of plan state"
        hint = "write 'strict', 'loose' or 'goal'"
    else:
        message = f"'{kind}' is not a kind of state that is built in"
        hint = "name it in 'custom-kinds' of the config"
        if is_module(kind):
            hint += f", or put state_{kind}.py beside the graph"
    if len(states) > 1:
        message += f" ({len(states)} states have it)"
    return Finding(
        message=message,
        at=places[0],
        states=tuple(state.name for state in states),
        hint=hint,
        anchors=tuple(places[1:]),
    )
