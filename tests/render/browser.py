"""A real browser for the tests of the page: Debian's Chromium, without a window and a network."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import pytest

pytest.importorskip("selenium", reason="selenium is not installed")
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

_SWITCHES = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--force-prefers-reduced-motion", "--window-size=1300,900",
)  # fmt: skip


@contextmanager
def browser(profile: Path) -> Iterator[Browser]:
    """A browser with a fresh profile; the test is skipped where there is none."""
    names = ("chromium", "chromium-browser", "google-chrome")
    program = next(filter(None, map(shutil.which, names)), None)
    driver = shutil.which("chromedriver")
    if program is None or driver is None:
        missing = "chromium" if program is None else "chromedriver"
        pytest.skip(f"{missing} is not installed (apt install chromium chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = program
    for switch in (*_SWITCHES, f"--user-data-dir={profile}"):
        options.add_argument(switch)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    window = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    try:
        yield Browser(window)
    finally:
        window.quit()


class Browser:
    """What a person does with the page, and what they see."""

    def __init__(self, window: webdriver.Chrome) -> None:
        self.window = window

    def open(self, page: Path, *, width: int = 1300, height: int = 900, at: str = "") -> None:
        """The page from disk, as if for the first time."""
        self.window.set_window_size(width, height)
        self.window.get("about:blank")
        self.window.get_log("browser")
        self.window.get(f"{page.as_uri()}{at}")

    # --- doing ---

    def one(self, selector: str) -> WebElement:
        return self.window.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector: str) -> list[WebElement]:
        return list(self.window.find_elements(By.CSS_SELECTOR, selector))

    def press(self, *keys: str) -> None:
        """Keys, one after the other, wherever the focus is."""
        ActionChains(self.window).send_keys(*keys).perform()

    def click(self, x: float, y: float) -> None:
        """A click at a place of the window."""
        actions = ActionChains(self.window)
        actions.w3c_actions.pointer_action.move_to_location(round(x), round(y)).click()
        actions.perform()

    def drag(self, x: float, y: float, dx: int, dy: int) -> None:
        actions = ActionChains(self.window)
        pointer = actions.w3c_actions.pointer_action
        pointer.move_to_location(round(x), round(y)).pointer_down()
        pointer.move_to_location(round(x + dx / 2), round(y + dy / 2))
        pointer.move_to_location(round(x + dx), round(y + dy)).pointer_up()
        actions.perform()

    def wheel(self, x: float, y: float, turn: int) -> None:
        actions = ActionChains(self.window)
        actions.w3c_actions.wheel_action.scroll(round(x), round(y), 0, turn)
        actions.perform()

    def box(self, name: str) -> WebElement:
        """The box of the state with this name."""
        found = self.js(
            "[...document.querySelectorAll('#p-stage .p-able')].find("
            "(e) => (e.getAttribute('aria-label') ?? '').startsWith(arguments[0] + ','))",
            name,
        )
        assert found is not None, f"no box is named {name!r}"
        return cast(WebElement, found)

    # --- seeing ---

    def js(self, script: str, *values: object) -> Any:
        """The value of an expression in the page; `arguments` are the values."""
        return self.window.execute_script(f"return ({script})", *values)

    def settle(self) -> None:
        """Until what was done is drawn: the page draws once a frame."""
        self.window.execute_async_script(
            "requestAnimationFrame(() => requestAnimationFrame(arguments[0]))"
        )

    def text(self, selector: str) -> str:
        return str(self.js("document.querySelector(arguments[0]).innerText", selector))

    def heading(self) -> str:
        """What the panel is about; empty where it is closed."""
        found = self.all("#p-panel:not([hidden]) h2")
        return found[0].text if found else ""

    def middle(self, element: WebElement) -> tuple[float, float]:
        """Where it is in the window."""
        self.settle()
        x, y, wide, high = self.js(
            "(r => [r.x, r.y, r.width, r.height])(arguments[0].getBoundingClientRect())", element
        )
        return x + wide / 2, y + high / 2

    def scale(self) -> float:
        self.settle()
        picture = "document.querySelector('#p-stage > svg')"
        return float(self.js(f"new DOMMatrix({picture}.style.transform).a"))

    def complaints(self) -> list[str]:
        """What the console says: errors of scripts, and what the policy forbade."""
        return [str(entry["message"]) for entry in self.window.get_log("browser")]


__all__ = ["Browser", "Keys", "browser"]
