"""Conversations as tests: played, updated, counted, written down again."""

from __future__ import annotations

import json
import xml.etree.ElementTree as Xml
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from playing import graph_of, played, told
from run_cli import run

from statecli.model.snapshot import Messages
from statecli.scenario.counts import added
from statecli.scenario.coverage import GraphCoverage
from statecli.scenario.expect import ANYTIME, VALUE_TESTS, WHOLE
from statecli.scenario.job import Order, Result, Told
from statecli.scenario.job import run as run_job
from statecli.scenario.report import junit, lines
from statecli.text.conversation import in_block, one_line, read

DESK = """
initial: ask
fields: {intent: {type: enum, values: [refund, other]}}
states:
  ask: {type: user, transition: {next: [sort]}}
  sort:
    type: agent
    writes: [intent]
    transition: {next: [{to: pay, when: {intent: refund}, priority: 1}, {to: ask, priority: 2}]}
  pay: {type: terminal}
"""
REFUND = """\
graph: graph.yaml
turns:
  - say: My rake is broken.
    replies:
      - {writes: {intent: refund}, reply: Sorry!}
    expect: {state: pay}
"""


def test_it_passes() -> None:
    result = played(DESK, REFUND)
    assert (result.status, result.turns, result.problems, result.notes) == ("passed", 1, (), ())


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (("- {writes", "- hi\n      - {writes"),
         "5:9: 'sort' asks for its fields: 'intent' ('writes'), but the next reply has 'reply'"),
        (("expect: {state: pay}", "expect: {state: pay}\n  - say: And?"),
         "7:5: the run has ended before this turn"),
        (("    expect", "      - reply: And more\n    expect"),
         "6:9: nobody asked for this reply ('reply'): 'And more'"),
        (("{writes: {intent: refund}, reply: Sorry!}", "{reply: a}"),
         "5:9: 'sort' asks for its fields: 'intent' ('writes'), but the next reply has 'reply'"),
    ],
)  # fmt: skip
def test_what_goes_wrong_has_its_place(change: tuple[str, str], problem: str) -> None:
    result = played(DESK, REFUND.replace(*change))
    assert result.status == "failed"
    assert told(result) == [f"x.yaml:{problem}"]


TRAP = """
initial: ask
fields: {mood: {type: enum, values: [good, bad]}}
limits: {max_steps: 3}
states:
  ask: {type: user, writes: [mood], transition: {next: [judge]}}
  judge: {type: decision, transition: {next: [{to: bye, when: {mood: good}}]}}
  bye: {type: terminal}
"""


def test_a_run_that_is_stuck_fails_unless_that_is_expected() -> None:
    talk = "graph: graph.yaml\nturns:\n  - {say: bad}\n"
    result = played(TRAP, talk)
    assert told(result) == [("x.yaml:3:5: the run is stuck in 'judge': nothing holds in 'judge' "
                            "(-> bye: does not hold)")]  # fmt: skip
    assert "  -> bye: mood is good  [does not hold]  (mood is 'bad')" in result.problems[0].details
    assert played(TRAP, f"{talk[:-2]}, expect: {{status: stuck}}}}\n").status == "passed"


def test_a_failure_shows_every_guard_with_its_value() -> None:
    result = played(DESK, REFUND.replace("refund", "other"))
    assert result.problems[0].say == "My rake is broken."
    assert list(result.problems[0].details) == [
        "in 'ask' it went to 'sort':",
        "  -> sort: no condition  [holds]",
        "in 'sort' it went to 'ask':",
        "  -> pay: intent is refund  [does not hold]  (intent is 'other')",
        "  -> ask: no condition  [holds]",
    ]


def test_guards_of_a_state_that_was_not_left_are_shown() -> None:
    """No event tells of them."""
    plan = """
id: p
title: P
states:
  - {id: a, title: A, tasks: [{id: t, description: T, deliverables: [{key: n, type: integer}]}],
     transitions: [{target_state_id: b, condition_type: deliverable_value_numeric,
                    condition_config: {key: n, operator: gte, value: 5}},
                   {target_state_id: b, condition_type: turn_count_exceeded,
                    condition_config: {turns: 3}}]}
  - {id: b, title: B, tasks: [{id: u, description: U}]}
"""
    talk = """
graph: graph.yaml
turns:
  - replies: [How many?]
  - say: "4"
    replies: [{calls: [{set_deliverable: {key: n, value: 4}}], reply: Fine}]
    expect: {state: b, guards: {b: false}}
"""
    result = played(plan, talk)
    assert len(result.problems) == 1
    assert "  -> b: n ≥ 5  [does not hold]  (n is 4)" in result.problems[0].details
    assert (
        "  -> b: after 3 turns without progress  [does not hold]  (0 turns without progress)"
        in result.problems[0].details
    )


