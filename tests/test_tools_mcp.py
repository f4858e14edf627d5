"""MCP servers as child processes: what they do right, all that they do wrong, and that no process
is left."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from toolservers import SERVERS, bad, entry, gone, good, left

from statecli.model.ports import AuthRequired, ToolResult
from statecli.tools.mcp import Server
from statecli.tools.tool import MAX_RESULT, Elicited, Unreachable

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")
LINK = "https://mail.example/connect?state=abc"
Did = ToolResult | BaseException


@pytest.fixture
def mark() -> Iterator[str]:
    """Marks the servers of one test: afterwards none may be left."""
    found = uuid.uuid4().hex
    yield found
    assert gone(found) == []


async def nobody(asked: Elicited) -> Mapping[str, Any] | None:
    raise AssertionError(f"nobody is to be asked: {asked}")


def talk(
    settings: dict[str, Any], *calls: Any, answer: Any = nobody, user: str = "ann"
) -> list[Any]:
    """Call tools of one server, one after the other; what each gave back or raised."""

    async def run() -> list[Any]:
        server, found = Server(entry("s", settings)), list[Any]()
        try:
            for name, arguments in calls:
                try:
                    await server.list()
                    found.append(await server.call(name, arguments, user, answer))
                except (Unreachable, AuthRequired) as error:
                    found.append(error)
        finally:
            await server.close()
        return found

    return asyncio.run(run())


def test_what_it_lists(mark: str) -> None:
    async def run() -> None:
        server = Server(entry("notes", good(mark)))
        running = [server.running]
        tools = {tool.name: tool for tool in await server.list()}
        running.append(server.running)
        add = tools["notes.add"]
        assert (add.description, add.server) == ("Add two numbers.", "notes")
        assert add.schema is not None
        assert add.schema["required"] == ["a", "b"]
        await server.call("add", {"a": 1, "b": 2}, "", nobody)
        await asyncio.sleep(0.1)
        assert server.tail == "adding"
        await server.close()
        assert [*running, server.running] == [False, True, False]

    asyncio.run(run())


@pytest.mark.parametrize(
    ("name", "arguments", "result"),
    [
        ("add", {"a": 1, "b": 2}, ToolResult(True, "3", {"result": 3})),
        ("read", {"path": "a.txt"}, ToolResult(True, "the text of a.txt", None)),
        ("who", {}, ToolResult(True, "ann", None)),
        ("environment", {"name": "OPENAI_API_KEY"}, ToolResult(True, "(not set)", None)),
        ("environment", {"name": "GIVEN"}, ToolResult(True, "sesame street", None)),
    ],
)
def test_what_a_call_gives_back(
    name: str, arguments: dict[str, Any], result: ToolResult, mark: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """The environment of the person stays with them, but for what the entry names."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("WORD", "sesame")
    settings = good(mark)
    settings["env"]["GIVEN"] = "${WORD} street"
    assert talk(settings, (name, arguments)) == [result]


def test_structured_content_is_data(mark: str) -> None:
    (found,) = talk(good(mark), ("weather", {"town": "Rome"}))
    assert found.structured == {"town": "Rome", "degrees": 21, "sky": "clear"}


def test_nobody_is_named_where_nobody_is(mark: str) -> None:
    assert talk(good(mark), ("who", {}), user="") == [ToolResult(True, "nobody", None)]


def test_an_error_of_a_tool_is_a_result(mark: str) -> None:
    failed, unknown = talk(good(mark), ("fail", {"why": "no ink"}), ("nothing", {}))
    assert not failed.ok
    assert not unknown.ok
    assert "nothing" in unknown.text


def test_a_long_result_is_cut(mark: str) -> None:
    (found,) = talk(good(mark), ("big", {"megabytes": 5}))
    assert found.ok
    assert found.structured is None
    assert found.text.endswith("\n[cut: the first 50,000 of 5,000,000 characters]")
    assert len(found.text) < MAX_RESULT + 100


def test_a_message_without_end_ends_the_connection(mark: str) -> None:
    first, second = talk(bad("huge", mark, 17), ("do", {"what": "x"}), ("do", {"what": "x"}))
    told = "s sent a message of more than 16 MB; the call may have done its work all the same"
    assert [first, second] == [ToolResult(False, told)] * 2


