"""How a run goes (model.md 4, 5 and 7), step by step, with a scripted model."""

from __future__ import annotations

from typing import Any

import pytest
from scripted import World, call, graph_of, play

from statecli.kernel.choose import End, Stay, Stuck, Take, choose
from statecli.kernel.reducers import register_reducer
from statecli.llm.script import ScriptProvider
from statecli.model.event import (
    Answered,
    Called,
    Changed,
    Chose,
    Ended,
    Entered,
    Failed,
    Guard_Missing_Field,
    Interrupted,
    Limited,
    Refused,
    Resumed,
    Said,
    Skipped,
    Trial,
    Turned,
    Waiting,
    Warned,
)
from statecli.model.ports import Chunk, EndOfInput, ModelError, Request, ToolResult, ToolSpec
from statecli.model.snapshot import Snapshot, Token
from statecli.text.conversation import read

LOOP = """
initial: ask
states:
  ask: {type: user, transition: {next: [agent]}}
  agent: {type: agent, transition: {next: [look, ask]}}
  look: {type: decision, transition: {next: [agent]}}
"""
STEP = {"next_state": "look"}


# --- 4.0 one turn ---------------------------------------------------------------------


def test_the_line_is_a_message_and_steps_run_to_the_next_wait() -> None:
    played = play(LOOP, "hi", answers=["hello", {"next_state": "ask"}])
    assert played.snapshot.status == "waiting"
    assert played.snapshot.state == "ask"
    roles = [(m["role"], m["content"]) for m in played.snapshot.data["messages"]]
    assert roles == [("user", "hi"), ("assistant", "hello")]


def test_a_chat_begins_with_a_line_where_the_initial_state_does_not_wait() -> None:
    text = LOOP.replace("initial: ask", "initial: agent")
    assert play(text, first_line=True).snapshot.status == "waiting"
    assert play(text, "hi", answers=["a", {"next_state": "ask"}], first_line=True).said == ["a"]
    speaks = text.replace("{type: agent,", "{type: agent, speaks_first: true,")
    assert play(speaks, answers=["a", {"next_state": "ask"}], first_line=True).said == ["a"]
    without = (
        "initial: a\nstates: {a: {type: decision, transition: {next: [b]}}, b: {type: terminal}}"
    )
    assert play(without, first_line=True).snapshot.status == "ended"


def test_a_waiting_state_that_nothing_follows_waits_on() -> None:
    played = play(ordered("{to: b, when: {x: 1}}", kind="user"), "one", "two")
    assert played.path == []
    assert [type(body) for body in played.turn] == [Said, Guard_Missing_Field, Waiting]


def test_a_line_is_taken_once() -> None:
    """Going on without a line never takes the last one again."""
    text = """
fields: {n: {type: int, reducer: increment, default: 0}}
states: {a: {type: user, writes: [n], transition: {next: [{to: b, when: {n__gt: 100}}]}},
  b: {type: terminal}}
"""
    played = play(text, "5", None, None)
    assert played.snapshot.data["n"] == 5
    assert played.snapshot.status == "waiting"


PLANS = """
states:
  - {id: one, title: One, tasks: [{id: t, description: d, deliverables: [{key: k}]}]}
  - {id: two, title: Two, tasks: [{id: u, description: d, deliverables: [{key: l}]}]}
  - {id: three, title: Three, tasks: [{id: v, description: d, deliverables: [{key: m}]}]}
"""


def test_a_plan_turn_calls_until_it_answers() -> None:
    played = play(
        PLANS,
        "k is 1 and l is 2",
        answers=["Hi, what is k?", call("set_deliverable", key="k", value="1"),
                 call("set_deliverable", key="l", value="2"), "And m?"],
    )  # fmt: skip
    assert played.path == ["two", "three"]
    assert played.said == ["Hi, what is k?", "And m?"]
    told = [x.text for x in played.world.requests[-1].transcript]
    assert told == ["'k' is '1'; now in 'two' with the open tasks: u",
                    "'l' is '2'; now in 'three' with the open tasks: v"]  # fmt: skip


def test_calls_are_not_undone_by_a_later_failure() -> None:
    played = play(
        PLANS,
        "k is 1",
        answers=["?", [call("set_deliverable", key="k", value="1")], ModelError("gone")],
    )
    assert played.snapshot.status == "failed"
    assert played.snapshot.data["k"] == "1"
    assert played.snapshot.state == "two"


def test_text_beside_calls_was_seen_so_it_is_said() -> None:
    played = play(
        PLANS,
        "k is 1",
        answers=["?", ["I note that.", call("set_deliverable", key="k", value="1")], "Good."],
    )
    assert played.said == ["?", "I note that.", "Good."]


def test_the_initial_plan_state_speaks_first_or_waits() -> None:
    assert play(PLANS, answers=["Hello"]).said == ["Hello"]
    quiet = PLANS + "metadata: {plan_builder: {start: {agent_spawn_mode: on_demand}}}"
    assert play(quiet).snapshot.status == "waiting"


