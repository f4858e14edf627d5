"""What the body of each kind does (model.md 3), sentence by sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from scripted import World, call, graph_of, play

from statecli.engine.advance import Custom
from statecli.kinds import custom
from statecli.model.event import (
    Answered,
    Approved,
    Asked,
    Called,
    Changed,
    Ended,
    Failed,
    Limited,
    Refused,
    Returned,
    Streamed,
    Waiting,
)
from statecli.model.ports import Call, Chunk, ModelError, ToolResult, ToolSpec

# --- user -----------------------------------------------------------------------------


def test_user_a_line_becomes_a_message() -> None:
    played = play("states: {a: {type: user, transition: {next: [b]}}, b: {type: terminal}}", "hi")
    (message,) = played.snapshot.data["messages"]
    assert (message["role"], message["content"]) == ("user", "hi")


@pytest.mark.parametrize(
    ("field", "line", "value"),
    [
        ("{type: int}", " 12 ", 12),
        ("{type: bool}", "yes please", True),
        ("{type: enum, values: [free, premium]}", "Premium", "premium"),
        ("{type: str}", "any words", "any words"),
        ("{type: list}", "a, b", ["a", "b"]),
        ("{type: list, reducer: append}", "one more", ["one more"]),
    ],
)
def test_user_one_field_is_parsed_by_its_type(field: str, line: str, value: Any) -> None:
    text = f"""
fields: {{x: {field}}}
states: {{a: {{type: user, writes: [x], transition: {{next: [b]}}}}, b: {{type: terminal}}}}
"""
    assert play(text, line).snapshot.data["x"] == value


def test_user_is_asked_again_where_the_line_does_not_fit() -> None:
    text = """
fields: {x: {type: int}}
states: {a: {type: user, writes: [x], transition: {next: [b]}}, b: {type: terminal}}
"""
    played = play(text, "soon", "3")
    assert [body.what for body in played.of(Refused)] == ["line"]
    assert played.snapshot.data["x"] == 3
    kept = [m["content"] for m in played.snapshot.data["messages"]]
    assert kept == ["soon", "3"], "nothing that was said is lost"


def test_user_with_two_fields_parses_none() -> None:
    text = "states: {a: {type: user, writes: [x, y], transition: {next: [b]}}, b: {type: terminal}}"
    assert set(play(text, "3").snapshot.data) == {"messages"}


# --- agent ----------------------------------------------------------------------------

AGENT = """
system_prompt: Be kind to {{name}}.
fields: {name: {type: str}, tier: {type: enum, values: [free, premium]}, amount: {type: float}}
states:
  a: {type: agent, prompt: Help., reads: [tier], EXTRA transition: {next: [b]}}
  b: {type: terminal}
