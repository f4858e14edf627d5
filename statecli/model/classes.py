"""Sample values of a field that stand for all its values, as far as a set of tests can tell.

Guards compare one field with constants, so values on which every test agrees are interchangeable;
one sample for each different pattern of answers is enough to reason about all (verify.md 2).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import islice, product
from typing import NamedTuple

from statecli.model.graph import Field
from statecli.model.guard import NUMERIC, Atom, Bounds, as_number, fold, holds
from statecli.model.parts import Part

#: What a guard asks of one field.
Test = Atom | Part
#: What a test says of a value; None: Python would raise, which makes its whole expression false.
Answer = bool | None


class Absent:
    """The field is not set."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT = Absent()


class Classes(NamedTuple):
    """The kinds of values that a field can have: ABSENT first, then one sample of each, and beside
    it the answers of the tests."""

    samples: list[object]
    answers: list[tuple[Answer, ...]]


def classes(field: Field | None, tests: Sequence[Test]) -> Classes:
    """ABSENT, then one value for each distinct pattern of answers that a value of the field's type
    can give. A field nobody declares may hold anything. No test may be `open_ended`."""
    if not tests:
        return _SET_OR_NOT
    key = _signature(field, tests)
    found = _KNOWN.get(key) if key else None
    if found is None:
        found = _classes(field, tests)
        if key and len(_KNOWN) < _MOST_KNOWN:
            _KNOWN[key] = found
    return found


#: Large graphs ask the same few questions of many fields.
_KNOWN: dict[str, Classes] = {}
_MOST_KNOWN = 4096
_SET_OR_NOT = Classes([ABSENT, True], [(), ()])


def _signature(field: Field | None, tests: Sequence[Test]) -> str:
    """The same for two questions with the same classes, whatever the fields' names; empty where an
    expression asks."""
    words = []
    for test in tests:
        if type(test) is not Atom:
            return ""
        words.append(f"{test.op} {test.operand!r}")
    if field is not None:
        words.append(field.type)
        if field.values:
            words.append(repr(field.values))
        if field.has_default:
            words.append(f"default {field.default!r}")
    return "\n".join(words)


def _classes(field: Field | None, tests: Sequence[Test]) -> Classes:
    samples: list[object] = [ABSENT]
    answers = [tuple(answer(test, ABSENT) for test in tests)]
    seen: set[tuple[Answer, ...]] = set()
    for value in candidates(field, tests):
        pattern = tuple([answer(test, value) for test in tests])
        if pattern not in seen:
            seen.add(pattern)
            samples.append(value)
            answers.append(pattern)
    return Classes(samples, answers)


def answer(test: Test, value: object) -> Answer:
    """What a test says of a value (or of ABSENT)."""
    if type(test) is Atom:
        if value is ABSENT:
            return test.op == "absent"
        return holds(test, value)
    assert isinstance(test, Part)
    if value is ABSENT:
        return None
    from statecli.model.expression_value import outcome

    return outcome(test.node, {test.key: value})


_COLLECTIONS = frozenset({"list", "tuple", "dict", "set"})
_SCALAR = frozenset({"bool", "int", "float"})


def open_ended(field: Field | None, test: Test) -> bool:
    """Whether no list of samples can show every way in which this test and others may agree: what
    a text or a list contains, anything about a collection."""
    if field is not None and field.type in _COLLECTIONS:
        return type(test) is not Atom or test.op not in ("exists", "absent")
    return type(test) is Atom and test.op == "contains" and kind_of(field) in ("str", "any")


#: So many different texts may be looked for in one field's values.
_MOST_SOUGHT = 6


def seeks_too_much(tests: Sequence[Test]) -> bool:
    """Whether the texts that some of the tests look for inside a value are too many, or could be
    part of a number that another test reads: then samples may miss a way in which they agree."""
    sought = _sought(tests)
    if len(sought) > _MOST_SOUGHT:
        return True
    if any(isinstance(test, Atom) and test.op in NUMERIC for test in tests):
        return any(isinstance(s, str) and set(fold(s)) <= set("0123456789+-.e") for s in sought)
    return False


