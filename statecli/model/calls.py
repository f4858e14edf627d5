"""Where a graph was built: the calls in a person's Python file, for messages that point there."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import CodeType
from typing import Any, NamedTuple


class Call(NamedTuple):
    """A call that is at work: its code, the place in it, and its line. `given`: how many positional
    arguments it got."""

    code: CodeType
    instruction: int
    line: int
    given: int = 0


class Built(NamedTuple):
    """Who built a graph: for each state the call that names it, for each transition (state and
    number) the call and the place of its argument there; likewise for fields. `schemas` are the
    classes whose annotations are fields."""

    states: Mapping[str, Call]
    transitions: Mapping[tuple[str, int], tuple[Call, int]]
    fields: Mapping[str, Call]
    schemas: tuple[Any, ...] = ()


def calling(given: int = 0) -> Call:
    """The call that came into this package from outside."""
    frame = sys._getframe(1)
    while frame.f_back is not None and _is_ours(frame.f_globals.get("__name__")):
        frame = frame.f_back
    return Call(frame.f_code, frame.f_lasti, frame.f_lineno, given)


def _is_ours(name: object) -> bool:
    return isinstance(name, str) and (name == "statecli" or name.startswith("statecli."))
