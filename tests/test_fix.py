"""Fixes change what they mean to change, and no other byte."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from run_cli import run, validate

from statecli.lint.fix import MOST_ROUNDS, Fixer
from statecli.lint.linter import lint
from statecli.load.loader import load
from statecli.model.diagnostic import Diagnostic, Edit, Finding, Fix
from statecli.model.span import Place
from statecli.text.document import Document
from statecli.text.edits import apply, changes
from statecli.text.reading import parse

Path_ = tuple[str | int, ...]


def edited(text: str, path: Path_, new: str = "", where: str = "item", **more: Any) -> str | None:
    """The text after one edit; None if it cannot be done."""
    name = more.pop("name", "g.json" if text.lstrip()[:2] in ('{"', "[", '["') else "g.yaml")
    document = parse(name, text)
    found = changes(document, Fix("t", (Edit(Place(path, **more), new, where),)))
    return None if found is None else apply(text, found)


# ---------------------------------------------------------------- taking items out: examples

ITEMS: list[tuple[str, Path_, str]] = [
    ("a: [x, y, z]\n", ("a", 0), "a: [y, z]\n"),
    ("a: [x, y, z]\n", ("a", 1), "a: [x, z]\n"),
    ("a: [x, y, z]\n", ("a", 2), "a: [x, y]\n"),
    ("a: [x]\n", ("a", 0), "a: []\n"),
    ("a: [ x, ]\n", ("a", 0), "a: []\n"),
    ("a: [x, y, ] # c\n", ("a", 1), "a: [x, ] # c\n"),
    ("a:\n  - x # one\n  - y # two\n", ("a", 0), "a:\n  - y # two\n"),
    ("a:\n  - x # one\n  - y # two\n", ("a", 1), "a:\n  - x # one\n"),
    ("a:\n  - x\n  # of y\n  - y\n", ("a", 0), "a:\n  # of y\n  - y\n"),
    ("a: # why\n  - x\nb: 1\n", ("a", 0), "a: [] # why\nb: 1\n"),
    ("a:\n- x\nb: 1\n", ("a", 0), "a: []\nb: 1\n"),
    ("- - x\n  - y\n- z\n", (0, 0), "- - y\n- z\n"),
    ("- - x\n- z\n", (0, 0), "- []\n- z\n"),
    ("- a: 1\n  b: 2\n", (0, "a"), "- b: 2\n"),
    ("- a: 1\n  b: 2\n", (0, "b"), "- a: 1\n"),
    ("- a: 1\n", (0, "a"), "- {}\n"),
    ("s:\n  a: {}\n\n  # of b\n  b: 2\n\nz: 1\n", ("s", "a"), "s:\n\n  # of b\n  b: 2\n\nz: 1\n"),
    ("s:\n  a: 1\n  b:\n    t: |\n      text\n\nz: 1\n", ("s", "b"), "s:\n  a: 1\n\nz: 1\n"),
    ("s:\n  a:\n  b: 1\n", ("s", "a"), "s:\n  b: 1\n"),
    ("{a: , b: 1}\n", ("a",), "{b: 1}\n"),
    ("{a, b: 1}\n", ("a",), "{b: 1}\n"),
    ("a: [\n  x,  # of x\n  y   # of y\n]\n", ("a", 0), "a: [\n  y   # of y\n]\n"),
    ("a: [\n  x,  # of x\n  y   # of y\n]\n", ("a", 1), "a: [\n  x  # of x\n]\n"),
    ('{"a": 1, "b": 2}', ("a",), '{"b": 2}'),
    ('{"a": 1, "b": 2}', ("b",), '{"a": 1}'),
    ('{"a": 1}', ("a",), "{}"),
    ('{\n  "a": 1,\n  "b": [\n    2\n  ]\n}\n', ("b",), '{\n  "a": 1\n}\n'),
    ('{\n  "a": 1,\n  "b": [\n    2\n  ]\n}\n', ("a",), '{\n  "b": [\n    2\n  ]\n}\n'),
    ('{\n  "b": [\n    2\n  ]\n}\n', ("b", 0), '{\n  "b": []\n}\n'),
    ("a: &n [x, y]\nb: *n\nc: 1\n", ("b",), "a: &n [x, y]\nc: 1\n"),
    ("a: x\r\nb:\r\n  - y\r\n  - z\r\n", ("b", 0), "a: x\r\nb:\r\n  - z\r\n"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "path", "after"), ITEMS)
def test_an_item_is_taken_out(text: str, path: Path_, after: str) -> None:
    assert edited(text, path) == after


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("a: [&x 1, *x, 2]\n", ("a", 1)),
        ("b: &x {k: 1}\na:\n  <<: *x\n  c: 2\n", ("a", "k")),
        ("? a\n: 1\nb: 2\n", ("a",)),
    ],
)
def test_what_cannot_be_taken_out_is_left(text: str, path: Path_) -> None:
    assert edited(text, path) is None


# ---------------------------------------------------------------- other edits

ENTRIES: list[tuple[str, Path_, str, str]] = [
    ("a: {x: 1}\n", ("a",), "n: 2", "a: {x: 1, n: 2}\n"),
    ("a: {x: 1, }\n", ("a",), "n: 2", "a: {x: 1, n: 2 }\n"),
    ("a: {}\n", ("a",), "n: 2", "a: {n: 2}\n"),
    ("a:\n  x: 1 # c\n\nb: 1\n", ("a",), "n: 2", "a:\n  x: 1 # c\n  n: 2\n\nb: 1\n"),
    ("a:\n  - x: 1\n  - x: 2\n", ("a", 0), "n: 2", "a:\n  - x: 1\n    n: 2\n  - x: 2\n"),
    ("a:\n  x: |\n    t\nb: 1\n", ("a",), "n: 2", "a:\n  x: |\n    t\n  n: 2\nb: 1\n"),
    ("x: 1", (), "n: 2", "x: 1\nn: 2"),
    ("x: 1\r\n", (), "n: 2", "x: 1\r\nn: 2\r\n"),
    ('{"x": 1}', (), '"n": 2', '{"x": 1, "n": 2}'),
    ('{\n  "x": 1\n}', (), '"n": 2', '{\n  "x": 1,\n  "n": 2\n}'),
    ("{\n  x: 1 # c\n}", (), "n: 2", "{\n  x: 1, # c\n  n: 2\n}"),
]


@pytest.mark.parametrize(("text", "path", "entry", "after"), ENTRIES)
def test_an_entry_is_added(text: str, path: Path_, entry: str, after: str) -> None:
    assert edited(text, path, entry, "entry") == after


TEXTS: list[tuple[str, str, str]] = [
    ("a: x # c\n", "yy", "a: yy # c\n"),
    ("a: 'x'\n", "y's", "a: 'y''s'\n"),
    ('a: "x"\n', 'y"\n', 'a: "y\\"\\n"\n'),
    ("a: x\n", "on", "a: 'on'\n"),
    ("a: x\n", "12", "a: '12'\n"),
    ("a: x\n", "a: b", "a: 'a: b'\n"),
    ("a: [x]\n", "z", "a: z\n"),
    ('{"a": true}', "y", '{"a": "y"}'),
    ("a: x\n", "状態", "a: 状態\n"),
]


@pytest.mark.parametrize(("text", "new", "after"), TEXTS)
def test_a_text_keeps_its_quotes_and_gets_those_it_needs(text: str, new: str, after: str) -> None:
    if "[" in text:
        assert edited(text, ("a", 0), new, "text") == "a: [z]\n"
    else:
        assert edited(text, ("a",), new, "text") == after


def test_a_key_gets_another_name() -> None:
    assert edited("a: {'b': 1}\n", ("a", "b"), "c", "text", part="key") == "a: {'c': 1}\n"


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("p: Hi {{nme}}!\n", "p: Hi {{name}}!\n"),
        ('p: "Hi {{nme}}\\n"\n', 'p: "Hi {{name}}\\n"\n'),
        ("p: >\n  Hi\n  {{nme}}\n", "p: >\n  Hi\n  {{name}}\n"),
    ],
)
@pytest.mark.parametrize("where", ["text", "replace"])
def test_a_part_of_a_text(text: str, after: str, where: str) -> None:
    assert edited(text, ("p",), "name", where, within=(5, 8)) == after


@pytest.mark.parametrize(
    ("text", "path", "where", "new", "after"),
    [
        ("a: x # c\n", ("a",), "before", "[", "a: [x # c\n"),
        ("a: x # c\n", ("a",), "after", "]", "a: x] # c\n"),
        ("a: x # c\nb: 1\n", ("a",), "after", "\nn: 2", "a: x # c\nn: 2\nb: 1\n"),
        ("a:\n  b: 1\n# c\nd: 1\n", ("a",), "after", "\nn: 2", "a:\n  b: 1\nn: 2\n# c\nd: 1\n"),
        ("# head\na: x\n", (), "before", "n: 2\n", "# head\nn: 2\na: x\n"),
        ("a: {b: 1}\n", ("a",), "replace", "2", "a: 2\n"),
        ("a:\n  b: 1\n  c: 2\n\n# d\n", ("a",), "replace", "{}", "a:\n  {}\n\n# d\n"),
    ],
)
def test_before_after_replace(text: str, path: Path_, where: str, new: str, after: str) -> None:
    assert edited(text, path, new, where) == after


# ---------------------------------------------------------------- taking items out: any of them

NAMES = st.text("abcxyz_é状🏗", min_size=1, max_size=4)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-99, 99)
    | st.sampled_from(["", "on", "x # y", "a: b", "- z", "it's", 'say "hi"', "two\nlines\n", "🏗"])
    | NAMES
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=20,
)
WRITERS: dict[str, Callable[[Any], str]] = {
    "block": lambda v: yaml.safe_dump(v, allow_unicode=True, sort_keys=False),
    "indentless off": lambda v: yaml.dump(v, Dumper=_Indented, sort_keys=False),
    "flow": lambda v: yaml.safe_dump(v, default_flow_style=True, sort_keys=False, width=40),
    "json": json.dumps,
    "json, pretty": lambda v: json.dumps(v, indent=2, ensure_ascii=False) + "\n",
}


class _Indented(yaml.SafeDumper):
    """Lists indented below their key."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


