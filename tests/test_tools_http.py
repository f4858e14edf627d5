"""MCP servers over HTTP: what they do right, all that they do wrong, who must sign in."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from typing import Any

import pytest
from toolservers import SERVERS, entry, web

from statecli.model.ports import AuthRequired, ToolResult
from statecli.tools.mcp import Server
from statecli.tools.tool import Elicited, Unreachable

FIND = ("find", {"name": "Bo"})


async def nobody(asked: Elicited) -> Mapping[str, Any] | None:
    raise AssertionError(f"nobody is to be asked: {asked}")


def talk(url: str, *calls: Any, **more: Any) -> list[Any]:
    """Call tools of one server; what each gave back or raised."""

    async def run() -> list[Any]:
        server, found = Server(entry("crm", {"url": url, **more})), list[Any]()
        for name, arguments in calls:
            try:
                await server.list()
                found.append(await server.call(name, arguments, "ann", nobody))
            except (Unreachable, AuthRequired) as error:
                found.append(error)
        await server.close()
        return found

    return asyncio.run(run())


def test_a_good_one() -> None:
    with web("fine") as server:
        assert talk(server.url, FIND) == [ToolResult(True, 'found Bo for "ann"', None)]


def test_one_that_the_sdk_made() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [sys.executable, str(SERVERS / "good.py"), str(port)]
    with subprocess.Popen(words, stderr=subprocess.DEVNULL) as process:
        try:
            url = f"http://127.0.0.1:{port}/mcp"
            end = time.monotonic() + 20
            while time.monotonic() < end:
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.1)
            found = talk(url, ("who", {}), ("weather", {"town": "Rome"}), ("big", {"megabytes": 5}))
        finally:
            process.kill()
    assert found[0] == ToolResult(True, "ann", None)
    assert found[1].structured["degrees"] == 21
    assert found[2].text.endswith("[cut: the first 50,000 of 5,000,000 characters]")


def test_headers_take_values_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRM_TOKEN", "sesame")
    with web("fine") as server:
        talk(server.url, FIND, headers={"Authorization": "Bearer ${CRM_TOKEN}"})
        sent = [s["headers"] for s in server.seen()]
        assert {h.get("authorization", h.get("Authorization")) for h in sent} == {"Bearer sesame"}
        (found,) = talk(server.url, FIND, headers={"Authorization": "Bearer ${NOBODY_SET_IT}"})
        assert str(found) == "crm needs NOBODY_SET_IT in the environment"


@pytest.mark.parametrize(
    ("fault", "service", "url"),
    [
        ("door", "crm", "https://crm.example/.well-known/oauth-protected-resource"),
        ("call", "CRM", "https://crm.example/connect?account=7"),
        ("error", "crm", "https://crm.example/connect?account=7"),
        ("forbidden", "crm", "/mcp"),
        ("metadata", "crm", "https://login.crm.example"),
    ],
)
def test_who_must_sign_in(fault: str, service: str, url: str) -> None:
    with web(fault) as server:
        found = talk(server.url, FIND, FIND)
        assert [type(error) for error in found] == [AuthRequired] * 2
        assert [error.service for error in found] == [service] * 2
        assert found[0].url.endswith(url)
        assert len(server.calls()) == (0 if fault in ("door", "metadata") else 2), "nothing loops"


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("endless", "crm sent an answer of more than 16 MB"),
        ("packed", "crm packed its answer, which was not asked for"),
        ("broken", "crm answered with HTTP 500"),
        ("hang", "crm did not answer within 3 s"),
    ],
)
def test_calls_that_go_wrong(fault: str, told: str) -> None:
    with web(fault) as server:
        (found,) = talk(server.url, FIND, timeout=3)
        assert found == ToolResult(False, f"{told}; the call may have done its work all the same")
        assert len(server.calls()) == 1, "never repeated"


def test_a_long_result_is_cut() -> None:
    with web("huge") as server:
        assert talk(server.url, FIND)[0].text.endswith("of 5,000,000 characters]")


@pytest.mark.parametrize(
    ("fault", "told"),
    [("html", "Unexpected content type: text/html"), ("away", "Redirect to http://127.0.0.1:9")],
)
def test_what_cannot_be_connected_to(fault: str, told: str) -> None:
    with web(fault) as server:
        (found,) = talk(server.url, FIND)
        assert isinstance(found, Unreachable)
        assert told in str(found)


def test_nobody_is_there() -> None:
    (found,) = talk("http://127.0.0.1:9/mcp", FIND)
    assert str(found) == "crm cannot be reached at http://127.0.0.1:9/mcp"
    (found,) = talk("no address", FIND)
    assert isinstance(found, Unreachable)


def test_a_session_that_is_over_begins_anew_on_next_use() -> None:
    with web("gone") as server:
        found = talk(server.url, FIND, FIND, FIND)
        assert [result.ok for result in found] == [True, False, True]
        assert len(server.calls()) == 3