def test_starting_settles_nothing() -> None:
    """The first evaluation comes after the first call or turn, whatever the data say already."""
    text = """
states:
  - id: a
    title: A
    tasks: [{id: t, description: d, deliverables: [{key: k}]}]
    transitions:
      - {target_state_id: b, condition_type: deliverable_exists, condition_config: {key: k}}
  - {id: b, title: B, tasks: [{id: u, description: d}]}
"""
    played = play(text, answers=["Hello"], data={"k": "given"})
    assert played.path == []
    played.world.answers = ["Yes?"]
    assert played.say("hi").path == ["b"]


def test_a_refused_call_settles_nothing_either() -> None:
    text = """
states:
  - id: a
    title: A
    tasks: [{id: t, description: d, deliverables: [{key: k}]}]
    transitions:
      - {target_state_id: b, condition_type: deliverable_exists, condition_config: {key: k}}
  - {id: b, title: B, tasks: [{id: u, description: d}]}
"""
    refused = [call("set_deliverable", key="zz", value="1"), "Hm."]
    played = play(text, answers=refused, data={"k": "given"})
    assert played.path == []


def test_an_opening_turn_moves_no_counter() -> None:
    played = play(PLANS, answers=["Hello"])
    assert played.of(Turned) == []
    assert played.snapshot.token.total == 0
    assert played.snapshot.turns == 0


MIXED = """
initial: ask
states:
  ask: {type: user, transition: {next: [collect]}}
  collect:
    type: loose
    title: Collect
    tasks: [{id: t, description: d, deliverables: [{key: k}]}]
    transitions: [{target_state_id: thanks, condition_type: all_tasks_complete}]
  thanks: {type: agent, transition: {next: [again]}}
  again:
    type: loose
    title: Again
    tasks: [{id: u, description: d, deliverables: [{key: l}]}]
    transitions: [{target_state_id: ask, condition_type: all_tasks_complete}]
"""


def test_a_plan_state_entered_from_elsewhere_takes_one_opening_turn() -> None:
    played = play(MIXED, "hi", answers=["What is k?"])
    assert played.said == ["What is k?"]
    assert played.of(Turned) == []
    assert played.snapshot.status == "waiting"


def test_it_waits_where_the_person_was_answered_since() -> None:
    played = play(MIXED, "hi", answers=["What is k?"])
    played.world.answers = [call("set_deliverable", key="k", value="1"), "Thank you!"]
    played.say("1")
    assert played.snapshot.state == "again"
    assert played.world.answers == [], "no opening turn: the agent has just answered"
    assert [type(b) for b in played.turn][-3:] == [Chose, Entered, Waiting]


def test_a_turn_that_moves_to_another_kind_of_state_counts_as_one() -> None:
    played = play(MIXED, "hi", answers=["What is k?"])
    played.world.answers = [call("set_deliverable", key="k", value="1"), "Thank you!"]
    assert played.say("1").snapshot.turns == 1


# --- 4.1 order ------------------------------------------------------------------------


def ordered(*routes: str, kind: str = "decision") -> Any:
    items = "\n".join(f"        - {route}" for route in routes)
    return f"""
initial: a
states:
  a:
    type: {kind}
    transition:
      next:
{items}
  b: {{type: terminal}}
  c: {{type: terminal}}
  d: {{type: terminal}}
"""


def chosen(text: str, **data: Any) -> Any:
    graph = graph_of(text)
    return choose(graph, Snapshot((Token(0, "a"),), data), Token(0, "a"))


@pytest.mark.parametrize(
    ("routes", "data", "target"),
    [
        (["{to: b, when: {x: 1}}", "{to: c, when: {x__gt: 0}}"], {"x": 1}, "b"),
        (["{to: b, when: {x: 1}}", "{to: c, when: {x__gt: 0}}"], {"x": 2}, "c"),
        (["{to: b, when: {x: 1}, priority: 2}", "{to: c, when: {x: 1}}"], {"x": 1}, "c"),
        (["{to: b, when: {x: 1}, priority: -1}", "{to: c, when: {x: 1}, priority: -1}"],
         {"x": 1}, "b"),
        (["{to: b, priority: 2}", "{to: c, when: {x: 1}, priority: 1}"], {"x": 1}, "c"),
        (["{to: b, priority: 2}", "{to: c, when: {x: 1}, priority: 1}"], {"x": 2}, "b"),
        (["b", "{to: c, when: {x: 1}}"], {"x": 1}, "b"),
        (["nowhere", "{to: c, when: {x: 1}}"], {"x": 1}, "c"),
        (["{to: nowhere, when: {x: 1}}", "c"], {"x": 1}, "c"),
    ],
)  # fmt: skip
def test_the_first_that_holds_by_priority_and_file_order(
    routes: list[str], data: dict[str, Any], target: str
) -> None:
    found = chosen(ordered(*routes), **data)
    assert isinstance(found, Take)
    assert found.transition.target == target


def test_all_unguarded_ones_of_the_first_priority_are_the_options() -> None:
    found = chosen(ordered("{to: b, priority: 2}", "{to: c, priority: 2}", "{to: d, priority: 3}"))
    assert [route.target for route in found.options] == ["b", "c"]


