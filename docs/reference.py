"""The reference of the Python library as HTML pages: ``python docs/reference.py FOLDER``.

Needs pdoc (``pip install '.[docs]'``). A warning of pdoc is an error.
"""

from __future__ import annotations

import inspect
import sys
import warnings
from importlib import import_module
from pathlib import Path
from typing import get_type_hints

import pdoc

MODULES = (
    "statecli", "statecli.aio", "statecli.agentex", "statecli.arkos", "statecli.burr",
    "statecli.evofabric", "statecli.model.ports", "statecli.store.memory", "statecli.store.sqlite",
)  # fmt: skip

ROOMS = {"lint": "statecli.lint.linter", "load": "statecli.load.loader"}


def main(folder: str) -> None:
    """Write one page a module."""
    warnings.simplefilter("error")
    for name in MODULES:
        module = import_module(name)
        for public in getattr(module, "__all__", None) or _own(module):
            found = getattr(module, public)  # pdoc sees no lazy names
            if inspect.ismodule(found):  # a room that is called as its function
                found = getattr(import_module(ROOMS[public]), public)
            if hasattr(found, "_fields"):  # pdoc looks the types of a NamedTuple up elsewhere
                found.__new__.__annotations__.update(get_type_hints(found))
            setattr(module, public, found)
    pdoc.render.configure(docformat="markdown", search=True, show_source=False)
    pdoc.pdoc(*MODULES, *(f"!statecli.{room}" for room in ROOMS), output_directory=Path(folder))


def _own(module: object) -> list[str]:
    """The classes that are made in a module."""
    name = getattr(module, "__name__", "")
    return [found.__name__ for found in vars(module).values()
            if inspect.isclass(found) and found.__module__ == name]  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1])
