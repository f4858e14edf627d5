"""A model on a server and real MCP servers in one chat: as a person runs it, recorded, played
again, and with a graph that means ill."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from openai_server import Server, calls, text, value
from run_cli import command
from served import FAKE
from tmux import TMUX, Terminal
from toolservers import bad, gone, good, left

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")
GRAPH = """
initial: hear
fields: {sum: {type: int}}
states:
  hear: {type: user, transition: {next: [answer]}}
  answer: {type: agent, prompt: Help., tools: [s], transition: {next: [plan]}}
  plan: {type: planner, transition: {next: [work]}}
  work: {type: executor, tools: [s], transition: {next: [work, add]}}
  add: {type: tool, tools: [s.add, s.read], writes: [sum], transition: {next: [check]}}
  check: {type: verifier, transition: {next: [{to: bye, description: Done}, hear]}}
  bye: {type: terminal, message: Bye.}
"""


@pytest.fixture
def mark() -> Iterator[str]:
    """Marks the tool servers of one test: afterwards none may be left."""
    found = uuid.uuid4().hex
    yield found
    assert gone(found) == []


def written(folder: Path, tools: Mapping[str, Any], head: str = "") -> str:
    path = folder / "g.yaml"
    path.write_text(f"{head}tools: {json.dumps(tools)}\n{GRAPH.lstrip()}", encoding="utf-8")
    return str(path)


def model() -> Server:
    """One pass through the graph: two calls at once, one of them wrong, and each kind's answer."""
    return Server(
        calls(("s_add", {"a": 1, "b": 2}), ("s_add", {"a": "x"})),
        text("It is three."),
        value({"steps": ["read it"], "needs_permission": False}),
        calls(("s_read", {"path": "n.md"}), say="I look."),
        text('```json\n{"reply": "Read.", "ok": true}\n```'),
        value({"tool": "s.add"}),
        value({"a": 20}),
        value({"a": 20, "b": 22}),
        value({"done": True, "reason": "All is done.", "next": "bye"}),
    )


def environment(folder: Path, **more: str) -> dict[str, str]:
    return {**os.environ, "STATECLI_DATA": str(folder / "data"), "OPENAI_API_KEY": FAKE, **more}


def test_piped_recorded_and_played_again(mark: str, tmp_path: Path) -> None:
    path, file = written(tmp_path, {"s": good(mark)}), tmp_path / "rec.yaml"
    with model() as server:
        done = command(
            "chat", path, "--model", "openai:m", "--base-url", server.url, "--allow-tools", "s",
            "--record", str(file), "--task-id", "t", env=environment(tmp_path), stdin=b"add\n",
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert server.answers == []
        offered = [tool["function"]["name"] for tool in server.requests[0]["tools"]]
        assert {"s_add", "s_read"} <= set(offered)
        results = [m["content"] for m in server.requests[1]["messages"] if m["role"] == "tool"]
        assert results[0] == '{"result": 3}' or "3" in results[0]
        assert results[1].startswith("error: ")
    out = done.stdout.decode().splitlines()
    assert out[1:] == ["It is three.", "The plan:", "1. read it", "I look.", "Read.",
                       "All is done.", "Bye."]  # fmt: skip
    assert left(mark) == []
    again = command(
        "chat", path, "--model", f"replay:{file}", "--task-id", "r", env=environment(tmp_path)
    )
    assert again.returncode == 0, again.stderr
    played = [line for line in again.stdout.decode().splitlines() if not line.startswith(">")]
    assert played[1:] == out[1:]
    for kept in (item for item in tmp_path.rglob("*") if item.is_file()):
        assert FAKE.encode() not in kept.read_bytes(), kept


@pytest.mark.skipif(TMUX is None, reason="needs tmux")
def test_as_a_person_runs_it(mark: str, tmp_path: Path) -> None:
    path = written(tmp_path, {"s": good(mark)})
    with model() as server:
        words = ("chat", path, "--model", "openai:m", "--base-url", server.url)
        with Terminal(tmp_path, *words, columns=200, OPENAI_API_KEY=FAKE) as terminal:
            terminal.type("/prompt")
            assert left(mark) == [], "to look at the prompt starts nothing"
            terminal.type("add one and two")
            terminal.wait("The graph wants to start this program for its tool 's':")
            terminal.type("yes")
            terminal.wait("Call s.add(a=1, b=2)? (yes, no, always or never in this session)")
            terminal.type("yes")
            terminal.wait("It is three.")
            terminal.wait("Call s.read(path='n.md')?")
            terminal.type("no")
            terminal.wait("refused s.read: the person does not allow this call")
            terminal.wait("Call s.add(a=20, b=22)?")
            terminal.type("always")
            terminal.wait("got: {'result': 42}")
            terminal.wait("Bye.")
            terminal.press("Enter")
            assert terminal.code() == 0
        told = [m for m in server.requests[4]["messages"] if m["role"] == "tool"]
        assert "does not allow" in told[0]["content"], "the model is told of it"


def test_a_graph_that_means_ill(mark: str, tmp_path: Path) -> None:
    """Its address gets nothing, and its program is not started (it would leave a file)."""
    ran = tmp_path / "ran"
    program = {"s": bad("twice", mark, ran)}
    with Server() as server:
        url = f"http://0.0.0.0:{server.port}/v1"
        head = f'model: {{name: m, base_url: "{url}", api_key: "${{OPENAI_API_KEY}}"}}\n'
        path = written(tmp_path, program, head)
        for more in ((), ("--allow-tools", "s")):
            done = command("chat", path, *more, env=environment(tmp_path), stdin=b"hi\n")
            assert done.returncode == 2
            assert b"your OPENAI_API_KEY would be sent to http://0.0.0.0" in done.stderr
        assert server.requests == []
        assert not ran.exists()
    with model() as server:
        words = ("--model", "openai:m", "--base-url", server.url)
        done = command("chat", path, *words, env=environment(tmp_path), stdin=b"hi\n")
        assert done.returncode == 2
        assert b"--allow-tools s" in done.stderr
        assert not ran.exists()
