"""`visualize`: a drawing of a graph, by our renderer."""

from __future__ import annotations

from typing import Any

from statecli.model.graph import Graph


def drawn(graph: Graph, path: str | None, form: str | None, *, conditions: bool) -> str | None:
    """Write a drawing to a file, and give it as Mermaid text where there is no file. The format is
    that of the file's name, else `form` (png if not given), which is then added to the name.
    ValueError for one that there is not."""
    if path is None:
        return _bytes(graph, "mermaid", conditions).decode("utf-8")
    from statecli.render.renderer import by_suffix, names
    from statecli.text.whole_file import write_file

    found = by_suffix(path)
    if not found:
        found = form or "png"
        path = f"{path}.{found}"
    if found not in names():
        raise ValueError(f"no format is named '{found}'; there are: {', '.join(names())}")
    write_file(path, _bytes(graph, found, conditions))
    return None


def _bytes(graph: Graph, form: str, conditions: bool) -> bytes:
    from statecli.render.draw import Wish, draw
    from statecli.render.drawing import Look, Marks
    from statecli.render.engine import Engine, find
    from statecli.render.renderer import Request, renderer

    def engine(pdf: bool) -> Engine:
        return find(pdf=pdf)

    wish = Wish(labels="guard" if conditions else "none")
    drawing = draw(graph, "", wish, Marks())
    details: Any = dict
    request = Request(graph, drawing, Look(), engine, lambda line: None, details)
    return renderer(form).render(request)
