"""Whole runs with a model on a server: plans that people published, the planner example, budgets,
recordings; and that a key goes nowhere but to its server."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from chatting import Chat
from openai_server import Answer, Server, calls, cut, echo, status, text, value
from plan_brain import plan_brain
from run_cli import CASES, REPOSITORY, Result, run
from served import FAKE, served
from tmux import TMUX, Terminal

from statecli.cli.models import named
from statecli.load.loader import load
from statecli.model.event import Answered, Called, Failed, Limited, Refused
from statecli.model.graph import Graph
from statecli.text.conversation import read

PLANS = [
    path
    for path in sorted((CASES / "plan-files").glob("*.json"))
    if "_state_" not in path.name and "_transition" not in path.name and "config" not in path.name
]
OWN = [REPOSITORY / "graphs" / name for name in ("intake.yaml", "triage.yaml", "coaching.json")]
TALK = """
initial: hear
states:
  hear: {type: user, transition: {next: [answer]}}
  answer:
    type: agent
    prompt: Help.
    transition: {next: [{to: bye, description: They are done}, {to: hear, description: Go on}]}
  bye: {type: terminal, message: Goodbye.}
"""


def graph_at(path: Path) -> Graph:
    graph = load(str(path), path.read_text(encoding="utf-8")).graph
    assert graph is not None
    return graph


def chat(folder: Path, graph: str | Path, *args: str, stdin: str = "", **env: str) -> Result:
    """`statecli chat` in this process, with its data below a folder."""
    given = {"STATECLI_DATA": str(folder / "data"), "STATECLI_MODEL": "", "STATECLI_BASE_URL": ""}
    before = {name: os.environ.get(name) for name in (*given, *env)}
    os.environ.update(given | env)
    try:
        return run("chat", graph, *args, stdin=stdin)
    finally:
        for name, item in before.items():
            if item is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = item


def written(folder: Path, text_: str, name: str = "g.yaml") -> Path:
    path = folder / name
    path.write_text(text_, encoding="utf-8")
    return path


# --- plans ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [*PLANS, *OWN], ids=lambda path: path.name)
def test_a_real_plan_is_worked_through_by_its_tools(path: Path) -> None:
    graph = graph_at(path)
    with Server(brain=plan_brain) as server:
        played = Chat(graph, *(f"this is my line {n}" for n in range(60)), provider=served(server))
        assert played.talk.snapshot.status == "ended"
        events = [event.body for event in played.store.events(played.talk.session.run)]
        assert not [body for body in events if isinstance(body, Failed | Limited | Refused)]
        assert played.data.keys() - {"messages"}, "values were collected"


def test_a_goal_is_closed_only_with_a_quote_of_the_person() -> None:
    """The second call gets nothing but the goal and this visit, and invents a quote: refused."""
    graph = """
states:
  - id: explore
    title: Explore
    type: goal
    goal: {objective: Understand the day, success_description: We know the morning}
  - {id: after, title: After, tasks: [{id: t, description: d}]}
