"""Conversation files: scripts, cassettes, witnesses and scenarios in one format (model.md 10).

```yaml
graph: intake.yaml
turns:
  - say: hello                      # left out where the graph speaks first
    replies:
      - reply: Hi! What is your name?
      - {calls: [{set_deliverable: {key: name, value: Ann}}], reply: Thanks!}
      - {writes: {intent: refund}, reply: I see.}
      - {choice: triage}
      - {check: {agree: true, quote: yes please}}
      - {result: {status: open}}    # what a tool gave back; {error: why} is a failure; `text`
                                    # beside it, where the model reads it otherwise
      - {answer: "yes"}             # what the person answers in the middle of a step
      - {failed: the server is gone, reply: Well}   # the model broke off after these words
      - {raw: Hm.}                    # an answer as it was written, where a value was asked for
      - {stopped: model, reply: We}   # the person stopped the step at a model (tools, permission,
                                      # call, question) after these words; `why`: a limit, or the
                                      # end of input
      - {denied: not now}             # the person did not allow a call
      - {tools: [{name: notes.read, schema: {type: object}}]}   # what a server offers
```
A recording (`chat --record`) also has what each answer took (`usage`, `latency`, `attempts`,
`model`), what was `asked` for it, and which routes each turn `chose`, by whom.

YAML, or JSONL with the head in the first line and one turn in each other line. The text beside
calls is what the model says once they are done, unless another reply follows. What a turn (or
the whole) is expected to bring stands under `expect`: `scenario/expect.py` reads it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from statecli.model.data import described, is_list, is_map
from statecli.model.nearest import did_you_mean
from statecli.model.span import Path, Place
from statecli.text import reading
from statecli.text.core_value import core_value
from statecli.text.document import Document
from statecli.text.nodes import Node

#: What one item of `replies` may say; a text may come with calls or writes.
REPLY_KEYS = (
    "reply", "calls", "choice", "check", "writes", "result", "tool", "plan", "ok", "verdict",
    "skill", "value", "answer", "tools", "failed", "raw", "text", "usage", "latency", "attempts",
    "model", "asked", "stopped", "why", "denied",
)  # fmt: skip
#: Those that only tell about an answer.
_NOTES = ("text", "usage", "latency", "attempts", "model", "asked", "why")
#: What only a model says that is more than a witness.
_SPOKEN = ("reply", "asked", "usage", "raw", "failed", "stopped")
#: Where a step may be stopped.
STOPS = ("model", "tools", "permission", "call", "question")
#: What ends a line in YAML 1.1 only.
_BREAKS = frozenset("\x85\u2028\u2029")
TURN_KEYS = ("say", "replies", "chose", "expect")
HEAD_KEYS = ("graph", "digest", "about", "data", "turns", "expect")


class Reply(NamedTuple):
    """One scripted answer: the keys it has, and its place in the file."""

    items: Mapping[str, Any]
    path: Path

    def fits(self, *keys: str) -> bool:
        return any(key in self.items for key in keys)


class Turn(NamedTuple):
    """One line of the person (None: the graph goes on by itself) and what is answered to it."""

    say: str | None
    replies: tuple[Reply, ...]
    expect: Mapping[str, Any]
    path: Path


class Conversation(NamedTuple):
    """A whole file. `data` are values given before the start."""

    document: Document
    graph: str
    digest: str
    about: str
    data: Mapping[str, Any]
    turns: tuple[Turn, ...]
    expect: Mapping[str, Any]

    @property
    def is_witness(self) -> bool:
        """A witness has calls and choices but no text: its model says nothing."""
        return not any(reply.fits(*_SPOKEN) for turn in self.turns for reply in turn.replies)

    def where(self, path: Path) -> str:
        """``file:line:column`` of something in the file."""
        start = self.document.span(Place(path)).start
        return f"{self.document.path}:{start.line}:{start.column}"


class BadConversation(Exception):
    """The file is no conversation; the message begins with its place."""


def read(path: str, content: bytes) -> Conversation:
    """The conversation of a file's content. Raises BadConversation at the first mistake."""
    document = reading.document(path, content)
    if path.endswith(".jsonl"):
        document = _lines(document)
    if document.problems:
        problem = document.problems[0]
        start = document.position(problem.start)
        raise BadConversation(f"{path}:{start.line}:{start.column}: {problem.message}")
    return _conversation(document)


