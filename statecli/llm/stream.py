"""Puts the answer of a model together from what the SDK gives, whatever of it is missing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from statecli.llm.answers import strict
from statecli.llm.scrub import without
from statecli.model.data import well_formed
from statecli.model.ports import Call

#: More calls in one answer are no plan, but a model that goes round.
MAX_CALLS = 50
#: How a call is named that has no name.
UNNAMED = "(no tool)"


class _Part:
    """A call on its way: its arguments come in pieces."""

    def __init__(self, identity: str) -> None:
        self.id = identity
        self.name = ""
        self.arguments: Any = ""


class Assembly:
    """One answer. `began`: something of it has arrived, so it must not be asked for again."""

    def __init__(self) -> None:
        self.began = False
        self.text = ""
        self.finish = ""
        self.usage: Mapping[str, Any] = {}
        self._parts: list[_Part] = []
        self._at: dict[int, _Part] = {}
        self._named: dict[str, _Part] = {}
        self._billed = False

    def take(self, chunk: Any) -> str:
        """A chunk of a stream; the text that it brings."""
        self._spent(chunk)
        choices = getattr(chunk, "choices", None)
        if not isinstance(choices, list) or not choices:
            self._billed = self._billed or bool(self.usage)
            return ""
        delta = getattr(choices[0], "delta", None)
        for call in _calls(delta):
            part = self._part(call)
            self._add(part, call)
        return self._choice(choices[0], delta)

    def whole(self, completion: Any) -> str:
        """An answer that came at once; its text."""
        self._spent(completion)
        self.finish = "stop"
        choices = getattr(completion, "choices", None)
        if not isinstance(choices, list) or not choices:
            return ""
        message = getattr(choices[0], "message", None)
        for call in _calls(message):
            self._add(self._new(_text(call, "id")), call)
        return self._choice(choices[0], message)

    @property
    def complete(self) -> bool:
        """Whether the server said that this was all: by a reason, or by the bill behind it."""
        return bool(self.finish or self._billed)

    @property
    def size(self) -> int:
        """How many characters have come."""
        return len(self.text) + sum(len(str(part.arguments)) for part in self._parts)

    def _choice(self, choice: Any, message: Any) -> str:
        reason = getattr(choice, "finish_reason", None)
        if isinstance(reason, str) and reason:
            self.finish = reason
        text = "".join(_written(getattr(message, key, None)) for key in ("content", "refusal"))
        self.began = self.began or bool(text)
        self.text += text
        return text

    def _part(self, call: Any) -> _Part:
        """The call that a piece belongs to. They are told apart by their index; by their id where
        a server gives every one the same index or none; and a piece with neither goes on with the
        last one, unless it begins with a name."""
        identity, index = _text(call, "id"), getattr(call, "index", None)
        if not isinstance(index, int):
            part = self._named.get(identity) if identity else self._last(call)
            return part or self._new(identity)
        part = self._at.get(index)
        if part is not None and identity and part.id and identity != part.id:
            part = self._named.get(identity)
        self._at[index] = part = part or self._new(identity)
        return part

    def _last(self, call: Any) -> _Part | None:
        named = _text(getattr(call, "function", None), "name")
        return self._parts[-1] if self._parts and not (named and self._parts[-1].name) else None

    def _new(self, identity: str) -> _Part:
        part = _Part(identity)
        self._parts.append(part)
        self._named.setdefault(identity, part)
        return part

    def _add(self, part: _Part, call: Any) -> None:
        """What a piece says of its call."""
        self.began = True
        function = getattr(call, "function", None)
        name, arguments = _text(function, "name"), getattr(function, "arguments", None)
        if name != part.name:
            part.name += name
        if isinstance(arguments, str) and isinstance(part.arguments, str):
            part.arguments += arguments
        elif isinstance(arguments, dict):
            part.arguments = arguments

    def _spent(self, chunk: Any) -> None:
        usage = getattr(chunk, "usage", None)
        if usage is None:
            return
        dump = getattr(usage, "model_dump", None)
        found = dump(warnings=False) if dump is not None else usage
        if isinstance(found, dict):
            self.usage = found

    def calls(self, names: Mapping[str, str], secrets: list[str]) -> list[Call]:
        """The calls, each with what is wrong with its arguments. `names`: the real names."""
        found: list[Call] = []
        for number, part in enumerate(self._parts[:MAX_CALLS], 1):
            arguments, error = _arguments(part.arguments, secrets)
            name = names.get(part.name) or well_formed(without(part.name, secrets))
            identity = well_formed(without(part.id, secrets)) or f"call-{number}"
            if not name:
                name, error = UNNAMED, "the model names no tool"
            found.append(Call(identity, name, arguments, error))
        left = len(self._parts) - MAX_CALLS
        if left > 0:
            error = f"{MAX_CALLS} calls of one answer are made; {left} more were left out"
            found.append(Call(f"call-{MAX_CALLS + 1}", UNNAMED, {}, error))
        return found


def _calls(message: Any) -> list[Any]:
    found = getattr(message, "tool_calls", None)
    return found if isinstance(found, list) else []


def _text(thing: Any, key: str) -> str:
    """A text of an object of the SDK; empty where it is anything else."""
    found = getattr(thing, key, None)
    return found if isinstance(found, str) else ""


def _written(content: Any) -> str:
    """The text of a message: as it is, or in parts (thoughts and pictures are no text)."""
    if not isinstance(content, list):
        return content if isinstance(content, str) else ""
    parts = [part for part in content if isinstance(part, dict) and part.get("type") == "text"]
    return "".join(text for part in parts if isinstance(text := part.get("text"), str))


def _arguments(written: Any, secrets: list[str]) -> tuple[dict[str, Any], str]:
    """The arguments of a call, and why they are none."""
    if isinstance(written, str):
        written = well_formed(without(written, secrets))
    value = written
    for _ in range(2):  # some servers wrap the text once more
        if isinstance(value, str):
            try:
                value = strict(value) if value.strip() else {}
            except (ValueError, RecursionError):
                return {}, f"the arguments are not JSON: {_short(str(written))}"
    if not isinstance(value, dict):
        return {}, f"the arguments are no object: {_short(str(written))}"
    return value, ""


def _short(text: str) -> str:
    return text if len(text) <= 200 else f"{text[:199]}…"
