"""What is in the page: its policy, its data, and nothing that a stranger could make run."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from run_cli import REPOSITORY, run

HOSTILE = Path(__file__).parent / "hostile.yaml"
INTAKE = REPOSITORY / "graphs" / "intake.yaml"
PARTS = REPOSITORY / "statecli" / "render" / "page"


class Page(HTMLParser):
    """The elements of a page with their attributes, and the texts of scripts and style sheets."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.raw: dict[str, list[str]] = {"script": [], "style": []}
        self.inside = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {key: value or "" for key, value in attrs}))
        if tag in self.raw:
            self.inside = tag
            self.raw[tag].append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {key: value or "" for key, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        if tag == self.inside:
            self.inside = ""

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.raw[self.inside][-1] += data

    def all(self, tag: str) -> list[dict[str, str]]:
        return [attrs for name, attrs in self.elements if name == tag]

    def data(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.raw["script"][0])
        return found


def drawn(graph: Path, *options: str) -> tuple[Page, str]:
    """The page of a graph, and what was said on standard error. Without a layout engine, which
    has no part in any of this."""
    done = run("render", graph, "--to", "html", "--dot", "no-such-program", *options)
    assert done.code == 0, done.err
    return Page(done.out), done.err


@pytest.fixture(scope="module")
def hostile() -> Page:
    return drawn(HOSTILE, "--lint", "--legend")[0]


def test_only_the_scripts_and_styles_of_the_page_may_run(hostile: Page) -> None:
    policy = next(m["content"] for m in hostile.all("meta") if "http-equiv" in m)
    assert policy.startswith("default-src 'none'; ")
    allowed = set(re.findall(r"'sha256-([^']+)'", policy))
    texts = [hostile.raw["script"][1], *hostile.raw["style"]]
    digests = {base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in texts}
    assert allowed == digests
    assert "unsafe" not in policy
    assert "http" not in policy


def test_nothing_in_the_markup_runs_or_is_fetched(hostile: Page) -> None:
    assert len(hostile.all("script")) == 2
    assert hostile.all("script")[0]["type"] == "application/json"
    for tag, attributes in hostile.elements:
        assert tag not in {"img", "iframe", "object", "embed", "link", "base", "a", "foreignobject"}
        for name in attributes:
            assert not name.startswith("on"), (tag, attributes)
            assert name not in {"style", "src", "action", "formaction", "xlink:href"}
            assert name != "href" or attributes[name].startswith("#")
        assert not (tag == "meta" and attributes.get("http-equiv", "") == "refresh")


def test_the_data_ends_no_script_and_says_everything(hostile: Page) -> None:
    text = hostile.raw["script"][0]
    assert not set(text) & set("<>&\u2028\u2029\u202e\u2066")
    names = [state["name"] for state in hostile.data()["states"]]
    assert "</script><script>window.__pwned=4</script>" in names
    assert {"__proto__", "constructor", "hasOwnProperty", "x" * 300} <= set(names)
    assert "\\u202ereversed\\u2066 اسم" in names


def test_scripts_show_data_as_text_only() -> None:
    for path in PARTS.glob("*.js"):
        text = path.read_text("utf-8")
        for word in (
            "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(",
            "DOMParser", "createContextualFragment", "srcdoc", "fetch(", "XMLHttpRequest",
            "import(",
        ):  # fmt: skip
            assert word not in text, (path.name, word)


def test_a_template_in_a_name_is_a_name() -> None:
    page, _ = drawn(HOSTILE)
    assert "{{data}}" in page.data()["title"]
    assert sum(text.count('"boxes":') for text in page.raw["script"]) == 1


def test_routes_are_told_in_the_order_of_trial() -> None:
    page, _ = drawn(INTAKE)
    data = page.data()
    names = [state["name"] for state in data["states"]]
    symptoms = data["states"][names.index("symptoms")]
    assert [names[route["to"]] for route in symptoms["routes"]] == [
        "emergency-advice",
        "medical-history",
        "call-back",
    ]
    assert [route["needs"] for route in symptoms["routes"]] == [
        "has_warning_signs is true",
        "all tasks done",
        "after 4 turns without progress",
    ]
    assert len(symptoms["tasks"]) == 4
    assert symptoms["otherwise"] == "if none holds: it waits"
    arrows = {tuple(arrow["route"]): arrow for arrow in data["arrows"] if "route" in arrow}
    for place, route in enumerate(symptoms["routes"]):
        arrow = arrows[names.index("symptoms"), place]
        assert data["boxes"][arrow["ends"][0]]["state"] == names.index("symptoms")
        assert data["boxes"][arrow["ends"][1]]["state"] == route["to"]


def test_every_box_of_the_data_is_in_the_picture() -> None:
    page, _ = drawn(INTAKE)
    ids = {attributes.get("id") for tag, attributes in page.elements if tag == "g"}
    data = page.data()
    assert {part["id"] for part in (*data["boxes"], *data["arrows"])} <= ids
    assert all(len(box["at"]) == 4 for box in data["boxes"])


def test_no_engine_is_needed_and_that_is_said() -> None:
    _, said = drawn(INTAKE)
    assert "drawn with a simpler layout" in said
    assert "no-such-program" in said


def test_the_folder_of_a_graph_stays_private(tmp_path: Path) -> None:
    graph = tmp_path / "g.yaml"
    graph.write_text("initial: a\nstates: {a: {type: terminal}}\n", "utf-8")
    done = run("render", graph, "--to", "html", "--dot", "no-such-program")
    assert str(tmp_path) not in done.out


@pytest.mark.parametrize(
    ("theme", "media"),
    [
        ("auto", "screen and (prefers-color-scheme: dark)"),
        ("dark", "screen"),
        ("light", "not all"),
    ],
)
def test_themes(theme: str, media: str) -> None:
    page, _ = drawn(INTAKE, "--theme", theme)
    assert page.all("style")[1]["media"] == media
    assert page.all("html")[0]["data-theme"] == theme


def test_the_same_graph_gives_the_same_page() -> None:
    one, other = (run("render", INTAKE, "--to", "html", "--dot", "none-such") for _ in range(2))
    assert one.out == other.out