def test_nothing_holds() -> None:
    route = "{to: b, when: {x: 1}}"
    assert isinstance(chosen(ordered(route)), Stuck)
    assert isinstance(chosen(ordered(route, kind="user")), Stay)
    assert isinstance(chosen(ordered("b", kind="terminal")), End)


def test_stuck_names_every_guard_and_its_value() -> None:
    played = play(ordered("{to: b, when: {x: 1}}", "{to: c, when: {y: 2}}"), data={"x": 3})
    (failed,) = played.of(Failed)
    assert failed.stuck
    assert failed.error == ("nothing holds in 'a' (-> b: does not hold; -> c: does not hold)")
    assert failed.trials == (Trial(0, "b", False), Trial(1, "c", False))
    assert played.snapshot.status == "stuck"


def test_a_missing_target_is_passed_over_with_a_warning() -> None:
    played = play(ordered("{to: nowhere, when: {x: 1}}", "b"), data={"x": 1})
    assert played.path == ["b"]
    (warned,) = played.of(Warned)
    assert warned.message == (
        "'a' goes to 'nowhere', which does not exist; what comes after it is tried"
    )
    assert play(ordered("{to: nowhere, when: {x: 1}}", "b"), data={"x": 2}).of(Warned) == []


def test_every_guard_that_was_tried_stands_in_chose_with_its_value() -> None:
    played = play(ordered("{to: b, when: {x: 1}}", "{to: c, when: {x: 2}}", "d"), data={"x": 2})
    (chose,) = played.of(Chose)
    assert chose.trials == (Trial(0, "b", False), Trial(1, "c", True))
    assert chose.by == "order"


def test_a_state_may_go_to_itself() -> None:
    text = """
fields: {n: {type: int, reducer: increment, default: 0}}
states:
  a: {type: agent, writes: [n], transition: {next: [{to: a, when: {n__lt: 3}}, b]}}
  b: {type: terminal}
"""
    played = play(text, answers=[{"n": 1}] * 3)
    assert played.path == ["a", "a", "b"]


def test_a_missing_field_leaves_an_event() -> None:
    played = play(ordered("{to: b, when: {x: 1}}", "{to: c, when: {x__ne: 1}}", "d"))
    assert played.path == ["d"], "also `ne` is false for a field that is not set"
    assert played.of(Guard_Missing_Field) == [Guard_Missing_Field(0, "a", "x")]


def test_strict_guards_make_it_an_error() -> None:
    played = play("strict_guards: true" + ordered("{to: b, when: {x: 1}}", "c"))
    (failed,) = played.of(Failed)
    assert failed.error == "a guard reads 'x', which is not set (strict_guards is on)"
    assert played.snapshot.status == "failed"


def test_turns_of_a_visit_do_not_count_the_turn_of_entry() -> None:
    text = """
states:
  - id: a
    title: A
    tasks: [{id: t, description: d, deliverables: [{key: k}]}]
    transitions:
      - {target_state_id: b, condition_type: deliverable_exists, condition_config: {key: k}}
  - id: b
    title: B
    tasks: [{id: u, description: d, deliverables: [{key: l}]}]
    transitions:
      - target_state_id: c
        condition_type: turn_count_exceeded
        condition_config: {turns: 2, scope: total}
  - {id: c, title: C, tasks: [{id: v, description: d}]}
"""
    played = play(text, answers=["Hi"])
    played.world.answers = [call("set_deliverable", key="k", value="1"), "And l?"]
    assert played.say("1").snapshot.token.total == 0
    played.world.answers = ["Well?", "Well??"]
    assert played.say("hm").snapshot.token.total == 1
    assert played.say("hm").snapshot.state == "c"


# --- 4.3 limits -----------------------------------------------------------------------


@pytest.mark.parametrize("most", [1, 2, 10])
def test_max_steps_is_exact(most: int) -> None:
    played = play(f"limits: {{max_steps: {most}}}{LOOP}", "hi", answers=["x", STEP] * most)
    bodies = [b for b in played.turn if isinstance(b, Entered) and b.by in ("model", "order")]
    assert len(bodies) == most, "that many bodies of states that do not wait"
    (limited,) = played.of(Limited)
    assert limited.limit == "max_steps"
    steps = "1 step" if most == 1 else f"{most} steps"
    assert limited.message.startswith(f"max_steps: {steps} without the person")


def test_the_event_names_what_repeated() -> None:
    """bugs.md 1: a model that always picks the tool is stopped, and the session can go on."""
    played = play(LOOP, "hi", answers=["x", STEP] * 5)
    (limited,) = played.of(Limited)
    assert limited.message == (
        "max_steps: 10 steps without the person ('agent' 5 times, 'look' 5 times)"
    )
    assert played.snapshot.status == "limited"
    played.world.answers = ["done", {"next_state": "ask"}]
    played.say("stop that")
    assert played.snapshot.status == "waiting"
    messages = played.world.requests[-1].snapshot.data["messages"]
    assert messages[-2]["content"] == "stop that", "the next line is appended"


def test_a_limited_run_goes_on_without_a_line() -> None:
    played = play(LOOP, "hi", answers=["x", STEP] * 5)
    played.world.answers = ["done", {"next_state": "ask"}]
    played.say(None)
    assert played.turn[0] == Resumed(runs=True)
    assert played.snapshot.status == "waiting"