"""


def agent(extra: str = "") -> str:
    return AGENT.replace("EXTRA", extra)


def test_agent_one_call_over_prompt_and_messages_then_a_message() -> None:
    played = play(agent(), answers=["hello"], data={"name": "Ann", "tier": "free"})
    (request,) = played.world.requests
    assert request.what == "reply"
    assert request.prompt == "Be kind to Ann.\n\nHelp.\n\nKnown:\n- tier: 'free'"
    (message,) = played.snapshot.data["messages"]
    assert (message["role"], message["content"]) == ("assistant", "hello")


def test_agent_streams() -> None:
    """Text that was shown is stored at least every second."""
    world = World()

    def later() -> None:
        world.time += 1

    world.answers = [["He", "llo, ", later, "how ", "are ", later, "you?"]]
    played = play(agent(), world=world)
    assert [body.text for body in played.of(Streamed)] == ["Hello, how ", "are you?"]
    assert played.said == ["Hello, how are you?"]


@pytest.mark.parametrize("reply", ["", "  \n"])
def test_agent_an_empty_reply_is_an_error(reply: str) -> None:
    (failed,) = play(agent(), answers=[reply]).of(Failed)
    assert failed.error == "the model gave an empty reply"


def test_agent_with_writes_one_call_with_a_schema() -> None:
    played = play(
        agent("writes: [tier, amount],"),
        answers=[["I see.", {"reply": "I see.", "tier": "Premium", "amount": 3}]],
    )
    (request,) = played.world.requests
    assert request.what == "delta"
    assert request.schema == {
        "type": "object",
        "properties": {
            "reply": {"type": "string"},
            "tier": {"enum": ["free", "premium", None]},
            "amount": {"type": ["number", "null"]},
        },
        "required": ["reply", "tier", "amount"],
        "additionalProperties": False,
    }
    assert played.said == ["I see."]
    assert (played.snapshot.data["tier"], played.snapshot.data["amount"]) == ("premium", 3)


def test_agent_nulls_stay_out_of_the_delta() -> None:
    answer = {"reply": "", "tier": None, "amount": 2}
    played = play(agent("writes: [tier, amount],"), answers=[answer])
    assert played.of(Changed)[0].data == {"amount": 2}
    nulls = play(agent("writes: [tier, amount], allow_writes_null: true,"), answers=[answer])
    assert nulls.of(Changed)[0].data == {"tier": None, "amount": 2}


def test_agent_a_reply_that_did_not_stream_is_said_too() -> None:
    played = play(agent("writes: [amount],"), answers=[{"reply": "Noted.", "amount": None}])
    assert played.said == ["Noted."]


def test_agent_is_repaired_once_then_the_step_fails() -> None:
    writes = agent("writes: [amount],")
    good = {"reply": "ok", "amount": 1}
    played = play(writes, answers=[{"amount": "much"}, good])
    assert played.world.requests[1].note == "'amount' is a float, not 'much'"
    assert [body.reason for body in played.of(Refused)] == ["'amount' is a float, not 'much'"]
    assert played.snapshot.data["amount"] == 1
    (failed,) = play(writes, answers=["prose", "prose"]).of(Failed)
    assert failed.error == "the model's answer does not fit: the answer is no object"


def test_agent_the_choice_is_a_call_after_the_delta() -> None:
    text = agent("writes: [amount],").replace("[b]", "[{to: b, when: {amount__gt: 5}}, a, b]")
    played = play(text, answers=[{"reply": "", "amount": 9}])
    assert [r.what for r in played.world.requests] == ["delta"], "the guard held: nothing to choose"
    played = play(text, answers=[{"reply": "", "amount": 1}, "b"])
    assert [r.what for r in played.world.requests] == ["delta", "choice"]
    assert played.world.requests[1].snapshot.data["amount"] == 1


def test_agent_prompts_list_the_skills() -> None:
    world = World(["hi"])
    world.skills = {"tea": "How to make tea"}
    play(agent(), world=world)
    assert world.requests[0].prompt.endswith("Skills:\n- tea: How to make tea")


# --- tool -----------------------------------------------------------------------------

CLOCK = ToolSpec(
    "clock",
    "Tells the time",
    {"type": "object", "properties": {"zone": {"type": "string"}}, "required": ["zone"]},
)
NOTES = ToolSpec("notes", "Reads notes", {"type": "object", "properties": {}})
TOOL = """
fields: {time: {type: str}, zone: {type: str}, found: {type: dict}, hour: {type: int}}
states:
  t: {type: tool, EXTRA transition: {next: [b]}}
  b: {type: terminal}
