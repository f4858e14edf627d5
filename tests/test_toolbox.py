"""The tools of a chat: what is started, what the person is asked, who stands in."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from chatting import Chat, graph_of
from openai_server import Server, text
from openai_server import calls as calls_of
from scripted import call
from served import served
from toolservers import bad, gone, good, left, web

from statecli.config.trust import Trust
from statecli.engine.advance import Custom
from statecli.kinds import custom
from statecli.llm.script import ScriptProvider
from statecli.model.event import Approved, Called, Failed, Refused, Returned, Unauthorized, Warned
from statecli.model.graph import Graph
from statecli.model.ports import Ask, Chunk, NotAllowed, Question, Request
from statecli.session.allowance import Allowance
from statecli.session.toolbox import Toolbox, Trusted
from statecli.store.memory import MemoryStore
from statecli.text.conversation import BadConversation, read, write

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")

ASKS = "(yes, no, always or never in this session)"


@pytest.fixture
def mark() -> Iterator[str]:
    """Marks the servers of one test: afterwards none may be left."""
    found = uuid.uuid4().hex
    yield found
    assert gone(found) == []


class Model:
    """A model that says what stands in a list; what it was asked is in `requests`."""

    label = "model"

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.requests: list[Request] = []

    async def complete(self, request: Request, ask: Ask) -> AsyncIterator[Chunk]:
        self.requests.append(request)
        assert self.answers, f"'{request.state.name}' asks for a {request.what}: nothing is left"
        answer = self.answers.pop(0)
        if isinstance(answer, str):
            yield Chunk(text=answer)
        elif isinstance(answer, Chunk):
            yield answer
        else:
            yield Chunk(value=answer)


def graph(tools: dict[str, Any], state: str = "{type: tool, transition: {next: [hear]}}") -> Graph:
    return graph_of(f"""
initial: hear
tools: {json.dumps(tools)}
states:
  hear: {{type: user, transition: {{next: [use]}}}}
  use: {state}