def test_max_calls_is_exact() -> None:
    calls = [call("set_deliverable", key="k", value=str(n)) for n in range(3)]
    long = "limits: {max_calls: 3}\n" + PLANS.replace("{key: k}]", "{key: k}, {key: kk}]")
    played = play(long, "hi", answers=["?", *calls])
    (limited,) = played.of(Limited)
    assert limited.limit == "max_calls"
    assert played.snapshot.data["k"] == "2", "the last call was done all the same"
    played.world.answers = ["Fine."]
    assert played.say("go on").snapshot.status == "waiting"


def hops(most: int, states: int) -> str:
    listed = "\n".join(f"  - {{id: s{n}, title: S, tasks: []}}" for n in range(1, states))
    first = "  - {id: s0, title: S, tasks: [{id: t, description: d, deliverables: [{key: k}]}]}"
    return f"limits: {{max_hops: {most}}}\nstates:\n{first}\n{listed}\n"


def test_max_hops_is_exact() -> None:
    answers = ["?", call("set_deliverable", key="k", value="1"), "There."]
    assert play(hops(3, 5), "1", answers=answers).snapshot.state == "s3"
    played = play(hops(3, 5), "1", answers=answers)
    (limited,) = played.of(Limited)
    assert limited.message == "max_hops: 3 moves at once (s0 -> s1 -> s2 -> s3 -> s4)"
    assert play(hops(4, 5), "1", answers=answers).of(Limited) == []


def test_the_idle_net_moves_on_and_marks_what_was_open() -> None:
    played = play("limits: {stuck_turns: 2}\n" + PLANS, "a", "b", answers=["?", "?", "?"])
    assert played.of(Skipped) == [Skipped(0, "one", ("one/t",), False)]
    assert played.snapshot.state == "two"
    (entered,) = played.of(Entered)
    assert entered.why == "2 turns without progress"


def test_the_idle_net_ends_the_run_from_the_last_state() -> None:
    text = "limits: {stuck_turns: 1}\nstates: [{id: a, title: A, tasks: [{id: t, description: d}]}]"
    assert play(text, "hm", answers=["?", "?"]).snapshot.status == "ended"


def test_stuck_turns_zero_is_off() -> None:
    played = play("limits: {stuck_turns: 0}\n" + PLANS, *["hm"] * 12, answers=["?"] * 13)
    assert played.snapshot.state == "one"


def test_in_the_states_form_the_net_stops_and_its_counter_begins_anew() -> None:
    text = "limits: {stuck_turns: 2}\n" + MIXED
    played = play(text, "hi", "a", "b", answers=["?"] * 3)
    (limited,) = played.of(Limited)
    assert limited.limit == "stuck_turns"
    assert played.snapshot.token.idle == 0
    played.world.answers = ["?"]
    assert played.say("c").snapshot.status == "waiting"


def spends(amount: int) -> list[Any]:
    return ["x", Chunk(usage={"input": amount - 1, "output": 1, "cost": 0.5})]


def test_a_budget_of_tokens() -> None:
    text = "limits: {max_tokens: 10}\n" + LOOP.replace("[look, ask]", "[look]")
    played = play(text, "hi", answers=[spends(6), spends(6), spends(6)])
    (limited,) = played.of(Limited)
    assert limited.message == "max_tokens: 12 of 10 tokens"
    assert len(played.world.requests) == 2
    assert played.snapshot.work.tokens_spent == 0, "the next line begins anew"


def test_a_budget_of_tokens_in_a_conversation_file() -> None:
    file = b"turns: [{replies: [{reply: a, usage: {input: 8, output: 4}}, {reply: b}]}]"
    script = ScriptProvider(read("s.yaml", file))
    script.begin(script.conversation.turns[0])

    class Scripted(World):
        def complete(self, request: Request) -> Any:
            return script.complete(request, None)  # type: ignore[arg-type]  # nobody is asked

    text = """
limits: {max_tokens: 10}
states: {a: {type: agent, transition: {next: [a]}}}
"""
    (limited,) = play(text, world=Scripted()).of(Limited)
    assert limited.message == "max_tokens: 12 of 10 tokens"


def test_a_budget_of_money() -> None:
    text = "limits: {max_cost: 1}\n" + LOOP.replace("[look, ask]", "[look]")
    (limited,) = play(text, "hi", answers=[spends(1)] * 3).of(Limited)
    assert limited.message == "max_cost: 1 of 1 is spent"


def test_a_budget_of_a_plan_is_looked_at_before_each_call() -> None:
    calls = [[call("set_deliverable", key="k", value="1"), Chunk(usage={"input": 9, "output": 9})]]
    played = play("limits: {max_tokens: 10}\n" + PLANS, "hi", answers=["?", *calls])
    assert [body.limit for body in played.of(Limited)] == ["max_tokens"]
    assert played.snapshot.data["k"] == "1"


