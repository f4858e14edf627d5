"""ARKOS's face (document 000): `StateHandler`, the loop of `Agent.step`, what states ask an agent,
and the names of states as an Enum. One engine: the loop makes the same run as `chat` does."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import re
from collections.abc import Coroutine, Iterator
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted import World, graph_of
from walks import LINES, Chance, graphs, talked

from statecli import arkos
from statecli.arkos import (
    Agent,
    AIMessage,
    AuthRequiredError,
    RunError,
    State,
    StateHandler,
    SystemMessage,
    UserMessage,
    register_state,
)
from statecli.kinds import arkos_names
from statecli.model.event import Body, Chose, Jumped
from statecli.model.graph import PLAN_KINDS, Graph
from statecli.model.ports import AuthRequired, ModelError, ToolResult, ToolSpec
from statecli.session.session import Session
from statecli.store.memory import MemoryStore
from statecli.store.sqlite import SqliteStore

SEEDS = Path(__file__).parents[2] / "shared" / "seeds"
R = TypeVar("R")

BASIC = """
initial: agent_reply
states:
  ask_user:
    description: "Waiting for user input"
    type: user
    transition:
      next: [agent_reply]

  agent_reply:
    description: "AI reasoning and response generation"
    type: agent
    transition:
      next: [ask_user, use_tool]

  use_tool:
    description: "Execute a specific tool"
    type: tool
    transition:
      next: [agent_reply, ask_user]
"""


def do(work: Coroutine[Any, Any, R]) -> R:
    return asyncio.run(work)


def handler(folder: Path, text: str = BASIC, **more: Any) -> StateHandler:
    path = folder / "state_graph.yaml"
    path.write_text(text, encoding="utf-8")
    return StateHandler(yaml_path=str(path), **more)


def agent(flow: StateHandler, *answers: Any, kind: type[Agent] = Agent, **more: Any) -> Any:
    """An agent in a scripted world: `answers` is what the model says."""
    found = kind(flow, **more)
    world = World(answers)
    world.user_id = None
    world.here = None  # type: ignore[attr-defined]
    found._world = world  # type: ignore[assignment]
    return found


def to(name: str) -> dict[str, str]:
    return {"next_state": name}


@pytest.fixture(autouse=True)
def own_registry() -> Iterator[None]:
    """What a test registers is gone after it."""
    before = list(arkos_names._registered[0])
    yield
    arkos_names._registered[0][:] = before


# --- StateHandler -----------------------------------------------------------------------


def test_the_handler_of_the_document(tmp_path: Path) -> None:
    flow = handler(tmp_path)
    assert flow.get_initial_state().name == "agent_reply"
    state = flow.get_state("use_tool")
    assert isinstance(state, State)
    assert (state.name, state.is_terminal) == ("use_tool", False)
    assert state.transition == {"next": ["agent_reply", "ask_user"]}
    assert flow.get_transitions(state, []) == {
        "tt": ["agent_reply", "ask_user"],
        "td": ["AI reasoning and response generation", "Waiting for user input"],
    }
    assert flow.get_transitions("ask_user", [])["tt"] == ["agent_reply"]


def test_descriptions_are_those_of_the_transition_else_of_the_target(tmp_path: Path) -> None:
    flow = handler(tmp_path, """
states:
  a:
    type: agent
    transition: {next: [{to: b, description: over there}, c, d]}
  b: {type: terminal, description: B}
  c: {type: terminal, description: C}
  d: {type: terminal}
""")  # fmt: skip
    assert flow.get_transitions("a")["td"] == ["over there", "C", ""]


GUARDED = """
initial: a
fields: {n: {type: int, default: 3}}
states:
  a:
    type: decision
    transition:
      next:
        - {to: big, when: "n > 5"}
        - {to: said, when: "len(messages) > 1"}
        - b
        - c
        - {to: d, priority: 2}
  b: {type: terminal}
  c: {type: terminal}
  d: {type: terminal}
  big: {type: terminal}
  said: {type: terminal}
