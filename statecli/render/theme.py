"""The colours of a light and a dark drawing. Every text reaches 4.5:1 against what is behind it."""

from __future__ import annotations

from typing import NamedTuple

from statecli.render.kinds import appearance


class Colors(NamedTuple):
    """`ink` is text, `dim` quieter text, `line` arrows, `paper` the background, `here` where a run
    is or was, `group` fill and stroke of several states in one box."""

    dark: bool
    paper: str
    ink: str
    dim: str
    line: str
    jump: str
    here: str
    error: str
    warning: str
    info: str
    group: tuple[str, str]

    def kind(self, kind: str) -> tuple[str, str]:
        """Fill and stroke of a kind."""
        looks = appearance(kind)
        return looks.dark if self.dark else looks.light

    def severity(self, severity: str) -> str:
        return {"error": self.error, "warning": self.warning}.get(severity, self.info)


_LIGHT = Colors(
    dark=False, paper="#ffffff", ink="#1b1f24", dim="#57606a", line="#57606a", jump="#a40e26",
    here="#0550ae", error="#cf222e", warning="#9a5b00", info="#0969da",
    group=("#f6f8fa", "#6e7781"),
)  # fmt: skip
_DARK = Colors(
    dark=True, paper="#0d1117", ink="#e6edf3", dim="#9da7b1", line="#8b949e", jump="#ff8f8f",
    here="#6cb6ff", error="#ff7b72", warning="#e3b341", info="#79c0ff",
    group=("#161b22", "#8b949e"),
)  # fmt: skip


def colors(theme: str) -> Colors:
    """The colours of `light` or `dark`."""
    return _DARK if theme == "dark" else _LIGHT
