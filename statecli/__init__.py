"""statecli: author, prove, draw, run and test state graphs of conversations and agents.

The names for Python users load on first use, so that importing the package costs nothing:
``from statecli import load, lint, Run``.
"""

from __future__ import annotations

import sys
from types import ModuleType

TYPE_CHECKING = False  # `typing` itself would double the time that `--version` takes
if TYPE_CHECKING:
    from statecli.lint.linter import lint
    from statecli.load.loader import load
    from statecli.session.builder import GraphBuilder, expr, when
    from statecli.session.run import Run

__version__ = "0.1.0"
__all__ = ["GraphBuilder", "Run", "__version__", "expr", "lint", "load", "when"]

#: Where the names are. `load` and `lint` are also rooms of the package.
_NAMES = {
    "GraphBuilder": "statecli.session.builder",
    "Run": "statecli.session.run",
    "expr": "statecli.session.builder",
    "lint": "statecli.lint.linter",
    "load": "statecli.load.loader",
    "when": "statecli.session.builder",
}


class _Package(ModuleType):
    """Importing the room `statecli.load` would put it in place of the function `load`."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _NAMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)

    def __getattr__(self, name: str) -> object:
        if name not in _NAMES:
            raise AttributeError(f"module 'statecli' has no attribute {name!r}")
        from importlib import import_module

        found: object = getattr(import_module(_NAMES[name]), name)
        setattr(self, name, found)
        return found


sys.modules[__name__].__class__ = _Package
