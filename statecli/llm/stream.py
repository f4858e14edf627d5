"""Puts the answer of a model together from what the SDK gives, whatever of it is missing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from statecli.llm.answers import strict
from statecli.llm.scrub import without
from statecli.model.ports import Call

#: More calls in one answer are no plan, but a model that goes round.
MAX_CALLS = 50


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

    def take(self, chunk: Any) -> str:
        """A chunk of a stream; the text that it brings."""
        self._spent(chunk)
        choices = getattr(chunk, "choices", None)
        if not isinstance(choices, list) or not choices:
            return ""
        return self._choice(choices[0], getattr(choices[0], "delta", None))

    def whole(self, completion: Any) -> str:
        """An answer that came at once; its text."""
        self._spent(completion)
        self.finish = "stop"
        choices = getattr(completion, "choices", None)
        if not isinstance(choices, list) or not choices:
            return ""
        return self._choice(choices[0], getattr(choices[0], "message", None))

    @property
    def complete(self) -> bool:
        """Whether the server said that this was all: by a reason, or by the bill behind it."""
        return bool(self.finish or self.usage)

    @property
    def size(self) -> int:
        """How many characters have come."""
        return len(self.text) + sum(len(str(part.arguments)) for part in self._parts)

    def _choice(self, choice: Any, message: Any) -> str:
        reason = getattr(choice, "finish_reason", None)
        if isinstance(reason, str) and reason:
            self.finish = reason
        for call in getattr(message, "tool_calls", None) or ():
            self._call(call)
        found = [getattr(message, key, None) for key in ("content", "refusal")]
        text = "".join(item for item in found if isinstance(item, str))
        self.began = self.began or bool(text)
        self.text += text
        return text

    def _call(self, call: Any) -> None:
        """A piece of a call. Calls are told apart by their index, and by their id where a server
        gives every one the same index."""
        self.began = True
        identity = getattr(call, "id", None)
        identity = identity if isinstance(identity, str) else ""
        index = getattr(call, "index", None)
        index = index if isinstance(index, int) else len(self._parts) if identity else 0
        part = self._at.get(index)
        if part is None or (identity and part.id and identity != part.id):
            part = self._at[index] = _Part(identity)
            self._parts.append(part)
        function = getattr(call, "function", None)
        name, arguments = getattr(function, "name", None), getattr(function, "arguments", None)
        if isinstance(name, str) and name != part.name:
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
        found = dump() if dump is not None else usage
        if isinstance(found, dict):
            self.usage = found

    def calls(self, names: Mapping[str, str], secrets: list[str]) -> list[Call]:
        """The calls, each with what is wrong with its arguments. `names`: the real names."""
        found: list[Call] = []
        for number, part in enumerate(self._parts[:MAX_CALLS], 1):
            arguments, error = _arguments(part.arguments, secrets)
            name = names.get(part.name) or without(part.name, secrets)
            found.append(Call(part.id or f"call-{number}", name, arguments, error))
        return found


def _arguments(written: Any, secrets: list[str]) -> tuple[dict[str, Any], str]:
    """The arguments of a call, and why they are none."""
    if isinstance(written, str):
        written = without(written, secrets)
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