TASKS = """
id: p
title: P
states:
  - {id: a, title: A, type: loose, tasks: [
      {id: name, description: N, deliverables: [{key: first}, {key: last}]},
      {id: wave, description: W}], transitions: [{target_state_id: b}]}
  - {id: b, title: B, tasks: [{id: u, description: U}]}
"""


def test_an_open_task_is_named_and_nothing_is_shown_twice() -> None:
    """A plan asks its ways again after each change, which says the same again."""
    talk = """
graph: graph.yaml
turns:
  - replies: [Who?]
  - say: Ann
    replies: [{calls: [{set_deliverable: {key: first, value: Ann}}], reply: Fine}]
    expect: {state: b}
  - {say: hm, replies: [Hm], expect: {state: b}}
"""
    first, second = played(TASKS, talk).problems
    way = "  -> b: all tasks done  [does not hold]  "
    assert first.details == (
        "in 'a' it stayed:",
        f"{way}(name is begun: last not set, wave is open)",
    )
    assert second.details == first.details


def test_what_is_expected_of_the_whole_is_told_beside_a_turn() -> None:
    whole = "expect: {never: pay, turns_at_most: 0, ended: false}\n"
    found = told(played(DESK, REFUND.replace("state: pay", "state: ask") + whole))
    assert [line.partition(": ")[2] for line in found] == [
        "expected to be in 'ask'; it is in 'pay'",
        "expected that 'pay' is never entered; it was",
        "expected at most 0 turns; there were 1",
        "expected that the run goes on; it has ended in 'pay'",
    ]
    # Where the rest was not played, only what can be told for good.
    more = REFUND.replace("    expect: {state: pay}\n", "  - {say: more}\n")
    found = told(played(DESK, more + whole.replace("false", "true")))
    assert [line.partition(": ")[2] for line in found] == [
        "the run has ended before this turn",
        "expected that 'pay' is never entered; it was",
        "expected at most 0 turns; there were 1",
    ]


def test_a_changed_graph_is_told_and_the_test_runs() -> None:
    result = played(DESK, f"digest: 0123456789abcdef\n{REFUND}")
    assert result.status == "passed"
    assert result.notes == ("the graph has changed since this was recorded",)
    updated = played(DESK, f"digest: 0123456789abcdef  # of old\n{REFUND}", update=True)
    assert updated.text is not None
    assert updated.text.endswith(f"  # of old\n{REFUND}")
    assert played(DESK, updated.text).notes == ()


def test_values_from_the_start() -> None:
    talk = REFUND.replace("turns:", "data: {intent: other}\nturns:")
    assert told(played(DESK, talk.replace("reply: Sorry!", "reply: Hm"))) == []
    assert told(played(DESK, talk.replace("intent: other", "intent: 3"))) == [
        "x.yaml:2:16: 3 is none of the values of 'intent'"
    ]
    assert told(played(DESK, talk.replace("{intent: other}", "{intend: other}"))) == [
        "x.yaml:2:8: the graph has no field 'intend'; did you mean 'intent'?"
    ]


@pytest.mark.parametrize("content", ["turns: [", "turns: 3", "", "- a", "turns: [{say: [a]}]"])
def test_a_file_that_is_none_is_told(content: str) -> None:
    result = played(DESK, content)
    assert result.status == "error"
    assert result.problems[0].where.startswith("x.yaml:")


# --- --update -------------------------------------------------------------------------------------

COMMENTED = """\
# who wants a refund
graph: graph.yaml   # beside it

turns:
  - say: My rake is broken.   # the reason
    replies:
      - {writes: {intent: refund}, reply: "Sorry!"}
    expect:
      state: ask      # wrong
      takes:          # wrong too
        - sort
        - ask
      data:
        intent: other # and this
      said: 'Hm'
      not_said: xyz
"""