"""


def test_guards_read_the_data_and_the_messages(tmp_path: Path) -> None:
    flow = handler(tmp_path, GUARDED)
    assert flow.get_transitions("a", [])["tt"] == ["b", "c"]
    assert flow.get_transitions("a", [], {"n": 6})["tt"] == ["big"]
    two = [UserMessage(content="x"), {"role": "assistant", "content": "y"}]
    assert flow.get_transitions("a", two)["tt"] == ["said"]
    assert flow.get_transitions("b", [])["tt"] == []
    with pytest.raises(ValueError, match=r"int|number"):
        flow.get_transitions("a", [], {"n": "many"})


def test_every_way_of_a_state_that_takes_all(tmp_path: Path) -> None:
    text = GUARDED.replace("transition:\n", "transition:\n      fanout: all\n", 1)
    flow = handler(tmp_path, text)
    assert flow.get_transitions("a", [], {"n": 6})["tt"] == ["big", "b", "c", "d"]


def test_no_such_state(tmp_path: Path) -> None:
    flow = handler(tmp_path)
    with pytest.raises(ValueError, match=r"no state is named 'use_tol' \(did you mean 'use_tool'"):
        flow.get_state("use_tol")
    with pytest.raises(ValueError, match="there are: ask_user, agent_reply, use_tool"):
        flow.get_transitions("xyz", [])
    assert flow.get_state(flow.enum()("use_tool")).name == "use_tool"  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "message"),
    [("", "graph"), ("states: [", r"graph.yaml:1:\d+"), ("just text", "graph"), ("a: 1", "graph"),
     ("states: {}", "graph")],
)  # fmt: skip
def test_files_that_are_no_graph(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        handler(tmp_path, text)
    with pytest.raises(OSError, match="nothing"):
        StateHandler(tmp_path / "nothing.yaml")


# --- custom kinds -----------------------------------------------------------------------

CUSTOM = """
initial: hello
states:
  hello: {type: greeting, greeting: Welcome aboard!, transition: {next: [hear]}}
  hear: {type: user, transition: {next: [hello]}}
"""

PLUGIN = """
from state_module.state import State
from model_module.ArkModelNew import AIMessage

@register_state
class GreetingState(State):
    def __init__(self, name, config):
        super().__init__(name, config)
        self.greeting = config.get("greeting", "Hello!")

    def check_transition_ready(self, context):
        return True

    def run(self, context, agent=None):
        return AIMessage(content=self.greeting)
"""


def test_plugins_only_with_permission(tmp_path: Path) -> None:
    (tmp_path / "state_greeting.py").write_text(PLUGIN)
    with pytest.raises(ValueError, match=r"kind 'greeting': register one .*allow_plugins=True"):
        handler(tmp_path, CUSTOM)
    flow = handler(tmp_path, CUSTOM, allow_plugins=True)
    state: Any = flow.get_state("hello")
    assert (type(state).__name__, state.greeting) == ("GreetingState", "Welcome aboard!")
    assert state.run([], None).content == "Welcome aboard!"

    async def loop() -> Any:
        """The document's loop awaits what its own state only returns."""
        return await state.run([], None)

    assert do(loop()).content == "Welcome aboard!"
    assert do(agent(flow).step("hi")).content == "Welcome aboard!"


def test_plugins_that_do_not_load(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"kind 'greeting': write .*state_greeting.py"):
        handler(tmp_path, CUSTOM, allow_plugins=True)
    (tmp_path / "state_greeting.py").write_text("raise SystemExit(3)")
    with pytest.raises(ValueError, match="does not load: SystemExit: 3"):
        handler(tmp_path, CUSTOM, allow_plugins=True)
    other = tmp_path / "mine.py"
    other.write_text(PLUGIN.replace("@register_state", '@register_state("greeting")'))
    (tmp_path / "state_greeting.py").unlink()
    flow = handler(tmp_path, CUSTOM, allow_plugins=True, plugins=[other])
    assert do(agent(flow).step("hi")).content == "Welcome aboard!"


def test_what_the_program_registers_needs_no_permission(tmp_path: Path) -> None:
    @register_state
    class GreetingState(State):
        def run(self, context: Any, agent: Any = None) -> Any:
            return f"hello {context[-1].content}"

    found: Any = do(agent(handler(tmp_path, CUSTOM)).step("ann"))
    assert found.content == "hello ann"

    @register_state("greeting")
    async def greet(context: Any, agent: Any) -> Any:
        return f"a function greets {agent.current_user_id}"

    flow = handler(tmp_path, CUSTOM)
    assert do(agent(flow).step("x", user_id="ann")).content == "a function greets ann"
    state = flow.get_state("hello")
    assert do(state.run([], agent(flow))).endswith("greets None")


