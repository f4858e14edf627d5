"""Which files a command means: named ones, folders, globs, standard input; and whether what
stands in a file looks like a graph at all (cli.md)."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from statecli.model.data import is_list, is_map
from statecli.model.keys import STATE_MARKS
from statecli.model.unable import Unable

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

SUFFIXES = (".yaml", ".yml", ".json")
STDIN = "-"
_MAGIC = frozenset("*?[")
#: One of these words stands in everything that looks like a graph.
_WORDS = (b"states", b"initial", b"transition", b"tasks")
_GRAPH_TEXT = r"""(?<![\w-])(["']?)(?:states|transition)\1\s*:"""


Excludes = Callable[[str], bool]


class Candidate(NamedTuple):
    """A file that may hold a graph. `named`: the person named it, rather than a folder of it."""

    path: str
    named: bool


class Search:
    """Finds the files that the words of a command line mean, each once, in order.

    `groups` has for each folder and pattern what was found there (named files included);
    `trouble` what was in the way of finding more.
    """

    def __init__(self, words: Sequence[str], excludes: Excludes) -> None:
        self.excludes = excludes
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
                elif entry.name.endswith(SUFFIXES) and _is_file(entry):
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


def identity(path: str) -> str:
    """The same for every way to write the name of one file."""
    return os.path.normcase(os.path.realpath(path))


def content(path: str, most: int) -> bytes:
    """The bytes of a file, at most one more than `most`; `Unable` if it cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read(most + 1)
    except OSError as error:
        if os.path.islink(path) and not os.path.exists(path):
            reason = f"a link to '{os.readlink(path)}', which leads nowhere"
            raise Unable(f"{path}: {reason}") from error
        shown = path or "''"
        raise Unable(f"{shown}: {reason_of(error)}") from error


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
                found += "[" + piece[1:-1].replace("\\", "\\\\").replace("!", "^", 1) + "]"
            else:
                found += re.escape(piece)
        found += "" if last else "/"
    return found


# --- does it look like a graph? -----------------------------------------------------------------


def may_be_graph(path: str, data: bytes) -> bool:
    """A first look at the bytes, so that the other files of a folder are not parsed for nothing."""
    return any(word in data for word in _WORDS) or b"\0" in data[:200] or _in_graphs(path)


def why_not(path: str, text: str, value: object, broken: bool) -> str:
    """Why a file does not look like a graph; empty if it does. `broken`: it could not be read."""
    if broken:
        if re.search(_GRAPH_TEXT, text) or _in_graphs(path):
            return ""
        return "it cannot be read, and nothing in it looks like a graph"
    if not is_map(value):
        if _in_graphs(path):
            return ""
        if value is None:
            return "there is nothing in it" if not text.strip() else "there are only comments in it"
        return "a list, not a graph" if is_list(value) else "a single value, not a graph"
    foreign = _foreign(value)
    if foreign:
        return f"this looks like {foreign}, which is not read yet"
    if "states" in value or "initial" in value or "initial_state_id" in value:
        return ""
    if any(_is_state(item) for item in value.values()):
        return ""
    return "it has neither 'states' nor 'initial'"


def _in_graphs(path: str) -> bool:
    folder = os.path.dirname(os.path.abspath(path))
    return os.path.basename(folder) == "graphs"


def _is_state(value: object) -> bool:
    return is_map(value) and "type" in value and any(mark in value for mark in STATE_MARKS)


def _foreign(value: dict[str, object]) -> str:
    """A form of another tool whose shape is certain (model.md 2.3)."""
    if "StartAt" in value and "States" in value:
        return "an Amazon States Language machine"
    if is_list(value.get("nodes")) and is_list(value.get("edges")) and "states" not in value:
        return "a drawing of nodes and edges, as LangGraph writes it"
    states = value.get("states")
    if is_map(states) and states:
        shapes = [item for item in states.values() if is_map(item)]
        ours = any("transition" in item or "transitions" in item for item in shapes)
        if not ours and ("on" in value or any(is_map(item.get("on")) for item in shapes)):
            return "an XState chart"
    return ""