def test_update_changes_what_is_wrong_and_nothing_else() -> None:
    result = played(DESK, COMMENTED, update=True)
    assert result.text == (
        COMMENTED.replace("state: ask ", "state: pay ")
        .replace("- sort\n        - ask\n", "[sort, pay]\n")
        .replace("intent: other", "intent: refund")
        .replace("'Hm'", "Sorry!")
    )
    assert (result.status, result.notes) == ("passed", ())
    assert [line for line in result.diff if line.startswith("+ ")] == [
        line for line in result.diff if line.startswith("+") and not line.startswith("+++")
    ]


def test_update_keeps_line_ends_and_json() -> None:
    windows = REFUND.replace("pay", "ask").replace("\n", "\r\n")
    assert played(DESK, windows, update=True).text == REFUND.replace("\n", "\r\n")
    text = '{"graph": "g", "turns": [{"say": "x", "replies": [{"writes": {}}]}]}'
    result = played(DESK, text, name="x.json", update=True)
    assert result.text == text.replace(
        "{}}]}", '{}}], "expect": {"takes": ["sort", "ask"], "state": "ask"}}'
    )
    lines_ = '{"graph": "g"}\n{"say": "x", "replies": [{"writes": {}}]}\n'
    result = played(DESK, lines_, name="x.jsonl", update=True)
    assert result.text == lines_.replace(
        "{}}]}", '{}}], "expect": {"takes": ["sort", "ask"], "state": "ask"}}'
    )


def test_update_leaves_what_it_cannot_say() -> None:
    talk = REFUND.replace("{state: pay}", "{state: ask, not_said: Sorry}")
    result = played(DESK, talk, update=True)
    assert result.text == talk.replace("state: ask", "state: pay")
    assert result.status == "failed"
    assert result.notes == (
        "x.yaml:6:36: expected no reply that contains 'Sorry'; said: 'Sorry!'; change it by hand",
    )


def test_update_does_not_touch_what_does_not_fit_any_more() -> None:
    wrong = REFUND.replace("{writes: {intent: refund}, reply: Sorry!}", "{choice: pay}")
    result = played(DESK, wrong, update=True)
    assert result.text is None
    assert result.status == "failed"
    assert result.notes[-1].startswith("it is not rewritten")


def test_update_does_nothing_where_all_is_well() -> None:
    assert played(DESK, REFUND, update=True).text is None


def test_a_witness_becomes_a_test() -> None:
    """A witness of validate has calls and choices but no text: its model is silent."""
    witness = "graph: graph.yaml\nwitness: true\nturns:\n"
    witness += "  - say: x\n    replies: [{writes: {intent: other}}]\n  - {say: y, replies: []}\n"
    result = played(DESK, witness, update=True)
    assert result.text is not None
    assert result.text.startswith(witness.partition("  - {say: y")[0])
    assert "    expect:\n      takes: [sort, ask]\n      state: ask\n" in result.text
    assert told(played(DESK, result.text)) == []


def test_values_on_one_line() -> None:
    texts = ["a, b", "[x]", "it: y", "yes", "12", "line\nbreak", "'", '"', "# no", "", " a ", "1e3"]
    for text in texts:
        line = one_line({"k": [text, {"n": text}]}, "yaml")
        assert "\n" not in line
        found = read("x.yaml", f"turns: []\ndata: {line}\n".encode())
        assert found.data == {"k": [text, {"n": text}]}
    block = in_block("data", {"a": texts, "b": {"c": {"d": 1}}}, 4)
    found = read("x.yaml", f"turns: []\nx-a:\n    {block}\n".encode())
    assert found.document.value == {
        "turns": [],
        "x-a": {"data": {"a": texts, "b": {"c": {"d": 1}}}},
    }


# --- coverage -------------------------------------------------------------------------------------


def covered(graph: str, *conversations: str) -> GraphCoverage:
    opened = graph_of(graph)
    results = [played(graph, text, coverage=True) for text in conversations]
    counts = added(result.counts for result in results if result.counts is not None)
    return GraphCoverage("graph.yaml", "d", opened.loaded, opened.config, counts, ["x.yaml"])


def ways(found: GraphCoverage) -> dict[tuple[str, str, str], tuple[int, int, int, int]]:
    return {
        (way.key[0], way.key[3], way.key[1]): (way.taken, way.won, way.true, way.false)
        for way in found.ways
    }


