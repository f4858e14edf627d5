"""Sample values of a field that stand for all its values, as far as a set of atoms can tell.

Guards compare one field with constants, so values on which every atom agrees are interchangeable;
one sample for each different answer is enough to reason about all of them (verify.md 2).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from statecli.model.graph import Field
from statecli.model.guard import NUMERIC, Atom, Bounds, as_number, holds


class Absent:
    """The field is not set."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT = Absent()


def samples(field: Field | None, atoms: Sequence[Atom]) -> list[object]:
    """ABSENT, then one value for each distinct pattern of answers to `atoms` that a value of the
    field's type can give. A field nobody declares may hold anything."""
    found: list[object] = [ABSENT]
    seen: set[tuple[bool, ...]] = set()
    for value in _candidates(field, atoms):
        pattern = tuple(holds(atom, value) for atom in atoms)
        if pattern not in seen:
            seen.add(pattern)
            found.append(value)
    return found


def _candidates(field: Field | None, atoms: Sequence[Atom]) -> list[object]:
    kind = field.type if field is not None else "any"
    if field is not None and field.values and kind == "enum":
        return list(field.values)
    constants = list(_constants(atoms))
    numbers = sorted({number for value in constants if (number := as_number(value)) is not None})
    if kind == "bool":
        return [True, False]
    if kind == "int":
        return list(_around(numbers, whole=True))
    if kind == "float":
        return list(_around(numbers, whole=False))
    if kind == "str":
        return _texts(constants, numbers, atoms)
    if kind in ("any", "enum"):
        mixed: list[object] = [*_texts(constants, numbers, atoms), *_around(numbers, whole=False)]
        mixed.extend([True, False, None, *constants])
        return mixed
    return [*constants, [], [*constants]]


def _constants(atoms: Iterable[Atom]) -> Iterable[object]:
    for atom in atoms:
        if isinstance(atom.operand, Bounds):
            yield atom.operand.low
            yield atom.operand.high
        elif isinstance(atom.operand, tuple):
            yield from atom.operand
        elif atom.op not in ("exists", "absent"):
            yield atom.operand


def _around(numbers: Sequence[float], *, whole: bool) -> list[float]:
    """Each number, a point between neighbours, one beyond each end."""
    if not numbers:
        return [0]
    found: list[float] = []
    if whole:
        import math

        for number in numbers:
            found.extend((math.ceil(number) - 1, math.floor(number), math.ceil(number)))
            found.append(math.floor(number) + 1)
        return sorted(dict.fromkeys(found))
    found.append(numbers[0] - 1)
    for left, right in zip(numbers, [*numbers[1:], None], strict=True):
        found.append(left)
        found.append(left + 1 if right is None else _between(left, right))
    return found


def _between(left: float, right: float) -> float:
    """The middle, rounded to few digits where a round number lies between too."""
    middle = (left + right) / 2
    for digits in range(6):
        rounded = round(middle, digits)
        if left < rounded < right:
            return int(rounded) if rounded == int(rounded) else rounded
    return middle


def _texts(
    constants: Sequence[object], numbers: Sequence[float], atoms: Sequence[Atom]
) -> list[object]:
    texts: list[object] = [value for value in constants if isinstance(value, str)]
    joined = " ".join(str(text) for text in texts)
    contained = [atom for atom in atoms if atom.op == "contains"]
    if contained:
        texts.append(joined)
    texts.append(_other([str(text) for text in texts]))
    if any(atom.op in NUMERIC for atom in atoms):
        texts.extend(_as_text(number) for number in _around(numbers, whole=False))
    return texts


def _other(texts: Sequence[str]) -> str:
    """A text that is none of these."""
    word = "other"
    while any(
        word in text.casefold() or text.strip().casefold() in word for text in texts if text.strip()
    ):
        word += "x" if "x" not in "".join(texts).casefold() else "?z"
        if len(word) > 40:
            break
    return word


def _as_text(number: float) -> str:
    return str(int(number)) if number == int(number) else str(number)
