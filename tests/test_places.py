"""Every place that a message or a fix points at: keys, values, and single characters inside text,
in all the ways that YAML and JSON write it."""

from __future__ import annotations

import json
from typing import NamedTuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from statecli.model.span import Path, Place
from statecli.text import reading
from statecli.text.characters import content_places
from statecli.text.document import Document


def places(document: Document, path: Path) -> list[int]:
    node = document.node(path)
    assert node is not None
    return content_places(document.text, node)


def cut(document: Document, path: Path, within: tuple[int, int]) -> str:
    start, end = document.offsets(Place(path, "value", within))
    return document.text[start:end]


# --- one character after the other, in random texts ---------------------------------------------


class Piece(NamedTuple):
    """Something as it stands in the text, and the characters that it means, each with its place
    inside `written`."""

    written: str
    meant: str
    at: tuple[int, ...] = (0,)


LETTERS = "abcXYZ019é状態🏗😀\u0301_"
MARKS = "{}[]%@!&*.;/|<>=+-,()$"
WORD = st.text(LETTERS + MARKS, min_size=0, max_size=5).map(lambda body: f"a{body}b")


def literally(text: str) -> Piece:
    return Piece(text, text, tuple(range(len(text))))


def written(pieces: list[Piece]) -> str:
    return "".join(piece.written for piece in pieces)


def expected(pieces: list[Piece], start: int) -> list[tuple[str, int]]:
    """The content characters with their places, when the pieces begin at `start`."""
    found: list[tuple[str, int]] = []
    for piece in pieces:
        for char, at in zip(piece.meant, piece.at, strict=True):
            found.append((char, start + at))
        start += len(piece.written)
    return found


def holds(before: str, pieces: list[Piece], after: str, suffix: str = ".yaml") -> None:
    """The document has the content that the pieces mean, and knows where each of it stands."""
    path: Path = ("k",)
    document = reading.parse(f"g{suffix}", before + written(pieces) + after)
    assert not [problem.message for problem in document.problems]
    wanted = expected(pieces, len(before))
    node = document.node(path)
    assert node is not None
    assert node.text == "".join(char for char, _ in wanted)
    assert places(document, path) == [at for _, at in wanted]


ESCAPES = st.sampled_from(
    [
        Piece(r"\n", "\n"), Piece(r"\t", "\t"), Piece(r"\"", '"'), Piece(r"\\", "\\"),
        Piece(r"\/", "/"), Piece(r"\u00e9", "é"), Piece(r"\u72b6", "状"), Piece(r"\b", "\b"),
    ]
)  # fmt: skip
YAML_ESCAPES = st.sampled_from(
    [
        Piece(r"\x41", "A"), Piece(r"\U0001F3D7", "🏗"), Piece(r"\e", "\x1b"), Piece(r"\0", "\0"),
        Piece(r"\ ", " "), Piece("\\\t", "\t"), Piece(r"\N", "\x85"), Piece(r"\_", "\xa0"),
        Piece(r"\L", "\u2028"), Piece(r"\P", "\u2029"), Piece(r"\a", "\a"), Piece(r"\v", "\v"),
    ]
)  # fmt: skip
JSON_ESCAPES = st.sampled_from(
    [
        Piece(r"\ud83c\udfd7", "🏗"), Piece(r"\uD83D\uDE00", "😀"), Piece(r"\f", "\f"),
        Piece(r"\ud83c\udfd7\u0041", "🏗A", (0, 12)),
    ]
)  # fmt: skip
BREAKS = st.sampled_from(["\n", "\r\n"])


@given(st.lists(st.one_of(WORD.map(literally), ESCAPES, JSON_ESCAPES, st.just(literally("  ")))))
def test_json_text(pieces: list[Piece]) -> None:
    holds('{"é": 1, "k" : "', pieces, '"}', ".json")


@st.composite
def folding(draw: st.DrawFn, newline: str) -> Piece:
    """A line end in a quoted or plain text: one becomes a blank, each further one a line end.
    Blanks around it are nothing."""
    before = draw(st.sampled_from(["", " ", " \t"]))
    between = [draw(st.sampled_from(["", " ", "  "])) for _ in range(draw(st.integers(0, 2)))]
    text, at = before + newline, [len(before)]
    for blank in between:
        at.append(len(text) + len(blank))
        text += blank + newline
    text += draw(st.sampled_from(["  ", "   ", "  \t"]))
    return Piece(text, "\n" * len(between) or " ", tuple(at[1:] or at))


@st.composite
def continued(draw: st.DrawFn, newline: str) -> Piece:
    """A line end behind a backslash is nothing; further ones are line ends."""
    empty = draw(st.integers(0, 2))
    return Piece(
        "\\" + newline * (1 + empty) + "   ",
        "\n" * empty,
        tuple(1 + len(newline) * (number + 1) for number in range(empty)),
    )


