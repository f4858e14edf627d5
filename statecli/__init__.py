"""statecli: author, prove, draw, run and test state graphs of conversations and agents.

The names for Python users load on first use, so that importing the package costs nothing:
``from statecli import load, lint``.
"""

from __future__ import annotations

__version__ = "0.1.0"
__all__ = ["GraphBuilder", "Run", "__version__", "expr", "lint", "load", "when"]


def __getattr__(name: str) -> object:
    if name == "load":
        from statecli.load.loader import load

        return load
    if name == "lint":
        from statecli.lint.linter import lint

        return lint
    if name == "Run":
        from statecli.session.run import Run

        return Run
    if name in ("GraphBuilder", "expr", "when"):
        from statecli.session import builder

        return getattr(builder, name)
    raise AttributeError(f"module 'statecli' has no attribute {name!r}")
