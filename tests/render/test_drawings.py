"""What a drawing shows is what the graph says: every state, every route, its guard, its style."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from pictures import (
    GRAPHS,
    NAMES,
    REAL,
    drawn,
    engine,
    graph_of,
    hostile,
    seen,
    squeezed,
    svg_of,
)

from statecli.kernel.order import routes_of
from statecli.load.loader import load
from statecli.model.graph import END, Graph
from statecli.model.words import brief
from statecli.render.draw import Wish
from statecli.render.drawing import CHOSEN, GUARD, IMPLICIT, JUMP, LINK, Drawing, Look
from statecli.render.geometry import Layout
from statecli.render.layout import laid_out
from statecli.render.sizes import label_lines, label_size
from statecli.text.excerpt import harmless

ALL = [*GRAPHS, *REAL]


def by_name(path: Path) -> str:
    return path.stem


@pytest.mark.parametrize("path", ALL, ids=by_name)
def test_arrows_are_the_written_and_the_implicit_routes(path: Path) -> None:
    graph = graph_of(path)
    drawing = drawn(graph)
    arrows = {(a.state, a.number): a for a in drawing.arrows if a.style not in (LINK, JUMP)}
    routes = {
        (name, route.number): route for name in graph.states for route in routes_of(graph, name)
    }
    assert arrows.keys() == routes.keys()
    labels = seen(svg_of(drawing)).labels
    for key, route in routes.items():
        if route.guard is not None:
            assert squeezed(brief(route.guard)) in squeezed(labels[arrows[key].id])


@pytest.mark.parametrize("path", ALL, ids=by_name)
def test_boxes_are_the_states_and_their_text_is_the_name(path: Path) -> None:
    graph = graph_of(path)
    picture = seen(svg_of(drawn(graph)))
    assert sorted(picture.names.values()) == sorted(graph.states)


def test_every_name_can_be_drawn() -> None:
    graph = hostile()
    picture = seen(svg_of(drawn(graph)))
    wanted = ["\n".join(map(harmless, name.split("\n"))) for name in graph.states]
    assert sorted(picture.names.values()) == sorted(wanted)
    routes = sum(len(routes_of(graph, name)) for name in graph.states)
    assert len(picture.arrows) == routes + 1


@pytest.mark.parametrize("name", NAMES)
def test_a_name_alone(name: str) -> None:
    """Each by itself, so that a failure says which one."""
    import json

    text = json.dumps({"initial": name, "states": {name: {"type": "terminal"}}})
    graph = load("g.json", text).graph
    assert graph is not None
    names = seen(svg_of(drawn(graph))).names
    assert list(names.values()) == ["\n".join(map(harmless, name.split("\n")))]


# --- places ---------------------------------------------------------------------------------------

Rectangle = tuple[float, float, float, float]


def rectangle(x: float, y: float, width: float, height: float) -> Rectangle:
    return x - width / 2, y - height / 2, x + width / 2, y + height / 2


def overlap(one: Rectangle, other: Rectangle) -> bool:
    """More than a touch (half a point)."""
    return (
        min(one[2], other[2]) - max(one[0], other[0]) > 0.5
        and min(one[3], other[3]) - max(one[1], other[1]) > 0.5
    )


def places(drawing: Drawing, layout: Layout) -> tuple[dict[str, Rectangle], dict[str, Rectangle]]:
    """The rectangles of boxes, and of the text beside arrows."""
    boxes = {id_: rectangle(*spot) for id_, spot in layout.boxes.items()}
    labels = {}
    for arrow in drawing.arrows:
        lines = label_lines(arrow)
        at = layout.arrows[arrow.id].label
        if lines:
            assert at is not None, arrow
            wide, high = label_size(lines)
            labels[arrow.id] = rectangle(*at, wide - 6, high - 2)
    return boxes, labels


@pytest.mark.parametrize("rankdir", ["TB", "LR"])
@pytest.mark.parametrize("path", ALL, ids=by_name)
def test_nothing_lies_on_something_else(path: Path, rankdir: str) -> None:
    for tasks in (False, True):
        drawing = drawn(graph_of(path), Wish(tasks=tasks))
        layout, said = laid_out(engine, drawing, Look(rankdir=rankdir))
        assert not said
        boxes, labels = places(drawing, layout)
        for one, other in itertools.combinations(boxes, 2):
            assert not overlap(boxes[one], boxes[other]), (one, other)
        for arrow, label in labels.items():
            for box, spot in boxes.items():
                assert not overlap(label, spot), (arrow, box)
        for one, other in itertools.combinations(labels, 2):
            assert not overlap(labels[one], labels[other]), (one, other)


@pytest.mark.parametrize("path", ALL, ids=by_name)
def test_everything_lies_in_the_picture(path: Path) -> None:
    drawing = drawn(graph_of(path))
    layout, _ = laid_out(engine, drawing, Look())
    boxes, labels = places(drawing, layout)
    for left, top, right, bottom in (*boxes.values(), *labels.values()):
        assert left >= -1
        assert top >= -1
        assert right <= layout.width + 1
        assert bottom <= layout.height + 1


@pytest.mark.parametrize("path", GRAPHS, ids=by_name)
def test_the_same_graph_gives_the_same_bytes(path: Path) -> None:
    assert svg_of(drawn(graph_of(path))) == svg_of(drawn(graph_of(path)))


# --- styles ---------------------------------------------------------------------------------------


def read(text: str) -> Graph:
    graph = load("g.yaml", text).graph
    assert graph is not None
    return graph


def styles(graph: Graph) -> dict[tuple[str, str], str]:
    drawing = drawn(graph)
    names = {box.id: box.name or box.role for box in drawing.boxes}
    return {(names[a.source], names[a.target]): a.style for a in drawing.arrows}


def test_how_a_route_is_taken_shows_in_its_style() -> None:
    graph = read(
        """
        initial: a
        states:
          a: {type: agent, on_error: c, on_invalid: b,
              transition: {next: [{to: d, when: {k: 1}}, {to: b, description: one}, c]}}
          b: {type: user, transition: {next: [a]}}
          c: {type: terminal}
          d: {type: terminal}
        """
    )
    drawing = drawn(graph)
    ids = {box.name: box.id for box in drawing.boxes}
    found = [
        (a.target, a.style, a.label)
        for a in drawing.arrows
        if a.source == ids["a"]
    ]  # fmt: skip
    assert found == [
        (ids["d"], GUARD, "k = 1"),
        (ids["b"], CHOSEN, "one"),
        (ids["c"], CHOSEN, ""),
        (ids["c"], JUMP, "on error"),
        (ids["b"], JUMP, "no valid choice"),
    ]


def test_a_plan_shows_its_implicit_routes_and_its_end() -> None:
    graph = read(
        """
        states:
          - {id: a, title: A, type: loose, tasks: [{id: t, description: d}]}
          - {id: b, title: B, type: loose, tasks: [{id: u, description: d}]}
        """
    )
    assert styles(graph) == {
        ("start", "a"): LINK,
        ("a", "b"): IMPLICIT,
        ("b", END): IMPLICIT,
    }
    without = drawn(graph, Wish(implicit=False))
    assert [arrow.style for arrow in without.arrows] == [LINK]


def order(guards: str) -> list[int]:
    graph = read(
        f"""
        fields: {{n: {{type: int}}, kind: {{type: enum, values: [x, y, z]}}}}
        initial: a
        states:
          a: {{type: agent, writes: [n, kind], transition: {{next: [{guards}, c]}}}}
          b: {{type: terminal}}
          c: {{type: terminal}}
        """
    )
    return [arrow.order for arrow in drawn(graph).arrows if arrow.state == "a"]


@pytest.mark.parametrize(
    "guards",
    [
        "{to: b, when: {kind: x}}, {to: b, when: {kind: y}}",
        "{to: b, when: {n__lt: 5}}, {to: b, when: {n__gte: 5}}",
        "{to: b, when: {kind: x, n__gt: 1}}, {to: b, when: {kind__in: [y, z]}}",
    ],
)
def test_the_order_is_not_shown_where_it_does_not_matter(guards: str) -> None:
    assert order(guards) == [0, 0, 0]


@pytest.mark.parametrize(
    "guards",
    [
        "{to: b, when: {kind: x}}, {to: b, when: {n: 1}}",
        "{to: b, when: {n__lt: 5}}, {to: b, when: {n__lte: 5}}",
        "{to: b, when: {kind: x}}, {to: b, when: {kind__in: [x, y]}}",
    ],
)
def test_the_order_is_shown_where_it_decides(guards: str) -> None:
    assert order(guards) == [1, 2, 3]


def test_branches_part_and_meet_at_bars() -> None:
    graph = graph_of(next(path for path in GRAPHS if path.stem == "fan_out"))
    drawing = drawn(graph)
    bars = [box.id for box in drawing.boxes if box.role == "bar"]
    assert len(bars) == 2
    parting = [a for a in drawing.arrows if a.source == bars[0]]
    meeting = [a for a in drawing.arrows if a.target == bars[1]]
    assert len(parting) == len(meeting) == 3
    routes = sum(len(routes_of(graph, name)) for name in graph.states)
    assert len([a for a in drawing.arrows if a.style != LINK]) == routes


def test_a_target_that_does_not_exist_is_drawn_as_missing() -> None:
    graph = read("initial: a\nstates:\n  a: {type: agent, transition: {next: [nowhere]}}\n")
    box = next(box for box in drawn(graph).boxes if box.name == "nowhere")
    assert box.missing
    assert "there is no such state" in svg_of(drawn(graph))
