"""Did you mean: the known name that an unknown one was probably meant to be."""

from __future__ import annotations

from collections.abc import Iterable

#: Below this similarity a suggestion is noise ('plan' is no typing error for 'planner').
CUTOFF = 0.75
#: Comparing one name with every state of a huge graph is not worth the wait.
MOST = 2000


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known name closest to `word`, or None. Case and ``-``/``_`` differences come first."""
    choices = [name for name in known if name != word]
    folded = _fold(word)
    for name in choices:
        if _fold(name) == folded:
            return name
    if len(word) > 100:
        return None
    choices = [name for name in choices if abs(len(name) - len(word)) <= max(2, len(word) // 3)]
    if len(choices) > MOST:
        choices = [name for name in choices if name[:1] == word[:1]][:MOST]
    import difflib

    close = difflib.get_close_matches(word, choices, n=1, cutoff=CUTOFF)
    return close[0] if close else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The hint text for a near match, or an empty one."""
    match = nearest(word, known)
    return f"did you mean '{match}'?" if match is not None else ""


def _fold(name: str) -> str:
    return name.strip().casefold().replace("-", "_").replace(" ", "_")
