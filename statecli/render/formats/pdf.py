"""PDF, which only the `dot` of a Graphviz that is installed can write."""

from __future__ import annotations

from statecli.render.layout import ask
from statecli.render.renderer import Request

SUFFIXES = (".pdf",)
BINARY = True


def render(request: Request) -> bytes:
    """The drawing on one page of its size."""
    answer = ask(request.engine(True), request.drawing, request.look, "pdf")
    if answer.said:
        request.said(answer.said)
    return answer.output
