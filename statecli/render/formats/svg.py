"""SVG, with themes and tooltips, for a README, a page or a browser."""

from __future__ import annotations

from statecli.render.layout import laid_out
from statecli.render.renderer import Request
from statecli.render.svg import picture

SUFFIXES = (".svg",)
BINARY = False


def render(request: Request) -> bytes:
    """The drawing as a picture of its own."""
    layout, said = laid_out(lambda: request.engine(False), request.drawing, request.look)
    if said:
        request.said(said)
    return picture(request.drawing, layout, request.look).encode("utf-8", "replace")
