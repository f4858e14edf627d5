"""The one exception that ends a command: what was asked for could not be done."""

from __future__ import annotations


class Unable(Exception):
    """Wrong usage, a bad config, a missing file, nothing to check: exit code 2.

    `hint` is the way out, printed on a line of its own.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
