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

import os
import re
from collections.abc import Iterator

from statecli.lint.facts import Facts
from statecli.model.diagnostic import Edit, Finding, Fix
from statecli.model.graph import KINDS, PLAN_KINDS, State
from statecli.model.keys import OLD_MODES
from statecli.model.nearest import nearest
from statecli.model.span import Place

FAMILY = "syntax"
SEVERITY = "warning"
FIX = "unsafe"
#: Names that a Python module can have.
_MODULE = re.compile(r"\w+")
_PLAN_NAMES = ("strict", "loose", "goal")


def check(facts: Facts) -> Iterator[Finding]:
    """Near misses at each state, as errors; a kind without one once, at its first state."""
    own = {*facts.config.custom_kinds, *facts.config.waiting_kinds}
    built_in = PLAN_KINDS if facts.is_plan else frozenset(KINDS)
    unknown = facts.kinds - built_in - own - (frozenset() if facts.is_plan else {""})
    if not unknown:
        return
    using: dict[str, list[State]] = {}
    for state in facts.states:
        if state.kind in unknown:
            using.setdefault(state.kind, []).append(state)
    for kind, states in using.items():
        if not _has_file(facts, kind):
            yield from _unknown(facts, kind, states, own)


def _unknown(facts: Facts, kind: str, states: list[State], own: set[str]) -> Iterator[Finding]:
    guess = _nearest(facts, kind, own)
    places = [Place((*state.path, "type")) for state in states]
    if guess is not None:
        for state, at in zip(states, places, strict=True):
            yield Finding(
                message=f"'{kind}' is not a kind of state",
                at=at,
                states=(state.name,),
                hint=f"did you mean '{guess}'?",
                fix=Fix(f"write '{guess}'", (Edit(at, guess, "text"),)),
                severity="error",
            )
        return
    if kind in KINDS:
        message = f"'{kind}' is not a kind of plan state"
        hint = "write 'strict', 'loose' or 'goal'"
    else:
        message = f"'{kind}' is not a kind of state that is built in"
        hint = "name it in 'custom-kinds' of the config"
        if _MODULE.fullmatch(kind):
            hint += f", or put state_{kind}.py beside the graph"
    if len(states) > 1:
        message += f" ({len(states)} states have it)"
    yield Finding(
        message=message,
        at=places[0],
        states=tuple(state.name for state in states),
        hint=hint,
        anchors=tuple(places[1:]),
    )


def _nearest(facts: Facts, kind: str, own: set[str]) -> str | None:
    """The kind that was probably meant; older mode names lead to the new ones."""
    if kind in KINDS:
        return None
    choices = [*(_PLAN_NAMES if facts.is_plan else KINDS), *sorted(own), *OLD_MODES]
    guess = kind if kind in OLD_MODES else nearest(kind, choices)
    return OLD_MODES.get(guess, guess) if guess is not None else None


def _has_file(facts: Facts, kind: str) -> bool:
    """Whether a file that would define the kind stands beside the graph."""
    if not _MODULE.fullmatch(kind):
        return False
    folder = os.path.dirname(facts.document.path)
    return os.path.exists(os.path.join(folder, f"state_{kind}.py"))