def test_states_transitions_guards_and_winners_are_counted() -> None:
    found = covered(DESK, REFUND, REFUND.replace("refund", "other"), REFUND)
    assert [found.visits(name) for name in ("ask", "sort", "pay")] == [4, 3, 2]
    assert ways(found) == {
        ("ask", "sort", "written"): (3, 0, 0, 0),
        ("sort", "pay", "written"): (2, 2, 2, 1),  # the way to 'ask' would have held too
        ("sort", "ask", "written"): (1, 0, 0, 0),
    }
    assert found.summary.total == (8, 8)
    assert covered(DESK).summary.total == (0, 8)


def test_jumps_entries_nets_and_refusals_are_counted() -> None:
    graph = """
entry_transitions: [a, b]
fields: {n: {type: int}}
tools: {t: {command: [t]}}
states:
  a: {type: user, writes: [n], transition: {next: [call]}}
  b: {type: user, transition: {next: [call]}}
  call: {type: tool, tool: t, on_error: b, transition: {next: [c, d]}}
  c: {type: user, transition: {next: [call]}}
  d: {type: agent, on_invalid: a, transition: {next: [a, b]}}
"""
    talk = """
graph: graph.yaml
turns:
  - replies: [choice: a]
  - {say: many}
  - {say: "5", replies: [{calls: [t: {}]}, {result: {error: no}}]}
  - {say: x, replies: [{calls: [t: {}]}, {result: yes}, {choice: d}, hi, {choice: e}, {choice: f}]}
"""
    found = covered(graph, talk)
    counts = {key: value[0] for key, value in ways(found).items()}
    assert counts == {
        ("", "a", "entry"): 1, ("", "b", "entry"): 0,
        ("a", "call", "written"): 1, ("b", "call", "written"): 1,
        ("call", "c", "written"): 0, ("call", "d", "written"): 1, ("call", "b", "on_error"): 1,
        ("c", "call", "written"): 0,
        ("d", "a", "written"): 1, ("d", "b", "written"): 0, ("d", "a", "on_invalid"): 1,
    }  # fmt: skip
    assert found.counts.refused == {("a", "line"): 1, ("d", "choice"): 2}
    net = """
id: p
title: P
limits: {stuck_turns: 1}
states:
  - {id: a, title: A, tasks: [{id: t, description: T, deliverables: [{key: n}]}]}
  - {id: b, title: B, tasks: [{id: u, description: U}]}
"""
    talk = "graph: g\nturns: [replies: [a], {say: x, replies: [b]}, {say: y, replies: [b]}]\n"
    found = covered(net, talk.replace(", {say: y, replies: [b]}", ""))
    assert ways(found)["a", "b", "net"][0] == 1
    assert found.summary.transitions == (0, 2)


def test_what_can_never_be_seen_does_not_count() -> None:
    graph = """
initial: a
states:
  a: {type: user, transition: {next: [{to: b, when: "1 == 2"}, c, {to: d, when: "x > 1", priority: 5}]}}
  b: {type: terminal}
  c: {type: terminal}
  d: {type: terminal}
  e: {type: user, transition: {next: [c]}}
"""  # noqa: E501 - as files have it
    found = covered(graph, "graph: g\nturns: [{say: x}]\n")
    never = {way.key[0] + way.key[3]: bool(way.never) for way in found.ways}
    assert never["ad"]
    assert never["ec"]
    assert not never["ac"]
    assert found.reachable["e"] is False


# --- output ---------------------------------------------------------------------------------------


def test_junit_holds_what_people_write() -> None:
    wrong = Told("x.yaml:1:1", 1, "a <b> & \x1b[2J", "expected 'a' & \x00 <c>", ("x",))
    results = [
        Result("x.yaml", "a & <b>", "g.yaml", "failed", (wrong,), seconds=0.5),
        Result("y.yaml", "", "", "error", (Told("y.yaml:1:1", 0, "", "no"),)),
        Result("z.yaml", "", "g.yaml", "passed"),
    ]
    root = Xml.fromstring(junit(results))
    assert root.attrib["tests"] == "3"
    assert (root.attrib["failures"], root.attrib["errors"]) == ("1", "1")
    cases = {case.attrib["file"]: case for case in root.iter("testcase")}
    assert cases["x.yaml"].attrib["name"] == "a & <b>"
    failure = cases["x.yaml"].find("failure")
    assert failure is not None
    assert failure.attrib["message"] == "expected 'a' & \ufffd <c>"
    assert cases["y.yaml"].find("error") is not None
    assert list(cases["z.yaml"]) == []


