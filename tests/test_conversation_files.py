"""Conversation files: read, refused with their place, written by /save and played again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from chatting import Chat
from conversations import Conversation, conversations, words_of
from run_cli import run

from statecli.cli.models import named
from statecli.load.loader import load
from statecli.text.conversation import BadConversation, read, write

ROOT = Path(__file__).parent.parent
#: Conversations that end, or stop because their lines do: no misfits at the end.
PLAYED = [c for c in conversations() if c.seen[-1] not in ("[1]", "[2]")]


NOTHING = "2:16: a reply says nothing; it has 'reply', 'calls', 'choice' or alike"
A_CALL = "2:25: a call is its name and its arguments, {name: {key: value}}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("turns: 3", "1:8: 'turns' is a list, not the number 3"),
        ("- a", "1:1: a conversation is a mapping, not a list"),
        ("", "1:1: a conversation is a mapping, not nothing"),
        ("graph: g.yaml", "1:1: a conversation needs 'turns', a list of what is said and answered"),
        ("turns: []\nturn: []", "2:1: a conversation has no 'turn'; did you mean 'turns'?"),
        ("turns: [hello]", "1:9: a turn is a mapping, not the text 'hello'"),
        ("turns:\n  - {say: [3]}", "2:11: 'say' is text, not a list"),
        ("turns:\n  - {says: x}", "2:6: a turn has no 'says'; did you mean 'say'?"),
        ("turns:\n  - {replies: x}", "2:15: 'replies' is a list, not the text 'x'"),
        ("turns:\n  - {replies: [3]}", "2:16: a reply is a mapping, not the number 3"),
        ("turns:\n  - {replies: [{repli: x}]}",
         "2:17: a reply has no 'repli'; did you mean 'reply'?"),
        ("turns:\n  - {replies: [{usage: 3}]}", NOTHING),
        ("turns:\n  - {replies: [{reply: [a]}]}", "2:24: 'reply' is text, not a list"),
        ("turns:\n  - {replies: [{writes: a}]}", "2:25: 'writes' is a mapping, not the text 'a'"),
        ("turns:\n  - {replies: [{choice: 3}]}", "2:25: 'choice' is text, not the number 3"),
        ("turns:\n  - {replies: [{calls: a}]}", "2:24: 'calls' is a list, not the text 'a'"),
        ("turns:\n  - {replies: [{calls: [{a: {}, b: {}}]}]}", A_CALL),
        ("turns:\n  - {replies: [{calls: [{a: 3}]}]}", "2:29: 'a' is a mapping, not the number 3"),
        ("turns:\n  - {replies: [{ok: 3}]}", "2:21: 'ok' is true or false, not the number 3"),
        ("turns:\n  - {replies: [{answer: []}]}", "2:25: 'answer' is text, not a list"),
        ("turns: []\ndata: 3", "2:7: 'data' is a mapping, not the number 3"),
        ("turns: []\nexpect: 3", "2:9: 'expect' is a mapping, not the number 3"),
        ("turns: []\nwitness: 3", "2:10: 'witness' is true or false, not the number 3"),
        ("graph: 3\nturns: []", "1:8: 'graph' is text, not the number 3"),
        ("turns:\n  - {expect: 3}", "2:14: 'expect' is a mapping, not the number 3"),
        ("turns:\n  - {say: a, writes: {a: 1}}",
         "2:14: a turn has no 'writes'; it stands in 'replies'"),
        ("turns: [", None),
        ("turns: []\nturns: []", None),
    ],
)  # fmt: skip
def test_mistakes_have_a_place(text: str, message: str | None) -> None:
    with pytest.raises(BadConversation) as caught:
        read("x.yaml", text.encode())
    assert str(caught.value).startswith("x.yaml:")
    assert message is None or str(caught.value) == f"x.yaml:{message}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"graph": "g"}\n{"say": []}', "2:9: 'say' is text, not a list"),
        ('{"say": "a"}\n\n{"replies": [{"reply": 3}]}', "3:24: 'reply' is text, not the number 3"),
        ('{"say": "a"}\n{"say": }', None),
        ('{"say": "a"}\n[]', "2:1: a turn is a mapping, not a list"),
        ('{"graf": "g"}\n', "1:2: a conversation has no 'graf'"),
    ],
)
def test_mistakes_in_lines_have_a_place(text: str, message: str | None) -> None:
    with pytest.raises(BadConversation) as caught:
        read("x.jsonl", text.encode())
    assert str(caught.value).startswith("x.jsonl:2:" if message is None else f"x.jsonl:{message}")


def test_what_is_written_is_read() -> None:
    turns: list[dict[str, Any]] = [
        {"replies": [{"reply": "Hi\nthere — ☃ \x1b[2J"}]},
        {"say": "yes", "replies": [{"calls": [{"set_deliverable": {"key": "a", "value": 1.5}}]}]},
        {"say": ": - # '\"", "replies": [{"answer": "yes"}, {"ok": False, "reply": "no"}]},
    ]
    for lines in (False, True):
        name = "x.jsonl" if lines else "x.yaml"
        text = write(turns, graph="g.yaml", digest="abc", about="é", data={"n": 1}, lines=lines)
        found = read(name, text.encode())
        assert (found.graph, found.digest, found.about, found.data) == (
            "g.yaml", "abc", "é", {"n": 1},
        )  # fmt: skip
        again = [
            {
                **({"say": turn.say} if turn.say is not None else {}),
                "replies": [reply.items for reply in turn.replies],
            }
            for turn in found.turns
        ]
        assert again == turns


def test_short_forms() -> None:
    found = read("x.yaml", b"turns: [say: 4711, say: 0x1F, say: 1.50]")
    assert [turn.say for turn in found.turns] == ["4711", "0x1F", "1.50"]
    found = read("x.yaml", b"turns:\n  - {say: a, replies: [Hello, answer: true, answer: no]}\n")
    assert [reply.items for reply in found.turns[0].replies] == [
        {"reply": "Hello"}, {"answer": "yes"}, {"answer": "no"},
    ]  # fmt: skip


def end_of(chat: Chat) -> tuple[str, str, dict[str, Any], list[tuple[str, str]]]:
    """Where a chat ended: state, status, data, and what was said by whom."""
    snapshot = chat.talk.snapshot
    data = {key: value for key, value in snapshot.data.items() if key != "messages"}
    messages = snapshot.data.get("messages") or ()
    said = [(m["role"], str(m["content"])) for m in messages]
    return snapshot.state, snapshot.status, data, said


@pytest.mark.parametrize("conversation", PLAYED, ids=lambda c: c.path.stem)
@pytest.mark.parametrize("suffix", ["yaml", "jsonl"])
def test_what_was_saved_plays_to_the_same_end(
    conversation: Conversation, suffix: str, tmp_path: Path
) -> None:
    path = ROOT / words_of(conversation)[-1]
    graph = load(str(path)).graph
    assert graph is not None
    file = tmp_path / f"talk.{suffix}"
    chat = Chat(graph, *conversation.lines, f"/save {file}", skills=tmp_path / "a")
    assert chat.seen[-1] == f"written to {file}"
    again = Chat(graph, provider=named(f"script:{file}"), skills=tmp_path / "a")
    assert again.code == 0
    assert end_of(again) == end_of(chat)


STATES = """
initial: hear
states:
  hear: {type: user, transition: {next: [plan]}}
  plan: {type: planner, transition: {next: [do]}}
  do: {type: executor, transition: {next: [do, check]}}
  check: {type: verifier, transition: {next: [plan, keep, bye]}}
  keep: {type: skill_builder, transition: {next: [bye]}}
  bye: {type: terminal}
