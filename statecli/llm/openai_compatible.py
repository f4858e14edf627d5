"""Models behind the API of OpenAI, wherever they run, through its official SDK (extra `[llm]`).

The SDK is imported with the first request. What a server cannot do (schemas, some settings) it
says once and is not asked for again.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from statecli.llm.scrub import known_secrets
from statecli.llm.servers import DEFAULT, Key, Level, Wanted, shown, wanted
from statecli.model.ports import Ask, Chunk, Request

#: Seconds without a sign of the server before it is given up.
TIMEOUT = 120.0
#: Seconds for a connection.
CONNECT = 10.0
Sleep = Callable[[float], Awaitable[None]]


class Target(NamedTuple):
    """A model that may be asked: where it is, and the key that goes there."""

    wanted: Wanted
    key: Key

    @property
    def where(self) -> str:
        """The address, with nothing secret in it."""
        return shown(self.wanted.url)

    @property
    def seconds(self) -> float:
        """How long to wait for a sign of the server."""
        value = self.wanted.settings.get("timeout")
        given = isinstance(value, int | float) and not isinstance(value, bool) and value > 0
        return float(value or 0) if given else TIMEOUT


class Targets(NamedTuple):
    """The model that plays, those of single states, and those of the second look at goals."""

    default: Target
    states: Mapping[str, Target]
    checks: Mapping[str, Target]

    def of(self, request: Request) -> Target:
        name = request.state.name
        found = self.checks.get(name) if request.what == "check" else None
        return found or self.states.get(name, self.default)

    def all(self) -> list[Target]:
        return [self.default, *self.states.values(), *self.checks.values()]


class OpenAICompatible:
    """Asks the models of `targets`. `streams`: text comes as it is written; `sleep` waits between
    attempts; `without` remembers what the server of a model does not take."""

    #: Branches of a run may ask at the same time.
    parallel = True

    def __init__(
        self, targets: Targets, *, streams: bool = True, sleep: Sleep = asyncio.sleep
    ) -> None:
        self.targets = targets
        self.streams = streams
        self.sleep = sleep
        self.label = f"{targets.default.wanted.name} at {targets.default.where}"
        keys = {target.key.value for target in targets.all() if target.key}
        self.secrets = sorted({*keys, *known_secrets()}, key=len, reverse=True)
        self._without: dict[tuple[str, str], set[str]] = {}
        self._clients: dict[str, Any] = {}
        self._loop: asyncio.AbstractEventLoop | None = None

    async def complete(self, request: Request, ask: Ask) -> AsyncIterator[Chunk]:
        """The answer to one request. Raises ModelError, after all that was shown of it, and
        TimeoutError once the seconds of the request are over."""
        from statecli.llm.sending import Sending

        work = Sending(self, request, self.targets.of(request)).run()
        end = None
        if request.seconds is not None:
            end = asyncio.get_running_loop().time() + request.seconds
        try:
            while True:
                async with asyncio.timeout_at(end):
                    chunk = await anext(work)
                yield chunk
        except StopAsyncIteration:
            return
        finally:
            await work.aclose()

    async def aclose(self) -> None:
        """Close the connections."""
        clients, self._clients = self._clients, {}
        if self._loop is asyncio.get_running_loop():
            for client in clients.values():
                await client.close()

    def client(self, target: Target) -> Any:
        """The SDK's client for an address; connections belong to the loop that made them."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._loop, self._clients = loop, {}
        url = target.wanted.url
        if url not in self._clients:
            self._clients[url] = _client(target)
        return self._clients[url]

    def without(self, target: Target) -> set[str]:
        """What the server of a model does not take."""
        return self._without.setdefault((target.wanted.url, target.wanted.name), set())


def model(name: str, base_url: str = "", **settings: Any) -> OpenAICompatible:
    """A model for Python: ``Run(graph, provider=model("openai:gpt-5-mini"))``. `settings` are those
    of `model` in a graph; the key comes from the environment."""
    found = wanted([Level("from Python", {**settings, "name": name, "base_url": base_url})])
    assert found is not None
    return OpenAICompatible(Targets(Target(found, Key(found.variable)), {}, {}))


def _client(target: Target) -> Any:
    import openai

    from statecli.llm.bounds import bounded

    headers: dict[str, Any] = {}
    if not target.wanted.url.startswith(DEFAULT.url):
        # What the environment says for OpenAI is for nobody else.
        names = ("OpenAI-Organization", "OpenAI-Project", *_custom_headers())
        headers.update(dict.fromkeys(names, openai.omit))
    key = target.key.value or "none"
    url, _, query = target.wanted.url.partition("?")
    http = openai.DefaultAsyncHttpxClient(
        # What is said goes to the address that was allowed, and to no other that it names.
        follow_redirects=False,
        event_hooks={"response": [bounded]},
    )
    return openai.AsyncOpenAI(
        api_key=key,
        admin_api_key="",
        base_url=url,
        default_query=dict(parse_qsl(query)),
        max_retries=0,
        default_headers={**headers, "Authorization": f"Bearer {key}"},
        timeout=openai.Timeout(target.seconds, connect=min(CONNECT, target.seconds)),
        http_client=http,
    )


def _custom_headers() -> list[str]:
    """The names of the headers that the SDK takes from the environment."""
    lines = os.environ.get("OPENAI_CUSTOM_HEADERS", "").split("\n")
    return [line.partition(":")[0].strip() for line in lines if ":" in line]
