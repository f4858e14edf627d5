"""The layout in plain Python: nothing overlaps, arrows go where they should, and no size hangs."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from run_cli import REPOSITORY, files

from statecli.load.loader import build
from statecli.render.draw import Wish, draw
from statecli.render.drawing import START, Arrow, Box, Drawing, Look, Marks
from statecli.render.geometry import Course, Layout, Spot
from statecli.render.layers import layered
from statecli.render.sizes import contents, label_lines, label_size
from statecli.render.svg import picture
from statecli.text import reading

GRAPHS = sorted(p for p in (REPOSITORY / "graphs").iterdir() if p.suffix in (".yaml", ".json"))
#: Not the settings of a plan, which are no graph.
PLANS = [path for path in files("plan-files") if "__" in path.name and "config" not in path.name]
TB, LR = Look("light", "TB"), Look("light", "LR")


def drawing_of(path: Path, *, tasks: bool = False) -> Drawing:
    graph = build(reading.document(str(path), path.read_bytes()), None).graph
    assert graph is not None
    return draw(graph, path.name, Wish(tasks=tasks), Marks())


def made(count: int, ways: Sequence[tuple[int, int]], label: str = "") -> Drawing:
    """A drawing with so many boxes and these ways between them."""
    boxes = tuple(Box(f"s{at}", f"state {at}", kind="agent") for at in range(count))
    arrows = tuple(
        Arrow(f"a{at}", f"s{source}", f"s{target}", label and f"{label} {at}")
        for at, (source, target) in enumerate(ways)
    )
    return Drawing("made", boxes, arrows)


# --- what must hold for every layout --------------------------------------------------------------


def apart(one: Spot, other: Spot, least: float = 0.0) -> bool:
    """Whether two rectangles have no point in common."""
    return (
        abs(one.x - other.x) >= (one.width + other.width) / 2 + least
        or abs(one.y - other.y) >= (one.height + other.height) / 2 + least
    )


def labels(drawing: Drawing, layout: Layout) -> Iterator[tuple[str, Spot]]:
    for arrow in drawing.arrows:
        lines = label_lines(arrow)
        where = layout.arrows[arrow.id].label
        assert (where is not None) == bool(lines), arrow
        if where is not None:
            wide, high = label_size(lines)
            yield arrow.id, Spot(*where, wide - 8, high - 3)  # the text without the air around it


def along(course: Course) -> Iterator[tuple[float, float]]:
    """Points on the curve, and its tip."""
    for at in range(0, len(course.points) - 1, 3):
        (ax, ay), (bx, by), (cx, cy), (dx, dy) = course.points[at : at + 4]
        for step in range(9):
            t = step / 8
            u = 1 - t
            one, two, three, four = u * u * u, 3 * u * u * t, 3 * u * t * t, t * t * t
            yield (
                one * ax + two * bx + three * cx + four * dx,
                one * ay + two * by + three * cy + four * dy,
            )
    yield course.tip


def check(drawing: Drawing, look: Look) -> Layout:
    """Lay it out, and look at everything that must hold."""
    layout = layered(drawing, look)
    assert set(layout.boxes) == {box.id for box in drawing.boxes}
    assert set(layout.arrows) == {arrow.id for arrow in drawing.arrows}
    for box in drawing.boxes:
        inside, spot = contents(box, look.rankdir), layout.boxes[box.id]
        assert (spot.width, spot.height) == (inside.width, inside.height)
        assert spot.x - spot.width / 2 >= -0.01
        assert spot.y - spot.height / 2 >= -0.01
        assert spot.x + spot.width / 2 <= layout.width + 0.01
        assert spot.y + spot.height / 2 <= layout.height + 0.01
    things = [*layout.boxes.items(), *labels(drawing, layout)]
    things.sort(key=lambda item: item[1].x - item[1].width / 2)
    for at, (name, spot) in enumerate(things):
        for other, second in things[at + 1 :]:
            if second.x - second.width / 2 > spot.x + spot.width / 2:
                break
            assert apart(spot, second, -0.01), (name, other)
    for arrow in drawing.arrows:
        check_course(arrow, layout)
    return layout


def check_course(arrow: Arrow, layout: Layout) -> None:
    """It begins and ends at its boxes and passes through no other box."""
    course = layout.arrows[arrow.id]
    assert (len(course.points) - 1) % 3 == 0
    source, target = layout.boxes[arrow.source], layout.boxes[arrow.target]
    assert touches(source, course.points[0]), arrow
    assert touches(target, course.tip), arrow
    ends = {arrow.source, arrow.target}
    for x, y in along(course):
        assert -0.5 <= x <= layout.width + 30
        assert -0.5 <= y <= layout.height + 30
    near = [spot for name, spot in layout.boxes.items() if name not in ends]
    if len(near) < 60:
        for x, y in along(course):
            assert all(not within(spot, x, y) for spot in near), arrow


def touches(spot: Spot, point: tuple[float, float]) -> bool:
    return (
        abs(point[0] - spot.x) <= spot.width / 2 + 0.1
        and abs(point[1] - spot.y) <= spot.height / 2 + 0.1
    )


def within(spot: Spot, x: float, y: float) -> bool:
    return abs(x - spot.x) < spot.width / 2 - 0.5 and abs(y - spot.y) < spot.height / 2 - 0.5


# --- files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [*GRAPHS, *PLANS], ids=lambda path: path.name)
@pytest.mark.parametrize("look", [TB, LR], ids=["TB", "LR"])
def test_nothing_overlaps_in_a_graph(path: Path, look: Look) -> None:
    check(drawing_of(path), look)
    check(drawing_of(path, tasks=True), look)


def test_a_run_begins_above_and_flows_down() -> None:
    drawing = drawing_of(REPOSITORY / "graphs" / "greeting.yaml")
    layout = layered(drawing, TB)
    start = next(box.id for box in drawing.boxes if box.role == START)
    assert layout.boxes[start].y == min(spot.y for spot in layout.boxes.values())
    for arrow in drawing.arrows:
        assert layout.boxes[arrow.source].y < layout.boxes[arrow.target].y
    turned = layered(drawing, LR)
    for arrow in drawing.arrows:
        assert turned.boxes[arrow.source].x < turned.boxes[arrow.target].x


def test_the_same_drawing_gives_the_same_bytes() -> None:
    drawing = drawing_of(REPOSITORY / "graphs" / "triage.yaml")
    one, other = (picture(drawing, layered(drawing, TB), TB) for _ in range(2))
    assert one == other


# --- shapes ---------------------------------------------------------------------------------------


def test_an_empty_drawing_and_a_single_box() -> None:
    assert layered(Drawing("", (), ()), TB).boxes == {}
    check(made(1, []), TB)
    check(made(1, [(0, 0)], "again"), TB)
    check(made(1, [(0, 0), (0, 0), (0, 0)], "again"), LR)


def test_two_ways_between_the_same_boxes_are_two_lines() -> None:
    layout = check(made(2, [(0, 1), (0, 1), (1, 0)], "way"), TB)
    middles = {round(course.label[0]) for course in layout.arrows.values() if course.label}
    assert len(middles) == 3


def test_parts_that_nothing_joins_stand_side_by_side() -> None:
    layout = check(made(40, []), TB)
    assert layout.width < 4 * layout.height
    assert layout.height < 4 * layout.width


def test_a_long_way_stays_straight() -> None:
    """A way over many rows has no more bends than it needs."""
    ways = [(at, at + 1) for at in range(9)]
    layout = check(made(10, [*ways, (0, 9)]), TB)
    assert len({round(x) for x, _ in layout.arrows["a9"].points}) <= 4


def test_a_wide_fan_is_not_one_row() -> None:
    layout = check(made(300, [(0, at) for at in range(1, 300)]), TB)
    assert len({spot.y for spot in layout.boxes.values()}) > 10
    assert layout.width < sum(spot.width for spot in layout.boxes.values()) * 0.8


@settings(max_examples=60)
@given(
    st.integers(1, 14).flatmap(
        lambda count: st.tuples(
            st.just(count),
            st.lists(
                st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)), max_size=3 * count
            ),
            st.sampled_from(["", "when it is so"]),
            st.sampled_from([TB, LR]),
        )
    )
)
def test_nothing_overlaps_whatever_the_ways(
    shape: tuple[int, list[tuple[int, int]], str, Look],
) -> None:
    count, ways, label, look = shape
    check(made(count, ways, label), look)


# --- size -----------------------------------------------------------------------------------------


def far_and_near(count: int) -> list[tuple[int, int]]:
    """A way on from every box, and two far away, forth and back."""
    return [
        (at, to % count) for at in range(count) for to in (at + 1, at * 7 + 3, at * 31 + count // 2)
    ]


def test_a_thousand_boxes() -> None:
    """Everything holds, and twice the boxes take about twice the time: nothing is quadratic."""
    check(made(1000, far_and_near(1000), "way"), TB)
    spent = []
    for count in (400, 1600):
        drawing = made(count, far_and_near(count), "way")
        begun = time.process_time()
        layered(drawing, TB)
        spent.append(time.process_time() - begun)
    assert spent[1] < 16 * spent[0] + 1


@pytest.mark.parametrize(
    "ways",
    [
        [(at, at + 1) for at in range(2999)],
        [(at + 1, at) for at in range(2999)],
        [(at, (at + 1) % 3000) for at in range(3000)],
        [(at, 0) for at in range(3000)],
        [way for at in range(2999) for way in ((at, at + 1), (at + 1, 0))],
    ],
    ids=["chain", "backwards", "circle", "star", "chain with ways back"],
)
def test_long_chains_need_no_recursion(ways: list[tuple[int, int]]) -> None:
    layout = layered(made(3000, ways), TB)
    spots = sorted(layout.boxes.values(), key=lambda spot: (spot.y, spot.x))
    assert all(apart(one, other) for one, other in pairwise(spots))


def test_apart_means_apart() -> None:
    """The checks above see what they are to see."""
    one = Spot(0, 0, 10, 10)
    assert not apart(one, Spot(9, 9, 10, 10))
    assert apart(one, Spot(10, 0, 10, 10))
    spots = [Spot(at * 5, 0, 10, 10) for at in range(3)]
    assert [apart(a, b) for a, b in combinations(spots, 2)] == [False, True, False]
