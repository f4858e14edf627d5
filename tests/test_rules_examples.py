"""Every example of the rules, and the variants that must stay silent, as data of our own."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml
from run_cli import FORMATS, Result, check, end, start, validate, words

EXAMPLES: list[dict[str, Any]] = yaml.safe_load(
    Path(__file__).with_name("rules_examples.yaml").read_text(encoding="utf-8")
)
KEYS = {
    *("rule", "about", "input", "name", "place", "line", "count", "silent", "severity", "says"),
    *("not_says", "states", "absent", "also", "only", "fix", "fixed", "same", "gone", "args"),
    *("config", "files", "hides", "related_says", "related_count", "with"),
}
Point = tuple[int, int]


@dataclass
class Marked:
    """A graph without its marks, and where the marks were."""

    text: str = ""
    spans: list[tuple[Point, Point]] = field(default_factory=list)
    points: list[Point] = field(default_factory=list)
    related: list[Point] = field(default_factory=list)


def read_marks(source: str) -> Marked:
    """Take « » ⟦ ⟧ and § out of SOURCE; positions are 1-based."""
    marked = Marked()
    opened: Point = (0, 0)
    kept: list[str] = []
    line, column = 1, 1
    for letter in source:
        here = line, column
        if letter == "«":
            opened = here
            marked.points.append(here)
        elif letter == "»":
            marked.spans.append((opened, here))
        elif letter == "§":
            marked.points.append(here)
        elif letter == "⟦":
            marked.related.append(here)
        elif letter != "⟧":
            kept.append(letter)
            line, column = (line + 1, 1) if letter == "\n" else (line, column + 1)
    marked.text = "".join(kept)
    return marked


def label(example: dict[str, Any]) -> str:
    """A readable test id."""
    about = example.get("about", "")
    return f"{example['rule']}: {about}" if about else str(example["rule"])


def prepare(example: dict[str, Any], folder: Path) -> tuple[str, Marked, list[str]]:
    """Write what stands around the graph; give its name, its text and the options."""
    assert set(example) <= KEYS, set(example) - KEYS
    if "config" in example:
        (folder / "statecli.toml").write_text(example["config"] + "\n", encoding="utf-8")
    for name, text in example.get("files", {}).items():
        (folder / name).write_text(text, encoding="utf-8")
    return example.get("name", "graph.yaml"), read_marks(example["input"]), example.get("args", [])


def limits(example: dict[str, Any]) -> tuple[int, int]:
    """Least and greatest number of findings."""
    if example.get("silent"):
        return 0, 0
    count = example.get("count", 1)
    return (count, count) if isinstance(count, int) else (count[0], count[1])


def check_places(example: dict[str, Any], marked: Marked, found: list[dict[str, Any]]) -> None:
    """Each finding stands where the marks say."""
    place = example.get("place", "exact")
    starts = [start(d) for d in found]
    if not marked.points:
        assert place == "exact", "no marks to read"
    elif place == "exact":
        assert [(start(d), end(d)) for d in found] == marked.spans
    elif place == "start":
        assert starts == marked.points
    elif place == "any":
        assert set(starts) <= set(marked.points)
        assert len(set(starts)) == len(starts)
    else:
        assert place == "within"
        for first in starts:
            assert any(a <= first < b for a, b in marked.spans), (first, marked.spans)
    if "line" in example:
        assert {line for line, _ in starts} == {example["line"]}
    for d in found:
        assert start(d) <= end(d)


def check_related(example: dict[str, Any], marked: Marked, found: list[dict[str, Any]]) -> None:
    """The other places are named."""
    others = [r for d in found for r in d["related"]]
    near = {start(r) for r in others}
    for expected in marked.related:
        assert expected in near, f"related places {sorted(near)} lack {expected}"
    assert len(others) >= example.get("related_count", 0)
    if "related_says" in example:
        lines = marked.text.splitlines()
        shown = [r["message"] + lines[start(r)[0] - 1][start(r)[1] - 1 :] for r in others]
        assert any(example["related_says"] in text for text in shown), shown


def check_words(example: dict[str, Any], found: list[dict[str, Any]], result: Result) -> None:
    """Messages say the fact, the cure and nothing that is forbidden."""
    text = " | ".join(words(d) for d in found)
    for said in example.get("says", []):
        assert said.lower() in text
    for unsaid in example.get("not_says", []):
        assert unsaid.lower() not in text
    named = {name for d in found for name in d["states"]}
    assert set(example.get("states", [])) <= named
    if "severity" in example:
        assert {d["severity"] for d in found} == {example["severity"]}
    for d in result.diagnostics:
        assert not {"invalid", "illegal", "scc", "valuation"} & set(words(d).split()), d


@pytest.mark.parametrize("example", EXAMPLES, ids=label)
def test_finding(example: dict[str, Any], tmp_path: Path) -> None:
    name, marked, args = prepare(example, tmp_path)
    result = check(tmp_path, name, marked.text, *args)
    found = result.of(example["rule"])
    least, most = limits(example)
    assert least <= len(found) <= most, result.diagnostics
    if found:
        check_places(example, marked, found)
        check_related(example, marked, found)
        check_words(example, found, result)
        given = {None if d["fix"] is None else d["fix"]["safe"] for d in found}
        if "fix" in example:
            assert given == {{"none": None, "safe": True, "unsafe": False}[example["fix"]]}
    for rule in example.get("absent", []):
        assert rule not in result.rules(), result.of(rule)
    for rule in example.get("also", []):
        assert rule in result.rules()
    if example.get("only"):
        assert len(result.diagnostics) == len(found), result.diagnostics
    severities = {d["severity"] for d in result.diagnostics}
    assert result.code == (1 if "error" in severities else 0)


FIXED = [e for e in EXAMPLES if {"fixed", "same", "gone"} & set(e)]


@pytest.mark.parametrize("example", FIXED, ids=label)
def test_fix(example: dict[str, Any], tmp_path: Path) -> None:
    name, marked, _ = prepare(example, tmp_path)
    rule = example["rule"]
    # a suppression is unused only if the rule that it names has run
    selected = f"{rule},{example['with']}" if "with" in example else rule
    check(tmp_path, name, marked.text, "--select", selected, "--fix")
    after = (tmp_path / name).read_text(encoding="utf-8")
    if example["fix"] == "unsafe":
        assert after == marked.text, "an unsafe fix was applied without --unsafe-fixes"
        validate("--select", selected, "--fix", "--unsafe-fixes", tmp_path / name)
        after = (tmp_path / name).read_text(encoding="utf-8")
    assert after != marked.text, "nothing was fixed"
    if "fixed" in example:
        fixed = example["fixed"]
        assert after in (fixed if isinstance(fixed, list) else [fixed])
    if "same" in example:
        assert yaml.safe_load(after) == yaml.safe_load(example["same"])
    assert validate("--select", selected, tmp_path / name).of(rule) == []


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("example", [e for e in EXAMPLES if "hides" in e], ids=label)
def test_a_secret_is_never_printed(example: dict[str, Any], form: str, tmp_path: Path) -> None:
    result = check(tmp_path, "graph.yaml", read_marks(example["input"]).text, "--format", form)
    assert example["rule"] in result.out
    assert example["hides"] not in result.out + result.err


def test_a_plugin_is_looked_at_and_not_run(tmp_path: Path) -> None:
    witness = tmp_path / "ran"
    code = f"open({str(witness)!r}, 'w').close()\n"
    (tmp_path / "state_wizard.py").write_text(code, encoding="utf-8")
    text = "{initial: a, states: {a: {type: wizard, transition: {next: [a]}}}}"
    assert "unknown-state-type" not in check(tmp_path, "graph.yaml", text).rules()
    assert not witness.exists()


@pytest.mark.parametrize("example", EXAMPLES, ids=label)
def test_safe_fixes_settle(example: dict[str, Any], tmp_path: Path) -> None:
    """`--fix` brings nothing new, leaves nothing that it could do, and has nothing to do twice."""
    name, marked, _ = prepare(example, tmp_path)
    before = check(tmp_path, name, marked.text)
    reported = validate("--fix", tmp_path / name)
    fixed = (tmp_path / name).read_bytes()
    after = validate(tmp_path / name)
    assert reported.diagnostics == after.diagnostics
    assert not [d for d in after.diagnostics if d.get("fix") and d["fix"]["safe"]]
    worse = {"error", "warning"}
    had = {d["rule"] for d in before.diagnostics if d["severity"] in worse}
    assert {d["rule"] for d in after.diagnostics if d["severity"] in worse} <= had
    validate("--fix", tmp_path / name)
    assert (tmp_path / name).read_bytes() == fixed
