"""Every conversation plan that people published gives what a careful person would say about it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from run_cli import CASES, Say, check, compare, files, start, validate

FOLDER = "plan-files"
pytestmark = pytest.mark.skipif(
    not (CASES / FOLDER).is_dir(), reason=f"no case files in {CASES}; set STATECLI_CASES"
)


def snake(**lines: int) -> list[Say]:
    """Names in snake case, where plans write kebab case: worth knowing, no more."""
    return [Say("state-name-case", "info", line, name) for name, line in lines.items()]


def old(spelling: str, *lines: int) -> list[Say]:
    """Spellings that the document does not have."""
    return [Say("old-spelling", "warning", line, "", f"'{spelling}'") for line in lines]


def falls(*names: str) -> list[Say]:
    """States that go on in the order of the file."""
    return [Say("implicit-fallthrough", "info", 0, name) for name in names]


ACTIVITY = [
    *snake(current_activity=35),
    # the first of two routes writes no priority, the second one does
    Say(rule="mixed-priority", severity="info", line=85, state="current_activity"),
    Say(rule="mixed-priority", severity="info", line=133, state="barriers"),
]
EXPECTED: dict[str, list[Say]] = {
    "cognitive_stimulation_demo_sm__0fec570.json": snake(memory_game=103, feedback_and_closure=246),
    # mode names that the project's own SDK refuses
    "examples__00_plan_linear-check-in.json": [
        *old("strict", 11, 67),
        *old("loose", 39),
        *snake(state_greeting=9, state_intake=37, state_farewell=65),
    ],
    "examples__01_plan_branching-support-triage.json": [
        *old("loose", 11, 129),
        *old("strict", 115, 143),
        *snake(state_intake=9, state_priority=113, state_strategy=127, state_closure=141),
    ],
    "examples__02_plan_circular-clarification-flow.json": [
        *old("loose", 11, 52),
        *old("strict", 98, 112, 126),
        *snake(state_collect=9, state_clarify=50, state_guard_exit=96),
        *snake(state_resolution=110, state_farewell=124),
    ],
    "examples__03_plan_simple-greeting.json": snake(main_conversation=39),
    "examples__04_plan_fitness-checkin.json": snake(activity_check=48, nutrition_check=114),
    # keys that the engine does not know: a billing customer lands in general support
    "examples__05_plan_customer-support.json": [
        *old("key", 63, 72, 192),
        *old("value", 64, 73, 193),
        *snake(billing_support=84, technical_support=134, general_support=204),
    ],
    "index__00_plan_simple-greeting.json": [],
    # an older, different schema: not a graph, so skipped
    "plan_config__3d002a6.json": [],
    # no routes are written, so the plan goes on in order
    "plan_generator_prompt__example1.json": [
        *falls("state_greeting", "state_fitness_questions"),
        *snake(state_greeting=8, state_fitness_questions=31, state_farewell=90),
    ],
    "plan_generator_prompt__example2.json": [
        *falls("state_rapport", "state_exploration"),
        *snake(state_rapport=8, state_exploration=45, state_closing=82),
    ],
    "plan_physical_activity_checkin__50586ad.json": ACTIVITY,
    "plan_physical_activity_checkin__6724d50.json": ACTIVITY,
    "reworked_plan__c58deb4.json": old("loose", 5, 34, 94, 169, 191),
    "stella_smalltalk__0fec570.json": snake(getting_to_know_you=8, farewell_with_joke=127),
}

FRAGMENT = re.compile(r"_(state|transition|transitions)_")
# What the fragments read: the type of the deliverable, or the values of an enum.
TYPES: dict[str, str | list[str]] = {
    "age_verified": "boolean",
    "consent": "boolean",
    "risk_score": "number",
    "urgency": ["emergency", "normal"],
}


def every(value: Any, key: str) -> list[str]:
    """Every text under KEY anywhere inside VALUE, in order, once."""
    found: list[str] = []
    if isinstance(value, dict):
        for name, inner in value.items():
            found += [inner] if name == key and isinstance(inner, str) else every(inner, key)
    elif isinstance(value, list):
        for inner in value:
            found += every(inner, key)
    return list(dict.fromkeys(found))


def deliverable(key: str) -> dict[str, Any]:
    """A deliverable that a fragment reads."""
    kind = TYPES.get(key, "string")
    if isinstance(kind, list):
        return {"key": key, "type": "enum", "enum_values": kind}
    return {"key": key, "type": kind}


def state(name: str, transitions: list[dict[str, Any]], keys: list[str]) -> dict[str, Any]:
    """A state that gives no reason for a finding."""
    task: dict[str, Any] = {"id": "talk", "description": "Talk about it"}
    if keys:
        task["deliverables"] = [deliverable(k) for k in keys]
    return {
        "id": name,
        "title": name.title(),
        "type": "loose",
        "tasks": [task],
        "transitions": transitions,
    }


def wrap(name: str, fragment: Any) -> dict[str, Any]:
    """A plan round FRAGMENT in which only the fragment can be wrong."""
    targets = every(fragment, "target_state_id")
    last = [{"target_state_id": "__end__"}]
    after = [state(target, last, []) for target in targets]
    if "_state_" in name:
        return {"id": "wrap", "title": "Wrap", "states": [fragment, *after]}
    written = fragment["transitions"] if "_transitions_" in name else [fragment]
    if all(t["condition_type"] != "all_tasks_complete" for t in written):
        written = [*written, {"target_state_id": "done", "priority": 99}]
        after.append(state("done", last, []))
    first = state("start", written, every(fragment, "key"))
    return {"id": "wrap", "title": "Wrap", "states": [first, *after]}


FILES = files(FOLDER)
FRAGMENTS = [p for p in FILES if FRAGMENT.search(p.name) and not p.name.startswith("examples")]
PLANS = [p for p in FILES if FRAGMENT.search(p.name) is None or p.name.startswith("examples")]
KNOWN_FRAGMENTS = {f"{n:02}" for n in range(15)}


@pytest.mark.parametrize("path", PLANS, ids=lambda p: p.name)
def test_plan(path: Path) -> None:
    result = validate(path)
    assert result.code == (1 if any(d["severity"] == "error" for d in result.diagnostics) else 0)
    if path.name in EXPECTED:
        compare(result, EXPECTED[path.name])
        skipped = path.name.startswith("plan_config__")
        assert result.data["summary"]["skipped"] == int(skipped)
        assert result.data["summary"]["graphs"] == int(not skipped)


@pytest.mark.parametrize("path", FRAGMENTS, ids=lambda p: p.name)
def test_wrapped_fragment(path: Path, tmp_path: Path) -> None:
    plan = wrap(path.name, json.loads(path.read_text(encoding="utf-8")))
    result = check(tmp_path, "plan.json", json.dumps(plan, indent=2))
    if path.name[:2] in KNOWN_FRAGMENTS:
        names = [s["id"] for s in plan["states"]]
        compare(result, snake(**{n: 0 for n in names if "_" in n}))


@pytest.mark.parametrize("path", FRAGMENTS, ids=lambda p: p.name)
def test_fragment_by_itself_is_no_graph(path: Path) -> None:
    result = validate(path)
    assert result.code == 0
    assert result.diagnostics == []
    assert result.data["summary"]["skipped"] == 1
    shown = validate("--format", "text", path)
    assert shown.code == 0
    assert path.name in shown.out + shown.err
    assert "skipped" in (shown.out + shown.err).lower()


@pytest.mark.parametrize("option", [("--form", "plan"), ("--strict-input",)], ids=str)
def test_the_other_schema_when_it_must_be_a_graph(option: tuple[str, ...]) -> None:
    path = CASES / FOLDER / "plan_config__3d002a6.json"
    result = validate(*option, path)
    assert result.code == 1
    assert [d["rule"] for d in result.diagnostics if d["severity"] == "error"] == ["missing-states"]
    assert start(result.of("missing-states")[0])[0] == 1


def test_the_misspelt_conditions_are_repaired(tmp_path: Path) -> None:
    text = (CASES / FOLDER / "examples__05_plan_customer-support.json").read_text(encoding="utf-8")
    check(tmp_path, "plan.json", text, "--select", "old-spelling", "--fix")
    after = (tmp_path / "plan.json").read_text(encoding="utf-8")
    wanted = text.replace('"deliverable_key"', '"key"').replace('"expected_value"', '"value"')
    assert after == wanted
    assert validate("--strict", tmp_path / "plan.json").code == 0


@pytest.mark.parametrize("path", [p for p in PLANS if p.name in EXPECTED], ids=lambda p: p.name)
def test_a_plan_with_its_old_spellings_repaired_is_clean(path: Path, tmp_path: Path) -> None:
    check(tmp_path, "plan.json", path.read_bytes(), "--fix", "--select", "old-spelling")
    assert validate("--strict", tmp_path / "plan.json").code == 0


@pytest.mark.parametrize("path", PLANS, ids=lambda p: p.name)
def test_a_plan_read_as_yaml(path: Path, tmp_path: Path) -> None:
    """JSON is YAML, so under another name it says the same at the same places."""
    keys = ("rule", "severity", "message", "start", "end", "where", "states")
    first = check(tmp_path, "plan.json", path.read_bytes()).diagnostics
    second = check(tmp_path, "plan.yaml", path.read_bytes()).diagnostics
    assert [[d[k] for k in keys] for d in first] == [[d[k] for k in keys] for d in second]
