"""What the source documents promise to people who write Python or come from those tools, one test
for each of their sentences. 000 ARKOS, 001 Burr, 003 Agentex (model.md 8 is how we say it)."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import threading
from collections.abc import AsyncIterator, Iterator
from enum import Enum
from typing import Any, TypedDict

import pytest
from scripted import play

from statecli import GraphBuilder, Run, aio, default, expr, when
from statecli.llm.script import ScriptProvider
from statecli.model.event import Changed, Chose, Ended, Entered, Failed, Limited, Started
from statecli.model.graph import Graph
from statecli.session.drive import InsideLoop
from statecli.session.function import MissingInput
from statecli.session.run import RunError, Step
from statecli.store.memory import MemoryStore
from statecli.store.sqlite import SqliteStore
from statecli.text.conversation import read


def stepped(run: Run, inputs: dict[str, Any] | None = None) -> Step:
    """A step that is taken."""
    found = run.step(inputs=inputs)
    assert found is not None
    return found


# --- 001, Burr --------------------------------------------------------------------------


def human_input(data: dict[str, Any], prompt: str) -> dict[str, Any]:
    """Takes the person's words."""
    return {"chat_history": [*data["chat_history"], prompt], "prompt": prompt}


def ai_response(data: dict[str, Any]) -> dict[str, Any]:
    return {"chat_history": [*data["chat_history"], data["prompt"].upper()]}


def chat() -> Graph:
    """The example at the top of document 001."""
    return (
        GraphBuilder()
        .with_states(human_input, ai_response)
        .with_transitions(("human_input", "ai_response"), ("ai_response", "human_input"))
        .with_initial("human_input")
        .build()
    )


def count(data: dict[str, Any]) -> dict[str, Any]:
    return {"n": data["n"] + 1}


def counter(*more: Any) -> Graph:
    return (
        GraphBuilder()
        .with_states(count=count, report=lambda data: {"said": f"n is {data['n']}"})
        .with_transitions(("count", "report", when(n__gte=3)), ("count", "count"), *more)
        .with_initial("count")
        .build()
    )


def test_001_step_returns_the_state_its_result_and_the_data() -> None:
    """Step returns "the tuple of the action, the result of that action, and the new state"."""
    run = Run(counter(), data={"n": 0})
    state, result, data = stepped(run)
    assert (state, result, dict(data)) == ("count", {"n": 1}, {"n": 1})
    assert run.state == "count"


def test_001_inputs_are_keyword_arguments_of_the_function() -> None:
    """Step takes `inputs`, "passed to the action's run function as keyword arguments"."""
    run = Run(chat(), data={"chat_history": []})
    state, result, _ = stepped(run, {"prompt": "hi"})
    assert state == "human_input"
    assert result["chat_history"] == ["hi"]


def test_001_a_missing_required_input_raises_before_the_step() -> None:
    run = Run(chat(), data={"chat_history": []})
    before = run.events
    with pytest.raises(MissingInput, match="'human_input' needs the input 'prompt'"):
        run.step()
    assert run.events == before
    assert run.status == "running"


def test_001_inputs_reach_the_first_step_only() -> None:
    """ "This will only apply to the first action."."""
    run = Run(chat(), data={"chat_history": []})
    with pytest.raises(MissingInput):
        run.run(halt_after=[], inputs={"prompt": "hi"})
    assert run.data["chat_history"] == ["hi", "HI"]
    assert run.state == "human_input"


def test_001_optional_inputs_have_their_default() -> None:
    def greet(data: dict[str, Any], name: str = "you", **more: Any) -> dict[str, Any]:
        return {"said": f"{name} {sorted(more)}"}

    graph = GraphBuilder().with_states(greet).build()
    assert stepped(Run(graph)).result == {"said": "you []"}
    step = stepped(Run(graph), {"name": "Ann", "x": 1})
    assert step.result == {"said": "Ann ['x']"}