def test_a_budget_of_time() -> None:
    world = World(["x", "y", "z"])
    text = "limits: {timeout: 60}\n" + LOOP.replace("[look, ask]", "[look]")
    world.answers[1] = [lambda: setattr(world, "time", world.time + 61), "late"]
    import time

    world.time = time.time()
    played = play(text, "hi", world=world)
    (limited,) = played.of(Limited)
    assert limited.message == "timeout: 60 seconds at work"
    assert len(world.requests) == 2


# --- 4.4 errors -----------------------------------------------------------------------


def test_a_body_that_raises_leaves_the_data_as_it_was() -> None:
    text = """
fields: {x: {type: int}}
states: {a: {type: agent, writes: [x], transition: {next: [b]}}, b: {type: terminal}}
"""
    played = play(text, answers=[["so", {"x": "no number"}], {"x": []}])
    assert played.snapshot.data == {}
    (failed,) = played.of(Failed)
    assert (
        failed.error == "the model's answer does not fit: 'x' is an int, not '[]'" or failed.error
    )
    played.world.answers = [{"x": 4}]
    assert played.say(None).snapshot.status == "ended", "it resumes at the same state"


def test_on_error_names_a_state_to_go_to() -> None:
    text = """
states:
  a: {type: agent, on_error: sorry, transition: {next: [b]}}
  b: {type: terminal}
  sorry: {type: terminal, message: Sorry.}
"""
    played = play(text, answers=[ModelError("no network")])
    assert [type(b) for b in played.bodies][2:4] == [Failed, Entered]
    assert played.said == ["Sorry."]


def test_the_line_was_taken_by_the_body_that_failed() -> None:
    text = """
initial: ask
states:
  ask: {type: user, transition: {next: [a]}}
  a: {type: agent, on_error: ask, transition: {next: [ask]}}
"""
    played = play(text, "hi", answers=[ModelError("no network")])
    assert played.snapshot.status == "waiting"
    assert played.path == ["a", "ask"], "it waits for another line"


def test_failing_bodies_count_as_steps() -> None:
    text = "states: {a: {type: agent, on_error: a, transition: {next: [b]}}, b: {type: terminal}}"
    played = play(text, answers=[ModelError("no")] * 20)
    assert [body.limit for body in played.of(Limited)] == ["max_steps"]
    assert len(played.of(Failed)) == 10


def test_an_error_that_is_not_ours_says_what_it_is() -> None:
    (failed,) = play(LOOP, "hi", answers=[KeyError("x")]).of(Failed)
    assert failed.error == "KeyError: 'x'"


def test_nobody_to_answer_leaves_the_step_open() -> None:
    """End of input at a question: the step begins anew when the run is taken up again."""
    played = play(LOOP, "hi", answers=[EndOfInput()])
    assert played.snapshot.status == "running"
    assert isinstance(played.bodies[-1], Interrupted)
    left = played.session.recover()
    assert left.calls == ()
    played.world.answers = ["hello", {"next_state": "ask"}]
    played.say(None)
    assert played.said == ["hello"]
    assert played.snapshot.status == "waiting"


# --- 5 the end of a plan --------------------------------------------------------------

FAREWELL = """
id: p
metadata: {plan_builder: {canvas: {end_node_config: {farewell_message: "Bye, {{k}}.", SUMMARY}}}}
states:
  - {id: one, title: One, tasks: [{id: t, description: d, deliverables: [{key: k}]}]}
"""


def test_the_last_state_ends_after_its_reply_then_the_farewell_is_said() -> None:
    text = FAREWELL.replace("SUMMARY", "summary_behavior: none")
    played = play(text, "1", answers=["?", call("set_deliverable", key="k", value="1"), "Fine."])
    assert played.said == ["?", "Fine.", "Bye, 1."]
    assert isinstance(played.bodies[-1], Ended), "the end is told last"
    assert played.snapshot.status == "ended"


@pytest.mark.parametrize("length", ["brief", "full"])
def test_a_summary_is_one_more_model_call_after_the_farewell(length: str) -> None:
    text = FAREWELL.replace("SUMMARY", f"summary_behavior: {length}")
    answers = ["?", call("set_deliverable", key="k", value="1"), "Fine.", "In short: 1."]
    played = play(text, "1", answers=answers)
    assert played.said[-2:] == ["Bye, 1.", "In short: 1."]
    assert length in played.world.requests[-1].prompt
    assert isinstance(played.bodies[-1], Ended)


def test_a_summary_that_fails_does_not_fail_the_run() -> None:
    text = FAREWELL.replace("SUMMARY", "summary_behavior: brief")
    answers = ["?", call("set_deliverable", key="k", value="1"), "Fine.", ModelError("gone")]
    played = play(text, "1", answers=answers)
    assert played.snapshot.status == "ended"
    assert [w.message for w in played.of(Warned)] == ["there is no summary: gone"]


def test_a_written_end_is_taken_at_once() -> None:
    text = """
states:
  - id: one
    title: One
    tasks: [{id: t, description: d, deliverables: [{key: k}]}]
    transitions: [{target_state_id: __end__, condition_type: all_tasks_complete}]
  - {id: two, title: Two, tasks: [{id: u, description: d}]}
"""
    played = play(text, "1", answers=["?", call("set_deliverable", key="k", value="1")])
    assert played.snapshot.status == "ended"
    assert played.world.answers == []