def test_one_that_takes_too_long(mark: str) -> None:
    """Only the call is given up."""
    calls = [("do", {"what": "x"}), ("do", {"what": "now"})]
    mute, good_ = talk(bad("mute", mark, timeout=3), *calls)
    told = "s did not answer within 3 s; the call may have done its work all the same"
    assert mute == ToolResult(False, told)
    assert good_.text == "did now"


def test_one_that_ends_in_a_call_is_started_again_on_next_use(mark: str, tmp_path: Path) -> None:
    """And the call is not made again by itself."""
    log = tmp_path / "log"
    do = ("do", {"what": "x"})
    found = talk(bad("exits", mark, log), do, ("do", {"what": "y"}))
    told = (
        "s ended with exit code 3; it said: out of paper; "
        "the call may have done its work all the same"
    )
    assert found == [ToolResult(False, told)] * 2
    assert log.read_text() == "started\ncalled x\nstarted\ncalled y\n"


def test_one_that_never_begins(mark: str) -> None:
    begun = time.monotonic()
    (found,) = talk(bad("silent", mark, timeout=2), ("do", {}))
    assert isinstance(found, Unreachable)
    assert str(found) == "s did not begin within 2 s"
    assert time.monotonic() - begun < 20


def test_one_that_ends_before_it_begins(mark: str) -> None:
    (found,) = talk(bad("early", mark), ("do", {}))
    assert str(found) == "s ended with exit code 7; it said: no licence found"


def test_junk_on_standard_output_is_passed_over(mark: str) -> None:
    assert talk(bad("junk", mark), ("do", {"what": "x"})) == [ToolResult(True, "did x", None)]


def test_junk_is_told_where_it_does_not_begin(mark: str, tmp_path: Path) -> None:
    (tmp_path / "shout.py").write_text("print('Hello!', flush=True); input(); input()")
    settings = {"command": [sys.executable, "shout.py"], "cwd": str(tmp_path),
                "env": {"MARK": mark}, "timeout": 20}  # fmt: skip
    (found,) = talk(settings, ("do", {}))
    assert "it printed 'Hello!' where only messages belong" in str(found)


def test_an_answer_that_is_none(mark: str) -> None:
    (found,) = talk(bad("wrong", mark), ("do", {"what": "x"}))
    assert found.text.startswith("s answered what is no answer of MCP")


def test_pages_without_end_end(mark: str) -> None:
    assert talk(bad("pages", mark), ("do", {"what": "x"}))[0].text == "did x"


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"command": ["no-such-program-here"]}, "s: there is no program 'no-such-program-here'"),
        ({"command": ["./nothing"]}, "s: there is no program './nothing'"),
        ({"command": [sys.executable], "cwd": "/nowhere"}, "s: there is no folder /nowhere"),
        ({"command": [sys.executable], "env": {"A": "${NOT_SET_ANYWHERE}"}},
         "s needs NOT_SET_ANYWHERE in the environment"),
        ({"command": [sys.executable, "a\0b"]}, "cannot be started"),
    ],
)  # fmt: skip
def test_what_cannot_be_started(settings: dict[str, Any], reason: str) -> None:
    (found,) = talk(settings, ("do", {}))
    assert isinstance(found, Unreachable)
    assert reason in str(found)


def test_the_folder_it_runs_in(mark: str, tmp_path: Path) -> None:
    (tmp_path / "graphs").mkdir()
    settings = good(mark, cwd="graphs")
    found = entry("s", settings)._replace(folder=str(tmp_path))
    assert found.directory == str(tmp_path / "graphs")
    assert entry("s", good(mark)).directory == os.getcwd()


# --- the person must connect something ------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "service", "text"),
    [("link", "Mail", "not connected"), ("required", "s", "Mail wants you")],
)
def test_a_link_in_an_error(fault: str, service: str, text: str, mark: str) -> None:
    (found,) = talk(bad(fault, mark), ("do", {"what": "x"}))
    assert isinstance(found, AuthRequired)
    assert (found.service, found.url, found.text) == (service, LINK, text)


