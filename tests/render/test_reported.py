"""What testers found in drawings: each the smallest input of its kind."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from pictures import GRAPHS, REAL, drawn, engine, graph_of, hostile, svg_of
from run_cli import run as run_cli

from statecli.load.loader import load
from statecli.model.graph import Graph
from statecli.render.collapse import collapsed
from statecli.render.drawing import Look, Mark, Message
from statecli.render.ends import fitted
from statecli.render.layout import laid_out

PLAIN = "initial: a\nstates:\n  a: {type: user, transition: {next: [b]}}\n  b: {type: terminal}\n"


def read(text: str) -> Graph:
    graph = load("g.yaml", text).graph
    assert graph is not None
    return graph


@pytest.mark.parametrize("link", [False, True])
def test_a_drawing_never_replaces_its_graph(tmp_path: Path, *, link: bool) -> None:
    graph = tmp_path / "g.json"
    graph.write_text('{"initial": "a", "states": {"a": {"type": "terminal"}}}')
    out = tmp_path / "other.json"
    if link:
        out.symlink_to(graph)
    done = run_cli("render", graph, "--to", "json", "-o", out if link else graph)
    assert done.code == 2
    assert "would overwrite" in done.err
    assert "terminal" in graph.read_text()


def test_marks_inside_a_group_are_marks_of_the_group() -> None:
    lines = ["initial: s0", "states:"]
    lines += [f"  s{at}: {{type: user, transition: {{next: [s{at + 1}]}}}}" for at in range(99)]
    full = drawn(read("\n".join([*lines, "  s99: {type: terminal}"])))
    mark = Mark(severity="error", messages=(Message("error", "wrong"),), steps=(7,))
    arrows = tuple(
        a._replace(mark=mark) if (a.state, a.number) == ("s1", 0) else a for a in full.arrows
    )
    small = collapsed(full._replace(arrows=arrows))
    group = next(box for box in small.boxes if "s1" in box.members)
    assert "s2" in group.members
    assert (group.mark.severity, group.mark.steps) == ("error", (7,))


def trace(tmp_path: Path, *bodies: tuple[str, dict[str, object]]) -> Path:
    file = tmp_path / "t.jsonl"
    rows = [
        {"run": "r", "number": at, "time": 0.0, "event": event, "body": body}
        for at, (event, body) in enumerate(bodies, 1)
    ]
    file.write_text("\n".join(map(json.dumps, rows)))
    return file


def counted(graph: Path, file: Path) -> tuple[dict[str, object], str]:
    done = run_cli("render", graph, "--to", "json", "--trace", file)
    assert done.code == 0, done.err
    drawing = json.loads(done.out)
    names = {box["id"]: box["name"] for box in drawing["boxes"]}
    found = {
        f"{names[a['source']]} {names[a['target']]}": a.get("mark", {}).get("times")
        for a in drawing["arrows"]
    }
    return found, done.err


def test_a_route_counts_where_it_still_leads_there(tmp_path: Path) -> None:
    graph = tmp_path / "g.yaml"
    text = PLAIN.replace("[b]", "[{to: c, when: {n: 1}}, b]") + "  c: {type: terminal}\n"
    graph.write_text(text)
    moved = ("entered", {"token": 0, "state": "b", "number": 0})
    file = trace(tmp_path, ("started", {"state": "a", "data": {}}), moved)
    assert counted(graph, file)[0] == {" a": None, "a c": 0, "a b": 1}
    graph.write_text(text.replace(", b]", "]"))
    found, err = counted(graph, file)
    assert found == {" a": None, "a c": 0}
    assert "1 of its moves are no routes of this graph" in err


def test_the_end_of_a_plan_is_a_move_too(tmp_path: Path) -> None:
    graph = tmp_path / "p.yaml"
    graph.write_text("states:\n  - {id: a, title: A, tasks: [{id: t, description: d}]}\n")
    file = trace(
        tmp_path,
        ("started", {"state": "a", "data": {}}),
        ("chose", {"token": 0, "state": "a", "target": "__end__", "number": 0}),
        ("ended", {"token": 0, "state": "__end__"}),
    )
    assert counted(graph, file)[0] == {" a": None, "a __end__": 1}


@pytest.mark.parametrize("row", ["[" * 100_000, '{"run": "r", "number": 1e999}', "[]", "7"])
def test_a_trace_of_anything_gets_one_message(tmp_path: Path, row: str) -> None:
    (tmp_path / "g.yaml").write_text(PLAIN)
    (tmp_path / "t.jsonl").write_text(row)
    done = run_cli("render", tmp_path / "g.yaml", "--trace", tmp_path / "t.jsonl")
    assert done.code == 2
    assert "t.jsonl:1: this is no event" in done.err


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"kind": "coverage", "graphs": [{"path": "a\\u0000b"}]}',
        '{"kind": "coverage", "graphs": [{"path": "g.yaml", "states": [{"state": 1e400}]}]}',
        '{"kind": "coverage", "graphs": 3}',
    ],
)
def test_a_coverage_file_of_anything_gets_one_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "g.yaml").write_text(PLAIN)
    (tmp_path / "c.json").write_text(text)
    done = run_cli("render", "g.yaml", "--coverage", "c.json")
    assert done.code == 2
    assert done.err.startswith("statecli: c.json: ")


@pytest.mark.parametrize("option", ["--session", "--trace", "--witness", "--coverage", "--dot"])
def test_an_option_without_a_value_is_not_passed_over(tmp_path: Path, option: str) -> None:
    (tmp_path / "g.yaml").write_text(PLAIN)
    store = () if option != "--session" else ("--store", tmp_path / "s.db")
    done = run_cli("render", tmp_path / "g.yaml", "--to", "svg", option, "", *store)
    assert done.code == 2


def test_an_empty_trace_marks_nothing(tmp_path: Path) -> None:
    (tmp_path / "g.yaml").write_text(PLAIN)
    (tmp_path / "t.jsonl").write_text("\n")
    done = run_cli("render", tmp_path / "g.yaml", "--trace", tmp_path / "t.jsonl")
    assert (done.code, "no event is in it" in done.err) == (2, True)


@pytest.mark.parametrize(
    "text",
    [
        PLAIN.replace("initial: a", "initial: zz"),
        PLAIN.replace("initial: a", "entry_transitions: [a, zz]"),
    ],
)
def test_where_a_run_should_begin_is_drawn_as_missing(text: str) -> None:
    drawing = drawn(read(text))
    box = next(box for box in drawing.boxes if box.name == "zz")
    assert box.missing
    assert ("start", box.id) in {(a.source, a.target) for a in drawing.arrows}


def test_the_end_of_a_plan_is_no_state_of_the_other_form() -> None:
    box = next(b for b in drawn(read(PLAIN.replace("[b]", "[__end__]"))).boxes if "__" in b.name)
    assert box.missing


@pytest.mark.parametrize("answer", ["{}", "no json", "[]", '{"bb": "0,0,1"}'])
def test_an_engine_that_answers_nonsense(tmp_path: Path, answer: str) -> None:
    (tmp_path / "g.yaml").write_text(PLAIN)
    dot = tmp_path / "dot"
    dot.write_text(f"#!/bin/sh\ncat > /dev/null\necho '{answer}'\n")
    dot.chmod(0o755)
    done = run_cli("render", tmp_path / "g.yaml", "--to", "svg", "--dot", dot)
    assert done.code == 2
    assert "is no layout" in done.err
    assert run_cli("render", tmp_path / "g.yaml", "--to", "html", "--dot", dot).code == 0


def test_a_focus_of_any_depth_ends(tmp_path: Path) -> None:
    (tmp_path / "g.yaml").write_text(PLAIN)
    words = ("--focus", "a", "--depth", "99999999999999999999")
    assert run_cli("render", tmp_path / "g.yaml", "--to", "text", *words).code == 0


def test_many_guards_are_quick() -> None:
    ways = ", ".join(f"{{to: b, when: {{k: {at}}}}}" for at in range(300))
    drawing = drawn(read(PLAIN.replace("[b]", f"[{ways}]")))
    assert len(drawing.arrows) == 301


@pytest.mark.parametrize("words", [("--dot", "dot"), ("--to", "pdf")])
def test_the_bundled_engine_is_not_replaced_silently(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    (tmp_path / "g.yaml").write_text(PLAIN)
    to = () if "--to" in words else ("--to", "svg")
    done = run_cli("render", tmp_path / "g.yaml", "--renderer", "bundled", *words, *to)
    assert done.code == 2
    assert "--renderer bundled" in done.err


def test_a_legend_that_a_format_does_not_have_is_said(tmp_path: Path) -> None:
    (tmp_path / "g.yaml").write_text(PLAIN)
    done = run_cli("render", tmp_path / "g.yaml", "--to", "mermaid", "--legend")
    assert "--legend: a mermaid drawing has none" in done.err


def test_two_graphs_are_one_too_many(tmp_path: Path) -> None:
    done = run_cli("render", "a.yaml", "b.yaml")
    assert (done.code, "'b.yaml' is one too many" in done.err) == (2, True)


@pytest.mark.parametrize("path", [*GRAPHS, *REAL], ids=lambda path: path.stem)
def test_no_arrow_begins_where_another_one_ends(path: Path) -> None:
    drawing = drawn(graph_of(path))
    layout, _ = laid_out(engine, drawing, Look())
    tips = [(a.target, layout.arrows[a.id].tip) for a in drawing.arrows]
    for arrow in drawing.arrows:
        start = layout.arrows[arrow.id].points[0]
        for box, tip in tips:
            if box == arrow.source and box.startswith("s"):
                assert math.dist(start, tip) > 4, (arrow, box)


@pytest.mark.parametrize("kind", ["decision", "verifier", "executor", "user", "goal", "agent"])
def test_every_arrow_head_lies_outside_of_its_box(kind: str) -> None:
    drawing = drawn(hostile(kind))
    layout, _ = laid_out(engine, drawing, Look())
    for arrow in drawing.arrows:
        box = layout.boxes[arrow.target]
        x, y = layout.arrows[arrow.id].tip
        deep = min(box.width / 2 - abs(x - box.x), box.height / 2 - abs(y - box.y))
        assert deep < 19  # the largest inset of an outline
    assert fitted.__doc__
    assert svg_of(drawing)


@pytest.mark.parametrize("option", ["--record", "--trace"])
def test_a_chat_never_writes_over_its_graph(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "g.yaml").write_text(PLAIN)
    done = run_cli("chat", "./g.yaml", option, "g.yaml", "--store", "s.db", stdin="hello\n")
    assert done.code == 2
    assert "would overwrite" in done.err
    assert (tmp_path / "g.yaml").read_text() == PLAIN


def test_a_record_and_a_trace_are_two_files(tmp_path: Path) -> None:
    (tmp_path / "g.yaml").write_text(PLAIN)
    file = str(tmp_path / "x")
    done = run_cli("chat", tmp_path / "g.yaml", "--record", file, "--trace", file, stdin="hi\n")
    assert (done.code, "would overwrite" in done.err) == (2, True)


def test_a_changed_graph_since_the_tests_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "g.yaml").write_text(PLAIN)
    report = {"kind": "coverage", "graphs": [{"path": "g.yaml", "digest": "0", "states": [],
                                              "transitions": []}]}  # fmt: skip
    (tmp_path / "c.json").write_text(json.dumps(report))
    done = run_cli("render", "g.yaml", "--coverage", "c.json", "--to", "text")
    assert (done.code, "was changed since these tests ran" in done.err) == (0, True)
