"""`rules` and `human`: what they ask, what they take, and that no line ever breaks them."""

from __future__ import annotations

from pathlib import Path

import pytest
from chatting import Chat
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from statecli.llm.human import HumanProvider
from statecli.load.loader import load
from statecli.model.graph import Graph

GRAPHS = Path(__file__).parent.parent / "graphs"


def plan(kind: str, tasks: str, more: str = "") -> str:
    return f"""
id: p
title: P
states:
  - id: here
    title: Here
    type: {kind}
    {more}
    tasks: {tasks}
  - {{id: bye, title: Bye, tasks: [{{id: wave, description: Wave}}]}}
"""


NAME = "{id: name, description: Name, deliverables: [{key: name, description: Your name}]}"
AGE = "{id: age, description: Age, deliverables: [{key: age, type: integer}]}"
PET = "{id: pet, description: Pet, deliverables: [{key: pet, type: enum, enum_values: [dog, cat]}]}"
NOTE = (
    "{id: note, description: Note, deliverables: [{key: note}, {key: extra, required: false}, "
    "{key: size, type: number, required: false}]}"
)
DO = "{id: do, description: Do it}"


def test_a_strict_state_asks_one_thing_after_the_other() -> None:
    chat = Chat(plan("strict", f"[{NAME}, {AGE}, {DO}]"), "Ann, age: 40", "forty", "yes")
    assert chat.data["name"] == "Ann, age: 40"
    assert chat.data["age"] == 40
    assert chat.after("forty") == ["Noted: age is 40.", "Do it: is that done? (yes or no)"]
    assert chat.state == "bye"


def test_nothing_is_skipped_in_a_strict_state() -> None:
    chat = Chat(plan("strict", f"[{NAME}]"), "skip")
    assert chat.after("skip") == ["Sorry, nothing can be skipped here. Your name:"]
    assert "name" not in chat.data


def test_a_loose_state_skips_and_looks_for_everything() -> None:
    tasks = f"[{NAME}, {AGE}, {PET}]"
    chat = Chat(plan("loose", tasks), "skip", "I am 40, and I have a dog")
    assert chat.after("skip") == ["Age (a whole number):"]
    assert {key: chat.data.get(key) for key in ("age", "pet", "name")} == {
        "age": 40, "pet": "dog", "name": None,
    }  # fmt: skip
    all_at_once = Chat(plan("loose", tasks), "name: Ann; age: 40; pet: dog")
    assert all_at_once.after("name: Ann; age: 40; pet: dog")[1] == (
        "Noted: name is 'Ann', age is 40, pet is 'dog'."
    )
    assert all_at_once.state == "bye"


def test_optional_values_are_taken_but_not_asked_for() -> None:
    chat = Chat(plan("loose", f"[{NOTE}]"), "extra: more, size: about 3 m")
    assert chat.after("extra: more, size: about 3 m") == [
        "Noted: extra is 'more', size is 3.",
        "Note:",
    ]
    assert Chat(plan("loose", f"[{NOTE}]"), "a note").state == "bye"


def test_a_task_without_values_is_done_or_stays_open() -> None:
    question = "Do it: is that done? (yes, no or skip)"
    chat = Chat(plan("loose", f"[{DO}, {PET}]"), "no", "perhaps", "a cat", "yes")
    assert chat.after("no") == [f"Then it stays open. {question}"]
    assert chat.after("perhaps") == [
        f"Sorry, 'perhaps' is neither yes nor no; 'skip' leaves it out. {question}"
    ]
    assert chat.after("a cat") == ["Noted: pet is 'cat'.", question]
    assert chat.state == "bye"


GOAL = plan(
    "goal", "[]",
    "goal: {objective: Find a wish, success_description: There is a wish, deliverables: "
    "[{key: wish, description: The wish}, {key: cost, type: number, required: false}]}",
)  # fmt: skip
REACHED = "Is this reached: There is a wish? (yes, no or give up)"


