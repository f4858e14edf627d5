"""A request as a model gets it: messages, tools, and the schema of the answer. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from statecli.llm import asking
from statecli.llm.prompts import prompt
from statecli.llm.strict_schema import strict_schema
from statecli.model.data import is_list
from statecli.model.ports import Exchange, Option, Request, ToolSpec

#: Requests whose answer is text for the person.
SPOKEN = ("reply", "turn", "delta", "step")
#: Requests before whose answer tools may be called.
WORKED = (*SPOKEN, "plan", "verdict", "choice")
#: Requests that show a model nothing of the conversation but what stands in their prompt.
_APART = ("check",)
#: Requests whose `note` says why the last answer could not be taken.
_REPAIRED = ("delta", "choice", "tool", "arguments", "plan", "skill")
#: What a model is told of one message of the conversation.
MAX_MESSAGE = 100_000
_ANY_OBJECT: Mapping[str, Any] = {"type": "object"}


class Sheet(NamedTuple):
    """What is sent. `schema`: what the answer has to fit (None: text, or calls of the `tools`);
    `strict`: the same in the subset of structured output; `names` are the real names of tools."""

    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]]
    schema: Mapping[str, Any] | None
    strict: Mapping[str, Any] | None
    names: Mapping[str, str]


def sheet(request: Request, *, words: bool = False) -> Sheet:
    """A request as it is sent. `words`: the server takes no schemas, so they stand in the text."""
    schema = _schema(request)
    tools = request.tools if request.what in WORKED else ()
    called = [exchange.call.name for exchange in request.transcript]
    names = _names([*(tool.name for tool in tools), *called])
    in_words = schema if words or tools else None
    messages = [
        *_system(request),
        *_conversation(request),
        *_closing(request, in_words),
        *_transcript(request.transcript, names),
        *_repair(request),
    ]
    specs = [_tool(tool, names[tool.name]) for tool in tools]
    strict = strict_schema(schema) if schema is not None else None
    real = {safe: name for name, safe in names.items()}
    return Sheet(_merged(messages), specs, schema, strict, real)


def _schema(request: Request) -> Mapping[str, Any] | None:
    """What the answer has to fit; None where it is text."""
    if request.what in ("reply", "turn"):
        return None
    schema = request.schema
    if not schema or schema.get("type", "object") != "object":
        return _ANY_OBJECT
    return schema


# --- the parts ------------------------------------------------------------------------------------


def _system(request: Request) -> Iterator[dict[str, Any]]:
    """The prompt of the state, with what a model must know to answer as it is asked."""
    parts = [] if request.what in _APART else [request.prompt]
    if request.what == "turn" and request.state.kind in ("strict", "loose", "goal"):
        parts.append(_prompt(request, request.state.kind))
    elif request.what == "delta":
        parts.append(_prompt(request, "delta", fields="\n".join(_fields(request))))
    text = "\n\n".join(filter(None, parts))
    if text:
        yield {"role": "system", "content": text}


def _conversation(request: Request) -> Iterator[dict[str, Any]]:
    if request.what in _APART:
        return
    for number, message in enumerate(_said(request)):
        role, content = _read(message)
        if not content:
            continue
        if role == "tool":
            call = str(message.get("id") or f"call-{number}")
            yield _called(call, "tool", {})
            yield {"role": "tool", "tool_call_id": call, "content": content}
        else:
            yield {"role": role, "content": content}


def _said(request: Request) -> list[Any]:
    """The conversation, or what a state says instead of it."""
    if request.context is not None:
        return list(request.context)
    return list(request.snapshot.data.get("messages") or ())


def _read(message: object) -> tuple[str, str]:
    """The role and text of a message, whatever a graph's own code may have put there."""
    if not isinstance(message, Mapping):
        return "user", _text(message)
    role = message.get("role")
    known = role if role in ("user", "assistant", "system", "tool") else "user"
    return str(known), _text(message.get("content"))


def _text(value: object) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= MAX_MESSAGE else f"{text[:MAX_MESSAGE]}…"


