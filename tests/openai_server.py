"""A server with the API of OpenAI for the tests, which does what it is told: answers, and every way
of failing to.

    with Server(text("Hello"), cut("Hel", "lo"), status(429, retry_after="1")) as server: ...

Each request takes the next answer of the list (a function of the request may stand for one). What
was asked is in `requests`. A request that OpenAI would not take is in `wrong`; leaving the `with`
fails for it.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}


class Answer(NamedTuple):
    """What comes back. `deltas` are streamed (and joined where nobody asked for a stream); `raw`
    is sent as it is. `cut_after`: the stream ends after so many deltas, `orderly` or by breaking
    the connection; `packets` come behind `raw` one by one, `endless` again and again; `hang`:
    seconds of silence, before the first delta or (`hang_after`) behind so many."""

    deltas: Sequence[Mapping[str, Any]] = ()
    finish: str | None = "stop"
    usage: Mapping[str, Any] | None = USAGE
    done: bool = True
    cut_after: int | None = None
    orderly: bool = False
    hang: float = 0.0
    hang_after: int = 0
    status: int = 200
    headers: Mapping[str, str] = {}
    raw: str | bytes | None = None
    content_type: str | None = None
    no_choices: bool = False
    pause: float = 0.0
    endless: bytes = b""
    packets: Sequence[bytes] = ()


Given = Answer | Callable[[dict[str, Any]], Answer]


# --- answers --------------------------------------------------------------------------------------


def text(*pieces: str, **more: Any) -> Answer:
    """Text, in pieces."""
    return Answer([{"content": piece} for piece in pieces], **more)


def value(data: object, **more: Any) -> Answer:
    """A JSON object, in pieces of a few characters."""
    written = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    return text(*(written[at : at + 7] for at in range(0, len(written), 7)), **more)


def calls(*given: tuple[str, Any], say: str = "", **more: Any) -> Answer:
    """Calls of tools: each its name and its arguments (an object, or text that is sent as it is);
    the arguments come in two pieces."""
    deltas: list[dict[str, Any]] = [{"content": say}] if say else []
    for index, (name, arguments) in enumerate(given):
        written = arguments if isinstance(arguments, str) else json.dumps(arguments)
        half = len(written) // 2
        head = {"name": name, "arguments": written[:half]}
        call = {"index": index, "id": f"call_{index}", "type": "function", "function": head}
        rest = {"index": index, "function": {"arguments": written[half:]}}
        deltas += [{"tool_calls": [call]}, {"tool_calls": [rest]}]
    return Answer(deltas, finish="tool_calls", **more)


def status(number: int, message: str = "no", **more: Any) -> Answer:
    """An error as OpenAI writes it; `retry_after` in seconds."""
    error = {"message": message, "type": "error", "param": more.pop("param", None)}
    error["code"] = more.pop("code", None)
    headers = {"Retry-After": str(more.pop("retry_after"))} if "retry_after" in more else {}
    return Answer(status=number, raw=json.dumps({"error": error}), headers=headers, **more)


def cut(*pieces: str, **more: Any) -> Answer:
    """A stream that ends after these pieces, without a word."""
    return text(*pieces, "never sent", cut_after=len(pieces), **more)


# --- the server -----------------------------------------------------------------------------------


class Server:
    """Answers in order, then as `brain` says. `url` is what `--base-url` takes; `lax`: leaving the
    `with` does not fail for requests that OpenAI would not take."""

    def __init__(self, *answers: Given, brain: Given | None = None, lax: bool = False) -> None:
        self.answers = list(answers)
        self.brain = brain
        self.lax = lax
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.wrong: list[str] = []
        self.stopping = threading.Event()
        self._lock = threading.Lock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._http.daemon_threads = True
        self._thread = threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )

    @property
    def port(self) -> int:
        return int(self._http.server_address[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> Server:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.stopping.set()
        self._http.shutdown()
        self._http.server_close()
        if kind is None and not self.lax:
            assert not self.wrong, "\n".join(self.wrong)

    def answer(self, body: dict[str, Any], headers: Mapping[str, str]) -> Answer:
        with self._lock:
            self.requests.append(body)
            self.headers.append({key.lower(): value for key, value in headers.items()})
            self.wrong += problems(body)
            given = self.answers.pop(0) if self.answers else self.brain
        if given is None:
            return status(500, "the test has no answer left")
        return given if isinstance(given, Answer) else given(body)

    def rest(self, given: Answer) -> Iterator[bytes]:
        """What comes behind the first of an answer."""
        yield from given.packets
        while given.endless and not self.stopping.wait(given.pause):
            yield given.endless

    def last(self, role: str = "user") -> str:
        """The last message of a role in the last request."""
        found = [m for m in self.requests[-1]["messages"] if m["role"] == role]
        return str(found[-1]["content"])


def _handler(server: Server) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            size = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(size))
            if self.path.partition("?")[0] != "/v1/chat/completions":
                self.whole(Answer(status=404, raw='{"error": {"message": "no such page"}}'))
                return
            given = server.answer(body, dict(self.headers))
            try:
                if given.raw is not None or given.status != 200 or not body.get("stream"):
                    self.whole(given, body)
                else:
                    self.stream(given, body)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

        def whole(self, given: Answer, body: Mapping[str, Any] | None = None) -> None:
            server.stopping.wait(given.hang)
            content = given.raw if given.raw is not None else json.dumps(_joined(given))
            data = content if isinstance(content, bytes) else content.encode()
            self.send_response(given.status)
            self.send_header("Content-Type", given.content_type or "application/json")
            size = (
                ("Connection", "close")
                if given.endless
                else ("Content-Length", str(len(data) + sum(map(len, given.packets))))
            )
            self.send_header(*size)
            for key, item in given.headers.items():
                self.send_header(key, item)
            self.end_headers()
            self.wfile.write(data)
            for packet in server.rest(given):
                self.wfile.write(packet)
                self.wfile.flush()

        def stream(self, given: Answer, body: Mapping[str, Any]) -> None:
            self.send_response(200)
            self.send_header("Content-Type", given.content_type or "text/event-stream")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for number, chunk in enumerate(_chunks(given, body)):
                if given.hang and number == given.hang_after:
                    self.wfile.flush()
                    server.stopping.wait(given.hang)
                if given.cut_after is not None and number >= given.cut_after:
                    self.close_connection = True
                    if given.orderly:
                        break
                    return
                data = f"data: {chunk}\n\n".encode()
                self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
                self.wfile.flush()
                time.sleep(given.pause)
            self.wfile.write(b"0\r\n\r\n")

        def log_message(self, *_: object) -> None:
            """Nobody reads it."""

    return Handler


def _chunks(given: Answer, body: Mapping[str, Any]) -> Iterator[str]:
    """The data of each event of a stream."""
    head = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": body["model"]}
    if given.no_choices:
        yield json.dumps({**head, "choices": []})
    else:
        for delta in given.deltas:
            choice = {"index": 0, "delta": dict(delta), "finish_reason": None}
            yield json.dumps({**head, "choices": [choice]}, ensure_ascii=False)
        if given.finish is not None:
            choice = {"index": 0, "delta": {}, "finish_reason": given.finish}
            yield json.dumps({**head, "choices": [choice]})
    if given.usage is not None and (body.get("stream_options") or {}).get("include_usage"):
        yield json.dumps({**head, "choices": [], "usage": dict(given.usage)})
    if given.done:
        yield "[DONE]"


def _joined(given: Answer) -> dict[str, Any]:
    """The same as one answer."""
    message: dict[str, Any] = {"role": "assistant", "content": None}
    parts: dict[int, dict[str, Any]] = {}
    for delta in given.deltas:
        if "content" in delta:
            message["content"] = (message["content"] or "") + delta["content"]
        for call in delta.get("tool_calls", ()):
            part = parts.setdefault(
                call["index"],
                {
                    "id": call.get("id"),
                    "type": "function",
                    "function": {"name": "", "arguments": ""},
                },
            )
            part["function"]["name"] += call["function"].get("name", "")
            part["function"]["arguments"] += call["function"].get("arguments", "")
    if parts:
        message["tool_calls"] = [parts[index] for index in sorted(parts)]
    choice = {"index": 0, "message": message, "finish_reason": given.finish, "logprobs": None}
    found: dict[str, Any] = {
        "id": "c1", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [] if given.no_choices else [choice],
    }  # fmt: skip
    if given.usage is not None:
        found["usage"] = dict(given.usage)
    return found


# --- whether a request is one that OpenAI takes ---------------------------------------------------


def problems(body: Mapping[str, Any]) -> list[str]:
    """What is wrong with a request, by the SDK's own types and the documented subset of schemas."""
    from openai.types.chat import ChatCompletionMessageParam, ChatCompletionToolParam
    from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming
    from pydantic import TypeAdapter, ValidationError

    found: list[str] = []
    checks: list[tuple[Any, Iterable[Any]]] = [
        (CompletionCreateParamsStreaming, [{**body, "stream": True}]),
        (ChatCompletionMessageParam, body.get("messages", ())),
        (ChatCompletionToolParam, body.get("tools", ())),
    ]
    for kind, items in checks:
        for item in items:
            try:
                _adapter(kind, TypeAdapter).validate_python(item, strict=False)
            except ValidationError as error:
                found.append(f"{error.errors()[0]['loc']}: {error.errors()[0]['msg']} in {item}")
    found += _turns(body.get("messages", ()))
    for tool in body.get("tools", ()):
        if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", tool["function"]["name"]):
            found.append(f"no name of a tool: {tool['function']['name']}")
    form = body.get("response_format") or {}
    if form.get("type") == "json_schema":
        spec = form["json_schema"]
        if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", spec["name"]):
            found.append(f"no name of a schema: {spec['name']}")
        if spec.get("strict"):
            found += outside_of_the_subset(spec["schema"])
    return found


