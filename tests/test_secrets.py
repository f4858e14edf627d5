"""A key of the person is nowhere but on its way to its server: not in a file, an event, a message
or a traceback, whoever says it. Everything that is written and shown during a run is searched."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from openai_server import Answer, Server, calls, text, value
from run_cli import command
from scripted import World, call, play
from served import FAKE
from tmux import TMUX, Terminal
from toolservers import bad, gone, good

from statecli.llm.scrub import HIDDEN, Veil, known_secrets
from statecli.model.event import Returned
from statecli.model.ports import ToolResult, ToolSpec
from statecli.model.snapshot import Messages

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")
#: A second one, with signs that JSON and addresses write otherwise.
OTHER = 'p"ss/word ÄÖ\\7'
GRAPH = """
initial: hear
fields: {found: {type: any}, noted: {type: any}, kept: {type: any}}
states:
  hear: {type: user, transition: {next: [answer]}}
  answer: {type: agent, prompt: "Help {noted}.", reads: [noted], tools: [s, p, broken],
    transition: {next: [ask]}}
  ask: {type: user, writes: [noted], transition: {next: [look]}}
  look: {type: tool, tool: s.environment, arguments: {name: FAKE_KEY}, writes: [found],
    transition: {next: [fetch]}}
  fetch: {type: tool, tool: s.weather, arguments: {town: "{noted}"}, writes: [kept],
    on_error: own, transition: {next: [own]}}
  own: {type: leaky, transition: {next: [hear]}}
"""
PLUGIN = """
import os
from statecli.arkos import register_state, AIMessage

@register_state("leaky")
async def run(context, agent):
    found = await agent.tool_manager.call_tool("environment", {"name": "FAKE_KEY"})
    try:
        await agent.tool_manager.call_tool("fail", {"why": os.environ["FAKE_KEY"]})
    except Exception as error:
        await agent.call_llm([*context, AIMessage(content=f"{found} and {error}")])
    if "boom" in str(context):
        raise RuntimeError(os.environ["FAKE_KEY"])
    return {"noted": {"of": [found, os.environ["OTHER_SECRET"]]}}
"""
PYTHON = """
import os

def tell(what: str) -> dict:
    if what == "raise":
        raise ValueError(os.environ["FAKE_KEY"])
    return {os.environ["OTHER_SECRET"]: [os.environ["FAKE_KEY"]]}
"""


@pytest.fixture
def mark() -> Iterator[str]:
    found = uuid.uuid4().hex
    yield found
    assert gone(found) == []


def environment(folder: Path) -> dict[str, str]:
    return {
        **os.environ, "STATECLI_DATA": str(folder / "data"), "OPENAI_API_KEY": FAKE,
        "FAKE_KEY": FAKE, "OTHER_SECRET": OTHER, "STATECLI_MODEL": "",
    }  # fmt: skip


def written(folder: Path, mark: str) -> str:
    """The graph, with a server, a server that dies, and a function, all of which know the key."""
    known = {"MARK": mark, "FAKE_KEY": "${FAKE_KEY}", "OTHER_SECRET": "${OTHER_SECRET}"}
    tools: dict[str, Any] = {
        "s": {**good(mark), "env": known},
        "p": {"python": "leaks:tell"},
        "broken": {**bad("leaks", mark), "env": known},
    }
    (folder / "leaks.py").write_text(PYTHON)
    (folder / "state_leaky.py").write_text(PLUGIN)
    path = folder / "g.yaml"
    path.write_text(f"tools: {json.dumps(tools)}\n{GRAPH.lstrip()}", encoding="utf-8")
    return str(path)


def brain(body: dict[str, Any]) -> Answer:
    """Asks every tool for the key, then says it: in text, in pieces, in calls, in errors."""
    said = str(body["messages"])
    if not body.get("tools"):
        return value({"reply": FAKE}) if "response_format" in body else text("Well, ", FAKE)
    made: int = sum(message["role"] == "tool" for message in body["messages"])
    steps: list[Answer] = [
        calls(("s_environment", {"name": "FAKE_KEY"}), ("s_weather", {"town": FAKE}), say=FAKE),
        calls(("s_fail", {"why": FAKE}), ("s_read", {"wrong": FAKE}), (f"no_{FAKE}", {})),
        calls(("p", {"what": "raise"}), ("p", {"what": "x"}), ("s_add", f"{{{FAKE}")),
        calls(("broken_do", {"what": FAKE})),
        text("It is ", FAKE[:9], FAKE[9:], ".") if "dead" not in said else text("?"),
    ]
    return steps[min((made + 2) // 3, 4)] if made < 9 else steps[3 + (made > 9)]


def nowhere(*shown: bytes | str) -> None:
    """Neither key is in what was shown, as it is or as JSON and addresses write it."""
    from urllib.parse import quote

    forms = {w for key in (FAKE, OTHER) for w in (key, json.dumps(key)[1:-1], quote(key))}
    forms |= {json.dumps(key, ensure_ascii=False)[1:-1] for key in (FAKE, OTHER)}
    for part in shown:
        data = part.encode() if isinstance(part, str) else part
        for form in forms:
            assert form.encode() not in data, data[max(0, data.find(form.encode()) - 300) :][:700]


def nowhere_in(folder: Path, *apart: str) -> set[str]:
    """No file below the folder has a key; the names of all."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.name not in apart]
    for file in files:
        nowhere(file.read_bytes(), str(file))
    return {file.name for file in files}