def test_a_terminal_state_of_a_plan_says_its_message_or_the_farewell() -> None:
    text = FAREWELL.replace("SUMMARY", "summary_behavior: none")
    done = text + "  - {id: two, title: Two, type: terminal}\n"
    answers = ["?", call("set_deliverable", key="k", value="1"), "Fine."]
    assert play(done, "1", answers=answers).said == ["?", "Bye, 1."]
    spoken = text + "  - {id: two, title: Two, type: terminal, message: Ciao.}\n"
    assert play(spoken, "1", answers=answers).said == ["?", "Ciao."]


GOAL = """
states:
  - id: explore
    title: Explore
    type: goal
    goal: {objective: Understand the day, success_description: We know the morning}
  - {id: after, title: After, tasks: [{id: t, description: d}]}
"""
CLOSE = call("close_goal", outcome="achieved", quote="I get up early")
AGREE = {"agree": True, "quote": "i get up  early!", "reason": "said so"}


def test_a_second_separate_call_must_agree() -> None:
    played = play(GOAL, "I get up early.", answers=["?", CLOSE, AGREE, "Good."])
    assert played.snapshot.state == "after"
    check = next(r for r in played.world.requests if r.what == "check")
    assert check.transcript == ()
    for part in ("Understand the day", "We know the morning", "achieved", "I get up early"):
        assert part in check.prompt


@pytest.mark.parametrize(
    ("check", "reason"),
    [
        ({"agree": False, "quote": "", "reason": "too vague"}, "not closed: too vague"),
        ({"agree": False}, "not closed: the second check does not agree"),
        ({"agree": True, "quote": "something else"},
         "not closed: 'something else' is not in what the person said in this visit"),
        ({"agree": True, "quote": "early"},
         "not closed: 'early' is not in what the person said in this visit"),
        ("prose", "not closed: the second check does not agree"),
    ],
)  # fmt: skip
def test_a_refused_check_is_an_error_with_the_reason(check: Any, reason: str) -> None:
    played = play(GOAL, "I get up early.", answers=["?", CLOSE, check, "And then?"])
    assert played.snapshot.state == "explore"
    assert played.world.requests[-1].transcript[-1].text == reason


def test_two_refusals_end_the_turn() -> None:
    no = {"agree": False, "reason": "no"}
    played = play(GOAL, "hm", answers=["?", [CLOSE, CLOSE, CLOSE], no, no])
    assert played.world.answers == [], "the third close and a further call never happen"
    assert played.snapshot.status == "waiting"
    assert played.snapshot.turns == 1


def test_only_what_was_said_in_this_visit_counts() -> None:
    text = """
states:
  - {id: before, title: Before, tasks: [{id: t, description: d, deliverables: [{key: k}]}]}
""" + GOAL.replace("states:", "")
    played = play(text, "I get up early", "hm", answers=[
        "?", call("set_deliverable", key="k", value="1"), "Now, your day?",
        CLOSE, AGREE, "Tell me."])  # fmt: skip
    assert played.snapshot.state == "explore", "the quote was said before the goal was entered"


@pytest.mark.parametrize(
    ("quote", "said", "found"),
    [
        ("get up early", "I get up early.", True),
        ("GET  up\nearly", "I get up early", True),
        ("“get up”", "I get up early", True),
        ("don’t know", "I don't know", True),
        ("early", "I get up early", False),
        ("Yes", "yes!", True),
        ("yes.", "yes", True),
        ("", "anything", False),
        ('"', "anything", False),
        ("up late", "I get up early", False),
    ],
)
def test_quotes(quote: str, said: str, found: bool) -> None:
    from statecli.kinds.turn import quoted

    assert quoted(quote, ["something else", said]) is found


def test_skip_state_gives_a_goal_up_with_the_same_check() -> None:
    skip = call("skip_state", reason="wants to move on")
    check = {"agree": True, "quote": "move on please"}
    played = play(GOAL, "let us move on please", answers=["?", skip, check, "Sure."])
    assert played.snapshot.goals == {"explore": "given_up"}


@pytest.mark.parametrize("agrees", [True, False])
@pytest.mark.parametrize(
    ("told", "outcome"),
    [
        (call("close_goal", outcome="achieved", quote="move on please"), "achieved"),
        (call("close_goal", outcome="given_up", quote="move on please"), "given_up"),
        (call("skip_state", reason="wants to move on"), "given_up"),
        (call("set_deliverable", key="__goal_achieved__", value=True), "achieved"),
    ],
    ids=["close", "give up", "skip", "the old marker"],
)
def test_no_call_closes_a_goal_without_the_second_check(
    told: Any, outcome: str, agrees: bool
) -> None:
    check = {"agree": agrees, "quote": "move on please", "reason": "not yet"}
    played = play(GOAL, "let us move on please", answers=["?", told, check, "Sure."])
    assert played.snapshot.goals == ({"explore": outcome} if agrees else {})


# --- 5.1 re-entry ---------------------------------------------------------------------