def places(value: Any, path: Path_ = ()) -> list[Path_]:
    """The path of every item and entry."""
    found: list[Path_] = []
    if not isinstance(value, dict | list):
        return found
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        found += [(*path, key), *places(inner, (*path, key))]
    return found


def without(value: Any, path: Path_) -> Any:
    """The value without the item at a path."""
    copy = json.loads(json.dumps(value))
    inside = copy
    for step in path[:-1]:
        inside = inside[step]
    del inside[path[-1]]
    return copy


def commented(text: str) -> str:
    """A YAML text with a comment above and behind every line that can have one."""
    lines: list[str] = []
    for line in text.splitlines():
        lines.append(f"{' ' * (len(line) - len(line.lstrip()))}# {len(lines)}")
        lines.append(line + "  # behind")
    return "\n".join(lines) + "\n"


@settings(max_examples=300, deadline=None)
@given(
    st.dictionaries(NAMES, VALUES, min_size=1, max_size=4)
    | st.lists(VALUES, min_size=1, max_size=4),
    st.sampled_from(sorted(WRITERS)),
    st.booleans(),
    st.data(),
)
def test_what_is_left_is_the_value_without_the_item(
    value: Any, writer: str, crlf: bool, data: st.DataObject
) -> None:
    text = WRITERS[writer](value)
    name = "g.json" if "json" in writer else "g.yaml"
    if "json" not in writer and data.draw(st.booleans()):
        comments = commented(text)
        if parse(name, comments).value == parse(name, text).value:
            text = comments
    if crlf and "\n" not in json.dumps(value).replace("\\n", "\n"):
        text = text.replace("\n", "\r\n")
    read = parse(name, text).value
    path = data.draw(st.sampled_from(places(read)))
    after = edited(text, path, name=name)
    assert after is not None, (text, path)
    assert parse(name, after).value == without(read, path), (text, path, after)
    kept = re.findall(r"^ *# [0-9]+$", after, re.MULTILINE)
    assert set(kept) <= set(text.splitlines()), "no comment is changed"


