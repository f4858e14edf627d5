"""DOT, the language of Graphviz."""

from __future__ import annotations

from statecli.render.dot import text
from statecli.render.renderer import Request

SUFFIXES = (".dot", ".gv")
BINARY = False


def render(request: Request) -> bytes:
    """The drawing as a DOT document; needs no layout engine."""
    return text(request.drawing, request.look).encode("utf-8", "replace")
