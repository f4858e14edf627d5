"""Which conversation files a command line means, and the graph that each belongs to."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from statecli.cli.one_graph import config_of
from statecli.cli.running import Opened, custom_kinds, near
from statecli.discover import SUFFIXES, Search, identity, reason_of
from statecli.load.likeness import may_be_graph, why_not
from statecli.load.loader import load
from statecli.model.nearest import nearest
from statecli.model.unable import Unable
from statecli.scenario.job import Graph
from statecli.text.conversation import BadConversation, Conversation
from statecli.text.document import MAX_BYTES
from statecli.text.excerpt import plain

_SUFFIXES = (*SUFFIXES, ".jsonl")
#: One of these stands in every conversation file; what a file with such a key is meant to be.
_MARK = (b"turns", b"say", b"replies")
_KEY = re.compile(
    rb"""(?m)^\s{0,2}["']?turns["']?\s*:|^[\s{]*["']turns["']\s*:"""
    rb"""|^[\s{-]*["']?(?:say|replies)["']?\s*:"""
)
#: What stands at the top of one; a file with nothing else is meant to be one, and lacks the rest.
_HEAD = re.compile(rb"""(?m)^[\s{]{0,2}["']?(?:graph|digest|about|expect)["']?\s*:""")
#: A graph that a module has: `package.module:name`.
_IN_PYTHON = re.compile(r"[^\W\d][\w.]*:[^\W\d]\w*")
_GRAPH_KEY = re.compile(rb"""(?m)^[\s{]{0,2}["']?(?:states|initial|initial_state_id)["']?\s*:""")


class Found(NamedTuple):
    """A conversation file and its bytes; None where they could not be read (`trouble` says why)."""

    path: str
    content: bytes | None
    trouble: str = ""


class Conversations:
    """The files of a command line, in order. A graph stands for the conversations that name it,
    beside it and in the folder `tests` there."""

    def __init__(self, words: Sequence[str], excludes: Callable[[str], bool]) -> None:
        self.excludes = excludes
        self.found: dict[str, Found] = {}
        self._named: list[str] = []
        self._maybe: list[Found] = []
        for word in words:
            self._add(word)

    @property
    def graphs(self) -> list[str]:
        """The graphs that were named, or stand in the folders."""
        found = [one.path for one in self._maybe if is_graph(one.path, one.content or b"")]
        return list(dict.fromkeys((*self._named, *found)))

    def _add(self, word: str) -> None:
        search = Search([word], self.excludes, _SUFFIXES)
        if search.trouble:
            raise Unable(search.trouble[0])
        for path, named, _ in search.candidates:
            found = _read(path.removeprefix("./") if not path.startswith("../") else path)
            if named and found.content is not None and not is_conversation(path, found.content):
                self._of_graph(path)
            elif named or is_conversation(path, found.content or b""):
                self.found.setdefault(identity(path), found)
            else:
                self._maybe.append(found)
        if not search.candidates:
            raise Unable(f"{word}: no conversation is here", _WAY)

    def _of_graph(self, path: str) -> None:
        """The conversations that name a graph. What is none is read as a conversation: the
        message then says what it lacks."""
        if load(path).graph is None:
            found = _read(path)
            content = _in_utf8(found.content or b"")
            if not (_HEAD.search(content) or any(mark in content for mark in (*_MARK, b"turn"))):
                found = Found(path, None, "this is neither a conversation nor a graph")
            self.found.setdefault(identity(path), found)
            return
        self._named.append(path)
        for file in self._around(path):
            found = _read(file)
            if is_conversation(file, found.content or b""):
                named = graph_named(file, found.content or b"")
                if named and identity(named) == identity(path):
                    self.found.setdefault(identity(file), found)

    def _around(self, path: str) -> Iterator[str]:
        """The files beside a graph, and those in the folder `tests` there."""
        folder = os.path.dirname(path)
        for name in _names_in(folder or "."):
            file = os.path.join(folder, name)
            if name.endswith(_SUFFIXES) and os.path.isfile(file) and not self.excludes(file):
                yield file
        tests = os.path.join(folder, "tests")
        if os.path.isdir(tests):
            yield from (one.path for one in Search([tests], self.excludes, _SUFFIXES).candidates)


_WAY = "statecli test --help shows how one is written; /save FILE in a chat writes one"


def _read(path: str) -> Found:
    try:
        with open(path, "rb") as file:
            return Found(path, file.read(MAX_BYTES + 1))
    except OSError as error:
        return Found(path, None, reason_of(error))


