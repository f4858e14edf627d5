"""The file is in the older form, with events instead of `next`.

Why: nothing reads that form any more: every state would be reported as having no kind and no way
out. So this is the one message for the file; the rest is checked once it is rewritten.

Bad:
    initial: greet
    states:
      greet:
        intent: greet
        transitions:
          user_input: done
      done:
        is_terminal: true

Good:
    initial: greet
    states:
      greet:
        type: user
        transition:
          next: [done]
      done:
        type: terminal

Fix: `transitions: {event: state}` becomes `transition: {next: [state]}`, `is_terminal: true`
becomes `type: terminal`, and every other state gets a `type`. The unsafe fix does this and guesses
the types: user where the event is `user_input`, tool where the state names one, else agent.
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint.facts import Facts
from statecli.model.data import is_map
from statecli.model.diagnostic import Edit, Finding, Fix
from statecli.model.graph import State
from statecli.model.span import Place
from statecli.text.document import Document, offsets
from statecli.text.nodes import Node
from statecli.text.removal import NotPossible
from statecli.text.scalars import written

FAMILY = "syntax"
SEVERITY = "error"
FIX = "unsafe"
EXCLUSIVE = True
#: Rewriting is offered for so many states; a larger file was not written by hand.
MOST = 1000


def check(facts: Facts) -> Iterator[Finding]:
    """One finding, at the first `transitions` or `is_terminal`, if no state says its `type`."""
    if facts.is_plan or facts.kinds != {""}:
        return
    if any(problem.rule == "parse-error" for problem in facts.document.problems):
        return
    key, state = next(
        ((key, state) for state in facts.states for key in [_mark(state)] if key), ("", None)
    )
    if state is None or any("type" in other.settings for other in facts.states):
        return
    if key == "transitions":
        example = ", ".join(str(to) for to in _events(state).values())
        message = "this is the older form: 'transitions' leads from events to states"
        hint = f"write transition: {{next: [{example}]}}, and a 'type' in every state"
    else:
        message = "this is the older form: 'is_terminal' says which state ends"
        hint = "write 'type: terminal' there, and 'type' and 'transition: {next: [...]}' elsewhere"
    yield Finding(
        message=message,
        at=Place((*state.path, key), "key"),
        states=(state.name,),
        hint=hint,
        fix=_fix(facts) if len(facts.states) <= MOST else None,
    )


def _mark(state: State) -> str:
    """The first key of a state that only the older form has."""
    for key in state.settings:
        if key == "is_terminal" or (key == "transitions" and _events(state)):
            return key
    return ""


def _events(state: State) -> dict[str, object]:
    """The map from events to states, if this is one; `next` is the new form, misspelt."""
    events = state.settings.get("transitions")
    if not is_map(events) or "next" in events:
        return {}
    return events if all(isinstance(target, str) for target in events.values()) else {}


def _fix(facts: Facts) -> Fix | None:
    edits: list[Edit] = []
    try:
        for state in facts.states:
            node = facts.document.node(state.path)
            if node is not None and node.pairs:
                edits.extend(_edits(facts.document, state, node))
    except NotPossible:
        return None
    return Fix("rewrite the states", tuple(edits))


def _edits(document: Document, state: State, node: Node) -> Iterator[Edit]:
    """The changes of one state: its type, and its transitions."""
    json = document.language == "json"
    pair = '"type": "{}"' if json else "type: {}"
    kind = pair.format(_kind(state))
    entry = node.named("is_terminal")
    if entry is not None:
        yield Edit(offsets(entry[0].start, entry[1].end), kind)
    elif "type" not in state.settings:
        start = node.pairs[0][0].start
        line = document.text[document.text.rfind("\n", 0, start) + 1 : start]
        between = ", " if node.style == "flow" else f"{document.newline}{line}"
        yield Edit(offsets(start, start), kind + between)
    entry = node.named("transitions")
    if entry is not None and _events(state):
        value = entry[1]
        yield Edit(Place((*state.path, "transitions"), "key"), "transition", "text")
        names = list(dict.fromkeys(str(target) for target in _events(state).values()))
        if not json and "#" in document.text[value.start : _end(value)]:
            yield from _item_by_item(document, value, len(names))
            return
        listed = ", ".join(written(name, document.language) for name in names)
        text = f'"next": [{listed}]' if json else f"next: [{listed}]"
        braces = f"{{{text}}}" if value.style == "flow" else text
        yield Edit(offsets(value.start, _end(value)), braces)


def _item_by_item(document: Document, events: Node, targets: int) -> Iterator[Edit]:
    """Each event becomes a dash on its line, so that the comments beside them stay."""
    if events.style == "flow" or len(events.pairs) != targets:
        raise NotPossible
    text = document.text
    line = text[text.rfind("\n", 0, events.start) + 1 : events.start]
    if line.strip():
        raise NotPossible
    yield Edit(offsets(events.start, events.start), f"next:\n{line}")
    for key, target in events.pairs:
        if target.start < key.end or text[key.end : target.start].strip(" \t") != ":":
            raise NotPossible
        yield Edit(offsets(key.start, target.start), "- ")


def _kind(state: State) -> str:
    if state.settings.get("is_terminal") is True:
        return "terminal"
    if "tool" in state.settings:
        return "tool"
    return "user" if "user_input" in _events(state) else "agent"


def _end(node: Node) -> int:
    """Where a mapping ends: a block one with its last value."""
    return node.end if node.style == "flow" or not node.pairs else _end(node.pairs[-1][1])