BACK = """
initial: start
fields: {k: {type: str}, go: {type: bool}}
states:
  start: {type: decision, transition: {next: [collect]}}
  collect:
    type: loose
    title: Collect
    on_reenter: RESET
    tasks: [{id: t, description: d, deliverables: [{key: k}]}, {id: u, description: d}]
    transitions:
      - {target_state_id: hub, condition_type: deliverable_exists, condition_config: {key: k}}
  hub: {type: user, transition: {next: [collect]}}
"""


def test_reset_forgets_the_last_visit_only() -> None:
    """A value that was there before the first visit is not a value of the last visit."""
    text = BACK.replace("RESET", "reset")
    played = play(text, data={"k": "given"})
    assert played.path == ["collect", "hub"]
    assert played.snapshot.data["k"] == "given"
    played.world.answers = ["k again?"]
    played.say("back")
    assert "k" not in played.snapshot.data
    assert played.of(Entered)[-1].forgotten == ("k",)


def test_keep_goes_through_on_the_old_value() -> None:
    played = play(BACK.replace("RESET", "keep"), data={"k": "given"}).say("back")
    assert played.snapshot.state == "hub"


def test_a_jump_from_outside_resets_and_settles_too() -> None:
    played = play(BACK.replace("RESET", "reset"), data={"k": "given"})
    played.session.goto("collect")
    assert "k" not in played.snapshot.data
    kept = play(BACK.replace("RESET", "keep"), data={"k": "given"})
    kept.session.goto("collect")
    assert kept.snapshot.state == "hub", "a plan state that is entered settles at once"


# --- 6 entry transitions --------------------------------------------------------------

ENTRIES = """
entry_transitions: [billing, tech]
states:
  billing: {type: terminal, description: Money, message: B}
  tech: {type: terminal, description: Machines, message: T}
"""


def test_the_model_chooses_where_to_begin() -> None:
    played = play(ENTRIES, answers=[{"next_state": "tech"}])
    assert played.said == ["T"]
    (request,) = played.world.requests
    assert [tuple(option) for option in request.options] == [
        ("billing", "Money"), ("tech", "Machines")]  # fmt: skip
    (chose,) = played.of(Chose)
    assert (chose.by, chose.options, chose.answers) == (
        "entry", ("billing", "tech"), ('{"next_state": "tech"}',))  # fmt: skip


def test_one_entry_needs_no_call() -> None:
    assert play(ENTRIES.replace("[billing, tech]", "[tech]")).said == ["T"]


def test_an_entry_that_nobody_names_is_a_limit_and_can_be_asked_again() -> None:
    played = play(ENTRIES, answers=["hm", "hm"])
    assert [body.limit for body in played.of(Limited)] == ["choice"]
    played.world.answers = [{"next_state": "billing"}]
    assert played.say("billing please").said == ["B"]


def test_the_entry_may_fail_or_be_left_open() -> None:
    assert play(ENTRIES, answers=[ModelError("gone")]).snapshot.status == "failed"
    played = play(ENTRIES, answers=[EndOfInput()])
    played.world.answers = [{"next_state": "tech"}]
    played.session.recover()
    assert played.say(None).said == ["T"]


# --- 7 data ---------------------------------------------------------------------------


def writes(field: str, *values: Any, start: str = "") -> Any:
    """An agent writes the values one after the other; the data then, or the error."""
    text = f"""
fields: {{x: {field}, n: {{type: int, reducer: increment, default: 0}}}}
states:
  a:
    type: agent
    writes: [x, n]
    transition: {{next: [{{to: b, when: {{n__gte: {len(values)}}}}}, a]}}
  b: {{type: terminal}}
"""
    answers = [{"x": value, "n": 1} for value in values]
    played = play(text, answers=[*answers, answers[-1]])
    failed = played.of(Failed)
    return failed[0].error if failed else played.snapshot.data.get("x")


@pytest.mark.parametrize(
    ("field", "values", "result"),
    [
        ("{type: str}", ["a", "b"], "b"),
        ("{type: list, reducer: append}", ["a", ["b"]], ["a", ["b"]]),
        ("{type: list, reducer: extend, default: [z]}", [["a"], ["b"]], ["z", "a", "b"]),
        ("{type: dict, reducer: merge}", [{"a": 1}, {"b": 2}, {"a": 3}], {"a": 3, "b": 2}),
        ("{type: int, reducer: increment}", [1, 2], 3),
        ("{type: float}", [1], 1),
        ("{type: int}", [2.0], 2),
        ("{type: tuple}", [[1, 2]], (1, 2)),
        ("{type: set}", [[1, 2, 1]], {1, 2}),
        ("{type: set, reducer: extend}", [[1], [2, 1]], {1, 2}),
        ("{type: enum, values: [Low, High]}", [" high"], "High"),
        ("{}", [[1, "a"]], [1, "a"]),
    ],
)  # fmt: skip
def test_reducers_and_types(field: str, values: list[Any], result: Any) -> None:
    found = writes(field, *values)
    assert found == result
    assert type(found) is type(result)


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("{type: int, reducer: increment}", [1, 0.5]),
        ("{type: list, reducer: merge}", [{"a": 1}]),
        ("{type: str, reducer: extend}", [["a"]]),
        ("{type: int, reducer: nobody_has_it}", [1]),
    ],
)
def test_each_result_is_checked_against_the_type_of_its_field(
    field: str, values: list[Any]
) -> None:
    assert "x" in str(writes(field, *values))