# ---------------------------------------------------------------- rounds, and what is left out


def fixer(
    rule: Callable[[Document], list[tuple[str, str, Edit]]], errors: Callable[[str], list[str]]
) -> Fixer:
    """A fixer over a rule that gives (message, severity, edit) and errors by message."""

    def check(text: str) -> tuple[Document, list[Diagnostic]]:
        document = parse("g.yaml", text)
        found = [
            Diagnostic(
                "r",
                "style",
                severity,
                Finding(message=message, at=edit.at, fix=Fix("t", (edit,), safe=True)),
                document,
            )
            for message, severity, edit in rule(document)
        ]
        broken = [
            Diagnostic("e", "syntax", "error", Finding(message=said, at=Place(())), document)
            for said in errors(text)
        ]
        return document, [*found, *broken]

    return Fixer(check)


def remove(value: str) -> Callable[[Document], list[tuple[str, str, Edit]]]:
    """Takes every item of `a` out that is this value."""

    def rule(document: Document) -> list[tuple[str, str, Edit]]:
        items = document.value["a"] if isinstance(document.value, dict) else []
        return [
            (f"item {at}", "warning", Edit(Place(("a", at)), "", "item"))
            for at, item in enumerate(items)
            if item == value
        ]

    return rule


def test_fixes_go_on_until_nothing_is_left() -> None:
    one = fixer(remove("x"), lambda _: [])
    assert one.fix("a: [x, y, x, x, z, x]\n") == "a: [y, z]\n"
    assert one.made == {"r": 4}
    assert one.fix("a:\n  - x\n  - x\n  - x\n") == "a: []\n"


