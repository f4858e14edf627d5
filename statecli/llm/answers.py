"""What stands in the text of a model: thoughts to leave out, the JSON it was asked for, and the
reply inside of that while it still comes."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from statecli.model.data import well_formed

#: Some models write down what they think first; servers that know the model take it out.
_THINK = "<think>"
_THOUGHT = "</think>"
#: The beginning of a JSON answer up to the text of its reply.
_REPLY = re.compile(r'\{\s*"reply"\s*:\s*"')
#: Whole characters and escapes of a JSON string; one outside of the basic plane takes two escapes.
_STRING = re.compile(
    r'(?:[^"\\]+|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[0-9a-fA-F]{4}|\\u(?![dD][89abAB])[0-9a-fA-F]{4}|\\[^u])*'
)
#: A larger answer is not searched for JSON.
_LARGEST = 1_000_000


def value_in(text: str, schema: Mapping[str, Any] | None) -> Any:
    """The JSON object of an answer, with prose or a code fence around it; None where there is none
    or where there are two different ones. An object must have what the schema requires."""
    text = text[:_LARGEST].strip()
    if text.startswith("{"):
        try:
            whole = strict(text)
        except (ValueError, RecursionError):
            pass
        else:
            return whole if isinstance(whole, dict) else None
    required = (schema or {}).get("required")
    keys = required if isinstance(required, list) else []
    found = [item for item in _objects(text) if all(key in item for key in keys)]
    return found[0] if found and all(item == found[0] for item in found) else None


def strict(text: str) -> Any:
    """What a text is as JSON. ValueError where it is none: NaN and numbers without end are not."""
    return well_formed(json.loads(text, parse_constant=_no_json, parse_float=_float))


def _no_json(word: str) -> Any:
    raise ValueError(f"{word} is no JSON")


def _float(text: str) -> float:
    found = float(text)
    return found if math.isfinite(found) else _no_json(text)


def _objects(text: str) -> Iterator[dict[str, Any]]:
    decoder = json.JSONDecoder(parse_constant=_no_json, parse_float=_float)
    at, tried = text.find("{"), 0
    while at >= 0 and tried < 200:
        tried += 1
        try:
            value, end = decoder.raw_decode(text, at)
            value = well_formed(value)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            yield value
        at = text.find("{", end)


class Spoken:
    """Takes the text of an answer piece by piece and gives what is for the person.

    `reply_only`: the answer is a JSON object, and its "reply" is what they read. `shown` is what
    they have been given so far.
    """

    def __init__(self, *, reply_only: bool) -> None:
        self.reply_only = reply_only
        self.text = ""
        self.shown = ""

    def take(self, piece: str) -> str:
        """A piece of the answer; what to show of it now."""
        self.text += piece
        now = self._for_the_person()
        if not now.startswith(self.shown):
            return ""
        new, self.shown = now[len(self.shown) :], now
        return new

    def rest(self, whole: str) -> str:
        """What is still held back once the answer is complete and known to be `whole`."""
        if not whole.startswith(self.shown):
            return ""
        new, self.shown = whole[len(self.shown) :], whole
        return new

    def _for_the_person(self) -> str:
        text = self.text.lstrip()
        if _THINK.startswith(text[: len(_THINK)]):
            if len(text) < len(_THINK) or _THOUGHT not in text:
                return ""
            text = text.partition(_THOUGHT)[2].lstrip()
        if not self.reply_only:
            return text
        match = _REPLY.search(text)
        return _string(text[match.end() :]) if match else ""


def answer(text: str) -> str:
    """An answer without what the model thought first."""
    bare = text.lstrip()
    if bare.startswith(_THINK) and _THOUGHT in bare:
        return bare.partition(_THOUGHT)[2].lstrip()
    return bare if bare.startswith(_THINK) else text


def _string(text: str) -> str:
    """The JSON string that goes on here, as far as it has come; half an escape is left out."""
    match = _STRING.match(text)
    assert match is not None
    try:
        found = json.loads(f'"{match.group()}"', strict=False)
    except ValueError:
        return ""
    return str(well_formed(found)) if isinstance(found, str) else ""
