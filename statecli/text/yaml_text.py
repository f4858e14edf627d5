"""YAML text to a document: libyaml's nodes, YAML 1.2 core types, aliases and merge keys by us."""

from __future__ import annotations

import re
from typing import Any

import yaml
from yaml import nodes

from statecli.model.span import Path
from statecli.model.wording import shortened
from statecli.text.core_value import core_value
from statecli.text.document import Document, Problem, duplicate_key
from statecli.text.nodes import Node
from statecli.text.survey import LONG, MAX_DEPTH, Survey
from statecli.text.yaml_layout import NO_SPACES

# libyaml's nodes have no tag here, which their types do not know.
ScalarNode: Any = nodes.ScalarNode
MappingNode: Any = nodes.MappingNode
_Parser: Any
try:
    from yaml._yaml import CParser as _Parser
except ImportError:  # a PyYAML built without libyaml: same nodes, ten times slower
    _Parser = yaml.BaseLoader

#: What aliases may expand to.
MAX_EXPANDED = 100_000
#: libyaml, a YAML 1.1 reader, breaks lines at these; YAML 1.2 and editors do not.
_NOT_BREAKS = {"\x85": "\ue085", "\u2028": "\ue028", "\u2029": "\ue029"}
_BACK = str.maketrans({stand_in: char for char, stand_in in _NOT_BREAKS.items()})

_CORE = "tag:yaml.org,2002:"


class _NoTags:
    """Resolves no tag: the types are given by `core_value`, and no resolver table is needed."""

    def resolve(self, kind: object, value: object, implicit: object) -> None:
        return None

    def descend_resolver(self, parent: object, index: object) -> None:
        return None

    def ascend_resolver(self) -> None:
        return None


class _Reader(_NoTags, _Parser):  # type: ignore[misc]
    """The parser and composer that `read` uses."""


def read(path: str, text: str, newline: str = "\n") -> Document:
    """The document of a YAML text. What is wrong with it stands in `problems`."""
    source = text
    for char, stand_in in _NOT_BREAKS.items():
        if char in source:
            source = source.replace(char, stand_in)
    replaced = source is not text

    def document(
        value: object, problems: list[Problem], root: Any = None, found: Survey | None = None
    ) -> Document:
        def scan() -> Node | None:
            return None if root is None else _nodes(root, replaced, text)

        return Document(path, text, "yaml", value, tuple(problems), newline, scan, found)

    try:
        root = _Reader(source).get_single_node()
    except yaml.YAMLError as error:
        from statecli.text.yaml_errors import explain

        return document(None, [explain(error, text)])
    if root is None:
        return document(None, [])
    converter = _Converter(aliases="*" in text, replaced=replaced, text=text)
    try:
        value = converter.convert(root, (), 0)
    except _Stop as stop:
        return document(None, [stop.problem], root)
    return document(value, converter.problems, root, converter.survey())


