"""A field is not one that this object has.

Why: it is read by nobody, so what it says does not happen; most often it is a typing error.
Fields that begin with `x-` and the fields of custom kinds are yours.

Bad:
    initial: ask
    states:
      ask:
        type: user
        transitons: {next: [ask]}

Bad (a state that stands beside `states`):
    initial: ask
    states:
      ask:
        type: user
        transition: {next: [answer]}
    answer:
      type: agent
      transition: {next: [ask]}

Good:
    initial: ask
    states:
      ask:
        type: user
        x-owner: support team
        transition: {next: [ask]}

Fix: write the field that was meant; the unsafe fix takes the nearest one. For a note of your own
begin its name with `x-`.
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint.facts import Facts
from statecli.lint.objects import called
from statecli.model.diagnostic import Edit, Finding, Fix
from statecli.model.graph import PLAN_KINDS
from statecli.model.keys import OBJECTS, state_object
from statecli.model.shape import UnknownKey
from statecli.model.span import Place

FAMILY = "syntax"
SEVERITY = "warning"
FIX = "unsafe"
#: With so few choices the hint lists them.
FEW = 6


def check(facts: Facts) -> Iterator[Finding]:
    """Every key that is not in the key table of its object."""
    for issue in facts.issues(UnknownKey):
        at = Place(issue.path, "key")
        if issue.path[:-1] == () and issue.key in facts.stray:
            yield Finding(
                message=f"'{issue.key}' looks like a state but stands beside 'states'",
                at=at,
                states=(issue.key,),
                hint="move it into 'states'",
                severity="error",
            )
            continue
        guess = facts.guesses.get(issue.path)
        fix = None
        if guess is not None and facts.value((*issue.path[:-1], guess)) is None:
            fix = Fix(f"write '{guess}'", (Edit(at, guess, "text"),))
        needed = guess is not None and guess in facts.lacking.get(issue.path[:-1], ())
        yield Finding(
            message=f"unknown field '{_short(issue.key)}' in {called(issue.object)}",
            at=at,
            states=facts.owner(issue.path),
            hint=f"did you mean '{guess}'?" if guess is not None else _advice(issue),
            fix=fix,
            severity="error" if needed else None,
        )
    yield from _both(facts)


def _both(facts: Facts) -> Iterator[Finding]:
    """A plan state of the `states` form is routed by one of two keys; the other is not read."""
    if facts.is_plan or not facts.kinds & PLAN_KINDS:
        return
    for state in facts.states:
        if state.is_plan and state.settings.get("transitions") and "transition" in state.settings:
            yield Finding(
                message="'transition' is not read where 'transitions' stands too",
                at=Place((*state.path, "transition"), "key"),
                states=(state.name,),
                hint="keep one of the two",
            )


def _advice(issue: UnknownKey) -> str:
    """Where the key belongs, or what there is to choose from."""
    if issue.object.endswith("state"):
        if issue.key in OBJECTS["transition"]:
            return f"write it inside 'transition': transition: {{{issue.key}: ...}}"
        kinds = [kind for kind in _STATE_KINDS if issue.key in OBJECTS[state_object(kind)]]
        if kinds:
            return f"remove it: only states of the kind {_listed(kinds)} have it"
    elif issue.object == "states graph" and issue.key in OBJECTS["user state"]:
        return "indent it into the state that it belongs to"
    if len(issue.known) <= FEW and issue.known:
        return f"write {_listed(list(issue.known))}"
    return f"remove it, or write 'x-{_short(issue.key)}' to keep a note of your own"


_STATE_KINDS = [name.removesuffix(" state") for name in OBJECTS if name.endswith(" state")]


def _listed(names: list[str]) -> str:
    quoted = [f"'{name}'" for name in names]
    return " or ".join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted)


def _short(key: str) -> str:
    """The key on one line, with what cannot be seen made visible."""
    text = "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in key)
    return text if len(text) <= 60 else text[:59] + "…"
