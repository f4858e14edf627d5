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
the whole) is expected to bring stands under `expect`: `scenario/expect.py` reads it. With
``witness: true`` (as `validate --witness-dir` writes it) the model is silent where it is asked for
a text that nobody wrote; in every other file that is a call that nobody scripted.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from statecli.model.data import is_map
from statecli.text import reading
from statecli.text.conversation_shape import shaped
from statecli.text.core_value import core_value
from statecli.text.document import Document
from statecli.text.nodes import Node
from statecli.text.turns import BadConversation, Conversation, Reply, Turn, calls_of

_LINES = "in a file of JSON lines each turn is a line of its own; 'turns' says nothing here"
#: What ends a line in YAML 1.1 only.
_BREAKS = frozenset("\x85\u2028\u2029")


def read(path: str, content: bytes) -> Conversation:
    """The conversation of a file's content. Raises BadConversation with all mistakes of it."""
    document = reading.document(path, content)
    if path.endswith(".jsonl"):
        document = _lines(document)
    if document.problems:
        places = [document.position(problem.start) for problem in document.problems]
        raise BadConversation(
            *(
                f"{path}:{at.line}:{at.column}: {problem.message}"
                for at, problem in zip(places, document.problems, strict=True)
            )
        )
    return shaped(document)


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
                if "turns" in value:
                    key = next(key for key, _ in node.pairs if key.text == "turns")
                    column = document.position(key.start).column
                    raise BadConversation(f"{document.path}:{number}:{column}: {_LINES}")
            else:
                turns.append(value)
                nodes.append(node)
        at += len(text) + 1
    listed = Node("sequence", 0, len(document.text), "flow")
    listed.items = nodes
    root.pairs = [*root.pairs, (Node("scalar", 0, 0, "", "turns"), listed)]
    whole = {**head, "turns": turns}
    return Document(document.path, document.text, "json", whole, scan=lambda: root)


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


__all__ = [
    "BadConversation", "Conversation", "Reply", "Turn", "block", "calls_of", "in_block",
    "one_line", "read", "write",
]  # fmt: skip
