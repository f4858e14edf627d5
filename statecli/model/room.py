"""A room of the package that can be called: ``from statecli import load`` is a function for users,
and `statecli.load` is a package with that function inside. Both are the same object."""

from __future__ import annotations

import sys
from types import ModuleType


class Room(ModuleType):
    """A package that stands for its main function, `MAIN` (``module:function``)."""

    MAIN: str

    def __call__(self, *args: object, **more: object) -> object:
        from importlib import import_module

        module, _, name = self.MAIN.partition(":")
        return getattr(import_module(module), name)(*args, **more)


def callable_room(name: str, main: str) -> None:
    """Make the package `name` callable, as its function `main`."""
    package = sys.modules[name]
    package.__class__ = Room
    package.__dict__["MAIN"] = main
