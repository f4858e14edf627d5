"""Which texts a person can type: a class of values is given up only where that is certain."""

from __future__ import annotations

import ast

import pytest

from statecli.model.classes import Test
from statecli.model.guard import Atom
from statecli.model.parts import parts
from statecli.verify.domain import Axis


def axis(*tests: Atom | str) -> Axis:
    """The axis of a field of any type that these guards read; a text is an expression."""
    found: list[Test] = []
    for test in tests:
        if isinstance(test, str):
            listed = parts(ast.parse(test, mode="eval").body)
            assert listed is not None
            found += listed.values()
        else:
            found.append(test)
    made = Axis("k", 0)
    made.values(None, found, 0)
    return made


TESTS = {
    "letters may have forms that nobody thinks of": (Atom("k", "eq", "k"), "k == 'k'", "k == 'K'"),
    "digits have one form": (Atom("k", "eq", "3"), "k == '3'"),
    "blanks are stripped": (Atom("k", "eq", "red"), "k == 'blue '", "k in ('a', ' b')"),
    "nothing is no line": (Atom("k", "eq", ""),),
    "part of a text": (Atom("k", "eq", "x"), "k != 'x '", "k != 'y'"),
}
#: Texts as somebody may type them, with some that fold to a letter they are not.
TYPED = (
    "k",
    "K",
    "\u212a",
    "3",
    "03",
    "3.0",
    "red",
    "RED",
    "r",
    "blue",
    "b",
    "a",
    "x",
    "X",
    "y",
    "?",
)


@pytest.mark.parametrize("name", TESTS)
def test_whatever_can_be_typed_is_kept(name: str) -> None:
    found = axis(*TESTS[name])
    for line in TYPED:
        assert found.class_of(line) & found.spoken(surely=False), line


@pytest.mark.parametrize("name", TESTS)
def test_a_class_that_counts_as_typed_has_a_line(name: str) -> None:
    found = axis(*TESTS[name])
    for number in range(found.absents, found.size):
        if found.spoken(surely=True) >> number & 1:
            line = found.line(number)
            assert isinstance(line, str)
            assert line == line.strip() != ""
            assert found.class_of(line) == 1 << number


def test_what_cannot_be_typed_is_given_up() -> None:
    found = axis(Atom("k", "eq", "3"), "k == '3'", "k == 'b '", Atom("k", "eq", ""))
    for text in ("3 ", "b ", "", " "):
        assert not found.class_of(text) & found.spoken(surely=False), text
