"""The conversations beside the example graphs pass and take every transition that can be taken."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from run_cli import run, validate

ROOT = Path(__file__).parent.parent


def test_they_pass_and_see_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    seen = tmp_path / "seen.json"
    done = run("test", "-q", "--coverage-file", seen, "--fail-under", "100", "graphs")
    assert done.code == 0, done.out + done.err
    found = {graph["path"]: graph for graph in json.loads(seen.read_text())["graphs"]}
    missing = [
        f"{path}: {way['source']} -> {way['target']}"
        for path, graph in found.items()
        for way in graph["transitions"]
        if not way["taken"] and not way["never"]
    ]
    assert missing == []
    graphs = {str(p.relative_to(ROOT)) for p in (ROOT / "graphs").glob("*.[jy]*")}
    assert graphs - set(found) <= {"graphs/fan_out.yaml"}  # branches cannot be run yet
    assert all(graph["conversations"] for graph in found.values())


def test_they_are_not_taken_for_graphs() -> None:
    result = validate(ROOT / "graphs")
    assert not any("/tests/" in graph["path"] for graph in result.data["graphs"])
    assert len(result.data["graphs"]) == len(list((ROOT / "graphs").glob("*.[jy]*")))