def test_a_fix_that_brings_an_error_is_left_out() -> None:
    def missing(text: str) -> list[str]:
        return [] if text.count("x") >= 2 else ["too few"]

    one = fixer(remove("x"), missing)
    fixed = one.fix("a: [x, y, x, x]\n")
    assert fixed.count("x") == 2
    assert one.left_out[0] == "line 1: the fix of r is left out: it would bring the error: too few"


def test_a_fix_that_breaks_the_file_is_left_out() -> None:
    def rule(document: Document) -> list[tuple[str, str, Edit]]:
        return [("m", "warning", Edit(Place(("a",)), "[", "replace"))]

    one = fixer(rule, lambda _: [])
    assert one.fix("a: x\n") == "a: x\n"
    assert "could not be read" in one.left_out[0]


def test_a_fix_without_end_ends() -> None:
    def rule(document: Document) -> list[tuple[str, str, Edit]]:
        return [("m", "warning", Edit(Place(("a",)), "x", "after"))]

    assert fixer(rule, lambda _: []).fix("a: x\n") == "a: " + "x" * (MOST_ROUNDS + 1) + "\n"


def unsafely_fixed(text: str) -> tuple[str, Fixer]:
    """The text after every fix of the rules."""

    def check(text: str) -> tuple[Document, list[Diagnostic]]:
        loaded = load("g.yaml", text)
        return loaded.document, lint(loaded)

    one = Fixer(check, unsafe=True)
    return one.fix(text), one


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        (  # the words of another error change with a name
            (
                "initial: u\nstates:\n  u: {type: user, transition: {next: [Tool]}}\n"
                "  Tool: {type: tool, transition: {next: [b]}}\n"
                "  b: {type: agent, transition: {next: [Tool]}}\n"
            ),
            "Tool",
            "tool",
        ),
        (  # what was held back is shown
            (
                "initial: greeet\nstates:\n  greet: {type: user, transition: {next: [greet]}}\n"
                "  b: {type: agent, transition: {next: [nowhere]}}\n"
            ),
            "greeet",
            "initial: greet",
        ),
        (
            "initial: ask\nstates:\n  ask:\n    type: user\n    transitons: {next: [nowhere, 5]}\n",
            "transitons",
            "transition",
        ),
        (
            (
                "initial: a\nstates:\n  a:\n    type: strcit\n    title: A\n"
                "    tasks: [{id: t, description: 5}]\n"
            ),
            "strcit",
            "strict",
        ),
    ],
)
def test_a_fix_that_only_shows_an_error_is_made(text: str, old: str, new: str) -> None:
    after, one = unsafely_fixed(text)
    assert new in after
    assert old not in after
    assert one.left_out == []
    again, other = unsafely_fixed(after)
    assert again == after, "nothing is left for a second run"
    assert not other.made


