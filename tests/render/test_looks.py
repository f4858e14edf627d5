"""How it looks: kinds that can be told apart, contrast, themes, legend, escaping in DOT."""

from __future__ import annotations

import itertools
import re
import subprocess

import pytest
from pictures import GRAPHS, NAMES, drawn, engine, graph_of, hostile, seen, svg_of

from statecli.load.loader import load
from statecli.model.graph import KINDS as ALL_KINDS
from statecli.model.guard import Guard
from statecli.model.words import brief
from statecli.render import dot
from statecli.render.draw import Wish
from statecli.render.drawing import Look
from statecli.render.kinds import KINDS, appearance, css_class
from statecli.render.metric import balanced, clipped, width, wrapped
from statecli.render.outlines import outline
from statecli.render.theme import colors


def luminance(color: str) -> float:
    """As WCAG 2 defines it."""
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    bright, dark = sorted([luminance(one), luminance(other)], reverse=True)
    return (bright + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_text_can_be_read(theme: str, kind: str) -> None:
    palette = colors(theme)
    fill, stroke = palette.kind(kind)
    assert contrast(palette.ink, fill) >= 7
    assert contrast(palette.dim, fill) >= 4.5
    assert contrast(stroke, fill) >= 3
    for color in (palette.ink, palette.dim, palette.line, palette.jump, palette.here,
                  palette.error, palette.warning, palette.info):  # fmt: skip
        assert contrast(color, palette.paper) >= 4.5


def test_every_kind_has_a_look_of_its_own() -> None:
    assert set(ALL_KINDS) <= set(KINDS)
    for one, other in itertools.combinations(KINDS, 2):
        left, right = appearance(one), appearance(other)
        assert left.icon != right.icon, (one, other)
        assert left.outline != right.outline, (one, other)
        assert left.glyph != right.glyph, (one, other)
        assert css_class(one) != css_class(other)


def test_kinds_differ_without_colour() -> None:
    shapes = {outline(appearance(kind).outline, 0, 0, 100, 40) for kind in KINDS}
    assert len(shapes) >= len(KINDS) - 1  # a custom kind is a dashed square


def test_the_themes() -> None:
    drawing = drawn(graph_of(GRAPHS[0]))
    light, dark, auto = (svg_of(drawing, Look(theme=theme)) for theme in ("light", "dark", "auto"))
    assert colors("dark").paper not in light
    assert colors("light").paper not in dark
    assert colors("dark").paper in auto
    assert colors("light").paper in auto
    assert "prefers-color-scheme" in auto
    assert "prefers-color-scheme" not in light + dark


def test_a_legend_only_when_asked() -> None:
    drawing = drawn(graph_of(next(path for path in GRAPHS if path.stem == "support_router")))
    assert "legend" not in svg_of(drawing)
    shown = svg_of(drawing, Look(legend=True))
    root = seen(shown).root
    texts = [text.text for text in root.iter() if text.get("class") == "task"]
    assert "terminal: the run ends" in texts
    assert "waits for the person" in texts
    assert "after an error, or no valid choice" in texts
    last = max(
        float(y) for y in re.findall(r'class="legend" transform="translate\(\S+ (\S+)\)', shown)
    )
    assert last + 24 < float(root.get("height") or 0)


def test_nothing_in_a_picture_is_active() -> None:
    """No script, no link, no inline style, nothing fetched: whatever names hold."""
    root = seen(svg_of(drawn(hostile()))).root
    for element in root.iter():
        assert element.tag.rpartition("}")[2] in {
            "svg", "title", "style", "rect", "g", "path", "circle", "text", "tspan"
        }  # fmt: skip
        assert not [name for name in element.attrib if name.startswith("on") or "href" in name]
        assert "style" not in element.attrib


def test_dot_says_the_names_to_the_engine() -> None:
    """The engine reads the labels of the hostile graph as what they are."""
    text = dot.text(drawn(hostile()), Look())
    done = subprocess.run(
        [engine().command, "-Tsvg"], input=text.encode(), capture_output=True, check=True
    )
    root = seen(done.stdout.decode()).root
    shown = "".join(
        "".join(text.itertext()) for text in root.iter("{http://www.w3.org/2000/svg}text")
    )
    for name in ("<b>", "a&b", 'say "hi"', "back\\slash", "ends with \\", "{x|y}", "#1;", "&amp;"):
        assert name in NAMES
        assert name in shown.replace("\xa0", " ")


def test_lines_of_a_name_are_the_name() -> None:
    for name in NAMES:
        assert "".join(wrapped(name, 12, 100)) == name


def test_lines_keep_to_their_width() -> None:
    for text in ("word " * 50, "x" * 500, "状態" * 80):
        for line in wrapped(text, 10, 120):
            assert width(line.rstrip(), 10) <= 120


def test_balanced_lines_are_no_more_and_about_equal() -> None:
    text = "after the customer has said what is wrong and since when it is so"
    lines = balanced(text, 10, 150)
    assert len(lines) == len(wrapped(text, 10, 150))
    widths = [width(line, 10) for line in lines]
    assert max(widths) - min(widths) < 60


def test_what_is_left_out_is_said() -> None:
    assert clipped(["a ", "b ", "c"], 2) == ["a ", "b…"]
    assert clipped(["a", "b"], 2) == ["a", "b"]


def test_tasks_are_listed_on_demand() -> None:
    graph = graph_of(next(path for path in GRAPHS if path.stem == "greeting"))
    assert "first_name" not in svg_of(drawn(graph))
    assert "first_name" in svg_of(drawn(graph, Wish(tasks=True)))


def guard_of(when: str) -> Guard:
    way = f"{{to: b, when: {when}}}"
    text = f"initial: a\nstates:\n  a: {{type: agent, transition: {{next: [{way}]}}}}\n"
    graph = load("g.yaml", text + "  b: {type: terminal}\n").graph
    assert graph is not None
    found = graph.states["a"].transitions[0].guard
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("when", "said"),
    [
        ("{risk__gte: 8}", "risk ≥ 8"),
        ("{issue__in: [billing, technical]}", "issue = billing or technical"),
        ("{issue__in: [billing, technical], risk__lt: 3}",
         "(issue = billing or technical) and risk < 3"),
        ("{issue__notin: [a, b]}", "issue ≠ a and b"),
        ("{vip: true, name__ne: Bo}", "vip = true and name ≠ Bo"),
        ("{name: 'two words'}", "name = 'two words'"),
        ("{email__exists: true}", "email is set"),
        ('"a == 1 and (b > 2 or c != \'x y\')"', "a = 1 and (b > 2 or c ≠ 'x y')"),
        ('"not (a == 1)"', "not (a = 1)"),
        ('"1 < a <= 5"', "1 < a ≤ 5"),
        ('"len(a) > 1"', "len(a) > 1"),
        ('"a in [1, 2]"', "a in [1, 2]"),
        ("{condition_type: turn_count_exceeded, condition_config: {turns: 3}}",
         "after 3 turns without progress"),
    ],
)  # fmt: skip
def test_guards_in_few_words(when: str, said: str) -> None:
    assert brief(guard_of(when)) == said
