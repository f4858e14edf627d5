"""Every block of document 000 (ARKOS) does here what the document says it does."""

from __future__ import annotations

import asyncio
import json
import re
import typing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from run_cli import Say, check, compare
from scripted import graph_of, play
from seed_documents import Shown, document, ran, shows

from statecli import arkos
from statecli.kinds.arkos_names import registering
from statecli.model.graph import KINDS

GRAPH = Shown("000", "# === Core States ===")
PATH = "state_module/state_graph.yaml"


@pytest.fixture
def handler(tmp_path: Path) -> Any:
    """The handler of the document's complete graph."""
    path = tmp_path / "state_graph.yaml"
    path.write_text(GRAPH.text, encoding="utf-8")
    return arkos.StateHandler(yaml_path=str(path))


# --- states and their handler ------------------------------------------------------------------


@shows("000", "class State:\n")
def test_000_state_class(shown: Shown) -> None:
    """The class that the document spells out, and ours, are made and behave alike."""
    names = ran(shown.text, Any=typing.Any, Dict=dict, Optional=typing.Optional)
    config = {"transition": {"next": ["b"]}}
    for made in (names["State"]("a", config), arkos.State("a", config)):
        assert (made.name, made.is_terminal, made.transition) == ("a", False, {"next": ["b"]})
        with pytest.raises(NotImplementedError):
            made.run({})
    assert names["State"]("a", {}).transition == {}
    with pytest.raises(NotImplementedError):
        names["State"]("a", {}).check_transition_ready({})


@shows("000", "class AgentState(Enum):")
def test_000_agent_state_enum(shown: Shown) -> None:
    """The "central registry of all possible agent states" is what `graph.enum()` gives."""
    theirs = ran(shown.text)["AgentState"]
    text = "states: {greet_user: {}, fetch_product: {}, summarize_result: {}, done: {}}"
    assert {m.name: m.value for m in graph_of(text).enum()} == {m.name: m.value for m in theirs}


