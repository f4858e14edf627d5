"""What the fixes of the guard rules make of a text; the cases are in `guard_fixes.yaml`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from statecli.config import Config
from statecli.lint.linter import lint
from statecli.load.loader import load
from statecli.model.diagnostic import Diagnostic
from statecli.text.edits import apply, changes

CASES: list[dict[str, Any]] = yaml.safe_load(
    Path(__file__).with_name("guard_fixes.yaml").read_text("utf-8")
)


def found(case: dict[str, Any], text: str) -> list[Diagnostic]:
    return lint(load(case.get("name", "graph.yaml"), text), Config(select=(case["rule"],)))


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['rule']}: {case['about']}")
def test_fix(case: dict[str, Any]) -> None:
    before = found(case, case["before"])
    fix = before[0].finding.fix
    document = load(case.get("name", "graph.yaml"), case["before"]).document
    made = changes(document, fix) if fix is not None else None
    if case["after"] is None:
        assert made is None
        return
    assert made is not None
    after = apply(case["before"], made)
    assert after == case["after"]
    assert len(found(case, after)) < len(before)