def _lines(document: Document) -> Document:
    """JSONL as one value, with the places of its lines."""
    from statecli.text import json_text

    head: dict[str, Any] = {}
    turns: list[Any] = []
    nodes: list[Node] = []
    root = Node("mapping", 0, len(document.text), "flow")
    at = 0
    for number, text in enumerate(document.text.split("\n"), 1):
        if text.strip():
            line = json_text.read(document.path, text)
            if line.problems:
                problem = line.problems[0]
                where = f"{document.path}:{number}:{problem.start + 1}"
                raise BadConversation(f"{where}: {problem.message}")
            node = json_text.scan(document.text, at)
            value = line.value
            if not (turns or head) and is_map(value) and not {"say", "replies"} & value.keys():
                head, root.pairs = value, node.pairs
            else:
                turns.append(value)
                nodes.append(node)
        at += len(text) + 1
    listed = Node("sequence", 0, len(document.text), "flow")
    listed.items = nodes
    root.pairs = [*root.pairs, (Node("scalar", 0, 0, "", "turns"), listed)]
    whole = {**head, "turns": turns}
    return Document(document.path, document.text, "json", whole, scan=lambda: root)


class _Reader:
    def __init__(self, document: Document) -> None:
        self.document = document

    def fail(self, path: Path, message: str, *, part: str = "value") -> BadConversation:
        start = self.document.span(Place(path, part)).start
        return BadConversation(f"{self.document.path}:{start.line}:{start.column}: {message}")

    def mapping(self, value: Any, path: Path, known: tuple[str, ...], what: str) -> dict[str, Any]:
        if not is_map(value):
            raise self.fail(path, f"{what} is a mapping, not {described(value)}")
        for key in value:
            if key not in known and not key.startswith("x-"):
                hint = did_you_mean(key, known)
                message = f"{what} has no '{key}'" + (f"; {hint}" if hint else "")
                raise self.fail((*path, key), message, part="key")
        return value

    def items(self, value: Any, path: Path, what: str) -> list[Any]:
        if value is None:
            return []
        if not is_list(value):
            raise self.fail(path, f"'{what}' is a list, not {described(value)}")
        return value

    def text(self, value: Any, path: Path, what: str) -> str:
        if not isinstance(value, str):
            raise self.fail(path, f"'{what}' is text, not {described(value)}")
        return value

    def map(self, value: Any, path: Path, what: str) -> dict[str, Any]:
        if value is None:
            return {}
        if not is_map(value):
            raise self.fail(path, f"'{what}' is a mapping, not {described(value)}")
        return value


def _conversation(document: Document) -> Conversation:
    reader = _Reader(document)
    top = reader.mapping(document.value, (), HEAD_KEYS, "a conversation")
    if "turns" not in top:
        raise reader.fail((), "a conversation needs 'turns'")
    turns = [
        _turn(reader, item, ("turns", number))
        for number, item in enumerate(reader.items(top["turns"], ("turns",), "turns"))
    ]
    heads = {
        key: reader.text(top[key], (key,), key)
        for key in ("graph", "digest", "about")
        if key in top
    }
    return Conversation(
        document,
        heads.get("graph", ""),
        heads.get("digest", ""),
        heads.get("about", ""),
        reader.map(top.get("data"), ("data",), "data"),
        tuple(turns),
        reader.map(top.get("expect"), ("expect",), "expect"),
    )


def _turn(reader: _Reader, value: Any, path: Path) -> Turn:
    turn = reader.mapping(value, path, TURN_KEYS, "a turn")
    say = turn.get("say")
    if type(say) in (int, float):  # what people say is text, however it looks
        say = reader.document.raw((*path, "say"))
    elif say is not None:
        say = reader.text(say, (*path, "say"), "say")
    replies: list[Reply] = []
    for number, item in enumerate(reader.items(turn.get("replies"), (*path, "replies"), "replies")):
        here = (*path, "replies", number)
        spelled = {"reply": item} if isinstance(item, str) else item
        replies.append(_reply(reader, spelled, here))
    expect = reader.map(turn.get("expect"), (*path, "expect"), "expect")
    return Turn(say, tuple(replies), expect, path)


