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
from statecli.lint.lost import texts_in
from statecli.lint.objects import called
from statecli.model.data import is_map
from statecli.model.diagnostic import Edit, Finding, Fix
from statecli.model.graph import PLAN_KINDS
from statecli.model.keys import OBJECTS, state_object
from statecli.model.shape import UnknownKey
from statecli.model.span import Path, Place
from statecli.model.wording import listed, shortened
from statecli.text.document import Document, offsets
from statecli.text.removal import NotPossible, value_end

FAMILY = "syntax"
SEVERITY = "warning"
FIX = "unsafe"
#: With so few choices the hint lists them.
FEW = 6


def check(facts: Facts) -> Iterator[Finding]:
    """Every key that is not in the key table of its object."""
    for issue in facts.issues(UnknownKey):
        at = Place(issue.path, "key")
        if len(issue.path) == 1 and issue.key in facts.spare:
            continue
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
        elif guess is None and issue.key == "next" and _may_move(facts, issue):
            fix = _moved(facts.document, issue.path)
        needed = guess is not None and guess in facts.lacking.get(issue.path[:-1], ())
        yield Finding(
            message=f"unknown field '{_short(issue.key)}' in {called(issue.object)}",
            at=at,
            states=facts.owner(issue.path),
            hint=f"did you mean '{guess}'?" if guess is not None else _advice(facts, issue),
            fix=fix,
            severity="error" if needed else None,
        )
    yield from _both(facts)


def _may_move(facts: Facts, issue: UnknownKey) -> bool:
    """Whether `next` stands in a state that has room for a `transition` around it."""
    state = facts.value(issue.path[:-1])
    return issue.object.endswith(" state") and is_map(state) and "transition" not in state


def _moved(document: Document, path: Path) -> Fix | None:
    """The key with its value put under `transition`, in the style in which they stand."""
    state, key, value = document.node(path[:-1]), document.key_node(path), document.node(path)
    if state is None or key is None or value is None:
        return None
    if not state.start <= key.start < key.end < value.start <= state.end:
        return None  # merged in, or an alias
    title = "move it into 'transition'"
    if "flow" in (state.style, value.style):
        opening = '"transition": {' if document.language == "json" else "transition: {"
        edits = (Edit(Place(path, "key"), opening, "before"), Edit(Place(path), "}", "after"))
        return Fix(title, edits)
    start, text = key.start, document.text
    before = text[text.rfind("\n", 0, start) + 1 : start]
    try:
        end = value_end(text, value)
    except NotPossible:
        return None
    if before.strip():
        return None
    lines = [f"  {line}" if line.strip() else line for line in text[start:end].split("\n")]
    inside = f"\n{before}" + "\n".join(lines)
    return Fix(title, (Edit(offsets(start, end, path), f"transition:{inside}"),))


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


def _advice(facts: Facts, issue: UnknownKey) -> str:
    """Where the key belongs, or what there is to choose from."""
    if issue.object.endswith("state"):
        if issue.key in OBJECTS["transition"] and issue.object == "plan_state":
            return "write transitions: [{target_state_id: ...}]"
        if issue.key in OBJECTS["transition"]:
            return f"write it inside 'transition': transition: {{{issue.key}: ...}}"
        kinds = [kind for kind in _STATE_KINDS if issue.key in OBJECTS[state_object(kind)]]
        if kinds:
            return f"remove it: only states of the kind {listed(kinds, 'or')} have it"
        named = [name for name in texts_in([facts.value(issue.path)]) if name in facts.index]
        if named and issue.object != "plan_state":
            return f"if it leads there, write transition: {{next: [{', '.join(named[:3])}]}}"
    elif issue.object == "states graph" and issue.key in OBJECTS["user state"]:
        return "indent it into the state that it belongs to"
    if len(issue.known) <= FEW and issue.known:
        return f"write {listed(issue.known, 'or')}"
    return f"remove it, or write 'x-{_short(issue.key)}' to keep a note of your own"


_STATE_KINDS = [name.removesuffix(" state") for name in OBJECTS if name.endswith(" state")]


def _short(key: str) -> str:
    """The key on one line, with what cannot be seen made visible."""
    text = "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in key)
    return shortened(text, 60)
