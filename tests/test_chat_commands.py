"""Every slash command, by its effect."""

from __future__ import annotations

import errno
import json
from pathlib import Path

import pytest
from chatting import Chat, graph_of

from statecli.chat.commands import COMMANDS
from statecli.chat.talk import Stops
from statecli.session.session import Session
from statecli.store.rows import line as row

PLAN = """
id: shelter
title: Shelter
description: Welcomes volunteers
system_prompt: You are friendly.
states:
  - id: welcome
    title: Welcome
    description: Say hello
    tasks:
      - id: name
        description: Learn the name
        deliverables: [{key: first_name, description: First name}]
      - id: animals
        description: Learn the animals
        deliverables: [{key: animals, type: enum, enum_values: [dogs, cats], description: Animals}]
    transitions:
      - target_state_id: dogs-first
        condition_type: deliverable_value
        condition_config: {key: animals, value: dogs}
      - {target_state_id: bye, condition_type: all_tasks_complete, priority: 5}
  - id: dogs-first
    title: Dogs first
    tasks: [{id: leash, description: Show the leash}]
  - id: bye
    title: Bye
    description: Say goodbye
    tasks: [{id: hints, description: Give hints}]
"""
STATES = """
fields:
  messages: {type: list, reducer: append_messages}
  size: {type: int, description: How large}
  wish: {type: str}
tools:
  notes: {command: [notes], description: Notes folder}
  clock: {command: [clock]}
initial: ask
states:
  ask:
    type: user
    description: Wait for a wish
    transition: {next: [answer]}
  answer:
    type: agent
    description: Answer the wish
    prompt: Answer kindly.
    transition:
      next:
        - {to: huge, when: {size__gte: 8}, description: Too large}
        - {to: look, description: Something must be looked up}
        - {to: ask, description: Answered}
        - {to: done, description: Nothing is left}
  look: {type: tool, tools: [notes, clock], transition: {next: [answer]}}
  huge: {type: terminal, message: That is too large.}
  done: {type: terminal, message: Goodbye.}
"""


END = "the end; Enter leaves, /undo goes back, /save FILE keeps the conversation"


def test_every_command_has_a_test() -> None:
    assert [name for name in COMMANDS if f"test_{name}" not in globals()] == []


def test_the_commands_are_those_of_the_contract() -> None:
    listed = "help state data tasks graph routes why prompt history goto undo fork set step "
    listed += "continue break trace model tools save export test quit"
    assert list(COMMANDS) == listed.split()


def test_help() -> None:
    seen = Chat(PLAN, "/help").after("/help")
    assert [line.split()[0] for line in seen[:-1]] == [f"/{name}" for name in COMMANDS]
    assert "/goto STATE     move the run into a state" in seen


def test_state() -> None:
    assert Chat(PLAN, "Ann", "/state").after("/state") == [
        "welcome (loose): Say hello",
        "waiting for you; turns so far: 1",
        "turns of this visit: 1, of them without progress: 0",
        "25 % of the plan is done",
    ]
    seen = Chat(STATES, "/state").after("/state")
    assert seen == ["ask (user): Wait for a wish", "waiting for you; turns so far: 0"]


def test_data() -> None:
    assert Chat(PLAN, "Ann", "/data").after("/data") == ["messages: 3", "first_name: 'Ann'"]
    assert Chat(STATES, "/data").after("/data") == ["nothing is set yet"]


def test_tasks() -> None:
    assert Chat(PLAN, "Ann", "/tasks").after("/tasks") == [
        "  name: completed",
        "    first_name: 'Ann'",
        "> animals: pending",
        "    animals: open",
    ]
    assert Chat(STATES, "/tasks").after("/tasks") == ["'ask' has no tasks"]


def test_graph() -> None:
    assert Chat(STATES, "/goto answer", "/graph", "3").after("/graph") == [
        "  ask * --+",
        "  look  --+",
        "          +--> [answer]",
        "                 +--> huge #   size ≥ 8",
        "                 +--> look",
        "                 +--> ask *",
        "                 +--> done #",
        "  (* waits for you, # ends the run, ..> implicit)",
    ]
    seen = Chat(PLAN, "/goto dogs-first", "/graph").after("/graph")
    assert "+..> bye *   all tasks done" in seen[2]


