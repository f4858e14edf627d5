"""An HTTP client for a server of tools: it reads no answer without end, and notes a refusal that
asks the person to sign in."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

from statecli.model.data import is_list, is_map
from statecli.tools.authorization import Link, link_in, parsed
from statecli.tools.tool import MAX_MESSAGE, Entry

#: Seconds to connect; how long an answer may take says the entry.
CONNECT = 30.0
#: What helps where a server only says no.
HOW = "a token of yours goes into 'headers' of this tool, as ${NAME} of your environment"
_PARAMETER = re.compile(r'(authorization_uri|resource_metadata|login_uri)="?(https?://[^",\s]+)')


class Door:
    """What was met at the door of one server: `refused` is the last answer that asks the person to
    sign in, `fault` what was wrong with an answer, `status` that of the last answer if it was no
    good one."""

    def __init__(self, entry: Entry) -> None:
        self.entry = entry
        self.refused: Link | None = None
        self.fault = ""
        self.status = 0

    @asynccontextmanager
    async def transport(self) -> AsyncIterator[Any]:
        """The two streams that an MCP client reads and writes."""
        import httpx2
        from mcp.client.streamable_http import streamable_http_client

        entry = self.entry
        client = httpx2.AsyncClient(
            headers={"accept-encoding": "identity", **entry.resolved(entry.headers)},
            timeout=httpx2.Timeout(CONNECT, read=max(entry.timeout, 300.0)),
            event_hooks={"response": [self._look]},
        )
        async with (
            client,
            streamable_http_client(
                entry.url, http_client=client, max_sse_event_size=MAX_MESSAGE
            ) as streams,
        ):
            yield streams

    async def _look(self, response: Any) -> None:
        """See to each answer before it is read."""
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            self._give_up("packed its answer, which was not asked for")
        if not response.headers.get("content-type", "").lower().startswith("text/event-stream"):
            response.stream = self._counted(response.stream)  # events have a limit of their own
        if response.request.method != "POST":
            return
        self.status = response.status_code if response.status_code >= 400 else 0
        wanted = response.headers.get("www-authenticate", "")
        if response.status_code == 401 or (response.status_code == 403 and wanted):
            body = (await response.aread()).decode("utf-8", "replace")
            self.refused = link_in(parsed(body)) or await self._named(wanted)

    async def _named(self, wanted: str) -> Link:
        """Where the person signs in, as the header says: a page, or what the description of the
        server names (RFC 9728; asked of the server itself alone). Else the server's address."""
        named = dict(_PARAMETER.findall(wanted))
        url = named.get("authorization_uri") or named.get("login_uri") or ""
        described = named.get("resource_metadata", "")
        if not url and described:
            url = await self._described(described) or described
        return Link("", url or self.entry.url, HOW)

    async def _described(self, url: str) -> str:
        import httpx2

        if host_of(url) != host_of(self.entry.url):
            return ""
        try:
            async with (
                httpx2.AsyncClient(timeout=5.0) as client,
                client.stream("GET", url) as answer,
            ):
                body = b""
                async for chunk in answer.aiter_raw():
                    body += chunk
                    if len(body) > 100_000:
                        return ""
        except (httpx2.HTTPError, httpx2.InvalidURL):
            return ""
        found = parsed(body.decode("utf-8", "replace"))
        listed = found.get("authorization_servers") if is_map(found) else None
        page = found.get("resource_documentation") if is_map(found) else None
        pages = [page, *(listed if is_list(listed) else ())]
        return next((p for p in pages if isinstance(p, str) and p.startswith("http")), "")

    def _counted(self, stream: Any) -> Any:
        """A stream of bytes that ends where it gets too long."""
        import httpx2

        door = self

        class Counted(httpx2.AsyncByteStream):
            async def __aiter__(self) -> AsyncIterator[bytes]:
                left = MAX_MESSAGE
                async for chunk in stream:
                    left -= len(chunk)
                    if left < 0:
                        door._give_up(f"sent an answer of more than {MAX_MESSAGE >> 20} MB")
                    yield chunk

            async def aclose(self) -> None:
                await stream.aclose()

        return Counted()

    def _give_up(self, fault: str) -> None:
        self.fault = fault
        raise ValueError(fault)


def host_of(url: str) -> tuple[str, str]:
    """Scheme and host with port of an address."""
    parts = urlsplit(url)
    return parts.scheme, parts.netloc.rpartition("@")[2].casefold()