def test_a_state_is_not_removed_while_the_ways_to_it_are_unclear() -> None:
    text = (
        "initial: a\nstates:\n  a: {type: user, on: {say: b}}\n  b: {type: agent, edges: [c]}\n"
        "  c: {type: terminal}\n  x: {type: agent}\n"
    )
    assert unsafely_fixed(text)[0] == text


# ---------------------------------------------------------------- files

GRAPH = """\
# état 🏗
initial: "a"
states:
    'a':   {type: user,  transition: {next: a}}   # one name
"""


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_no_other_byte_changes(encoding: str, newline: str, tmp_path: Path) -> None:
    path = tmp_path / "g.yaml"
    path.write_bytes(GRAPH.replace("\n", newline).encode(encoding))
    result = validate("--fix", "--select", "scalar-next", path)
    assert result.code == 0
    assert "fixed 1 × scalar-next" in result.err
    after = GRAPH.replace("next: a}", "next: [a]}").replace("\n", newline)
    assert path.read_bytes() == after.encode(encoding)


@pytest.mark.skipif(os.name == "nt", reason="links and permissions of POSIX")
def test_links_and_permissions_stay(tmp_path: Path) -> None:
    real = tmp_path / "real.yaml"
    real.write_text(GRAPH, encoding="utf-8")
    real.chmod(0o640)
    link = tmp_path / "link.yaml"
    link.symlink_to(real)
    validate("--fix", link)
    assert link.is_symlink()
    assert "next: [a]" in real.read_text("utf-8")
    assert real.stat().st_mode & 0o777 == 0o640
    assert sorted(os.listdir(tmp_path)) == ["link.yaml", "real.yaml"]


def test_diff_changes_nothing_and_can_be_applied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import shutil
    import subprocess

    monkeypatch.chdir(tmp_path)
    path = tmp_path / "g.yaml"
    before = GRAPH.rstrip("\n").replace('initial: "a"\n', "").encode("utf-8-sig")
    path.write_bytes(before)
    result = run("validate", "--diff", "g.yaml")
    assert result.code == 1
    assert path.read_bytes() == before
    assert "would fix" in result.err
    if shutil.which("git"):
        subprocess.run(["git", "apply", "-"], input=result.out.encode(), check=True)
        assert run("validate", "--diff", "g.yaml").out == ""
        assert run("validate", "--diff", "g.yaml").code == 0


def test_every_fix_of_every_bad_example_keeps_the_file_readable(tmp_path: Path) -> None:
    from test_rules import examples

    from statecli.lint.rule import rules

    fixed: set[str] = set()
    for rule in rules():
        for text in examples(rule, "Bad"):
            path = tmp_path / ("g.json" if text.startswith('{"') else "g.yaml")
            path.write_text(text, encoding="utf-8")
            before = validate("--extend-select", "all", path).diagnostics
            run("validate", "--fix", "--unsafe-fixes", "--select", rule, path)
            after = validate("--extend-select", "all", path).diagnostics
            if path.read_text("utf-8") != text:
                fixed.add(rule)
                assert "parse-error" not in [item["rule"] for item in after]
                gone = [i["rule"] for i in before].count(rule)
                assert [i["rule"] for i in after].count(rule) < gone, (rule, path.read_text())
            path.unlink()
    assert len(fixed) > 15
