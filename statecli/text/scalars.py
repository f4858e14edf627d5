"""How a text is written as a scalar, so that every reader gives the same text back."""

from __future__ import annotations

import re

#: Text that every YAML reader takes for text without quotes, in brackets too.
_PLAIN = re.compile(r"[^\W\d](?:[\w./ -]*[\w./-])?")
#: What a YAML 1.1 reader takes for true, false or null.
_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})


def written(text: str, language: str, style: str = "") -> str:
    """The text in the file's language, in quotes of this style or with those that it needs."""
    if language == "json" or style == '"':
        return _quoted(text)
    if style == "" and is_plain(text) and text.casefold() not in _WORDS:
        return text
    if text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    return _quoted(text)


def is_plain(text: str) -> bool:
    """Whether a text is letters that mean themselves in every style of quotes and without."""
    return _PLAIN.fullmatch(text) is not None


def _quoted(text: str) -> str:
    import json

    return json.dumps(text, ensure_ascii=False)
