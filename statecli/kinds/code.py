"""Loads the Python functions that a graph's file names: filters and merge strategies."""

from __future__ import annotations

import inspect

from statecli.model.code import codes
from statecli.model.graph import Graph
from statecli.model.unable import Unable
from statecli.tools.python import imported


def load_code(graph: Graph, folder: str) -> None:
    """Import what the graph names (modules in its folder come first), which runs their code: only
    after the person allowed it. Raises Unable for what does not load."""
    for where, code in codes(graph):
        try:
            found = imported(code.name, folder)
        except ValueError:
            why = f"{where}: '{code.name}' names no function"
            raise Unable(why, "write module:function") from None
        except ImportError as error:
            raise Unable(f"{where}: {code.name} {error}") from None
        if not callable(found) or inspect.iscoroutinefunction(found):
            why = "there is no such function" if not callable(found) else "it may not be async"
            raise Unable(f"{where}: {code.name}: {why}")
        code.function = found