@pytest.mark.parametrize(
    ("name", "kind"),
    [("GreetingState", "greeting"), ("StateTool", "tool"), ("StateUseTool2", "use_tool2"),
     ("State", "state"), ("Quiet", "quiet")],
)  # fmt: skip
def test_the_kind_of_a_class_without_a_type(name: str, kind: str) -> None:
    register_state(type(name, (State,), {}))
    assert kind in arkos_names.registered()


def test_a_plugin_s_kinds_are_not_the_program_s(tmp_path: Path) -> None:
    (tmp_path / "state_greeting.py").write_text(PLUGIN)
    handler(tmp_path, CUSTOM, allow_plugins=True)
    assert "greeting" not in arkos_names.registered()


def test_an_object_for_each_state_of_each_agent(tmp_path: Path) -> None:
    @register_state("greeting")
    class Counts(State):
        asked = 0

        def run(self, context: Any, agent: Any = None) -> Any:
            self.asked += 1
            return f"{self.name} {self.asked}"

    flow = handler(tmp_path, CUSTOM)
    one, two = agent(flow), agent(flow)
    assert [do(one.step("x")).content, do(one.step("y")).content] == ["hello 1", "hello 2"]
    assert do(two.step("x")).content == "hello 1"
    assert one.flow.get_state("hello").asked == 2
    assert isinstance(one.flow.get_state("hello").inner, Counts)
    with pytest.raises(AttributeError):
        _ = one.flow.get_state("hello").nothing


def test_a_state_that_is_not_ready_waits_and_one_that_says_so_ends(tmp_path: Path) -> None:
    @register_state("greeting")
    class Asks(State):
        def check_transition_ready(self, context: Any) -> bool:
            return any(m.content == "yes" for m in context)

        def run(self, context: Any, agent: Any = None) -> Any:
            self.is_terminal = context[-1].content == "stop"
            return None if self.is_terminal else {"asked": len(context)}

    found = agent(handler(tmp_path, CUSTOM))
    for line, state in (("hi", "hello"), ("no", "hello"), ("yes", "hear")):
        assert do(found.step(line)) is None
        assert (found.current_state.name, found.status) == (state, "waiting")
    assert found.data["asked"] == 3
    do(found.step("stop"))
    assert found.status == "ended"


def test_a_custom_state_that_raises(tmp_path: Path) -> None:
    @register_state("greeting")
    def broken(context: Any) -> Any:
        raise ValueError("no luck")

    found = agent(handler(tmp_path, CUSTOM))
    with pytest.raises(RunError, match="hello: ValueError: no luck"):
        do(found.step("hi"))
    assert found.status == "failed"


# --- the loop ---------------------------------------------------------------------------


def test_the_loop(tmp_path: Path) -> None:
    found = agent(handler(tmp_path), "Hello!", to("ask_user"), "Bye!", to("ask_user"))
    assert found.current_state.name == "agent_reply"
    assert found.current_state.is_terminal, "the person has the first word"
    reply = do(found.step([UserMessage(content="hi")], user_id="ann"))
    assert isinstance(reply, AIMessage)
    assert reply.content == "Hello!"
    assert (found.current_state.name, found.status) == ("ask_user", "waiting")
    assert found.current_user_id == "ann"
    assert do(found.step("bye")).content == "Bye!"
    assert [m.content for m in found.get_context()] == ["hi", "Hello!", "bye", "Bye!"]
    assert do(found.step()) is None, "nothing to do without a line"


def test_the_whole_conversation_may_be_given_again(tmp_path: Path) -> None:
    found = agent(handler(tmp_path), *["Yes?", to("ask_user")] * 4)
    messages: list[Any] = [UserMessage(content="one")]
    messages.append(do(found.step(messages)))
    messages.append({"role": "user", "content": "two"})
    do(found.step(messages))  # its reply is left out
    messages.append(UserMessage(content="three"))
    do(found.step(messages))
    do(found.step([UserMessage(content="one")]))  # alone it is said once more
    said = [m.content for m in found.get_context() if m.role == "user"]
    assert said == ["one", "two", "three", "one"]


def test_terminal_states_say_their_message_and_end(tmp_path: Path) -> None:
    text = "states: {a: {type: agent, transition: {next: [b]}}, b: {type: terminal, message: Bye.}}"
    found = agent(handler(tmp_path, text), "Hello!")
    assert do(found.step("hi")).content == "Bye."
    assert (found.status, found.current_state.is_terminal) == ("ended", True)
    assert do(found.step("more")) is None