"""
    close = calls(("close_goal", {"outcome": "achieved", "quote": "I get up early"}))
    lie = value({"agree": True, "quote": "I never said that", "reason": "sure"})
    good = value({"agree": True, "quote": "I get up early!", "reason": "said so"})
    answers = [text("How is your morning?"), close, lie, close, good, text("I see.")]
    with Server(*answers) as server:
        played = Chat(graph, "I get up early.", provider=served(server))
        assert played.state == "after"
        check = server.requests[2]
        assert [m["role"] for m in check["messages"]] == ["user"]
        assert "Reached when: We know the morning" in check["messages"][0]["content"]
        assert "tools" not in check
        assert "is not in what the person said" in server.requests[3]["messages"][-1]["content"]


def test_the_second_look_may_have_a_model_of_its_own() -> None:
    from served import target

    graph = OWN[2].read_text(encoding="utf-8")
    with Server(brain=plan_brain) as server, Server(brain=plan_brain) as judge:
        goals = [s.name for s in graph_at(OWN[2]).states.values() if s.kind == "goal"]
        provider = served(server, checks={name: target(judge) for name in goals})
        Chat(load("g.json", graph).graph or "", *["my line here"] * 30, provider=provider)
        assert judge.requests
        assert all("Judge whether" in r["messages"][0]["content"] for r in judge.requests)
        assert not any("Judge whether" in r["messages"][0]["content"] for r in server.requests)


# --- planner, executor, verifier ------------------------------------------------------------------


def test_the_planner_example_from_the_wish_to_the_end(tmp_path: Path) -> None:
    """graphs/planner.yaml: permission first, two steps with tools (whose results the person types),
    the verdict, a skill, the end."""
    plan = {"steps": ["Find a date", "Write the letter"], "needs_permission": True}
    agreed = {**plan, "needs_permission": False}
    answers: list[Answer] = [
        text("A party, good."), value({"next_state": "draft_plan"}), value(plan),
        text("Then let us go."), value({"next_state": "draft_plan"}), value(agreed),
        value({"next_state": "carry_out_step"}),
        calls(("calendar", {"day": "Sunday"}), ("documents", {})),
        text('{"reply": "Sunday is free.", "ok": true}'),
        calls(("documents", '{"name": ')),
        calls(("documents", {"name": "letter.md"}), say="I write it now."),
        text("The letter is written."), value({"reply": "Written.", "ok": True}),
        value({"done": True, "reason": "Both steps are done.", "next": "talk_it_over"}),
        text("All arranged."), value({"next_state": "learn_recipe"}),
        value({"name": "Street permit", "text": "# How to ask for a permit\n\nWrite a letter."}),
        value({"next_state": "talk_it_over"}),
        text("Bye then."), value({"next_state": "hand_over"}),
    ]  # fmt: skip
    lines = ["We want a street party", "Yes, do", "Sunday is free", "none", "written", "yes"]
    with Server(*answers) as server:
        played = Chat(
            graph_at(REPOSITORY / "graphs" / "planner.yaml"), *lines,
            provider=served(server), skills=tmp_path / "skills",
        )  # fmt: skip
        assert server.answers == []
        assert played.talk.snapshot.status == "ended"
        assert played.data["plan_step"] == 2
        bodies = [event.body for event in played.store.events(played.talk.session.run)]
        called = [(body.tool, body.arguments) for body in bodies if isinstance(body, Called)]
        assert called == [
            ("calendar", {"day": "Sunday"}), ("documents", {}),
            ("documents", {"name": "letter.md"}),
        ]  # fmt: skip
        refused = [body for body in bodies if isinstance(body, Refused)]
        assert refused[0].reason.startswith("the arguments are not JSON")
        said = [body.text for body in bodies if isinstance(body, Answered)]
        assert "The letter is written." in said
        assert "Both steps are done." in said
        assert (tmp_path / "skills" / "street-permit.md").read_text().startswith("# How to ask")
        step = next(r for r in server.requests if r.get("tools"))
        assert "Carry out this step of the plan now" in step["messages"][-1]["content"]
        assert "1. Find a date\n2. Write the letter" in step["messages"][-1]["content"]


@pytest.mark.parametrize(("said", "done"), [('{"ok": false, "reply": "x"}', 0), ("Hm.", 0)])
def test_a_step_that_is_not_said_to_have_worked_has_failed(said: str, done: int) -> None:
    graph = """
initial: plan
tools: {clock: {description: Tells the time}}
states:
  plan: {type: planner, transition: {next: [work]}}
  work: {type: executor, tools: [clock], transition: {next: [work, bye]}}
  bye: {type: terminal}