_ADAPTERS: dict[Any, Any] = {}


def _adapter(kind: Any, make: Any) -> Any:
    if kind not in _ADAPTERS:
        _ADAPTERS[kind] = make(kind)
    return _ADAPTERS[kind]


def _turns(messages: Iterable[Mapping[str, Any]]) -> list[str]:
    """Results of tools stand behind their calls, and nothing else does; somebody says something."""
    found: list[str] = []
    open_: set[str] = set()
    listed = list(messages)
    for message in listed:
        if message["role"] == "tool":
            if message["tool_call_id"] not in open_:
                found.append(f"a result without its call: {message}")
            open_.discard(message["tool_call_id"])
            continue
        if open_:
            found.append(f"a call without its result before {message}")
        open_ = {call["id"] for call in message.get("tool_calls") or ()}
        if message["role"] == "assistant" and not (
            message.get("content") or message.get("tool_calls")
        ):
            found.append(f"nothing is said: {message}")
        for call in message.get("tool_calls") or ():
            try:
                assert isinstance(json.loads(call["function"]["arguments"]), dict)
            except (ValueError, AssertionError):
                found.append(f"arguments that are no object: {call}")
    if open_:
        found.append("a call without its result at the end")
    if not [m for m in listed if m["role"] != "system"]:
        found.append("nothing but a system message")
    if listed and listed[-1]["role"] == "assistant":
        found.append("the model has the last word already")
    return found