def is_conversation(path: str, content: bytes) -> bool:
    """Whether a file looks like a conversation, also one with a misspelt key: turns and no
    states."""
    content = _in_utf8(content)
    if not any(mark in content for mark in _MARK):
        return False
    if path.endswith(".jsonl"):
        return True
    if _KEY.search(content):
        return not _GRAPH_KEY.search(content)
    if not content.lstrip().startswith(b"{"):
        return False
    from statecli.text import reading

    value = reading.document(path, content).value
    return isinstance(value, dict) and "turns" in value and "states" not in value


def _in_utf8(content: bytes) -> bytes:
    """The text of a file as the patterns here expect it: UTF-8, lines that end with a line feed,
    whatever the file has."""
    from statecli.text import reading

    if b"\0" in content[:200]:
        content = reading.decode(content)[0].replace("\0", "").encode("utf-8", "replace")
    return content.replace(b"\r", b"\n") if b"\r" in content else content


def is_graph(path: str, content: bytes) -> bool:
    """Whether a file of a folder is a graph."""
    if not may_be_graph(path, content):
        return False
    from statecli.text import reading

    document = reading.document(path, content)
    broken = any(item.rule == "parse-error" for item in document.problems)
    return not why_not(path, document.text, document.value, broken)


def graph_named(path: str, content: bytes) -> str | None:
    """The graph that a conversation names, if there is one at that place."""
    from statecli.text import reading

    if path.endswith(".jsonl"):
        content = reading.decode(content)[0].partition("\n")[0].encode("utf-8", "replace")
    value = reading.document(path, content).value
    name = value.get("graph") if isinstance(value, dict) else None
    return resolved(path, name) if isinstance(name, str) and name else None


def resolved(path: str, name: str) -> str | None:
    """Where the graph of a conversation is: beside the file, one folder up, or below where we
    are."""
    folder = os.path.dirname(path)
    above = os.path.dirname(os.path.abspath(folder or "."))
    for place in (folder, above, "", "graphs"):
        candidate = os.path.normpath(os.path.join(place, name))
        if os.path.isfile(candidate):
            return (
                near(candidate)
                if os.path.isabs(candidate) and not os.path.isabs(name)
                else candidate
            )
    return None


class Graphs:
    """The graphs of the conversations, each read once."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        self._known: dict[str, Graph | Unable] = {}

    def of(self, path: str, conversation: Conversation) -> Graph:
        """The graph of a conversation. Raises BadConversation where it names none that is there."""
        if self.args.graph:
            return self.open(self.args.graph)
        if not conversation.graph:
            where = conversation.where(())
            raise BadConversation(
                f"{where}: it names no graph; write 'graph: FILE' or give --graph"
            )
        found = resolved(path, conversation.graph)
        if found is None:
            where = conversation.where(("graph",))
            hint = _near_names(path, conversation.graph)
            raise BadConversation(f"{where}: there is no graph '{conversation.graph}'{hint}")
        try:
            return self.open(found)
        except Unable as error:
            where = conversation.where(("graph",))
            hint = f"; {error.hint}" if error.hint else ""
            raise BadConversation(f"{where}: {error.message}{hint}") from None

    def open(self, path: str) -> Graph:
        """A graph by its path. Raises Unable for one that cannot be run."""
        key = identity(path)
        known = self._known.get(key)
        if known is None:
            try:
                known = self._open(path)
            except Unable as error:
                known = error
            self._known[key] = known
        if isinstance(known, Unable):
            raise known
        return known

    def _open(self, path: str) -> Graph:
        found = _read(path)
        if found.content is None:
            raise Unable(f"{path}: {found.trouble}")
        config = config_of(self.args, path)
        loaded = load(path, found.content, config.form(path))
        graph = loaded.graph
        if graph is None or not graph.states:
            raise Unable(f"{plain(path)}: this is no graph that could be run", _check(path))
        text = loaded.document.text
        custom = custom_kinds(Opened(path, text, graph, config), self.args)
        return Graph(path, text, loaded, config, custom)


def _check(path: str) -> str:
    return f"statecli validate {path} says what is wrong"


def _names_in(folder: str) -> list[str]:
    """What a folder holds; nothing where it may be entered and not listed."""
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _near_names(path: str, name: str) -> str:
    """A hint at a graph with a name that is close, or at what a name may be."""
    if _IN_PYTHON.fullmatch(name):
        return "; one that is built in Python is played with statecli.Run, conversations name files"
    folder = os.path.dirname(path) or "."
    places: dict[str, str] = {}
    for place in (os.path.join(folder, ".."), folder):
        names = [n for n in _names_in(place) if n.endswith(SUFFIXES)]
        places.update((n, os.path.join(place, n)) for n in names)
    while close := nearest(os.path.basename(name), places):
        file = places.pop(close)
        if not is_conversation(file, _read(file).content or b""):
            return f"; did you mean '{close}'?"
    return " beside it or one folder up"
