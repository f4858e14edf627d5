"""Loads the Python functions that a graph's file names: filters and merge strategies."""

from __future__ import annotations

import importlib
import inspect
from typing import Any

from statecli.model.code import codes
from statecli.model.graph import Graph
from statecli.model.unable import Unable
from statecli.tools.python import beside


def load_code(graph: Graph, folder: str) -> None:
    """Import what the graph names (modules in its folder come first), which runs their code: only
    after the person allowed it. Raises Unable for what does not load."""
    for where, code in codes(graph):
        module, colon, path = code.name.partition(":")
        if not colon or not module or not path:
            raise Unable(f"{where}: '{code.name}' names no function", "write module:function")
        try:
            with beside(folder):
                found: Any = importlib.import_module(module)
        except (Exception, SystemExit) as error:
            kind = type(error).__name__
            raise Unable(f"{where}: {code.name} does not load: {kind}: {error}") from None
        for part in path.split("."):
            found = getattr(found, part, None)
        if not callable(found) or inspect.iscoroutinefunction(found):
            why = "there is no such function" if not callable(found) else "it may not be async"
            raise Unable(f"{where}: {code.name}: {why}")
        code.function = found
