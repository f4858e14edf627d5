"""The pictures under docs/ are what `statecli render` draws now."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
#: Another engine places boxes elsewhere.
ENGINE = "0.2.2"
PICTURES = {
    "docs/support_router.svg": ("graphs/support_router.yaml",),
    "docs/intake.svg": ("graphs/intake.yaml",),
    "docs/fan_out.svg": ("graphs/fan_out.yaml", "--legend"),
}


@pytest.mark.parametrize("picture", PICTURES)
def test_a_picture_is_what_is_drawn_now(picture: str) -> None:
    try:
        found = version("graphviz-pure")
    except PackageNotFoundError:
        pytest.skip("no graphviz-pure")
    if found != ENGINE:
        pytest.skip(f"graphviz-pure {found}; the pictures are by {ENGINE}")
    words = ["render", *PICTURES[picture], "--renderer", "bundled"]
    command = [sys.executable, "-m", "statecli", *words, "--to", "svg"]
    drawn = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout
    again = f"statecli {' '.join(words)} -o {picture}"
    assert drawn == (ROOT / picture).read_bytes(), f"draw it again: {again}"
