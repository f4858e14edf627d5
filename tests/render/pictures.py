"""What the tests of drawings share: graphs to draw, and what can be read out of a picture."""

from __future__ import annotations

import json
import os
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import NamedTuple

import pytest

from statecli.load.loader import load
from statecli.model.graph import Graph
from statecli.model.unable import Unable
from statecli.render.draw import Wish, draw
from statecli.render.drawing import Drawing, Look, Marks
from statecli.render.engine import Engine, find
from statecli.render.layout import laid_out
from statecli.render.svg import picture

ROOT = Path(__file__).parent.parent.parent
GRAPHS = sorted(path for path in (ROOT / "graphs").glob("*.*") if path.suffix in (".yaml", ".json"))
CASES = Path(os.environ.get("STATECLI_CASES", ROOT.parent / "shared" / "cases"))
#: Real plans and the full ARKOS graph, which nobody here wrote.
REAL = [
    CASES / "plan-files" / "plan_physical_activity_checkin__6724d50.json",
    CASES / "plan-files" / "examples__05_plan_customer-support.json",
    CASES / "plan-files" / "reworked_plan__c58deb4.json",
    CASES / "states-files" / "seed000_complete_state_graph.yaml",
]
#: Names that some format may take for its own.
NAMES = [
    "<b>", "a&b", 'say "hi"', "it's", "back\\slash", "ends with \\", "a:b", "{x|y}", "two\nlines",
    "状態", "émoji 🚀", "سؤال", "node", "graph", "end", "state", "subgraph", "__end", "</script>",
    "<!-- -->", "a;b", "#1;", "%%{init}%%", "[*]", "-->", "&amp;", "x" * 300, "wide " * 60,
    "\u202eturned", "bell\a", "__proto__", "  spaces  ",
]  # fmt: skip
SVG = "{http://www.w3.org/2000/svg}"


def graph_of(path: Path) -> Graph:
    if not path.exists():
        pytest.skip(f"{path} is not here (STATECLI_CASES names the folder of cases)")
    graph = load(path.name, path.read_bytes()).graph
    assert graph is not None
    return graph


def hostile(kind: str = "agent") -> Graph:
    """A graph whose names are all of NAMES: a ring, with a self-loop and an end."""
    states: dict[str, object] = {
        name: {
            "type": kind,
            "description": "" if at % 3 == 0 else f"{name}\nsecond line",
            "transition": {"next": [{"to": NAMES[(at + 1) % len(NAMES)], "when": {name: name}},
                                    name, "__end__ "]},
        }
        for at, name in enumerate(NAMES)
    }  # fmt: skip
    states["__end__ "] = {"type": "terminal", "description": ""}
    text = json.dumps({"initial": NAMES[0], "states": states})
    graph = load("hostile.json", text).graph
    assert graph is not None
    assert len(graph.states) == len(NAMES) + 1
    return graph


def engine() -> Engine:
    try:
        return find()
    except Unable as error:
        pytest.skip(error.message)


def drawn(graph: Graph, wish: Wish | None = None, marks: Marks | None = None) -> Drawing:
    return draw(graph, "a graph", wish or Wish(), marks or Marks())


class Seen(NamedTuple):
    """What a person sees in a picture: names of the boxes, texts of labels, by their ids."""

    names: dict[str, str]
    labels: dict[str, str]
    arrows: list[str]
    root: ET.Element


def svg_of(drawing: Drawing, look: Look | None = None) -> str:
    layout, _ = laid_out(engine, drawing, look or Look())
    return picture(drawing, layout, look or Look())


def seen(svg: str) -> Seen:
    """Read a picture; malformed XML fails here."""
    root = ET.fromstring(svg)
    names, labels, arrows = {}, {}, []
    for group in root.iter(f"{SVG}g"):
        classes = (group.get("class") or "").split()
        id_ = group.get("id") or ""
        if classes[:1] == ["state"]:
            names[id_] = text_of(group, "name")
        if classes[:1] == ["edge"]:
            arrows.append(id_)
            labels[id_] = text_of(group, "label")
    return Seen(names, labels, arrows, root)


def text_of(group: ET.Element, role: str) -> str:
    for text in group.iter(f"{SVG}text"):
        if role in (text.get("class") or "").split():
            spans = [span.text or "" for span in text.iter(f"{SVG}tspan")]
            return (" " if role == "label" else "").join(spans) if spans else text.text or ""
    return ""


def squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)