def test_what_a_plan_collects_is_checked_against_a_declared_field_too() -> None:
    text = """
fields: {k: {type: int}}
states:
  a:
    type: loose
    title: A
    tasks: [{id: t, description: d, deliverables: [{key: k}]}]
    transition: {next: [b]}
  b: {type: terminal}
"""
    bad = call("set_deliverable", key="k", value="many")
    played = play(text, answers=[bad, "How many?"])
    assert [body.reason for body in played.of(Refused)] == ["'k' is an int, not 'many'"]
    assert played.snapshot.data.keys() == {"messages"}


def test_a_reducer_of_ones_own() -> None:
    @register_reducer("highest")
    def highest(old: Any, new: Any) -> Any:
        return new if repr(old) == "MISSING" else max(old, new)

    assert highest(1, 2) == 2
    assert writes("{type: int, reducer: highest}", 3, 9, 4) == 9


def test_a_key_that_is_no_declared_field_is_dropped_with_an_event() -> None:
    text = """
fields: {x: {type: int}}
states: {a: {type: agent, writes: [x, y], transition: {next: [b]}}, b: {type: terminal}}
"""
    played = play(text, answers=[{"x": 1, "y": 2}])
    assert played.snapshot.data == {"x": 1}
    (warned,) = played.of(Warned)
    assert warned.message == "'a' writes 'y', which is no declared field: it is not kept"
    free = play(text.replace("fields: {x: {type: int}}", ""), answers=[{"x": 1, "y": 2}])
    assert free.snapshot.data == {"x": 1, "y": 2}, "without `fields` any key may be written"


def test_messages_are_a_field_like_others() -> None:
    @register_reducer("last_two")
    def last_two(old: Any, new: Any) -> Any:
        return [*(() if repr(old) == "MISSING" else old), *new][-2:]

    assert last_two([1], [2, 3]) == [2, 3]
    bounded = "fields: {messages: {type: list, reducer: last_two}}\n" + LOOP
    played = play(bounded, "one", answers=["a", {"next_state": "ask"}])
    played.world.answers = ["b", {"next_state": "ask"}]
    played.say("two")
    assert [m["content"] for m in played.snapshot.data["messages"]] == ["two", "b"]


def test_append_messages_drops_known_ids_and_gives_missing_ones() -> None:
    text = """
fields:
  log: {type: list, reducer: append_messages}
  n: {type: int, reducer: increment, default: 0}
states:
  a: {type: agent, writes: [log, n], transition: {next: [{to: b, when: {n__gte: 2}}, a]}}
  b: {type: terminal}
"""
    first = {"log": [{"id": "1", "content": "x"}, {"content": "y"}], "n": 1}
    second = {"log": [{"id": "1", "content": "again"}, {"content": "y"}], "n": 1}
    log = play(text, answers=[first, second]).snapshot.data["log"]
    assert [m["content"] for m in log] == ["x", "y", "y"]
    assert len({m["id"] for m in log}) == 3


def test_defaults_and_what_is_given() -> None:
    text = """
fields: {x: {type: int, default: 1}, y: {type: str}, t: {type: tuple, default: [1]}}
states: {a: {type: terminal}}
"""
    assert play(text).snapshot.data == {"x": 1, "t": (1,)}
    assert play(text, data={"x": 5, "y": "z"}).snapshot.data == {"x": 5, "t": (1,), "y": "z"}
    with pytest.raises(ValueError, match="'x' is an int"):
        play(text, data={"x": "five"})


# --- what a run says of itself --------------------------------------------------------


def test_what_leaves_the_run_is_stored_before() -> None:
    """When a model or a tool is asked, what led there is in the store."""
    text = """
initial: ask
states:
  ask: {type: user, transition: {next: [use]}}
  use: {type: tool, tool: clock, transition: {next: [say]}}
  say: {type: agent, transition: {next: [ask]}}
"""
    seen: list[tuple[str, list[str]]] = []

    class Watching(World):
        async def call(self, tool: ToolSpec, arguments: Any, user: str = "") -> ToolResult:
            seen.append(("call", [type(b).__name__ for b in played.bodies][-1:]))
            return ToolResult(True, "ten")

        async def complete(self, request: Request) -> Any:
            seen.append((request.what, [type(b).__name__ for b in played.bodies][-1:]))
            async for chunk in super().complete(request):
                yield chunk

    world = Watching([{}, "It is ten."], tools=[ToolSpec("clock", "")])
    played = play(text, world=world)
    played.say("what time is it")
    assert seen == [("arguments", ["Asked"]), ("call", ["Called"]), ("reply", ["Asked"])]
    assert played.of(Called)[0].user == "ann"
    kinds = [type(body) for body in played.bodies]
    assert kinds.index(Said) < kinds.index(Called) < kinds.index(Answered)
    assert Changed not in kinds