def test_routes() -> None:
    assert Chat(PLAN, "Ann", "/routes").after("/routes") == [
        "-> dogs-first: animals is dogs  [does not hold]",
        "-> bye: all tasks done  [does not hold]",
    ]
    assert Chat(STATES, "/set size 9", "hello", "/routes").state == "huge"
    seen = Chat(STATES, "hello", "/routes").after("/routes")
    assert seen[:4] == [
        "-> huge: size ≥ 8  [does not hold]",
        "-> look: no condition  [the model chooses]",
        "-> ask: no condition  [the model chooses]",
        "-> done: no condition  [the model chooses]",
    ]


def test_why() -> None:
    assert Chat(PLAN, "/why").after("/why") == ["nothing was chosen yet"]
    assert Chat(PLAN, "Ann", "dogs", "/why").after("/why") == [
        "from 'welcome' to 'dogs-first', the first that holds:",
        "  -> dogs-first: animals is dogs  [holds]",
        "  -> bye: all tasks done  [not reached]",
    ]
    assert Chat(STATES, "hello", "2", "/why").after("/why") == [
        "from 'answer' to 'ask', as the model chose:",
        "  -> huge: size ≥ 8  [does not hold]",
        "  -> look: no condition  [the model chooses]",
        "  -> ask: no condition  [the model chooses]",
        "  -> done: no condition  [the model chooses]",
        '  answered: {"next_state": "ask"}',
    ]


def test_prompt() -> None:
    seen = Chat(PLAN, "Ann", "/prompt").after("/prompt")
    assert seen[:3] == ["'welcome' asks a model for a reply or calls:", "--- system",
                        "You are friendly."]  # fmt: skip
    assert "--- user" in seen
    assert "(what you say next)" in seen
    assert seen[-1] == "--- tools: set_deliverable, complete_task, skip_task, skip_state"
    chat = Chat(STATES, "/prompt", "hello", "2")
    assert chat.after("/prompt")[:3] == ["'answer' asks a model for a reply:", "--- system",
                                         "Answer kindly."]  # fmt: skip
    assert chat.data["messages"][0]["content"] == "hello", "it changes nothing"
    alone = "states: {a: {type: user, transition: {next: [b]}}, b: {type: terminal}}"
    assert Chat(alone, "/prompt").after("/prompt") == [
        "nothing before your next line, or it depends on what you say"
    ]


def test_history() -> None:
    assert Chat(STATES, "/history").after("/history") == ["nothing was said yet"]
    seen = Chat(STATES, "hello", "2", "/history").after("/history")
    assert seen == ["user: hello", "assistant: [answer] Answer the wish"]


def test_goto() -> None:
    chat = Chat(PLAN, "/goto bye", "yes")
    assert chat.after("/goto bye") == [
        "now in 'bye'",
        "[bye] Say goodbye",
        "Give hints: is that done? (yes, no or skip)",
    ]
    assert (chat.state, chat.talk.snapshot.status) == ("__end__", "ended")
    assert Chat(PLAN, "/goto by").after("/goto by") == [
        "no state is named 'by'; did you mean 'bye'?"
    ]
    assert Chat(PLAN, "/goto xyz").after("/goto xyz") == [
        "no state is named 'xyz'; there are: welcome, dogs-first, bye"
    ]
    assert Chat(PLAN, "/goto").after("/goto") == ["which state? welcome, dogs-first, bye"]
    assert Chat(STATES, "/goto done").seen[-2:] == ["Goodbye.", END]


def test_undo() -> None:
    chat = Chat(PLAN, "Ann", "/undo", "Bob")
    assert chat.after("/undo") == ["back in 'welcome'", "[welcome] Say hello", "First name:"]
    assert chat.data["first_name"] == "Bob"
    assert Chat(PLAN, "/undo").after("/undo") == ["there is nothing to take back"]
    assert Chat(PLAN, "Ann", "dogs", "/undo").state == "welcome"


