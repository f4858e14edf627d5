"""An MCP server that does one thing wrong, written by hand: ``python bad.py FAULT [ARGUMENT]``.

exits: ends in the middle of a call, with exit code 3 · silent: never answers `initialize` ·
junk: prints lines on standard output that are no messages · mute: answers only a call with `now` ·
huge: one message of ARGUMENT MB · stubborn: does not end when its input does, nor on SIGTERM ·
spawns: leaves a child of its own behind · daemon: one that has left its group and its parent ·
early: ends before it says anything ·
link: an error with a link · required: the error -32042 · elicits: asks for a link by elicitation ·
form: asks for a value by elicitation · wrong: a result that is none · twice: lists a tool, ends,
and counts its starts in the file ARGUMENT · pages: lists its tools in pages without end ·
leaks: ends in a call, and prints its keys before · schema: its tool has the JSON ARGUMENT as its
schema (none: without one) · pictures: what comes back is no text · changes: after a call another
tool is listed, and the one before is not
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

FAULT = sys.argv[1]
ARGUMENT = sys.argv[2] if len(sys.argv) > 2 else ""
TOOL = {
    "name": "do",
    "description": "Does it.",
    "inputSchema": {
        "type": "object",
        "properties": {"what": {"type": "string"}},
        "required": ["what"],
    },
}
LINK = "https://mail.example/connect?state=abc"


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def receive() -> dict[str, Any]:
    line = sys.stdin.readline()
    if not line:
        if FAULT == "stubborn":
            time.sleep(1000)
        raise SystemExit(0)
    found: dict[str, Any] = json.loads(line)
    return found


def text(words: str, *, error: bool = False, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": words}], "isError": error, **more}


def ask(method: str, params: dict[str, Any]) -> Any:
    """A request to the client, and its answer."""
    send({"id": "q1", "method": method, "params": params})
    while True:
        message = receive()
        if message.get("id") == "q1":
            return message.get("result") or message.get("error")


changed: list[int] = []


def tool() -> dict[str, Any]:
    """The only tool, as it is now."""
    if FAULT == "schema":
        more = {"inputSchema": json.loads(ARGUMENT)} if ARGUMENT else {}
        return {"name": "do", **more}
    return {**TOOL, "name": f"do_{len(changed)}"} if FAULT == "changes" and changed else TOOL


def call(number: Any, arguments: dict[str, Any]) -> None:
    """One call of the only tool."""
    if ARGUMENT and FAULT in ("exits", "twice"):
        with Path(ARGUMENT).open("a") as file:
            file.write(f"called {arguments.get('what')}\n")
    if FAULT == "leaks":
        print("licence", os.environ["FAKE_KEY"], file=sys.stderr)
        print(os.environ["OTHER_SECRET"], file=sys.stderr, flush=True)
        os._exit(3)
    if FAULT in ("exits", "twice"):
        print("out of paper", file=sys.stderr, flush=True)
        os._exit(3)
    if FAULT == "mute" and arguments.get("what") != "now":
        if ARGUMENT:
            Path(ARGUMENT).write_text("called")
        return
    if FAULT == "huge":
        send({"id": number, "result": text("x" * (int(ARGUMENT) * 1_000_000))})
    elif FAULT == "link":
        words = json.dumps({"error": "not connected", "service": "Mail", "connect_url": LINK})
        send({"id": number, "result": text(words, error=True)})
    elif FAULT == "required":
        asked = {"mode": "url", "elicitationId": "1", "url": LINK, "message": "Mail wants you"}
        error = {"code": -32042, "message": "sign in", "data": {"elicitations": [asked]}}
        send({"id": number, "error": error})
    elif FAULT == "elicits":
        asked = {"mode": "url", "elicitationId": "1", "url": LINK, "message": "Mail wants you"}
        answer = ask("elicitation/create", asked)
        send({"id": number, "result": text(f"you said {answer.get('action')}")})
    elif FAULT == "form":
        schema = {"type": "object", "properties": {"town": {"type": "string"}},
                  "required": ["town"]}  # fmt: skip
        answer = ask("elicitation/create", {"message": "Where?", "requestedSchema": schema})
        send({"id": number, "result": text(json.dumps(answer))})
    elif FAULT == "pictures":
        picture = {"type": "image", "mimeType": "image/png", "data": "QUJDRA=="}
        link = {"type": "resource_link", "name": "n", "uri": "file:///a"}
        inner = {"type": "resource", "resource": {"uri": "file:///b", "text": "inside"}}
        send({"id": number, "result": {"content": [picture, link, inner]}})
    elif FAULT == "changes":
        changed.append(1)
        send({"method": "notifications/tools/list_changed"})
        send({"id": number, "result": text("changed")})
    elif FAULT == "wrong":
        send({"id": number, "result": {"content": "no list"}})
    else:
        send({"id": number, "result": text(f"did {arguments.get('what')}")})


def main() -> None:
    if FAULT == "early":
        print("no licence found", file=sys.stderr, flush=True)
        raise SystemExit(7)
    if FAULT == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if FAULT == "spawns":
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
        Path(ARGUMENT).write_text(str(child.pid))
    if FAULT == "daemon":
        words = [sys.executable, "-c", "import time; time.sleep(1000)"]
        code = f"import subprocess; subprocess.Popen({words!r}, start_new_session=True)"
        subprocess.run([sys.executable, "-c", code], start_new_session=True, check=True)
        if ARGUMENT:
            Path(ARGUMENT).write_text("done")
    if FAULT == "junk":
        print("Welcome to the server!", flush=True)
        print('{"not": "a message"}', flush=True)
    if FAULT in ("twice", "exits") and ARGUMENT:
        with Path(ARGUMENT).open("a") as file:
            file.write("started\n")
    while True:
        message = receive()
        method, number = message.get("method"), message.get("id")
        if FAULT == "junk":
            print(f"DEBUG got {method}", flush=True)
        if method == "initialize" and FAULT != "silent":
            version = message["params"]["protocolVersion"]
            info = {"name": FAULT, "version": "1"}
            able: dict[str, Any] = {"tools": {}}
            met = {"protocolVersion": version, "capabilities": able, "serverInfo": info}
            send({"id": number, "result": met})
        elif method == "tools/list":
            more = {"nextCursor": "again"} if FAULT == "pages" else {}
            send({"id": number, "result": {"tools": [tool()], **more}})
        elif method == "tools/call":
            call(number, message["params"].get("arguments") or {})
        elif number is not None and FAULT != "silent" and method is not None:
            send({"id": number, "error": {"code": -32601, "message": "no such method"}})


if __name__ == "__main__":
    main()