def test_001_transitions_are_tried_in_the_order_in_which_they_are_declared() -> None:
    """Conditions are evaluated in the order they are specified; `default` holds always."""

    def graph(*ways: Any) -> Graph:
        nothing: dict[str, Any] = dict.fromkeys("abcd", lambda data: {})
        return GraphBuilder().with_states(**nothing).with_transitions(*ways).build()

    def goes(*ways: Any, **data: Any) -> str:
        run = Run(graph(*ways), data=data)
        run.step()
        return run.state

    assert goes(("a", "b", when(x=1)), ("a", "c", when(x=1)), x=1) == "b"
    assert goes(("a", "b", when(x=2)), ("a", "c", expr("x == 1")), ("a", "d"), x=1) == "c"
    assert goes(("a", "b", when(x=2)), ("a", "c", default), x=1) == "c"
    assert goes((["a", "b"], "d", when(x=1)), ("a", "c"), x=1) == "d"


def test_001_iterate_runs_step_in_a_row() -> None:
    run = Run(counter(), data={"n": 0})
    assert [(s, r) for s, r, _ in run.iterate(halt_after=["report"])] == [
        ("count", {"n": 1}), ("count", {"n": 2}), ("count", {"n": 3}),
        ("report", {"said": "n is 3"})]  # fmt: skip


def returned(steps: Iterator[Step]) -> Step:
    while True:
        try:
            next(steps)
        except StopIteration as stop:
            found: Step = stop.value
            return found


def test_001_iterate_has_a_return_value_after() -> None:
    """In the `after` case the action will have already run, its result is there."""
    run = Run(counter(), data={"n": 0})
    assert returned(run.iterate(halt_after=["report"]))[:2] == ("report", {"said": "n is 3"})


def test_001_iterate_has_a_return_value_before() -> None:
    """In the `before` case the action will not have run, its result is None."""
    run = Run(counter(), data={"n": 0})
    state, result, data = returned(run.iterate(halt_before=["report"]))
    assert (state, result, data["n"]) == ("report", None, 3)
    assert "said" not in run.data
    assert run.state == "report"


def test_001_run_goes_to_the_halt_that_comes_first() -> None:
    """ "If multiple are specified, it will stop after the first one encountered."."""
    run = Run(counter(), data={"n": 0})
    assert run.run(halt_after=["report", "count"])[:2] == ("count", {"n": 1})
    assert run.run(halt_before=["report"], halt_after=["report"]).result is None


def test_001_halt_before_wins_and_at_least_one_step_is_taken() -> None:
    run = Run(counter(), data={"n": 0})
    state, result, _ = run.run(halt_before=["count"], halt_after=["count"])
    assert (state, result) == ("count", None)
    assert run.data["n"] == 1, "one step was taken"


def test_001_halts_may_be_tags() -> None:
    graph = (
        GraphBuilder()
        .with_states(human_input, ai_response)
        .with_transitions(("human_input", "ai_response"), ("ai_response", "human_input"))
        .with_tags(human_input=["human"])
        .build()
    )
    run = Run(graph, data={"chat_history": []})
    found = run.run(halt_before=["@tag:human"], inputs={"prompt": "hi"})
    assert (found.state, found.result) == ("human_input", None)
    assert run.data["chat_history"] == ["hi", "HI"]


def test_001_empty_lists_run_to_the_end() -> None:
    """Without a halt it runs on; where "there are no more transitions to take" it ends."""
    run = Run(counter(), data={"n": 0})
    assert run.run().state == "report"
    assert run.status == "ended"
    assert run.step() is None
    assert isinstance(run.events[-1].body, Ended)
    assert not any(isinstance(event.body, Failed) for event in run.events)


def test_001_stream_result_gives_the_pieces() -> None:
    def speak(data: dict[str, Any]) -> Iterator[Any]:
        yield "one "
        yield "two"
        yield {"text": "one two"}

    def after(data: dict[str, Any]) -> dict[str, Any]:
        return {"after": True}

    graph = GraphBuilder().with_states(speak, after).with_transitions(("speak", "after")).build()
    run = Run(graph)
    assert list(run.stream_result(halt_after=["speak"])) == ["one ", "two"]
    assert run.data["text"] == "one two"
    assert run.state == "after"
    assert list(Run(graph).stream_result()) == ["one ", "two"]


