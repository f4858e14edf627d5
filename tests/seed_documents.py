"""The five documents this project was built from, and every block of code that they show.

They stand outside of the repository (`STATECLI_SEEDS` names the folder); tests that need them are
skipped where they are not. Two are Markdown, one is rst with a second copy that lost its
indentation, and two came as text without any mark around their code.
"""

from __future__ import annotations

import ast
import asyncio
import inspect
import os
import re
import textwrap
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

SEEDS = Path(os.environ.get("STATECLI_SEEDS", Path(__file__).parents[2] / "shared" / "seeds"))
DOCUMENTS = ("000", "001", "002", "003", "004")


class Block(NamedTuple):
    """A block of code: what it is written in, and its text without the indentation around it."""

    language: str
    text: str
    line: int


@cache
def document(number: str) -> str:
    """The text of a document, as it was published."""
    found = sorted(SEEDS.glob(f"{number}*.txt"))
    if not found:
        pytest.skip(f"the source documents are not in {SEEDS}; set STATECLI_SEEDS")
    return found[0].read_text(encoding="utf-8")


@cache
def all_blocks(number: str) -> tuple[Block, ...]:
    """Every block of a document, in order; what stands there twice is here twice."""
    lines = document(number).splitlines()
    if number == "000":
        return tuple(_fenced(lines))
    if number == "001":
        return tuple(_directives(lines))
    return tuple(_json(lines) if number == "004" else _bare(lines))


@cache
def blocks(number: str) -> tuple[Block, ...]:
    """The distinct blocks: copies that differ in indentation only are one, the first."""
    found: dict[tuple[str, ...], Block] = {}
    for block in all_blocks(number):
        words = tuple(line.strip() for line in block.text.splitlines() if line.strip())
        found.setdefault(words, block)
    return tuple(found.values())


class Shown:
    """One distinct block of a document, named by a piece of text that only it contains."""

    def __init__(self, number: str, piece: str) -> None:
        self.number = number
        self.piece = piece

    def __repr__(self) -> str:
        return f"{self.number} {self.piece}"

    @property
    def block(self) -> Block:
        (found,) = [block for block in blocks(self.number) if self.piece in block.text]
        return found

    @property
    def text(self) -> str:
        return self.block.text


def rest(number: str) -> list[str]:
    """The lines of a document that are in no block."""
    inside = {
        block.line + offset
        for block in all_blocks(number)
        for offset in range(len(block.text.splitlines()))
    }
    lines = document(number).splitlines()
    return [line for place, line in enumerate(lines, 1) if place not in inside]


# --- how each document marks its code --------------------------------------------------------


def _fenced(lines: list[str]) -> Iterator[Block]:
    """Markdown: between two fences, which may be indented."""
    language: str | None = None
    start = 0
    for place, line in enumerate(lines, 1):
        fence = re.match(r"\s*```(\w*)", line)
        if fence and language is None:
            language, start = fence[1], place + 1
        elif fence:
            yield _block(str(language), lines[start - 1 : place - 1], start)
            language = None
    assert language is None, "a fence is open at the end"


def _directives(lines: list[str]) -> Iterator[Block]:
    """rst: what stands further right than its directive; where the indentation is lost, up to the
    next line of prose."""
    for place, line in enumerate(lines, 1):
        mark = re.match(r"(\s*)\.\. code-block:: (\w+)", line)
        if not mark:
            continue
        start = place + 1  # an empty line
        end = start
        while end < len(lines) and (not lines[end].strip() or _deeper(lines[end], mark[1])):
            end += 1
        if not any(line.strip() for line in lines[start:end]):
            end = start
            while end < len(lines) and lines[end].strip():
                end += 1
        while not lines[end - 1].strip():
            end -= 1
        yield _block(mark[2], lines[start:end], start + 1)


def _deeper(line: str, margin: str) -> bool:
    return line.startswith(margin + "    ")


CODE = re.compile(
    r"(from \w|import \w|@\w|#\s|[)\]}]|(async )?def \w|class \w+\b.*:$|[A-Za-z_]\w* = |"
    r"    +[^\s•])"
)


def _bare(lines: list[str]) -> Iterator[Block]:
    """Text without marks: from a line of Python at the margin to the next line of prose."""
    start = end = 0  # both count from one; `end` is the last line of code
    for place, line in enumerate([*lines, "Prose."], 1):
        if CODE.match(line) and (start or not line.startswith(" ")):
            start, end = start or place, place
        elif line.strip() and start:
            yield _block("python", lines[start - 1 : end], start)
            start = 0


def _json(lines: list[str]) -> Iterator[Block]:
    """Text without marks: objects whose braces stand at the margin. And one drawing."""
    start = 0
    for place, line in enumerate(lines, 1):
        if line == "{":
            start = place
        elif line == "}":
            yield _block("json", lines[start - 1 : place], start)
    drawn = [place for place, line in enumerate(lines, 1) if re.search("[─│┌└▼]", line)]
    yield _block("text", lines[drawn[0] - 1 : drawn[-1]], drawn[0])


def _block(language: str, lines: list[str], start: int) -> Block:
    return Block(language, textwrap.dedent("\n".join(lines)).rstrip() + "\n", start)


# --- running them ------------------------------------------------------------------------------

#: Every block that a test has named with `shows`.
TOLD: list[Shown] = []

#: Where the documents import from, and where it is here.
HOMES = (
    (
        re.compile(r"^(from|import) (state_module|model_module|tool_module)\.\w+", re.MULTILINE),
        "arkos",
    ),
    (re.compile(r"^(from|import) burr\.core", re.MULTILINE), "burr"),
    (re.compile(r"^(from|import) evofabric\.core\.(graph|typing)", re.MULTILINE), "evofabric"),
)


def shows(number: str, piece: str) -> pytest.MarkDecorator:
    """A test of one block: the one of that document that contains `piece`, as `shown`."""
    found = Shown(number, piece)
    TOLD.append(found)
    return pytest.mark.parametrize("shown", [found], ids=[number])


def ours(text: str) -> str:
    """A block with its import lines rewritten to the modules here, and nothing else."""
    for pattern, home in HOMES:
        text = pattern.sub(rf"\1 statecli.{home}", text)
    return text


def ran(text: str, /, **names: Any) -> dict[str, Any]:
    """The names that a block leaves behind; `names` are those that it takes for granted. `await`
    may stand outside of functions, as the documents write it."""
    there: dict[str, Any] = {"__name__": "document", **names}
    code = compile(
        ours(text), "<document>", "exec",
        flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True,  # our annotations are texts
    )  # fmt: skip
    if code.co_flags & inspect.CO_COROUTINE:
        asyncio.run(eval(code, there))
    else:
        exec(code, there)
    return there
