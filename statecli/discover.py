"""Which files a command means: named ones, folders, patterns, standard input (cli.md)."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

SUFFIXES = (".yaml", ".yml", ".json")
STDIN = "-"
_MAGIC = frozenset("*?[")

Excludes = Callable[[str], bool]


class Candidate(NamedTuple):
    """A file that may hold a graph. `named`: the person named it, rather than a folder of it.
    `python`: it is no file but a graph in Python, ``module:name``."""

    path: str
    named: bool
    python: bool = False


class Search:
    """Finds the files that the words of a command line mean, each once, in order.

    `python`: words like ``package.module:graph`` mean graphs in Python code.
    `groups` has for each folder and pattern what was found there (named files included);
    `trouble` what was in the way of finding more.
    """

    def __init__(
        self,
        words: Sequence[str],
        excludes: Excludes,
        suffixes: tuple[str, ...] = SUFFIXES,
        *,
        python: bool = False,
    ) -> None:
        self.python = python
        self.excludes = excludes
        self.suffixes = suffixes
        self.groups: dict[str, list[str]] = {}
        self.trouble: list[str] = []
        self._found: dict[str, Candidate] = {}
        for word in words:
            self._add(word)

    @property
    def candidates(self) -> list[Candidate]:
        return list(self._found.values())

    def _add(self, word: str) -> None:
        if word == STDIN:
            self._found.setdefault(STDIN, Candidate(STDIN, True))
        elif self.python and is_python(word):
            self._found.setdefault(word, Candidate(word, True, True))
        elif os.path.isdir(word):
            self._group(word, self._folder(word))
        elif os.path.lexists(word) or _MAGIC.isdisjoint(word):
            key = identity(word)
            path = self._found[key].path if key in self._found else word
            self._found[key] = Candidate(path, True)
        else:
            self._group(word, self._glob(word))

    def _group(self, word: str, paths: Iterator[str]) -> None:
        here = self.groups.setdefault(word, [])
        for path in paths:
            found = self._found.setdefault(identity(path), Candidate(path, False))
            here.append(found.path)

    def _folder(self, root: str) -> Iterator[str]:
        """The YAML and JSON files in a folder and its folders, in alphabetical order.

        Dotted folders and what `.gitignore` names are left out; linked folders are not entered.
        """
        stack: list[tuple[str, tuple[_Ignore, ...]]] = [(root, _ignores_above(root))]
        while stack:
            folder, ignores = stack.pop()
            ignores = (*ignores, *_ignore_of(folder))
            try:
                entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
            except OSError as error:
                self.trouble.append(f"{folder}: {reason_of(error)}")
                continue
            deeper = []
            for entry in entries:
                path = os.path.join(folder, entry.name) if folder != "." else entry.name
                if entry.is_dir(follow_symlinks=False):
                    if not entry.name.startswith(".") and self._wanted(ignores, path + "/"):
                        deeper.append((path, ignores))
                elif entry.name.endswith(self.suffixes) and _is_file(entry):
                    if self._wanted(ignores, path):
                        yield path
            stack.extend(reversed(deeper))

    def _wanted(self, ignores: tuple[_Ignore, ...], path: str) -> bool:
        return not (_ignored(ignores, path) or self.excludes(path))

    def _glob(self, pattern: str) -> Iterator[str]:
        """The files below the pattern's fixed folder that fit it; `**` is any number of folders."""
        parts = pattern.replace(os.sep, "/").split("/")
        fixed = next(at for at, part in enumerate(parts) if not _MAGIC.isdisjoint(part))
        root = "/".join(parts[:fixed]) or ("/" if pattern.startswith("/") else ".")
        if not os.path.isdir(root):
            return
        fits = re.compile(_as_regex(parts[fixed:])).fullmatch
        for path in self._folder(root):
            if fits(os.path.relpath(path, root).replace(os.sep, "/")):
                yield path


def is_python(word: str) -> bool:
    """Whether a word means a graph in Python (``package.module:graph``) rather than a file: it has
    one colon, and neither is there such a file nor could one be meant."""
    module, colon, name = word.partition(":")
    if not colon or ":" in name or not module or not name or "\0" in word:
        return False
    if os.path.lexists(word) or name.endswith(SUFFIXES) or not _MAGIC.isdisjoint(word):
        return False
    if module.endswith(".py"):
        return True  # a path where a module is meant; who loads it says so
    drive = os.name == "nt" and len(module) == 1
    return not drive and not set(word) & set("/\\ ")


def identity(path: str) -> str:
    """The same for every way to write the name of one file."""
    return os.path.normcase(os.path.realpath(path))


def reason_of(error: OSError) -> str:
    """Why the system refused, in lower case."""
    return (error.strerror or str(error)).lower()


# --- ignored files ------------------------------------------------------------------------------


def _is_file(entry: os.DirEntry[str]) -> bool:
    """A regular file or a link to one; a pipe would be waited for."""
    try:
        return entry.is_file()
    except OSError:  # a link to itself
        return False


class _Ignore(NamedTuple):
    """One `.gitignore`, and the folder it stands in."""

    folder: str
    spec: GitIgnoreSpec


def _ignore_of(folder: str) -> Iterator[_Ignore]:
    path = os.path.join(folder, ".gitignore")
    if not os.path.isfile(path):  # a pipe would be waited for
        return
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = [line for line in file if line.strip() and not line.startswith("#")]
    except OSError:
        return
    if lines:
        from pathspec import GitIgnoreSpec

        yield _Ignore(os.path.abspath(folder), GitIgnoreSpec.from_lines(lines))


def _ignores_above(root: str) -> tuple[_Ignore, ...]:
    """The `.gitignore` files between a folder and the top of its repository.

    When they name the folder itself, it was asked for all the same, and they count no more.
    """
    found: list[_Ignore] = []
    folder = os.path.abspath(root)
    while not os.path.exists(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above == folder:
            return ()
        folder = above
        found.extend(_ignore_of(folder))
    found.reverse()
    return () if _ignored(tuple(found), os.path.abspath(root) + "/") else tuple(found)


def _ignored(ignores: Sequence[_Ignore], path: str) -> bool:
    """Whether git would ignore it: the deepest file that says anything decides."""
    if not ignores:
        return False
    absolute = os.path.abspath(path)
    for ignore in reversed(ignores):
        inside = absolute[len(ignore.folder.rstrip(os.sep)) + 1 :].replace(os.sep, "/")
        said = ignore.spec.check_file(inside + "/" if path.endswith("/") else inside).include
        if said is not None:
            return said
    return False


# --- patterns -----------------------------------------------------------------------------------


def _character(piece: str) -> str:
    """One character of a set in brackets; a range that runs backwards has none."""
    inside = re.escape(piece[1:-1]).replace(r"\-", "-")
    inside = f"^{inside[1:]}" if inside.startswith("!") else inside
    try:
        re.compile(f"[{inside}]")
    except re.error:
        return "(?!)"
    return f"[{inside}]"


def _as_regex(parts: Sequence[str]) -> str:
    found = ""
    for at, part in enumerate(parts):
        last = at == len(parts) - 1
        if part == "**":
            found += ".*" if last else "(?:[^/]+/)*"
            continue
        for piece in re.findall(r"\*+|\?|\[!?\]?[^\]]*\]|.", part):
            if piece[0] == "*":
                found += "[^/]*"
            elif piece == "?":
                found += "[^/]"
            elif piece[0] == "[" and len(piece) > 1:
                found += _character(piece)
            else:
                found += re.escape(piece)
        found += "" if last else "/"
    return found