""")


def chat(
    found: Graph,
    *lines: str,
    provider: Any = None,
    allow: Sequence[str] = (),
    everything: bool = False,
    trusted: Trusted | None = None,
    plugins: bool = False,
    store: MemoryStore | None = None,
    patient: bool = True,
    custom: Custom | None = None,
) -> Chat:
    def toolbox(graph: Graph, ask: Ask) -> Toolbox:
        ask.patient = patient
        allowance = Allowance(allow, everything=everything)
        return Toolbox(graph, ask, allowance, trusted=trusted, plugins=plugins)

    return Chat(
        found, *lines, provider=provider, user_id="ann", store=store, toolbox=toolbox, custom=custom
    )


def bodies(found: Chat, *kinds: type) -> list[Any]:
    events = found.store.events(found.talk.session.run)
    return [event.body for event in events if isinstance(event.body, kinds)]


def messages(found: Chat) -> list[Any]:
    return [m["content"] for m in found.data["messages"] if m["role"] == "tool"]


ADD = ("hi", "s.add", "1", "2")


def test_rules_with_a_real_server(mark: str) -> None:
    """The person is asked whether to start it, picks a tool, fills it in, and allows the call."""
    found = chat(graph({"s": good(mark)}), "hi", "yes", "s.add", "1", "2", "yes")
    assert found.after("hi")[1:4:2] == [
        "The graph wants to start this program for its tool 's':",
        f"  with MARK={mark}",
    ]
    assert found.after("2") == [f"Call s.add(a=1, b=2)? {ASKS}"]
    assert [type(b) for b in bodies(found, Approved, Called, Returned)] == [
        Approved, Approved, Called, Returned,
    ]  # fmt: skip
    (called,) = bodies(found, Called)
    assert (called.tool, called.arguments, called.user) == ("s.add", {"a": 1, "b": 2}, "ann")
    assert messages(found) == [{"result": 3}]


def test_the_user_reaches_the_server(mark: str) -> None:
    found = chat(graph({"s": good(mark)}), "hi", "s.who", everything=True)
    assert messages(found) == ["ann"]


def test_no_to_the_start_lets_the_person_play_it(mark: str) -> None:
    found = chat(graph({"s": good(mark)}), "hi", "no", "forty")
    assert "You play s(), which is not connected. What does it give back?" in found.after("no")[-1]
    assert messages(found) == ["forty"]
    assert left(mark) == []
    assert not bodies(found, Approved)[0].allowed


def test_a_model_whose_tool_the_person_plays(mark: str) -> None:
    """A call of what the person did not want to be started comes to them."""
    model = Model(call("s"), "Forty.")
    chat(graph({"s": good(mark)}, AGENT), "hi", "no", "forty", provider=model)
    assert [(tool.name, tool.schema) for tool in model.requests[0].tools] == [("s", None)]
    assert [x.text for x in model.requests[-1].transcript] == ["forty"]
    assert left(mark) == []


def test_the_answer_is_remembered_for_this_graph_alone(mark: str, tmp_path: Path) -> None:
    trust = Trust(tmp_path / "trust.json")
    one = graph({"s": good(mark)})
    first = chat(one, "hi", "yes", "s.who", "no", trusted=Trusted(trust, "d1"))
    assert messages(first) == ["error: the person does not allow this call"]
    again = chat(one, "hi", "s.who", "yes", trusted=Trusted(trust, "d1"))
    assert messages(again) == ["ann"]
    other = chat(one, "hi", "no", "x", trusted=Trusted(trust, "d2"))
    assert messages(other) == ["x"]
    changed = good(mark)
    changed["env"]["MORE"] = "1"
    third = chat(graph({"s": changed}), "hi", "no", "x", trusted=Trusted(trust, "d1"))
    assert messages(third) == ["x"]
    denied = chat(one, "hi", "x", trusted=Trusted(trust, "d2"))
    assert any("you said no to that for this graph; --allow-tools s" in s for s in denied.seen)


@pytest.mark.parametrize("allow", [["s"], ["s.who"]])
def test_what_is_allowed_from_the_start_is_not_asked(allow: list[str], mark: str) -> None:
    found = chat(graph({"s": good(mark)}), "hi", "s.who", allow=allow)
    assert messages(found) == ["ann"]
    assert bodies(found, Approved) == []


def test_one_tool_that_is_allowed_allows_no_other(mark: str) -> None:
    found = chat(graph({"s": good(mark)}), "hi", "s.read", "a", "no", allow=["s.who"])
    assert messages(found) == ["error: the person does not allow this call"]
    assert bodies(found, Called) == []
    (refused,) = bodies(found, Refused)
    assert refused.what == "s.read"


def test_always_and_never_hold_for_the_session(mark: str) -> None:
    one, store = graph({"s": good(mark)}), MemoryStore()
    found = chat(
        one, "hi", "s.who", "always", "hi", "s.who", "hi", "s.read", "a", "never", "hi", "s.read",
        "b", store=store, allow=["s.add"],
    )  # fmt: skip
    refused = "error: the person does not allow this call"
    assert messages(found) == ["ann", "ann", refused, refused]
    said = [Approved("call s.who", True, True), Approved("call s.read", False, True)]
    assert bodies(found, Approved) == said
    allowance = Allowance()
    allowance.recall(store.events(found.talk.session.run))
    assert allowance.said() == {"s.who": True, "s.read": False}


def test_an_answer_that_is_none(mark: str) -> None:
    found = chat(graph({"s": good(mark)}), "hi", "s.who", "maybe", "y", allow=["s.add"])
    assert found.after("maybe")[0].startswith("Sorry, 'maybe' is none of yes, no, always, never.")
    assert messages(found) == ["ann"]


def test_arguments_that_do_not_fit_are_never_sent(mark: str) -> None:
    """Not even to the person: the error goes back to the model, twice at most."""
    model = Model({"a": "x"}, {"a": 1}, {"a": 1, "b": 2})
    one = graph({"s": good(mark)}, "{type: tool, tool: s.add, transition: {next: [hear]}}")
    found = chat(one, "hi", "yes", provider=model, allow=["s.who"])
    notes = [request.note for request in model.requests]
    assert notes == ["", "missing: 'b'", "missing: 'b'"]
    assert len(bodies(found, Called)) == 1
    assert messages(found) == [{"result": 3}]


AGENT = "{type: agent, tools: [s], prompt: Help., transition: {next: [hear]}}"


def test_an_agent_calls_tools_until_it_answers(mark: str) -> None:
    model = Model(
        call("s.add", a=1, b=2), call("s.add", a=1), call("s.fail", why="x"),
        call("s.nothing"), "It is three.",
    )  # fmt: skip
    found = chat(graph({"s": good(mark)}, AGENT), "hi", provider=model, everything=True)
    assert {tool.name for tool in model.requests[0].tools} >= {"s.add", "s.fail"}
    told = [(x.ok, x.text) for x in model.requests[-1].transcript]
    assert told[0] == (True, "3")
    assert told[1] == (False, "missing: 'b'")
    assert told[2][0] is False
    assert told[3][1].startswith("there is no such tool; there are: s.add")
    assert "It is three." in found.seen
    assert len(bodies(found, Called)) == 2


def test_a_refusal_is_data_for_an_agent(mark: str) -> None:
    model = Model(call("s.who"), "Then not.")
    found = chat(graph({"s": good(mark)}, AGENT), "hi", "no", provider=model, allow=["s.add"])
    assert [x.text for x in model.requests[-1].transcript] == [
        "the person does not allow this call"
    ]
    assert "Then not." in found.seen


def test_agents_and_executors_of_rules_start_nothing(mark: str) -> None:
    found = chat(graph({"s": good(mark)}, AGENT), "hi", everything=True)
    assert "[use]" in found.seen
    assert left(mark) == []


def test_a_budget_stops_between_two_calls(mark: str) -> None:
    spent = Chunk(call=call("s.who").call, usage={"input": 50})
    model = Model(spent, "never asked")
    one = graph({"s": good(mark)}, AGENT).with_limits(max_tokens=10)
    found = chat(one, "hi", provider=model, everything=True)
    assert found.talk.snapshot.status == "limited"
    assert len(model.requests) == 1
    assert found.state == "use"


def test_a_server_that_does_not_start_with_a_model(mark: str) -> None:
    one = graph({"s": bad("early", mark)}, AGENT)
    found = chat(one, "hi", provider=Model(), everything=True)
    (failed,) = bodies(found, Failed)
    assert failed.error == "s ended with exit code 7; it said: no licence found"
    assert found.state == "use"


def test_the_others_go_on_without_it(mark: str) -> None:
    state = "{type: agent, tools: [s, t], transition: {next: [hear]}}"
    one = graph({"s": bad("early", mark), "t": good(mark)}, state)
    found = chat(one, "hi", provider=Model("Hello."), everything=True)
    (warned,) = bodies(found, Warned)
    assert warned.message == "s ended with exit code 7; it said: no licence found"
    assert "Hello." in found.seen


def test_a_server_that_does_not_start_is_played_by_hand(mark: str) -> None:
    found = chat(graph({"s": bad("early", mark)}), "hi", "yes", "forty")
    assert "s ended with exit code 7; it said: no licence found; you play it" in found.seen
    assert messages(found) == ["forty"]


def test_one_that_ends_in_a_call_is_data_too(mark: str) -> None:
    found = chat(
        graph({"s": bad("exits", mark)}), "hi", "x", "hi", "y", provider=None, everything=True
    )
    told = messages(found)
    assert len(told) == 2
    assert told[0].startswith("error: s ended with exit code 3; it said: out of paper;")
    assert len(bodies(found, Called)) == 2


def test_what_was_recorded_plays_without_a_server(mark: str) -> None:
    """A call that was refused comes back as the same error."""
    one = graph({"s": good(mark)}, AGENT)
    model = Model(call("s.who"), call("s.read", path="a"), "Done.")
    found = chat(one, "hi", "no", "yes", provider=model, allow=["s.add"])
    turns = [turn for turn in found.talk.recording.turns if turn]
    offered = turns[0]["replies"].pop(0)
    assert {tool["name"] for tool in offered["tools"]} >= {"s.add", "s.who"}
    assert turns == [{
        "say": "hi",
        "replies": [
            {"calls": [{"s.who": {}}]},
            {"denied": "the person does not allow this call"},
            {"calls": [{"s.read": {"path": "a"}}]},
            {"result": "the text of a"},
            {"reply": "Done."},
        ],
    }]  # fmt: skip
    turns[0]["replies"].insert(0, offered)
    text = write(turns, graph="g", digest="")
    script = ScriptProvider(read("c.yaml", text.encode()))
    played = chat(one, provider=script)
    assert played.code == 0, played.seen
    assert "Done." in played.seen


@pytest.mark.parametrize("lines", [False, True])
def test_a_tool_state_plays_from_what_was_recorded(lines: bool, mark: str) -> None:
    """Twice: what the server offers stands in the file once."""
    one = graph({"s": good(mark)})
    found = chat(one, *ADD, "hi", "s.who", everything=True)
    turns = [turn for turn in found.talk.recording.turns if turn]
    replies = [reply for turn in turns for reply in turn["replies"]]
    assert [next(iter(reply)) for reply in replies] == [
        "tools", "tool", "calls", "result", "tool", "calls", "result",
    ]  # fmt: skip
    text = write(turns, graph="g", digest="", lines=lines)
    script = ScriptProvider(read("c.jsonl" if lines else "c.yaml", text.encode()))
    played = chat(one, provider=script)
    assert played.code == 0, played.seen
    assert messages(played) == messages(found) == [{"result": 3}, "ann"]


@pytest.mark.parametrize("value", ["x", [1], [{}], [{"name": 1}], [{"name": "a", "schema": 1}]])
def test_tools_of_a_file_have_the_right_shape(value: Any) -> None:
    with pytest.raises(BadConversation):
        read("c.json", json.dumps({"turns": [{"replies": [{"tools": value}]}]}).encode())


def test_a_name_with_a_dot_in_it(mark: str) -> None:
    model = Model(call("my.notes.who"), "Done.")
    state = "{type: agent, tools: [my.notes], transition: {next: [hear]}}"
    found = chat(graph({"my.notes": good(mark)}, state), "hi", provider=model, allow=["my.notes"])
    assert bodies(found, Returned)[0].result == "ann"


# --- off a terminal -------------------------------------------------------------------------------


def test_off_a_terminal_a_start_needs_an_option(mark: str) -> None:
    with pytest.raises(NotAllowed) as caught:
        chat(graph({"s": good(mark)}, AGENT), "hi", provider=Model(), patient=False)
    assert "wants to start this program for its tool 's'" in str(caught.value)
    assert caught.value.way == "--allow-tools s"


def test_off_a_terminal_a_call_needs_an_option(mark: str, tmp_path: Path) -> None:
    trust = Trust(tmp_path / "trust.json")
    one = graph({"s": good(mark)}, AGENT)
    trust.remember("d", Toolbox(one, _no, Allowance()).entries["s"].identity, True)
    with pytest.raises(NotAllowed) as caught:
        chat(
            one, "hi", "yes", provider=Model(call("s.who")), patient=False,
            trusted=Trusted(trust, "d"),
        )  # fmt: skip
    assert str(caught.value) == "Call s.who()? Nobody can be asked here"
    assert caught.value.way == "--allow-tools s"


def test_off_a_terminal_rules_play_what_is_not_allowed(mark: str) -> None:
    found = chat(graph({"s": good(mark)}), "hi", "forty", patient=False)
    assert messages(found) == ["forty"]
    assert left(mark) == []


async def _never(question: Question) -> str:
    raise AssertionError(question)


_no: Any = _never


# --- the person must connect something ------------------------------------------------------------


@pytest.mark.parametrize("fault", ["link", "required"])
def test_the_session_stays_where_it_is(fault: str, mark: str) -> None:
    one = graph({"s": bad(fault, mark)})
    found = chat(one, "hi", "x", "/continue", "x", everything=True)
    seen = bodies(found, Unauthorized)
    assert len(seen) == 2, "once for each time the person asks for it"
    assert {u.url for u in seen} == {"https://mail.example/connect?state=abc"}
    service = "Mail" if fault == "link" else "s"
    link = "https://mail.example/connect?state=abc"
    assert f"{service} must be connected first: {link}" in found.after("x")
    assert "'use' waits; connect it, then /continue" in found.after("x")
    assert found.state == "use"
    assert found.talk.snapshot.status == "interrupted"
    assert [r.ok for r in bodies(found, Returned)] == [False, False]


def test_at_the_door() -> None:
    with web("door") as server:
        found = chat(graph({"crm": {"url": server.url}}), "hi", everything=True)
        (seen,) = bodies(found, Unauthorized)
        assert seen.service == "crm"
        assert found.state == "use"
        assert any("a token of yours goes into 'headers'" in line for line in found.seen)


def test_a_server_asks_to_open_a_link(mark: str) -> None:
    found = chat(graph({"s": bad("elicits", mark)}), "hi", "x", "yes", everything=True)
    assert "s asks you to open https://mail.example/connect?state=abc" in found.seen
    assert messages(found) == ["you said accept"]
    found = chat(graph({"s": bad("elicits", mark)}), "hi", "x", "no", everything=True)
    assert messages(found) == ["you said decline"]


def test_a_server_asks_for_a_value(mark: str) -> None:
    found = chat(graph({"s": bad("form", mark)}), "hi", "x", "yes", "Rome", everything=True)
    assert "s asks: Where?" in found.seen
    assert '"Rome"' in messages(found)[0]
    found = chat(graph({"s": bad("form", mark)}), "hi", "x", "no", everything=True)
    assert "decline" in messages(found)[0]


# --- names, /tools, python ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "found"),
    [
        ("[s]", 9),
        ("[s.add, s.who]", 2),
        ("[add]", 1),
        ("[s.add, add, s]", 9),
    ],
)
def test_names_of_tools(names: str, found: int, mark: str) -> None:
    state = f"{{type: agent, tools: {names}, transition: {{next: [hear]}}}}"
    model = Model("Hello.")
    chat(graph({"s": good(mark)}, state), "hi", provider=model, everything=True)
    assert len(model.requests[0].tools) == found


def test_what_is_known_without_connecting(mark: str) -> None:
    one = graph({"s": {**good(mark), "description": "Notes"}, "t": good(mark)})

    async def run() -> None:
        box = Toolbox(one, _no, Allowance(everything=True))
        before = box.known(None)
        assert [(tool.name, tool.description) for tool in before] == [("s", "Notes"), ("t", "")]
        assert left(mark) == []
        await box.tools(["s"])
        names = [tool.name for tool in box.known(["s.add", "who", "t"])]
        assert names == ["s.add", "s.who", "t"]
        await box.close()

    asyncio.run(run())


def test_a_tool_that_is_not_there(mark: str) -> None:
    state = "{type: agent, tools: [s.ad], transition: {next: [hear]}}"
    found = chat(graph({"s": good(mark)}, state), "hi", provider=Model(), everything=True)
    assert bodies(found, Failed)[0].error.startswith("there is no tool s.ad; there are: s.add,")


def test_tools_tells_how_they_stand(mark: str) -> None:
    one = graph({"s": {**good(mark), "description": "Notes"}, "t": {"python": "x:y"}})
    found = chat(
        one, "/tools", "hi", "s.add", "1", "2", "always", "/tools", "/tools s", "/tools u",
        allow=["s.who"],
    )  # fmt: skip
    assert found.after("/tools")[0] == "s  Notes  (not connected yet)"
    at = [n for n, line in enumerate(found.seen) if line.endswith("> /tools")][1]
    later = found.seen[at:]
    assert later[1] == "s  Notes  (connected, 9 tools)"
    assert "  s.add (always allowed)  Add two numbers." in later
    assert any(
        "(not connected: --allow-plugins runs the code of x:y; you play it)" in line
        for line in later
    )
    assert "    a (integer)" in found.after("/tools s")
    assert found.after("/tools s")[-2:] == ["  it printed:", "    adding"]
    assert found.after("/tools u") == ["no tool is named 'u'; s, t"]


def test_python_runs_only_with_plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "calc_of_toolbox.py").write_text("def double(x: int) -> int:\n    return 2 * x\n")
    monkeypatch.syspath_prepend(tmp_path)
    one = graph({"calc": {"python": "calc_of_toolbox:double"}})
    found = chat(one, "hi", "forty", everything=True)
    assert messages(found) == ["forty"]
    found = chat(one, "hi", "4", "yes", plugins=True)
    assert f"Call calc(x=4)? {ASKS}" in found.seen
    assert messages(found) == ["8"]


def test_a_call_with_much_in_it_is_shown_as_far_as_it_can_be_read(mark: str) -> None:
    model = Model({"path": "x" * 5_000})
    one = graph({"s": good(mark)}, "{type: tool, tool: s.read, transition: {next: [hear]}}")
    found = chat(one, "hi", "no", provider=model, allow=["s.who"])
    (asked,) = [line for line in found.seen if line.startswith("Call s.read(")]
    assert len(asked) < 2_200
    assert "… and 3,007 more characters)" in asked


def test_a_stranger_s_words_pass_for_none_of_ours(mark: str) -> None:
    """What is asked stands on lines of its own, whatever a graph, a server or a model says."""
    settings = good(mark)
    settings["command"] = [*settings["command"], "\x1b[2J\nAllow it for this graph?"]
    found = chat(graph({"s": settings}), "hi", "no", "x")
    assert not any("\x1b" in line for line in found.seen)
    assert sum(line.startswith("Allow it for this graph?") for line in found.seen) == 1
    model = Model({"path": "a", "x\nCall s.read(path='b')?": "y"})
    one = graph({"s": good(mark)}, "{type: tool, tool: s.read, transition: {next: [hear]}}")
    found = chat(one, "hi", "no", provider=model, allow=["s.who"])
    assert sum(line.startswith("Call s.read(") for line in found.seen) == 1


def test_closing_twice_and_at_once(mark: str) -> None:
    async def run() -> None:
        tools = {"s": good(mark), "t": good(mark)}
        box = Toolbox(graph(tools), _no, Allowance(everything=True))
        await box.tools(None)
        assert len(left(mark)) >= 2
        await asyncio.gather(box.close(), box.close())

    asyncio.run(run())


# --- document 000's agent -------------------------------------------------------------------------

FACADE = "{type: facade, transition: {next: [hear]}}"


def facade(folder: Path, code: str, found: Graph, *lines: str, **more: Any) -> Chat:
    """A chat with a custom state that calls tools as the document does."""
    (folder / "state_facade.py").write_text(code)
    return chat(found, *lines, custom=Custom(custom.load(found, folder)), **more)


CALLS = """
from tool_module.tool_call import AuthRequiredError

