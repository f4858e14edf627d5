"""`--user-id` reaches every call of a tool: of every kind of state that can call one, to a server
that is a child process, to one over HTTP, and to a function in Python."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from openai_server import Answer, Server, calls, text, value
from run_cli import command
from toolservers import gone, good, web

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")
TOOLS = "tools: [s.who, w, p]"
GRAPH = f"""
initial: hear
states:
  hear: {{type: user, transition: {{next: [agent]}}}}
  agent: {{type: agent, {TOOLS}, transition: {{next: [decision]}}}}
  decision: {{type: decision, {TOOLS}, transition: {{next: [planner, hear]}}}}
  planner: {{type: planner, {TOOLS}, transition: {{next: [executor]}}}}
  executor: {{type: executor, {TOOLS}, transition: {{next: [executor, chosen]}}}}
  chosen: {{type: tool, {TOOLS}, transition: {{next: [fixed]}}}}
  fixed: {{type: tool, tool: p, arguments: {{name: Bo}}, transition: {{next: [custom]}}}}
  custom: {{type: own, transition: {{next: [verifier]}}}}
  verifier: {{type: verifier, {TOOLS}, transition: {{next: [bye, hear]}}}}
  bye: {{type: terminal, message: Bye.}}
"""
#: Kinds whose model calls all three.
WORKERS = ("agent", "decision", "planner", "executor", "verifier")
FUNCTION = '''
def greet(name: str, user_id: str | None = None) -> str:
    """Greets."""
    return f"for {user_id or 'nobody'}"
'''
OWN = """
from statecli.arkos import register_state

@register_state("own")
async def own(context, agent):
    found = []
    for name, given in (("who", {}), ("find", {"name": "Bo"}), ("p", {"name": "Bo"})):
        found.append(str(await agent.tool_manager.call_tool(
            tool_name=name, arguments=given, user_id=agent.current_user_id)))
    return " ".join(found)
"""


@pytest.fixture
def mark() -> Iterator[str]:
    """Marks the tool servers of one test: afterwards none may be left."""
    found = uuid.uuid4().hex
    yield found
    assert gone(found) == []


def model() -> Server:
    all_three = calls(("s_who", {}), ("w_find", {"name": "Bo"}), ("p", {"name": "Bo"}))
    answers: dict[str, list[Answer]] = {
        "agent": [text("So.")],
        "decision": [value({"next_state": "planner"})],
        "planner": [value({"steps": ["a"], "needs_permission": False})],
        "executor": [value({"reply": "Done.", "ok": True}), value({"tool": "w.find"}),
                     value({"name": "Bo"})],
        "verifier": [value({"done": True, "reason": "Yes.", "next": "bye"})],
    }  # fmt: skip
    return Server(*(item for kind in WORKERS for item in (all_three, *answers[kind])))


@pytest.mark.parametrize("user", ["ann@example.org", ""])
def test_every_call_is_told_who_talks(user: str, mark: str, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(FUNCTION)
    (tmp_path / "state_own.py").write_text(OWN)
    with web("fine") as http, model() as server:
        tools = {"s": good(mark), "w": {"url": http.url}, "p": {"python": "mine:greet"}}
        path = tmp_path / "g.yaml"
        path.write_text(f"tools: {json.dumps(tools)}\n{GRAPH.lstrip()}")
        words = ["chat", str(path), "--model", "m", "--base-url", server.url, "--json", "--force"]
        words += ["--allow-tools", "all", "--allow-plugins"]
        environment = {**os.environ, "STATECLI_DATA": str(tmp_path / "data")}
        done = command(
            *words, *(["--user-id", user] if user else []), stdin=b"hi\n", env=environment
        )
        assert done.returncode == 0, done.stderr
        over_http = [call["params"].get("_meta", {}).get("user_id") for call in http.calls()]
    events = [json.loads(line) for line in done.stdout.decode().splitlines()]
    called = [event for event in events if event["event"] == "called"]
    made: dict[str, list[str]] = {}
    for event in called:
        made.setdefault(event["body"]["state"], []).append(event["body"]["tool"])
    three = ["s.who", "w.find", "p"]
    assert made == dict.fromkeys((*WORKERS, "custom"), three) | {
        "chosen": ["w.find"],
        "fixed": ["p"],
    }
    assert {event["body"].get("user", "") for event in called} == {user}
    assert set(over_http) == {user or None}
    assert len(over_http) == 7
    given = [str(e["body"]["result"]) for e in events if e["event"] == "returned"]
    assert len(given) == len(called) == 20
    if user:
        assert all(user in result for result in given), given
    else:
        assert not any("@" in result for result in given), given