def _sought(tests: Iterable[Test]) -> list[object]:
    """What tests look for inside a value, each once."""
    found: list[object] = []
    for test in tests:
        if isinstance(test, Atom) and test.op == "contains":
            operand = fold(test.operand) if isinstance(test.operand, str) else test.operand
            if not any(type(one) is type(operand) and one == operand for one in found):
                found.append(operand)
    return found


def _holding(sought: Sequence[object]) -> list[object]:
    """For each choice of what is sought a text, and a list, with that inside and (as far as it can
    be) nothing else of it."""
    texts = [item for item in sought if isinstance(item, str)]
    between = next(sign for sign in ("/", "|", "\u00b7", "\u00a6", "\u2022", "\u203b", "\u00a7")
                   if all(sign not in text for text in texts))  # fmt: skip
    found: list[object] = []
    for choice in range(1, 1 << len(sought)):
        inside = [item for at, item in enumerate(sought) if choice >> at & 1]
        if all(isinstance(item, str) for item in inside):
            found.append(between.join(("", *map(str, inside))))
            if len(inside) == 1:
                found.append(inside[0])
        found.append(inside)
    return found


def kind_of(field: Field | None) -> str:
    """The type that a field's values are known to have. An enum without (plain) values, as a type
    nobody knows, may hold anything; other rules say so."""
    if field is None:
        return "any"
    if field.type == "enum":
        plain = all(value is None or isinstance(value, str | int | float) for value in field.values)
        return "enum" if field.values and plain else "any"
    return field.type if field.type in _COLLECTIONS | _SCALAR | {"str"} else "any"


def candidates(field: Field | None, tests: Sequence[Test]) -> list[object]:
    """Values of the field's type among which every pattern of answers occurs."""
    kind = kind_of(field)
    found: list[object]
    if kind == "bool":
        found = [True, False]
    elif kind == "enum":
        assert field is not None
        found = list(field.values)
    elif kind == "int":
        found = list(whole_numbers(points(tests)))
    elif kind == "float":
        found = list(numbers(points(tests)))
    elif kind == "str":
        found = _texts(tests)
    elif kind == "any":
        found = [*_texts(tests), *numbers(points(tests)), True, False, None, []]
        found.extend(_constants(tests))
    else:
        found = [[]]
    sought = _sought(tests)
    if sought and kind in ("str", "any"):
        holding = _holding(sought)
        found += [value for value in holding if kind == "any" or isinstance(value, str)]
    if field is not None and field.has_default:
        found.append(field.default)  # whatever its type, it is there
    return found


def lines(tests: Sequence[Test]) -> list[str]:
    """What a person can type among the texts: not nothing, and no blanks around it (they are
    stripped). So what equals a constant only when it is folded differs in the case of letters."""
    constants = [str(value) for value in _constants(tests) if isinstance(value, str | int | float)]
    found = [str(text) for text in _texts(tests)]
    if any(isinstance(test, Part) for test in tests):
        for text in constants:
            found.extend(_recased(text.strip(), constants))
    sought = [text for text in _sought(tests) if isinstance(text, str)]
    if sought:
        found.extend(text for text in _holding(sought) if isinstance(text, str))
        found.extend(f".{text}." for text in sought)
    found.extend(constants)
    return list(dict.fromkeys(line for text in found if (line := text.strip())))


def never_a_line(text: str, tests: Sequence[Test]) -> bool:
    """Whether it is certain that a person can type no text on which all tests agree with this one,
    if none of `lines` is such: some test says that it is one of a few texts. Where only blanks and
    the case of letters are left open, letters may have more forms than `lines` tries."""
    other = f"{text}{OTHER}"
    for test in tests:
        if answer(test, text) is answer(test, other):
            continue
        if isinstance(test, Part):
            if not test.constants or any(value == text for value, _ in test.constants):
                return True
        elif test.op in _EQUALITY:
            texts = [fold(value) for value in _constants([test]) if isinstance(value, str)]
            if all(sign.isascii() and not sign.isalpha() for sign in "".join(texts)):
                return True
    return False


