"""`docs/features.md`: every row names a test that exists."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "features.md"
#: A section, a feature, what stands in the second cell.
ROWS = [
    (section.splitlines()[0], *(cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:3]))
    for section in PAGE.read_text("utf-8").split("\n## ")[1:]
    for line in section.splitlines()
    if line.startswith("| ") and not line.startswith("| The document says")
]


@cache
def defined_in(path: str) -> frozenset[str]:
    """The tests that a file defines."""
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(
        n.name for n in tree.body if isinstance(n, functions) and n.name[:5] == "test_"
    )


@pytest.mark.parametrize(("section", "feature", "where"), ROWS)
def test_each_feature_has_a_test(section: str, feature: str, where: str) -> None:
    assert feature
    named = re.match(r"`(tests/\w+\.py)::(test_\w+)`( with `(tests/lint/[\w-]+\.yaml)`)?$", where)
    assert named, where
    assert named[2] in defined_in(named[1])
    assert named[4] is None or (ROOT / named[4]).is_file()


def test_every_document_is_there_with_many_rows_and_none_twice() -> None:
    sections = [section for section, *_ in ROWS]
    assert [name[:3] for name in dict.fromkeys(sections)] == ["000", "001", "002", "003", "004"]
    assert min(sections.count(name) for name in sections) > 40
    assert len({(section, feature, where) for section, feature, where in ROWS}) == len(ROWS)


def test_every_test_of_a_block_is_in_the_table() -> None:
    """A block's test is a feature that somebody will look for."""
    told = " ".join(where for *_, where in ROWS)
    for path in sorted(Path(__file__).parent.glob("test_seed_*.py")):
        if path.stem != "test_seed_blocks":
            assert [n for n in defined_in(f"tests/{path.name}") if f"::{n}`" not in told] == []
