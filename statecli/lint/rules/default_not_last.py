"""A transition stands behind one without a condition, so it is never tried.

Why: transitions are tried by priority (lower first), then in the order of the file, and one without
a condition always holds. Several of one priority without a condition are fine: the model chooses.

Bad:
    initial: triage
    states:
      triage:
        type: agent
        writes: [amount]
        transition:
          next:
            - done
            - {to: refund, when: {amount__gt: 0}}
      refund: {type: terminal}
      done: {type: terminal}

Bad (by its number):
    initial: triage
    states:
      triage:
        type: agent
        writes: [amount]
        transition:
          next:
            - {to: refund, when: {amount__gt: 0}, priority: 2}
            - done
      refund: {type: terminal}
      done: {type: terminal}

Good:
    initial: triage
    states:
      triage:
        type: agent
        writes: [amount]
        transition:
          next:
            - {to: refund, when: {amount__gt: 0}}
            - done
      refund: {type: terminal}
      done: {type: terminal}

Fix: put what has a condition first; the unsafe fix does where only the order of the file decides.
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint.facts import Facts
from statecli.lint.hiding import hides_later
from statecli.model.diagnostic import Edit, Finding, Fix, Related
from statecli.model.graph import State, Transition
from statecli.model.span import Place
from statecli.text.document import Document, offsets
from statecli.text.nodes import Node
from statecli.text.removal import NotPossible, Parent, extent, rest_is_blank

FAMILY = "guards"
SEVERITY = "error"
FIX = "unsafe"


def check(facts: Facts) -> Iterator[Finding]:
    """Routes that come after the first one without a guard and are no option beside it."""
    alike = facts.guard_types <= {type(None)}
    for number, ways in enumerate(facts.routes):
        if len(ways) < 2 or (alike and ways[0].priority == ways[-1].priority):
            continue
        default: Transition | None = None
        for way in ways:
            if facts.half_read(way):
                continue
            if default is None:
                if way.guard is None and hides_later(facts, facts.states[number], way):
                    default = way
            elif way.guard is not None or way.priority != default.priority:
                state = facts.states[number]
                if facts.opaque[number] or state.fans_out or state.ends:
                    break
                if hides_later(facts, state, way):
                    yield _finding(facts, state, default, way)


def _finding(facts: Facts, state: State, default: Transition, way: Transition) -> Finding:
    same = way.target == default.target
    if way.priority != default.priority:
        reason = f"has the lower priority number ({default.priority:g} before {way.priority:g})"
        hint = "give it the lower number"
    else:
        reason = "stands before it"
        hint = f"put it before the way to '{default.target}'"
    return Finding(
        message=(
            f"{'redundant: ' * same}the way to '{way.target}' is never tried: the one to"
            f" '{default.target}' has no condition and {reason}"
        ),
        at=Place(way.at),
        states=(state.name, way.target),
        related=(Related("this one always holds", Place(default.path)),),
        hint="remove it" if same else hint,
        fix=_moved(facts.document, default, way) if default.priority == way.priority else None,
        severity="info" if same else None,
    )


def _moved(document: Document, default: Transition, way: Transition) -> Fix | None:
    """The late item put before the default; None where the two are not written alike, or where a
    comment would be lost."""
    first, late = document.node(default.path), document.node(way.path)
    listed = document.node(way.path[:-1])
    if first is None or late is None or listed is None or default.path[:-1] != way.path[:-1]:
        return None
    title = f"put it before '{default.target}'"
    if listed.style != "flow":
        lines = [_own_lines(document, listed, path[-1]) for path in (default.path, way.path)]
        if lines[0] is None or lines[1] is None:
            return None
        start, end = lines[1]
        text = document.text[start:end].replace(document.newline, "\n")
        before = offsets(lines[0][0], lines[0][0])
        text += "" if text.endswith("\n") else "\n"
        return Fix(title, (Edit(before, text), Edit(offsets(start, end), "")))
    if document.language == "yaml" and "#" in document.text[listed.start : listed.end]:
        return None
    text = document.text[late.start : late.end].replace(document.newline, "\n")
    edits = (Edit(Place(default.path), f"{text}, ", "before"), Edit(Place(way.path), "", "item"))
    return Fix(title, edits)


def _own_lines(document: Document, listed: Node, at: str | int) -> tuple[int, int] | None:
    """The lines of a list item with the comments right above its dash; None if other things stand
    on them."""
    text = document.text
    try:
        start, end = extent(text, Parent(listed, int(at), None))
    except NotPossible:
        return None
    begin = text.rfind("\n", 0, start) + 1
    if text[begin:start].strip() or not rest_is_blank(text, end):
        return None
    mark = f"{text[begin:start]}#"
    while begin and text.startswith(mark, above := text.rfind("\n", 0, begin - 1) + 1):
        begin = above
    stop = text.find("\n", end) + 1
    return begin, stop or len(text)
