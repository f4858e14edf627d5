"""What the guards and the data of a graph make possible: decided, not guessed.

`verify` is small to import; the work is in `verifier`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from statecli.verify.report import (
    DEFAULT_BUDGET,
    LISTS,
    NOTHING_TO_DECIDE,
    Finding,
    Report,
    Visit,
    Witness,
)

if TYPE_CHECKING:  # it is imported when it is first asked for
    from statecli.verify.verifier import verify

__all__ = [
    "DEFAULT_BUDGET", "LISTS", "NOTHING_TO_DECIDE", "Finding", "Report", "Visit", "Witness",
    "verify",
]  # fmt: skip


def __getattr__(name: str) -> object:
    if name == "verify":
        from statecli.verify.verifier import verify as found

        return found
    raise AttributeError(name)
