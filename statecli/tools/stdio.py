"""A server as a child process: JSON-RPC, one message a line, on its standard input and output.

Not the transport of the SDK, because of what servers do wrong: a line may be of any length there,
what is printed on standard output is logged to the terminal, and a server that does not look at
its input outlives a client that was killed (`keeper`).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import sys
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from statecli.tools.tool import MAX_MESSAGE, Entry, Unreachable

#: So long a server may take to end by itself once its input is closed, in seconds; then it is ended
#: by its keeper, who takes about as long.
GRACE = 1.0
#: So much of what a server prints for people is kept, in characters.
MAX_TAIL = 8_000
#: What a server gets of the person's environment; the rest may hold keys, and is named in `env`.
PASSED = frozenset({
    "HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LANG", "TZ", "TMPDIR", "TEMP", "TMP",
    "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS", "APPDATA", "LOCALAPPDATA", "HOMEDRIVE", "HOMEPATH", "PATHEXT",
    "SYSTEMDRIVE", "SYSTEMROOT", "USERNAME", "USERPROFILE", "PROCESSOR_ARCHITECTURE",
})  # fmt: skip


class Child:
    """The process of one server. `code` is its exit code once it has ended; `fault` says what is
    wrong with what it sent, where that ended the connection; `junk` the first line on its standard
    output that is no message."""

    def __init__(self, entry: Entry) -> None:
        self.entry = entry
        self.fault = ""
        self.junk = ""
        self._tail: deque[str] = deque()
        self._kept = 0
        self._process: asyncio.subprocess.Process | None = None
        self._watch = -1

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.returncode is None and not self.fault

    @property
    def code(self) -> int | None:
        return self._process.returncode if self._process is not None else None

    @property
    def tail(self) -> str:
        """The end of what it printed for people."""
        return "".join(self._tail).strip()

    @asynccontextmanager
    async def transport(self) -> AsyncIterator[Any]:
        """The two streams that an MCP client reads and writes; the process lives as long."""
        import anyio

        # Nothing may come between the start of a process and the note of it: it would be lost.
        starting = asyncio.ensure_future(self._start())
        try:
            await asyncio.shield(starting)
        except asyncio.CancelledError:
            await asyncio.wait({starting})
            await self._end()
            raise
        to_client, from_server = anyio.create_memory_object_stream[Any](0)
        to_server, from_client = anyio.create_memory_object_stream[Any](0)
        tasks = [
            asyncio.ensure_future(self._read(to_client)),
            asyncio.ensure_future(self._write(from_client, to_client)),
            asyncio.ensure_future(self._listen()),
        ]
        try:
            yield from_server, to_server
        finally:
            for stream in (from_server, to_server, to_client, from_client):
                stream.close()
            await asyncio.shield(asyncio.ensure_future(self._end()))
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _start(self) -> None:
        entry = self.entry
        environment = {k: v for k, v in os.environ.items() if k.upper() in PASSED or k[:3] == "LC_"}
        environment.update(entry.resolved(entry.env))
        if not os.path.isdir(entry.directory):
            raise Unreachable(f"{entry.name}: there is no folder {entry.directory}")
        program = entry.command[0]
        path = environment.get("PATH")
        if os.path.dirname(program):
            found = shutil.which(os.path.join(entry.directory, program), path=path)
        else:
            found = shutil.which(program, path=path)
        if found is None:
            raise Unreachable(f"{entry.name}: there is no program '{program}'")
        words, more = [found, *entry.command[1:]], {}
        watched = -1
        if os.name == "posix" and sys.executable:
            watched, self._watch = os.pipe()
            keeper = str(Path(__file__).with_name("keeper.py"))
            words = [sys.executable, "-I", "-S", keeper, str(watched), *words]
            more = {"pass_fds": (watched,), "start_new_session": True}
        pipe = asyncio.subprocess.PIPE
        try:
            self._process = await asyncio.create_subprocess_exec(
                *words, stdin=pipe, stdout=pipe, stderr=pipe, env=environment,
                cwd=entry.directory, limit=MAX_MESSAGE, **more,  # type: ignore[arg-type]  # as asyncio has them
            )  # fmt: skip
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            self._let_go()
            raise Unreachable(f"{entry.name}: '{program}' cannot be started: {reason}") from None
        finally:
            if watched >= 0:
                os.close(watched)

    async def _read(self, to_client: Any) -> None:
        """What the server sends; lines that are no messages are noted and passed over."""
        import anyio
        from mcp.shared.message import SessionMessage
        from mcp_types import jsonrpc_message_adapter

        assert self._process is not None
        assert self._process.stdout is not None
        with contextlib.suppress(anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
            async with to_client:
                while True:
                    try:
                        line = await self._process.stdout.readline()
                    except ValueError:
                        self.fault = f"sent a message of more than {MAX_MESSAGE >> 20} MB"
                        return
                    if not line:
                        return
                    try:
                        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
                    except ValueError:
                        text = line.decode("utf-8", "replace").strip()
                        self.junk = self.junk or text[:200]
                        self._keep(f"{text[:500]}\n")
                        continue
                    await to_client.send(SessionMessage(message))

    async def _write(self, from_client: Any, to_client: Any) -> None:
        import anyio

        assert self._process is not None
        stdin = self._process.stdin
        assert stdin is not None
        with contextlib.suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
            try:
                async with from_client:
                    async for item in from_client:
                        text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
                        stdin.write(f"{text}\n".encode())
                        await stdin.drain()
            except OSError:  # the server is gone: who waits for an answer is told
                await to_client.aclose()

    async def _listen(self) -> None:
        """What the server prints for people: kept, never shown by itself."""
        assert self._process is not None
        assert self._process.stderr is not None
        while chunk := await self._process.stderr.read(4096):
            self._keep(chunk.decode("utf-8", "replace"))

    def _keep(self, text: str) -> None:
        self._tail.append(text)
        self._kept += len(text)
        while self._kept > MAX_TAIL and len(self._tail) > 1:
            self._kept -= len(self._tail.popleft())

    async def _end(self) -> None:
        """Let the server end, make it end after a moment, and wait until it has."""
        process = self._process
        if process is None:
            self._let_go()
            return
        if process.stdin is not None:
            process.stdin.close()
        await self._ended(GRACE)
        self._let_go()
        if os.name != "posix" and process.returncode is None:  # pragma: no cover
            process.terminate()
        if not await self._ended(3 * GRACE) and process.returncode is None:
            process.kill()
            await self._ended(GRACE)
        transport = getattr(process, "_transport", None)
        if transport is not None:  # a pipe that a grandchild holds would keep it open
            transport.close()

    async def _ended(self, seconds: float) -> bool:
        """Whether the process ends in time. Not `wait`: that also waits for the pipes to close."""
        assert self._process is not None
        end = asyncio.get_running_loop().time() + seconds
        while self._process.returncode is None and asyncio.get_running_loop().time() < end:
            await asyncio.sleep(0.01)
        return self._process.returncode is not None

    def _let_go(self) -> None:
        """Tell the keeper that it is over."""
        if self._watch >= 0:
            os.close(self._watch)
            self._watch = -1
