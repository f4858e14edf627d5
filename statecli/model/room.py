"""A room of the package that can be called: ``from statecli import load`` is a function for users,
and `statecli.load` is a package with that function inside. Both are the same object."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any


class Room(ModuleType):
    """A package that stands for its main function, `MAIN` (``module:function``)."""

    MAIN: str

    def __call__(self, *args: object, **more: object) -> object:
        return upstairs(self.MAIN)(*args, **more)


def upstairs(main: str) -> Callable[..., Any]:
    """A function of a higher floor (``module:function``), for the few names of ours that a user
    expects below it."""
    from importlib import import_module

    module, _, name = main.partition(":")
    found: Callable[..., Any] = getattr(import_module(module), name)
    return found


def callable_room(name: str, main: str) -> None:
    """Make the package `name` callable, as its function `main`."""
    package = sys.modules[name]
    package.__class__ = Room
    package.__dict__["MAIN"] = main
