"""No block of code of the source documents is lost: how many there are, and that each has a test
(`tests/test_seed_*.py`) that says what it must do."""

from __future__ import annotations

import ast
import re
from collections import Counter
from importlib import import_module
from pathlib import Path

import pytest
from seed_documents import DOCUMENTS, TOLD, Shown, all_blocks, blocks, rest

#: How many distinct blocks a document has, by what they are written in.
COUNTS = {
    "000": {"python": 9, "yaml": 5, "mermaid": 2},
    "001": {"python": 9},
    "002": {"python": 3},
    "003": {"python": 16},
    "004": {"json": 15, "text": 1},
}

#: Python that does not parse as published. Each has a test that runs it with that put right.
NO_PYTHON = {
    ("000", "class Agent:\n"): "`...` stands for parameters that are left out",
    ("001", "GraphBuilder()"): "a dot is missing before `with_state`",
    ("003", "class StateMachine(ABC, Generic[T])"): "a signature without a body",
}

#: Blocks that nothing runs: drawings. Their tests look for what they draw.
DRAWINGS = {("000", "graph TB"), ("000", "sequenceDiagram"), ("004", "┌─")}


@pytest.mark.parametrize("number", DOCUMENTS)
def test_every_distinct_block_is_found(number: str) -> None:
    assert dict(Counter(block.language for block in blocks(number))) == COUNTS[number]


def test_the_copy_of_document_001_is_whole() -> None:
    assert [len(all_blocks(number)) for number in DOCUMENTS] == [16, 18, 3, 16, 16]


#: A line that could only be code: none may be left outside of the blocks.
LEFT = re.compile(
    r"\s*((async )?def \w|class \w+[(:]|from \S+ import|import \w+$|@\w+[.(]|[{}\[\])(]|\w+ = |"
    r'"\w+": |\.\w+\(|await |return\b.*[)\]"]$|.*(-->|->>))'
)


@pytest.mark.parametrize("number", DOCUMENTS)
def test_no_code_is_left_outside(number: str) -> None:
    assert [line for line in rest(number) if LEFT.match(line)] == []


def test_every_block_has_a_test() -> None:
    for path in sorted(Path(__file__).parent.glob("test_seed_*.py")):
        import_module(path.stem)
    told = {(shown.number, shown.block) for shown in TOLD}
    there = {(number, block) for number in DOCUMENTS for block in blocks(number)}
    assert {number for number, _ in there} == set(DOCUMENTS)
    assert there - told == set()


@pytest.mark.parametrize("number", DOCUMENTS)
def test_python_parses_but_for_the_blocks_that_are_listed(number: str) -> None:
    broken = []
    for block in blocks(number):
        try:
            ast.parse(block.text if block.language == "python" else "")
        except SyntaxError:
            broken.append(block)
    listed = [Shown(place, piece).block for place, piece in NO_PYTHON if place == number]
    assert broken == listed


def test_drawings_are_the_blocks_without_code() -> None:
    found = {(n, b) for n in DOCUMENTS for b in blocks(n) if b.language in ("mermaid", "text")}
    assert found == {(number, Shown(number, piece).block) for number, piece in DRAWINGS}
