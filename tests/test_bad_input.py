"""Bad input gets one clear message at the right place, the right exit code, never a traceback."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from run_cli import Result, check, end, run, start, validate, words

Point = tuple[int, int]
GOOD = "{initial: a, states: {a: {type: terminal}}}\n"
GOOD_JSON = '{"initial": "a", "states": {"a": {"type": "terminal"}}}\n'


def one(result: Result, rule: str = "parse-error") -> dict[str, object]:
    """The only diagnostic, which is an error of RULE."""
    assert [(d["rule"], d["severity"]) for d in result.diagnostics] == [(rule, "error")], (
        result.diagnostics
    )
    assert result.code == 1
    return dict(result.diagnostics[0])


def place(text: str, wanted: str) -> Point:
    """Line and column of WANTED by Python's own indexing; only LF and CRLF end a line."""
    offset = text.index(wanted)
    return text.count("\n", 0, offset) + 1, offset - (text.rfind("\n", 0, offset) + 1) + 1


@dataclass(frozen=True)
class Bad:
    """One broken text: what must be said of it, and where (§ marks the place)."""

    name: str
    text: str
    says: str = ""
    file: str = "g.yaml"
    rule: str = "parse-error"
    lines: int = 0  # when set, only the line is known: any of the line of § and this many after

    def place(self) -> Point:
        """Where the mark stands."""
        return place(self.text, "§")


BAD = [
    Bad("not yaml", "initial: a\nstates: {a: {type: user, §]}\n"),
    Bad("bracket never closed", "{initial: a, states: {a: §["),
    Bad(
        "tab as indentation",
        "initial: a\nstates:\n§\ta:\n\t\ttype: terminal\n",
        "tab",
    ),
    Bad("tab deeper in", "initial: a\nstates:\n  a:\n§\ttype: terminal\n", "tab"),
    Bad("dedent to nowhere", "initial: a\nstates:\n    a:\n      type: user\n  §b: {}\n", "indent"),
    Bad(
        "colon in a text", "initial: a\ndescription: ask§: what\nstates: {a: {type: user}}", "quote"
    ),
    Bad("at sign", "initial: a\ndescription: §@x\nstates: {a: {type: terminal}}\n", "quote"),
    Bad("backtick", "initial: a\ndescription: §`x`\nstates: {a: {type: terminal}}\n", "quote"),
    Bad("percent", "initial: a\ndescription: §%x\nstates: {a: {type: terminal}}\n", "quote"),
    Bad(
        "brace and a word",
        "initial: a\nstates:\n  a:\n    type: agent\n    prompt: {name} §please\n",
        "quote",
    ),
    Bad("unknown alias", "initial: a\nstates: {a: {type: terminal, description: §*nobody}}\n"),
    Bad(
        "tag that would run code",
        'initial: a\nstates: {a: {type: terminal, x-y: §!!python/object/apply:os.system ["id"]}}\n',
        "!!python",
    ),
    Bad("NUL", "initial: a\nstates: {a: {type: terminal, description: x§\0y}}\n"),
    Bad("escape code", "initial: a\nstates: {a: {type: terminal, description: x§\x1by}}\n"),
    Bad(
        "second document",
        "initial: a\nstates: {a: {type: terminal}}\n§---\ninitial: b\n",
        "document",
    ),
    Bad(
        "unknown escape",
        'initial: a\ndescription: "x §\\q"\nstates: {a: {type: terminal}}\n',
        lines=1,
    ),
    # JSON
    Bad(
        "JSON: trailing comma",
        '{"initial": "a", "states": {"a": {"type": "terminal"§,}}}',
        "comma",
        "g.json",
    ),
    Bad(
        "JSON: trailing comma in a list",
        '{"initial": "a", "states": {\n  "a": {"type": "user", "transition": {"next": ["a"§, ]}}}}',
        "comma",
        "g.json",
    ),
    Bad(
        "JSON: comment",
        '{\n  §// where it starts\n  "initial": "a", "states": {"a": {"type": "terminal"}}}',
        "comment",
        "g.json",
    ),
    Bad(
        "JSON: long comment",
        '{"initial": "a", §/* all */ "states": {"a": {"type": "terminal"}}}',
        "comment",
        "g.json",
    ),
    Bad(
        "JSON: NaN",
        '{"initial": "a", "states": {"a": {"type": "terminal", "x-n": §NaN}}}',
        "nan",
        "g.json",
    ),
    Bad(
        "JSON: -Infinity",
        '{"initial": "a", "states": {"a": {"type": "terminal", "x-n": §-Infinity}}}',
        "infinity",
        "g.json",
    ),
    Bad(
        "JSON: single quotes",
        '{"initial": §\'a\', "states": {}}',
        "quote",
        "g.json",
    ),
    Bad(
        "JSON: comma forgotten",
        '{"initial": "a"\n §"states": {"a": {"type": "terminal"}}}',
        "",
        "g.json",
    ),
    Bad("JSON: cut off", '{"initial": "a", "states": {"a": {"type": "term§', "", "g.json"),
    Bad("JSON: something after it", GOOD_JSON + '§{"initial": "b"}', "", "g.json"),
]


