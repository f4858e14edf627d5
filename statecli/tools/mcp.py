"""MCP servers: child processes (stdio) and addresses (streamable HTTP). The extra `[mcp]`.

A connection lives in a task of its own, because a client must be left by the task that entered it.
It is made on first use, and made again on the next use after it broke; a call is never repeated.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, cast

from statecli.model.ports import AuthRequired, ToolResult, ToolSpec
from statecli.tools.authorization import Link, elicited, link_in
from statecli.tools.content import result_of
from statecli.tools.http import Door
from statecli.tools.stdio import Child
from statecli.tools.tool import MAX_ABOUT, Answer, Elicited, Entry, Unreachable, cut

INSTALL = "pip install 'statecli[mcp]'"
#: So many tools of one server are listed.
MAX_TOOLS = 1_000
#: Seconds that a broken connection may take to say why.
_MOMENT = 1.0


class Server:
    """One MCP server; `entry` says how it is reached."""

    def __init__(self, entry: Entry) -> None:
        self.entry = entry
        self._link: _Link | None = None

    @property
    def running(self) -> bool:
        return self._link is not None and self._link.alive

    @property
    def tail(self) -> str:
        return self._link.child.tail if self._link is not None and self._link.child else ""

    async def list(self) -> tuple[ToolSpec, ...]:
        """Its tools, named ``server.tool``. Raises Unreachable, AuthRequired."""
        link = await self._linked()
        if link.listed is None:
            link.listed = await link.within(link.tools(), "list its tools")
        return link.listed

    async def call(
        self, name: str, arguments: Mapping[str, Any], user: str, answer: Answer
    ) -> ToolResult:
        """Call a tool once. Raises Unreachable where nothing was sent, AuthRequired, and what
        `answer` raises; all else that goes wrong is a result."""
        link = await self._linked()
        return await link.call(name, arguments, user, answer)

    async def close(self) -> None:
        link, self._link = self._link, None
        if link is not None:
            await link.close()

    async def _linked(self) -> _Link:
        """The connection; a new one where there is none or it broke."""
        if self._link is not None and self._link.alive:
            return self._link
        await self.close()
        link = _Link(self.entry)
        self._link = link
        await link.open()
        return link


class _Link:
    """One connection. `listed` are its tools, until the server says that they changed."""

    def __init__(self, entry: Entry) -> None:
        try:
            import mcp  # noqa: F401 - the whole SDK, imported here first
        except ImportError:
            raise Unreachable(f"{entry.name} needs the MCP client: {INSTALL}") from None
        for name in ("mcp", "httpx2", "httpcore2"):
            logging.getLogger(name).addHandler(logging.NullHandler())  # not onto the terminal
        self.entry = entry
        self.child = Child(entry) if entry.command else None
        self.door = Door(entry) if entry.url else None
        self.listed: tuple[ToolSpec, ...] | None = None
        self._client: Any = None
        self._task: asyncio.Task[None] | None = None
        self._over = asyncio.Event()
        self._asked: asyncio.Queue[tuple[Elicited, asyncio.Future[Any]]] = asyncio.Queue()
        self._calls = 0
        self._lost = False

    @property
    def alive(self) -> bool:
        running = self.child is None or self.child.running
        return running and not self._lost and self._task is not None and not self._task.done()

    # --- opening and closing --------------------------------------------------------------------

    async def open(self) -> None:
        """Start or connect. Raises Unreachable with all that is known about why not."""
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._hold(ready))
        try:
            async with asyncio.timeout(self.entry.timeout):
                await ready
        except TimeoutError:
            await self.close()
            raise self._unreachable(f"did not begin within {self.entry.timeout:g} s") from None
        except asyncio.CancelledError:
            await asyncio.shield(asyncio.ensure_future(self.close()))
            raise
        except Exception as error:
            await self.close()
            self._raise_refused()
            if isinstance(error, Unreachable):
                raise
            raise self._unreachable(self._why(error)) from None

    async def close(self) -> None:
        """Leave the client, which ends the process; what goes wrong meanwhile is past caring."""
        self._over.set()
        if self._task is not None:
            if self._client is None:
                self._task.cancel()  # it still begins
            done, _ = await asyncio.wait({self._task}, timeout=10)
            if not done:
                self._task.cancel()
                await asyncio.wait({self._task}, timeout=10)

    async def _hold(self, ready: asyncio.Future[None]) -> None:
        """Enter the client, hold it until it is over, leave it."""
        from mcp import Client
        from mcp_types import Implementation

        from statecli import __version__

        reach = self.child or self.door
        assert reach is not None
        try:
            async with Client(
                reach.transport(),
                client_info=Implementation(name="statecli", version=__version__),
                elicitation_callback=self._elicit,
                message_handler=self._heard,
                cache=None,
            ) as client:
                self._client = client
                if not ready.done():
                    ready.set_result(None)
                await self._over.wait()
        except BaseException as error:
            if not ready.done():
                ready.set_exception(first_of(error))
                ready.exception()  # seen, also where nobody waits any more
            elif not isinstance(error, Exception):
                raise
        finally:
            self._client = None

    # --- what is asked of it --------------------------------------------------------------------

    async def tools(self) -> tuple[ToolSpec, ...]:
        """What the server lists, page by page, until a page has nothing new."""
        server = self.entry.name
        found: dict[str, ToolSpec] = {}
        cursor: str | None = None
        while True:
            page, before = await self._client.list_tools(cursor=cursor), len(found)
            for tool in page.tools:
                about = (tool.description or tool.title or "")[:MAX_ABOUT]
                name = f"{server}.{tool.name}"
                found.setdefault(name, ToolSpec(name, about, tool.input_schema, server))
            cursor = page.next_cursor
            if not cursor or len(found) == before or len(found) >= MAX_TOOLS:
                return tuple(found.values())[:MAX_TOOLS]

    async def within(self, work: Any, what: str) -> Any:
        """Something other than a call, in time. Raises Unreachable, AuthRequired."""
        try:
            async with asyncio.timeout(self.entry.timeout):
                return await work
        except TimeoutError:
            why = f"did not {what} within {self.entry.timeout:g} s"
        except Exception as error:
            await self._settled(error)
            why = self._why(error)
        self._raise_refused()
        raise self._unreachable(why)

    async def call(
        self, name: str, arguments: Mapping[str, Any], user: str, answer: Answer
    ) -> ToolResult:
        if self.door is not None:
            self.door.refused = None
        meta = {"user_id": user} if user else None
        work = asyncio.ensure_future(self._client.call_tool(name, dict(arguments), meta=meta))
        self._calls += 1
        try:
            while True:
                asked = asyncio.ensure_future(self._asked.get())
                assert self._task is not None
                waited: set[asyncio.Future[Any]] = {work, asked, self._task}
                try:
                    done, _ = await asyncio.wait(
                        waited,
                        timeout=self.entry.timeout,
                        return_when=asyncio.FIRST_COMPLETED,
                    )
                finally:
                    asked.cancel()
                if asked in done and not asked.cancelled():
                    await _answered(*asked.result(), answer)
                elif not done:
                    return self._failed(f"did not answer within {self.entry.timeout:g} s")
                else:
                    return await self._came_of(name, work)
        finally:
            self._calls -= 1
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)

    async def _came_of(self, name: str, work: asyncio.Future[Any]) -> ToolResult:
        """What a call gave back, or how it went wrong."""
        try:
            async with asyncio.timeout(_MOMENT):
                found = result_of(await work)
        except Exception as error:
            await self._settled(error)
            self._raise_refused()
            code, data = getattr(error, "code", 0), getattr(error, "data", None)
            link = elicited(data) or link_in(data) or link_in(str(error))
            if link is not None:
                raise self._auth(link) from None
            broken = self.door is not None and self.door.status >= 400
            if not code or broken or not self.alive:
                return self._failed(self._why(error))
            return cut(ToolResult(False, str(error) or f"{name} failed"))
        if not found.ok:
            link = link_in(found.structured) or link_in(found.text)
            if link is not None:
                raise self._auth(link)
        return cut(found)

    # --- what the server asks and tells ---------------------------------------------------------

    async def _elicit(self, context: object, params: Any) -> Any:
        """The server asks the person for something in the middle of a call."""
        from mcp_types import ElicitResult

        if not self._calls:
            return ElicitResult(action="cancel")
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        url, schema = getattr(params, "url", ""), getattr(params, "requested_schema", None)
        what = Elicited(self.entry.name, params.message, url, schema)
        await self._asked.put((what, answer))
        values = await answer
        if values is None:
            return ElicitResult(action="decline")
        return ElicitResult(action="accept", content=None if url else dict(values))

    async def _heard(self, message: object) -> None:
        if type(message).__name__ == "ToolListChangedNotification":
            self.listed = None

    # --- what went wrong ------------------------------------------------------------------------

    async def _settled(self, error: Exception) -> None:
        """Give a connection that broke a moment to be seen as such; note one that is lost."""
        from mcp_types import CONNECTION_CLOSED

        code = getattr(error, "code", 0)
        if code == CONNECTION_CLOSED or isinstance(error, TimeoutError):
            for _ in range(int(_MOMENT / 0.02)):
                if not self.alive and (self.child is None or self.child.code is not None):
                    break
                await asyncio.sleep(0.02)
        if code == CONNECTION_CLOSED or str(error) == "Session terminated":
            self._lost = True

    def _why(self, error: BaseException) -> str:
        """How a connection broke, in words."""
        if self.child is not None:
            if self.child.fault:
                return self.child.fault
            if self.child.code is not None:
                return f"ended with exit code {self.child.code}"
        elif self.door is not None and self.door.fault:
            return self.door.fault
        elif self.door is not None and self.door.status and str(error) != "Session terminated":
            return f"answered with HTTP {self.door.status}"
        if type(error).__name__ in ("ConnectError", "ConnectTimeout"):
            return f"cannot be reached at {self.entry.url}"
        if type(error).__name__ == "ValidationError":
            return f"answered what is no answer of MCP{_misfit(error)}"
        return f"failed: {error}" if str(error) else f"failed: {type(error).__name__}"

    def _told(self, why: str) -> str:
        """What is known about a failure, with what the server printed about it."""
        parts = [f"{self.entry.name} {why}"]
        if self.child is not None:
            if self.child.junk:
                parts.append(f"it printed '{self.child.junk}' where only messages belong")
            tail = " | ".join(self.child.tail.splitlines()[-3:])[-500:]
            if tail and tail != self.child.junk:
                parts.append(f"it said: {tail}")
        return "; ".join(parts)

    def _unreachable(self, why: str) -> Unreachable:
        return Unreachable(self._told(why))

    def _failed(self, why: str) -> ToolResult:
        """A call that was sent and whose answer never came: it may have done its work."""
        return ToolResult(False, f"{self._told(why)}; the call may have done its work all the same")

    def _raise_refused(self) -> None:
        if self.door is not None and self.door.refused is not None:
            raise self._auth(self.door.refused)

    def _auth(self, link: Link) -> AuthRequired:
        return AuthRequired(link.service or self.entry.name, link.url, link.text)


def _misfit(error: Any) -> str:
    """Where an answer does not fit, as far as that is known: the first place of it."""
    listed = error.errors(include_url=False, include_input=False) if _is_listed(error) else []
    found = [(".".join(map(str, item["loc"]))[-100:], item["msg"]) for item in listed[:1]]
    return "".join(f" ({where}: {what})" for where, what in found if where)


def _is_listed(error: Any) -> bool:
    """Whether an error lists its places, as pydantic's does."""
    return callable(getattr(error, "errors", None))


async def _answered(what: Elicited, place: asyncio.Future[Any], answer: Answer) -> None:
    """Let the person answer; whatever happens the server gets something."""
    values: Mapping[str, Any] | None = None
    try:
        values = await answer(what)
    finally:
        if not place.done():
            place.set_result(values)


def first_of(error: BaseException) -> BaseException:
    """The first real error in a group of them (a cancelled one only where there is no other)."""
    while isinstance(error, BaseExceptionGroup):
        inner = cast("tuple[BaseException, ...]", error.exceptions)
        error = next((e for e in inner if not isinstance(e, asyncio.CancelledError)), inner[0])
    if isinstance(error, asyncio.CancelledError):
        return ConnectionError("the connection was ended")
    with suppress(AttributeError):
        error.__traceback__ = None
    return error