@pytest.mark.parametrize("end", ["", "boom "])
def test_piped(end: str, mark: str, tmp_path: Path) -> None:
    """Tool results, structured ones, errors of tools, what a dying server printed, functions,
    custom kinds, what the person types, a file of the record, a trace, JSON and an export."""
    path = written(tmp_path, mark)
    lines = f"{end}my key is {FAKE}\n{FAKE} {OTHER}\nagain\n".encode()
    given = ("--allow-tools", "all", "--allow-plugins", "--task-id", "t", "--debug", "--input",
             f"kept={OTHER}", "--input", f"found={FAKE}")  # fmt: skip
    files = ("--record", str(tmp_path / "r.yaml"), "--trace", str(tmp_path / "t.jsonl"))
    env = environment(tmp_path)
    with Server(brain=brain, lax=True) as server:
        where = ("--model", "openai:m", "--base-url", server.url)
        done = command("chat", path, *where, *given, *files, stdin=lines, env=env)
        json_ = command("chat", path, *where, *given[:3], "--json", stdin=lines, env=env)
        assert all(h["authorization"] == f"Bearer {FAKE}" for h in server.headers)
        nowhere(json.dumps(server.requests, ensure_ascii=False))
        tools = [m["content"] for r in server.requests for m in r["messages"]
                 if m["role"] == "tool"]  # fmt: skip
    assert {HIDDEN, "error: ValueError: ***"} <= set(tools)
    assert any("it said: licence ***" in told for told in tools), tools
    assert any('{"***": ["***"]}' in told for told in tools), tools
    shown = [command("sessions", *words, env=env) for words in (("list",), ("show", "t"),
             ("export", "t"), ("show", "t", "--json"))]  # fmt: skip
    for part in (done, json_, *shown):
        nowhere(part.stdout, part.stderr)
    assert b"my key is ***" in shown[2].stdout
    names = {json.loads(line)["event"] for line in shown[2].stdout.splitlines()}
    assert {"said", "called", "returned", "changed", "refused", "answered"} <= names
    assert {"r.yaml", "t.jsonl", "sessions.db"} <= nowhere_in(tmp_path)
    assert HIDDEN in (tmp_path / "r.yaml").read_text()


@pytest.mark.skipif(TMUX is None, reason="needs tmux")
def test_on_a_terminal(mark: str, tmp_path: Path) -> None:
    """What the commands show and write, the questions before a call, and the history of lines."""
    path = written(tmp_path, mark)
    env = environment(tmp_path)
    folder, env["STATECLI_DATA"] = tmp_path / "data", str(tmp_path / "data")
    with Server(brain=brain, lax=True) as server:
        words = ("chat", path, "--model", "openai:m", "--base-url", server.url, "--allow-plugins")
        more = {key: env[key] for key in ("OPENAI_API_KEY", "FAKE_KEY", "OTHER_SECRET")}
        with Terminal(folder, *words, columns=200, **more) as terminal:
            terminal.type(f"my key is {FAKE}")
            for _ in range(40):
                screen = "\n".join(terminal.screen())
                if "ask>" in screen:
                    break
                terminal.wait_for_prompt()
                terminal.type("always" if screen.rstrip().endswith("session)\n?") else "yes")
            terminal.type(FAKE)
            terminal.press("C-c")
            terminal.wait("stopped; what was said is kept")
            for line in (f"/set kept {FAKE}", "/data", "/history", "/trace 200", "/prompt", "/why",
                         "/tools", "/tools s", "/tools broken", f"/export {tmp_path}/e.jsonl",
                         f"/save {tmp_path}/s.yaml", "/state", "/routes"):  # fmt: skip
                terminal.type(line)
            terminal.press("C-d")
            assert terminal.code() == 0
            typed = ("hear> my key is", "ask> sk-", "> /set kept")
            screen = "\n".join(
                line for line in terminal.screen() if not any(word in line for word in typed)
            )
        nowhere(screen, json.dumps(server.requests, ensure_ascii=False))
    assert "licence ***" in screen
    assert {"history", "e.jsonl", "sessions.db"} <= nowhere_in(tmp_path)


