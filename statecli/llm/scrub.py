"""Takes keys out of texts: those that are set in the environment, and what looks like one."""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from typing import Any

from statecli.text.secret_looks import LOOKS

HIDDEN = "***"
#: Shorter values are too common to be taken out of texts.
_SHORTEST = 8
_NAMES = re.compile(r"(?:^|_)(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)(?:_|$)")


def known_secrets() -> list[str]:
    """The values of environment variables that are named like secrets, the longest first."""
    found = {
        value.strip()
        for name, value in os.environ.items()
        if _NAMES.search(name.upper()) and len(value.strip()) >= _SHORTEST
    }
    return sorted(found, key=len, reverse=True)


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


class Scrubber:
    """Takes secrets out of a text that comes in pieces; what might be the beginning of one is held
    back until more has come."""

    def __init__(self, secrets: Collection[str]) -> None:
        self.secrets = secrets
        self._held = ""

    def take(self, piece: str) -> str:
        text = without(self._held + piece, self.secrets)
        held = max((_overlap(text, secret) for secret in self.secrets), default=0)
        self._held = text[len(text) - held :] if held else ""
        return text[: len(text) - held]

    def rest(self) -> str:
        """What is still held back at the end."""
        text, self._held = self._held, ""
        return text


def _overlap(text: str, secret: str) -> int:
    """How many characters at the end of a text are the beginning of a secret."""
    for size in range(min(len(text), len(secret) - 1), 0, -1):
        if text.endswith(secret[:size]):
            return size
    return 0
