"""PNG, drawn by the layout engine itself."""

from __future__ import annotations

from statecli.render.layout import ask
from statecli.render.renderer import Request

SUFFIXES = (".png",)
BINARY = True


def render(request: Request) -> bytes:
    """The drawing in pixels."""
    engine = request.engine(False)
    answer = ask(engine, request.drawing, request.look, "png")
    if answer.said:
        request.said(answer.said)
    if engine.bundled and not _simple(request):
        request.said("the bundled engine's PNG shows some scripts as boxes; SVG shows all")
    return answer.output


def _simple(request: Request) -> bool:
    """Whether every name and text is in an alphabet that the bundled engine's fonts have."""
    texts = (f"{box.name}{box.about}{''.join(box.tasks)}" for box in request.drawing.boxes)
    labels = (arrow.label for arrow in request.drawing.arrows)
    return all(ord(max(text, default=" ")) < 0x2600 for text in (*texts, *labels) if text)