"""


def test_every_kind_of_answer_is_saved(tmp_path: Path) -> None:
    lines = ["go", "one", "two", "", "no", "yes", "no", "no", "plan", "one", "", "no", "yes", "yes",
             "keep", "A skill", "It says so.", "no"]  # fmt: skip
    file = tmp_path / "talk.yaml"
    chat = Chat(STATES, *lines, f"/save {file}", skills=tmp_path / "skills")
    assert chat.seen[-1] == f"written to {file}"
    keys = {key for turn in read(str(file), file.read_bytes()).turns for r in turn.replies
            for key in r.items}  # fmt: skip
    assert keys == {"plan", "reply", "ok", "verdict", "skill", "answer"}
    again = Chat(STATES, provider=named(f"script:{file}"), skills=tmp_path / "skills")
    assert end_of(again) == end_of(chat)
    assert not (tmp_path / "skills").exists()


def test_values_from_the_start_are_saved(tmp_path: Path) -> None:
    graph = "initial: a\nfields: {n: {type: int, default: 1}, m: {type: int}}\nstates:\n"
    graph += (
        "  a: {type: user, transition: {next: [{to: b, when: {m: 7}}]}}\n  b: {type: terminal}\n"
    )
    file = tmp_path / "talk.yaml"
    chat = Chat(graph, "go", f"/save {file}", data={"m": 7})
    assert chat.talk.snapshot.status == "ended"
    assert "data:\n  m: 7\n" in file.read_text()
    (tmp_path / "g.yaml").write_text(graph)
    done = run("chat", tmp_path / "g.yaml", "--force", "--store", "memory", "--model",
               f"script:{file}")  # fmt: skip
    assert (done.code, done.out.splitlines()[1:]) == (0, ["> go"])


PLAN = """
id: p
title: P
states:
  - id: ask
    title: Ask
    tasks: [{id: n, description: Name, deliverables: [{key: name}]}]
  - {id: bye, title: Bye, tasks: [{id: w, description: Wave}]}
