"""Kinds of states that are not built in: those with a file, and those that are typing errors."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping

from statecli.config import Config
from statecli.load.loader import Loaded
from statecli.model.graph import KINDS, PLAN_KINDS
from statecli.model.keys import OLD_MODES
from statecli.model.nearest import nearest

#: So many different kinds are compared with the known ones; a file with more has its own.
MOST_GUESSES = 1000
#: Names that a Python module can have.
_MODULE = re.compile(r"\w+")
_PLAN_NAMES = ("strict", "loose", "goal")
_NONE: Mapping[str, str] = {}


def unknown_kinds(loaded: Loaded, config: Config, kinds: Iterable[str]) -> list[str]:
    """Those of the kinds that are not built in, not named by the config, and have no file."""
    assert loaded.graph is not None
    built_in = PLAN_KINDS if loaded.graph.is_plan else {*KINDS, ""}
    own = {*config.custom_kinds, *config.waiting_kinds}
    path = loaded.document.path
    strange = (kind for kind in kinds if kind not in built_in and kind not in own)
    return [kind for kind in strange if not _has_file(path, kind)]


def misspelt_kinds(loaded: Loaded, config: Config) -> Mapping[str, str]:
    """The unknown kinds with a near match, each with the kind that was probably meant."""
    if loaded.graph is None:
        return _NONE
    plan = loaded.graph.is_plan
    kinds = dict.fromkeys(state.kind for state in loaded.graph.states.values())
    strange = unknown_kinds(loaded, config, kinds)
    if not strange:
        return _NONE
    own = {*config.custom_kinds, *config.waiting_kinds}
    choices = [*(_PLAN_NAMES if plan else KINDS), *sorted(own), *OLD_MODES]
    found = {kind: _meant(kind, choices) for kind in strange[:MOST_GUESSES]}
    return {kind: guess for kind, guess in found.items() if guess is not None}


def is_module(kind: str) -> bool:
    """Whether a Python file can have this name."""
    return _MODULE.fullmatch(kind) is not None


def _meant(kind: str, choices: list[str]) -> str | None:
    """The kind that was probably meant; older mode names lead to the new ones."""
    if kind in KINDS:
        return None
    guess = kind if kind in OLD_MODES else nearest(kind, choices)
    return OLD_MODES.get(guess, guess) if guess is not None else None


def _has_file(path: str, kind: str) -> bool:
    """Whether a file that would define the kind stands beside the graph."""
    if not is_module(kind):
        return False
    return os.path.exists(os.path.join(os.path.dirname(path), f"state_{kind}.py"))