#: The subset of JSON schema that structured outputs document.
_KEYWORDS = {
    "type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf",
    "description", "title", "$ref", "$defs", "pattern", "format", "minimum", "maximum",
    "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems",
}  # fmt: skip


def outside_of_the_subset(schema: Any, depth: int = 1) -> list[str]:
    """What a strict schema says that structured outputs do not take."""
    if not isinstance(schema, dict):
        return [f"no schema: {schema!r}"]
    found = [f"'{key}' is not supported" for key in schema.keys() - _KEYWORDS]
    if depth == 1 and (schema.get("type") != "object" or "anyOf" in schema):
        found.append("the root is an object, and no anyOf")
    if depth > 10:
        found.append("nested too deeply")
    if not {"type", "anyOf", "$ref"} & schema.keys():
        found.append(f"without a type: {schema}")
    kinds = schema.get("type")
    if kinds == "object" or (isinstance(kinds, list) and "object" in kinds):
        properties = schema.get("properties", {})
        if schema.get("additionalProperties") is not False:
            found.append("additionalProperties must be false")
        if sorted(schema.get("required", ())) != sorted(properties):
            found.append("every property is required")
        for item in properties.values():
            found += outside_of_the_subset(item, depth + 1)
    if kinds == "array":
        found += outside_of_the_subset(schema.get("items"), depth + 1)
    for item in schema.get("anyOf", ()):
        found += outside_of_the_subset(item, depth + 1)
    return found


# --- brains ---------------------------------------------------------------------------------------


def echo(body: dict[str, Any]) -> Answer:
    """Says what was said; where a schema is asked for, the first thing that fits it."""
    said = next((m["content"] for m in reversed(body["messages"]) if m["role"] == "user"), "")
    form = body.get("response_format")
    if form is not None:
        return value(_first(form["json_schema"]["schema"], said))
    return text("You said: ", said)


def _first(schema: Mapping[str, Any], said: str) -> Any:
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type")
    if kind == "object":
        return {key: _first(item, said) for key, item in schema.get("properties", {}).items()}
    firsts: dict[Any, Any] = {"boolean": False, "integer": 1, "number": 1.5, "array": []}
    return firsts.get(kind, said)