"""
    plan = value({"steps": ["one"], "needs_permission": False})
    with Server(plan, text("I looked."), text(said)) as server:
        played = Chat(graph, provider=served(server))
        assert played.data["plan_step"] == done
        assert played.talk.snapshot.status == "ended"
        assert any("(failed)" in line for line in played.seen)


# --- on the command line --------------------------------------------------------------------------


def test_budgets_from_the_command_line(tmp_path: Path) -> None:
    path = written(tmp_path, TALK)
    config = written(
        tmp_path, 'model = {name = "m", prices = {input = 1000, output = 1000}}', "statecli.toml"
    )
    assert config.exists()

    def brain(body: dict[str, Any]) -> Answer:
        return value({"next_state": "hear"}) if "response_format" in body else text("Hi.")

    for option, given, limit, asked in (
        ("--budget-tokens", "30", "max_tokens: 30 of 30 tokens", 2),
        ("--budget-tokens", "31", "max_tokens: 60 of 31 tokens", 4),
        ("--budget-cost", "0.03", "max_cost: 0.03 of 0.03 is spent", 2),
        ("--max-steps", "1", "", 6),
    ):
        with Server(brain=brain) as server:
            result = chat(tmp_path, path, option, given, "--base-url", server.url, "--store",
                          "memory", stdin="a\nb\nc\n")  # fmt: skip
            assert limit in result.err
            assert len(server.requests) == asked if not limit else len(server.requests) >= asked
            if limit:
                assert result.code in (0, 1)
    with Server(text("I th", "ink", hang=30, hang_after=1)) as server:
        result = chat(tmp_path, path, "--timeout", "3", "--base-url", server.url, "--store",
                      "memory", stdin="a\n")  # fmt: skip
        assert result.code == 1
        assert "stopped by a limit, timeout: 3 seconds at work" in result.err
        assert "I th [cut off]" in result.out


def test_a_budget_of_money_without_prices_is_told(tmp_path: Path) -> None:
    path = written(tmp_path, TALK)
    with Server(brain=echo) as server:
        where = ("--model", "m", "--base-url", server.url, "--store", "memory")
        result = chat(tmp_path, path, *where, "--budget-cost", "1", stdin="a\n")
        assert "no price of m is known, so max_cost counts only what the server says" in result.err
        assert "no price" not in chat(tmp_path, path, *where, stdin="a\n").err
        priced = written(tmp_path, f"model: {{prices: {{input: 1, output: 1}}}}\n{TALK}", "p.yaml")
        result = chat(tmp_path, priced, *where, "--budget-cost", "1", stdin="a\n")
        assert "no price" not in result.err


def test_limited_is_resumable(tmp_path: Path) -> None:
    path = written(tmp_path, TALK)
    back = [text("Hi."), value({"next_state": "hear"})]
    with Server(*back, *back, *back) as server:
        where = ("--model", "m", "--base-url", server.url)
        first = chat(
            tmp_path, path, *where, "--budget-tokens", "20", "--task-id", "t", stdin="a\nb\n"
        )
        assert first.code == 1
        assert first.err.splitlines()[-1].endswith(f"--resume t --model m --base-url {server.url}")
        again = chat(tmp_path, path, *where, "--resume", "t", stdin="c\n")
        assert again.code == 0
        assert [m["content"] for m in server.requests[-2]["messages"] if m["role"] == "user"] == [
            "a", "b\n\nc"]  # fmt: skip


def test_the_exit_code_and_the_events_of_a_run_that_failed(tmp_path: Path) -> None:
    path, trace = written(tmp_path, TALK), tmp_path / "t.jsonl"
    with Server(cut("Well, ")) as server:
        result = chat(tmp_path, path, "--model", "m", "--base-url", server.url, "--json", "--trace",
                      str(trace), stdin="a\n")  # fmt: skip
    assert result.code == 1
    rows = [json.loads(line) for line in result.out.splitlines()]
    assert [row["event"] for row in rows[-3:]] == ["spent", "answered", "failed"]
    assert rows[-2]["body"]["partial"] is True
    assert trace.read_text() == result.out
    shown = run_sessions(tmp_path, "show", rows[0]["run"])
    assert "Well,  (cut off)" in shown.out


def run_sessions(folder: Path, *words: str) -> Result:
    before = os.environ.get("STATECLI_DATA")
    os.environ["STATECLI_DATA"] = str(folder / "data")
    try:
        return run("sessions", *words)
    finally:
        os.environ.pop("STATECLI_DATA")
        if before is not None:
            os.environ["STATECLI_DATA"] = before


def test_sessions_show_the_choices_with_their_attempts(tmp_path: Path) -> None:
    path = written(tmp_path, TALK)
    answers = [text("Hi."), text("green"), text("blue"), status(500), text("Ho."),
               value({"next_state": "bye"})]  # fmt: skip
    with Server(*answers) as server:
        where = ("--model", "m", "--base-url", server.url, "--task-id", "t")
        assert chat(tmp_path, path, *where, stdin="a\nb\n").code == 0
    shown = run_sessions(tmp_path, "show", "t").out
    assert "tokens  75 (50 in, 25 out) for 5 answers, sent 6 times" in shown
    assert "model   m\n" in shown
    assert "states  hear 2, answer 2, bye 1" in shown
    assert ("chose hear of bye, hear, the only one that waits, since the model named none of them "
            "(asked 2 times: 'green'; 'blue')") in shown  # fmt: skip
    assert "chose bye of bye, hear, as the model chose" in shown
    data = json.loads(run_sessions(tmp_path, "show", "t", "--json").out)
    assert data["spent"]["tokens"] == 75
    assert [(c["by"], c["answers"]) for c in data["choices"]] == [
        ("fallback", ["green", "blue"]), ("model", ['{"next_state": "bye"}'])]  # fmt: skip


def test_models_of_states_and_second_looks_from_the_graph(tmp_path: Path) -> None:
    """Their own names, addresses and settings; `--model` takes the place of all names."""
    with Server(brain=echo) as first, Server(brain=echo) as second:
        graph = TALK.replace(
            "prompt: Help.", f'model: {{name: other, base_url: "{second.url}", seed: 3}}\n'
            "    prompt: Help.",
        )  # fmt: skip
        graph += "  goal: {type: goal, goal: {objective: x}, transition: {next: [bye]}}\n"
        path = written(tmp_path, f"model: {{name: main, temperature: 1, check: judge}}\n{graph}")
        env = {"STATECLI_BASE_URL": first.url}
        result = chat(tmp_path, path, "--force", stdin="hi\n", **env)
        assert result.out.splitlines()[0] == (
            f"model: main at {first.url}, from the graph, other in 'answer'"
        )
        assert first.requests == []
        assert [(r["model"], r["seed"], r["temperature"]) for r in second.requests] == [
            ("other", 3, 1)] * 2  # fmt: skip
        result = chat(tmp_path, path, "--force", "--model", "mine", stdin="hi\n", **env)
        assert {r["model"] for r in second.requests[2:]} == {"mine"}
        assert first.requests == [], "the address of a state stays with it"
        url = ("--base-url", first.url)
        chat(tmp_path, path, "--force", "--model", "mine", *url, stdin="hi\n", **env)
        assert {r["model"] for r in first.requests} == {"mine"}


def test_a_state_cannot_have_a_model_that_plays_whole_graphs(tmp_path: Path) -> None:
    path = written(tmp_path, TALK.replace("prompt: Help.", "model: rules\n    prompt: Help."))
    result = chat(tmp_path, path, stdin="hi\n", STATECLI_MODEL="m", OPENAI_API_KEY=FAKE)
    assert result.code == 2
    assert "'rules', from 'answer' in the graph, plays whole graphs" in result.err


def test_without_the_package_the_way_out_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import importlib.util

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    result = chat(tmp_path, written(tmp_path, TALK), "--model", "ollama:x", stdin="hi\n")
    assert result.code == 2
    assert "needs the package openai" in result.err
    assert "pip install 'statecli[llm]'" in result.err


@pytest.mark.parametrize(
    "code",
    [
        "import statecli",
        "import statecli; statecli.Run; statecli.load",
        "from statecli.cli.app import main; main(['validate', 'graphs'])",
        "from statecli.cli.app import main; main(['chat', 'graphs/greeting.yaml'])",
        "from statecli.cli.app import main; main(['chat', TOOLS, '--model', 'rules'])",
    ],
)
def test_nothing_else_loads_a_client(code: str, tmp_path: Path) -> None:
    named = "TOOLS = 'graphs/chat_with_tools.yaml'; "
    shown = "; import sys; print(sorted({m.split('.')[0] for m in sys.modules}))"
    out = subprocess.run(
        [sys.executable, "-c", named + code + shown], capture_output=True, text=True, check=True,
        input="hi\n1\n", cwd=REPOSITORY,
        env={**os.environ, "STATECLI_DATA": str(tmp_path), "STATECLI_MODEL": ""},
    ).stdout  # fmt: skip
    for heavy in ("openai", "httpx", "httpx2", "pydantic", "mcp"):
        assert f"'{heavy}'" not in out


def test_a_run_from_python() -> None:
    import statecli
    from statecli.llm.openai_compatible import model

    graph = load("g.yaml", TALK).graph
    assert graph is not None
    with Server(brain=echo) as server:
        provider = model("openai:test", server.url, temperature=0)
        run_ = statecli.Run(graph, provider=provider)
        run_.run(halt_after=["answer"], inputs={"line": "hi"})
        assert run_.data["messages"][-1]["content"] == "You said: hi"
        from statecli.session.drive import finished

        finished(provider.aclose(), waits=True)


# --- recordings -----------------------------------------------------------------------------------

WORK = """
initial: hear
fields: {intent: {type: enum, values: [go, stop]}, zone: {type: str}}
tools: {clock: {description: Tells the time}}
states:
  hear: {type: user, transition: {next: [find]}}
  find: {type: agent, prompt: Find out., writes: [intent],
    transition: {next: [{to: look, when: {intent: go}}, hear]}}
  look: {type: tool, tools: [clock], writes: [zone], on_error: hear, transition: {next: [pick]}}
  pick: {type: decision, on_invalid: hear,
    transition: {next: [{to: bye, description: End}, {to: find, description: More}]}}
  bye: {type: terminal, message: Goodbye.}
