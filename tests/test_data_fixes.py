"""The fixes of the data rules, in every way that keys and texts are written."""

from __future__ import annotations

import json

import pytest
import yaml

from statecli.config import Config
from statecli.lint.linter import lint
from statecli.load.loader import load
from statecli.text.edits import apply, changes


def fixed(rule: str, text: str, suffix: str = ".yaml") -> str:
    """The text after the fixes of one rule, made one after the other."""
    for _ in range(9):
        loaded = load(f"g{suffix}", text)
        found = [d for d in lint(loaded, Config(select=(rule,))) if d.finding.fix is not None]
        if not found:
            return text
        fix = found[0].finding.fix
        assert fix is not None
        made = changes(loaded.document, fix)
        assert made is not None
        text = apply(text, made)
    raise AssertionError("the fix does not cure its finding")


@pytest.mark.parametrize(
    "written",
    [
        "when: {emial: x}",
        "when: {emial__ne: x, 'emial__exists': true}",
        'when: {"emial__in": [x]}',
        "when: emial == 'x'",
        "when: \"emial == 'x' or len(emial) > 3 and has('emial')\"",
        "when: 'emial == ''x'''",
        "when: >-\n            emial == 'x'\n            or emial == 'y'",
        "when: {condition_type: deliverable_exists, condition_config: {key: 'emial'}}",
        "when: {condition_type: deliverable_exists, condition_config: {deliverable_key: emial}}",
    ],
)
def test_another_key_in_a_condition(written: str) -> None:
    text = (
        "initial: a\nstates:\n  a:\n    type: agent\n    writes: [email]\n    transition:\n"
        f"      next:\n        - to: b\n          {written}\n        - c\n"
        "  b: {type: terminal}\n  c: {type: terminal}\n"
    )
    assert fixed("field-never-written", text) == text.replace("emial", "email")


def test_another_key_in_reads_and_texts() -> None:
    text = (
        "initial: a\nfields:\n  name: {type: str}\n  nmae: {type: str}\nstates:\n"
        "  a: {type: agent, writes: [name], reads: [nmae], prompt: 'Hi {{ nmae }}',"
        " transition: {next: [b]}}\n  b: {type: terminal}\n"
    )
    head, tail = text.split("states:")
    wanted = f"{head}states:{tail.replace('nmae', 'name')}"
    assert fixed("field-never-written", text) == wanted


def test_in_json() -> None:
    text = json.dumps(
        {
            "initial": "a",
            "states": {
                "a": {
                    "type": "agent",
                    "writes": ["intent"],
                    "reads": ["intnet"],
                    "transition": {
                        "next": [
                            {"to": "b", "when": {"intnet__ne": "é"}},
                            {"to": "b", "when": 'intnet == "é"'},
                            "b",
                        ]
                    },
                },
                "b": {"type": "terminal", "message": "\n{{ intnet }} \U0001f3d7"},
            },
        }
    )
    again = fixed("field-never-written", text, ".json")
    again = fixed("unknown-template-variable", again, ".json")
    assert again == text.replace("intnet", "intent")


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("message: 'It''s {{nmae}}'", "message: 'It''s {{name}}'"),
        ('message: "\\u00e9\\t{{ nmae | upper }}"', 'message: "\\u00e9\\t{{ name | upper }}"'),
        ("message: Dear {{nmae.first}}", "message: Dear {{name.first}}"),
        ("message: |\n      Hi\n      {{nmae}}", "message: |\n      Hi\n      {{name}}"),
        ("message: >\n      Hi\n\n        {{nmae}}", "message: >\n      Hi\n\n        {{name}}"),
    ],
)
def test_another_variable(line: str, wanted: str) -> None:
    head = "initial: a\nfields: {name: {type: str}}\nstates:\n  a:\n    "
    text = f"{head}{line}\n    type: terminal\n"
    assert fixed("unknown-template-variable", text) == text.replace(line, wanted)


@pytest.mark.parametrize("name", ["e-mail", "my key"])
def test_no_fix_where_the_name_cannot_stand(name: str) -> None:
    text = (
        f"initial: a\nstates:\n  a: {{type: agent, writes: ['{name}'], transition: {{next: "
        f'[{{to: b, when: "{name.replace("-", "_").replace(" ", "_")}s == 1"}}, c]}}}}\n'
        "  b: {type: terminal}\n  c: {type: terminal}\n"
    )
    [found] = lint(load("g.yaml", text), Config(select=("field-never-written",)))
    assert f"'{name}'" in found.finding.hint
    assert found.finding.fix is None


STATES = '"states": {"a": {"type": "user", "transition": {"next": ["a"]}}}'


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(
    "text",
    [
        "initial: a\nfields:\n  name: {type: str}  # note\n  b:\n    type: int\nSTATES\n",
        "initial: a\nfields:\n    # note\n    name:\n      type: str\nSTATES\n",
        "initial: a\nfields: {name: {type: str}}\nSTATES\n",
        "initial: a\nfields: {\n  name: {type: str},\n  b: {}\n}\nSTATES\n",
        "initial: a\nfields: {}\nSTATES\n",
        '{"initial": "a", "fields": {"name": {"type": "str"}}, STATES}',
        '{"initial": "a",\n "fields": {\n  "name": {"type": "str"}\n },\n STATES}',
        '{"initial": "a", "fields": {}, STATES}',
    ],
)
def test_messages_is_added_as_its_neighbours_are_written(text: str, newline: str) -> None:
    yaml_states = "states: {a: {type: user, transition: {next: [a]}}}"
    is_json = text.startswith("{")
    text = text.replace("STATES", STATES if is_json else yaml_states).replace("\n", newline)
    after = fixed("messages-field-missing", text, ".json" if is_json else ".yaml")
    before, now = yaml.safe_load(text), yaml.safe_load(after)
    assert now["fields"].pop("messages") == {"type": "list", "reducer": "append_messages"}
    assert now == before
    assert ("\r\n" in after) == ("\r\n" in text)
    assert after.replace("\r\n", "").count("\r") == 0
    assert "# note" in after or "# note" not in text
    if is_json:
        json.loads(after)
