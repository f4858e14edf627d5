"""Marks on a drawing: diagnostics at their state or route, where runs were, what tests saw."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from pictures import engine, seen
from run_cli import run as run_cli

GRAPH = """
initial: ask
fields: {done: {type: bool, default: false}}
states:
  ask: {type: user, description: Wait, transition: {next: [answer]}}
  answer:
    type: agent
    description: Answer
    writes: [done]
    transition: {next: [{to: bye, when: {done: true}}, {to: ask}]}
  bye: {type: terminal}
"""
TALK = """
graph: a.yaml
turns:
  - {say: hello, replies: [{writes: {done: false}, reply: Hi}]}
  - {say: bye, replies: [{writes: {done: true}, reply: Bye}]}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "a.yaml").write_text(GRAPH, "utf-8")
    (tmp_path / "talk.yaml").write_text(TALK, "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def render(*words: str) -> dict[str, dict[str, object]]:
    """The boxes by name and the arrows by their ends, as JSON has them."""
    done = run_cli("render", "a.yaml", "--to", "json", *words)
    assert done.code == 0, done.err
    drawing = json.loads(done.out)
    names = {box["id"]: box["name"] or box["role"] for box in drawing["boxes"]}
    arrows = {f"{names[a['source']]} {names[a['target']]}": a for a in drawing["arrows"]}
    return {**{names[box["id"]]: box for box in drawing["boxes"]}, **arrows}


def mark(part: dict[str, object]) -> object:
    return part.get("mark")


def test_a_session(folder: Path) -> None:
    store = str(folder / "s.db")
    assert run_cli("chat", "a.yaml", "--model", "script:talk.yaml", "--store", store).code == 0
    listed = json.loads(run_cli("sessions", "list", "--json", "--store", store).out)
    parts = render("--session", listed[0]["run"][:6], "--store", store)
    assert mark(parts["ask"]) == {"times": 2}
    assert mark(parts["bye"]) == {"times": 1, "current": True}
    assert mark(parts["ask answer"]) == {"times": 2}
    assert mark(parts["answer bye"]) == {"times": 1}
    assert mark(parts["start ask"]) is None


def test_what_was_undone_does_not_count(folder: Path) -> None:
    bodies = [
        ("started", {"state": "ask", "data": {}}),
        ("entered", {"token": 0, "state": "answer", "number": 0}),
        ("undone", {"to": 1}),
    ]
    rows = [
        {"run": "r", "number": at, "time": 0.0, "event": event, "body": body}
        for at, (event, body) in enumerate(bodies, 1)
    ]
    (folder / "t.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    parts = render("--trace", "t.jsonl")
    assert mark(parts["answer"]) == {"times": 0}
    assert mark(parts["ask"]) == {"times": 1, "current": True}


def test_the_path_of_a_conversation_is_numbered(folder: Path) -> None:
    parts = render("--witness", "talk.yaml")
    assert mark(parts["ask answer"]) == {"steps": [1, 3]}
    assert mark(parts["answer ask"]) == {"steps": [2]}
    assert mark(parts["answer bye"]) == {"steps": [4]}
    assert mark(parts["bye"]) == {"current": True}


def test_diagnostics_stand_at_their_route_or_state(folder: Path) -> None:
    text = GRAPH.replace("{to: ask}", "{to: ask}, {to: byee, when: {done: true}}")
    (folder / "a.yaml").write_text(text.replace("bye: {type", "lost: {type"), "utf-8")
    parts = render("--lint")
    assert "undefined-target" in str(mark(parts["answer byee"]))
    assert "unreachable-terminal" in str(mark(parts["lost"]))
    assert mark(parts["ask"]) is None


def test_without_lint_nothing_is_marked(folder: Path) -> None:
    (folder / "a.yaml").write_text(GRAPH.replace("to: ask", "to: askk"), "utf-8")
    assert all("mark" not in part for part in render().values())


def test_what_no_test_has_seen_stands_out(folder: Path) -> None:
    report = {
        "version": 1, "kind": "coverage",
        "graphs": [{
            "path": str(folder / "a.yaml"),
            "states": [{"state": "ask", "visits": 2}, {"state": "bye", "visits": 0}],
            "transitions": [{"source": "answer", "number": 0, "taken": 0},
                            {"source": "ask", "number": 0, "taken": 2}],
        }],
    }  # fmt: skip
    (folder / "c.json").write_text(json.dumps(report), "utf-8")
    parts = render("--coverage", "c.json")
    assert mark(parts["ask"]) == {"times": 2}
    assert "no test comes here" in str(mark(parts["bye"]))
    assert "no test goes this way" in str(mark(parts["answer bye"]))


def test_ways_after_an_error_that_no_test_has_taken_stand_out(folder: Path) -> None:
    """They are in the coverage file as ways without a number."""
    (folder / "a.yaml").write_text(
        "initial: ask\ntools: {t: {command: [t]}}\nstates:\n"
        "  ask: {type: user, transition: {next: [call]}}\n"
        "  call: {type: tool, tool: t, on_error: sorry, transition: {next: [choose]}}\n"
        "  choose: {type: decision, on_invalid: ask, transition: {next: [ask, sorry]}}\n"
        "  sorry: {type: terminal}\n"
    )
    (folder / "t.yaml").write_text(
        "graph: a.yaml\nturns:\n"
        "  - {say: x, replies: [calls: [t: {}], result: {}, choice: ask]}\n"
        "  - {say: y, replies: [calls: [t: {}], result: {error: gone}]}\n"
    )
    assert run_cli("test", "--coverage-file", "c.json", "t.yaml").code == 0
    parts = render("--coverage", "c.json")
    assert mark(parts["call sorry"]) == {"times": 1}
    jumps = [arrow for arrow in json.loads(
        run_cli("render", "a.yaml", "--to", "json", "--coverage", "c.json").out
    )["arrows"] if arrow["style"] == "jump" and arrow["source"] == "s2"]  # fmt: skip
    assert [jump["mark"]["times"] for jump in jumps] == [0]
    assert "no test goes this way" in str(jumps)


def test_marks_can_be_seen_in_the_picture(folder: Path) -> None:
    engine()
    words = ["render", "a.yaml", "-o", "a.svg", "--witness", "talk.yaml", "--lint"]
    (folder / "a.yaml").write_text(GRAPH + "  lost: {type: terminal}\n", "utf-8")
    assert run_cli(*words).code == 0
    svg = (folder / "a.svg").read_text("utf-8")
    picture = seen(svg)
    steps = re.findall(r'class="step".*?<text[^>]*>([0-9])</text>', svg)
    assert sorted(steps) == ["1", "2", "3", "4"]
    assert "[unreachable-state]" in svg
    assert "lost" in picture.names.values()
    assert 'class="state terminal ends here"' in svg


def test_states_of_a_run_that_the_graph_does_not_have_are_named(folder: Path) -> None:
    row = {"run": "r", "number": 1, "time": 0.0, "event": "started", "body": {"state": "old"}}
    row["body"] = {"state": "old", "data": {}}
    (folder / "t.jsonl").write_text(json.dumps(row) + "\n", "utf-8")
    done = run_cli("render", "a.yaml", "--to", "text", "--trace", "t.jsonl")
    assert "was in states that are not here: old" in done.err
    assert done.code == 0


def test_the_path_that_proves_a_finding_is_numbered(folder: Path) -> None:
    (folder / "a.yaml").write_text(
        "initial: a\n"
        "states:\n"
        "  a: {type: agent, writes: [k], transition: {next: [{to: b, when: {k: 1}}, c]}}\n"
        "  c: {type: agent, writes: [j], transition: {next: [{to: b, when: {j: 1}}]}}\n"
        "  b: {type: terminal}\n",
        "utf-8",
    )
    done = run_cli("render", "a.yaml", "--to", "text", "--lint")
    assert "the path that is marked shows" in done.err
    assert "[stuck-state]" in done.err
    parts = render("--lint")
    assert '"steps": [1]' in json.dumps(mark(parts["a c"]))
    assert '"current": true' in json.dumps(mark(parts["c"]))
    assert "stuck-state" in json.dumps(mark(parts["c"]))