def test_nothing_in_a_file_reaches_the_terminal_as_it_is() -> None:
    talk = REFUND.replace("turns:", 'about: "\\e[2J\\u202e"\nturns:')
    talk = talk.replace("state: pay", 'said: "\\e[31m"')
    shown = "\n".join(lines(played(DESK, talk)))
    assert "\x1b" not in shown
    assert "\u202e" not in shown


@pytest.mark.parametrize("jobs", [1, 2])
def test_files_in_processes_come_in_their_order(jobs: int, tmp_path: Path) -> None:
    (tmp_path / "graph.yaml").write_text(DESK)
    for number in range(30):
        text = REFUND if number % 3 else REFUND.replace("pay", "ask")
        (tmp_path / f"t{number:02}.yaml").write_text(text)
    (tmp_path / "t99.yaml").write_text("graph: graph.yaml\nturns: 3\n")
    seen = tmp_path / "seen.json"
    done = run("test", "--jobs", str(jobs), "--coverage-file", seen, tmp_path)
    heads = [line for line in done.out.splitlines() if not line.startswith(" ")]
    assert len(heads) == 32
    assert [head.partition(" ")[0] for head in heads[:4]] == [
        "FAILED",
        "passed",
        "passed",
        "FAILED",
    ]
    assert heads[-2:][0].startswith("ERROR")
    assert heads[-1] == "20 passed, 10 failed, 1 could not be played · 31 conversations, 30 turns"
    assert done.code == 2
    assert '"visits": 30' in seen.read_text()


# --- anything at all ------------------------------------------------------------------------------

_WORDS = (*ANYTIME, *WHOLE, *VALUE_TESTS, "from", "to", "at", "by", "ask", "sort", "pay", "intent",
          "refund", "sort -> pay", "next[0]", "x", "", "turns", "say", "replies", "expect", "data",
          "writes", "reply", "calls", "choice", "graph")  # fmt: skip
_VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-2, 9), st.sampled_from(_WORDS), st.floats()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(_WORDS), inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(max_examples=120, deadline=None)
@given(st.dictionaries(st.sampled_from((*ANYTIME, *WHOLE)), _VALUES, max_size=4), st.booleans())
def test_whatever_is_expected_there_is_an_answer(expect: dict[str, Any], whole: bool) -> None:
    """Never an exception; a mistake has a place, and what --update writes holds."""
    value = json.loads(
        '{"graph": "g", "turns": [{"say": "x", "replies": [{"writes": {"intent": "refund"}}]}]}'
    )
    (value if whole else value["turns"][0])["expect"] = expect
    text = json.dumps(value)
    result = played(DESK, text, name="x.json")
    assert result.status in ("passed", "failed", "error")
    assert all(problem.where.startswith("x.json:1:") for problem in result.problems)
    updated = played(DESK, text, name="x.json", update=True)
    if updated.text is not None:
        again = played(DESK, updated.text, name="x.json")
        assert len(again.problems) <= len(result.problems)


@settings(max_examples=100, deadline=None)
@given(_VALUES)
def test_whatever_a_file_holds_there_is_an_answer(value: Any) -> None:
    text = json.dumps({"graph": "g", "turns": value})
    assert played(DESK, text, name="x.json").status in ("passed", "failed", "error")
    assert played(DESK, text, name="x.json", update=True, coverage=True).status


@pytest.mark.parametrize("name", ["x.yaml", "x.json", "x.jsonl"])
@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"\x00", b"turns: \xff", b"[" * 9999, b"{"])
def test_bytes_that_are_no_text(name: str, content: bytes) -> None:
    opened = graph_of(DESK)
    result = run_job(name, content, Order(lambda _path, _conversation: opened))
    assert result.status == "error"
    assert result.problems[0].where.startswith(name)


def test_a_part_of_a_run_is_folded_again_without_a_copy_of_all_that_was_said() -> None:
    """What explains a failure: with a copy for each turn a long file took its length squared."""
    first = Messages().added({"id": "a", "content": 1})
    whole = first.added({"id": "b", "content": 2})
    again = first.added({"id": "b", "content": 2})
    assert again == whole
    assert again._items is whole._items
    other = first.added({"id": "b", "content": 3})
    assert list(other) == [{"id": "a", "content": 1}, {"id": "b", "content": 3}]
    assert list(whole) == list(again) == [{"id": "a", "content": 1}, {"id": "b", "content": 2}]
    assert whole.knows("b") and not first.knows("b")  # noqa: PT018 - one fact
    more = again.added({"id": "c"})
    assert (len(more), len(again)) == (3, 2)
