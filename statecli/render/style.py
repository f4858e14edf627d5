"""The style sheet of a picture, in the colours of its theme (`auto`: both, the viewer chooses)."""

from __future__ import annotations

from collections.abc import Iterator

from statecli.render.drawing import STATE, Drawing, Look
from statecli.render.kinds import KINDS, css_class
from statecli.render.sizes import LABEL_SIZE, NAME_SIZE, TAG_SIZE, TEXT_SIZE
from statecli.render.theme import Colors, colors

FONT = 'Helvetica,Arial,"Liberation Sans",sans-serif'


def style(drawing: Drawing, look: Look) -> str:
    """The whole sheet, with the kinds that are there only."""
    kinds = [box.kind for box in drawing.boxes if box.role == STATE]
    return sheet(list(dict.fromkeys(KINDS if look.legend else kinds)), look.theme)


def sheet(kinds: list[str], theme: str) -> str:
    """The rules for these kinds."""
    rules = [*_shapes(), *_colored(colors("light" if theme == "auto" else theme), kinds)]
    if theme == "auto":
        dark = "".join(_colored(colors("dark"), kinds))
        rules.append(f"@media (prefers-color-scheme:dark){{{dark}}}")
        light = "".join(_colored(colors("light"), kinds))
        rules.append(f"@media print{{{light}}}")
    return "".join(rules)


def _shapes() -> Iterator[str]:
    """What no theme changes."""
    yield f"text{{font-family:{FONT};text-anchor:middle;white-space:pre}}"
    yield f".name{{font-size:{NAME_SIZE:g}px;font-weight:bold}}"
    yield f".tag,.note{{font-size:{TAG_SIZE:g}px}}.about,.task{{font-size:{TEXT_SIZE:g}px}}"
    yield ".task{text-anchor:start}.none{font-style:italic}"
    yield f".label{{font-size:{LABEL_SIZE:g}px;paint-order:stroke;stroke-width:3px}}"
    yield ".shape{stroke-width:1.3}.strict .shape{stroke-width:2}.custom .shape,.missing .shape"
    yield "{stroke-dasharray:5 3}.icon,.wait{fill:none;stroke-width:1.2}.wait{stroke-width:2}"
    yield ".edge path{fill:none;stroke-width:1.2}.chosen path{stroke-dasharray:6 3}"
    yield ".implicit path,.jump path{stroke-dasharray:1.5 3}.edge .head{stroke-dasharray:none}"
    yield ".edge.seen path,.edge.error path,.edge.warning path{stroke-width:2.2}"
    yield ".here .shape,.error .shape,.warning .shape"
    yield "{stroke-width:3}.unseen{opacity:.45}.sign text,.step text{font-size:10px;"
    yield "font-weight:bold}"


def _colored(palette: Colors, kinds: list[str]) -> Iterator[str]:
    yield f".paper{{fill:{palette.paper}}}text{{fill:{palette.ink}}}"
    yield f".tag,.about,.note,.task{{fill:{palette.dim}}}.label{{stroke:{palette.paper}}}"
    for kind in dict.fromkeys(kinds):
        fill, stroke = palette.kind(kind)
        name = css_class(kind)
        yield f".{name} .shape{{fill:{fill};stroke:{stroke}}}"
        yield f".{name} .icon,.{name} .wait{{stroke:{stroke}}}"
    fill, stroke = palette.group
    yield f".group .shape{{fill:{fill};stroke:{stroke}}}.missing .shape{{fill:{palette.paper};"
    yield f"stroke:{palette.error}}}.start circle,.bar rect,.end circle{{fill:{palette.ink}}}"
    yield f".end .shape{{fill:none;stroke:{palette.ink}}}"
    yield f".edge path{{stroke:{palette.line}}}.edge .head{{fill:{palette.line}}}"
    for name, color in (("implicit", palette.dim), ("jump", palette.jump), ("seen", palette.here),
                        ("error", palette.error), ("warning", palette.warning),
                        ("info", palette.info)):  # fmt: skip
        yield f".edge.{name} path{{stroke:{color}}}.edge.{name} .head{{fill:{color}}}"
    for name in ("error", "warning", "info"):
        color = palette.severity(name)
        if name != "info":
            yield f".{name} .shape{{stroke:{color}}}"
        yield f".sign.{name} circle,.sign.{name} path{{fill:{color}}}"
    yield f".here .shape{{stroke:{palette.here}}}.step circle{{fill:{palette.here}}}"
    yield f".sign text,.step text{{fill:{palette.paper}}}"