LOOPS = """
states:
  a: {type: decision, transition: {next: [b]}}
  b: {type: decision, transition: {next: [a]}}
  hear: {type: user, transition: {next: [a]}}
"""


@pytest.mark.parametrize("most", [None, 3])
def test_max_iter(most: int | None, tmp_path: Path) -> None:
    """MAX_ITER is `limits.max_steps`: so many bodies, then the run stands, and can go on."""
    found = agent(handler(tmp_path, LOOPS), max_iter=most)
    for _ in range(2):
        with pytest.raises(RunError, match=f"max_steps: {most or 10} steps without the person"):
            do(found.step("x"))
        assert found.status == "limited"
    moves = [event.body for event in found.events if isinstance(event.body, Chose)]
    assert len(moves) == 2 * (most or 10)


def test_what_fails(tmp_path: Path) -> None:
    said = [ModelError("no server"), "Hello!", ModelError("gone"), "Once more", to("ask_user")]
    found = agent(handler(tmp_path), *said)
    with pytest.raises(RunError, match="agent_reply: no server"):
        do(found.step("hi"))
    assert (found.status, found.current_state.name) == ("failed", "agent_reply")
    with pytest.raises(RunError, match="agent_reply: gone"):
        do(found.step())
    assert do(found.step()).content == "Once more"
    assert [e.name for e in found.events].count("failed") == 2


def test_nothing_holds(tmp_path: Path) -> None:
    text = GUARDED.replace("        - b\n        - c\n        - {to: d, priority: 2}\n", "")
    found = agent(handler(tmp_path, text))
    with pytest.raises(RunError, match="nothing holds in 'a'"):
        do(found.step("x"))
    assert found.status == "stuck"


def test_nobody_chooses(tmp_path: Path) -> None:
    text = GUARDED.replace('"n > 5"', '"n > 50"')
    found = agent(handler(tmp_path, text), "nowhere", "no idea")
    with pytest.raises(RunError, match="named none of b, c, asked twice"):
        do(found.step())
    assert found.status == "limited"
    with pytest.raises(RunError, match="asks a model; give Agent a provider"):
        do(Agent(handler(tmp_path, text)).step())


def test_a_service_that_must_be_connected(tmp_path: Path) -> None:
    found = agent(handler(tmp_path), AuthRequired("mail", "https://example.org/connect", "Sign in"))
    with pytest.raises(AuthRequiredError) as caught:
        do(found.step("hi"))
    assert caught.value.connect_url == "https://example.org/connect"
    assert found.status == "interrupted"


def test_the_loop_of_the_document_written_out(tmp_path: Path) -> None:
    """`class Agent` of document 000 does not parse as published (``...`` among its parameters);
    with them left out it is this, word for word."""

    class Written(Agent):
        def __init__(self, flow: StateHandler) -> None:
            super().__init__(flow)
            self.flow = flow
            self.current_state = self.flow.get_initial_state()

        async def step(self, messages: Any, user_id: Any = None) -> None:  # type: ignore[override]
            self.add_context(messages)  # the document leaves open how they get there
            while not self.current_state.is_terminal:
                # Run current state
                context = self.get_context()
                update = await self.current_state.run(context, self)

                if update:
                    self.add_context([update])

                # Check for transition
                if self.current_state.check_transition_ready(messages):
                    transition_dict = self.flow.get_transitions(self.current_state, messages)
                    transition_names = transition_dict["tt"]

                    if len(transition_names) == 1:
                        next_state_name = transition_names[0]
                    else:
                        # LLM chooses between options
                        next_state_name = await self.choose_transition(transition_dict, messages)

                    self.current_state = self.flow.get_state(next_state_name)

        async def choose_transition(self, transitions_dict: Any, messages: Any = None) -> str:
            transition_tuples = list(
                zip(transitions_dict["tt"], transitions_dict["td"], strict=True)
            )
            prompt = f"Given the conversation context and these options: {transition_tuples}"
            NextStates = self.create_next_state_class(transition_tuples)  # noqa: N806
            output = await self.call_llm(
                context=[SystemMessage(content=prompt), *messages],
                json_schema=NextStates.model_json_schema(),
            )
            return str(json.loads(output.content)["next_state"])

    flow = handler(tmp_path)
    found = agent(flow, "Hello!", to("ask_user"), "Again!", to("ask_user"), kind=Written)
    do(found.step([UserMessage(content="hi")]))
    do(found.step([UserMessage(content="ho")]))
    assert [m.content for m in found.get_context()] == ["hi", "Hello!", "ho", "Again!"]
    request = found._world.requests[1]
    assert (request.what, request.context[0]["role"]) == ("structured", "system")
    assert request.schema["properties"]["next_state"]["enum"] == ["ask_user", "use_tool"]
    chosen = [e.body for e in found.events if isinstance(e.body, Chose)]
    assert [(c.target, c.by) for c in chosen][:2] == [("ask_user", "body"), ("agent_reply", "line")]


