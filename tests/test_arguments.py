"""Arguments against a tool's schema: what we refuse, and that we agree with `jsonschema`."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from statecli.kinds.arguments import refusal
from statecli.llm.asking import arguments
from statecli.llm.messages import _tool
from statecli.llm.strict_schema import strict_schema
from statecli.model.ports import EndOfInput, Question, ToolSpec, Unanswered
from statecli.session.toolbox import _parameters

ADDRESS = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "minLength": 2},
        "number": {"type": "integer", "minimum": 1},
        "kind": {"enum": ["home", "work"]},
    },
    "required": ["city"],
    "additionalProperties": False,
}
SCHEMA = {
    "type": "object",
    "properties": {
        "to": {"$ref": "#/$defs/address"},
        "items": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
        "note": {"type": ["string", "null"]},
    },
    "required": ["to"],
    "$defs": {"address": ADDRESS},
}


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"to": {"city": "Rome"}}, ""),
        ({"to": {"city": "Rome", "number": 2.0}, "note": None, "items": ["a"]}, ""),
        ({"to": {"city": "Rome"}, "more": 1}, ""),
        (None, "the arguments are no object"),
        ([1], "the arguments are no object"),
        ("{}", "the arguments are no object"),
        ({}, "missing: 'to'"),
        ({"to": "Rome"}, "'to' is not object: 'Rome'"),
        ({"to": {}}, "missing: 'to.city'"),
        ({"to": {"city": "R"}}, "'to.city' is shorter than 2"),
        ({"to": {"city": "Rome", "number": 0}}, "'to.number' is not at least 1: 0"),
        ({"to": {"city": "Rome", "number": True}}, "'to.number' is not integer: true"),
        ({"to": {"city": "Rome", "kind": "Home"}}, "'to.kind' is none of 'home', 'work': 'Home'"),
        ({"to": {"city": "Rome", "zip": 1}},
         "there is no 'to.zip'; there are: city, number, kind"),
        ({"to": {"city": "Rome"}, "items": ["a", 1]}, "'items[1]' is not string: 1"),
        ({"to": {"city": "Rome"}, "items": ["a", "b", "c"]}, "'items' is longer than 2"),
        ({"to": {"city": "Rome"}, "note": 1}, "'note' is not string or null: 1"),
        ({"to": {"city": "Rome", "number": float("nan")}},
         "'to.number' is not integer: nan"),
    ],
)  # fmt: skip
def test_reasons(arguments: Any, reason: str) -> None:
    assert refusal(SCHEMA, arguments) == reason


def test_without_a_schema_any_object_fits() -> None:
    assert refusal(None, {"x": 1}) == ""
    assert refusal({}, {"x": 1}) == ""


def test_odd_schemas_never_raise() -> None:
    loop: dict[str, Any] = {"$ref": "#"}
    assert refusal(loop, {"x": 1}) == ""
    odd: dict[str, Any]
    for odd in ({"type": 5}, {"required": "x"}, {"properties": []}, {"enum": 3}, {"$ref": 7},
                {"type": ["no", "such"]}, {"minimum": "a"}, {"anyOf": {}},
                {"$ref": "#/nowhere"}, {"items": 5}):  # fmt: skip
        assert isinstance(refusal(odd, {"x": [1, "a"]}), str)


WORDS = [
    "type", "properties", "required", "enum", "const", "$ref", "$defs", "items", "prefixItems",
    "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "minimum", "maximum",
    "exclusiveMinimum", "multipleOf", "minLength", "maxLength", "pattern", "minItems", "maxItems",
    "uniqueItems", "contains", "minContains", "maxContains", "additionalProperties",
    "patternProperties", "title", "dependentRequired", "dependentSchemas", "propertyNames",
    "minProperties", "description", "default", "format", "a",
]  # fmt: skip
JUNK = st.recursive(
    st.sampled_from([
        None, True, False, 0, -1, 5, 10**400, 1e-320, float("inf"), float("nan"), "", "a", "object",
        "string", "array", "integer", "#", "#/$defs/a", "#/properties/a", "(a+)+$", "[", "\ud83d",
    ]),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from([*WORDS, "", "b"]), inner, max_size=4),
    ),
    max_leaves=12,
)  # fmt: skip


class Anything:
    """A person who types whatever comes to mind."""

    patient = False

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines

    async def __call__(self, question: Question) -> str:
        if not self.lines:
            raise EndOfInput
        return self.lines.pop()


@settings(max_examples=150, deadline=None)
@given(
    st.dictionaries(st.sampled_from(WORDS), JUNK, max_size=5),
    st.dictionaries(st.sampled_from("ab"), JUNK, max_size=3),
    st.lists(st.sampled_from(["1", "a", "yes", "", "[1]", "{}"]), max_size=4),
)
def test_whatever_a_server_says_of_a_tool(schema: Any, given: Any, lines: list[str]) -> None:
    """It is checked, asked for, listed and sent on without an error of ours."""
    tool = ToolSpec("s.t", "x", schema, "s")
    assert isinstance(refusal(schema, given), str)
    assert isinstance(strict_schema(schema), dict | None)
    assert _tool(tool, "s_t")["function"]["parameters"]["type"] == "object"
    assert all(isinstance(line, str) for line in _parameters(tool))
    with contextlib.suppress(EndOfInput, Unanswered):
        assert isinstance(asyncio.run(arguments(Anything(lines), tool, "s")), dict)


@pytest.mark.parametrize("word", ["allOf", "anyOf", "oneOf"])
@pytest.mark.parametrize("times", [1, 2, 5])
def test_a_schema_that_goes_into_itself_has_an_end(word: str, times: int) -> None:
    """Also where it does so twice at each place: the rest is left to the tool."""
    began = time.monotonic()
    schema = {word: [{"$ref": "#"}] * times, "properties": {"a": {"$ref": "#"}}}
    assert refusal(schema, {"a": {"a": {"a": 1}}}) == ""
    assert time.monotonic() - began < 10


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([0.5, 2.0]),
    st.text("ab", max_size=2),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from("xy"), inner, max_size=2)
    ),
    max_leaves=6,
)
KINDS = st.sampled_from(["string", "number", "integer", "boolean", "array", "object", "null"])


def schemas() -> st.SearchStrategy[Any]:
    def deeper(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        return st.fixed_dictionaries(
            {},
            optional={
                "type": st.one_of(KINDS, st.lists(KINDS, min_size=1, max_size=2, unique=True)),
                "enum": st.lists(SCALARS, min_size=1, max_size=3),
                "const": SCALARS,
                "minimum": st.integers(-2, 2),
                "exclusiveMaximum": st.integers(-2, 2),
                "minLength": st.integers(0, 2),
                "maxItems": st.integers(0, 2),
                "uniqueItems": st.booleans(),
                "minProperties": st.integers(0, 1),
                "properties": st.dictionaries(st.sampled_from("xy"), inner, max_size=2),
                "required": st.lists(st.sampled_from("xy"), max_size=2, unique=True),
                "additionalProperties": st.one_of(st.booleans(), inner),
                "items": inner,
                "prefixItems": st.lists(inner, max_size=2),
                "anyOf": st.lists(inner, min_size=1, max_size=2),
                "oneOf": st.lists(inner, min_size=1, max_size=2),
                "allOf": st.lists(inner, min_size=1, max_size=2),
                "not": inner,
                "if": inner,
                "then": inner,
                "else": inner,
                "contains": inner,
                "minContains": st.integers(0, 2),
                "maxContains": st.integers(0, 2),
                "pattern": st.sampled_from(["^a", "b$", "a+b", "^[ab]{2}$", "^(a|b)$"]),
                "multipleOf": st.sampled_from([1, 2, 0.5]),
                "patternProperties": st.dictionaries(st.sampled_from(["^x", "y$"]), inner),
                "propertyNames": inner,
                "dependentRequired": st.dictionaries(
                    st.sampled_from("xy"), st.lists(st.sampled_from("xy"), unique=True), max_size=1
                ),
                "dependentSchemas": st.dictionaries(st.sampled_from("xy"), inner, max_size=1),
            },
        )

    return st.recursive(st.one_of(st.booleans(), st.just({})), deeper, max_leaves=4)


@settings(max_examples=300, deadline=None)
@given(schemas(), st.dictionaries(st.sampled_from("xy"), VALUES, max_size=2))
def test_the_same_as_jsonschema(schema: Any, arguments: dict[str, Any]) -> None:
    wanted = {"type": "object", "allOf": [schema]}
    valid = jsonschema.Draft202012Validator(wanted).is_valid(arguments)
    assert (refusal(wanted, arguments) == "") is valid


@pytest.mark.parametrize(
    ("schema", "value", "reason"),
    [
        ({"pattern": "^[A-Z]{3}$"}, "EUR", ""),
        ({"pattern": "^[A-Z]{3}$"}, "eur", "'x' does not match ^[A-Z]{3}$: 'eur'"),
        ({"multipleOf": 0.01}, 19.99, ""),
        ({"multipleOf": 5}, 7, "'x' is no multiple of 5: 7"),
        ({"propertyNames": {"maxLength": 1}}, {"ab": 1}, "'x.ab' is no name that may be there"),
        ({"dependentRequired": {"a": ["b"]}}, {"a": 1}, "'x.a' needs 'x.b' beside it"),
        ({"contains": {"type": "integer"}}, ["a"], "'x' has 0 of the items that it must have"),
        ({"if": {"const": 1}, "then": False}, 1, "'x' must not be there"),
    ],
)
def test_more_reasons(schema: Any, value: Any, reason: str) -> None:
    assert refusal({"properties": {"x": schema}}, {"x": value}) == reason


@pytest.mark.parametrize(
    "pattern",
    ["(a+)+$", "(a|a)*$", "a*a*a*a*a*b", r"(a)\\1", r"\\p{L}+", "(?<n>a)", "[", "a" * 400],
)
def test_a_pattern_that_may_take_forever_is_left_to_the_tool(pattern: str) -> None:
    """Also where it is the other way round: nothing is refused for what nobody knows."""
    for text in ("a" * 500 + "!", "b"):
        for schema in (
            {"pattern": pattern},
            {"not": {"pattern": pattern}},
            {"oneOf": [{"pattern": pattern}, {"type": "string"}]},
            {"if": {"pattern": pattern}, "then": False, "else": False},
        ):
            assert refusal({"properties": {"x": schema}}, {"x": text}) == ""
    assert refusal({"properties": {"x": {"pattern": "^a"}}}, {"x": "b" * 5_000}) == ""