"""


def played(tmp_path: Path, turns: str, graph: str = PLAN) -> list[str]:
    """What is seen when turns are played."""
    file = tmp_path / "x.yaml"
    file.write_text(f"turns:\n{turns}")
    return [line.replace(str(tmp_path), "") for line in
            Chat(graph, provider=named(f"script:{file}")).seen]  # fmt: skip


SILENT = "  - {}\n  - say: Ann\n    replies: [calls: [set_deliverable: {key: name, value: Ann}]]\n"
WITNESSED = ["...", "> Ann", "-> bye (no route is written: the next state in order)", "..."]


def test_a_witness_has_no_text(tmp_path: Path) -> None:
    assert played(tmp_path, f"{SILENT}witness: true\n") == WITNESSED


@pytest.mark.parametrize(
    "rule",
    ["stuck-state", "rescued-by-safety-net", "priority-tie-overlap", "read-before-write",
     "no-way-out"],
)  # fmt: skip
def test_a_witness_without_the_mark_of_today_is_read(rule: str, tmp_path: Path) -> None:
    old = f"{SILENT}digest: 12ab\nabout: '{rule}: it was found'\n"
    assert played(tmp_path, old) == WITNESSED
    assert played(tmp_path, f"{old}witness: false\n") != WITNESSED


def test_what_validate_writes_is_marked(tmp_path: Path) -> None:
    (tmp_path / "g.yaml").write_text(
        "initial: a\nstates:\n  a: {type: user, writes: [n], transition: {next: [b]}}\n"
        "  b: {type: agent, writes: [m], transition: {next: [{to: c, when: {m: 1}}]}}\n"
        "  c: {type: terminal}\n"
    )
    run("validate", tmp_path / "g.yaml", "--witness-dir", tmp_path / "out")
    files = list((tmp_path / "out").iterdir())
    assert files
    assert all(read(f.name, f.read_bytes()).witness for f in files)


@pytest.mark.parametrize("mark", ["", "witness: false\n"])
def test_a_file_without_texts_is_no_witness(mark: str, tmp_path: Path) -> None:
    """What nobody scripted is an error, whatever else the file has or lacks."""
    shown = played(tmp_path, SILENT + mark)
    lacks = "/x.yaml:2:5: 'ask' asks for a reply or calls, but this turn has no reply left"
    assert shown == [lacks]


def test_calls_and_text_in_one_reply(tmp_path: Path) -> None:
    """The text is said once the calls are done, or before them where another reply follows."""
    call = "calls: [set_deliverable: {key: name, value: Ann}]"
    one = f"  - replies: [Name?]\n  - {{say: Ann, replies: [{{{call}, reply: Thanks!}}]}}\n"
    assert played(tmp_path, one)[-1] == "Thanks!"
    two = (
        f"  - replies: [Name?]\n  - {{say: Ann, replies: [{{{call}, reply: Hm!}}, reply: Bye!]}}\n"
    )
    shown = played(tmp_path, two)
    assert (shown[2], shown[-1]) == ("Hm!", "Bye!")


MISFIT = (
    "/x.yaml:3:26: 'ask' asks for a reply or calls ('calls' or 'reply'), but the next reply has "
    "'choice'"
)


@pytest.mark.parametrize(
    ("turns", "message"),
    [
        ("  - replies: [a]\n  - {say: Ann}\n",
         "/x.yaml:3:5: 'ask' asks for a reply or calls, but this turn has no reply left"),
        ("  - replies: [a]\n  - {say: Ann, replies: [choice: ask, b]}\n",
         MISFIT),
        ("  - replies: [a, b]\n", "/x.yaml:2:18: nobody asked for this reply ('reply'): 'b'"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_an_error(turns: str, message: str, tmp_path: Path) -> None:
    assert played(tmp_path, turns)[-1] == message


def test_turns_after_the_end_are_an_error(tmp_path: Path) -> None:
    graph = (
        "initial: a\nstates:\n  a: {type: user, transition: {next: [b]}}\n  b: {type: terminal}\n"
    )
    turns = "  - {say: x}\n  - {say: y}\n"
    shown = played(tmp_path, turns, graph)
    assert shown[-1] == "/x.yaml:3:5: the run has ended before this turn"


def test_on_error_does_not_hide_a_mistake_in_the_file(tmp_path: Path) -> None:
    graph = """
initial: a
tools: {t: {command: [t]}}
states:
  a: {type: user, transition: {next: [b]}}
  b: {type: tool, tool: t, on_error: c, transition: {next: [c]}}
  c: {type: terminal}
"""
    turns = "  - {say: x, replies: [calls: [t: {}], reply: y]}\n"
    shown = played(tmp_path, turns, graph)
    assert shown[-1] == (
        "/x.yaml:2:40: 't' is called and gives a result ('result'), but the next reply has 'reply'"
    )
    turns = "  - {say: x, replies: [calls: [t: {}], result: {error: no}]}\n"
    shown = played(tmp_path, turns, graph)
    assert shown[-3:-1] == ["failed in 'b': t: no", "-> c (on_error)"]


@pytest.mark.parametrize("lines", [False, True])
def test_every_text_is_written_so_that_it_is_read_back(lines: bool) -> None:
    """Also what only one of YAML 1.1 and 1.2 takes for a number or for the end of a line."""
    said = ["1e3", "0o14", "yes", "1_000", "12:30", "", "~", ".nan", "a: b", "# x", "x\x85 y\u2028"]
    text = write([{"say": line} for line in said], graph="g.yaml", digest="12e5", lines=lines)
    found = read("x.jsonl" if lines else "x.yaml", text.encode())
    assert [turn.say for turn in found.turns] == said
    assert found.digest == "12e5"