def test_a_loop_that_knows_better(tmp_path: Path) -> None:
    """`current_state` may be set to any state: recorded as what it is."""
    found = agent(handler(tmp_path), "Hello!")
    found.add_context([UserMessage(content="hi")])
    do(found.current_state.run(found.get_context(), found))
    with pytest.raises(ValueError, match="no state is named 'x'"):
        found.current_state = "x"
    found.current_state = found.flow.get_state("agent_reply")
    assert found.events[-2].body.by == "body"
    found.current_state = "use_tool"
    assert isinstance(found.events[-1].body, Jumped)
    with pytest.raises(ValueError, match="the run is at 'use_tool'"):
        do(found.flow.get_state("ask_user").run([], found))


def test_states_that_no_agent_runs(tmp_path: Path) -> None:
    flow = handler(tmp_path)
    state = flow.get_state("agent_reply")
    assert state.check_transition_ready([])
    user = flow.get_state("ask_user")
    assert not user.check_transition_ready([AIMessage(content="x")])
    assert user.check_transition_ready([{"role": "user", "content": "x"}])
    with pytest.raises(TypeError, match="run it with an Agent"):
        do(state.run([], None))
    found = agent(flow, "Hello!")
    found.add_context([UserMessage(content="hi")])
    update = do(state.run([], found))
    assert (update.role, update.content) == ("assistant", "Hello!")


# --- what states ask --------------------------------------------------------------------

TOOLS = """
initial: use
tools: {files: {command: [f]}, crm: {command: [c]}}
states:
  use: {type: mine, transition: {next: [hear]}}
  hear: {type: user, transition: {next: [use]}}
"""


def test_the_facade_inside_a_state(tmp_path: Path) -> None:
    """What document 000's tool state asks, and the rest of the facade; the agent is the program's
    own, with whatever it has."""

    class Mine(Agent):
        memory = "kept"

    @register_state("mine")
    async def use(context: Any, agent: Any) -> Any:
        assert isinstance(agent, Mine)
        assert agent.memory == "kept"
        assert agent.current_state.name == "use"
        assert agent.get_context()[-1].content == context[-1].content
        options = await agent.create_tool_option_class()
        schema = {"type": "json_schema", "json_schema": {"name": "t", "schema":
                  options.model_json_schema()}}  # fmt: skip
        chosen = json.loads((await agent.call_llm(context, schema)).content)
        server = agent.tool_manager._tool_registry[chosen["tool_name"]]
        tools = await agent.tool_manager.list_all_tools()
        assert chosen["tool_name"] in tools[server]
        agent.add_context([SystemMessage(content="between")])
        result = await agent.tool_manager.call_tool(
            tool_name=chosen["tool_name"], arguments={"a": 1}, user_id=agent.current_user_id
        )
        name = await agent.choose_transition({"tt": ["hear", "use"], "td": ["", ""]}, context)
        return SystemMessage(content=f"{server}: {result}, then {name}")

    answers: list[Any] = [{"tool_name": "read"}, to("hear")]
    found = agent(handler(tmp_path, TOOLS), *answers, kind=Mine)
    world = found._world
    world.specs = (ToolSpec("files.read", "", None, "files"), ToolSpec("crm.find", "", None, "crm"))
    world.results = [ToolResult(True, "done")]
    do(found.step("look", user_id="ann"))
    said = [(m.role, m.content) for m in found.get_context()]
    assert said == [
        ("user", "look"),
        ("system", "between"),
        ("assistant", "files: done, then hear"),
    ]
    names = [event.name for event in found.events]
    assert names.index("called") < names.index("returned")


