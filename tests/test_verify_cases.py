"""The cases of ../shared/cases: what brute force found, the verifier finds, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from run_cli import run
from verify_cases import CASES, CASES_MISSING, CONCURRENT, FOLDER
from verify_oracle.lists import lists
from verify_oracle.reader import read

from statecli.load.loader import load
from statecli.verify import LISTS
from statecli.verify.verifier import verify

pytestmark = pytest.mark.skipif(not CASES, reason=CASES_MISSING)


@pytest.mark.parametrize("name", CASES)
def test_what_a_case_expects_is_printed_and_nothing_else(name: str) -> None:
    path, expected = CASES[name]
    result = run("validate", "--format", "json", str(path))
    report = json.loads(result.out)
    assert not missing(expected, report["diagnostics"])
    assert not unwanted(expected, report["diagnostics"])
    assert report["graphs"][0]["verified"] == expected["verified"]


def missing(expected: dict[str, Any], found: list[dict[str, Any]]) -> list[Any]:
    """What a case expects and is not there."""
    return [must for must in expected["must"] if not _there(must, found)]


def _there(must: dict[str, Any], found: list[dict[str, Any]]) -> bool:
    fitting = [
        one for one in found
        if one["rule"] in must["rule"].split("|")
        and ("state" not in must or must["state"] in one.get("states", []))
        and ("severity" not in must or one["severity"] == must["severity"])
        and ("field" not in must or must["field"] in one["message"])
        and _given(must.get("witness", {}), one)
    ]  # fmt: skip
    named = {state for one in fitting for state in one.get("states", [])}
    return bool(fitting) and set(must.get("states", [])) <= named


def _given(wanted: dict[str, Any], found: dict[str, Any]) -> bool:
    """Whether the last values on the path of a witness are the wanted ones."""
    if not found.get("witness"):
        return True
    last: dict[str, Any] = {}
    for visit in found["witness"]:
        for turn in visit["turns"]:
            last.update(turn)
    return all(key in last and _like(value, last[key]) for key, value in wanted.items())


def _like(wanted: Any, value: Any) -> bool:
    if isinstance(wanted, dict):
        above = "gt" not in wanted or value > wanted["gt"]
        return above and ("lt" not in wanted or value < wanted["lt"])
    if isinstance(wanted, str) and isinstance(value, str):
        return wanted.strip().casefold() == value.strip().casefold()
    return bool(value == wanted)


def unwanted(expected: dict[str, Any], found: list[dict[str, Any]]) -> list[str]:
    """What is there and a case forbids; what is only possible does not count."""
    sure = [one for one in found if one.get("verdict") != "possible"]
    bad = []
    for item in expected["must_not"]:
        rule, state = (item, None) if isinstance(item, str) else (item["rule"], item["state"])
        bad += [
            one["message"] for one in sure
            if one["rule"] == rule and (state is None or state in one.get("states", []))
        ]  # fmt: skip
    for severity, most in expected.get("max", {}).items():
        listed = [one["message"] for one in sure if one["severity"] == severity]
        bad += listed if len(listed) > most else []
    return bad


@pytest.mark.parametrize("name", [name for name in CASES if name not in CONCURRENT])
def test_the_lists_are_those_of_the_oracle(name: str) -> None:
    path, expected = CASES[name]
    graph = load(path.name, path.read_text(encoding="utf-8")).graph
    assert graph is not None
    report = verify(graph)
    if expected["verified"] == "exact":
        assert report.exact
        assert {key: report.lists[key] for key in LISTS} == dict(lists(read(path)))


GRAPHS = sorted(
    path for path in (Path(__file__).parent.parent / "graphs").iterdir()
    if path.suffix in (".yaml", ".json")
)  # fmt: skip


@pytest.mark.parametrize("path", GRAPHS, ids=lambda path: path.name)
def test_no_graph_of_ours_has_a_finding(path: Path) -> None:
    result = run("validate", "--format", "json", str(path))
    report = json.loads(result.out)
    assert [one["message"] for one in report["diagnostics"] if one["severity"] != "info"] == []
    assert report["graphs"][0]["verified"] == "exact"


def _plans() -> list[Path]:
    """The whole plans that people wrote; fragments have no states with names."""
    folder = FOLDER.parent / "plan-files"
    found = []
    for path in sorted(folder.glob("*.json")) if folder.is_dir() else ():
        top = json.loads(path.read_text(encoding="utf-8"))
        listed = top.get("states") if isinstance(top, dict) else None
        if isinstance(listed, list) and len(listed) > 1 and all("id" in state for state in listed):
            found.append(path)
    return found


@pytest.mark.parametrize("path", _plans(), ids=lambda path: path.name)
def test_plans_that_people_wrote_are_decided(path: Path) -> None:
    graph = load(path.name, path.read_text(encoding="utf-8")).graph
    assert graph is not None
    report = verify(graph)
    assert report.exact
    assert {key: report.lists[key] for key in LISTS} == dict(lists(read(path)))
