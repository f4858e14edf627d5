"""What is read out of a model's text, the schemas it is given, and what is taken out of texts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from chatting import graph_of
from hypothesis import given
from hypothesis import strategies as st
from openai_server import outside_of_the_subset

from statecli.kinds import schemas
from statecli.llm import prompts
from statecli.llm.answers import Spoken, answer, value_in
from statecli.llm.prompts import prompt
from statecli.llm.scrub import Scrubber, scrubbed, without
from statecli.llm.strict_schema import strict_schema
from statecli.load.loader import load
from statecli.model.keys import PROMPTS

SCHEMA = {"type": "object", "required": ["a"]}


# --- JSON in texts --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ('Here: {"a": {"b": [1]}} - done', {"a": {"b": [1]}}),
        ('{"b": 2} and {"a": 1}', {"a": 1}),
        ('{"a": 1} or {"a": 1}', {"a": 1}),
        ('{"a": 1} or {"a": 2}', None),
        ('{"b": 2}', {"b": 2}),
        ('so: {"b": 2}', None),
        ("[1]", None),
        ("", None),
        ("{" * 100_000, None),
        ('{"a": ' * 5000, None),
        ('{"a": 1', None),
    ],
)
def test_the_object_in_a_text(text: str, value: Any) -> None:
    assert value_in(text, SCHEMA) == value


@given(st.text(max_size=30), st.text(max_size=30), st.lists(st.integers(1, 4), max_size=60))
def test_the_reply_comes_out_in_pieces_as_it_is(reply: str, rest: str, sizes: list[int]) -> None:
    """Whatever the pieces: what is shown grows, and in the end it is the reply."""
    for ascii_ in (True, False):
        text = json.dumps({"reply": reply, "x": rest}, ensure_ascii=ascii_)
        spoken, shown, at = Spoken(reply_only=True), "", 0
        for size in [*sizes, len(text)]:
            shown += spoken.take(text[at : at + size])
            at += size
            assert reply.startswith(shown)
        assert shown + spoken.rest(reply) == reply


@given(st.text(alphabet="<think>/ ab\n", max_size=40), st.integers(1, 5))
def test_plain_text_comes_out_as_it_is(text: str, size: int) -> None:
    spoken, shown = Spoken(reply_only=False), ""
    for at in range(0, len(text), size):
        shown += spoken.take(text[at : at + size])
    whole = answer(text)
    assert whole.strip().startswith(shown.strip())
    assert (shown + spoken.rest(whole)).strip() in (whole.strip(), shown.strip())


# --- schemas --------------------------------------------------------------------------------------

_NAMES = st.sampled_from(["a", "b", "c"])
_SCHEMAS = st.recursive(
    st.one_of(
        st.sampled_from(["string", "integer", "number", "boolean", "null", "what"]).map(
            lambda kind: {"type": kind}
        ),
        st.lists(st.one_of(st.text(max_size=3), st.integers(), st.none()), max_size=3).map(
            lambda values: {"enum": values}
        ),
        st.just({}),
        st.just({"type": ["string", "null"], "description": "d"}),
        st.just({"type": "string", "pattern": "x"}),
    ),
    lambda inner: st.one_of(
        inner.map(lambda item: {"type": "array", "items": item}),
        st.lists(inner, min_size=1, max_size=3).map(lambda items: {"anyOf": items}),
        st.tuples(st.dictionaries(_NAMES, inner, max_size=3), st.booleans(), st.booleans()).map(
            lambda t: {
                "type": "object",
                "properties": t[0],
                "required": list(t[0]) if t[1] else [],
                "additionalProperties": not t[2],
            }
        ),
    ),
    max_leaves=8,
)


@given(_SCHEMAS)
def test_a_strict_schema_is_in_the_documented_subset(schema: dict[str, Any]) -> None:
    found = strict_schema(schema)
    if found is not None:
        assert outside_of_the_subset(found) == []
        assert found["type"] == "object"


def test_what_we_ask_for_ourselves_is_in_the_subset() -> None:
    text = """