@st.composite
def flow(draw: st.DrawFn, style: str) -> tuple[str, list[Piece]]:
    """The text between the quotes, or plain, beginning and ending with a word."""
    newline = draw(BREAKS)
    marks = MARKS if style else ".;/|<=+$()-"
    body = st.text(LETTERS + marks, max_size=5).map(lambda inside: f"a{inside}b")
    words: list[st.SearchStrategy[Piece]] = [body.map(literally)]
    if style == '"':
        words += [ESCAPES, YAML_ESCAPES]
    if style == "'":
        words.append(st.just(Piece("''", "'")))
    between: list[st.SearchStrategy[Piece]] = [
        st.just(literally("")), st.just(literally(" ")), st.just(literally("  ")), folding(newline)
    ]  # fmt: skip
    if style == '"':
        between.append(continued(newline))
    pieces = [literally("a")]
    for _ in range(draw(st.integers(0, 6))):
        pieces.append(draw(st.one_of(between)))
        pieces.append(draw(st.one_of(words)))
    return newline, pieces


@pytest.mark.parametrize("style", ["", "'", '"'])
@given(data=st.data())
def test_yaml_in_a_line_or_folded(style: str, data: st.DataObject) -> None:
    newline, pieces = data.draw(flow(style))
    prefix = data.draw(st.sampled_from(["", "&anchor ", "!!str ", "&a !!str  "]))
    before = f"é: 1{newline}k:  {prefix}{style}"
    holds(before, pieces, f"{style}   # end{newline}z: 2{newline}")


@st.composite
def block(draw: st.DrawFn) -> tuple[str, str, list[str], int]:
    """Header, line end, content lines (each without indentation), indentation."""
    style = draw(st.sampled_from("|>"))
    newline = draw(BREAKS)
    indent = draw(st.integers(1, 4))
    chomp = draw(st.sampled_from(["", "-", "+"]))
    given_indent = draw(st.booleans())
    word = st.text(LETTERS + MARKS + " #:'\"", min_size=1, max_size=6).filter(lambda t: t.strip())
    line = st.one_of(
        word.map(str.strip),
        word.map(lambda text: text.strip() + "  "),
        word.map(lambda text: "  " + text),
        word.map(lambda text: "\t" + text),
        st.just(""),
    )
    lines = draw(st.lists(line, max_size=7))
    first = next((text for text in lines if text), "")
    if first.startswith((" ", "\t")):
        given_indent = True
    header = style + (str(indent) if given_indent else "") + chomp
    if draw(st.booleans()):
        header += "  # note"
    return header, newline, lines, indent


@given(block(), st.booleans())
@example((">", "\n", ["a", "", " b", "", "c", "d"], 2), True)
@example((">2-", "\n", ["  a", "b"], 2), True)
@example(("|+", "\n", ["", "a", "", ""], 2), False)
def test_yaml_blocks(parts: tuple[str, str, list[str], int], last: bool) -> None:
    header, newline, lines, indent = parts
    body = newline.join(" " * indent + line if line else "" for line in lines)
    text = f"é: 1{newline}k: {header}{newline}{body}"
    if not last:
        text += f"{newline}z: 2{newline}"
    document = reading.parse("g.yaml", text)
    assert not [problem.message for problem in document.problems]
    node = document.node(("k",))
    assert node is not None
    found = places(document, ("k",))
    assert len(found) == len(node.text)
    assert found == sorted(set(found)), "each character has a place of its own, in order"
    for char, at in zip(node.text, found, strict=True):
        if char in " \n":
            assert text[at] in " \r\n" or at == len(text)
        else:
            assert text[at] == char
    # No word of the text is left out.
    seen = "".join(text[at] for at in found if at < len(text))
    assert "".join(seen.split()) == "".join("".join(lines).split())


# --- by hand ------------------------------------------------------------------------------------

FOLDED = (
    "k: >-\n"
    "  one\n"
    "  two {{ x }}\n"
    "\n"
    "    more {{ y }}\n"
    "  end {{ z }}\n"
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "word", "line", "column"),
    [
        (FOLDED, "x", 3, 10),
        (FOLDED, "y", 5, 13),
        (FOLDED, "z", 6, 10),
        ("k: |\n  one\n\n  two {{ x }}\n", "x", 4, 10),
        ("k: |1-\n    x\n", "x", 2, 5),
        ("k: 'it''s {{ x }}'\n", "x", 1, 14),
        ('k: "\\u00e9\\t\\"{{ x }}"\n', "x", 1, 18),
        ("k: plain\n  and {{ x }}\n", "x", 2, 10),
        ("k: 🏗️状態 {{ x }}\n", "x", 1, 12),
        ("k:\r\n  - 'a\r\n\r\n    x'\r\n", "x", 4, 5),
        ("k: &a 'x'\n", "x", 1, 8),
        ("k: !!str &a\n  x\n", "x", 2, 3),
        ("k: !<tag:yaml.org,2002:str> x\n", "x", 1, 29),
        ("k: a\u2028x\n", "x", 1, 6),
        ("k: a\x85x\n", "x", 1, 6),
        ('{"k": "a\\/\\ud83c\\udfd7x"}', "x", 1, 23),
        # libyaml refuses half a character; in brackets it is read as JSON
        ('{"k": "\\ud83c\\udfd7 x"}', "x", 1, 21),
    ],
)
def test_line_and_column(text: str, word: str, line: int, column: int) -> None:
    suffix = ".json" if "\\/" in text else ".yaml"
    document = reading.parse(f"g{suffix}", text)
    node = document.node(("k",))
    assert node is not None
    path: Path = ("k",)
    if node.kind == "sequence":
        path, node = ("k", 0), node.items[0]
    at = node.text.index(word)
    span = document.span(Place(path, "value", (at, at + len(word))))
    assert span.start == (line, column)
    assert span.end == (line, column + len(word))


