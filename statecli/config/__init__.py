"""What a person may set: in a config file, or by options, which come after it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

NAMES = ("statecli.toml", "pyproject.toml")
#: What a call may fail on, and what a rule may count for.
LEVELS = ("error", "warning", "info", "never")
SEVERITIES = ("error", "warning", "info", "off")
#: A pyproject.toml that may hold `[tool.statecli]`; most do not, and are not parsed at all.
_TABLE = rb"""(?m)^\s*\[?\s*["']?tool["']?\s*(?:\.\s*["']?statecli|\]|=)"""


_NONE: Mapping[str, Any] = MappingProxyType({})


class Config(NamedTuple):
    """Settings for one graph. Empty means the default; see `cli.md` for the keys' meaning.

    `severity` maps a rule to error, warning, info or off. `model` has the keys of `model` in a
    graph; `tools` are entries as a graph has them (empty where only a name is listed); `trust` are
    hosts that may get a key whoever names them. `directory` is the folder of the file the settings
    came from (patterns are relative to it), None without a file.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    severity: Mapping[str, str] = _NONE
    per_file_ignores: Mapping[str, tuple[str, ...]] = _NONE
    fail_on: str = ""
    exclude: tuple[str, ...] = ()
    forms: Mapping[str, str] = _NONE
    custom_kinds: tuple[str, ...] = ()
    waiting_kinds: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    plugins: tuple[str, ...] = ()
    tools: Mapping[str, Mapping[str, Any]] = _NONE
    name_case: str = ""
    model: Mapping[str, Any] = _NONE
    store: str = ""
    trust: tuple[str, ...] = ()
    directory: str | None = None
    file: str = ""

    def beside(self, path: str) -> bool:
        """Whether it came with a graph, and so maybe from a stranger: it stands in a folder around
        it."""
        if self.directory is None:
            return False
        around = os.path.join(os.path.realpath(self.directory), "")
        return os.path.join(os.path.realpath(path), "").startswith(around)

    def excludes(self, path: str) -> bool:
        """Whether `exclude` names a file or a folder (with a slash at its end) around it."""
        return bool(self.exclude) and self._matches(self.exclude, path)

    def form(self, path: str) -> str | None:
        """The form that `forms` gives a file; the first pattern that fits."""
        for pattern, form in self.forms.items():
            if self._matches((pattern,), path):
                return form
        return None

    def for_file(self, path: str) -> Config:
        """These settings with what `per-file-ignores` says of a file."""
        ignored = [
            rule
            for pattern, names in self.per_file_ignores.items()
            if self._matches((pattern,), path)
            for rule in names
        ]
        return self._replace(ignore=(*self.ignore, *ignored)) if ignored else self

    def _matches(self, patterns: tuple[str, ...], path: str) -> bool:
        base = os.path.abspath(self.directory or ".")
        try:
            relative = os.path.relpath(os.path.abspath(path), base).replace(os.sep, "/")
        except ValueError:  # another drive of Windows
            return False
        if path.endswith("/"):
            relative += "/"
        return _spec(patterns).match_file(relative)


@cache
def _spec(patterns: tuple[str, ...]) -> GitIgnoreSpec:
    """Patterns as .gitignore has them."""
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec.from_lines(patterns)


def nearest_file(folder: str) -> str | None:
    """The config file that holds for graphs in a folder: the nearest one upward."""
    folder = os.path.abspath(folder)
    while True:
        own = os.path.join(folder, NAMES[0])
        if os.path.isfile(own):
            return own
        shared = os.path.join(folder, NAMES[1])
        if _has_table(shared):
            return shared
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above


def _has_table(path: str) -> bool:
    if not os.path.isfile(path):  # a pipe would be waited for
        return False
    try:
        with open(path, "rb") as file:
            content = file.read()
    except OSError:
        return False
    return b"statecli" in content and re.search(_TABLE, content) is not None