def test_the_facade_between_states(tmp_path: Path) -> None:
    """A program may ask its agent outside of any state: that is in the trace too."""
    found = agent(handler(tmp_path), "an answer", to("ask_user"))
    assert do(found.call_llm([UserMessage(content="q")])).content == "an answer"
    name = do(found.choose_transition({"tt": ["ask_user", "use_tool"], "td": ["", ""]}))
    assert name == "ask_user"
    assert do(found.choose_transition({"tt": ["use_tool"], "td": []})) == "use_tool"
    assert [e.body.what for e in found.events if e.name == "asked"] == ["reply", "choice"]
    with pytest.raises(ValueError, match="no options"):
        do(found.choose_transition({"tt": [], "td": []}))
    with pytest.raises(ValueError, match="no state 'moon'"):
        do(found.choose_transition({"tt": ["moon", "ask_user"], "td": []}))
    with pytest.raises(ModelError, match="nothing is not connected: the graph declares no"):
        do(Agent(handler(tmp_path)).tool_manager.call_tool("nothing"))


def test_two_agents_one_state_each(tmp_path: Path) -> None:
    """An agent asked inside of another one's state is itself, not that one."""

    @register_state("mine")
    async def use(context: Any, agent: Any) -> Any:
        await other.call_llm([UserMessage(content="q")])
        return "done"

    flow = handler(tmp_path, TOOLS)
    other = agent(handler(tmp_path), "for the other")
    first = agent(flow)
    assert do(first.step("x")).content == "done"
    assert "asked" in [e.name for e in other.events]
    assert "asked" not in [e.name for e in first.events]


def test_a_cancelled_step_begins_anew(tmp_path: Path) -> None:
    @register_state("mine")
    async def use(context: Any, agent: Any) -> Any:
        if len(seen) < 1:
            seen.append("slow")
            await asyncio.sleep(60)
        return "done"

    seen: list[str] = []
    found = agent(handler(tmp_path, TOOLS))

    async def play() -> Any:
        task = asyncio.ensure_future(found.step("x"))
        while not seen:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert found.status == "interrupted"
        return await found.step()

    assert do(play()).content == "done"
    assert [m.content for m in found.get_context()] == ["x", "done"]


def test_an_agent_is_taken_up_from_its_store(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "s.db")
    flow = handler(tmp_path)
    one = agent(flow, "Hello!", to("ask_user"), store=store, run_id="r", data={"x": 1})
    do(one.step("hi"))
    two = agent(flow, "Again!", to("ask_user"), store=store, run_id="r")
    two._world._ids = itertools.count(100)
    assert two.run_id == "r"
    assert do(two.step("ho")).content == "Again!"
    assert [m.content for m in two.get_context()] == ["hi", "Hello!", "ho", "Again!"]
    assert two.data["x"] == 1
    with pytest.raises(ValueError, match="keeps the graph"):
        two.flow = handler(tmp_path)


def test_python_tools_run_only_with_permission(tmp_path: Path) -> None:
    (tmp_path / "calc_tools.py").write_text("def add(a: int, b: int) -> int:\n    return a + b\n")
    text = """
initial: use
tools: {calc: {python: "calc_tools:add"}}
states:
  use:
    type: tool
    tool: calc
    arguments: {a: 2, b: 3}
    writes: [total]
    transition: {next: [hear]}
  hear: {type: user, transition: {next: [use]}}
"""

    async def play(found: Agent) -> Any:
        try:
            return await found.step("go")
        finally:
            await found.close()

    allowed = Agent(handler(tmp_path, text, allow_plugins=True), allow_tools="all")
    do(play(allowed))
    assert allowed.data["total"] in (5, "5")
    refused = Agent(handler(tmp_path, text), allow_tools="all")
    do(play(refused))
    assert "total" not in refused.data
    assert "calc is not connected: allow_plugins=True runs it" in refused.get_context()[-1].content


# --- one engine -------------------------------------------------------------------------


def bare(found: list[Body]) -> list[Any]:
    """Events without what differs from run to run: ids, and the count in a limit's message."""
    gone = {"id", "call", "message"}
    return [
        (type(body).__name__, [plain_value(v) for k, v in body._asdict().items() if k not in gone])
        for body in found
    ]


def plain_value(value: Any) -> Any:
    if isinstance(value, dict) and "messages" in value:
        return {**value, "messages": [m["content"] for m in value["messages"]]}
    return value


