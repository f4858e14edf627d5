"""Providers for the tests that ask a server of `openai_server`, with the real SDK."""

from __future__ import annotations

import os
from typing import Any

from openai_server import Server

from statecli.llm.openai_compatible import OpenAICompatible, Target, Targets
from statecli.llm.servers import Key, Level, wanted

#: The key in the tests that look for it everywhere.
FAKE = "sk-fake-4f9a2c7e1b8d3a6f5e0c9b8a"


class Naps:
    """Takes the place of `sleep` between attempts: nobody waits, and how long is written down."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


def target(server: Server | str, **settings: Any) -> Target:
    """The model `test` of a server."""
    url = server if isinstance(server, str) else server.url
    found = wanted([Level("from the test", {"name": "test", "base_url": url, **settings})])
    assert found is not None
    return Target(found, Key("STATECLI_TEST_KEY"))


def served(
    server: Server | str,
    *,
    streams: bool = True,
    naps: Naps | None = None,
    states: dict[str, Target] | None = None,
    checks: dict[str, Target] | None = None,
    **settings: Any,
) -> OpenAICompatible:
    """A provider that asks a server for everything."""
    os.environ["STATECLI_TEST_KEY"] = FAKE
    targets = Targets(target(server, **settings), states or {}, checks or {})
    return OpenAICompatible(targets, streams=streams, sleep=naps or Naps())