@pytest.mark.parametrize(
    ("text", "within", "wanted"),
    [
        ('k: "a\\u00e9b"', (1, 2), "\\u00e9"),
        ('k: "a\\u00e9b"', (0, 3), "a\\u00e9b"),
        ('k: "a\\tb"', (1, 2), "\\t"),
        ("k: 'a''b'", (1, 2), "''"),
        ("k: abc", (1, 1), "b"),
        ("k: abc", (2, 99), "c"),
        ("k: abc", (99, 100), "c"),
        ("k: ''", (0, 1), "''"),
        ('{"k": "\\ud83c\\udfd7"}', (0, 1), "\\ud83c\\udfd7"),
    ],
)
def test_cut(text: str, within: tuple[int, int], wanted: str) -> None:
    suffix = ".json" if text.startswith("{") else ".yaml"
    assert cut(reading.parse(f"g{suffix}", text), ("k",), within) == wanted


YAML = """\
# note
a: 1
"b c":   'two'   # note
list:
  - x
  - {k: v, "q": [1, 2]}
  -
    deep: text
merge: &m {p: 1}
more:
  <<: *m
  own: 2
"""
JSON = json.dumps(
    {"a": 1, "b c": "two", "list": ["x", {"k": "v", "q": [1, 2]}, {"deep": "text"}]}, indent=2
)


@pytest.mark.parametrize(
    ("path", "part", "wanted"),
    [
        (("a",), "value", "1"),
        (("a",), "key", "a"),
        (("a",), "entry", "a: 1"),
        (("b c",), "value", "'two'"),
        (("b c",), "key", '"b c"'),
        (("list", 0), "value", "x"),
        (("list", 1, "k"), "key", "k"),
        (("list", 1, "q"), "entry", '"q": [1, 2]'),
        (("list", 1, "q", 1), "value", "2"),
        (("list", 1), "value", '{k: v, "q": [1, 2]}'),
        (("list", 2, "deep"), "value", "text"),
        (("more", "p"), "value", "1"),
        (("more", "own"), "value", "2"),
        (("list", 9), "value", "- x"),
        (("a", "gone"), "value", "1"),
        ((), "value", "a"),
    ],
)
def test_yaml_places(path: Path, part: str, wanted: str) -> None:
    document = reading.parse("g.yaml", YAML)
    start, end = document.offsets(Place(path, part))
    assert document.text[start:end] == wanted


@pytest.mark.parametrize(
    ("path", "part", "wanted"),
    [
        (("a",), "value", "1"),
        (("b c",), "key", '"b c"'),
        (("b c",), "value", '"two"'),
        (("list", 1, "q", 1), "value", "2"),
        (("list", 2, "deep"), "entry", '"deep": "text"'),
    ],
)
def test_json_places(path: Path, part: str, wanted: str) -> None:
    document = reading.parse("g.json", JSON)
    start, end = document.offsets(Place(path, part))
    assert document.text[start:end] == wanted


def test_byte_order_mark_is_no_column() -> None:
    for content in ("k: v\n".encode("utf-8-sig"), "k: v\n".encode("utf-16")):
        document = reading.document("g.yaml", content)
        assert document.span(Place(("k",))).start == (1, 4)


VALUES = st.recursive(
    st.one_of(st.integers(), st.booleans(), st.none(), st.text(max_size=5)),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.text(max_size=4), VALUES, min_size=1), st.sampled_from([None, 2]))
def test_every_json_value_is_found_where_it_stands(
    value: dict[str, object], indent: int | None
) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=indent is None)
    document = reading.parse("g.json", text)
    assert document.value == value
    stack: list[tuple[object, Path]] = [(value, ())]
    while stack:
        item, path = stack.pop()
        if path:
            start, end = document.offsets(Place(path))
            inner = text[start:end] if not isinstance(item, dict | list) else text[start : end + 9]
            if not isinstance(item, dict | list):
                assert json.loads(inner) == item
            if isinstance(path[-1], str):
                start, end = document.offsets(Place(path, "key"))
                assert json.loads(text[start:end]) == path[-1]
        if isinstance(item, dict):
            stack.extend((inside, (*path, key)) for key, inside in item.items())
        elif isinstance(item, list):
            stack.extend((inside, (*path, number)) for number, inside in enumerate(item))