"""


def tool(extra: str, answers: list[Any], *results: ToolResult, **more: Any) -> Any:
    world = World(answers, tools=[CLOCK, NOTES], results=results)
    return play(TOOL.replace("EXTRA", extra), world=world, **more)


TEN = ToolResult(True, "ten", {"time": "ten", "hour": 10})


def test_tool_is_picked_then_its_arguments_filled() -> None:
    played = tool("", [{"tool": "clock"}, {"zone": "UTC"}], TEN)
    pick, fill = played.world.requests
    assert pick.schema["properties"]["tool"] == {"enum": ["clock", "notes"]}
    assert fill.schema == CLOCK.schema
    assert fill.tools == (CLOCK,)
    assert played.world.sent == [("clock", {"zone": "UTC"})]


def test_tool_fixed_needs_no_pick() -> None:
    played = tool("tool: clock,", [{"zone": "UTC"}], TEN)
    assert [r.what for r in played.world.requests] == ["arguments"]


def test_tool_the_result_is_a_tool_message() -> None:
    played = tool("tool: clock,", [{"zone": "UTC"}], TEN)
    (message,) = played.snapshot.data["messages"]
    assert (message["role"], message["content"]) == ("tool", {"time": "ten", "hour": 10})


@pytest.mark.parametrize(
    ("extra", "result", "delta"),
    [
        ("writes: [time, hour],", TEN, {"time": "ten", "hour": 10}),
        ("writes: [hour],", TEN, {"hour": 10}),
        ("writes: [found],", TEN, {"found": {"time": "ten", "hour": 10}}),
        ("writes: [time],", ToolResult(True, "late"), {"time": "late"}),
        ("writes: [time, zone],", ToolResult(True, "late"), {}),
        ("", TEN, {}),
    ],
)
def test_tool_what_becomes_data(extra: str, result: ToolResult, delta: dict[str, Any]) -> None:
    played = tool(f"tool: notes, {extra}", [{}], result)
    found = {key: value for key, value in played.snapshot.data.items() if key != "messages"}
    assert found == delta


def test_tool_a_result_that_does_not_fit_fails() -> None:
    result = ToolResult(True, "", {"hour": "ten"})
    (failed,) = tool("tool: notes, writes: [hour],", [{}], result).of(Failed)
    assert failed.error == "the result does not fit: 'hour' is an int, not 'ten'"


def test_tool_invalid_arguments_are_never_sent() -> None:
    """bugs.md 10: the error goes back to the model, twice at most."""
    bad: list[Any] = ["prose", {"zone": 5}, {"town": "Rome"}]
    played = tool("tool: clock,", bad)
    assert played.world.sent == []
    assert played.of(Called) == []
    assert [r.note for r in played.world.requests] == [
        "", "the arguments are no object", "'zone' is not string: 5"]  # fmt: skip
    (failed,) = played.of(Failed)
    assert failed.error == "no arguments that fit clock in 3 attempts: missing: 'zone'"
    fixed = tool("tool: clock,", [{}, {"zone": "UTC"}], TEN)
    assert fixed.world.sent == [("clock", {"zone": "UTC"})]


def test_tool_a_wrong_pick_goes_back_too() -> None:
    played = tool("", [{"tool": "watch"}, " Clock ", {"zone": "UTC"}], TEN)
    assert played.world.requests[1].note == "no 'watch'; one of: clock, notes"
    (failed,) = tool("", [{"tool": "watch"}] * 3).of(Failed)
    assert failed.error.startswith("no tool was picked in 3 attempts")


def test_tool_arguments_of_the_graph() -> None:
    extra = 'tool: clock, arguments: {zone: "{{zone}}", note: "in {{zone}}", n: "{{hour}}"},'
    played = tool(extra, [], TEN, data={"zone": "UTC", "hour": 4})
    assert played.world.sent == [("clock", {"zone": "UTC", "note": "in UTC", "n": 4})]
    assert played.world.requests == []


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ('{zone: "{{zone}}"}', "clock needs 'zone', which is not set"),
        ("{zone: 7}", "the arguments of clock do not fit: 'zone' is not string: 7"),
    ],
)
def test_tool_arguments_of_the_graph_are_checked_too(arguments: str, error: str) -> None:
    played = tool(f"tool: clock, arguments: {arguments},", [])
    assert played.world.sent == []
    assert [body.error for body in played.of(Failed)] == [error]


def test_tool_the_call_carries_the_user_id() -> None:
    played = tool("tool: notes,", [{}], TEN)
    assert played.of(Called)[0].user == "ann"


def test_tool_an_error_is_data_for_the_model() -> None:
    played = tool("tool: notes, writes: [time],", [{}], ToolResult(False, "no such file"))
    assert played.of(Failed) == []
    (returned,) = played.of(Returned)
    assert (returned.ok, returned.result, returned.message) == (False, "no such file", True)
    assert [m["content"] for m in played.snapshot.data["messages"]] == ["error: no such file"]
    assert "time" not in played.snapshot.data
    assert played.path == ["b"]


def test_tool_an_error_fails_the_step_where_the_graph_says_so() -> None:
    extra = "tool: notes, writes: [time], on_error: b,"
    played = tool(extra, [{}], ToolResult(False, "no such file"))
    assert [body.error for body in played.of(Failed)] == ["notes: no such file"]
    assert played.of(Returned)[0].ok is False
    assert played.snapshot.data == {}


def test_tool_what_is_not_allowed_is_not_called() -> None:
    world = World([{}], tools=[CLOCK, NOTES])
    world.denied["notes"] = "the person does not allow this call"
    played = play(TOOL.replace("EXTRA", "tool: notes,"), world=world)
    assert world.sent == []
    assert played.of(Called) == []
    assert [body.reason for body in played.of(Refused)] == [world.denied["notes"]]
    (message,) = played.snapshot.data["messages"]
    assert message["content"] == "error: the person does not allow this call"


def test_tool_without_tools_says_so() -> None:
    (failed,) = play(TOOL.replace("EXTRA", "")).of(Failed)
    assert failed.error == "no tool is declared that this state could use"


# --- decision, terminal ---------------------------------------------------------------


def test_decision_says_nothing_and_routes() -> None:
    text = """
