"""What the guards and the data of a graph make possible: decided, not guessed.

`verify` is small to import; the work is in `verifier`.
"""

from __future__ import annotations

from statecli.verify.report import (
    DEFAULT_BUDGET,
    LISTS,
    NOTHING_TO_DECIDE,
    Finding,
    Report,
    Visit,
    Witness,
)

__all__ = [
    "DEFAULT_BUDGET", "LISTS", "NOTHING_TO_DECIDE", "Finding", "Report", "Visit", "Witness",
    "verify",
]  # fmt: skip


def __getattr__(name: str) -> object:
    if name == "verify":
        from statecli.verify.verifier import verify

        return verify
    raise AttributeError(name)