def test_fork() -> None:
    chat = Chat(PLAN, "Ann", "/fork", "dogs")
    new, old = chat.talk.session.run, min(chat.store.runs(), key=lambda s: s.created).run
    assert chat.after("/fork") == [f"now in session {new}; {old} stays as it is"]
    assert chat.changed == [new]
    assert Session.open(chat.graph, chat.store, old).snapshot.state == "welcome"
    assert chat.state == "dogs-first"
    assert "has events 1 to 4, not 99" in Chat(PLAN, "/fork 99").after("/fork 99")[0]
    assert Chat(PLAN, "/fork x").after("/fork x")[0].startswith("/fork [N]: N is the number")
    first = Chat(PLAN, "Ann", "/fork 4", "/data")
    assert first.after("/data") == ["messages: 1"]


def test_set() -> None:
    chat = Chat(STATES, "/set size about 9 metres", "hello")
    assert chat.after("/set size about 9 metres") == ["size is 9"]
    assert chat.seen[-2:] == ["That is too large.", END]
    assert Chat(STATES, "/set size x").after("/set size x") == ["'x' is not a number"]
    seen = Chat(STATES, "/set siz 3").after("/set siz 3")
    assert seen == ["the graph has no field 'siz'; did you mean 'size'?"]
    assert Chat(STATES, "/set size").after("/set size") == ["/set KEY VALUE"]
    assert "cannot be set" in Chat(STATES, "/set messages a").after("/set messages a")[0]
    assert Chat(STATES, "/set wish it's a dog").data["wish"] == "it's a dog"


def test_step() -> None:
    chat = Chat(STATES, "/step", "hello", "/continue", "2", "/step", "again", "2")
    assert chat.after("/step")[0] == "stopping before every step; /continue takes one"
    stop = "stopped before 'answer'; /continue goes on"
    assert [line for line in chat.seen if line.startswith("stopped")] == [stop]
    assert "running freely again" in chat.seen
    assert chat.talk.snapshot.status == "waiting"


def test_continue() -> None:
    assert Chat(STATES, "/continue").after("/continue") == ["nothing is stopped; it is your turn"]
    chat = Chat(STATES, "hello", "/continue", "3", stops=Stops({"answer"}))
    assert chat.after("hello") == ["-> answer", "stopped before 'answer'; /continue goes on"]
    assert chat.seen[-2:] == ["Goodbye.", END]
    limited = STATES + "limits: {max_steps: 1}\n"
    chat = Chat(limited, "hello", "1", "/continue", "2", "noon", "/continue", "3", "/continue")
    stops = [line for line in chat.seen if line.startswith("stopped by a limit, max_steps: 1")]
    assert len(stops) == 3
    assert chat.seen[-2:] == ["Goodbye.", END]


def test_break() -> None:
    chat = Chat(STATES, "/break answer", "/break", "hello", "/break answer", "/continue", "2")
    assert chat.after("/break answer") == ["stopping before answer"]
    assert chat.after("/break") == ["stopping before answer"]
    assert "stopped before 'answer'; /continue goes on" in chat.after("hello")
    assert "no breakpoints" in chat.seen
    assert chat.state == "ask"
    assert Chat(STATES, "/break anser").after("/break anser") == [
        "no state is named 'anser'; did you mean 'answer'?"
    ]
    both = Chat(STATES, "/break", stops=Stops({"ask"}, {"look"}))
    assert both.after("/break") == ["stopping before ask, after look"]


def test_stops_of_plan_states() -> None:
    """A turn of plan states is one body; it is finished, then the chat stops."""
    for stops, told in (
        (Stops(after={"welcome"}), "stopped after 'welcome'"),
        (Stops(before={"bye"}), "stopped at 'bye'"),
    ):
        chat = Chat(PLAN, "Ann", "cats", "yes", stops=stops)
        assert chat.after("cats")[-1] == told
        assert chat.state == "__end__"


