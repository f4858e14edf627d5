"""What the answers to one request took: tokens, money, seconds."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

#: A token is about so many characters, where nobody counts.
_CHARACTERS = 4
#: An answer does not take more tokens than this; who tells of more has not counted.
_MOST = 1_000_000_000
#: Prices are for so many tokens, as the lists of those who sell them have it.
_TOKENS = 1_000_000


class Bill:
    """Adds up the answers to one request. `prices`: for a million tokens, `input` and `output`."""

    def __init__(self, model: str, prices: object) -> None:
        self.model = model
        self.prices = prices
        self.attempts = 0
        self.tokens_in = 0
        self.tokens_out = 0
        self.cost: float | None = None
        self.estimated = False
        self._began = time.monotonic()

    def add(self, usage: Mapping[str, Any], sent: int, received: int) -> None:
        """One answer, as its server counts it; else by the characters that were sent and that were
        received (nothing was, nothing is counted)."""
        tokens_in, tokens_out = map(_count, map(usage.get, ("prompt_tokens", "completion_tokens")))
        if tokens_in is None or tokens_out is None:
            if not received:
                return
            self.estimated = True
            tokens_in, tokens_out = sent // _CHARACTERS + 1, received // _CHARACTERS + 1
        self.tokens_in += tokens_in
        self.tokens_out += tokens_out
        cost = self._price(tokens_in, tokens_out, usage.get("cost"))
        if cost is not None:
            self.cost = (self.cost or 0.0) + cost

    def _price(self, tokens_in: int, tokens_out: int, told: object) -> float | None:
        """The money: by the prices that are known, else as the server says."""
        if isinstance(self.prices, Mapping):
            pair = [_amount(self.prices.get(key, 0)) for key in ("input", "output")]
            if pair[0] is not None and pair[1] is not None:
                return (tokens_in * pair[0] + tokens_out * pair[1]) / _TOKENS
        return _amount(told)

    @property
    def spent(self) -> bool:
        return bool(self.tokens_in or self.tokens_out)

    def usage(self) -> dict[str, Any]:
        """What a chunk says of it (see `Chunk`)."""
        found: dict[str, Any] = {"input": self.tokens_in, "output": self.tokens_out}
        if self.estimated:
            found["estimated"] = True
        if self.cost is not None:
            found["cost"] = self.cost
        seconds = round(time.monotonic() - self._began, 3)
        return {**found, "latency": seconds, "attempts": self.attempts, "model": self.model}


def _count(value: object) -> int | None:
    """A number of tokens, as far as it can be one."""
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value <= _MOST else None


def _amount(value: object) -> float | None:
    """A sum of money, as far as it can be one."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= _MOST else None
