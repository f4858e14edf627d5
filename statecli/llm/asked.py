"""A request as a recording keeps it, so that a replay can tell whether the same is asked again.

Each request is written as what is new in it: the messages after those that it shares with the one
before, and prompt, tools and schema where they differ from the last request of the same sort.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from statecli.llm.messages import sheet
from statecli.llm.scrub import known_secrets, scrubbed
from statecli.model.data import is_list
from statecli.model.ports import Request


class Asked(NamedTuple):
    """What a model was asked: by which state and for what, its prompt, the messages, and the tools
    and the schema, each as text without secrets."""

    state: str
    what: str
    prompt: str
    messages: tuple[str, ...]
    tools: tuple[str, ...]
    schema: str

    @classmethod
    def of(cls, request: Request) -> Asked:
        sent = sheet(request)
        secrets = known_secrets()
        first = sent.messages[0] if sent.messages else {}
        has_prompt = first.get("role") == "system"
        messages = sent.messages[1:] if has_prompt else sent.messages
        schema = "" if sent.schema is None else _json(sent.schema)
        return cls(
            request.state.name,
            request.what,
            scrubbed(str(first.get("content", "")), secrets) if has_prompt else "",
            tuple(scrubbed(text, secrets) for text in map(_message, messages)),
            tuple(_json(tool["function"]) for tool in sent.tools),
            schema,
        )

    def lines(self) -> list[str]:
        """The request as lines, to be compared with another one."""
        return [line for part in self._parts() for line in part.split("\n")]

    def _parts(self) -> Iterator[str]:
        yield f"{self.what} in '{self.state}'"
        yield self.prompt
        yield from self.messages
        yield from (f"tool {tool}" for tool in self.tools)
        if self.schema:
            yield f"schema {self.schema}"


class _Known:
    """What the requests so far have said."""

    def __init__(self) -> None:
        self.messages: tuple[str, ...] = ()
        self.last: dict[tuple[str, str], Asked] = {}

    def keep(self, asked: Asked) -> None:
        self.messages = asked.messages
        self.last[asked.state, asked.what] = asked


class Writer(_Known):
    """Writes requests, one after the other."""

    def write(self, asked: Asked) -> dict[str, Any]:
        before = self.last.get((asked.state, asked.what))
        shared = 0
        for old, new in zip(self.messages, asked.messages, strict=False):
            if old != new:
                break
            shared += 1
        found: dict[str, Any] = {"state": asked.state, "what": asked.what}
        if before is None or before.prompt != asked.prompt:
            found["prompt"] = asked.prompt
        if shared:
            found["after"] = shared
        found["messages"] = list(asked.messages[shared:])
        if asked.tools if before is None else before.tools != asked.tools:
            found["tools"] = list(asked.tools)
        if asked.schema if before is None else before.schema != asked.schema:
            found["schema"] = asked.schema
        self.keep(asked)
        return found


class Reader(_Known):
    """Reads what a `Writer` wrote, in the same order."""

    def read(self, told: Mapping[str, Any]) -> Asked:
        state, what = str(told.get("state", "")), str(told.get("what", ""))
        before = self.last.get((state, what)) or Asked(state, what, "", (), (), "")
        after = told.get("after", 0)
        shared = self.messages[: after if isinstance(after, int) else 0]
        asked = Asked(
            state,
            what,
            str(told.get("prompt", before.prompt)),
            (*shared, *_texts(told.get("messages"))),
            _texts(told["tools"]) if "tools" in told else before.tools,
            str(told.get("schema", before.schema)),
        )
        self.keep(asked)
        return asked


def _message(message: Mapping[str, Any]) -> str:
    """One message as text; the ids of calls are new each time."""
    parts = [f"{message['role']}: {message.get('content') or ''}".rstrip()]
    for call in message.get("tool_calls") or ():
        function = call["function"]
        parts.append(f"calls {function['name']} {function['arguments']}")
    return "\n".join(parts)


def _texts(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if is_list(value) else ()


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
