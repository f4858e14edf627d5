"""Large graphs: what is collapsed, what a focus shows, and that nothing takes for ever."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pictures import GRAPHS, drawn, engine, graph_of, svg_of

from statecli.load.loader import load
from statecli.model.graphs import dominators
from statecli.model.unable import Unable
from statecli.render import layout
from statecli.render.collapse import MOST, collapsed
from statecli.render.drawing import Drawing, Look, Message
from statecli.render.engine import Engine, TooSlow
from statecli.render.focus import focused


def chart(ways: Sequence[Sequence[int]]) -> Drawing:
    """States s0, s1 ... with these ways out."""
    lines = ["initial: s0", "states:"]
    for at, targets in enumerate(ways):
        names = ", ".join(f"s{target}" for target in targets)
        kind = "agent" if targets else "terminal"
        lines.append(f"  s{at}: {{type: {kind}, transition: {{next: [{names}]}}}}")
    graph = load("g.yaml", "\n".join(lines)).graph
    assert graph is not None
    return drawn(graph)


def local(size: int, seed: int = 5) -> list[list[int]]:
    """On to the next state or the one after it, now and then a little back."""
    rng = random.Random(seed)
    found = []
    for at in range(size):
        targets = {min(at + 1, size - 1), min(at + rng.choice([1, 2]), size - 1)} - {at}
        if at and rng.random() < 0.3:
            targets.add(max(0, at - rng.randint(1, 4)))
        found.append(sorted(targets) if at < size - 1 else [])
    return found


def everything(drawing: Drawing) -> list[str]:
    """Every state that a drawing shows, alone or in a group."""
    names: list[str] = []
    for box in drawing.boxes:
        names += box.members or ([box.name] if box.role == "state" else [])
    return sorted(names)


@given(st.lists(st.lists(st.integers(0, 199), max_size=3), min_size=61, max_size=200))
def test_no_state_and_no_way_is_lost(ways: list[list[int]]) -> None:
    size = len(ways)
    full = chart([sorted({target % size for target in targets}) for targets in ways])
    small = collapsed(full)
    assert everything(small) == everything(full)
    inside = {
        name: box.id for box in small.boxes for name in (box.members or (box.name or box.id,))
    }
    names = {box.id: box.name or box.id for box in full.boxes}
    crossing = [
        (inside[names[a.source]], inside[names[a.target]])
        for a in full.arrows
        if inside[names[a.source]] != inside[names[a.target]]
    ]
    shown = {(a.source, a.target) for a in small.arrows if a.source != a.target}
    assert set(crossing) == shown
    counted = sum(a.ways for a in small.arrows if a.source != a.target)
    assert counted == len(crossing)


@pytest.mark.parametrize("size", [61, 100, 300, 1000])
def test_a_large_graph_becomes_readable(size: int) -> None:
    small = collapsed(chart(local(size)))
    assert 10 < len(small.boxes) <= MOST
    assert len(small.arrows) <= 4 * MOST


def test_a_small_graph_stays_as_it_is() -> None:
    full = chart(local(50))
    assert collapsed(full) is full


def test_a_chain_becomes_a_few_boxes() -> None:
    small = collapsed(chart([[at + 1] for at in range(99)] + [[]]))
    assert [box.name for box in small.boxes[:4]] == ["", "s0 … s2", "s3 … s5", "s6 … s8"]
    assert small.boxes[1].members == ("s0", "s1", "s2")


def test_one_state_that_leads_everywhere() -> None:
    small = collapsed(chart([[*range(1, 200)], *([[0]] * 199)]))
    assert 5 < len(small.boxes) <= MOST


def test_marks_of_members_come_together() -> None:
    full = chart([[at + 1] for at in range(99)] + [[]])
    box = full.boxes[50]
    marked = box._replace(
        mark=box.mark._replace(severity="error", messages=(Message("error", "wrong"),))
    )
    boxes = (*full.boxes[:50], marked, *full.boxes[51:])
    small = collapsed(full._replace(boxes=boxes))
    group = next(shown for shown in small.boxes if box.name in shown.members)
    assert group.mark.severity == "error"
    assert group.mark.messages == (Message("error", f"{box.name}: wrong"),)


@pytest.mark.parametrize("size", [100, 1000])
def test_a_thousand_states_can_be_drawn(size: int) -> None:
    svg = svg_of(collapsed(chart(local(size))))
    assert svg.count('class="group') > 5


def test_a_focus_shows_what_is_around_and_counts_the_rest() -> None:
    full = chart([[1], [2, 5], [3], [4], [], [1]])
    near = focused(full, "s1", 1)
    assert everything(near) == ["s0", "s1", "s2", "s5"]
    hidden = {box.name: box.hidden for box in near.boxes}
    assert hidden == {"s0": 0, "s1": 0, "s2": 1, "s5": 0}  # the start is no way of s0
    assert everything(focused(full, "s1", 0)) == ["s1"]
    assert everything(focused(full, "s1", 9)) == everything(full)


def test_a_bar_is_no_step_of_its_own() -> None:
    graph = graph_of(next(path for path in GRAPHS if path.stem == "fan_out"))
    near = focused(drawn(graph), "split_review", 1)
    assert "review_costs" in everything(near)
    assert "weigh_findings" not in everything(near)


def test_dominators_of_a_diamond() -> None:
    assert dominators([[1, 2], [3], [3], [0], [3]], 0) == [-1, 0, 0, 0, -1]


@given(st.lists(st.lists(st.integers(0, 11), max_size=3), min_size=12, max_size=12))
def test_dominators_are_what_every_path_passes(edges: list[list[int]]) -> None:
    found = dominators(edges, 0)

    def reached(without: int) -> set[int]:
        seen = {0} - {without}
        work = list(seen)
        while work:
            for target in edges[work.pop()]:
                if target not in seen and target != without:
                    seen.add(target)
                    work.append(target)
        return seen

    everywhere = reached(-1)
    for node in range(12):
        above = set()
        at = found[node]
        while at >= 0:
            above.add(at)
            at = found[at]
        if node in everywhere:
            assert above == {n for n in everywhere - {node} if node not in reached(n)}
        else:
            assert found[node] == -1


# --- time -----------------------------------------------------------------------------------------


def test_each_attempt_gives_up_something_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []

    def slow(_engine: Engine, text: str, _to: str, kind: str) -> bytes:
        tried.append(kind)
        if len(tried) < 3:
            raise TooSlow
        return b"{}"

    monkeypatch.setattr(layout, "run", slow)
    answer = layout.ask(Engine("dot", bundled=True), chart(local(10)), Look(), "svg")
    assert tried == ["dot", "dot", "sfdp"]
    assert "the graph is large" in answer.said


def test_no_attempt_in_time_is_said_with_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(*_: object) -> bytes:
        raise TooSlow

    monkeypatch.setattr(layout, "run", slow)
    with pytest.raises(Unable, match="no layout of 11 boxes") as caught:
        layout.ask(Engine("dot", bundled=True), chart(local(10)), Look(), "svg")
    assert "svg and html" in caught.value.hint


def test_an_engine_that_hangs_is_stopped(tmp_path: Path) -> None:
    from statecli.render.engine import run

    hanging = tmp_path / "dot"
    hanging.write_text("#!/bin/sh\nsleep 60\n")
    hanging.chmod(0o755)
    with pytest.raises(TooSlow):
        run(Engine(str(hanging), bundled=False), "digraph {}", "svg", patience=0.2)


def test_dense_graphs_begin_with_the_limits() -> None:
    dense = chart([[(at + step) % 80 for step in range(4)] for at in range(80)])
    sparse = chart(local(80))
    assert layout._begin(dense) == 1
    assert layout._begin(sparse) == 0
    engine()