def test_trace() -> None:
    seen = Chat(PLAN, "Ann", "/trace 3").after("/trace 3")
    assert [line.split()[1] for line in seen] == ["turned", "guard_missing_field", "waiting"]
    assert Chat(PLAN, "/trace").after("/trace") == [
        "    1 started   welcome data={} speaks=true",
        "    2 asked     welcome what='turn'",
        "    3 answered  welcome [welcome] Say hello First name:",
        "    4 waiting   welcome",
    ]
    assert Chat(PLAN, "/trace 0").after("/trace 0") == []


def test_model(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "STATECLI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    chat = Chat(STATES, "/model", "/model human", "hello", "My own words", "2")
    assert chat.after("/model") == ["rules plays the model"]
    assert chat.after("/model human") == ["human plays the model now"]
    assert "My own words" in chat.seen
    assert "needs a key" in Chat(STATES, "/model gpt").after("/model gpt")[0]
    assert "no model is named" in Chat(STATES, "/model rule").after("/model rule")[0]
    seen = Chat(STATES, "/model script:x.yaml").after("/model script:x.yaml")
    assert seen == ["a script brings its own lines: start it with --model, or play it with /test"]


def test_tools() -> None:
    assert Chat(STATES, "/tools").after("/tools") == [
        "notes  Notes folder  (not connected: you play it)",
        "clock  (no description)  (not connected: you play it)",
    ]
    assert Chat(PLAN, "/tools").after("/tools") == ["no tools are declared"]


def test_save(tmp_path: Path) -> None:
    file = tmp_path / "talk.yaml"
    chat = Chat(STATES, "hello", "1", "notes", "nothing", "2", f"/save {file}", "/data")
    assert chat.after(f"/save {file}") == [f"written to {file}"]
    assert "say: hello" in file.read_text()
    again = Chat(STATES, f"/test {file}", f"/save {file}", "/save")
    assert again.after(f"/test {file}") == [f"{file}: passed, 1 turn, waiting in 'ask'"]
    assert again.after(f"/save {file}") == [f"{file} is already there; it is not overwritten"]
    assert again.after("/save") == ["/save FILE"]
    nowhere = tmp_path / "none" / "x.yaml"
    seen = Chat(STATES, f"/save {nowhere}").after(f"/save {nowhere}")
    assert seen == [f"{nowhere}: there is no folder {nowhere.parent}"]


@pytest.mark.parametrize("line", ["/goto bye", "/set first_name Ann", "/fork 2"])
def test_save_refuses_what_no_file_can_say(line: str, tmp_path: Path) -> None:
    file = tmp_path / "talk.yaml"
    seen = Chat(PLAN, line, f"/save {file}").after(f"/save {file}")
    assert seen[0].startswith("this conversation cannot be played from a file: ")
    assert not file.exists()


def test_save_after_undo_and_stops(tmp_path: Path) -> None:
    """What was taken back is not saved; a stop in the middle of a turn leaves no trace."""
    file = tmp_path / "talk.jsonl"
    lines = ("hello", "1", "/undo", "hi", "/continue", "3", f"/save {file}")
    Chat(STATES, "/break answer", *lines[:1], "/continue", "2", "/undo", *lines[3:5], "2",
         f"/save {file}")  # fmt: skip
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert [item["say"] for item in rows[1:]] == ["hi"]
    seen = Chat(STATES, f"/test {file}").after(f"/test {file}")
    assert seen == [f"{file}: passed, 1 turn, waiting in 'ask'"]


def test_export(tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    chat = Chat(PLAN, "Ann", f"/export '{file}'", "/export", "/data")
    assert chat.after(f"/export '{file}'") == [f"written to {file}"]
    events = chat.store.events(chat.talk.session.run)
    assert file.read_text().splitlines() == [row(event) for event in events]
    assert chat.after("/export") == ["/export FILE"]


@pytest.mark.parametrize("command", ["/export", "/save"])
def test_no_half_file_is_left(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    file = tmp_path / "out.yaml"
    line = f"{command} {file}"
    assert Chat(PLAN, "Ann", line).after(line) == [f"{file}: no space left on device"]
    assert list(tmp_path.iterdir()) == []


MISFIT = "'answer' asks for a reply ('reply'), but the next reply has 'choice'"


def test_test(tmp_path: Path) -> None:
    good, bad, unread = tmp_path / "good.yaml", tmp_path / "bad.yaml", tmp_path / "unread.yaml"
    good.write_text("turns:\n  - {say: hi, replies: [reply: Hello!, choice: done]}\nexpect: {}\n")
    bad.write_text("turns:\n  - {say: hi, replies: [choice: done, reply: Hello!]}\n")
    unread.write_text("turns: 3\n")
    chat = Chat(STATES, f"/test {good}", f"/test {bad}", f"/test {unread}", "/test", "/data")
    assert chat.after(f"/test {good}") == [f"{good}: passed, 1 turn, ended in 'done'"]
    assert chat.after(f"/test {bad}") == [
        f"{bad}: failed in 'answer'",
        f"  {bad}:2:25: turn 1: {MISFIT}",
        "    the person said: 'hi'",
    ]
    assert chat.after(f"/test {unread}") == [f"{unread}:1:8: 'turns' is a list, not the number 3"]
    assert chat.after("/test") == ["/test FILE"]
    assert chat.after("/data") == ["nothing is set yet"]
    assert len(chat.store.runs()) == 1


def test_quit() -> None:
    chat = Chat(PLAN, "Ann", "/quit", "dogs")
    assert chat.seen[-1] == "welcome> /quit"
    assert chat.code == 0
    asked = Chat(STATES, "hello", "/quit", "2")
    assert asked.seen[-1] == "? /quit"
    assert asked.talk.snapshot.status == "running"


def test_commands_while_a_question_waits() -> None:
    chat = Chat(STATES, "hello", "/data", "/undo", "/hlp", "2")
    assert chat.after("/undo") == ["/undo has to wait: answer first, or stop this step with Ctrl-C"]
    assert chat.after("/hlp") == ["there is no /hlp; did you mean '/help'?"]
    assert chat.state == "ask"


@pytest.mark.parametrize("line", ["/etc/passwd is a file", "/ hm", " /state", "/2"])
def test_what_is_no_command_is_said(line: str) -> None:
    chat = Chat(STATES, line, "2")
    assert chat.data["messages"][0]["content"] == line


def test_control_characters_are_shown_harmlessly() -> None:
    graph = STATES.replace("message: Goodbye.", r'message: "\e]0;x\a\e[2J bye"')
    chat = Chat(graph, "\x1b[31mred\x07", "3")
    assert chat.seen[-2] == "␛]0;x␇␛[2J bye"
    seen = Chat(STATES, "\x1b[31mred\x07", "2", "/history").after("/history")
    assert seen[0] == "user: ␛[31mred␇"
    assert graph_of(graph).states["done"].settings["message"] == "\x1b]0;x\x07\x1b[2J bye"


def test_after_the_end(tmp_path: Path) -> None:
    """Whoever sits at a terminal may still look back, save, and take the last line back."""
    lines = ["/state", "/tasks", "/graph", "/routes", "/prompt", "/continue"]
    chat = Chat(PLAN, "Ann", "cats", "yes", *lines, f"/save {tmp_path}/a.yaml", "/undo", "/state")
    for line in lines:
        assert chat.after(line)[0].endswith("has ended; /undo goes back")
    assert chat.after("/undo")[0] == "back in 'bye'"
    assert chat.seen[chat.seen.index("the end> /undo") + 5].startswith("bye (loose)")
    assert Chat(PLAN, "Ann", "cats", "yes", "").seen[-1] == "the end> "
    again = Chat(PLAN, "Ann", "cats", "yes", "/goto welcome")
    assert again.talk.snapshot.status == "waiting"
