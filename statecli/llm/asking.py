"""Questions to a person who stands in for a model: by type, asked again where a line is unfit."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from statecli.kernel.reducers import taken
from statecli.kernel.values import Unfit, parsed
from statecli.model.data import is_list, is_map, shown
from statecli.model.graph import Field, Graph
from statecli.model.ports import Ask, Option, Question, ToolResult, ToolSpec, Unanswered

#: What helps when lines do not answer what is asked.
WAY_OUT = "give lines that answer it, or let something else answer: --model human or script:FILE"
#: With this word before its result a tool that the person plays has failed.
FAILED = "error:"
_FAILURE = "'error: why' if it fails"


async def fitting(
    ask: Ask, question: Question, parse: Callable[[str], Any], short: str = ""
) -> Any:
    """Ask until a line fits; off a terminal twice at most, then Unanswered.

    `short` stands for the question when it is asked again.
    """
    text, attempts = question.text, 0
    while True:
        value = parse(await ask(question._replace(text=text)))
        if not isinstance(value, Unfit):
            return value
        attempts += 1
        if attempts > 1 and not ask.patient:
            raise Unanswered(unanswered(question.text, value.reason))
        text = again(value.reason, short or question.text)


def again(reason: str, question: str) -> str:
    """A question that is asked again, with the reason."""
    return f"Sorry, {reason}. {question}"


def unanswered(question: str, reason: str) -> str:
    """That a question got no answer, in words."""
    first = question.partition("\n")[0]
    return f"nothing answered '{first if len(first) <= 100 else first[:99] + '…'}': {reason}"


def worded(about: str, *hints: str) -> str:
    """A question for something: "First name:", "Pain from 0 to 10 (a whole number):"."""
    about = " ".join(about.split()).rstrip(" .:;,")
    given = "; ".join(filter(None, hints))
    more = f" ({given})" if given else ""
    return f"{about}{more}" if about.endswith("?") else f"{about}{more}:"


def hint(field: Field | None) -> str:
    """What a line may be: "a number", "yes or no", "1 dogs, 2 cats or 3 any"."""
    kind = field.type if field is not None else "any"
    if kind == "enum" and field is not None:
        listed = [f"{number} {member}" for number, member in enumerate(field.values, 1)]
        return f"{', '.join(listed[:-1])} or {listed[-1]}" if len(listed) > 1 else "".join(listed)
    words = {"bool": "yes or no", "int": "a whole number", "float": "a number", "dict": "JSON",
             "list": "with commas between", "tuple": "with commas between",
             "set": "with commas between"}  # fmt: skip
    return words.get(kind, "")


def unfit(field: Field | None, line: str, reason: str) -> str:
    """Why a line does not fit, where the question lists what would."""
    listed = field is not None and field.type == "enum"
    return f"{shown(line.strip())} is none of these" if listed else reason


async def value_of(ask: Ask, field: Field, label: str, *, optional: bool = False) -> Any:
    """One field by its type; None where an optional one is left open with an empty line."""
    text = worded(label, hint(field), "empty leaves it open" if optional else "")

    def parse(line: str) -> Any:
        if optional and not line.strip():
            return None
        value = parsed(field, line)
        return Unfit(unfit(field, line, value.reason)) if isinstance(value, Unfit) else value

    return await fitting(ask, Question(text, optional=optional), parse)


async def written(ask: Ask, graph: Graph, state: str, names: Sequence[str]) -> dict[str, Any]:
    """The fields that a state writes, one after the other; what is left open is left out."""
    found: dict[str, Any] = {}
    for name in names:
        label = f"[{state}] {labelled(name, about(graph, name))}"
        value = await value_of(ask, field_of(graph, name), label, optional=True)
        if value is not None:
            found[name] = value
    return found


def field_of(graph: Graph, name: str) -> Field:
    """What may be written into a field; one that nobody declares takes any text."""
    return taken(graph, name) or plain_field(name)


def plain_field(name: str, kind: str = "any", values: tuple[object, ...] = ()) -> Field:
    return Field(name, kind, values, "overwrite", False, None, "declared", ())


def about(graph: Graph, name: str) -> str:
    """What the graph says of a field: its description, or the label of a context field."""
    fields = graph.settings.get("fields")
    found = fields.get(name) if is_map(fields) else None
    context = graph.settings.get("session_context")
    listed = context.get("fields") if is_map(context) else None
    for item in listed if is_list(listed) else ():
        if is_map(item) and item.get("id") == name:
            found = item
    if not is_map(found):
        return ""
    text = found.get("description") or found.get("label")
    return text if isinstance(text, str) else ""


def labelled(name: str, description: str) -> str:
    return f"{name} - {description}" if description else name


async def yes_no(ask: Ask, text: str) -> bool:
    """A plain yes or no; anything else is asked again."""
    question = Question(f"{text} (yes or no)", "yes_no")
    answer: bool = await fitting(ask, question, lambda line: parsed(plain_field("", "bool"), line))
    return answer


async def text_of(ask: Ask, text: str) -> str:
    """A line that says something."""
    answer: str = await fitting(ask, Question(text), lambda line: parsed(None, line))
    return answer


async def menu(ask: Ask, title: str, options: Sequence[Option]) -> str:
    """One of the options, by number or name."""
    names = [option.name for option in options]
    width = max(map(len, names), default=0)
    rows = [
        f"{number:>3} {option.name.ljust(width)}  {' '.join(option.description.split())}".rstrip()
        for number, option in enumerate(options, 1)
    ]

    def parse(line: str) -> Any:
        value = parsed(plain_field("", "enum", tuple(names)), line)
        return (
            Unfit(f"{shown(line.strip())} is none of these") if isinstance(value, Unfit) else value
        )

    question = Question("\n".join([title, *rows]), "choice", tuple(names))
    short = f"Type a number from 1 to {len(names)}, or a name:"
    chosen: str = await fitting(ask, question, parse, short)
    return chosen


async def arguments(ask: Ask, tool: ToolSpec, where: str) -> dict[str, Any]:
    """The arguments of a tool, by its schema; one whose schema nobody knows gets none."""
    found: dict[str, Any] = {}
    for name, settings, required in parameters(tool):
        told = settings.get("description")
        label = f"[{where}] {labelled(name, told if isinstance(told, str) else '')}"
        field = _field(name, settings)
        value = await value_of(ask, field, label, optional=not required)
        if value is not None:
            found[name] = value
    return found


def parameters(tool: ToolSpec) -> Iterator[tuple[str, Mapping[str, Any], bool]]:
    """What a tool takes, by its schema: the name, what is said of it, and whether it must be
    given. What a server writes instead of a schema says nothing."""
    schema = tool.schema or {}
    properties, listed = schema.get("properties"), schema.get("required")
    required = listed if is_list(listed) else ()
    for name, spec in properties.items() if is_map(properties) else ():
        yield name, spec if is_map(spec) else {}, name in required


async def free_arguments(ask: Ask, tool: ToolSpec, where: str) -> dict[str, Any]:
    """Arguments of a tool whose schema nobody knows, as one line of JSON."""

    def parse(line: str) -> Any:
        value = _json(line) if line.strip() else {}
        return value if is_map(value) else Unfit("arguments are a JSON object")

    text = f"[{where}] Arguments for {tool.name}, as JSON (empty for none):"
    value: dict[str, Any] = await fitting(ask, Question(text, optional=True), parse)
    return value


async def result_of(
    ask: Ask, tool: ToolSpec, arguments: Mapping[str, Any], fields: Sequence[Field]
) -> ToolResult:
    """What a tool gives back that nobody started: the person plays it. `fields` are those that
    the state takes from the result; a result that begins with ``error:`` is a failure."""
    given = ", ".join(f"{key}={shown(value)}" for key, value in arguments.items())
    title = f"You play {tool.name}({given}), which is not connected."
    structured: dict[str, Any] = {}
    for field in fields:
        asked = worded(f"What does it give back as {field.name}?", hint(field), _FAILURE)
        question = Question(f"{title} {asked}".strip())
        answer = await fitting(ask, question, partial(_played, field), asked)
        if isinstance(answer, ToolResult):
            return answer
        structured[field.name] = answer
        title = ""
    if fields:
        return ToolResult(True, json.dumps(structured, ensure_ascii=False), structured)
    text = f"{title} {worded('What does it give back?', 'text or JSON', _FAILURE)}"
    line = await ask(Question(text, optional=True))
    answer = _played(plain_field(""), line) if line.strip() else ""
    return answer if isinstance(answer, ToolResult) else ToolResult(True, answer, None)


def _played(field: Field, line: str) -> Any:
    """A typed result: a failure, a whole JSON object, or the value of one field."""
    text = line.strip()
    if text.casefold().startswith(FAILED):
        return ToolResult(False, text[len(FAILED) :].strip() or "it failed")
    whole = _json(text) if text.startswith("{") and field.type != "dict" else None
    if is_map(whole):
        return ToolResult(True, text, whole)
    value = parsed(field, text)
    return Unfit(unfit(field, text, value.reason)) if isinstance(value, Unfit) else value


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


_TYPES = {"integer": "int", "number": "float", "boolean": "bool", "array": "list", "object": "dict"}


def _field(name: str, schema: Mapping[str, Any]) -> Field:
    """The field that a property of a JSON schema is."""
    values = schema.get("enum")
    if is_list(values):
        return plain_field(name, "enum", tuple(values))
    return plain_field(name, _TYPES.get(str(schema.get("type")), "str"))
