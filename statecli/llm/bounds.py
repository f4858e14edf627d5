"""Answers of a model are read up to a size; one that is packed counts as it is unpacked."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from statecli.llm.trouble import GivenUp

#: Nothing longer is read as one answer, in bytes.
LARGEST = 16 * 1024 * 1024


async def bounded(response: Any) -> None:
    """See to an answer before it is read (a hook of the SDK's HTTP client, whichever that is)."""
    read = response.aiter_bytes

    async def counted(*size: int) -> AsyncIterator[bytes]:
        left = LARGEST
        async for piece in read(*size):
            left -= len(piece)
            if left < 0:
                raise GivenUp(f"sent an answer of more than {LARGEST >> 20} MB")
            yield piece

    response.aiter_bytes = counted
