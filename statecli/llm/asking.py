"""Questions to a person who stands in for a model: by type, asked again where a line is unfit."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from statecli.kernel.values import Unfit, parsed
from statecli.model.data import is_map
from statecli.model.graph import Field
from statecli.model.guard import fold
from statecli.model.ports import Ask, Option, Question, ToolSpec, Unanswered

WAY_OUT = "give lines that fit, or another --model (human, script:FILE, or a real one)"


async def fitting(ask: Ask, question: Question, parse: Callable[[str], Any]) -> Any:
    """Ask until a line fits; off a terminal twice at most, then Unanswered."""
    text = question.text
    for attempt in range(1_000_000):
        value = parse(await ask(question._replace(text=text)))
        if not isinstance(value, Unfit):
            return value
        if not ask.patient and attempt:
            raise Unanswered(f"no line fitted: {value.reason}; {WAY_OUT}")
        text = f"{value.reason}. {question.text}"
    raise Unanswered(question.text)


def hint(field: Field | None) -> str:
    """What a line may be, in brackets behind a question."""
    kind = field.type if field is not None else "any"
    if kind == "enum" and field is not None:
        listed = ", ".join(f"{n} {member}" for n, member in enumerate(field.values, 1))
        return f" ({listed})"
    words = {"bool": "yes or no", "int": "a whole number", "float": "a number", "list": "a list",
             "dict": "JSON"}  # fmt: skip
    return f" ({words[kind]})" if kind in words else ""


async def value_of(ask: Ask, name: str, field: Field | None, *, optional: bool) -> Any:
    """One field by its type; None where an optional one is left open with an empty line."""
    about = field.name if field is not None else name
    described = f"{about}{hint(field)}"
    text = f"{described}, or an empty line to leave it open:" if optional else f"{described}:"

    def parse(line: str) -> Any:
        if optional and not line.strip():
            return None
        return parsed(field, line)

    return await fitting(ask, Question(text, optional=optional), parse)


async def yes_no(ask: Ask, text: str) -> bool:
    answer: bool = await fitting(
        ask,
        Question(f"{text} (yes or no)", "yes_no"),
        lambda line: parsed(Field("it", "bool", (), "", False, None, "", ()), line),
    )
    return answer


async def menu(ask: Ask, title: str, options: Sequence[Option]) -> str:
    """One of the options, by number or name."""
    names = [option.name for option in options]
    rows = [
        f"  {number} {option.name}" + (f" - {option.description}" if option.description else "")
        for number, option in enumerate(options, 1)
    ]

    def parse(line: str) -> Any:
        text = line.strip()
        if text.isascii() and text.isdigit() and 1 <= int(text) <= len(names):
            return names[int(text) - 1]
        for name in names:
            if fold(name) == fold(text):
                return name
        return Unfit(f"type a number from 1 to {len(names)}, or a name")

    question = Question("\n".join([title, *rows]), "choice", tuple(names))
    chosen: str = await fitting(ask, question, parse)
    return chosen


async def arguments(ask: Ask, tool: ToolSpec) -> dict[str, Any]:
    """The arguments of a tool, by its schema; without one a line of JSON, empty for none."""
    properties = tool.schema.get("properties") if tool.schema is not None else None
    if not is_map(properties):
        return await _free_arguments(ask, tool)
    required = (tool.schema or {}).get("required") or []
    found: dict[str, Any] = {}
    for name, schema in properties.items():
        field = _field(name, schema if is_map(schema) else {})
        value = await value_of(ask, name, field, optional=name not in required)
        if value is not None:
            found[name] = value
    return found


async def _free_arguments(ask: Ask, tool: ToolSpec) -> dict[str, Any]:
    def parse(line: str) -> Any:
        if not line.strip():
            return {}
        try:
            value = json.loads(line)
        except ValueError:
            value = None
        return value if is_map(value) else Unfit("arguments are a JSON object, or an empty line")

    text = f"arguments for {tool.name} as JSON, or an empty line for none:"
    value: dict[str, Any] = await fitting(ask, Question(text, optional=True), parse)
    return value


_TYPES = {"integer": "int", "number": "float", "boolean": "bool", "array": "list", "object": "dict"}


def _field(name: str, schema: Mapping[str, Any]) -> Field:
    """The field that a property of a JSON schema is."""
    values = schema.get("enum")
    kind = "enum" if isinstance(values, list) else _TYPES.get(str(schema.get("type")), "str")
    members = tuple(values) if isinstance(values, list) else ()
    return Field(name, kind, members, "overwrite", False, None, "declared", ())