class _Stop(Exception):
    """The document cannot be read as a whole."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


class _Converter:
    """libyaml nodes to plain values, once per node.

    Aliased nodes give the same value object, so a bomb of aliases costs nothing here; how much it
    would expand to is counted, for those who walk the value.
    """

    def __init__(self, aliases: bool, replaced: bool, text: str) -> None:
        self.problems: list[Problem] = []
        self.text = text
        self.replaced = replaced
        self.odd_blanks = any(char in text for char in NO_SPACES)
        self.memo: dict[int, tuple[object, int]] | None = {} if aliases else None
        self.open: set[int] = set()
        self.seen = 0
        self.extra = 0
        self.plain: dict[str, object] = {}
        self.quoted: list[str] = []
        self.names: set[str] = set()

    def survey(self) -> Survey:
        """What was met: the walk of `survey` over the value, for nothing."""
        texts = [text for text in (*self.plain, *self.quoted) if len(text) >= LONG]
        return Survey(0, 0, frozenset(self.names), texts)

    def convert(self, node: Any, path: Path, depth: int) -> object:
        """The value of a node."""
        if type(node) is ScalarNode and node.tag is None:
            text: str = node.value
            if node.style:
                quoted = text.translate(_BACK) if self.replaced else text
                self.quoted.append(quoted)
                return quoted
            try:
                return self.plain[text]
            except KeyError:
                value = core_value(text.translate(_BACK) if self.replaced else text)
                self.plain[text] = value
                return value
        if self.memo is not None and type(node) is not ScalarNode:
            return self._shared(node, path, depth)
        return self._fresh(node, path, depth)

    def _shared(self, node: Any, path: Path, depth: int) -> object:
        assert self.memo is not None
        key = id(node)
        known = self.memo.get(key)
        if known is not None:
            self.extra += known[1]
            if self.extra > MAX_EXPANDED:
                raise _Stop(_problem(node, f"aliases expand to more than {MAX_EXPANDED:,} values"))
            return known[0]
        if key in self.open:
            raise _Stop(_problem(node, "this alias contains itself"))
        self.open.add(key)
        before = self.extra + self.seen
        value = self._fresh(node, path, depth)
        self.open.discard(key)
        self.seen += 1 + len(node.value)
        self.memo[key] = (value, self.extra + self.seen - before)
        return value

    def _fresh(self, node: Any, path: Path, depth: int) -> object:
        if depth > MAX_DEPTH:
            raise _Stop(_problem(node, f"nested more than {MAX_DEPTH} levels deep"))
        if node.tag is not None:
            return self._tagged(node, path, depth)
        if type(node) is MappingNode:
            return self._mapping(node, path, depth)
        convert = self.convert
        return [convert(item, (*path, at), depth + 1) for at, item in enumerate(node.value)]

    def _mapping(self, node: Any, path: Path, depth: int) -> object:
        result: dict[str, object] = {}
        merges: list[Any] = []
        firsts: dict[str, Any] = {}
        convert = self.convert
        for key, item in node.value:
            if type(key) is not ScalarNode:
                if len(node.value) == 1 and self.text.startswith("{{", key.start_mark.index - 1):
                    return self._template(node, path)
                message = "a key must be text, here it is a mapping or list"
                self.problems.append(_problem(key, message, "wrong-value-type", path))
                continue
            name: str = key.value
            if name == "<<" and not key.style:
                merges.append(item)
                continue
            if self.odd_blanks and not key.style:
                _refuse_odd_blanks(key, name)
            if self.replaced:
                name = name.translate(_BACK)
            if name in result:
                firsts = firsts or self._firsts(node)
                other = ("first here", *_extent(firsts[key.value]))
                problem = duplicate_key(name, (*path, name), _extent(key), other)
                self.problems.append(problem)
            result[name] = convert(item, (*path, name), depth + 1)
        for item in merges:
            self._merge(result, item, path, depth)
        self.names.update(result)
        return result

    def _merge(self, result: dict[str, object], item: Any, path: Path, depth: int) -> None:
        value = self.convert(item, (*path, "<<"), depth + 1)
        for source in value if isinstance(value, list) else [value]:
            if not isinstance(source, dict):
                where = (*path, "<<")
                text = "'<<' merges mappings; this is none"
                self.problems.append(_problem(item, text, "wrong-value-type", where))
                return
            for name, inherited in source.items():
                result.setdefault(name, inherited)

    def _firsts(self, node: Any) -> dict[str, Any]:
        """For each key of a mapping its first node."""
        found: dict[str, Any] = {}
        for key, _ in node.value:
            if type(key) is ScalarNode:
                found.setdefault(key.value, key)
        return found

    def _template(self, node: Any, path: Path) -> object:
        """A template variable without quotes is a mapping whose key is a mapping."""
        start, end = _extent(node)
        raw = self.text[start:end]
        shown = shortened(raw, 60)
        message = f"'{shown}' without quotes is a mapping of mappings, not text"
        hint = f'quote the text: "{shown}"'
        problem = Problem("wrong-value-type", message, start, end, hint, where=path)
        self.problems.append(problem)
        return raw

    def _tagged(self, node: Any, path: Path, depth: int) -> object:
        tag: str = node.tag
        short = tag.removeprefix(_CORE)
        if type(node) is ScalarNode:
            text: str = node.value
            if tag in ("!", _CORE + "str"):
                self.quoted.append(text)
                return text
            if tag == _CORE + "null":
                return None
            value = core_value(text)
            if short == "float" and type(value) is int:
                return float(value)
            if tag.startswith(_CORE) and short == type(value).__name__:
                return value
        elif short in ("map", "seq", "!"):
            node.tag = None
            return self._fresh(node, path, depth)
        label = f"!!{short}" if tag.startswith(_CORE) else tag
        problem = _problem(node, f"the tag '{label}' means nothing here", where=path)
        self.problems.append(problem._replace(hint="quote the text, if it is one"))
        return node.value if type(node) is ScalarNode else None


def _refuse_odd_blanks(key: Any, name: str) -> None:
    """A blank that is none to YAML becomes part of the key, which then ends up at another level:
    what the rest of the file means cannot be told."""
    if not name or (name[0] not in NO_SPACES and name[-1] not in NO_SPACES):
        return
    start, end = _extent(key)
    at, side = (start, "before") if name[0] in NO_SPACES else (end - 1, "after")
    char = name[0] if side == "before" else name[-1]
    kind = "a no-break space" if char in "\u00a0\u202f" else f"the invisible U+{ord(char):04X}"
    message = f"{kind} stands {side} this key; YAML takes it for a part of the key"
    hint = "replace it by a plain space"
    raise _Stop(Problem("parse-error", message, at, at + 1, hint))


def _extent(node: Any) -> tuple[int, int]:
    return node.start_mark.index, node.end_mark.index


def _problem(node: Any, message: str, rule: str = "parse-error", where: Path = ()) -> Problem:
    start, end = _extent(node)
    return Problem(rule, message, start, max(start + 1, end), where=where)


#: An anchor or a tag in front of a value, and what may stand behind it.
_PROPERTIES = re.compile(r"(?:(?:!<[^>]*>|[&!][^\s,\[\]{}]*)(?:\s|(?<=\s)#[^\n]*)*)*")


def _nodes(root: Any, replaced: bool, whole: str) -> Node:
    """Our nodes from libyaml's; an aliased node stays one node. For libyaml a scalar begins with
    its anchor and tag, for us with its own text."""
    known: dict[int, Node] = {}

    def one(source: Any) -> Node:
        node = known.get(id(source))
        if node is not None:
            return node
        start, end = _extent(source)
        if source.id == "scalar":
            if whole[start : start + 1] in ("&", "!"):
                begin = _PROPERTIES.match(whole, start, end)
                start = begin.end() if begin is not None else start
            text = source.value.translate(_BACK) if replaced else source.value
            node = known[id(source)] = Node("scalar", start, end, source.style or "", text)
            return node
        style = "flow" if source.flow_style else "block"

        def fill(node: Node) -> None:
            if source.id == "sequence":
                node.items = [one(item) for item in source.value]
            else:
                node.pairs = [(one(key), one(item)) for key, item in source.value]

        node = known[id(source)] = Node(source.id, start, end, style, fill=fill)
        return node

    return one(root)
