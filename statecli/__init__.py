"""statecli: author, prove, draw, run and test state graphs of conversations and agents.

The names for Python users load on first use, so that importing the package costs nothing:
``from statecli import load, lint, Run``.
"""

from __future__ import annotations

__version__ = "0.1.0"
__all__ = [
    "GraphBuilder", "Hooks", "Item", "Outcome", "Run", "__version__", "default", "expr", "lint",
    "load", "register_reducer", "when",
]  # fmt: skip

TYPE_CHECKING = False  # `typing` itself would cost more than all of this file
if TYPE_CHECKING:
    from statecli.kernel.reducers import register_reducer
    from statecli.lint.linter import lint
    from statecli.load.loader import load
    from statecli.session.builder import GraphBuilder
    from statecli.session.function import Item, Outcome
    from statecli.session.guards import default, expr, when
    from statecli.session.hooks import Hooks
    from statecli.session.run import Run

_NAMES = {
    "GraphBuilder": "statecli.session.builder",
    "Hooks": "statecli.session.hooks",
    "Item": "statecli.session.function",
    "Outcome": "statecli.session.function",
    "Run": "statecli.session.run",
    "default": "statecli.session.guards",
    "expr": "statecli.session.guards",
    "register_reducer": "statecli.kernel.reducers",
    "when": "statecli.session.guards",
}


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name in ("lint", "load"):
        return import_module(f"statecli.{name}")
    if name in _NAMES:
        return getattr(import_module(_NAMES[name]), name)
    raise AttributeError(f"module 'statecli' has no attribute {name!r}")