@pytest.mark.parametrize("bad", BAD, ids=lambda b: b.name)
def test_broken_text(bad: Bad, tmp_path: Path) -> None:
    found = one(check(tmp_path, f"graphs/{bad.file}", bad.text.replace("§", "")), bad.rule)
    assert bad.says in words(found)
    assert end(found) >= start(found)
    if bad.name == "JSON: cut off":
        assert start(found)[0] == 1
    elif bad.lines:
        assert 0 <= start(found)[0] - bad.place()[0] <= bad.lines
    else:
        assert start(found) == bad.place()


def test_a_tag_runs_nothing(tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    tag = f'!!python/object/apply:os.system ["touch {ran}"]'
    found = one(check(tmp_path, "graphs/g.yaml", f"initial: a\nstates: {tag}\n"))
    assert "!!python" in words(found)
    assert start(found) == (2, 9)
    assert not ran.exists()


# ---------------------------------------------------------------- nothing in it

EMPTY = {
    "empty": "",
    "only white space": "\n  \n\n",
    "only comments": "# moved to another file\n# see there\n",
    "a list": "[a, b]\n",
    "a text": "hello\n",
    "a number": "42\n",
    "null": "null\n",
}


@pytest.mark.parametrize("text", EMPTY.values(), ids=list(EMPTY))
def test_nothing_in_it(text: str, tmp_path: Path) -> None:
    skipped = check(tmp_path, "any.yaml", text)
    assert (skipped.code, skipped.diagnostics) == (0, [])
    assert skipped.data["summary"]["skipped"] == 1
    for args in (
        ("graphs/g.yaml",),
        ("any.yaml", "--strict-input"),
        ("any.yaml", "--form", "states"),
    ):
        found = one(check(tmp_path, args[0], text, *args[1:]), "missing-states")
        assert start(found)[0] == 1


@pytest.mark.parametrize("text", ["", "[]", '"hello"', "null", "42"])
def test_nothing_in_json(text: str, tmp_path: Path) -> None:
    one(check(tmp_path, "graphs/g.json", text), "missing-states")


def test_a_header_before_one_document_is_fine(tmp_path: Path) -> None:
    text = f"# a header\n---\n{GOOD}"
    assert check(tmp_path, "graphs/g.yaml", text).diagnostics == []
    assert check(tmp_path, "graphs/h.yaml", f"%YAML 1.2\n---\n{GOOD}...\n").diagnostics == []


def test_files_that_are_no_graph_are_skipped(tmp_path: Path) -> None:
    compose = "services:\n  web:\n    image: nginx\n"
    result = check(tmp_path, "docker-compose.yml", compose)
    assert (result.code, result.diagnostics) == (0, [])
    broken = check(tmp_path, "notes.yaml", "one: [two\n")
    assert (broken.code, broken.diagnostics) == (0, [])


# ---------------------------------------------------------------- keys twice, merge keys, NBSP


@pytest.mark.parametrize("name", ["g.yaml", "g.json"])
def test_a_key_twice_and_the_rest_is_still_checked(name: str, tmp_path: Path) -> None:
    text = (
        '{"initial": "a",\n "states": {\n'
        '  "a": {"type": "user", "transition": {"next": ["b"], "next": ["b"]}},\n'
        '  "b": {"type": "agent", "transition": {"next": ["gone"]}}}}\n'
    )
    result = check(tmp_path, name, text)
    (twice,) = result.of("duplicate-key")
    line = text.splitlines()[2]
    second = line.rindex('"next"') + 1
    assert start(twice) in {(3, second), (3, second + 1)}
    first = line.index('"next"') + 1
    assert {start(r) for r in twice["related"]} & {(3, first), (3, first + 1)}
    assert "3" in twice["message"] or twice["related"]
    (gone,) = result.of("undefined-target")
    assert start(gone)[0] == 4
    assert result.code == 1


def test_two_states_of_one_name(tmp_path: Path) -> None:
    text = (
        "initial: a\nstates:\n  a: {type: user, transition: {next: [a]}}\n  a: {type: terminal}\n"
    )
    (twice,) = check(tmp_path, "g.yaml", text).of("duplicate-key")
    assert (start(twice), end(twice)) == ((4, 3), (4, 4))
    assert [start(r) for r in twice["related"]] == [(3, 3)]


def test_a_merge_key_is_merged_or_pointed_at(tmp_path: Path) -> None:
    text = (
        "x-base: &base {type: user, description: d}\ninitial: a\nstates:\n"
        "  a:\n    <<: *base\n    transition: {next: [a, b]}\n"
        "  b: {type: terminal, description: e}\n"
    )
    result = check(tmp_path, "g.yaml", text)
    if result.diagnostics:
        assert start(result.diagnostics[0]) == (5, 5)
        assert "<<" in words(result.diagnostics[0])
        assert len(result.diagnostics) <= 2  # the kind of 'a' is not known without the merge


def test_anchors_and_aliases_are_read(tmp_path: Path) -> None:
    text = (
        "initial: a\nstates:\n  a: &a\n    type: agent\n    transition: &t {next: [c, gone]}\n"
        "  b: *a\n  c: {type: agent, description: d, transition: *t}\n"
    )
    result = check(tmp_path, "g.yaml", text)
    assert {start(d) for d in result.of("undefined-target")} == {place(text, "gone")}


def test_a_no_break_space_in_the_indentation(tmp_path: Path) -> None:
    text = "initial: a\nstates:\n  a:\n    type: user\n\u00a0   transition: {next: [a]}\n"
    result = check(tmp_path, "g.yaml", text)
    (found,) = [d for d in result.diagnostics if d["severity"] != "info"]
    assert "no-break space" in words(found)
    assert start(found) == (5, 1)


def test_a_template_without_quotes(tmp_path: Path) -> None:
    text = (
        "initial: a\nstates:\n  a:\n    type: agent\n    prompt: {{name}}\n"
        "    writes: [name]\n    transition: {next: [b]}\n  b: {type: terminal}\n"
    )
    found = one(check(tmp_path, "g.yaml", text), "wrong-value-type")
    assert start(found) == (5, 13)
    assert "quote" in words(found)


# ---------------------------------------------------------------- deep and big

DEEP = 10_000
DEEPS = {
    "YAML flow": (
        "g.yaml",
        "initial: a\nstates: {a: {type: terminal}}\nx-deep: " + "[" * DEEP + "]" * DEEP,
    ),
    "YAML flow mappings": ("g.yaml", "initial: a\nstates: " + "{a: " * DEEP + "1" + "}" * DEEP),
    "YAML block": (
        "g.yaml",
        "initial: a\nstates: {a: {type: terminal}}\nx-deep:\n  " + "- " * DEEP + "x\n",
    ),
    "JSON": (
        "g.json",
        '{"initial": "a", "states": {"a": {"type": "terminal"}}, "x-deep": '
        + "[" * DEEP
        + "]" * DEEP
        + "}",
    ),
    "JSON mappings": (
        "g.json",
        '{"initial": "a", "states": ' + '{"a": ' * DEEP + "1" + "}" * DEEP + "}",
    ),
    "YAML never closed": ("g.yaml", "initial: a\nstates: " + "[" * DEEP),
    "JSON never closed": ("g.json", '{"initial": "a", "states": ' + "[" * DEEP),
}


@pytest.mark.parametrize("case", DEEPS)
def test_deep_nesting(case: str, tmp_path: Path) -> None:
    name, text = DEEPS[case]
    began = time.process_time()
    found = one(check(tmp_path, f"graphs/{name}", text))
    assert time.process_time() - began < 10
    assert min(start(found)) >= 1
    if "never" not in case:
        assert "deep" in words(found) or "nest" in words(found)


def test_sixty_levels_are_not_deep(tmp_path: Path) -> None:
    text = "initial: a\nstates: {a: {type: terminal}}\nmetadata: {x: " + "[" * 60 + "]" * 60 + "}\n"
    assert check(tmp_path, "g.yaml", text).diagnostics == []


def bomb() -> str:
    """9^9 texts, in 10 lines."""
    lines = ["a1: &a1 [x, x, x, x, x, x, x, x, x]"]
    for level in range(2, 10):
        inner = ", ".join([f"*a{level - 1}"] * 9)
        lines.append(f"a{level}: &a{level} [{inner}]")
    return "\n".join(lines)


@pytest.mark.parametrize(
    "tail",
    [
        "transition: {next: *a9}",
        "transition: {next: [a]}, x-all: *a9",
        "description: *a9",
        "reads: *a9",
    ],
)
def test_an_alias_bomb(tail: str, tmp_path: Path) -> None:
    inner = "\n".join(f"  {line}" for line in bomb().splitlines())
    text = f"initial: a\nx-bomb:\n{inner}\nstates:\n  a: {{type: user, {tail}}}\n"
    began = time.process_time()
    result = check(tmp_path, "graphs/g.yaml", text)
    assert time.process_time() - began < 10
    errors = [d for d in result.diagnostics if d["severity"] == "error"]
    assert len(errors) == 1, errors
    assert result.code == 1
    assert len(result.out) < 20_000
    assert "alias" in words(errors[0]) or start(errors[0])[0] == 13


@pytest.mark.parametrize(
    "text",
    [
        "initial: a\nstates: &s\n  a: {type: user, transition: {next: [a]}, x-all: §*s}\n",
        "initial: a\nstates: &s {a: §*s}\n",
        "initial: a\nstates:\n  a: &a {type: user, transition: {next: &n [a, §*n]}}\n",
    ],
    ids=["deep inside", "as a state", "in a list"],
)
def test_an_alias_to_itself(text: str, tmp_path: Path) -> None:
    result = check(tmp_path, "graphs/g.yaml", text.replace("§", ""))
    found = one(result)
    assert "alias" in words(found) or "itself" in words(found)
    anchor = re.sub("§.*", "", text, flags=re.DOTALL).rindex("&" + text[text.index("*") + 1])
    assert start(found) in {place(text, "§*"), place(text, text[anchor : anchor + 3])}


@pytest.mark.slow
def test_slow_a_hundred_megabytes(tmp_path: Path) -> None:
    path = tmp_path / "graphs" / "big.yaml"
    path.parent.mkdir()
    line = b"  # a line of a file that nobody wrote by hand\n"
    with path.open("wb") as out:
        out.write(GOOD.encode())
        block = line * (1_000_000 // len(line) + 1)
        for _ in range(100):
            out.write(block)
    assert path.stat().st_size > 100_000_000
    began = time.process_time()
    result = validate("--format", "concise", path)
    assert time.process_time() - began < 3, "it was read"
    path.unlink()
    said = (result.out + result.err).lower()
    assert result.code in {1, 2}
    assert "big.yaml" in said
    assert "mb" in said or "mib" in said
    assert len(said.splitlines()) <= 3


# ---------------------------------------------------------------- bytes


def test_binary(tmp_path: Path) -> None:
    found = one(check(tmp_path, "graphs/g.yaml", bytes(range(256)) * 4))
    assert start(found) in {(1, 1), (2, 118)}, "the NUL, or the first byte that is not UTF-8"
    assert len(str(found["message"])) < 200


def test_latin_1(tmp_path: Path) -> None:
    text = 'initial: a\nstates:\n  a: {type: terminal, description: "café"}\n'
    for name in ("g.yaml", "g.json"):
        source = (
            text
            if name == "g.yaml"
            else '{"initial": "a",\n"states": {\n"a": {"description": "café"}}}'
        )
        found = one(check(tmp_path, f"graphs/{name}", source.encode("latin-1")))
        line = source.splitlines()[2]
        assert start(found) == (3, line.index("é") + 1)
        assert "utf-8" in words(found)


@pytest.mark.parametrize("name", ["g.yaml", "g.json"])
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-be", "utf-16-le"])
def test_a_byte_order_mark_is_accepted_and_shifts_nothing(
    name: str, encoding: str, tmp_path: Path
) -> None:
    text = '{"initial": "a", "states": {"a": {"type": "user", "transition": {"next": ["é状🏗"]}}}}'
    mark = "\ufeff" if encoding in {"utf-16-be", "utf-16-le"} else ""
    (found,) = check(tmp_path, name, (mark + text).encode(encoding)).of("undefined-target")
    column = text.index('"é') + 1
    assert start(found) == (1, column)
    assert end(found) == (1, column + 5)


def test_a_byte_order_mark_survives_a_fix(tmp_path: Path) -> None:
    text = "initial: a\r\nstates:\r\n  a: {type: user, transition: {next: a}}\r\n"
    for encoding in ("utf-8-sig", "utf-8"):
        check(tmp_path, "g.yaml", text.encode(encoding), "--select", "scalar-next", "--fix")
        after = (tmp_path / "g.yaml").read_bytes()
        assert after == text.replace("next: a}", "next: [a]}").encode(encoding)


# ---------------------------------------------------------------- files


def refused(result: Result, name: str) -> None:
    """It could not be done, and the file is named in one short message."""
    assert result.code == 2
    said = result.out + result.err
    assert name in said
    assert len(result.err.splitlines()) <= 4


def test_a_missing_file(tmp_path: Path) -> None:
    refused(validate(tmp_path / "nobody.yaml"), "nobody.yaml")
    refused(validate("--format", "text", tmp_path / "nobody.yaml"), "nobody.yaml")


def test_a_broken_link(tmp_path: Path) -> None:
    (tmp_path / "link.yaml").symlink_to(tmp_path / "nobody.yaml")
    refused(validate(tmp_path / "link.yaml"), "link.yaml")


def test_a_link_to_itself(tmp_path: Path) -> None:
    (tmp_path / "loop.yaml").symlink_to(tmp_path / "loop.yaml")
    refused(validate(tmp_path / "loop.yaml"), "loop.yaml")


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything"
)
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    path = tmp_path / "secret.yaml"
    path.write_text(GOOD, encoding="utf-8")
    path.chmod(0)
    refused(validate(path), "secret.yaml")


def test_a_folder_with_the_name_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").mkdir()
    assert validate(tmp_path / "x.yaml").code == 2
    (tmp_path / "x.yaml" / "g.yaml").write_text(GOOD, encoding="utf-8")
    result = validate(tmp_path / "x.yaml")
    assert (result.code, result.data["summary"]["graphs"]) == (0, 1)
    assert validate(tmp_path).data["summary"]["graphs"] == 1


def test_a_folder_that_holds_itself(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "g.yaml").write_text(GOOD, encoding="utf-8")
    (tmp_path / "sub" / "again").symlink_to(tmp_path)
    (tmp_path / "dead.yaml").symlink_to(tmp_path / "nobody")
    result = validate(tmp_path)
    assert result.code == 0
    assert result.data["summary"]["graphs"] == 1


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    (tmp_path / "g.yaml").write_text(GOOD, encoding="utf-8")
    result = validate(tmp_path)
    assert (result.code, result.data["summary"]["graphs"]) == (0, 1)


def test_a_file_listed_twice_is_checked_once(tmp_path: Path) -> None:
    path = tmp_path / "g.yaml"
    path.write_text("{initial: z, states: {a: {type: terminal}}}", encoding="utf-8")
    result = validate(path, path, tmp_path)
    assert result.data["summary"]["graphs"] == 1
    assert len(result.of("undefined-initial")) == 1


@pytest.mark.parametrize("text", [*EMPTY.values(), "{initial: a, states: {a: [", "\0", "a: b: c"])
def test_bad_input_on_stdin(text: str) -> None:
    result = validate("-", "--form", "states", stdin=text)
    assert result.code == 1
    assert len(result.diagnostics) == 1


# ---------------------------------------------------------------- columns

LONG = "x" * 10_000
TAIL = 'transition: {next: ["gone"]}'
JSON_TAIL = '"transition": {"next": ["gone"]}'


def in_yaml(description: str) -> str:
    """A graph with DESCRIPTION before the wrong name, on one line."""
    return f'initial: a\nstates:\n  a: {{type: user, description: "{description}", {TAIL}}}\n'


def in_json(description: str) -> str:
    """The same in JSON, all on line 1."""
    state = f'{{"type": "user", "description": "{description}", {JSON_TAIL}}}'
    return f'{{"initial": "a", "states": {{"a": {state}}}}}\n'


FOLDED = "    description: >\n      状 one\n      two\n\n      three\n"
CONTEXTS = {
    "plain": f"initial: a\nstates:\n  a: {{type: user, {TAIL}}}\n",
    "emoji before it": in_yaml("🏗️ 👨‍👩‍👧 🇨🇭"),
    "CJK before it": in_yaml("状態の説明"),
    "combining letters": in_yaml("e\u0301e\u0301"),
    "tabs inside the line": f"initial: a\nstates:\n  a: {{type:\tuser,\t{TAIL}}}\n",
    "a long line": in_yaml(LONG),
    "after a folded text": f"initial: a\nstates:\n  a:\n{FOLDED}    type: user\n    {TAIL}\n",
    "after a text over two lines": in_yaml("one\n    🏗 two"),
    "line ends that are none": in_yaml("x\u2028y\u0085z\u2029w"),
    "no-break space before": f"initial: a\n# x\u00a0y\nstates:\n  a: {{type: user, {TAIL}}}\n",
    "no line end at the end": f"initial: a\nstates: {{a: {{type: user, {TAIL}}}}}",
    "JSON": f'{{"initial": "a",\n "states": {{"a": {{"type": "user", {JSON_TAIL}}}}}}}\n',
    "JSON with tabs": f'{{\t"initial":\t"a",\n\t"states": {{"a": {{\t{JSON_TAIL}}}}}}}',
    "JSON with emoji": in_json("🏗️状é"),
    "JSON with escapes": in_json('\\ud83c\\udfd7\\n\\"'),
    "JSON on a long line": in_json(LONG),
}


@pytest.mark.parametrize("wrap", ["as it is", "CRLF", "BOM", "BOM and CRLF"])
@pytest.mark.parametrize("name", CONTEXTS)
def test_columns(name: str, wrap: str, tmp_path: Path) -> None:
    text = CONTEXTS[name]
    line, column = place(text, '"gone"')
    if "CRLF" in wrap:
        text = text.replace("\n", "\r\n")
    data = text.encode("utf-8-sig" if "BOM" in wrap else "utf-8")
    result = check(tmp_path, "g.json" if name.startswith("JSON") else "g.yaml", data)
    (found,) = result.of("undefined-target")
    assert start(found) == (line, column)
    assert end(found) == (line, column + 6)
    assert result.of("parse-error") == []


# ---------------------------------------------------------------- every shape

WHOLE: dict[str, dict[str, Any]] = {
    "states": {
        "initial": "a",
        "entry_transitions": ["a"],
        "fields": {
            "n": {"type": "int", "default": 0, "reducer": "increment"},
            "e": {"type": "enum", "values": ["x", "y"]},
        },
        "tools": {"files": {"command": ["serve"], "env": {"A": "b"}}, "f": {"python": "m:f"}},
        "model": {"name": "m", "prices": {"input": 1, "output": 2}},
        "limits": {"max_steps": 10},
        "states": {
            "a": {
                "type": "agent",
                "reads": ["n"],
                "writes": ["e"],
                "tags": ["t"],
                "on_error": "b",
                "model": {"temperature": 0},
                "transition": {
                    "fanout": "first",
                    "next": [
                        {"to": "b", "when": {"e": "x", "n__gt": 3}, "priority": 1},
                        {"to": "c", "when": "n > 3 and e == 'y'", "group": "g"},
                        {"to": "p", "when": {"condition_type": "deliverable_exists"}},
                        "b",
                    ],
                },
            },
            "b": {"type": "tool", "tool": "f", "arguments": {"q": "{{n}}"}, "transition": {}},
            "c": {"type": "verifier", "join": "all", "merge": {"g": "append"}},
            "p": {"type": "loose", "title": "P", "tasks": [{"id": "t", "description": "d"}]},
        },
    },
    "plan": {
        "id": "p",
        "title": "P",
        "initial_state_id": "a",
        "session_context": {"fields": [{"id": "x", "label": "X", "options": ["o"]}]},
        "metadata": {"plan_builder": {"start": {"agent_spawn_mode": "immediate"}}},
        "states": [
            {
                "id": "a",
                "title": "A",
                "type": "strict",
                "tasks": [
                    {
                        "id": "t",
                        "description": "d",
                        "deliverables": [
                            {"key": "k", "type": "enum", "enum_values": ["x", "y"]},
                            {"key": "n", "type": "number", "examples": ["1"]},
                        ],
                    }
                ],
                "transitions": [
                    {
                        "target_state_id": "g",
                        "condition_type": "all_of",
                        "priority": 1,
                        "condition_config": {
                            "conditions": [
                                {
                                    "condition_type": "deliverable_value_in",
                                    "condition_config": {"key": "k", "values": ["x"]},
                                },
                                {
                                    "condition_type": "deliverable_value_numeric",
                                    "condition_config": {
                                        "key": "n",
                                        "operator": "between",
                                        "min": 1,
                                        "max": 2,
                                        "inclusive": True,
                                    },
                                },
                            ]
                        },
                    },
                    {
                        "target_state_id": "g",
                        "condition_type": "turn_count_exceeded",
                        "condition_config": {"turns": 3, "scope": "session"},
                    },
                ],
            },
            {
                "id": "g",
                "title": "G",
                "type": "goal",
                "goal": {"objective": "o", "deliverables": [{"key": "m"}]},
                "transitions": [{"target_state_id": "__end__"}],
            },
        ],
    },
}
ODD: list[Any] = [
    None,
    5,
    -0.5,
    True,
    "",
    "no such thing",
    [],
    {},
    [None],
    [[]],
    [5, "a"],
    {"a": 1},
]


def odd_ones(value: Any) -> Iterator[Any]:
    """VALUE with one part of it replaced by something odd, for every part and every odd thing."""
    yield from ODD
    parts: Iterable[tuple[Any, Any]] = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, inner in parts:
        for other in odd_ones(inner):
            copied = value.copy()
            copied[key] = other
            yield copied
    if isinstance(value, dict):
        for key in value:
            yield {name: inner for name, inner in value.items() if name != key}
            yield {("" if name == key else name): inner for name, inner in value.items()}


@pytest.mark.parametrize("form", WHOLE)
def test_no_shape_is_a_fault(form: str, tmp_path: Path) -> None:
    """Whatever stands in a place, it is told, and the rest is read; one run over many files."""
    folder = tmp_path / "graphs"
    folder.mkdir()
    for number, graph in enumerate(odd_ones(WHOLE[form])):
        (folder / f"{number:04}.json").write_text(json.dumps(graph), encoding="utf-8")
    result = validate(folder)
    if result.code == 2:  # find the one that does it
        for path in sorted(folder.iterdir()):
            single = run("validate", "--no-verify", path)
            assert single.code != 2, path.read_text(encoding="utf-8")
    assert result.code == 1
    assert result.data["summary"]["graphs"] > 500
    for d in result.diagnostics:
        assert (1, 1) <= start(d) < end(d), d
        assert d["message"], d