def _closing(request: Request, in_words: Mapping[str, Any] | None) -> Iterator[dict[str, Any]]:
    """What is asked for now, as the last message: an answer to the person needs none."""
    parts = []
    if request.what in _APART:
        parts.append(request.prompt)
    elif request.what not in SPOKEN:
        parts.append(_instruction(request))
        works = request.tools and request.what in WORKED
        parts.append(_prompt(request, "answer_tools") if works else "")
    elif request.what == "step":
        parts.append(_instruction(request))
        parts.append(_prompt(request, "step_tools") if request.tools else "")
    elif not _awaits_an_answer(request):
        parts.append(_prompt(request, "go_on"))
    if in_words is not None:
        text = json.dumps(in_words, ensure_ascii=False)
        parts.append(_prompt(request, "words", schema=text))
    text = "\n\n".join(filter(None, parts))
    if text:
        yield {"role": "user", "content": text}


def _awaits_an_answer(request: Request) -> bool:
    """Whether the conversation ends with something that a model answers by itself."""
    messages = _said(request)
    return bool(messages) and _read(messages[-1])[0] in ("user", "tool")


def _instruction(request: Request) -> str:
    what, tools = request.what, request.tools
    values: dict[str, str] = {}
    if what in ("choice", "verdict"):
        values["options"] = "\n".join(_listed(request.options))
    elif what == "tool":
        values["tools"] = "\n".join(_listed(tools))
    elif what == "arguments":
        tool = next(iter(tools))
        values.update(tool=tool.name, about=" ".join(tool.description.split()))
    elif what == "step":
        plan = request.snapshot.data.get("plan")
        rows = [f"{number}. {item}" for number, item in enumerate(plan, 1)] if is_list(plan) else []
        values.update(step=request.note, plan="\n".join(rows))
    return _prompt(request, what, **values)


def _repair(request: Request) -> Iterator[dict[str, Any]]:
    """That the last answer could not be taken, and why."""
    if request.note and request.what in _REPAIRED:
        yield {"role": "user", "content": _prompt(request, "repair", reason=request.note)}


def _prompt(request: Request, name: str, **values: str) -> str:
    return prompt(request.graph, name, request.snapshot.data, **values)


def _fields(request: Request) -> Iterator[str]:
    """The fields that a state writes, each with its type and what the graph says of it."""
    for name in request.state.writes:
        field = asking.field_of(request.graph, name)
        kind = f"one of {', '.join(map(str, field.values))}" if field.values else field.type
        about = asking.about(request.graph, name)
        yield (
            f"- {name}" + (f" ({kind})" if kind != "any" else "") + (f": {about}" if about else "")
        )


def _listed(items: Sequence[Option] | Sequence[ToolSpec]) -> Iterator[str]:
    for item in items:
        about = " ".join(item.description.split())
        yield f"- {item.name}" + (f": {about}" if about else "")


# --- calls ----------------------------------------------------------------------------------------


def _transcript(
    transcript: Sequence[Exchange], names: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    """The calls of this turn, each with what it gave back."""
    for number, (call, ok, text) in enumerate(transcript):
        identity = f"call-{number + 1}"
        yield _called(identity, names[call.name], call.arguments)
        content = text if ok else f"error: {text}"
        yield {"role": "tool", "tool_call_id": identity, "content": _text(content) or "done"}


def _called(identity: str, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    given = json.dumps(dict(arguments), ensure_ascii=False, default=str)
    function = {"name": name, "arguments": given}
    call = {"id": identity, "type": "function", "function": function}
    return {"role": "assistant", "tool_calls": [call]}


def _tool(tool: ToolSpec, name: str) -> dict[str, Any]:
    schema = dict(tool.schema or {})
    parameters = {**schema, "type": "object", "properties": schema.get("properties") or {}}
    about = tool.description if name == tool.name else f"{tool.name}: {tool.description}"
    function = {"name": name, "description": about[:1024], "parameters": parameters}
    return {"type": "function", "function": function}


def _names(names: Iterable[str]) -> dict[str, str]:
    """Names of tools as the API takes them: letters, digits, _ and -, at most 64."""
    found: dict[str, str] = {}
    for name in names:
        if name in found:
            continue
        safe = base = re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:60] or "tool"
        number = 1
        while safe in found.values():
            number += 1
            safe = f"{base}_{number}"
        found[name] = safe
    return found


def _merged(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Messages of one role that follow each other become one: many models insist on turns."""
    found: list[dict[str, Any]] = []
    for message in messages:
        last = found[-1] if found else None
        joins = last is not None and last["role"] == message["role"] and "tool_calls" not in last
        if last is None or not joins or message["role"] == "tool":
            found.append(dict(message))
            continue
        texts = [last.get("content"), message.get("content")]
        last.update(message)
        content = "\n\n".join(text for text in texts if text)
        if content:
            last["content"] = content
    return found
