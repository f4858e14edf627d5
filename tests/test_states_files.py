"""Every ARKOS graph that people published gives what a careful person would say about it."""

from __future__ import annotations

from pathlib import Path

import pytest
from run_cli import CASES, Say, check, compare, files, start, validate, words

FOLDER = "states-files"
pytestmark = pytest.mark.skipif(
    not (CASES / FOLDER).is_dir(), reason=f"no case files in {CASES}; set STATECLI_CASES"
)

ENDLESS = Say("endless-chat", "info")
BARE = Say("missing-states", "info")
NO_INITIAL = Say("missing-initial", "warning", 0, "", "'ask_user'")

EXPECTED: dict[str, list[Say]] = {
    # the older form with event names: one message that names the new spelling
    "git_1_b1c69f2.yaml": [Say("old-form", "error", 0, "", "transition")],
    # `transiton:` is a slip; `next_state:` was never a key; neither state says its kind
    "git_2_9a12f6a.yaml": [
        BARE,
        Say("missing-type", "error", 9, "user"),
        Say("unknown-key", "warning", 10, "", "'transition'"),
        Say("missing-type", "error", 13, "memory_recall"),
        Say("unknown-key", "warning", 15, "", "'next_state'"),
    ],
    # `next: agent_reply`, which a loop over it would read letter by letter
    "git_3_f716ad3.yaml": [Say("scalar-next", "info", 12), Say("scalar-next", "info", 17), ENDLESS],
    "git_4_32655f7.yaml": [Say("scalar-next", "info", 12), Say("scalar-next", "info", 17), ENDLESS],
    "git_6_996d388.yaml": [ENDLESS],
    # comments only: not a graph, so skipped
    "idx_10_46d6530_state_graph_moved_stub.yaml": [],
    "idx_7_b0f83e6_entry_transitions.yaml": [ENDLESS],
    # a kind of their own; what it does is not known, so nothing is said about the end
    "idx_8_46d6530_agent_main_state_graph.yaml": [
        Say("unknown-state-type", "warning", 18, "workshop_plan", "'plan'")
    ],
    "seed000_basic_state_graph_broken_indent.yaml": [Say("parse-error", "error", 8, "", "indent")],
    "seed000_common_issue_snippet.yaml": [Say("parse-error", "error", 3)],
    "seed000_complete_state_graph.yaml": [ENDLESS],
    "seed000_tips_good_and_avoid_duplicate_states_key.yaml": [
        Say("duplicate-key", "error", 10, "", "'states'"),
        Say("missing-initial", "warning"),
    ],
    # a piece of a state without a state round it: not a graph, so skipped
    "seed000_transition_format_snippet.yaml": [],
}
# What may be said besides: what the kept one of two `states` holds; nothing leads to memory_recall.
ALSO_FINE: dict[str, list[Say]] = {
    "git_2_9a12f6a.yaml": [Say("unreachable-state", "error", 13, "memory_recall")],
    "seed000_tips_good_and_avoid_duplicate_states_key.yaml": [
        Say("undefined-target", "error", 6, "gather_requirements"),
        Say("undefined-target", "error", 14, "process"),
        Say("unknown-state-type", "warning", 12, "process"),
        Say("vague-name", "info", 11, "process"),
        Say("unreachable-state", "error"),
    ],
}
SKIPPED = {
    "idx_10_46d6530_state_graph_moved_stub.yaml",
    "seed000_transition_format_snippet.yaml",
}


@pytest.mark.parametrize("path", files(FOLDER), ids=lambda p: p.name)
def test_file(path: Path) -> None:
    result = validate(path)
    assert result.code == (1 if any(d["severity"] == "error" for d in result.diagnostics) else 0)
    if path.name in EXPECTED:
        compare(result, EXPECTED[path.name], ALSO_FINE.get(path.name, []))
        assert result.data["summary"]["skipped"] == int(path.name in SKIPPED)


@pytest.mark.parametrize("name", sorted(SKIPPED))
def test_a_skipped_file_is_named(name: str) -> None:
    result = validate("--format", "text", CASES / FOLDER / name)
    assert result.code == 0
    assert name in result.out + result.err
    assert "skipped" in (result.out + result.err).lower()


def test_a_stub_of_comments_is_missing_states_when_it_must_be_a_graph() -> None:
    stub = CASES / FOLDER / "idx_10_46d6530_state_graph_moved_stub.yaml"
    result = validate("--strict-input", stub)
    assert result.code == 1
    compare(result, [Say("missing-states", "error")])


def test_the_basic_graph_with_its_indentation_repaired(tmp_path: Path) -> None:
    path = CASES / FOLDER / "seed000_basic_state_graph_broken_indent.yaml"
    broken = validate(path).diagnostics
    assert start(broken[0]) == (8, 3)
    text = path.read_text(encoding="utf-8").replace("\n ask_user:", "\n  ask_user:")
    compare(check(tmp_path, "basic.yaml", text), [NO_INITIAL, BARE, ENDLESS])


def test_the_duplicate_key_names_both_places() -> None:
    path = CASES / FOLDER / "seed000_tips_good_and_avoid_duplicate_states_key.yaml"
    result = validate(path)
    (found,) = result.of("duplicate-key")
    assert start(found) == (10, 1)
    assert [start(r) for r in found["related"]] == [(2, 1)]
    kept = {start(d)[0] for d in result.of("undefined-target")}
    assert len(kept) == 1, "the rest of the file is still checked, one of the two maps"
    assert len(result.of("undefined-target")) == 2


def test_the_slip_is_pointed_at() -> None:
    (slip, other) = validate(CASES / FOLDER / "git_2_9a12f6a.yaml").of("unknown-key")
    assert (start(slip), slip["end"]) == ((10, 3), {"line": 10, "column": 12})
    assert "'transiton'" in words(slip)
    assert start(other) == (15, 5)
