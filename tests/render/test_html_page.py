"""The page in a real browser: real clicks, keys and wheels, and what is on paper."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import Browser, Keys, browser
from run_cli import REPOSITORY, run

pytestmark = pytest.mark.xdist_group("browser")

GRAPHS = REPOSITORY / "graphs"
HOSTILE = Path(__file__).parent / "hostile.yaml"


@pytest.fixture(scope="module")
def window(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("profile")) as found:
        yield found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pages")


def page(folder: Path, graph: Path, *options: str) -> Path:
    """The page of a graph, drawn once for each set of options."""
    path = folder / f"{graph.name}{''.join(options)}.html"
    if not path.exists():
        done = run("render", graph, "-o", path, *options)
        assert done.code == 0, done.err
    return path


@pytest.fixture
def intake(window: Browser, folder: Path) -> Iterator[Browser]:
    window.open(page(folder, GRAPHS / "intake.yaml"))
    yield window
    assert window.complaints() == []


# --- mouse ----------------------------------------------------------------------------------------


def test_a_click_on_a_state_tells_about_it(intake: Browser) -> None:
    intake.box("symptoms").click()
    assert intake.heading() == "symptoms"
    panel = intake.text("#p-panel")
    for part in (
        "strict", "waits for the person", "Rule out an emergency first", "Warning signs",
        "has_warning_signs (boolean)", "Ask for a number from 0", "if none holds: it waits",
    ):  # fmt: skip
        assert part in panel
    ways = [item.text.splitlines() for item in intake.all("#p-panel ol.p-ways:not(.p-tasks) > li")]
    assert [way[0] for way in ways] == ["emergency-advice", "medical-history", "call-back"]
    assert ways[2][1] == "after 4 turns without progress"
    assert [item.text for item in intake.all("#p-panel ul.p-ways .p-go")] == ["patient-details"]


def test_a_way_leads_on_and_back(intake: Browser) -> None:
    intake.box("symptoms").click()
    intake.one("#p-panel ol.p-ways .p-go").click()
    assert intake.heading() == "emergency-advice"
    assert intake.js("location.hash") == "#/emergency-advice"
    assert "p-chosen" in str(intake.box("emergency-advice").get_attribute("class"))
    intake.window.back()
    assert intake.heading() == "symptoms"


def test_a_link_leads_to_a_state(window: Browser, folder: Path) -> None:
    window.open(page(folder, GRAPHS / "intake.yaml"), at="#/call-back")
    assert window.heading() == "call-back"
    window.open(page(folder, GRAPHS / "intake.yaml", "--dot", "none"), at="#/thank-you")
    x, y = window.middle(window.box("thank-you"))
    stage = window.one("#p-stage").rect
    assert 0 < x < stage["width"]
    assert stage["y"] < y < stage["y"] + stage["height"]


def test_a_click_beside_everything_closes(intake: Browser) -> None:
    intake.box("review").click()
    assert intake.heading() == "review"
    intake.click(20, 90)
    assert intake.heading() == ""


def test_a_click_on_an_arrow_tells_about_the_way(intake: Browser) -> None:
    x, y = intake.js(
        """(() => {
          const svg = document.querySelector("#p-stage > svg");
          const line = [...svg.querySelectorAll(".edge")].find(
            (edge) => edge.textContent.includes("has_warning_signs"));
          const path = line.querySelector(".p-wide");
          const at = path.getPointAtLength(path.getTotalLength() * 0.8);
          const seen = at.matrixTransform(path.getScreenCTM());
          return [seen.x, seen.y];
        })()"""
    )
    intake.click(x + 3, y)  # beside the line, which is too thin to hit
    assert intake.heading() == "Way to emergency-advice"
    panel = intake.text("#p-panel")
    assert "tried as number 1 of 3" in panel
    assert "has_warning_signs is true" in panel
    assert len(intake.all(".edge.p-chosen")) == 1


def test_the_wheel_zooms_around_the_pointer(intake: Browser) -> None:
    box = intake.box("review")
    before, scale = intake.middle(box), intake.scale()
    intake.wheel(*before, -240)
    after = intake.middle(box)
    assert intake.scale() > scale * 1.2
    assert after == pytest.approx(before, abs=2)
    intake.wheel(*after, 240)
    assert intake.scale() == pytest.approx(scale, rel=0.01)


def test_dragging_moves_and_is_no_click(intake: Browser) -> None:
    box = intake.box("review")
    x, y = intake.middle(box)
    intake.drag(x, y, 60, -40)
    assert intake.middle(box) == pytest.approx((x + 60, y - 40), abs=2)
    assert intake.heading() == ""


def test_buttons_zoom_and_fit(intake: Browser) -> None:
    scale = intake.scale()
    intake.one("#p-in").click()
    assert intake.scale() == pytest.approx(scale * 1.3, rel=1e-3)
    intake.one("#p-level").click()
    assert intake.scale() == pytest.approx(1, rel=1e-3)
    intake.one("#p-fit").click()
    assert intake.scale() == pytest.approx(scale, rel=1e-3)


# --- keys -----------------------------------------------------------------------------------------


def test_everything_works_without_a_mouse(intake: Browser) -> None:
    intake.js("document.getElementById('p-ask').focus()")
    intake.press(Keys.TAB)
    label = str(intake.js("document.activeElement.getAttribute('aria-label')"))
    assert label == "consent, strict, waits for the person, 3 ways out"
    ring = intake.js("getComputedStyle(document.activeElement).outlineStyle")
    assert ring == "dashed"
    intake.press(Keys.TAB, Keys.ENTER)
    assert intake.heading() == "patient-details"
    assert intake.js("document.activeElement.tagName") == "H2"
    intake.press(Keys.TAB, Keys.TAB, Keys.ENTER)  # past "Close", to the first way
    assert intake.heading() == "symptoms"
    intake.press(Keys.ESCAPE)
    assert intake.heading() == ""
    back = str(intake.js("document.activeElement.getAttribute('aria-label')"))
    assert back.startswith("patient-details,")


def test_keys_move_and_zoom(intake: Browser) -> None:
    box = intake.box("review")
    (x, y), scale = intake.middle(box), intake.scale()
    intake.press(Keys.ARROW_RIGHT, Keys.ARROW_DOWN)
    assert intake.middle(box) == pytest.approx((x - 90, y - 90), abs=2)
    intake.press("+")
    assert intake.scale() == pytest.approx(scale * 1.3, rel=1e-3)
    intake.press("-", "-")
    assert intake.scale() == pytest.approx(scale / 1.3, rel=1e-3)
    intake.press("0")
    assert intake.middle(box) == pytest.approx((x, y), abs=2)
    intake.press("1")
    assert intake.scale() == pytest.approx(1, rel=1e-3)


def test_a_question_mark_shows_keys_and_signs(intake: Browser) -> None:
    intake.press("?")
    text = intake.text("#p-help")
    assert "find a state" in text
    assert "strict: tasks in their order" in text
    intake.press(Keys.ESCAPE)
    assert not intake.one("#p-help").is_displayed()


# --- search ---------------------------------------------------------------------------------------


def test_search_finds_by_name_and_by_description(intake: Browser) -> None:
    intake.press("/", "farewell")
    assert [item.text.splitlines()[0] for item in intake.all("#p-results [role=option]")] == [
        "declined-farewell"
    ]
    intake.js("document.getElementById('p-search').select()")
    intake.press("call")
    found = [item.text.splitlines()[0] for item in intake.all("#p-results [role=option]")]
    assert found[0] == "call-back"
    assert intake.text("#p-found").endswith("matches") or len(found) == 1
    intake.js("document.getElementById('p-search').select()")
    intake.press("nobody has this")
    assert intake.text("#p-found") == "nothing found"


def test_enter_goes_from_one_to_the_next(intake: Browser) -> None:
    intake.press("/", "strict")
    names = [item.text.splitlines()[0] for item in intake.all("#p-results [role=option]")]
    assert len(names) == 10
    intake.press(Keys.ENTER)
    assert intake.heading() == names[0]
    intake.press(Keys.ENTER)
    assert intake.heading() == names[1]
    assert intake.text("#p-found") == "2 of 10"
    intake.press(Keys.ARROW_UP, Keys.ARROW_UP)
    assert intake.heading() == names[-1]
    assert intake.js("document.activeElement.id") == "p-search"
    intake.press(Keys.ESCAPE)
    assert intake.js("document.activeElement.id") == intake.box(names[-1]).get_attribute("id")
    assert not intake.one("#p-results").is_displayed()


def test_a_click_on_a_result_goes_there(intake: Browser) -> None:
    intake.press("/", "medication")
    intake.one("#p-results [role=option]").click()
    assert intake.heading() == "medical-history"
    assert not intake.one("#p-results").is_displayed()


# --- looks ----------------------------------------------------------------------------------------


def test_themes_follow_the_system_and_the_person(intake: Browser) -> None:
    def paper() -> str:
        return str(intake.js("getComputedStyle(document.body).backgroundColor"))

    def prefer(scheme: str) -> None:
        feature = {"name": "prefers-color-scheme", "value": scheme}
        intake.window.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})

    light, dark = "rgb(255, 255, 255)", "rgb(13, 17, 23)"
    prefer("light")
    assert paper() == light
    prefer("dark")
    assert paper() == dark
    intake.press("t")
    assert paper() == light
    intake.one("#p-theme").click()
    assert paper() == dark
    prefer("light")
    assert paper() == dark
    shape = "getComputedStyle(document.querySelector('#s0 .shape')).fill"
    assert intake.js(shape) == "rgb(22, 39, 61)"
    intake.window.refresh()
    assert paper() == dark  # remembered
    intake.press("t")
    assert paper() == light
    intake.js("localStorage.clear()")
    prefer("")


def test_a_narrow_window_has_the_panel_below(window: Browser, folder: Path) -> None:
    window.open(page(folder, GRAPHS / "intake.yaml"), width=520, height=800, at="#/review")
    panel = window.one("#p-panel").rect
    stage = window.one("#p-stage").rect
    assert panel["y"] >= stage["y"] + stage["height"] - 1
    assert window.js("document.documentElement.scrollWidth <= innerWidth")
    x, y = window.middle(window.box("review"))
    assert 0 < x < stage["width"]
    assert stage["y"] < y < panel["y"]
    assert window.complaints() == []


def test_paper_has_one_light_drawing(window: Browser, folder: Path) -> None:
    window.open(page(folder, GRAPHS / "intake.yaml", "--theme", "dark"))
    window.press("+", "+", "+")
    window.box("review").click()
    sheet = window.window.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True})
    assert len(re.findall(rb"/Type\s*/Page\b", base64.b64decode(sheet["data"]))) == 1
    window.window.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    shown = [e.get_attribute("id") for e in window.all("body > *") if e.is_displayed()]
    assert shown == ["p-stage"]
    x, y, wide, _ = window.js(
        "(r => [r.x, r.y, r.width, r.height])(document.querySelector('#p-stage > svg')"
        ".getBoundingClientRect())"
    )
    assert (x, y) == pytest.approx((0, 0), abs=1)
    assert wide <= window.js("innerWidth")
    assert window.js("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert window.js("getComputedStyle(document.querySelector('#s0')).opacity") == "1"
    window.window.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert window.complaints() == []


# --- strangers ------------------------------------------------------------------------------------


def test_no_name_of_a_stranger_does_anything(window: Browser, folder: Path) -> None:
    window.open(page(folder, HOSTILE, "--lint"))
    names = window.js("[...document.querySelectorAll('#p-stage .name')].map(e => e.textContent)")
    assert "</script><script>window.__pwned=4</script>" in names
    assert len(names) == 10
    boxes = window.all("#p-stage .p-able.state")
    for box in boxes:
        box.send_keys(Keys.ENTER)
        name = str(window.js("arguments[0].querySelector('.name').textContent", box))
        assert window.heading() == name
        window.press("/", name[:12], Keys.ENTER, Keys.ESCAPE, Keys.ESCAPE)
    window.one("#p-title").click()
    assert "<img src=x onerror='window.__pwned=2'>" in window.text("#p-panel")
    assert "</title><script>" in window.heading()
    assert window.js("window.__pwned") is None
    assert (
        window.js("document.querySelectorAll('img, iframe, a[href], [onload], [onerror]').length")
        == 0
    )
    assert window.js("document.querySelectorAll('script').length") == 2
    assert window.js("performance.getEntriesByType('resource').length") == 0
    assert window.complaints() == []


def test_the_policy_stops_what_would_get_in(window: Browser, folder: Path) -> None:
    """Were something ever forgotten: a script or an element that got in does nothing."""
    window.open(page(folder, HOSTILE, "--lint"))
    window.window.execute_script(
        """const script = document.createElement("script");
        try { script.textContent = "window.__pwned = 1"; document.body.append(script); } catch {}
        try { document.body.innerHTML += "<img src=x onerror='window.__pwned = 2'>"; } catch {}
        const picture = new Image();
        picture.src = "http://127.0.0.1:9/x.png";
        document.body.append(picture);"""
    )
    assert window.js("window.__pwned") is None
    assert any("Content Security Policy" in text for text in window.complaints())


# --- large graphs, diagnostics --------------------------------------------------------------------


@pytest.fixture(scope="module")
def large(folder: Path) -> Path:
    """A plan of 200 states, each with a way on and a way back to the first."""
    path = folder / "large.yaml"
    lines = ["title: Large", "initial: s0", "states:"]
    for at in range(200):
        lines += [f"  s{at}:", "    type: agent", f"    description: number {at}"]
        lines += (
            [f"    transition: {{next: [s{at + 1}, s0]}}"]
            if at
            else ["    transition: {next: [s1]}"]
        )
    lines += ["  s200: {type: terminal}"]
    path.write_text("\n".join(lines), "utf-8")
    return path


def test_a_group_lists_its_states_and_search_goes_into_it(
    window: Browser, folder: Path, large: Path
) -> None:
    window.open(page(folder, large))
    assert len(window.all("#p-stage .group")) > 0
    window.press("/", "number 150", Keys.ENTER)
    assert window.heading() == "s150"
    assert "Drawn as a part of" in window.text("#p-panel")
    assert len(window.all(".group.p-chosen")) == 1
    window.one("#p-panel .p-quiet .p-go").click()
    members = [item.text for item in window.all("#p-panel .p-go")]
    assert "s150" in members or any("more" in name for name in members)
    assert window.complaints() == []


def test_a_large_drawing_can_be_used(window: Browser, folder: Path, large: Path) -> None:
    window.open(page(folder, large, "--collapse", "none", "--dot", "no-such-program"))
    assert window.js("document.querySelectorAll('#p-stage .state').length") == 201
    window.press("/", "s150", Keys.ENTER)
    assert window.heading() == "s150"
    x, y = window.middle(window.box("s150"))
    stage = window.one("#p-stage").rect
    assert 0 < x < stage["width"]
    assert stage["y"] < y < stage["y"] + stage["height"]
    window.one("#p-fit").click()
    assert window.scale() < 0.32
    assert not window.one("#p-stage .about").is_displayed()
    assert window.complaints() == []


def test_findings_are_listed_and_lead_to_their_place(window: Browser, folder: Path) -> None:
    graph = folder / "broken.yaml"
    graph.write_text(
        "initial: a\nstates:\n  a: {type: agent, transition: {next: [b, nowhere]}}\n"
        "  b: {type: terminal}\n  lost: {type: terminal}\n",
        "utf-8",
    )
    window.open(page(folder, graph, "--lint"))
    button = window.one("#p-findings")
    assert "error" in button.text
    button.click()
    assert "nowhere" in window.text("#p-panel")
    entry = next(item for item in window.all("#p-panel .p-go") if "lost" in item.text)
    entry.click()
    assert window.heading() == "lost"
    assert "None: nothing leads here." in window.text("#p-panel")
    assert window.complaints() == []
