"""How each kind looks: its shape, its sign and its colours. Shape and sign alone tell kinds apart.

`dot` is the shape (and style) of Graphviz that comes closest, `glyph` a character that every font
has, `icon` a picture of 12 x 12 points drawn with strokes, `light` and `dark` are (fill, stroke).
"""

from __future__ import annotations

from typing import NamedTuple


class Appearance(NamedTuple):
    outline: str
    dot: str
    style: str
    glyph: str
    icon: str
    light: tuple[str, str]
    dark: tuple[str, str]


_AMBER = ("#fff4d6", "#946800"), ("#3a2f12", "#e0b040")
_BLUE = ("#e3eefb", "#2a63a5"), ("#16273d", "#7fb2ee")
_GREEN = ("#e0f3ea", "#19704f"), ("#12301f", "#64c79a")
_PURPLE = ("#f3e9fa", "#7746a3"), ("#2d1d3d", "#c39ae6")
_ORANGE = ("#fdeee2", "#a64d13"), ("#3b2313", "#ee9a62")
_TEAL = ("#dff2f7", "#12687b"), ("#0f2d35", "#62bfd3")
_PINK = ("#fbe6ee", "#9c3563"), ("#3a1827", "#ec8fb6")
_OLIVE = ("#f0f2dc", "#5f6b10"), ("#292d0f", "#bcc863")
_GREY = ("#eeeeee", "#444444"), ("#2b2b2b", "#c4c4c4")

_KINDS = {
    "user": Appearance(
        "pill", "box", "rounded", "☺",
        "M6 6.2a2.6 2.6 0 1 0-.01 0M1.5 11.5c0-5.4 9-5.4 9 0", *_AMBER
    ),
    "agent": Appearance(
        "square", "box", "", "♦", "M1 1.5h10v7h-5.5l-2.5 2.5v-2.5h-2z", *_BLUE
    ),
    "tool": Appearance(
        "sides", "component", "", "☼",
        "M6 3.8a2.2 2.2 0 1 0 .01 0M6 .5v2M6 9.5v2M.5 6h2M9.5 6h2M2.1 2.1l1.4 1.4M8.5 8.5l1.4 1.4"
        "M2.1 9.9l1.4-1.4M8.5 3.5l1.4-1.4", *_GREEN,
    ),
    "decision": Appearance(
        "hexagon", "hexagon", "", "◊", "M1 6h3l3-4h4M4 6l3 4h4M9 .5l2 1.5-2 1.5M9 8.5l2 1.5-2 1.5",
        *_PURPLE,
    ),
    "planner": Appearance(
        "note", "note", "", "≡", "M1 2h1.5M4.5 2h7M1 6h1.5M4.5 6h7M1 10h1.5M4.5 10h7", *_ORANGE
    ),
    "executor": Appearance("arrow", "box3d", "", "►", "M2.5 1l8 5-8 5z", *_TEAL),
    "verifier": Appearance("octagon", "octagon", "", "√", "M1 6.5l3.5 4 6.5-9", *_PINK),
    "skill_builder": Appearance(
        "folder", "folder", "", "¶", "M6 .8l1.6 3.5 3.8.4-2.8 2.6.8 3.8L6 9.2l-3.4 1.9.8-3.8"
        "L.6 4.7l3.8-.4z", *_OLIVE,
    ),
    "terminal": Appearance("double", "box", "rounded", "■", "M2 2h8v8h-8z", *_GREY),
    "strict": Appearance(
        "bars", "box", "bold", "▬", "M1 2h1.5v1.5h-1.5zM4.5 2.7h7M1 8h1.5v1.5h-1.5zM4.5 8.7h7",
        *_BLUE,
    ),
    "loose": Appearance(
        "rounded", "box", "rounded", "○",
        "M1 3l1.2 1.5L4.5 1.5M6.5 3h5M1 9l1.2 1.5L4.5 7.5M6.5 9h5",
        *_GREEN,
    ),
    "goal": Appearance(
        "ticket", "box", "diagonals", "◘",
        "M6 .8a5.2 5.2 0 1 0 .01 0M6 3.5a2.5 2.5 0 1 0 .01 0M6 5.8v.4",
        *_PURPLE,
    ),
}  # fmt: skip
_CUSTOM = Appearance("dashed", "box", "dashed", "§", "M4 1L1 6l3 5M8 1l3 5-3 5", *_GREY)
#: All kinds, in the order of the legend.
KINDS = (*_KINDS, "")


def appearance(kind: str) -> Appearance:
    """A kind's own look; all kinds that are not built in share one."""
    return _KINDS.get(kind, _CUSTOM)


def css_class(kind: str) -> str:
    """The class of a kind in style sheets; a custom kind's own name may hold anything."""
    return kind if kind in _KINDS else "custom"