states:
  d: {type: decision, transition: {next: [{to: a, when: {x: 1}}, b]}}
  a: {type: terminal}
  b: {type: terminal}
"""
    played = play(text, data={"x": 1})
    assert played.path == ["a"]
    assert played.said == []
    assert played.of(Asked) == []


def test_terminal_shows_its_message_and_ends() -> None:
    played = play('states: {t: {type: terminal, message: "Bye, {{x}}."}}', data={"x": "Ann"})
    assert played.said == ["Bye, Ann."]
    assert [type(body) for body in played.bodies][1:] == [Answered, Ended]


# --- planner, executor, verifier ------------------------------------------------------

PLAN = """
initial: plan
states:
  plan: {type: planner, transition: {next: [work, ask]}}
  work: {type: executor, TOOLS transition: {next: [work, check]}}
  check: {type: verifier, transition: {next: [work, plan, ask, {to: done, description: Finished}]}}
  ask: {type: user, transition: {next: [plan]}}
  done: {type: terminal}
"""
STEPS = {"steps": ["one", "two"], "needs_permission": False}


def plan(*answers: Any, tools: str = "", **more: Any) -> Any:
    world = World(answers, **more)
    return play(PLAN.replace("TOOLS", tools), world=world)


def test_planner_its_fields_exist_without_being_declared() -> None:
    text = "fields: {x: {type: int}}\n" + PLAN.replace("TOOLS", "")
    played = play(text, answers=[STEPS, "ask"])
    data = played.snapshot.data
    found = (data["plan"], data["plan_step"], data["needs_permission"])
    assert found == (["one", "two"], 0, False)


def test_planner_with_permission_only_waiting_targets_are_options() -> None:
    played = plan({"steps": ["one"], "needs_permission": True})
    assert played.snapshot.state == "ask"
    assert [r.what for r in played.world.requests] == ["plan"]


def test_planner_never_goes_on_without_the_permission_it_needs() -> None:
    text = PLAN.replace("[work, ask]", "[work]").replace("TOOLS", "")
    played = play(text, answers=[{"steps": ["one"], "needs_permission": True}])
    (failed,) = played.of(Failed)
    assert failed.stuck
    assert failed.error == "nothing holds in 'plan' ('work' may not come next)"


def test_planner_without_steps_is_asked_once_more_then_fails() -> None:
    found = plan("prose", {"steps": "one"})
    assert [b.error for b in found.of(Failed)] == ["the model gave no list of steps"]
    assert [r.note for r in found.world.requests] == ["", "the model gave no list of steps"]


def test_executor_runs_one_step_and_itself_is_the_only_option_while_steps_remain() -> None:
    played = plan(STEPS, "work", ["first", {"ok": True}], ["second", {"ok": True}],
                  {"done": True, "reason": "All done.", "next": "done"})  # fmt: skip
    assert played.path == ["work", "work", "check", "done"]
    notes = [r.note for r in played.world.requests if r.what == "step"]
    assert notes == ["step 1 of 2: one", "step 2 of 2: two"]
    assert played.snapshot.data["plan_step"] == 2


def test_executor_the_cursor_moves_only_when_the_step_succeeded() -> None:
    played = plan(STEPS, "work", ["no luck", {"ok": False}],
                  {"done": False, "reason": "", "next": "ask"})  # fmt: skip
    assert played.path == ["work", "check", "ask"], "after a failed one the other targets"
    assert played.snapshot.data["plan_step"] == 0
    assert "no luck (failed)" in played.said


def test_executor_that_is_no_target_of_its_own_goes_on() -> None:
    text = PLAN.replace("[work, check]", "[check]").replace("TOOLS", "")
    last = {"done": True, "reason": "", "next": "done"}
    played = play(text, answers=[STEPS, "work", ["x", {"ok": True}], last])
    assert played.path == ["work", "check", "done"]


def test_executor_works_with_tools() -> None:
    wrong = Chunk(call=Call("1", "clock", {}))
    right = Chunk(call=Call("2", "clock", {"zone": "UTC"}))
    other = Chunk(call=Call("3", "rocket", {}))
    world = World(
        [{"steps": ["one"], "needs_permission": False}, "work", [wrong, other], right,
         ["It is ten.", {"ok": True}], {"done": True, "reason": "", "next": "done"}],
        tools=[CLOCK], results=[TEN],
    )  # fmt: skip
    played = play(PLAN.replace("TOOLS", "tools: [clock],"), world=world)
    assert world.sent == [("clock", {"zone": "UTC"})]
    asked = [r for r in world.requests if r.what == "step"]
    assert asked[0].tools == (CLOCK,)
    assert [x.text for x in asked[2].transcript] == [
        "missing: 'zone'", "there is no such tool; there are: clock", "ten"]  # fmt: skip
    assert played.snapshot.status == "ended"
    assert [m["role"] for m in played.snapshot.data["messages"]] == ["assistant", "assistant"]


def test_verifier_next_is_the_choice_no_second_call() -> None:
    played = plan({"steps": [], "needs_permission": False}, "work",
                  {"done": True, "reason": "Nothing to do.", "next": " Done "})  # fmt: skip
    assert [r.what for r in played.world.requests] == ["plan", "choice", "verdict"]
    verdict = played.world.requests[-1]
    assert verdict.schema is not None
    assert verdict.schema["properties"]["next"] == {"enum": ["work", "plan", "ask", "done"]}
    assert "Nothing to do." in played.said
    assert played.snapshot.status == "ended"


def test_verifier_that_names_no_option_is_asked_once_more() -> None:
    empty = {"steps": [], "needs_permission": False}
    played = plan(empty, "work", {"done": True, "reason": "", "next": "end"}, "done")
    assert [r.what for r in played.world.requests][2:] == ["verdict", "choice"]
    assert played.snapshot.status == "ended"
    fallback = plan(empty, "work", {"next": "end"}, "end")
    assert fallback.snapshot.state == "ask"


def test_verifier_guards_come_first() -> None:
    text = PLAN.replace("TOOLS", "").replace(
        "next: [work, plan,", "next: [{to: done, when: {x: 1}},"
    )
    empty = {"steps": [], "needs_permission": False}
    played = play(text, answers=[empty, "work", {"next": "ask"}], data={"x": 1})
    assert played.snapshot.status == "ended"


# --- skill_builder --------------------------------------------------------------------

SKILL = """
states: {s: {type: skill_builder, transition: {next: [b]}}, b: {type: terminal}}
"""


def test_skill_builder_keeps_a_skill_after_the_person_approved_it() -> None:
    world = World([{"name": "Make Tea!", "text": "Boil water."}], replies=["yes"])
    played = play(SKILL, world=world)
    assert world.skills == {"make-tea": "Boil water."}
    assert "Boil water." in world.questions[0], "the person sees what is kept"
    assert played.of(Approved) == [Approved("skill make-tea", True)]
    assert played.said == ["The skill 'make-tea' is kept in skills/make-tea.md."]


@pytest.mark.parametrize("reply", ["no", "hm", ""])
def test_skill_builder_anything_but_a_yes_keeps_nothing(reply: str) -> None:
    world = World([{"name": "tea", "text": "Boil water."}], replies=[reply])
    played = play(SKILL, world=world)
    assert world.skills == {}
    assert played.of(Approved) == [Approved("skill tea", False)]
    assert played.snapshot.status == "ended"


@pytest.mark.parametrize(
    "skill",
    [{}, "prose", {"name": "x"}, {"name": "x", "text": " "}, {"name": "../..", "text": "x"},
     {"name": "x", "text": "y" * 20_001}],
)  # fmt: skip
def test_skill_builder_needs_a_name_and_a_text(skill: Any) -> None:
    world = World([skill])
    assert play(SKILL, world=world).of(Failed)
    assert world.questions == []


def test_skill_builder_the_name_is_no_path() -> None:
    world = World([{"name": "../../etc/passwd", "text": "x"}], replies=["yes"])
    play(SKILL, world=world)
    assert list(world.skills) == ["etc-passwd"]


# --- plan kinds -----------------------------------------------------------------------


def test_plan_kinds_wait() -> None:
    for kind in ("strict", "loose"):
        text = f"states: [{{id: a, title: A, type: {kind}, tasks: [{{id: t, description: d}}]}}]"
        assert play(text, answers=["?"]).of(Waiting)
    goal = "states: [{id: a, title: A, type: goal, goal: {objective: o}}]"
    assert play(goal, answers=["?"]).of(Waiting)


def test_plan_kinds_are_told_what_is_open() -> None:
    text = """
