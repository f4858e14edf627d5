"""What a line of a person means: numbers, yes and no, values of every type; nothing is guessed."""

from __future__ import annotations

from typing import Any

import pytest

from statecli.kernel.spoken import number_in, yes_or_no
from statecli.kernel.values import Unfit, parsed
from statecli.llm.mentions import found_in
from statecli.model.graph import Deliverable, Field


def field(kind: str, *values: object) -> Field:
    return Field("it", kind, values, "overwrite", False, None, "declared", ())


@pytest.mark.parametrize(
    ("line", "number"),
    [
        ("3", 3), (" -2.5 ", -2.5), ("1e3", 1000), ("3 days", 3), ("about 60 people", 60),
        ("12 €", 12), ("€12", 12), ("$ 5", 5), ("7.", 7), ("5kg", 5), ("10%", 10), ("20 %", 20),
        ("three", 3), ("twenty", 20), ("ninety people", 90), ("It's 4, I think", 4),
        ("I have 3 dogs", 3), ("we are 12 people in the office", 12), ("exactly 8!", 8),
        ("I am 40, and I have a dog", 40), ("Hm, about 7.", 7),
    ],
)  # fmt: skip
def test_numbers(line: str, number: float) -> None:
    assert number_in(line) == number


@pytest.mark.parametrize(
    "line",
    [
        "", "hello", "3 or 4", "between 3 and 5", "8 of 10", "less than 5", "more than 50",
        "not 5", "minus five", "5 hundred", "5k", "2 million", "1,000", "12,50", "5-6", "1/2",
        "3rd", "0x10", "1_000", "inf", "nan", "one of 5", "twenty one", "5 not sure", "½", "٣",
        "5 and a half", "a dozen", "10 minus 2", "5, not 6", "5, or so", "10, no wait", "5; 6",
        "x" * 1_000_000 + " 5", "maybe 5",
    ],
)  # fmt: skip
def test_no_numbers(line: str) -> None:
    assert number_in(line) is None


@pytest.mark.parametrize(
    "line", ["yes", "Y", "Yes!", "yes, please", "sure.", "OK", "of course", "true", "I agree", "1"]
)
def test_yes(line: str) -> None:
    assert yes_or_no(line) is True


@pytest.mark.parametrize(
    "line", ["no", "N", "No.", "no, thanks", "nope", "not yet", "false", "0", "No, I don’t"]
)
def test_no(line: str) -> None:
    assert yes_or_no(line) is False


@pytest.mark.parametrize(
    "line", ["", "maybe", "I suppose", "yes and no", "yes, but not today", "no idea", "2", "-1"]
)
def test_neither_yes_nor_no(line: str) -> None:
    assert yes_or_no(line) is None


@pytest.mark.parametrize(
    ("kind", "line", "value"),
    [
        (field("str"), "  hello ", "hello"),
        (field("int"), "about 60 people", 60),
        (field("int"), "3.0", 3),
        (field("float"), "2.5 km", 2.5),
        (field("bool"), "yes please", True),
        (field("enum", "dogs", "small_animals"), "Small animals", "small_animals"),
        (field("enum", "dogs", "small_animals"), "2", "small_animals"),
        (field("enum", 3, 2), "2", 2),
        (field("list"), "a, b", ["a", "b"]),
        (field("list"), '["a"]', ["a"]),
        (field("dict"), '{"a": 1}', {"a": 1}),
        (None, "anything", "anything"),
    ],
)
def test_values(kind: Field | None, line: str, value: Any) -> None:
    found = parsed(kind, line)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("kind", "line", "reason"),
    [
        (field("str"), "  ", "an empty line is no answer"),
        (field("int"), "hello", "'hello' is not a number"),
        (field("int"), "2.5", "'2.5' is not a whole number"),
        (field("bool"), "perhaps", "'perhaps' is neither yes nor no"),
        (field("enum", "dogs", "cats"), "birds", "'birds' is none of dogs, cats"),
        (field("enum", "dogs", "cats"), "3", "'3' is none of dogs, cats"),
        (field("list"), "[1", "'[1' is not a list in JSON"),
        (field("dict"), "a", "'a' is not a mapping in JSON"),
        (field("dict"), "[" * 100_000, None),
    ],
)
def test_unfit_values(kind: Field, line: str, reason: str | None) -> None:
    found = parsed(kind, line)
    assert isinstance(found, Unfit)
    assert reason is None or found.reason == reason


ANIMALS = Deliverable("animals", "enum", True, ("dogs", "cats", "small_animals", "any"), ())
NAME = Deliverable("first_name", "string", True, (), ())
PEOPLE = Deliverable("affected_people", "integer", True, (), ())
PAIN = Deliverable("pain_level", "number", True, (), ())
SWAP = Deliverable("wants_swap", "boolean", True, (), ())
ALL = (NAME, ANIMALS, PEOPLE, PAIN, SWAP)


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("animals: dogs, first_name: Ann", {"animals": "dogs", "first_name": "Ann"}),
        ("pain level = 6", {"pain_level": 6}),
        ("wants_swap: yes; affected people: about 60", {"wants_swap": True, "affected_people": 60}),
        ("the printer is broken for 60 people", {"affected_people": 60}),
        ("my pain is 6.5", {"pain_level": 6.5}),
        ("I like cats", {"animals": "cats"}),
        ("Small animals please", {"animals": "small_animals"}),
    ],
)
def test_mentions(line: str, found: dict[str, Any]) -> None:
    assert found_in(line, ALL, None).values == found


@pytest.mark.parametrize(
    "line",
    [
        "hello", "dogs or cats", "not dogs", "I don't like dogs", "do you have any idea",
        "the printer in room 5", "3 of 60 people", "about 6.5 people", "animals: birds",
        "colour: red", "http://example.org/a=b", "12:30", "catsdogs", "",
    ],
)  # fmt: skip
def test_what_is_not_plain_is_not_found(line: str) -> None:
    assert found_in(line, ALL, None).values == {}


def test_a_word_of_two_enums_is_neither() -> None:
    pets = Deliverable("pets", "enum", True, ("dogs", "fish"), ())
    assert found_in("dogs", (ANIMALS, pets), None).values == {}
    assert found_in("fish", (ANIMALS, pets), None).values == {"pets": "fish"}


def test_named_parts_are_taken_out_of_the_line() -> None:
    found = found_in("Ann Miller, animals: cats", ALL, NAME)
    assert (found.values, found.rest) == ({"animals": "cats"}, "Ann Miller")