def test_001_a_stream_comes_as_it_is_made() -> None:
    made: list[int] = []

    async def speak(data: dict[str, Any]) -> AsyncIterator[Any]:
        for number in range(5):
            made.append(number)
            yield f"{number}"
            await asyncio.sleep(0)

    graph = GraphBuilder().with_states(speak).build()
    stream = Run(graph).stream_result()
    assert next(stream) == "0"
    assert len(made) < 5
    stream.close()  # type: ignore[attr-defined]
    assert len(made) < 5, "nobody listens: the body is not run to its end"


def test_001_a_generator_may_return_its_delta() -> None:
    def speak(data: dict[str, Any]) -> Any:
        yield "a"
        return {"text": "a"}

    run = Run(GraphBuilder().with_states(speak).build())
    assert stepped(run).result == {"text": "a"}


def test_001_the_graph_and_the_data_can_be_looked_at() -> None:
    """ "If you modify it the results will not show up -- state is immutable!"."""
    run = Run(counter(), data={"n": 0})
    assert list(run.graph.states) == ["count", "report"]
    with pytest.raises(TypeError):
        run.data["n"] = 7  # type: ignore[index]
    step = stepped(run)
    with pytest.raises(TypeError):
        step.data["n"] = 7  # type: ignore[index]


def test_001_a_body_cannot_change_the_data_but_by_its_delta() -> None:
    def spoil(data: dict[str, Any]) -> dict[str, Any]:
        data["items"].append("mine")
        data["x"] = 1
        return {"y": 1}

    run = Run(GraphBuilder().with_states(spoil).build(), data={"items": []})
    run.step()
    assert dict(run.data) == {"items": [], "y": 1}


def test_001_what_a_body_keeps_does_not_change_the_trace() -> None:
    kept: list[int] = []

    def add(data: dict[str, Any]) -> dict[str, Any]:
        kept.append(len(kept))
        return {"kept": kept}

    graph = GraphBuilder().with_states(add).with_transitions(("add", "add")).build()
    run = Run(graph)
    run.step()
    run.step()
    found = [event.body.data for event in run.events if isinstance(event.body, Changed)]
    assert found == [{"kept": [0]}, {"kept": [0, 1]}]


def test_001_a_graph_may_run_many_times() -> None:
    """ "create a graph once, application many times"."""
    graph = counter()
    first, second = Run(graph, data={"n": 0}), Run(graph, data={"n": 2})
    first.run()
    assert second.data["n"] == 2
    assert second.run().data["n"] == 3


def test_001_the_async_twins() -> None:
    async def slow(data: dict[str, Any]) -> dict[str, Any]:
        await asyncio.sleep(0)
        return {"n": data["n"] + 1}

    graph = (
        GraphBuilder()
        .with_states(slow=slow, report=lambda data: {"said": data["n"]})
        .with_transitions(("slow", "report", when(n__gte=3)), ("slow", "slow"))
        .build()
    )

    async def main() -> None:
        run = aio.Run(graph, data={"n": 0})
        step = await run.step()
        assert step is not None
        assert step[:2] == ("slow", {"n": 1})
        assert [s.state async for s in run.iterate(halt_after=["report"])] == [
            "slow", "slow", "report"]  # fmt: skip
        again = aio.Run(graph, data={"n": 0})
        assert (await again.run(halt_before=["report"])).result is None
        assert again.state == "report"
        with pytest.raises(InsideLoop, match="use statecli"):
            Run(graph, data={"n": 0}).step()

    asyncio.run(main())
    run = Run(graph, data={"n": 0})
    assert run.run().state == "report", "the synchronous face runs async bodies too"


def test_001_the_async_stream() -> None:
    async def speak(data: dict[str, Any]) -> AsyncIterator[Any]:
        yield "a"
        await asyncio.sleep(0)
        yield "b"

    async def main() -> list[str]:
        run = aio.Run(GraphBuilder().with_states(speak).build())
        return [piece async for piece in run.stream_result()]

    assert asyncio.run(main()) == ["a", "b"]


