"""Every block of Python in `docs/coming-from.md` and `docs/library.md` runs; each says by itself
what must be so."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def sections(page: str) -> dict[str, str]:
    """The sections of a page by their titles."""
    text = (ROOT / "docs" / page).read_text("utf-8")
    return {part.split("\n", 1)[0]: part for part in text.split("\n## ")[1:]}


SECTIONS = sections("coming-from.md")
BLOCKS = [
    pytest.param(block, id=f"{name}-{number}")
    for name, part in (SECTIONS | sections("library.md")).items()
    for number, block in enumerate(
        re.findall(r"^```python\n(.*?)^```$", part, re.MULTILINE | re.DOTALL), 1
    )
]


@pytest.mark.parametrize("block", BLOCKS)
def test_block(block: str) -> None:
    assert "assert " in block, "a block says what must be so"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", block],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", ["Burr", "Agentex", "EvoFabric", "ARKOS"])
def test_each_has_code_and_what_differs(name: str) -> None:
    """Nothing on the page is another language that nobody runs."""
    part = SECTIONS[name]
    assert part.count("```python\n") * 2 == part.count("```")
    assert part.count("```python\n") >= 2
    assert "What differs:" in part