def test_a_server_that_asks_to_open_a_link(mark: str) -> None:
    asked: list[Elicited] = []

    def answers(value: Mapping[str, Any] | None) -> Any:
        async def answer(what: Elicited) -> Mapping[str, Any] | None:
            asked.append(what)
            return value

        return answer

    do = ("do", {"what": "x"})
    assert talk(bad("elicits", mark), do, answer=answers({}))[0].text == "you said accept"
    assert talk(bad("elicits", mark), do, answer=answers(None))[0].text == "you said decline"
    assert asked == [Elicited("s", "Mail wants you", LINK)] * 2


def test_a_link_that_nobody_can_open_ends_the_call(mark: str) -> None:
    async def answer(what: Elicited) -> Mapping[str, Any] | None:
        raise AuthRequired(what.server, what.url, what.text)

    (found,) = talk(bad("elicits", mark), ("do", {"what": "x"}), answer=answer)
    assert (found.service, found.url) == ("s", LINK)


def test_a_server_that_asks_for_a_value(mark: str) -> None:
    async def answer(what: Elicited) -> Mapping[str, Any] | None:
        assert what.schema is not None
        return {"town": "Rome"}

    (found,) = talk(bad("form", mark), ("do", {"what": "x"}), answer=answer)
    assert json.loads(found.text) == {"action": "accept", "content": {"town": "Rome"}}


# --- processes ------------------------------------------------------------------------------------


def test_one_that_does_not_want_to_end(mark: str) -> None:
    """Neither when its input ends nor on SIGTERM."""
    begun = time.monotonic()
    assert talk(bad("stubborn", mark), ("do", {"what": "x"}))[0].ok
    assert left(mark) == []
    assert time.monotonic() - begun < 20


@pytest.mark.parametrize("fault", ["spawns", "daemon"])
def test_what_a_server_started_goes_with_it(fault: str, mark: str, tmp_path: Path) -> None:
    """Also what has left its session and its parent, twice over."""
    assert talk(bad(fault, mark, tmp_path / "pid"), ("do", {"what": "x"}))[0].ok
    assert left(mark) == []
    assert (tmp_path / "pid").read_text()


def test_a_call_that_is_cancelled(mark: str, tmp_path: Path) -> None:
    log = tmp_path / "log"

    async def run() -> None:
        server = Server(entry("s", bad("mute", mark, log)))
        call = asyncio.ensure_future(server.call("do", {"what": "x"}, "", nobody))
        while not log.exists():
            await asyncio.sleep(0.02)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert server.running
        assert (await server.call("do", {"what": "now"}, "", nobody)).text == "did now"
        await server.close()

    asyncio.run(run())


@pytest.mark.parametrize("seconds", [0.0, 0.001, 0.02, 0.05, 0.2])
def test_a_start_that_is_cancelled_leaves_nothing(seconds: float, mark: str) -> None:
    async def run() -> None:
        server = Server(entry("s", bad("silent", mark)))
        start = asyncio.ensure_future(server.list())
        await asyncio.sleep(seconds)
        start.cancel()
        with pytest.raises(asyncio.CancelledError):
            await start
        await server.close()

    asyncio.run(run())
    assert left(mark) == []


CRASH = """
import asyncio, os, signal, sys
sys.path.insert(0, {root!r})
from statecli.tools.mcp import Server
from statecli.tools.tool import entries

async def main():
    server = Server(entries({{"s": {settings!r}}})["s"])
    await server.list()
    print("ready", flush=True)
    {end}

asyncio.run(main())
"""


@pytest.mark.parametrize("fault", ["mute", "stubborn", "spawns", "daemon"])
@pytest.mark.parametrize(
    "end",
    ["os.kill(os.getpid(), signal.SIGKILL)", "os._exit(9)", "raise SystemExit(0)",
     "raise RuntimeError('oh')", "await asyncio.sleep(60)"],
)  # fmt: skip
def test_nothing_outlives_statecli(fault: str, end: str, mark: str, tmp_path: Path) -> None:
    """However it ends: killed, crashed, without closing anything, or by Ctrl-C."""
    settings = bad(fault, mark, tmp_path / "pid")
    root = str(SERVERS.parent.parent)
    code = CRASH.format(root=root, settings=settings, end=end)
    words = [sys.executable, "-W", "ignore", "-c", code]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        if "sleep" in end:
            assert left(mark)
            process.send_signal(signal.SIGINT)
    assert gone(mark) == []
