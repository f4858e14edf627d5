"""Patterns of a JSON schema. They come from whoever wrote the tool, and some take forever."""

from __future__ import annotations

import re
from functools import cache

#: A longer text, or a longer pattern, is left to the tool.
MAX_TEXT = 1_000
MAX_PATTERN = 300
#: More of these repetitions in one pattern may take a text of this length too long.
MAX_REPEATS = 2
_ESCAPED = re.compile(r"\\.|\[(?:\\.|[^\]])*\]", re.DOTALL)
#: A group that is repeated, a reference back to one, and what other languages have and we have not.
_RISKY = re.compile(r"\)[*+{]|\(\?(?![:=!])")
_REPEAT = re.compile(r"[*+]|\{\d*,\d*\}")


def matches(pattern: str, text: str) -> bool | None:
    """Whether a pattern is found in a text; None where that cannot be known here."""
    found = _compiled(pattern) if len(text) <= MAX_TEXT else None
    return None if found is None else found.search(text) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[str] | None:
    """A pattern that takes no longer than the text is long, a few times over."""
    bare = _ESCAPED.sub("x", pattern)
    if len(pattern) > MAX_PATTERN or _RISKY.search(bare) or re.search(r"\\[1-9kpP]", pattern):
        return None
    if len(_REPEAT.findall(bare)) > MAX_REPEATS:
        return None
    try:
        return re.compile(pattern)
    except (re.error, OverflowError, RecursionError):
        return None