"""


@pytest.mark.parametrize("name", ["rec.yaml", "rec.jsonl"])
def test_a_recording_plays_again_whatever_the_model_did(name: str, tmp_path: Path) -> None:
    """Repairs, refusals, answers that broke off and wrong choices are played as they happened."""
    path, file = written(tmp_path, WORK), tmp_path / name
    answers = [
        value({"reply": "Hm.", "intent": "nonsense"}), value({"reply": "Well.", "intent": None}),
        cut('{"reply": "So'),
        text("no JSON at all"), value({"reply": "Off\nwe go.", "intent": "go"}),
        text("[1]"), value({"zone": "UTC"}), text("nowhere"), text("{}"),
        value({"reply": "Again.", "intent": "go"}), value({}), value({"next_state": "bye"}),
    ]  # fmt: skip
    lines = "one\ntwo\nthree\nten o'clock\nfour\nerror: broken\nfive\nx\n"
    with Server(*answers) as server:
        first = chat(tmp_path, path, "--model", "m", "--base-url", server.url, "--record",
                     str(file), "--task-id", "a", stdin=lines)  # fmt: skip
        assert not [r for r in server.requests if "no answer left" in str(r)]
    recorded = read(str(file), file.read_bytes())
    usage = [reply.items.get("usage") for turn in recorded.turns for reply in turn.replies]
    assert {"input": 10, "output": 5} in usage
    again = chat(tmp_path, path, "--model", f"replay:{file}", "--task-id", "b")
    played = [line for line in again.out.splitlines() if not line.startswith((">", "model"))]
    assert played == [line for line in first.out.splitlines() if not line.startswith("model")
                      and not line.startswith(("You play", "What does", "Sorry"))]  # fmt: skip


def test_a_request_that_differs_from_the_recorded_one(tmp_path: Path) -> None:
    path, file = written(tmp_path, TALK), tmp_path / "rec.yaml"
    with Server(brain=echo) as server:
        chat(tmp_path, path, "--model", "m", "--base-url", server.url, "--record", str(file),
             stdin="hi\n")  # fmt: skip
    changes = {
        ("Help.", "Help them."): ["-Help.", "+Help them."],
        ("They are done", "It is over"): ["-- bye: They are done", "+- bye: It is over"],
        ("{to: hear, description: Go on}]", "{to: hear, description: Go on}, wait]"): ["+- wait"],
    }
    for (old, new), rows in changes.items():
        wait = "  wait: {type: user, transition: {next: [answer]}}\n" if "wait" in new else ""
        other = written(tmp_path, TALK.replace(old, new) + wait, "other.yaml")
        result = chat(tmp_path, other, "--model", f"replay:{file}")
        assert result.code == 1
        assert "'answer' asks otherwise than it was recorded" in result.err
        for row in rows:
            assert row in result.err.splitlines()


def test_a_recording_that_ends(tmp_path: Path) -> None:
    """What no file can say ends it; it is not written over with something that cannot be played."""
    file = tmp_path / "rec.yaml"
    with Server(brain=echo) as server:
        from statecli.chat.record import Record

        played = Chat(TALK.replace("bye,", "hear,"), provider=served(server))
        record = Record(played.talk, str(file))
        before = file.read_text()
        played.talk.recording.gap = "a field was set with /set"
        record.write()
        record.write()
        assert file.read_text() == before
        assert [line for line in played.seen if "ends here" in line] == [
            f"{file} ends here: a field was set with /set"
        ]
    missing = chat(tmp_path, written(tmp_path, TALK), "--record", str(tmp_path / "no" / "r.yaml"))
    assert missing.code == 2
    assert "there is no folder" in missing.err


def test_replay_needs_no_network(tmp_path: Path) -> None:
    path, file = written(tmp_path, TALK), tmp_path / "rec.yaml"
    with Server(brain=echo) as server:
        chat(tmp_path, path, "--model", "m", "--base-url", server.url, "--record", str(file),
             stdin="hi\n")  # fmt: skip
    code = (
        "import sys; from statecli.cli.app import main; "
        f"code = main(['chat', {str(path)!r}, '--model', {f'replay:{file}'!r}]); "
        "print(sorted({m.split('.')[0] for m in sys.modules}), code)"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=REPOSITORY,
        env={**os.environ, "STATECLI_DATA": str(tmp_path / "data")},
    ).stdout  # fmt: skip
    assert "Goodbye." in out
    for heavy in ("openai", "httpx", "httpx2", "pydantic", "mcp"):
        assert f"'{heavy}'" not in out


def test_named_finds_replays(tmp_path: Path) -> None:
    file = written(
        tmp_path, "turns:\n  - {say: hi, replies: [reply: Hello, choice: bye]}\n", "c.yaml"
    )
    assert named(f"replay:{file}").label == f"replay {file}"
    assert "Goodbye." in Chat(TALK, provider=named(f"replay:{file}")).seen


# --- keys -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("debug", [(), ("--debug",)])
def test_a_key_goes_to_its_server_and_nowhere_else(tmp_path: Path, debug: tuple[str, ...]) -> None:
    """Everything that is written during a run, and everything that is printed, without the key:
    the server says it aloud, quotes it in errors, and the person pastes it."""
    path = written(tmp_path, WORK)
    leak = {"reply": f"Your key is {FAKE}.", "intent": "go"}
    answers = [
        status(500, f"bad key {FAKE}"), value(leak), status(401, f"Incorrect API key: {FAKE}"),
        value({"reply": "Again.", "intent": None}), status(400, f"{FAKE} is no good"),
        status(422, FAKE), text(f"no JSON, but {FAKE}"), value({"reply": "x", "intent": "stop"}),
        cut(f'{{"reply": "Bearer {FAKE}'), text(FAKE), text(FAKE),
    ]  # fmt: skip
    with Server(*answers, brain=Answer(status=500, raw=FAKE, content_type="text/html")) as server:
        given = ("--model", "openai:m", "--base-url", server.url, "--task-id", "t", *debug)
        files = ("--record", str(tmp_path / "r.yaml"), "--trace", str(tmp_path / "t.jsonl"))
        lines = "one\ntwo\nthree\nfour\nfive\n"
        result = chat(tmp_path, path, *given, *files, stdin=lines, OPENAI_API_KEY=FAKE)
        assert any(FAKE in headers["authorization"] for headers in server.headers)
    shown = run_sessions(tmp_path, "show", "t"), run_sessions(tmp_path, "export", "t")
    for part in (result.out, result.err, *(item.out for item in shown)):
        assert FAKE not in part
    assert "***" in result.out
    kept = [file for file in tmp_path.rglob("*") if file.is_file() and file != path]
    assert {"r.yaml", "t.jsonl", "sessions.db"} <= {file.name for file in kept}
    for file in kept:
        assert FAKE.encode() not in file.read_bytes(), file


def test_a_password_in_an_address_is_not_told(tmp_path: Path) -> None:
    path = written(tmp_path, TALK)
    with Server(status(401), brain=echo) as server:
        url = server.url.replace("http://", "http://me:my-own-password-1@")
        result = chat(tmp_path, path, "--model", "m", "--base-url", f"{url}?key=other", stdin="a\n")
        assert result.code == 1
        assert f"--base-url {server.url}" in result.err
        assert "does not take the key (401)" in result.err
        assert "own-password" not in result.out + result.err
        assert "other" not in result.out + result.err


def test_a_recording_keeps_no_secret_that_the_person_types(tmp_path: Path) -> None:
    path, file = written(tmp_path, TALK), tmp_path / "r.yaml"
    with Server(brain=echo) as server:
        other = FAKE[::-1].replace("-ks", "") + "0"
        chat(tmp_path, path, "--model", "m", "--base-url", server.url, "--record", str(file),
             stdin=f"my key is sk-{other}, and my-own-password-1 too\n",
             SHOP_PASSWORD="my-own-password-1")  # fmt: skip
        assert f"my key is sk-{other}, and *** too" in str(server.requests), "it looks like one"
    kept = file.read_text()
    assert other not in kept
    assert "my-own-password-1" not in kept
    assert "my key is ***, and *** too" in kept
    again = chat(tmp_path, path, "--model", f"replay:{file}")
    assert again.code == 0


# --- a stranger's graph ---------------------------------------------------------------------------


def hostile(server: Server, more: str = "") -> str:
    """A graph with an address of its own, on a machine that is not this one by name."""
    url = f"http://0.0.0.0:{server.port}/v1"
    return f'model: {{name: m, base_url: "{url}"{more}}}\n{TALK.lstrip()}'


def test_a_stranger_s_address_sees_nothing_without_a_yes(tmp_path: Path) -> None:
    with Server(brain=echo) as server:
        path = written(tmp_path, hostile(server))
        result = chat(tmp_path, path, stdin="hi\n", OPENAI_API_KEY=FAKE)
        assert result.code == 2
        assert "your OPENAI_API_KEY would be sent to http://0.0.0.0" in result.err
        assert "STATECLI_TRUST=0.0.0.0" in result.err
        result = chat(tmp_path, path, "--model", "mine", stdin="hi\n", OPENAI_API_KEY=FAKE)
        assert result.code == 2, "its address does not come with another name either"
        assert server.requests == []
        result = chat(tmp_path, path, stdin="hi\n", OPENAI_API_KEY=FAKE, STATECLI_TRUST="0.0.0.0")
        assert result.code == 0
        assert server.headers[0]["authorization"] == f"Bearer {FAKE}"


def test_a_config_in_the_folder_of_a_graph_is_a_stranger_s_too(tmp_path: Path) -> None:
    with Server(brain=echo) as server:
        folder = tmp_path / "repo"
        folder.mkdir()
        path = written(folder, TALK)
        settings = f'model = {{name = "m", base_url = "http://0.0.0.0:{server.port}/v1"}}\n'
        config = written(folder, settings, "statecli.toml")
        for more in ((), ("--config", str(config))):
            assert chat(tmp_path, path, *more, stdin="hi\n", OPENAI_API_KEY=FAKE).code == 2
        assert server.requests == []
        mine = written(tmp_path / "repo", settings, "mine.toml")
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        mine.rename(elsewhere / "mine.toml")
        given = ("--config", str(elsewhere / "mine.toml"))
        assert chat(tmp_path, path, *given, stdin="hi\n", OPENAI_API_KEY=FAKE).code == 0
        assert server.headers[0]["authorization"] == f"Bearer {FAKE}"


def test_the_person_s_own_config(tmp_path: Path) -> None:
    with Server(brain=echo) as server:
        path = written(tmp_path, hostile(server))
        own = tmp_path / "data" / "config.toml"
        own.parent.mkdir()
        own.write_text('trust = ["0.0.0.0"]\n')
        assert chat(tmp_path, path, stdin="hi\n", OPENAI_API_KEY=FAKE).code == 0
        plain = written(tmp_path, TALK, "plain.yaml")
        own.write_text(f'model = {{name = "mine", base_url = "{server.url}"}}\n')
        result = chat(tmp_path, plain, stdin="hi\n")
        assert result.out.startswith(f"model: mine at {server.url}, from ")
        own.write_text("trust = 1\n")
        assert "config.toml:1: 'trust' must be a list" in chat(tmp_path, plain, stdin="hi\n").err


def test_this_machine_gets_no_key_from_a_stranger(tmp_path: Path) -> None:
    with Server(brain=echo) as server:
        path = written(tmp_path, hostile(server).replace("0.0.0.0", "127.0.0.1"))
        assert chat(tmp_path, path, stdin="hi\n", OPENAI_API_KEY=FAKE).code == 0
        assert len(server.requests) == 2
        assert FAKE not in str(server.headers)


def test_a_graph_cannot_choose_which_secret_goes_out(tmp_path: Path) -> None:
    with Server(brain=echo) as server:
        path = written(tmp_path, hostile(server, ', api_key: "${SHOP_PASSWORD}"'))
        env = {"SHOP_PASSWORD": "my-own-password-1", "STATECLI_TRUST": "0.0.0.0"}
        result = chat(tmp_path, path, stdin="hi\n", **env)
        assert result.code == 2
        assert "your SHOP_PASSWORD would be sent" in result.err
        local = written(tmp_path, path.read_text().replace("0.0.0.0", "127.0.0.1"), "l.yaml")
        assert chat(tmp_path, local, stdin="hi\n", **env).code == 0
        assert "my-own-password" not in str(server.headers)


def test_a_state_cannot_smuggle_an_address_in(tmp_path: Path) -> None:
    with Server(brain=echo) as server:
        url = f"http://0.0.0.0:{server.port}/v1"
        graph = TALK.replace("prompt: Help.", f'model: {{base_url: "{url}"}}\n    prompt: Help.')
        path = written(tmp_path, graph)
        result = chat(tmp_path, path, stdin="hi\n", OPENAI_API_KEY=FAKE, STATECLI_MODEL="m")
        assert result.code == 2
        assert "an address from 'answer' in the graph" in result.err
        assert server.requests == []


# --- on a terminal --------------------------------------------------------------------------------


@pytest.mark.skipif(TMUX is None, reason="needs tmux")
def test_a_stranger_s_address_is_asked_about_once(tmp_path: Path) -> None:
    with Server(brain=echo) as server:
        path = written(tmp_path, hostile(server))
        env: dict[str, Any] = {"OPENAI_API_KEY": FAKE}
        for key, code in (("C-d", 2), ("C-c", 130)):
            with Terminal(tmp_path / "no", "chat", str(path), columns=300, **env) as terminal:
                terminal.wait_for_prompt()
                terminal.press(key)
                assert terminal.code() == code, terminal.screen()
                assert not any("fault" in line for line in terminal.screen())
        for answer, code in (("no", 2), ("", 2)):
            with Terminal(tmp_path / "no", "chat", str(path), columns=300, **env) as terminal:
                if answer:
                    terminal.wait("Is that all right? (yes or no)")
                    terminal.type(answer)
                assert terminal.code() == code
                assert any("you said no to" in line for line in terminal.screen())
        assert server.requests == []
        with Terminal(tmp_path / "yes", "chat", str(path), columns=300, **env) as terminal:
            terminal.type("yes")
            terminal.type("hi")
            terminal.wait("Goodbye.")
        with Terminal(tmp_path / "yes", "chat", str(path), columns=300, **env) as terminal:
            terminal.wait("hear>")
        assert FAKE in str(server.headers)
        path.write_text(path.read_text() + "# changed\n")
        with Terminal(tmp_path / "yes", "chat", str(path), columns=300, **env) as terminal:
            terminal.wait("Is that all right? (yes or no)")


@pytest.mark.skipif(TMUX is None, reason="needs tmux")
def test_ctrl_c_in_a_hang_keeps_what_was_said_and_the_session_goes_on(tmp_path: Path) -> None:
    path = written(tmp_path, TALK)
    slow = text("Let me ", "think", "never", hang=60, hang_after=2)
    answers = [slow, slow, text("Sure."), value({"next_state": "bye"})]
    with Server(*answers) as server:
        words = ("chat", str(path), "--model", "openai:m", "--base-url", server.url)
        with Terminal(tmp_path, *words, "--task-id", "t") as terminal:
            terminal.wait_for_prompt()
            terminal.press("-l", "hello")
            terminal.press("Enter")
            terminal.wait("Let me think")
            terminal.press("C-c")
            terminal.wait("stopped; what was said is kept")
            terminal.wait_for_prompt()
            terminal.press("-l", "again")
            terminal.press("Enter")
            terminal.wait_until(lambda: len(server.requests) == 2, "the second request")
            terminal.wait_until(
                lambda: sum("Let me think" in line for line in terminal.screen()) == 2, "it again"
            )
            terminal.press("C-c")
            terminal.wait_until(
                lambda: sum("stopped;" in line for line in terminal.screen()) == 2, "a stop"
            )
            terminal.press("C-c")
            assert terminal.code() == 130
        shown = run_sessions(tmp_path, "show", "t")
        assert shown.code == 2, "the data is where the terminal keeps it"
        with Terminal(tmp_path, *words, "--resume", "t") as terminal:
            terminal.wait("> again")
            terminal.type("go on")
            terminal.wait("Goodbye.")
            assert sum("Sure." in line for line in terminal.screen()) == 1, "said once"
        sent = [m["content"] for m in server.requests[-2]["messages"]]
        assert sent == ["Help.", "hello", "Let me think", "again", "Let me think", "go on"]


@pytest.mark.skipif(TMUX is None, reason="needs tmux")
def test_another_model_in_the_middle_of_a_chat(tmp_path: Path) -> None:
    loop = "initial: hear\nstates: {hear: {type: user, transition: {next: [answer]}}, "
    loop += "answer: {type: agent, transition: {next: [hear]}}}\n"
    path = written(tmp_path, loop)
    with Server(brain=echo) as server:
        words = ("chat", str(path), "--model", "rules")
        with Terminal(tmp_path, *words, STATECLI_BASE_URL=server.url) as terminal:
            terminal.type("one")
            terminal.wait("[answer]")
            terminal.type("/model some-model")
            terminal.wait(f"some-model at {server.url} plays the model now")
            terminal.type("two")
            terminal.wait("You said: two")
            terminal.type("/quit")
            assert terminal.code() == 0
        assert [r["model"] for r in server.requests] == ["some-model"]


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_ctrl_c_off_a_terminal_ends_a_hang_at_once(tmp_path: Path) -> None:
    path = written(tmp_path, TALK)
    with Server(text("never", hang=60)) as server:
        words = ["chat", str(path), "--model", "m", "--base-url", server.url, "--task-id", "t"]
        env = {**os.environ, "STATECLI_DATA": str(tmp_path / "data")}
        with subprocess.Popen(
            [sys.executable, "-m", "statecli", *words], stdin=subprocess.PIPE, env=env,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=REPOSITORY,
        ) as process:  # fmt: skip
            assert process.stdin is not None
            process.stdin.write("hello\n")
            process.stdin.flush()
            end = time.monotonic() + 20
            while not server.requests:
                assert time.monotonic() < end
                time.sleep(0.02)
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=20)
        assert process.returncode == 130
        assert "Traceback" not in err
        assert "session t; go on with: " in err
    assert "> hello" in run_sessions(tmp_path, "show", "t").out


@pytest.mark.skipif(TMUX is None, reason="needs tmux")
def test_a_person_sees_what_is_waited_for(tmp_path: Path) -> None:
    """While it is waited, not afterwards; and Ctrl-C ends the wait."""
    path = written(tmp_path, TALK)
    with Server(status(429, "slow down", retry_after="50")) as server:
        words = ("chat", str(path), "--model", "m", "--base-url", server.url)
        with Terminal(tmp_path, *words, columns=200) as terminal:
            terminal.wait_for_prompt()
            terminal.press("-l", "hello")
            terminal.press("Enter")
            terminal.wait("too many requests (429): slow down; asking again in ")
            terminal.press("C-c")
            terminal.wait("stopped; what was said is kept")
        assert len(server.requests) == 1
