"""An MCP server over HTTP that does one thing wrong, written by hand: ``python web.py FAULT``
prints its port.

fine: nothing · door: 401 at once, with a WWW-Authenticate that names where · metadata: 401 at
once, with a description of the server that says where · call: 401 at the call, with a link in the
answer · forbidden: 403 at the call, with a WWW-Authenticate · error: a result that is an error and
names a link · huge: a result of 5 MB · endless: a result without end · packed: an answer in gzip ·
html: a page instead · broken: 500 at the call · hang: no answer to a call · gone: the session is
over at every second call · away: a redirect to another host
"""

from __future__ import annotations

import gzip
import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

FAULT = sys.argv[1]
LINK = "https://crm.example/connect?account=7"
TOOL = {
    "name": "find",
    "description": "Finds a customer.",
    "inputSchema": {
        "type": "object",
        "properties": {"name": {"type": "string"}},
        "required": ["name"],
    },
}
calls: list[dict[str, Any]] = []


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Nothing is printed."""

    def do_GET(self) -> None:
        if self.path == "/seen":
            self.reply(200, calls)
        elif self.path == "/about":
            self.reply(200, {"authorization_servers": ["https://login.crm.example"]})
        else:
            self.reply(405, {})

    def do_DELETE(self) -> None:
        self.reply(200, {})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        calls.append({"body": body, "headers": dict(self.headers)})
        method, number = body.get("method"), body.get("id")
        if FAULT == "door":
            where = "https://crm.example/.well-known/oauth-protected-resource"
            self.reply(401, {"error": "unauthorized"},
                       {"WWW-Authenticate": f'Bearer resource_metadata="{where}"'})  # fmt: skip
        elif FAULT == "metadata":
            where = f"http://127.0.0.1:{self.server.server_port}/about"  # type: ignore[attr-defined]
            self.reply(401, None, {"WWW-Authenticate": f'Bearer resource_metadata="{where}"'})
        elif FAULT == "html":
            self.raw(200, b"<html>Hello</html>", {"content-type": "text/html"})
        elif FAULT == "away":
            self.reply(307, {}, {"location": "http://127.0.0.1:9/elsewhere"})
        elif number is None:
            self.reply(202, None)
        elif method == "initialize":
            version = body["params"]["protocolVersion"]
            info = {"name": FAULT, "version": "1"}
            self.result(
                number,
                {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info},
                {"mcp-session-id": "s1"} if FAULT == "gone" else {},
            )
        elif method == "tools/list":
            self.result(number, {"tools": [TOOL]})
        elif method == "tools/call":
            self.call(number, body["params"])
        else:
            error = {"code": -32601, "message": "no such method"}
            self.reply(200, {"jsonrpc": "2.0", "id": number, "error": error})

    def call(self, number: Any, params: dict[str, Any]) -> None:
        made = sum(1 for c in calls if c["body"].get("method") == "tools/call")
        if FAULT == "call":
            self.reply(401, {"service": "CRM", "connect_url": LINK})
        elif FAULT == "forbidden":
            self.reply(403, {}, {"WWW-Authenticate": 'Bearer error="insufficient_scope"'})
        elif FAULT == "error":
            words = f"Please connect your CRM account first: {LINK}."
            self.result(number, {"content": [{"type": "text", "text": words}], "isError": True})
        elif FAULT == "huge":
            self.result(number, {"content": [{"type": "text", "text": "x" * 5_000_000}]})
        elif FAULT == "endless":
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.end_headers()
            try:
                while True:
                    self.wfile.write(b" " * 1_000_000)
            except OSError:
                return
        elif FAULT == "packed":
            packed = gzip.compress(b"{}" + b" " * 1_000_000)
            self.raw(200, packed, {"content-type": "application/json", "content-encoding": "gzip"})
        elif FAULT == "broken":
            self.reply(500, {"oh": "no"})
        elif FAULT == "hang":
            time.sleep(1000)
        elif FAULT == "gone" and made % 2 == 0:
            self.reply(404, {})
        else:
            told = json.dumps(params.get("_meta", {}).get("user_id"))
            text = f"found {params['arguments']['name']} for {told}"
            self.result(number, {"content": [{"type": "text", "text": text}]})

    def result(self, number: Any, result: Any, headers: dict[str, str] | None = None) -> None:
        self.reply(200, {"jsonrpc": "2.0", "id": number, "result": result}, headers)

    def reply(self, code: int, value: Any, headers: dict[str, str] | None = None) -> None:
        body = b"" if value is None else json.dumps(value).encode()
        self.raw(code, body, {"content-type": "application/json", **(headers or {})})

    def raw(self, code: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(code)
        for name, value in {**headers, "content-length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    web = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    web.daemon_threads = True
    print(web.server_port, flush=True)
    web.serve_forever()