@st.composite
def fanning(draw: st.DrawFn) -> dict[str, Any]:
    """A random graph, some of whose states take every way that holds."""
    value: dict[str, Any] = draw(graphs())
    for name in draw(st.lists(st.sampled_from(list(value["states"])), max_size=2, unique=True)):
        state = value["states"][name]
        if state["type"] not in PLAN_KINDS and "transition" in state:
            state["transition"]["fanout"] = "all"
    return value


@settings(max_examples=80, deadline=None)
@given(value=fanning(), lines=LINES, seed=st.integers(0, 10**6))
def test_the_loop_makes_the_run_that_the_engine_makes(
    value: dict[str, Any], lines: list[str], seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Event by event, over random graphs of all kinds, with guards, limits, `on_error`, entries:
    so `get_transitions` offers what the engine takes, at every step."""
    path = tmp_path_factory.getbasetemp() / f"{seed % 7}.json"
    path.write_text(json.dumps(value))
    flow = StateHandler(path)
    store = MemoryStore()
    session = Session.start(flow.graph, store, first_line=True)
    talked(session, Chance(seed), lines)
    found: Any = Agent(flow)
    found._world = Chance(seed)
    with_loop(found, lines)
    assert bare([e.body for e in found.events]) == bare([e.body for e in store.events(session.run)])


def with_loop(found: Any, lines: list[str]) -> None:
    for line in [None, *lines]:
        if found.status == "ended" or (line is None and found.status != "running"):
            continue
        with contextlib.suppress(RunError):
            do(found.step(line if line is not None else ()))


# --- names ------------------------------------------------------------------------------


def enum(*names: str) -> dict[str, str]:
    states = {name: {"type": "user"} for name in names}
    found = graph_of(json.dumps({"initial": names[0], "states": states})).enum()
    assert [member.value for member in found] == list(names)
    return {member.name: member.value for member in found}


@pytest.mark.parametrize(
    ("names", "members"),
    [
        (["greet_user", "done"], ["GREET_USER", "DONE"]),
        (["a b", "a-b", "a_b", "A_B"], ["A_B__", "A_B___", "A_B", "A_B_"]),
        (["done", "Done", "DONE"], ["DONE", "DONE_", "DONE__"]),
        (["2nd", "_x", "__init__", "___"], ["STATE_2ND", "STATE__X", "STATE___INIT", "STATE"]),
        (["class", "None", "name", "value", "mro", "_value_"],
         ["CLASS", "NONE", "NAME", "VALUE", "MRO", "STATE__VALUE"]),
        (["grüße", "日本", "a²", "ｆｕｌｌ", "🦊"], ["GRÜSSE", "日本", "A2", "FULL", "STATE"]),
        (["a.b", "a/b:c", " x "], ["A_B", "A_B_C", "STATE__X"]),
    ],
)  # fmt: skip
def test_the_names_of_members(names: list[str], members: list[str]) -> None:
    assert list(enum(*names)) == members


@settings(max_examples=100, deadline=None)
@given(names=st.lists(st.text(min_size=1, max_size=6), min_size=1, max_size=6, unique=True))
def test_every_state_has_a_member_that_python_can_write(names: list[str]) -> None:
    from statecli.model.graph import State as Node

    nodes = {name: Node(name, "user", ()) for name in names}
    graph = Graph("states", names[0], None, nodes, {})
    found = graph.enum()
    assert issubclass(found, Enum)
    assert issubclass(found, str)
    assert [member.value for member in found] == names
    for member in found:
        assert member.name.isidentifier()
        assert re.fullmatch(r"[^\W\d_].*", member.name)
        space: dict[str, Any] = {}
        assert found[member.name] is getattr(found, member.name) is found(member.value)
        assert not space
    assert [m.name for m in graph.enum()] == [m.name for m in found]


def test_the_thin_module_has_the_documents_names() -> None:
    names = {"StateHandler", "State", "register_state", "Agent", "AIMessage", "SystemMessage",
             "UserMessage", "ToolMessage", "AuthRequiredError"}  # fmt: skip
    assert names <= set(arkos.__all__)
    if SEEDS.is_dir():
        text = next(SEEDS.glob("000*.txt")).read_text("utf-8")
        imported = re.findall(r"^from \w+_module\.\w+ import (.+)$", text, re.MULTILINE)
        wanted = {name.strip() for line in imported for name in line.split(",")}
        assert wanted <= set(arkos.__all__), "each name that the document imports"