def _reply(reader: _Reader, value: Any, path: Path) -> Reply:
    """A reply, each of its answers of the right shape."""
    items = reader.mapping(value, path, REPLY_KEYS, "a reply")
    if not any(key in items for key in REPLY_KEYS if key not in _NOTES):
        raise reader.fail(path, "a reply says nothing; it has 'reply', 'calls', 'choice' or alike")
    for key, item in items.items():
        here = (*path, key)
        texts = ("reply", "text", "failed", "raw", "why", "denied")
        if key in texts or (key in ("choice", "tool") and not is_map(item)):
            reader.text(item, here, key)
        elif key == "stopped" and item not in STOPS:
            raise reader.fail(here, f"'stopped' is one of {', '.join(STOPS)}")
        elif key in ("writes", "check", "plan", "verdict", "skill", "asked"):
            reader.map(item, here, key)
        elif key == "ok" and not isinstance(item, bool):
            raise reader.fail(here, f"'ok' is true or false, not {described(item)}")
        elif key == "answer" and (is_map(item) or is_list(item) or item is None):
            raise reader.fail(here, f"'answer' is text, not {described(item)}")
        elif key == "calls":
            _calls(reader, item, here)
        elif key == "tools":
            _tools(reader, item, here)
    if isinstance(items.get("answer"), bool):
        items = {**items, "answer": "yes" if items["answer"] else "no"}
    return Reply(items, path)


def _calls(reader: _Reader, value: Any, path: Path) -> None:
    for number, call in enumerate(reader.items(value, path, "calls")):
        here = (*path, number)
        if isinstance(call, str):
            continue
        if not is_map(call) or len(call) != 1:
            raise reader.fail(here, "a call is its name and its arguments, {name: {key: value}}")
        for name, arguments in call.items():
            reader.map(arguments, (*here, name), name)


def _tools(reader: _Reader, value: Any, path: Path) -> None:
    for number, tool in enumerate(reader.items(value, path, "tools")):
        here = (*path, number)
        found = reader.mapping(tool, here, ("name", "description", "schema", "server"), "a tool")
        for key, item in found.items():
            check = reader.map if key == "schema" else reader.text
            check(item, (*here, key), key)
        if "name" not in found:
            raise reader.fail(here, "a tool needs a 'name'")


def calls_of(reply: Reply) -> list[tuple[str, dict[str, Any]]]:
    """The calls of a reply, each ``{name: arguments}``."""
    found: list[tuple[str, dict[str, Any]]] = []
    calls = reply.items.get("calls")
    for call in calls if is_list(calls) else []:
        if is_map(call):
            for name, arguments in call.items():
                found.append((name, arguments if is_map(arguments) else {}))
        elif isinstance(call, str):
            found.append((call, {}))
    return found


def write(
    turns: Sequence[Mapping[str, Any]],
    *,
    graph: str,
    digest: str,
    about: str = "",
    lines: bool = False,
    compact: bool = False,
    **head: Any,
) -> str:
    """A conversation as `read` takes it: YAML, or with `lines` JSONL. `compact`: lists and mappings
    that hold no others stand on one line."""
    top: dict[str, Any] = {"graph": graph, "digest": digest}
    if about:
        top["about"] = about
    top.update({key: value for key, value in head.items() if value})
    if lines:
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in [top, *turns])
    top["turns"] = list(turns)
    return _yaml(top, flow=None if compact else False)


def _yaml(value: object, *, flow: bool | None = False, width: int = 100) -> str:
    """YAML that YAML 1.1 and 1.2 read alike: PyYAML, a 1.1 writer, leaves `1e3` without quotes.

    `flow`: collections in brackets; None: only those that hold no others.
    """
    import yaml

    class Dumper(yaml.SafeDumper):
        """Quotes every text that is not text to `core_value` either."""

        def ignore_aliases(self, data: Any) -> bool:
            return True

    def written(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
        style = None if isinstance(core_value(text), str) else "'"
        if "\n" in text and not flow:
            style = "|"  # where YAML allows it; else it becomes quoted
        if not _BREAKS.isdisjoint(text) or (flow and "\n" in text):
            style = '"'
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)

    Dumper.add_representer(str, written)
    return yaml.dump(
        value, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=width,
        default_flow_style=flow,
    )  # fmt: skip


def one_line(value: object, language: str) -> str:
    """A value on one line, as it may stand anywhere in a file of this language."""
    if language == "json":
        return json.dumps(value, ensure_ascii=False)
    return _yaml([value], flow=True, width=10**9).strip()[1:-1]


def in_block(key: str, value: object, column: int) -> str:
    """``key: value`` in YAML over several lines; those behind the first are indented by `column`.
    Lists and mappings that hold no others stand on one line."""
    return block({key: value}, column)


def block(value: object, column: int) -> str:
    """A list or mapping in YAML over several lines, each behind the first indented by `column`."""
    lines = _yaml(value, flow=None, width=max(40, 100 - column)).rstrip("\n").split("\n")
    return ("\n" + " " * column).join(lines)