system_prompt: Kind.
states:
  - id: a
    title: A
    type: strict
    tasks:
      - {id: t, description: First, instruction: Ask., deliverables: [{key: k, type: integer}]}
      - {id: u, description: Second, deliverables: [{key: l}]}
"""
    played = play(text, "l is 2", answers=["?", call("set_deliverable", key="l", value="2"), "?"])
    played.world.answers = [call("set_deliverable", key="k", value=1), "?"]
    played.say("k is 1")
    first, last = played.world.requests[0].prompt, played.world.requests[-1].prompt
    assert first == "Kind.\n\nOpen tasks:\n- t: First\n    Ask.\n    - k (integer)"
    assert "u: Second" in last
    assert "said before: '2', to be confirmed" in last
    assert "t: First" not in last


# --- custom (more in test_custom_kinds.py) --------------------------------------------


def custom_played(tmp_path: Path, code: str, *lines: str | None, **more: Any) -> Any:
    (tmp_path / "state_greet.py").write_text(code, "utf-8")
    text = """
initial: g
tools: {clock: {python: "x:y"}}
states:
  g: {type: greet, greeting: Servus!, transition: {next: [b]}}
  b: {type: terminal}
"""
    graph = graph_of(text)
    bodies = Custom(custom.load(graph, tmp_path))
    return play(graph, *lines, custom=bodies, **more)


def test_custom_a_function_may_be_async_and_takes_what_it_wants(tmp_path: Path) -> None:
    code = """
