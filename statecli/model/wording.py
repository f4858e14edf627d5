"""Texts, lists and paths of names as messages say them, long ones shortened."""

from __future__ import annotations

from collections.abc import Sequence


def shortened(text: str, most: int) -> str:
    """A text of at most so many characters."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def joined(words: Sequence[str], word: str = "and") -> str:
    """ "a, b and c"."""
    return f"{', '.join(words[:-1])} {word} {words[-1]}" if len(words) > 1 else "".join(words)


def listed(names: Sequence[str], word: str = "and", most: int = 5) -> str:
    """ "'a', 'b' and 'c'"; the first five and a number where there are many."""
    if len(names) > most + 1:
        return ", ".join(f"'{name}'" for name in names[:most]) + f" and {len(names) - most} more"
    return joined([f"'{name}'" for name in names], word)


def walked(names: Sequence[str], most: int = 8) -> str:
    """ "a -> t -> a"; the middle of a long path is left out."""
    if len(names) > most:
        names = [*names[: most // 2], "…", *names[-(most // 2 - 1) :]]
    return " -> ".join(names)
