"""A well-behaved MCP server, as the SDK makes one: over stdio, or with a port over HTTP."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any

from mcp.server.mcpserver import Context, MCPServer

server = MCPServer("good")


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    print("adding", file=sys.stderr, flush=True)
    return a + b


@server.tool()
def read(path: str) -> str:
    """Read a note."""
    return f"the text of {path}"


@server.tool()
def weather(town: str) -> dict[str, Any]:
    """The weather."""
    return {"town": town, "degrees": 21, "sky": "clear"}


@server.tool()
def who(ctx: Context) -> str:
    """What the call says about who talks."""
    meta = ctx.request_context.meta
    return str((meta or {}).get("user_id", "nobody"))


@server.tool()
def environment(name: str) -> str:
    """A variable of the environment."""
    return os.environ.get(name, "(not set)")


@server.tool()
def here() -> str:
    """The folder that the server runs in."""
    return os.getcwd()


@server.tool()
def fail(why: str) -> str:
    """Always goes wrong."""
    raise ValueError(why)


@server.tool()
async def slow(seconds: float) -> str:
    """Takes its time."""
    await asyncio.sleep(seconds)
    return "at last"


@server.tool()
def big(megabytes: int) -> str:
    """A long text."""
    return "x" * (megabytes * 1_000_000)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        server.run("streamable-http", port=int(sys.argv[1]))
    else:
        server.run("stdio")