@register_state("greet")
async def greet(context):
    return {"count": len(context)}
"""
    played = custom_played(tmp_path, code)
    assert played.snapshot.data == {"count": 0}, "a mapping becomes data"


def test_custom_calls_a_model_and_a_tool(tmp_path: Path) -> None:
    code = """
@register_state
async def greet(context, agent):
    options = await agent.create_tool_option_class()
    answer = await agent.call_llm([], {"type": "json_schema", "json_schema": {
        "name": "n", "schema": options.model_json_schema()}})
    name = json.loads(answer.content)["tool_name"]
    server = agent.tool_manager._tool_registry[name]
    found = await agent.tool_manager.call_tool(
        tool_name=name, arguments={"zone": "UTC"}, user_id=agent.current_user_id)
    return f"{server}: {found['time']} for {agent.current_user_id}"
"""
    world = World([{"tool_name": "clock"}], tools=[CLOCK._replace(server="times")], results=[TEN])
    played = custom_played(tmp_path, code, world=world)
    assert played.said == ["times: ten for ann"]
    assert played.of(Called)[0].user == "ann"
    kinds = [type(body) for body in played.bodies]
    assert kinds.index(Called) < kinds.index(Returned)


def test_custom_arguments_that_do_not_fit_are_never_sent(tmp_path: Path) -> None:
    code = """
@register_state
async def greet(context, agent):
    await agent.tool_manager.call_tool(tool_name="clock", arguments={})
"""
    world = World(tools=[CLOCK])
    played = custom_played(tmp_path, code, world=world)
    assert world.sent == []
    assert [b.error for b in played.of(Failed)] == [
        "the arguments of clock do not fit: missing: 'zone'"]  # fmt: skip


def test_custom_data_is_plain(tmp_path: Path) -> None:
    code = """
@register_state
def greet(context, agent):
    return {"count": object()}
"""
    played = custom_played(tmp_path, code)
    assert [b.error for b in played.of(Failed)] == [
        "this is no plain data: Object of type object is not JSON serializable"]  # fmt: skip


def test_custom_an_error_fails_the_step(tmp_path: Path) -> None:
    code = "@register_state\ndef greet(context, agent):\n    raise OSError('no disk')\n"
    played = custom_played(tmp_path, code)
    assert [b.error for b in played.of(Failed)] == ["OSError: no disk"]


def test_a_kind_that_nobody_runs_fails() -> None:
    played = play("states: {a: {type: mystery, transition: {next: [b]}}, b: {type: terminal}}")
    assert [b.error for b in played.of(Failed)] == [
        "nothing here runs states of the kind 'mystery'"]  # fmt: skip
    assert played.of(Limited) == []


def test_a_model_error_reads_as_it_is() -> None:
    played = play(agent(), answers=[ModelError("the model is asleep")])
    assert [b.error for b in played.of(Failed)] == ["the model is asleep"]
