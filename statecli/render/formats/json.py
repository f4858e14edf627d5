"""JSON: what the drawing shows, for other programs to draw."""

from __future__ import annotations

import json

from statecli.render.drawing import NO_MARK, Drawing, Mark
from statecli.render.renderer import Request

SUFFIXES = (".json",)
BINARY = False


def render(request: Request) -> bytes:
    """Boxes and arrows with their words and marks; needs no layout engine."""
    text = json.dumps(as_object(request.drawing), ensure_ascii=False, indent=2)
    try:
        return f"{text}\n".encode()
    except UnicodeEncodeError:  # half a character in a name
        return f"{json.dumps(as_object(request.drawing), indent=2)}\n".encode()


def as_object(drawing: Drawing) -> dict[str, object]:
    """The drawing as plain data. What has its usual value is left out of boxes and arrows."""
    return {
        "version": 1,
        "title": drawing.title,
        "counted": drawing.counted or None,
        "boxes": [_part(box) for box in drawing.boxes],
        "arrows": [_part(arrow) for arrow in drawing.arrows],
    }


def _part(part: tuple[object, ...]) -> dict[str, object]:
    defaults = part._field_defaults  # type: ignore[attr-defined]  # boxes, arrows: NamedTuples
    found: dict[str, object] = {}
    for name, value in part._asdict().items():  # type: ignore[attr-defined]
        if isinstance(value, Mark):
            if value != NO_MARK:
                found[name] = _part(value)
        elif name not in defaults or value != defaults[name] or name in ("role", "style"):
            found[name] = value
    return found
