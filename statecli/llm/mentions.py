"""What else a line says: values of other open deliverables, where there is no doubt about them.

``key: value`` always counts. Without the key, the only member of an enum that is named in the line,
and the only number beside a word of its key ("60 people" for `affected_people`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from statecli.kernel.values import Unfit, parsed, spaced
from statecli.model.graph import Deliverable, Field
from statecli.model.guard import as_number
from statecli.model.keys import FIELD_TYPE_OF

#: Words that may turn the sense of what stands around them.
_DOUBT = frozenset({
    "not", "no", "never", "without", "except", "neither", "nor", "dont", "doesnt", "isnt", "arent",
    "cant", "wont", "or", "maybe", "perhaps", "instead", "rather", "but", "if", "unless",
})  # fmt: skip
#: Members that a line may hold without meaning them.
_COMMON = frozenset({
    "any", "all", "none", "other", "some", "yes", "no", "a", "i", "it", "on", "off", "in", "out",
    "more", "less", "new", "old", "good", "bad", "like", "open", "high", "low", "now", "later",
})  # fmt: skip


class Mentions(NamedTuple):
    """`values`: what was found, by key; `rest`: the line without its ``key: value`` parts."""

    values: dict[str, Any]
    rest: str


def field_for(item: Deliverable) -> Field:
    """The field that a deliverable fills."""
    kind = FIELD_TYPE_OF.get(item.type, "any")
    return Field(item.key, kind, item.values, "overwrite", False, None, "deliverable", item.path)


def found_in(line: str, items: Sequence[Deliverable], asked: Deliverable | None) -> Mentions:
    """What a line says about these deliverables. `asked` is the one the line answers: in a sentence
    its value is looked for too, unless it takes any text."""
    values, rest = _named(line, items)
    words = [spaced(word.strip('.,;:!?()"')) for word in rest.replace("'", "").split()]
    if _DOUBT.isdisjoint(words):
        said = f" {' '.join(filter(None, words))} "
        open_now = [item for item in items if item.key not in values]
        values |= _members(said, open_now, asked)
        values |= _numbers(said.split(), [i for i in open_now if i is not asked])
    return Mentions(values, rest)


def _named(line: str, items: Sequence[Deliverable]) -> tuple[dict[str, Any], str]:
    """The parts of a line that are ``key: value`` or ``key = value``, with commas between."""
    known = {spaced(item.key): item for item in items}
    found: dict[str, Any] = {}
    rest: list[str] = []
    for part in re.split(r"[;\n]|,\s", line):
        key, sign, text = re.match(r"([^:=]*)([:=]?)(.*)", part, re.DOTALL).groups()  # type: ignore[union-attr]
        item = known.get(spaced(key)) if sign else None
        value = parsed(field_for(item), text) if item is not None else Unfit("")
        if item is None or isinstance(value, Unfit):
            rest.append(part)
        else:
            found[item.key] = value
    return (found, ", ".join(rest).strip()) if found else (found, line)


def _members(said: str, items: Sequence[Deliverable], asked: Deliverable | None) -> dict[str, Any]:
    """Enums of which just one member is named, by a word that no other open enum has too."""
    found: dict[str, Any] = {}
    owners: dict[str, int] = {}
    for item in items:
        if item.type != "enum":
            continue
        for member in {spaced(str(member)) for member in item.values}:
            owners[member] = owners.get(member, 0) + 1
        named = [member for member in item.values if f" {spaced(str(member))} " in said]
        if item is not asked:
            named = [member for member in named if spaced(str(member)) not in _COMMON]
        named = [m for m in named if not _is_part(m, named)]
        if len(named) == 1:
            found[item.key] = named[0]
    return {key: value for key, value in found.items() if owners[spaced(str(value))] == 1}


def _is_part(member: object, named: Sequence[object]) -> bool:
    """Whether a member is only the beginning or end of another one that is named ("red wine")."""
    word = f" {spaced(str(member))} "
    return any(word in f" {spaced(str(other))} " for other in named if other is not member)


def _numbers(words: Sequence[str], items: Sequence[Deliverable]) -> dict[str, Any]:
    """The only number of the line, for the only deliverable whose key has the word beside it."""
    places = [at for at, word in enumerate(words) if any(sign.isdigit() for sign in word)]
    if len(places) != 1:
        return {}
    at = places[0]
    number = as_number(words[at])
    near = {*words[max(at - 1, 0) : at], *words[at + 1 : at + 2]}
    if at >= 2 and words[at - 1] in ("is", "are", "of", "about"):
        near.add(words[at - 2])
    fitting = [
        item
        for item in items
        if item.type in ("number", "integer")
        and near & {w for w in spaced(item.key).split() if len(w) > 2}
    ]
    if number is None or len(fitting) != 1:
        return {}
    item = fitting[0]
    if item.type == "integer" and number != int(number):
        return {}
    return {item.key: int(number) if item.type == "integer" else number}
