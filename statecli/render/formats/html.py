"""HTML: one page that opens from disk, to move about in, to search, and to read about each state.

The graph may come from a stranger, and so may the page: its policy allows the very scripts and
style sheets that are in it (by their hashes) and nothing else, no request and no form. What the
graph says is in the page twice, as text of the picture and as JSON that is only ever shown as text.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
from collections.abc import Mapping

from statecli import __version__
from statecli.model.unable import Unable
from statecli.render import page
from statecli.render.drawing import STATE, Drawing
from statecli.render.geometry import Layout
from statecli.render.kinds import KINDS, appearance, css_class
from statecli.render.layers import layered
from statecli.render.layout import laid_out
from statecli.render.legend import legend
from statecli.render.page.contents import as_script, contents
from statecli.render.renderer import Request
from statecli.render.style import sheet
from statecli.render.svg import escaped, picture

SUFFIXES = (".html", ".htm")
BINARY = False
#: They share one scope, in this order.
_SCRIPTS = ("data.js", "view.js", "build.js", "panel.js", "choose.js", "find.js", "page.js")
#: When the dark style sheet holds, by theme. Paper is always light.
_DARK = {
    "auto": "screen and (prefers-color-scheme: dark)", "dark": "screen", "light": "not all"
}  # fmt: skip


def render(request: Request) -> bytes:
    """The page; works without a layout engine."""
    drawing, look = request.drawing, request.look
    layout = _layout(request)
    data = as_script(contents(request, layout))
    script = '(() => {\n"use strict";\n' + "".join(map(_part, _SCRIPTS)) + "})();\n"
    kinds = list(
        dict.fromkeys([*_kinds(drawing), *(s.kind for s in request.graph.states.values())])
    )
    turned = "landscape" if layout.width > layout.height else "portrait"
    light = f"{sheet(kinds, 'light')}\n{_part('page.css')}@page{{size:{turned};margin:10mm}}\n"
    dark = f"{sheet(kinds, 'dark')}\n{_part('dark.css')}"
    text = _filled(
        {
            "policy": _policy(script, light, dark),
            "version": __version__,
            "title": escaped(drawing.title),
            "theme": look.theme,
            "light": light,
            "dark": dark,
            "when_dark": _DARK[look.theme],
            "picture": picture(drawing, layout, look, sheet=False),
            "icons": _icons(kinds),
            "legend": _legend(drawing),
            "data": data,
            "script": script,
        }
    )
    return text.encode("utf-8", "replace")


def _layout(request: Request) -> Layout:
    """The engine's layout, or the simpler one where there is no engine."""
    try:
        layout, said = laid_out(lambda: request.engine(False), request.drawing, request.look)
    except Unable as error:
        hint = f" ({error.hint})" if error.hint else ""
        request.said(f"drawn with a simpler layout: {error.message}{hint}")
        return layered(request.drawing, request.look)
    if said:
        request.said(said)
    return layout


def _kinds(drawing: Drawing) -> list[str]:
    return [box.kind for box in drawing.boxes if box.role == STATE]


def _policy(script: str, *styles: str) -> str:
    sheets = " ".join(map(_hash, styles))
    return (
        f"default-src 'none'; script-src {_hash(script)}; style-src {sheets}; base-uri 'none'; "
        "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )


def _hash(text: str) -> str:
    """The source of a policy that means this very text."""
    digest = hashlib.sha256(text.encode("utf-8", "replace")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def _part(name: str) -> str:
    folder = os.path.dirname(page.__file__)
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return file.read()


def _filled(parts: Mapping[str, str]) -> str:
    """The page with its parts in it, in one go: what stands in a part is never a place for one."""
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match.group(1)], _part("page.html"))


def _icons(kinds: list[str]) -> str:
    """The sign of each kind, for the scripts to use."""
    signs = {css_class(kind): appearance(kind).icon for kind in kinds if kind in KINDS}
    signs.setdefault("custom", appearance("").icon)
    return "".join(
        f'<symbol id="p-sign-{name}" viewBox="-1 -1 14 14"><path d="{path}"/></symbol>'
        for name, path in signs.items()
    )


def _legend(drawing: Drawing) -> str:
    """What shapes and lines mean."""
    frame = 'width="46" height="24" viewBox="-2 -2 46 24" aria-hidden="true"'
    return "".join(
        f'<li><svg class="statecli" {frame}>{entry.sample}</svg>'
        f"<span>{escaped(entry.words)}</span></li>\n"
        for entry in legend(drawing)
    )
