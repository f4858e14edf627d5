"""Chats with real tool servers: piped, on a terminal, killed, and gone on with."""

from __future__ import annotations

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
from run_cli import REPOSITORY, command
from tmux import TMUX, Terminal
from toolservers import bad, gone, good, left, web

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")
SCREEN = pytest.mark.skipif(TMUX is None, reason="needs tmux")


@pytest.fixture
def mark() -> Iterator[str]:
    """Marks the servers of one test: afterwards none may be left."""
    found = uuid.uuid4().hex
    yield found
    assert gone(found) == []


def written(folder: Path, tools: Mapping[str, Any], *, tool: str = "s.add") -> str:
    """A graph with one tool state, as a file."""
    path = folder / "g.yaml"
    path.write_text(
        f"initial: hear\ntools: {json.dumps(tools)}\nstates:\n"
        f"  hear: {{type: user, transition: {{next: [use]}}}}\n"
        f"  use: {{type: tool, tool: {tool}, transition: {{next: [hear]}}}}\n"
    )
    return str(path)


def events(data: Path, run: str) -> list[Any]:
    """What a session kept, as its export says."""
    done = command("sessions", "export", run, env={"STATECLI_DATA": str(data)})
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_piped(mark: str, tmp_path: Path) -> None:
    path = written(tmp_path, {"s": good(mark)})
    done = command(
        "chat", path, "--allow-tools", "s", "--task-id", "t",
        env={"STATECLI_DATA": str(tmp_path)}, stdin=b"hi\n1\n2\n",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert b"calls s.add(a=1, b=2)\ngot: {'result': 3}\n" in done.stderr
    assert b"adding" not in done.stdout + done.stderr, "what the server prints is its own affair"
    names = [row["event"] for row in events(tmp_path, "t")]
    assert names.index("called") < names.index("returned")
    assert left(mark) == []


def test_without_mcp_a_tool_that_is_named_cannot_be_used(tmp_path: Path) -> None:
    path = written(tmp_path, {"s": {"url": "http://127.0.0.1:9/mcp"}})
    code = (
        "import sys, importlib.util as u; f = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if name == 'mcp' else f(name, *a)\n"
        "from statecli.cli.app import main; sys.exit(main(sys.argv[1:]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "chat", path, "--allow-tools", "all"],
        capture_output=True, check=False, input=b"", cwd=REPOSITORY,
        env={**os.environ, "STATECLI_DATA": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 2
    assert b"the tool 's' needs the MCP client\n  pip install 'statecli[mcp]'" in done.stderr


def test_a_chat_without_a_call_loads_no_client(tmp_path: Path) -> None:
    path = written(tmp_path, {"s": {"url": "http://127.0.0.1:9/mcp"}}, tool="s")
    code = (
        "import sys; from statecli.cli.app import main; main(sys.argv[1:]); "
        "print(sorted({m.split('.')[0] for m in sys.modules} "
        "& {'mcp', 'mcp_types', 'httpx2', 'anyio', 'pydantic', 'jsonschema'}), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "chat", path],
        capture_output=True, check=True, input=b"hi\nforty\n", cwd=REPOSITORY,
        env={**os.environ, "STATECLI_DATA": str(tmp_path)},
    )  # fmt: skip
    assert done.stderr.splitlines()[-1] == b"[]"
    assert b"You play s(), which is not connected" in done.stdout


def test_signing_in_off_a_terminal(tmp_path: Path) -> None:
    """One call, an event with a name, exit code 2; the lines that are left are not read."""
    with web("call") as server:
        path = written(tmp_path, {"crm": {"url": server.url}}, tool="crm.find")
        done = command(
            "chat", path, "--allow-tools", "crm", "--json", "--task-id", "t",
            env={"STATECLI_DATA": str(tmp_path)}, stdin=b"hi\nBo\nhi\nBo\nhi\nBo\n",
        )  # fmt: skip
        assert done.returncode == 2
        assert b"CRM must be connected first\n  open https://crm.example/connect?account=7" in (
            done.stderr
        )
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        (row,) = [row for row in rows if row["event"] == "unauthorized"]
        assert row["body"]["service"] == "CRM"
        assert row["body"]["url"] == "https://crm.example/connect?account=7"
        assert row["body"]["state"] == "use"
        assert len(server.calls()) == 1
    listed = command("sessions", "list", env={"STATECLI_DATA": str(tmp_path)}).stdout
    assert b"use" in listed


def test_a_hostile_graph_starts_nothing(tmp_path: Path) -> None:
    """Off a terminal, whoever plays the model: no process, no request, until that is allowed."""
    ran = tmp_path / "ran"
    tool = {"command": [sys.executable, "-c", f"open({str(ran)!r}, 'w')"]}
    with web("fine") as server:
        path = written(tmp_path, {"s": tool, "crm": {"url": server.url}}, tool="s")
        for words in ([], ["--model", "human"]):
            command("chat", path, *words, env={"STATECLI_DATA": str(tmp_path)}, stdin=b"hi\nx\n")
        path = written(tmp_path, {"crm": {"url": server.url}}, tool="crm")
        command("chat", path, env={"STATECLI_DATA": str(tmp_path)}, stdin=b"hi\nx\n")
        assert server.seen() == []
    assert not ran.exists()
    assert not (tmp_path / "trust.json").exists()


def test_a_key_stays_where_it_is(mark: str, tmp_path: Path) -> None:
    """A token for a server is in none of the files, and in nothing that is shown."""
    with web("fine") as server:
        tool = {"url": server.url, "headers": {"Authorization": "Bearer ${CRM_TOKEN}"}}
        path = written(tmp_path, {"crm": tool}, tool="crm.find")
        data = tmp_path / "data"
        done = command(
            "chat", path, "--allow-tools", "crm", "--trace", str(tmp_path / "trace.jsonl"),
            env={"STATECLI_DATA": str(data), "CRM_TOKEN": "tok-5f3a9"}, stdin=b"hi\nBo\n",
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert any("Bearer tok-5f3a9" in s["headers"].values() for s in server.seen())
    assert b"5f3a9" not in done.stdout + done.stderr
    for file in tmp_path.rglob("*"):
        assert not file.is_file() or b"5f3a9" not in file.read_bytes(), file


@SCREEN
def test_on_a_terminal(mark: str, tmp_path: Path) -> None:
    """Ask, refuse, allow; the second chat knows the first answer."""
    path = written(tmp_path, {"s": good(mark)})
    with Terminal(tmp_path, "chat", path, columns=160) as terminal:
        terminal.type("hi")
        terminal.wait("The graph wants to start this program for its tool 's':")
        terminal.type("yes")
        terminal.wait("[use] a (a whole number):")
        terminal.type("1")
        terminal.type("2")
        terminal.wait("Call s.add(a=1, b=2)? (yes, no, always or never in this session)")
        terminal.type("no")
        terminal.wait("refused s.add: the person does not allow this call")
        terminal.type("hi")
        terminal.type("3")
        terminal.type("4")
        terminal.type("yes")
        terminal.wait("got: {'result': 7}")
        terminal.type("/tools")
        terminal.wait("(connected, 9 tools)")
        terminal.press("C-d")
        assert terminal.code() == 0
        assert left(mark) == []
    with Terminal(tmp_path, "chat", path, columns=160) as terminal:
        terminal.type("hi")
        terminal.wait("[use] a (a whole number):")
        terminal.press("C-d")
        assert terminal.code() == 0


@SCREEN
@pytest.mark.parametrize("fault", ["mute", "stubborn"])
def test_ctrl_c_in_a_call(fault: str, mark: str, tmp_path: Path) -> None:
    path = written(tmp_path, {"s": bad("mute" if fault == "mute" else fault, mark)}, tool="s.do")
    words = ("chat", path, "--allow-tools", "all", "--task-id", "t")
    with Terminal(tmp_path, *words, columns=160) as terminal:
        terminal.type("hi")
        terminal.wait("[use] what:")
        if fault == "mute":
            terminal.press("x", "Enter")
            terminal.wait("calls s.do(what='x')")
            time.sleep(0.3)
            terminal.press("C-c")
            terminal.wait("stopped; what was said is kept (Ctrl-C again leaves)")
            terminal.wait("s.do was called and may have done its work; /continue or another line")
            terminal.wait("use>")
        terminal.press("C-c")
        terminal.press("C-c")
        assert terminal.code() == 130
    assert gone(mark) == []


@SCREEN
def test_a_call_that_was_stopped_is_not_repeated_unasked(mark: str, tmp_path: Path) -> None:
    """Ctrl-C in a call, then `--resume`, as often as the person says no: as after a crash."""
    log = tmp_path / "log"
    path = written(tmp_path, {"s": bad("mute", mark, log)}, tool="s.do")
    words = ("chat", path, "--allow-tools", "all")
    with Terminal(tmp_path, *words, "--task-id", "t", columns=160) as terminal:
        terminal.type("hi")
        terminal.wait("[use] what:")
        terminal.press("x", "Enter")
        terminal.wait_until(log.exists, "the call")
        terminal.press("C-c")
        terminal.wait("may have done its work")
        terminal.press("C-d")
        assert terminal.code() == 0
    log.unlink()
    for _ in range(2):
        piped = command(
            "chat", path, "--resume", "t", "--allow-tools", "all",
            env={"STATECLI_DATA": str(tmp_path)}, stdin=b"hi\nx\n",
        )  # fmt: skip
        assert piped.returncode == 2
        assert b"s.do was being called when this session stopped" in piped.stderr
        with Terminal(tmp_path, *words, "--resume", "t", columns=160) as terminal:
            terminal.wait("and may have done its work. Repeat it? (yes or no)")
            terminal.type("no")
            terminal.wait("'use' waits: /continue runs it, /goto STATE leaves it")
            terminal.press("C-d")
            assert terminal.code() == 0
    assert not log.exists()
    with Terminal(tmp_path, *words, "--resume", "t", columns=160) as terminal:
        terminal.type("yes")
        terminal.wait("[use] what:")
        terminal.press("C-d")
        assert terminal.code() == 0


@SCREEN
def test_ctrl_c_at_each_question(mark: str, tmp_path: Path) -> None:
    """Before a server is started, before a call, and at what the server asks in the middle."""
    path = written(tmp_path, {"s": bad("elicits", mark)}, tool="s.do")
    with Terminal(tmp_path, "chat", path, columns=160) as terminal:

        def stop_at(text: str, stops: int) -> None:
            terminal.wait(text)
            terminal.wait_for_prompt()
            terminal.press("C-c")
            told = "stopped; what was said is kept (Ctrl-C again leaves)"
            terminal.wait_until(lambda: terminal.screen().count(told) == stops, told)

        terminal.type("hi")
        stop_at("Allow it for this graph? (yes or no)", 1)
        terminal.type("/continue")
        terminal.type("yes")
        terminal.type("x")
        stop_at("Call s.do(what='x')?", 2)
        terminal.type("/continue")
        terminal.type("x")
        terminal.type("always")
        stop_at("Go on, once you did? (yes or no)", 3)
        terminal.type("/continue")
        terminal.type("x")
        terminal.type("yes")
        terminal.wait("got: you said accept")
        terminal.press("C-d")
        assert terminal.code() == 0


@SCREEN
def test_a_chat_that_was_killed_in_a_call(mark: str, tmp_path: Path) -> None:
    """Nothing is left of the server, and the call is not made again unasked."""
    log = tmp_path / "log"
    path = written(tmp_path, {"s": bad("mute", mark, log)}, tool="s.do")
    words = ("chat", path, "--allow-tools", "all", "--task-id", "t")
    with Terminal(tmp_path, *words, columns=160) as terminal:
        terminal.type("hi")
        terminal.wait("[use] what:")
        terminal.press("x", "Enter")
        terminal.wait("calls s.do(what='x')")
        time.sleep(0.3)
        os.kill(terminal.pid(), signal.SIGKILL)
        assert terminal.code() == 137
    assert gone(mark) == []
    assert [row["event"] for row in events(tmp_path, "t")][-1] == "called"
    piped = command(
        "chat", path, "--resume", "t", "--allow-tools", "all",
        env={"STATECLI_DATA": str(tmp_path)}, stdin=b"hi\n",
    )  # fmt: skip
    assert piped.returncode == 2
    assert b"s.do was being called when this session stopped" in piped.stderr
    with Terminal(tmp_path, "chat", path, "--resume", "t", columns=160) as terminal:
        terminal.wait("and may have done its work. Repeat it? (yes or no)")
        terminal.type("no")
        terminal.wait("'use' waits: /continue runs it, /goto STATE leaves it")
        terminal.press("C-d")
        assert terminal.code() == 0


@SCREEN
def test_signing_in_on_a_terminal(tmp_path: Path) -> None:
    with web("call") as server:
        path = written(tmp_path, {"crm": {"url": server.url}}, tool="crm.find")
        with Terminal(tmp_path, "chat", path, columns=160) as terminal:
            terminal.type("hi")
            terminal.wait("The graph wants to connect to this address for its tool 'crm':")
            terminal.type("yes")
            terminal.type("Bo")
            terminal.type("yes")
            terminal.wait("CRM must be connected first: https://crm.example/connect?account=7")
            terminal.wait("'use' waits; connect it, then /continue")
            terminal.wait("use>")
            assert len(server.calls()) == 1
            terminal.press("C-d")
            assert terminal.code() == 0


def test_a_chat_that_is_told_to_end(mark: str, tmp_path: Path) -> None:
    """SIGTERM in the middle of a call, with a server that does not want to end."""
    path = written(tmp_path, {"s": bad("stubborn", mark)}, tool="s.do")
    words = [sys.executable, "-m", "statecli", "chat", path, "--allow-tools", "all"]
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        cwd=REPOSITORY, env={**os.environ, "STATECLI_DATA": str(tmp_path)},
    ) as process:  # fmt: skip
        assert process.stdin is not None
        process.stdin.write(b"hi\n")
        process.stdin.flush()
        end = time.monotonic() + 20
        while not left(mark) and time.monotonic() < end:
            time.sleep(0.05)
        assert left(mark)
        time.sleep(0.3)
        process.terminate()
        _, shown = process.communicate(timeout=20)
    assert process.returncode == 130
    assert b"Traceback" not in shown
    assert gone(mark) == []
