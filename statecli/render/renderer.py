"""The formats a graph can be drawn in: one file each under `formats/`, and what such a file has."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from typing import NamedTuple, Protocol, cast

from statecli.model.graph import Graph
from statecli.render.drawing import Drawing, Look
from statecli.render.engine import Engine


class Request(NamedTuple):
    """What a renderer is asked for. `engine` looks for the layout engine (`pdf`: one that can write
    PDF) and raises Unable where there is none; `said` takes one line for the person; `details` are
    the states as `explain --format json` has them, for formats that show more on demand."""

    graph: Graph
    drawing: Drawing
    look: Look
    engine: Callable[[bool], Engine]
    said: Callable[[str], None]
    details: Callable[[], object]


class Renderer(Protocol):
    """A module of `formats/`. `SUFFIXES`: file names that mean this format; `BINARY`: its output
    is nothing for a terminal."""

    SUFFIXES: tuple[str, ...]
    BINARY: bool

    def render(self, request: Request) -> bytes: ...


def names() -> list[str]:
    """The formats there are: the listing of the folder."""
    folder = os.path.join(os.path.dirname(__file__), "formats")
    found = (entry for entry in os.listdir(folder) if entry.endswith(".py"))
    return sorted(entry[:-3] for entry in found if entry != "__init__.py")


def renderer(name: str) -> Renderer:
    return cast(Renderer, importlib.import_module(f"statecli.render.formats.{name}"))


def by_suffix(path: str) -> str:
    """The format that a file's name asks for, or nothing."""
    suffix = os.path.splitext(path)[1].casefold()
    return next((name for name in names() if suffix in renderer(name).SUFFIXES), "")