def test_001_one_task_runs_a_body_from_its_beginning_to_its_end() -> None:
    """What is bound to a task or to a loop (a timeout, a connection) outlives each piece."""
    tasks: list[tuple[object, object]] = []

    async def speak(data: dict[str, Any]) -> AsyncIterator[Any]:
        async with asyncio.timeout(60):
            for piece in ("a", "b"):
                tasks.append((asyncio.current_task(), asyncio.get_running_loop()))
                yield piece
                await asyncio.sleep(0)

    graph = GraphBuilder().with_states(speak).with_transitions(("speak", "speak")).build()
    run = Run(graph)
    stream = run.stream_result(halt_after=["speak"])
    assert list(stream) == ["a", "b"]
    assert len(set(tasks)) == 1
    run.step()
    assert len({loop for _, loop in tasks}) == 1, "the loop of a thread stays open between steps"


def test_001_runs_in_several_threads() -> None:
    async def slow(data: dict[str, Any]) -> dict[str, Any]:
        await asyncio.sleep(0.001)
        return {"n": data["n"] + 1}

    graph = (
        GraphBuilder()
        .with_states(slow=slow, end=lambda data: {})
        .with_transitions(("slow", "end", when(n__gte=5)), ("slow", "slow"))
        .build()
    )
    runs = [Run(graph, data={"n": 0}) for _ in range(4)]
    threads = [threading.Thread(target=run.run) for run in runs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [run.data["n"] for run in runs] == [5] * 4


def test_001_a_function_that_waits_in_secret_is_told() -> None:
    def secret(data: dict[str, Any]) -> Any:
        return asyncio.sleep(0)

    graph = GraphBuilder().with_states(secret).build()
    with pytest.raises(RunError, match="write it with async def"):
        Run(graph).step()


def test_001_a_body_that_raises_leaves_the_data_and_can_be_run_again() -> None:
    broken = [True]

    def fragile(data: dict[str, Any]) -> dict[str, Any]:
        if broken:
            broken.clear()
            raise KeyError("x")
        return {"done": True}

    run = Run(GraphBuilder().with_states(fragile).build(), data={"n": 1})
    with pytest.raises(RunError, match="fragile: KeyError: 'x'") as caught:
        run.step()
    assert isinstance(caught.value.__cause__, KeyError)
    assert (run.status, dict(run.data)) == ("failed", {"n": 1})
    assert stepped(run).result == {"done": True}


def test_001_the_cause_of_an_async_error_is_kept_too() -> None:
    async def fragile(data: dict[str, Any]) -> dict[str, Any]:
        raise ZeroDivisionError

    with pytest.raises(RunError) as caught:
        Run(GraphBuilder().with_states(fragile).build()).step()
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


@pytest.mark.parametrize("given", [7, "text", [1]])
def test_001_a_function_gives_back_a_mapping_or_nothing(given: Any) -> None:
    run = Run(GraphBuilder().with_states(odd=lambda data: given).build())
    with pytest.raises(RunError, match="a mapping of fields, or nothing"):
        run.step()


def test_001_nothing_holds() -> None:
    graph = (
        GraphBuilder()
        .with_states(a=lambda data: {}, b=lambda data: {})
        .with_transitions(("a", "b", when(x=1)))
        .build()
    )
    run = Run(graph)
    with pytest.raises(RunError, match="nothing holds in 'a'"):
        run.step()
    assert run.status == "stuck"


def test_001_declared_fields_are_checked() -> None:
    def add(data: dict[str, Any]) -> dict[str, Any]:
        return {"log": "x", "n": 1, "more": 2}

    graph = (
        GraphBuilder()
        .with_states(add)
        .with_transitions(("add", "add"))
        .with_fields(log={"type": "list", "reducer": "append", "default": []},
                     n={"type": "int", "reducer": "increment"})
        .build()
    )  # fmt: skip
    run = Run(graph)
    run.step()
    run.step()
    assert dict(run.data) == {"log": ["x", "x"], "n": 2}
    assert sum(event.name == "warned" for event in run.events) == 2
    with pytest.raises(ValueError, match="'n' is an int"):
        Run(graph, data={"n": "one"})


def test_001_messages_get_ids() -> None:
    def say(data: dict[str, Any]) -> dict[str, Any]:
        return {"messages": [{"role": "assistant", "content": "hi"}]}

    run = Run(GraphBuilder().with_states(say).with_transitions(("say", "say")).build())
    run.step()
    run.step()
    assert [m["content"] for m in run.data["messages"]] == ["hi", "hi"]
    assert len({m["id"] for m in run.data["messages"]}) == 2


def test_001_a_graph_of_a_file_runs_with_a_provider() -> None:
    played = read("s.yaml", b"turns: [{replies: [{reply: hello}, {choice: done}]}]")
    script = ScriptProvider(played)
    script.begin(played.turns[0])
    from scripted import graph_of

    graph = graph_of("""
states:
  a: {type: agent, transition: {next: [a, done]}}
  done: {type: terminal, message: Bye.}
""")
    run = Run(graph, provider=script)
    assert stepped(run)[:2] == ("a", "hello")
    assert run.state == "done"
    assert run.run().result == "Bye."
    assert run.status == "ended"


def test_001_a_state_that_waits_takes_a_line_as_its_input() -> None:
    from scripted import graph_of

    graph = graph_of("""
fields: {n: {type: int}}
states:
  ask: {type: user, writes: [n], transition: {next: [{to: done, when: {n__gt: 5}}, ask]}}
  done: {type: terminal}
""")
    run = Run(graph)
    assert run.step() is None, "it waits"
    assert run.status == "waiting"
    assert stepped(run, {"line": "3"}).state == "ask"
    assert run.run(inputs={"line": "9"}).state == "done"
    assert run.data["n"] == 9


def test_001_a_limit_stops_a_run_and_the_next_step_goes_on() -> None:
    from scripted import graph_of

    graph = graph_of("""
limits: {max_steps: 2}
states: {a: {type: decision, transition: {next: [b]}}, b: {type: decision, transition: {next: [a]}}}
""")
    run = Run(graph)
    with pytest.raises(RunError, match="max_steps: 2 steps"):
        run.run()
    assert run.status == "limited"
    assert stepped(run).state == "a"


# --- 000, ARKOS -------------------------------------------------------------------------

ARKOS = """
initial: agent_reply

states:
  # === Core States ===
  ask_user:
    description: "Waiting for user input"
    type: user
    transition:
      next: [agent_reply]

  agent_reply:
    description: "AI reasoning and response generation"
    type: agent
    transition:
      next: [agent_reply, ask_user, use_tool, autonomous_plan, learn_skill]

  use_tool:
    description: "Execute a specific tool"
    type: tool
    transition:
      next: [agent_reply, ask_user]

  # === Autonomous Planning Loop (OpenClaw-style) ===
  autonomous_plan:
    description: "Create multi-step execution plan for complex tasks"
    type: planner
    transition:
      next: [execute_step, ask_user]  # ask_user if permission needed

  execute_step:
    description: "Execute current step in the plan"
    type: executor
    transition:
      next: [execute_step, verify_progress]  # loop or verify

  verify_progress:
    description: "Check if goal achieved or continue execution"
    type: verifier
    transition:
      next: [execute_step, autonomous_plan, agent_reply, ask_user]  # continue, replan, or finish

  # === Self-Improving Skills ===
  learn_skill:
    description: "Analyze and potentially create new capabilities"
    type: skill_builder
    transition:
      next: [agent_reply, autonomous_plan]  # use skill or plan with it
"""


def to(name: str) -> dict[str, str]:
    return {"next_state": name}


def test_000_its_step_takes_the_messages_first() -> None:
    """ "async def step(self, messages, ...)": the first line is read before the first state."""
    played = play(ARKOS, "hi", answers=["Hello!", to("ask_user")], first_line=True)
    assert played.of(Started)[0].state == "agent_reply"
    assert played.said == ["Hello!"]
    assert played.snapshot.state == "ask_user"


def test_000_with_one_target_it_goes_on_with_several_the_model_chooses() -> None:
    """`if len(transition_names) == 1` it goes there, else "LLM chooses between options"."""
    played = play(ARKOS, "hi", "more", first_line=True,
                  answers=["a", to("ask_user"), "b", to("ask_user")])  # fmt: skip
    asked = [r.state.name for r in played.world.requests if r.what == "choice"]
    assert asked == ["agent_reply", "agent_reply"], "ask_user has one target: nobody is asked"
    options = [option.name for option in played.world.requests[1].options]
    assert options == ["agent_reply", "ask_user", "use_tool", "autonomous_plan", "learn_skill"]
    assert played.of(Chose)[1].by == "line"


def test_000_the_planning_loop_of_the_document() -> None:
    plan = {"steps": ["look", "tell"], "needs_permission": False}
    played = play(ARKOS, "do it", first_line=True, answers=[
        "I shall.", to("autonomous_plan"), plan, to("execute_step"),
        ["looked", {"ok": True}], ["told", {"ok": True}],
        {"done": True, "reason": "Both done.", "next": "ask_user"}])  # fmt: skip
    assert played.path == ["autonomous_plan", "execute_step", "execute_step", "verify_progress",
                           "ask_user"]  # fmt: skip


def test_000_permission_leads_to_the_person() -> None:
    """ "ask_user if permission needed"."""
    plan = {"steps": ["pay"], "needs_permission": True}
    played = play(ARKOS, "pay", answers=["Hm.", to("autonomous_plan"), plan], first_line=True)
    assert played.snapshot.state == "ask_user"


def test_000_max_iter_is_exactly_ten() -> None:
    """ "Ensure ... MAX_ITER limit is respected" (there, measured, it really was 11)."""
    played = play(ARKOS, "hi", answers=["x", to("agent_reply")] * 10, first_line=True)
    assert played.world.answers == []
    replies = [r for r in played.world.requests if r.what == "reply"]
    assert len(replies) == 10
    (limited,) = played.of(Limited)
    assert limited.message == "max_steps: 10 steps without the person ('agent_reply' 10 times)"


def test_000_until_a_terminal_state() -> None:
    """`while not self.current_state.is_terminal`."""
    text = ARKOS.replace("next: [agent_reply, ask_user, use_tool,", "next: [done, ask_user,")
    text += "  done: {type: terminal}\n"
    played = play(text, "bye", answers=["Bye.", to("done")], first_line=True)
    assert played.snapshot.status == "ended"


def test_000_the_basic_example_is_the_whole_file() -> None:
    """The state map without `states`, indented as it stands there."""
    basic = """
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
    played = play(basic, "hi", answers=["Hello!", to("ask_user")])
    assert played.path == ["agent_reply", "ask_user"]


def test_000_the_names_of_the_states_as_an_enum() -> None:
    """`AgentState(Enum)` with `GREET_USER = "greet_user"`."""
    from scripted import graph_of

    states = graph_of("states: {greet_user: {type: user}, 2nd-try: {type: user}, done: {}}").enum()
    assert issubclass(states, Enum)
    assert issubclass(states, str)
    assert {member.name: member.value for member in states} == {
        "GREET_USER": "greet_user", "STATE_2ND_TRY": "2nd-try", "DONE": "done"}  # fmt: skip
    assert states("done") == "done"


# --- 003, Agentex -----------------------------------------------------------------------


@dataclasses.dataclass
class Data:
    input_data: str
    processed_results: list[str] = dataclasses.field(default_factory=list)
    error_message: str | None = None


class Start:
    async def execute(self, state_machine: Any, state_machine_data: Any = None) -> str:
        return "processing"


class Processing:
    """Workflows "can access and modify the state machine data"."""

    async def execute(self, state_machine: Any, state_machine_data: Any = None) -> str:
        state_machine_data.processed_results.append(state_machine_data.input_data.upper())
        return "complete"


class NoOp:
    async def execute(self, state_machine: Any, state_machine_data: Any = None) -> None:
        return None


class Names(str, Enum):  # noqa: UP042 - as the document writes it
    START = "start"
    PROCESSING = "processing"
    COMPLETE = "complete"


def machine(**states: Any) -> Graph:
    found = {"start": Start(), "processing": Processing(), "complete": NoOp(), **states}
    return GraphBuilder().with_states(**found).with_initial("start").build()


def test_003_workflows_run_and_name_the_next_state() -> None:
    run = Run(machine(), data=Data("hi"), task_id="t", trace_transitions=True)
    assert stepped(run)[:2] == ("start", "processing")
    run.run()
    assert run.status == "ended"
    assert run.state == "complete"
    assert run.data["processed_results"] == ["HI"]


def test_003_data_may_be_a_pydantic_model() -> None:
    pydantic = pytest.importorskip("pydantic")
    model = pydantic.create_model(
        "MyDataModel", input_data=(str, ...), processed_results=(list[str], [])
    )
    run = Run(machine(), data=model(input_data="hi"))
    run.run()
    assert dict(run.data) == {"input_data": "hi", "processed_results": ["HI"]}


def test_003_data_may_be_a_typed_dict() -> None:
    class Typed(TypedDict, total=False):
        x: int

    def add(data: Typed) -> dict[str, int]:
        return {"x": data["x"] + 1}

    graph = GraphBuilder().with_states(add).with_data_type(Typed).build()
    run = Run(graph, data={"x": 1})
    run.step()
    assert run.data["x"] == 2


def test_003_without_transitions_any_state_may_be_returned() -> None:
    class Wild:
        def execute(self, machine: Any, data: Any) -> Any:
            return Names.COMPLETE

    run = Run(machine(start=Wild()), data={"input_data": "x"})
    run.step()
    assert run.state == "complete"
    (entered,) = [event.body for event in run.events if isinstance(event.body, Entered)]
    assert entered.by == "body"


def test_003_an_answer_that_is_no_state_fails_the_step() -> None:
    class Lost:
        def execute(self, machine: Any, data: Any) -> Any:
            data["x"] = 1
            return "nowhere"

    run = Run(machine(start=Lost()), data={"input_data": "x"})
    with pytest.raises(RunError, match="'start' answered 'nowhere', not: start, processing"):
        run.step()


def test_003_with_declared_transitions_it_must_be_one_of_them() -> None:
    graph = (
        GraphBuilder()
        .with_states(start=Start(), processing=Processing(), complete=NoOp())
        .with_transitions(("start", "complete"))
        .build()
    )
    with pytest.raises(RunError, match="'start' answered 'processing', not: complete"):
        Run(graph, data={}).step()


def test_003_the_difference_is_the_delta() -> None:
    class Both:
        def execute(self, machine: Any, data: Any) -> Any:
            data["log"].append("b")
            data["n"] += 5
            data["seen"]["y"] = 2

    graph = (
        GraphBuilder()
        .with_states(both=Both())
        .with_fields(log={"type": "list", "reducer": "append"},
                     n={"type": "int", "reducer": "increment"},
                     seen={"type": "dict", "reducer": "merge"})
        .build()
    )  # fmt: skip
    run = Run(graph, data={"log": ["a"], "n": 1, "seen": {"x": 1}})
    run.step()
    assert dict(run.data) == {"log": ["a", "b"], "n": 6, "seen": {"x": 1, "y": 2}}
    (changed,) = [event.body for event in run.events if isinstance(event.body, Changed)]
    assert changed.data == {"log": "b", "n": 5, "seen": {"y": 2}}


def test_003_dump_has_the_keys_of_the_document() -> None:
    run = Run(machine(), data=Data("hi"), task_id="task_123", trace_transitions=True)
    run.step()
    saved = run.dump()
    assert {key: saved[key] for key in saved if key != "statecli"} == {
        "task_id": "task_123",
        "current_state": "processing",
        "initial_state": "start",
        "state_machine_data": {
            "input_data": "hi", "processed_results": [], "error_message": None},
        "trace_transitions": True,
    }  # fmt: skip
    assert json.loads(json.dumps(saved)) == saved


@pytest.mark.parametrize("store", [None, "memory", "sqlite"])
def test_003_a_machine_is_restored_from_saved_data(store: str | None, tmp_path: Any) -> None:
    given: Any = MemoryStore() if store == "memory" else None
    if store == "sqlite":
        given = SqliteStore(tmp_path / "s.db")
    run = Run(counter(), data={"n": 0}, task_id="t", store=given)
    run.step()
    saved = json.loads(json.dumps(run.dump()))
    again = Run.load(saved, counter(), store=given)
    assert (again.state, dict(again.data), again.task_id) == ("count", {"n": 1}, "t")
    assert [event.body for event in again.events] == [event.body for event in run.events]
    assert again.run().state == "report"
    assert run.data["n"] == 1, "the one that was saved stays where it was"


def test_003_what_agentex_itself_dumped_is_read() -> None:
    saved = {
        "task_id": "task_123", "current_state": "processing", "initial_state": "start",
        "state_machine_data": {"input_data": "hi", "processed_results": []},
        "trace_transitions": True,
    }  # fmt: skip
    graph = GraphBuilder().with_states(start=Start(), processing=Processing(), complete=NoOp())
    run = Run.load(saved, graph.with_data_type(Data).build())
    assert (run.state, run.task_id, run.trace_transitions) == ("processing", "task_123", True)
    run.run()
    assert run.data["processed_results"] == ["HI"]


def test_003_the_task_id_may_be_set_later() -> None:
    run = Run(machine(), data=Data("hi"))
    assert run.dump()["task_id"] is None
    run.set_task_id("task_123")
    assert run.dump()["task_id"] == "task_123"


def test_003_a_transition_from_outside() -> None:
    """`await self.transition(next_state_name)`: the machine moves, whatever its graph says."""
    run = Run(machine(), data=Data("hi"))
    run.transition("complete")
    assert run.state == "complete"
    assert run.events[-1].name == "jumped"
    with pytest.raises(KeyError):
        run.transition("nowhere")
    run.run()
    assert run.status == "ended"
    run.transition("processing")
    assert run.status == "running", "also from the end"


def test_003_a_body_cannot_move_the_machine_itself() -> None:
    class Sly:
        def execute(self, machine: Any, data: Any) -> Any:
            machine.transition("complete")

    with pytest.raises(RunError, match="names its next state by its answer"):
        Run(machine(start=Sly()), data={}).step()


def test_003_every_transition_is_in_the_trace() -> None:
    run = Run(machine(), data=Data("hi"))
    run.run()
    found = [(b.state, b.target) for b in (e.body for e in run.events) if isinstance(b, Chose)]
    assert found == [("start", "processing"), ("processing", "complete")]
    assert all(event.time > 0 for event in run.events)


# --- stores -----------------------------------------------------------------------------


def test_a_run_with_a_store_keeps_its_events_there_only(tmp_path: Any) -> None:
    store = SqliteStore(tmp_path / "s.db")
    run = Run(counter(), data={"n": 0}, store=store, task_id="r")
    run.run()
    assert [event.name for event in store.events("r")] == [event.name for event in run.events]
    assert run.events[-1].name == "ended"


def test_what_cannot_be_stored_fails_the_step(tmp_path: Any) -> None:
    def odd(data: dict[str, Any]) -> dict[str, Any]:
        return {"lock": Data("x")}

    async def slow(data: dict[str, Any]) -> dict[str, Any]:
        return odd(data)

    for number, body in enumerate((odd, slow)):
        store = SqliteStore(tmp_path / f"{number}.db")
        run = Run(GraphBuilder().with_states(odd=body).build(), store=store)
        with pytest.raises(RunError, match="'lock' holds a Data, which cannot be stored"):
            run.step()
        assert run.status == "failed"
        assert Run(GraphBuilder().with_states(odd=body).build()).step(), "without a store it may be"


def test_two_runs_with_one_id(tmp_path: Any) -> None:
    for store in (MemoryStore(), SqliteStore(tmp_path / "r.db")):
        first = Run(counter(), data={"n": 0}, store=store, task_id="r")
        with pytest.raises(ValueError, match=r"already a run 'r' in the store: Run\.resume goes"):
            Run(counter(), data={"n": 5}, store=store, task_id="r")
        first.run()
        assert Run.resume(counter(), store, "r").data == first.data


def test_builders_check_names() -> None:
    builder = GraphBuilder().with_states(count=count)
    with pytest.raises(ValueError, match="no state is named 'nowhere'"):
        builder.with_transitions(("count", "nowhere")).build()
    with pytest.raises(ValueError, match="no state is named 'first'"):
        GraphBuilder().with_states(count=count).with_initial("first").build()
    with pytest.raises(ValueError, match="x >"):
        expr("x >")
    with pytest.raises(ValueError, match="at least one state"):
        GraphBuilder().build()
