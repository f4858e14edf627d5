"""Lists and paths of names as messages say them, long ones shortened."""

from __future__ import annotations

from collections.abc import Sequence


def listed(names: Sequence[str], word: str = "and", most: int = 5) -> str:
    """ "'a', 'b' and 'c'"; the first five and a number where there are many."""
    if len(names) > most + 1:
        return ", ".join(f"'{name}'" for name in names[:most]) + f" and {len(names) - most} more"
    quoted = [f"'{name}'" for name in names]
    return f"{', '.join(quoted[:-1])} {word} {quoted[-1]}" if len(quoted) > 1 else "".join(quoted)


def walked(names: Sequence[str], most: int = 8) -> str:
    """ "a -> t -> a"; the middle of a long path is left out."""
    if len(names) > most:
        names = [*names[: most // 2], "…", *names[-(most // 2 - 1) :]]
    return " -> ".join(names)
