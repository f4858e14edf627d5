"""Takes keys out of texts: those that are set in the environment, and what looks like one."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Mapping
from functools import partial
from typing import Any
from urllib.parse import quote

from statecli.model.data import well_formed
from statecli.model.event import Body
from statecli.model.snapshot import Messages
from statecli.text.secret_looks import LOOKS

HIDDEN = "***"
#: Shorter values are too common to be taken out of texts.
_SHORTEST = 8
_NAMES = re.compile(r"(?:^|_)(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)(?:_|$)")
#: A shorter value of letters alone may be a word that people say ("password").
_WORD = 16
#: What of an event is free text or data; the rest are words of the graph and of statecli.
_FREE = frozenset({
    "text", "data", "early", "value", "result", "arguments", "reason", "message", "error", "note",
    "answers", "why", "what", "service", "url", "user", "trials",
})  # fmt: skip
#: Of these the keys are names of fields.
_FIELDS = frozenset({"data", "early"})


def known_secrets() -> list[str]:
    """The values of environment variables that are named like secrets, the longest first; also as
    JSON and addresses write them."""
    values = {value.strip() for name, value in os.environ.items() if _NAMES.search(name.upper())}
    found = {value for value in values if len(value) >= _SHORTEST and not _is_word(value)}
    ways = (json.dumps, partial(json.dumps, ensure_ascii=False))
    written = {way(value)[1:-1] for value in found for way in ways}
    quoted = {quote(value, safe=safe) for value in found for safe in ("", "/")}
    return sorted(found | written | quoted, key=len, reverse=True)


def _is_word(value: str) -> bool:
    """Whether a value is a word such as people use, or a placeholder ("changeme")."""
    plain = value in (value.lower(), value.upper(), value.capitalize())
    return len(value) < _WORD and value.isalpha() and plain


def scrubbed(value: Any, secrets: Collection[str]) -> Any:
    """Plain data without these secrets, nor anything that looks like a key."""
    if isinstance(value, str):
        return LOOKS.sub(HIDDEN, without(value, secrets))
    if isinstance(value, dict):
        return {scrubbed(key, secrets): scrubbed(item, secrets) for key, item in value.items()}
    if isinstance(value, list):
        return [scrubbed(item, secrets) for item in value]
    return value


def without(text: str, secrets: Collection[str]) -> str:
    """A text without these secrets."""
    for secret in secrets:
        text = text.replace(secret, HIDDEN)
    return text


class Veil:
    """Takes secrets out of what a run keeps and shows: texts, data, events."""

    def __init__(self, secrets: Collection[str]) -> None:
        longest = sorted(secrets, key=len, reverse=True)
        self._any = re.compile("|".join(map(re.escape, longest))) if longest else None

    def __bool__(self) -> bool:
        """Whether there is anything to take out."""
        return self._any is not None

    def text(self, text: str) -> str:
        return self._any.sub(HIDDEN, text) if self._any is not None else text

    def value(self, value: Any, *, keys: bool = True) -> Any:
        """Data of any depth; the same object where nothing secret is in it. Objects of classes of
        one's own are no plain data, and stay. `keys`: those of a mapping are data too."""
        if self._any is None or isinstance(value, bool | int | float | bytes | None):
            return value
        if isinstance(value, str):
            found = self._any.sub(HIDDEN, value)
            return value if found == value else found
        if isinstance(value, Mapping):
            return self._mapping(value, keys=keys)
        if isinstance(value, Messages | list | tuple | set | frozenset):
            items = [self.value(item) for item in value]
            if all(new is old for new, old in zip(items, value, strict=True)):
                return value
            make = getattr(type(value), "_make", type(value))
            return make(items)
        return value

    def _mapping(self, value: Mapping[Any, Any], *, keys: bool) -> Mapping[Any, Any]:
        items = [(self.value(k) if keys else k, self.value(item)) for k, item in value.items()]
        same = all(
            new is old and item is value[old] for (new, item), old in zip(items, value, strict=True)
        )
        return value if same else dict(items)

    def body(self, body: Body) -> Body:
        """An event, its free texts and its data without secrets."""
        changed: dict[str, Any] = {}
        for name, value in zip(body._fields, body, strict=True):
            if value and name in _FREE:
                new = self.value(value, keys=name not in _FIELDS)
                if new is not value:
                    changed[name] = new
        return body._replace(**changed) if changed else body


class Scrubber:
    """Takes secrets out of a text that comes in pieces; what might be the beginning of one, or is
    half a character, is held back until more has come."""

    def __init__(self, secrets: Collection[str]) -> None:
        self.secrets = secrets
        self._held = ""

    def take(self, piece: str) -> str:
        text = without(self._held + piece, self.secrets)
        held = max((_overlap(text, secret) for secret in self.secrets), default=0)
        held = max(held, 1 if "\ud800" <= text[-1:] <= "\udbff" else 0)
        self._held = text[len(text) - held :] if held else ""
        return str(well_formed(text[: len(text) - held]))

    def rest(self) -> str:
        """What is still held back at the end."""
        text, self._held = self._held, ""
        return str(well_formed(text))


def _overlap(text: str, secret: str) -> int:
    """How many characters at the end of a text are the beginning of a secret."""
    for size in range(min(len(text), len(secret) - 1), 0, -1):
        if text.endswith(secret[:size]):
            return size
    return 0