fields: {n: {type: int}, f: {type: float}, b: {type: bool}, e: {type: enum, values: [a, 1]},
  s: {type: str}, l: {type: list}, d: {type: dict}}
states: {a: {type: agent, writes: [n, f, b, e, s, free], transition: {next: [z]}},
  c: {type: agent, writes: [l, d], transition: {next: [z]}}, z: {type: terminal}}
"""
    graph = graph_of(text)
    asked = [
        schemas.delta_schema(graph, graph.states["a"]), schemas.choice_schema(["a", "b"]),
        schemas.plan_schema(), schemas.step_schema(), schemas.verdict_schema(["a"]),
        schemas.skill_schema(), schemas.tool_schema(["t"]), schemas.check_schema(),
    ]  # fmt: skip
    for schema in asked:
        strict = strict_schema(schema)
        assert strict is not None, schema
        assert outside_of_the_subset(strict) == []
    assert strict_schema(schemas.delta_schema(graph, graph.states["c"])) is None, (
        "any list, any map"
    )


# --- secrets --------------------------------------------------------------------------------------

KEY = "abcabcabd-1"


@given(st.text(alphabet="abcd-1 ", max_size=60), st.lists(st.integers(1, 5), max_size=40))
def test_a_secret_is_taken_out_however_the_pieces_fall(text: str, sizes: list[int]) -> None:
    text = f"{text[:20]}{KEY}{text[20:]}"
    scrubber, out, at = Scrubber([KEY]), "", 0
    for size in [*sizes, len(text)]:
        out += scrubber.take(text[at : at + size])
        at += size
    out += scrubber.rest()
    assert out == without(text, [KEY])
    assert KEY not in out


def test_what_looks_like_a_key_is_taken_out_of_data() -> None:
    key = "sk-proj-4f9a2c7e1b8d3a6f5e0c9b8a"
    given_ = {"a": [f"it is {key}.", 3, None], key: "Bearer abcdefghijklmnop1234"}
    assert scrubbed(given_, []) == {"a": ["it is ***.", 3, None], "***": "***"}
    assert scrubbed("nothing to hide, sk-learn 1.5", []) == "nothing to hide, sk-learn 1.5"


# --- prompts --------------------------------------------------------------------------------------


def test_every_prompt_is_a_text_file_and_has_a_key() -> None:
    folder = Path(prompts.__file__).parent / "prompts"
    assert sorted(PROMPTS) == sorted(path.stem for path in folder.iterdir())
    for name in PROMPTS:
        text = (folder / f"{name}.txt").read_text(encoding="utf-8")
        assert text.isascii()
        assert text.endswith("\n")


def test_a_graph_may_bring_its_own() -> None:
    text = """
prompts:
  choice: |
    Wohin? {{ options }}

    Bekannt: {{city}}

    {{nothing}}
states: {a: {type: decision, transition: {next: [b, c]}}, b: {type: terminal}, c: {type: terminal}}
"""
    graph = graph_of(text)
    found = prompt(graph, "choice", {"city": "Ulm"}, options="- b\n- c", nothing="")
    assert found == "Wohin? - b\n- c\n\nBekannt: Ulm"
    assert prompt(graph, "plan", {}).startswith("[Instruction] Break what")


def test_a_prompt_that_nobody_asks_for_is_told() -> None:
    text = "prompts: {choise: x}\ninitial: a\nstates: {a: {type: terminal}}\n"
    from statecli.config import Config
    from statecli.lint.linter import lint

    (found,) = [item for item in lint(load("g.yaml", text), Config()) if item.rule == "unknown-key"]
    assert "choise" in found.message
    assert "choice" in f"{found.message} {found.finding.hint}"


def test_values_are_not_read_as_templates() -> None:
    graph = graph_of("states: {a: {type: terminal}}")
    assert prompt(graph, "repair", {"secret": "s"}, reason="{{secret}}").count("{{secret}}") == 1