@shows("000", "# Initialize with YAML configuration")
def test_000_state_handler(shown: Shown, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path(PATH).parent.mkdir()
    Path(PATH).write_text(GRAPH.text, encoding="utf-8")
    current = arkos.State("use_tool", {"transition": {"next": ["agent_reply", "ask_user"]}})
    names = ran(shown.text, current_state=current, messages=[])
    assert names["initial_state"].name == "agent_reply"
    assert names["state"].name == "agent_reply"
    assert names["transitions"] == {
        "tt": ["agent_reply", "ask_user"],
        "td": ["AI reasoning and response generation", "Waiting for user input"],
    }


# --- the loop of the agent ---------------------------------------------------------------------

#: The parameters that the document leaves out make the block no Python.
LEFT_OUT = "self, ..., flow: StateHandler, ..."


def choosing(name: str, asked: list[Any]) -> Any:
    """What the method `choose_transition` of the document uses of its agent; a model that names one
    state."""

    class NextStates:
        @staticmethod
        def model_json_schema() -> dict[str, Any]:
            return {"enum": [option for option, _ in asked[0]]}

    def next_states(options: list[tuple[str, str]]) -> type[NextStates]:
        asked.append(options)
        return NextStates

    async def call_llm(context: Any, json_schema: Any) -> arkos.AIMessage:
        asked.extend([context, json_schema])
        return arkos.AIMessage(content=json.dumps({"next_state": name}))

    return SimpleNamespace(create_next_state_class=next_states, call_llm=call_llm)


@shows("000", "async def choose_transition(")
def test_000_choose_transition(shown: Shown, handler: Any) -> None:
    """It asks with the states and their descriptions, and takes the state that the model names."""
    choose = ran(shown.text, json=json, SystemMessage=arkos.SystemMessage)["choose_transition"]
    asked: list[Any] = []
    options = handler.get_transitions(handler.get_state("use_tool"), [])
    line = arkos.UserMessage(content="and now?")
    found = asyncio.run(choose(choosing("ask_user", asked), options, [line]))
    assert found == "ask_user"
    pairs, context, schema = asked
    assert pairs == [("agent_reply", "AI reasoning and response generation"),
                     ("ask_user", "Waiting for user input")]  # fmt: skip
    assert str(pairs) in context[0].content
    assert context[1] is line
    assert schema == {"enum": ["agent_reply", "ask_user"]}


LOOP = """
initial: hello
states:
  hello: {type: greeting, greeting: Welcome!, transition: {next: [again, over]}}
  again: {type: greeting, transition: {next: [over]}}
  over: {type: terminal}
"""


@shows("000", LEFT_OUT)
def test_000_agent_loop(shown: Shown, tmp_path: Path) -> None:
    """The loop of the document, over our handler, a state as the document writes one, and its
    method that asks the model where there are several ways. `...` is taken out, and the state is
    made async: the loop awaits `run`, which the document's own greeting is not made for (ours takes
    both)."""
    (tmp_path / "g.yaml").write_text(LOOP, encoding="utf-8")
    greeting = Shown("000", "class GreetingState(State)").text.replace(
        " def run(", " async def run("
    )
    (tmp_path / "state_greeting.py").write_text(greeting, encoding="utf-8")
    choose = ran(Shown("000", "async def choose_transition(").text, json=json,
                 SystemMessage=arkos.SystemMessage)["choose_transition"]  # fmt: skip
    text = shown.text.replace(LEFT_OUT, "self, flow: StateHandler")
    agent_class = ran(text, StateHandler=arkos.StateHandler)["Agent"]
    asked: list[Any] = []
    model = choosing("again", asked)

    class Agent(agent_class):  # type: ignore[misc, valid-type]
        call_llm = staticmethod(model.call_llm)
        create_next_state_class = staticmethod(model.create_next_state_class)
        choose_transition = choose

        def __init__(self, flow: Any) -> None:
            super().__init__(flow=flow)
            self.context: list[Any] = []

        def get_context(self) -> list[Any]:
            return self.context

        def add_context(self, more: list[Any]) -> None:
            self.context += more

    flow = arkos.StateHandler(yaml_path=str(tmp_path / "g.yaml"), allow_plugins=True)
    agent = Agent(flow)
    asyncio.run(agent.step([arkos.UserMessage(content="hi")]))
    assert agent.current_state.name == "over"
    assert [message.content for message in agent.context] == ["Welcome!", "Hello!"]
    assert [name for name, _ in asked[0]] == ["again", "over"]
    assert len(asked) == 3, "one target: nobody is asked"


# --- custom states -----------------------------------------------------------------------------


@shows("000", "class GreetingState(State)")
def test_000_greeting_state(shown: Shown) -> None:
    with registering() as found:
        names = ran(shown.text, register_state=arkos.register_state)
    assert found == [(None, names["GreetingState"])]
    plain, warm = (names["GreetingState"]("g", c) for c in ({}, {"greeting": "Welcome!"}))
    assert plain.check_transition_ready([]) is True
    assert [state.run([]).content for state in (plain, warm)] == ["Hello!", "Welcome!"]
    assert isinstance(plain.run([]), arkos.AIMessage)


class Tools:
    """`agent` as the document's tool state uses it; a tool may need the person to sign in."""

    current_user_id = "u1"

    def __init__(self, error: Exception | None = None) -> None:
        self.tool_manager = self
        self._tool_registry = {"find": "files"}
        self.error = error
        self.asked: list[Any] = []
        self.sent: dict[str, Any] = {}

    async def create_tool_option_class(self) -> Any:
        return SimpleNamespace(model_json_schema=lambda: {"enum": ["find"]})

    async def list_all_tools(self) -> Any:
        return {"files": {"find": {"inputSchema": {"type": "object", "title": "what to find"}}}}

    async def call_llm(self, context: Any, json_schema: Any) -> arkos.AIMessage:
        self.asked.append(json_schema["json_schema"])
        answer = {"tool_name": "find"} if len(self.asked) == 1 else {"name": "a.txt"}
        return arkos.AIMessage(content=json.dumps(answer))

    async def call_tool(self, **sent: Any) -> Any:
        self.sent = sent
        if self.error:
            raise self.error
        return {"found": 1}


@shows("000", "class StateTool(State)")
def test_000_tool_state(shown: Shown) -> None:
    """It picks a tool, fills its arguments by the tool's own schema, and calls it for the user."""
    with registering() as found:
        kind = ran(shown.text, json=json)["StateTool"]
    assert found == [("tool", kind)]
    agent = Tools()
    message = asyncio.run(kind("use_tool", {}).run([], agent))
    assert (message.role, message.content) == ("system", "{'found': 1}")
    assert [schema["name"] for schema in agent.asked] == ["tool_choice", "tool_args"]
    assert agent.asked[1]["schema"]["title"] == "what to find"
    assert agent.sent == {"tool_name": "find", "arguments": {"name": "a.txt"}, "user_id": "u1"}


@shows("000", "class StateTool(State)")
def test_000_tool_state_that_must_sign_in(shown: Shown) -> None:
    """ "Return friendly message with connect link"."""
    with registering():
        kind = ran(shown.text, json=json)["StateTool"]
    error = arkos.AuthRequiredError("mail", "https://example.org/c", {"name": "Mail"})
    message = asyncio.run(kind("use_tool", {}).run([], Tools(error)))
    assert message.content.startswith("To complete this request, please connect your Mail:")
    assert "https://example.org/c" in message.content


@shows("000", "# Agent logs state changes")
def test_000_logging(shown: Shown, capsys: pytest.CaptureFixture[str]) -> None:
    state = arkos.State("agent_reply", {})
    ran(shown.text, self=SimpleNamespace(current_state=state))
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("agent.py CURR STATE: ")
    assert second == "agent.py IS TERMINAL?: False"


@shows("000", "ready = state.check_transition_ready(messages)")
def test_000_ready(shown: Shown, capsys: pytest.CaptureFixture[str]) -> None:
    ran(shown.text, state=arkos.State("agent_reply", {}), messages=[])
    assert capsys.readouterr().out == "Transition ready: True\n"


# --- graphs ------------------------------------------------------------------------------------


@shows("000", "# === Core States ===")
def test_000_complete_graph(shown: Shown, tmp_path: Path) -> None:
    """It is right, and without an end: the person leaves. It runs, too."""
    found = check(tmp_path, "g.yaml", shown.text)
    compare(found, [Say("endless-chat", "info", 2)])
    graph = graph_of(shown.text)
    assert list(graph.states) == [
        "ask_user", "agent_reply", "use_tool", "autonomous_plan", "execute_step",
        "verify_progress", "learn_skill"]  # fmt: skip
    played = play(shown.text, "hi", first_line=True,
                  answers=["Hello!", {"next_state": "ask_user"}])  # fmt: skip
    assert (played.said, played.snapshot.state) == (["Hello!"], "ask_user")


@shows("000", "# state_module/state_graph.yaml")
def test_000_basic_graph(shown: Shown, tmp_path: Path) -> None:
    """As published its first line is indented by one, the other states by two: no YAML. With that
    blank put right it is a whole graph."""
    compare(check(tmp_path, "g.yaml", shown.text), [Say("parse-error", "error", 8)])
    right = shown.text.replace("\n ask_user", "\n  ask_user")
    assert len(right) == len(shown.text) + 1
    compare(check(tmp_path, "h.yaml", right), [
        Say("endless-chat", "info"), Say("missing-initial", "warning"),
        Say("missing-states", "info")])  # fmt: skip
    played = play(right, "hi", answers=["Hello!", {"next_state": "use_tool"}])
    assert played.path[:2] == ["agent_reply", "use_tool"]


@shows("000", "next: [agent_reply, ask_user, use_tool]\n")
def test_000_transition_format(shown: Shown, tmp_path: Path) -> None:
    """By itself no graph; inside a state its names are the ways out."""
    assert "it has neither 'states' nor 'initial'" in check(tmp_path, "g.yaml", shown.text).err
    inside = shown.text.replace("\n", "\n    ")
    text = f"initial: agent_reply\nstates:\n  agent_reply:\n    type: agent\n    {inside}\n"
    text += "  ask_user: {type: user, transition: {next: [agent_reply]}}\n"
    text += "  use_tool: {type: tool, transition: {next: [agent_reply]}}\n"
    ways = graph_of(text).states["agent_reply"].transitions
    assert [way.target for way in ways] == ["agent_reply", "ask_user", "use_tool"]


@shows("000", "# Good: Clear state names")
def test_000_good_and_bad(shown: Shown, tmp_path: Path) -> None:
    """Two graphs in one block. What is to be avoided is found, and where its states are missing."""
    compare(check(tmp_path, "g.yaml", shown.text), [
        Say("duplicate-key", "error", 10), Say("missing-initial", "warning"),
        Say("unknown-state-type", "warning", 12), Say("vague-name", "info", 11),
        *(Say("undefined-target", "error", 14, says=name) for name in ("'next1'", "'next2'")),
    ])  # fmt: skip
    good = shown.text.partition("# Avoid")[0]
    compare(check(tmp_path, "h.yaml", good), [
        Say("missing-initial", "warning"),
        *(Say("undefined-target", "error", 6, says=n) for n in ("'validate_input'", "'ask_cl")),
    ])  # fmt: skip


@shows("000", "next: [help, search]")
def test_000_stray_letter(shown: Shown, tmp_path: Path) -> None:
    """As published a letter stands below the list: no YAML."""
    text = f"initial: a\nstates:\n  a:\n    {shown.text.replace(chr(10), chr(10) + '    ')}"
    compare(check(tmp_path, "g.yaml", text), [Say("parse-error", "error", 6)])


# --- drawings ----------------------------------------------------------------------------------


@shows("000", "graph TB")
def test_000_architecture(shown: Shown) -> None:
    """The boxes of the drawing are names here."""
    assert {"StateHandler", "State", "register_state"} <= set(dir(arkos))
    assert {"run", "check_transition_ready"} <= set(dir(arkos.State))
    for box in ("StateHandler", "YAML Config", "AgentState Enum", "run method", "DONE"):
        assert f"[{box}]" in shown.text


@shows("000", "sequenceDiagram")
def test_000_sequence(shown: Shown, handler: Any) -> None:
    """Every call that the drawing sends to the handler and to a state can be made."""
    calls = set(re.findall(r"Agent->>(\w+): (\w+)\(", shown.text))
    assert calls == {
        ("StateHandler", "get_initial_state"), ("StateHandler", "get_state"), ("State", "run"),
        ("State", "check_transition_ready"), ("LLM", "choose_transition"),
    }  # fmt: skip
    state = handler.get_initial_state()
    assert state.check_transition_ready([]) in (True, False)
    for there, name in calls - {("LLM", "choose_transition")}:
        assert callable(getattr(state if there == "State" else handler, name))


def test_000_types_of_the_table(tmp_path: Path) -> None:
    """The document's table of types: each is a kind of ours, and only `terminal` ends."""
    rows = re.findall(r"^\| `(\w+)` +\| ([\w ]+?) +\| (Yes|No) +\|$", document("000"), re.MULTILINE)
    assert [row[0] for row in rows] == ["agent", "user", "tool", "decision", "terminal"]
    for kind, _, ends in rows:
        assert kind in KINDS
        path = tmp_path / "g.yaml"
        path.write_text(f"initial: a\nstates: {{a: {{type: {kind}}}}}\n", encoding="utf-8")
        assert arkos.StateHandler(path).get_state("a").is_terminal is (ends == "Yes")