def test_a_goal_asks_for_its_values_and_for_the_quote() -> None:
    chat = Chat(GOAL, "skip", "More sleep", "skip", "so so", "no", "yes", "nonsense words", "yes",
                "more sleep")  # fmt: skip
    seen = chat.after("skip")
    assert seen == ["Sorry, this is needed here; 'give up' ends the goal. The wish:"]
    assert chat.after("More sleep") == ["Cost (a number; 'skip' leaves it open):"]
    assert chat.after("so so") == [f"I see; go on. {REACHED}"]
    assert chat.after("no") == [f"Not yet, then; go on. {REACHED}"]
    asked = "[here] Which of your own words show it? (two words or more)"
    assert chat.after("yes") == [asked]
    told = "'nonsense words' is not in what the person said in this visit"
    assert chat.after("nonsense words") == [
        f"refused close_goal: not closed: {told}",
        f"Not closed: {told}.",
        REACHED,
    ]
    assert chat.state == "bye"


@pytest.mark.parametrize("lines", [("give up",), ("More sleep", "skip", "stop")])
def test_a_goal_is_given_up(lines: tuple[str, ...]) -> None:
    chat = Chat(GOAL, *lines)
    assert chat.state == "bye"
    assert chat.talk.snapshot.goals == {"here": "given_up"}


def test_a_goal_takes_what_is_named_while_one_talks() -> None:
    chat = Chat(GOAL, "More sleep", "skip", "cost: 12 €")
    assert chat.after("cost: 12 €")[0] == "Noted: cost is 12."


WRITES = """
initial: hear
fields:
  mood: {type: enum, values: [good, bad], description: How the person feels}
  size: {type: int}
states:
  hear: {type: user, transition: {next: [note]}}
  note: {type: agent, description: Note it, writes: [mood, size], transition: {next: [hear]}}
"""


def test_the_fields_of_an_agent_are_asked_by_type() -> None:
    chat = Chat(WRITES, "hello", "so so", "2", "", "again", "", "9")
    assert chat.after("hello") == [
        "-> note",
        "[note] mood - How the person feels (1 good or 2 bad; empty leaves it open):",
    ]
    assert chat.after("so so")[0].startswith("Sorry, 'so so' is none of these. [note] mood")
    assert chat.after("2") == ["[note] size (a whole number; empty leaves it open):"]
    assert (chat.data["mood"], chat.data["size"]) == ("bad", 9)


def test_human_plays_a_plan() -> None:
    lines = [
        "Hello, who are you?", "Ann", "set name Ann", "set the table, please", "close the window",
        "complete do", "complete name", "skip-state", "Goodbye!",
    ]  # fmt: skip
    tasks = f"[{NAME}, {DO}, {PET}]"
    seen = Chat(plan("loose", tasks), *lines, provider=HumanProvider()).seen
    assert seen[0] == (
        "[here] Open: name, do, pet. Reply, or set KEY VALUE, complete TASK, skip TASK, skip-state:"
    )
    assert "  set_deliverable: 'name' is 'Ann'" in seen
    assert "set the table, please" in seen
    assert "-> bye" in [line.split(" (")[0] for line in seen]


def test_human_closes_a_goal_with_a_second_look() -> None:
    lines = ["Hi", "I wish for more sleep", "set wish sleep", "close achieved", "more sleep", "no",
             "close achieved", "more sleep", "yes", "more sleep", "Bye"]  # fmt: skip
    chat = Chat(GOAL, *lines, provider=HumanProvider())
    assert any("the second check declined" in line for line in chat.seen)
    assert chat.state == "bye"


LINES = st.lists(
    st.one_of(
        st.sampled_from(["yes", "no", "skip", "give up", "1", "2", "about 60 people", "", "-", "/",
                         "animals: dogs", "consent_given: yes", "key: value", "=", ":", "\0",
                         "error:", "{}", "[", "3 or 4"]),
        st.text(max_size=30),
    ),
    max_size=25,
)  # fmt: skip


def graph(name: str) -> Graph:
    found = load(str(GRAPHS / name)).graph
    assert found is not None
    return found


@pytest.mark.parametrize(
    "name",
    ["greeting.yaml", "intake.yaml", "triage.yaml", "coaching.json", "support_router.yaml",
     "order_status.json", "planner.yaml", "chat_with_tools.yaml"],
)  # fmt: skip
@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
@given(lines=LINES)
def test_no_line_breaks_a_chat(name: str, lines: list[str]) -> None:
    """Whatever is typed: the run waits, ends, or stops at a limit or a tool that fails."""
    lines = [line.replace("\n", " ") for line in lines if not line.startswith("/")]
    chat = Chat(graph(name), *lines)
    assert not [line for line in chat.seen if "Error:" in line]
    assert chat.talk.snapshot.status in ("waiting", "running", "ended", "limited", "failed")