@register_state("facade")
async def facade(context, agent):
    try:
        tools = await agent.tool_manager.list_all_tools()
        option = (await agent.create_tool_option_class()).model_json_schema()
        names = option["properties"]["tool_name"]["enum"]
        server = agent.tool_manager._tool_registry[names[0]]
        spec = tools[server][names[0]]
        assert spec["inputSchema"]["type"] == "object"
        found = await agent.tool_manager.call_tool(
            tool_name=names[0], arguments=ARGUMENTS, user_id=USER)
    except AuthRequiredError as e:
        return f"connect {e.service_info.get('name', e.service)}: {e.connect_url}"
    return f"{server} {len(names)} {found!r}"
"""


def calls(arguments: str, user: str = "agent.current_user_id") -> str:
    return CALLS.replace("ARGUMENTS", arguments).replace("USER", user)


def test_the_agent_of_document_000_reaches_real_tools(mark: str, tmp_path: Path) -> None:
    one = graph({"s": good(mark)}, FACADE)
    code = calls("{'a': 1, 'b': 2}")
    found = facade(tmp_path, code, one, "hi", "yes", allow=["s.who"])
    assert "s 9 3" in found.seen
    (called,) = bodies(found, Called)
    assert (called.tool, called.user) == ("s.add", "ann")
    assert bodies(found, Approved) == [Approved("call s.add", True)]
    denied = facade(tmp_path, code, one, "hi", "no", allow=["s.who"])
    assert bodies(denied, Failed)[0].error == "s.add: the person does not allow this call"
    unfit = facade(tmp_path, calls("{'a': 1}"), one, "hi", everything=True)
    assert bodies(unfit, Failed)[0].error.endswith("do not fit: missing: 'b'")
    assert bodies(unfit, Called) == []


def test_its_user_reaches_the_server(tmp_path: Path) -> None:
    with web("fine") as server:
        one = graph({"crm": {"url": server.url}}, FACADE)
        code = calls("{'name': 'Bo'}", "'bob'")
        found = facade(tmp_path, code, one, "hi", everything=True)
        assert "crm 1 'found Bo for \"bob\"'" in found.seen
        assert bodies(found, Called)[0].user == "bob"


def test_it_learns_that_something_must_be_connected(tmp_path: Path) -> None:
    with web("call") as server:
        one = graph({"crm": {"url": server.url}}, FACADE)
        found = facade(tmp_path, calls("{'name': 'Bo'}"), one, "hi", everything=True)
        assert "connect CRM: https://crm.example/connect?account=7" in found.seen
        assert bodies(found, Unauthorized) == []
    with web("door") as server:
        one = graph({"crm": {"url": server.url}}, FACADE)
        found = facade(tmp_path, calls("{'name': 'Bo'}"), one, "hi", everything=True)
        assert any(line.startswith("connect crm: https://crm.example/") for line in found.seen)
        plain = CALLS.partition("    try:")[0] + "    await agent.tool_manager.list_all_tools()\n"
        found = facade(tmp_path, plain, one, "hi", everything=True)
        assert bodies(found, Unauthorized)[0].service == "crm"
        assert found.state == "use"


# --- what servers say of their tools --------------------------------------------------------------


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ("", "(tools.0.inputSchema: Field required)"),
        ("5", "(tools.0.inputSchema: "),
        ('{"type": "array"}', "(tools.0.inputSchema.type: "),
        ('{"type": "object", "required": 5}', "(tools.0.inputSchema.required: "),
    ],
)
def test_a_tool_without_a_schema_that_is_one(schema: str, told: str, mark: str) -> None:
    """Where it stands is told, whoever plays the model."""
    one = {"s": bad("schema", mark, schema)}
    for provider in (None, Model()):
        found = chat(graph(one), "hi", everything=True, provider=provider)
        assert f"s answered what is no answer of MCP {told}" in bodies(found, Failed)[0].error
        assert bodies(found, Called) == []


def test_a_schema_that_has_no_end(mark: str) -> None:
    loop = {"type": "object", "allOf": [{"$ref": "#"}] * 3, "required": ["a"]}
    one = {"s": bad("schema", mark, json.dumps(loop))}
    model = Model({}, {"a": 1})
    found = chat(graph(one), "hi", everything=True, provider=model)
    assert [refused.reason for refused in bodies(found, Refused)] == ["missing: 'a'"]
    assert messages(found) == ["did None"]


def test_what_is_no_text_is_named(mark: str) -> None:
    found = chat(graph({"s": bad("pictures", mark)}), "hi", "x", everything=True)
    assert messages(found) == ["[image, image/png, 6 bytes]\n[resource file:///a]\ninside"]


def test_a_server_whose_tools_change(mark: str) -> None:
    """The next turn offers what there is then; one that is gone is not called."""

    agent = "{type: agent, tools: [s], transition: {next: [hear]}}"
    said = ("s.do", "One.", "s.do", "s.do_1", "Two.")
    model = Model(*(say if say[-1] == "." else call(say, what="x") for say in said))
    one = graph({"s": bad("changes", mark)}, agent)
    found = chat(one, "hi", "again", everything=True, provider=model)
    offered = [[tool.name for tool in request.tools] for request in model.requests]
    assert offered == [["s.do"]] * 2 + [["s.do_1"]] * 3
    assert [called.tool for called in bodies(found, Called)] == ["s.do", "s.do_1"]
    assert [refused.what for refused in bodies(found, Refused)] == ["s.do"]


def test_two_servers_whose_tools_have_one_name(mark: str) -> None:
    """They are told apart by the server, also by the names that a model's server takes."""
    agent = "{type: agent, tools: [do], transition: {next: [hear]}}"
    one = graph({"a.b": bad("fine", mark), "a_b": bad("fine", mark)}, agent)
    calling = calls_of(
        ("a_b_do", {"what": "x"}), ("a_b_do_2", {"what": "y"}), ("do", {"what": "z"})
    )
    with Server(calling, text("Done.")) as server:
        found = chat(one, "hi", everything=True, provider=served(server))
    assert [(c.tool, c.arguments["what"]) for c in bodies(found, Called)] == [
        ("a.b.do", "x"), ("a_b.do", "y")]  # fmt: skip
    assert [refused.what for refused in bodies(found, Refused)] == ["do"]