#: What no constant ends with.
OTHER = "\x1f?"
_EQUALITY = ("eq", "ne", "in", "notin", "is", "isnot")


def _recased(text: str, constants: Sequence[str]) -> Iterable[str]:
    """Texts that fold to the same, with other letters in capitals; at least one is no constant, if
    there is any."""
    ways = [dict.fromkeys((sign, sign.upper(), sign.lower())) for sign in text]
    found = (way for way in map("".join, product(*ways)) if fold(way) == fold(text))
    yield from islice(found, len(constants) + 2)


def _constants(tests: Iterable[Test]) -> Iterable[object]:
    """What the values are compared with."""
    for test in tests:
        if type(test) is not Atom:
            assert isinstance(test, Part)
            for value, _ in test.constants:
                yield value
        elif isinstance(test.operand, Bounds):
            yield test.operand.low
            yield test.operand.high
        elif test.op in ("in", "notin") and isinstance(test.operand, tuple):
            yield from test.operand
        elif test.op not in ("exists", "absent"):
            yield test.operand


def points(tests: Sequence[Test]) -> list[float]:
    """The numbers at which some answer may change, in order."""
    found: set[float] = set()
    for value in _constants(tests):
        number = as_number(value)
        if number is not None:
            found.add(number)
    if any(isinstance(test, Part) for test in tests):
        for test in tests:
            if isinstance(test, Part):
                # For Python true is 1, and the truth of a bare name changes at 0.
                found.update(int(v) for v, _ in test.constants if isinstance(v, bool))
                found.update(() if test.constants else (0,))
    return sorted(found)


def numbers(marks: Sequence[float]) -> list[float]:
    """One number below all marks, then each mark and one behind it: between it and the next, or
    beyond the last. So the odd ones are the marks, the even ones stand for what lies between."""
    if not marks:
        return [0]
    found: list[float] = [_beyond(marks[0], -1)]
    for left, right in zip(marks, [*marks[1:], None], strict=True):
        found.append(left)
        found.append(_beyond(left, 1) if right is None else _between(left, right))
    return found


def whole_numbers(marks: Sequence[float]) -> list[int]:
    """The whole numbers at and next to each mark."""
    if not marks:
        return [0]
    found: set[int] = set()
    for number in marks:
        low, high = math.floor(number), math.ceil(number)
        found.update((high - 1, low, high, low + 1))
    return sorted(found)


def _beyond(number: float, step: int) -> float:
    further = number + step
    if further != number:
        return further
    doubled = number * 2
    return doubled if (number > 0) == (step > 0) and math.isfinite(doubled) else number


def _between(left: float, right: float) -> float:
    """The middle, rounded to few digits where a round number lies between too."""
    try:
        middle = left + (right - left) / 2
        for digits in range(6):
            rounded = round(middle, digits)
            if left < rounded < right:
                return int(rounded) if rounded == int(rounded) else rounded
    except OverflowError:  # whole numbers larger than any fraction
        return (int(left) + int(right)) // 2
    return middle


def _texts(tests: Sequence[Test]) -> list[object]:
    """Texts: each constant, one that is none of them, and where it matters numbers as text, and
    texts that only equality of conditions (trimmed, case-folded) takes for a constant."""
    constants = [value for value in _constants(tests) if isinstance(value, str)]
    texts: list[object] = [*constants]
    folds = {fold(text) for text in constants}
    if any(isinstance(test, Part) for test in tests):
        for text in constants:
            copy = f"{text} "
            while copy in constants:
                copy += " "
            texts.append(copy)
        texts.extend(("", " "))
    other = "other"
    while other in folds:
        other += "x"
    texts.append(other)
    if any(isinstance(test, Atom) and test.op in NUMERIC for test in tests):
        texts.extend(_written(number, folds) for number in numbers(points(tests)))
    return texts


def _written(number: float, folds: set[str]) -> str:
    """A number as a text that is none of the constants."""
    text = str(int(number)) if number == int(number) else str(number)
    while text in folds:
        text = f"-0{text[1:]}" if text[0] == "-" else f"0{text}"
    return text