# --- the parts ------------------------------------------------------------------------------------


def test_a_saved_conversation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from chatting import Chat

    monkeypatch.setenv("SHOP_TOKEN", OTHER)
    graph = "initial: a\nstates: {a: {type: user, transition: {next: [b]}}, b: {type: terminal}}\n"
    Chat(graph, f"it is {OTHER}", f"/save {tmp_path}/s.yaml", f"/export {tmp_path}/e.jsonl")
    assert nowhere_in(tmp_path) == {"s.yaml", "e.jsonl"}
    assert "it is ***" in (tmp_path / "s.yaml").read_text()


def test_the_text_of_a_graph_that_has_a_key_in_it(tmp_path: Path) -> None:
    path = tmp_path / "g.yaml"
    path.write_text(
        f"model: {{name: rules, api_key: {FAKE}}}\ninitial: a\nstates:\n"
        f"  a: {{type: user, prompt: '{FAKE}', transition: {{next: [b]}}}}\n"
        "  b: {type: terminal, message: Bye}\n"
    )
    env = environment(tmp_path)
    done = command("chat", path, "--force", "--task-id", "t", stdin=b"hi\n", env=env)
    assert done.returncode == 0, done.stderr
    nowhere(done.stdout, done.stderr)
    assert "sessions.db" in nowhere_in(tmp_path, "g.yaml")
    again = command("chat", path, "--force", "--model", f"openai:{FAKE}", stdin=b"hi\n", env=env)
    nowhere(again.stdout, again.stderr)


def test_a_fault_of_our_own(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    from statecli.cli import app, validate
    from statecli.model.unable import Unable

    monkeypatch.setenv("SHOP_TOKEN", OTHER)
    for error in (ZeroDivisionError(OTHER), Unable(f"no {OTHER}", f"set {OTHER}")):

        def broken(_: object, error: Exception = error) -> int:
            raise error

        monkeypatch.setattr(validate, "run", broken)
        for more in ([], ["--debug"]):
            assert app.main(["validate", *more, "x.yaml"]) == 2
            said = capsys.readouterr().err
            nowhere(said)
            assert HIDDEN in said


def test_the_model_that_calls_is_not_told_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the call is refused before it is sent, and where it is denied."""
    monkeypatch.setenv("SHOP_TOKEN", OTHER)
    graph = """
initial: a
tools: {t: {description: x}}
states: {a: {type: agent, tools: [t], transition: {next: [b]}}, b: {type: terminal}}
"""
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    world = World(
        [[call("t", n=OTHER)], [call("t", n=1)], "done"],
        tools=[ToolSpec("t", "", schema, "t")], results=[ToolResult(True, OTHER, {OTHER: OTHER})],
    )  # fmt: skip
    played = play(graph, world=world)
    assert OTHER not in str(played.bodies)
    assert played.of(Returned)[0].result == {HIDDEN: HIDDEN}


def test_what_counts_as_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    """Values of variables that are named so; words that people say are none."""
    for name, item in (("A_KEY", "password"), ("B_TOKEN", "CHANGEME"), ("C_SECRET", "short"),
                       ("D_KEY", "abcdefgh1"), ("E_PASSWORD", "correcthorsebattery"),
                       ("KEYBOARD", "qwertz-layout-1"), ("F_PASSWORD", "a b&c=d%e")):  # fmt: skip
        monkeypatch.setenv(name, item)
    found = known_secrets()
    assert {"abcdefgh1", "correcthorsebattery", "a b&c=d%e", "a%20b%26c%3Dd%25e"} <= set(found)
    assert not {"password", "CHANGEME", "short", "qwertz-layout-1"} & set(found)


def test_a_veil_takes_out_of_data_of_every_shape() -> None:
    veil = Veil(["secret-1", "secret-12"])
    found = veil.value({
        "secret-1": ["a secret-12", ("secret-1", 1), {"secret-1"}],
        "m": Messages([{"role": "user", "content": "it is secret-1!"}]), "n": None, "b": b"x",
    })  # fmt: skip
    assert found == {
        HIDDEN: ["a ***", (HIDDEN, 1), {HIDDEN}],
        "m": Messages([{"role": "user", "content": "it is ***!"}]), "n": None, "b": b"x",
    }  # fmt: skip
    assert isinstance(found["m"], Messages)
    clean = {"a": [1, {"b": ("c",)}], "m": Messages([{"x": 1}])}
    assert veil.value(clean) is clean, "nothing is copied where nothing is secret"
    assert not Veil([])
