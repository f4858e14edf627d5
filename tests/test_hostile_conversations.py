"""Conversation files that nobody would write on purpose: each gets one message at its place, and
files that are only odd are played."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from playing import played, told
from run_cli import run

from statecli.text.document import MAX_BYTES
from statecli.text.whole_file import write_file

DESK = """
initial: ask
fields: {intent: {type: enum, values: [refund, other]}}
states:
  ask: {type: user, transition: {next: [sort]}}
  sort:
    type: agent
    writes: [intent]
    transition: {next: [{to: pay, when: {intent: refund}}, ask]}
  pay: {type: terminal}
"""
HEAD = "graph: graph.yaml\n"
REPLY = "replies: [{writes: {intent: refund}, reply: ok}]"
TALK = f"{HEAD}turns:\n  - say: hi\n    {REPLY}\n    expect: {{state: pay}}\n"
LINES = (
    '{"graph": "graph.yaml"}\n{"say": "hi", "replies": [{"writes": {"intent": "refund"}, '
    '"reply": "ok"}], "expect": {"state": "pay"}}\n'
)
BOMB = "".join(
    f"x-{name}: &{name} [{', '.join([f'*{before}'] * 10)}]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "graph.yaml").write_text(DESK)
    return tmp_path


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("name", ["talk.yaml", "talk.jsonl"])
def test_however_a_file_is_encoded_it_is_found_and_played(
    name: str, end: str, encoding: str, place: Path
) -> None:
    text = LINES if name.endswith(".jsonl") else TALK
    if name.endswith(".jsonl") and end == "\r":
        end = "\n"  # a line of JSON ends with a line feed
    (place / name).write_bytes(text.replace("\n", end).encode(encoding))
    for words in ([name], ["."], ["graph.yaml"]):  # named, in a folder, of a graph
        done = run("test", *words)
        assert (done.code, done.out.splitlines()[0]) == (0, f"passed  {name}"), words


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_update_keeps_the_encoding(end: str, encoding: str, place: Path) -> None:
    wrong = TALK.replace("state: pay", "state: ask").replace("\n", end)
    (place / "talk.yaml").write_bytes(wrong.encode(encoding))
    assert run("test", "--update", "talk.yaml").code == 0
    now = (place / "talk.yaml").read_bytes()
    assert now == wrong.replace("state: ask", "state: pay").encode(encoding)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "talk.yaml: this is neither a conversation nor a graph"),
        ("# only this\n", "talk.yaml: this is neither a conversation nor a graph"),
        ("- say: hi\n", "talk.yaml:1:1: a conversation is a mapping, not a list"),
        ("turns\n", "talk.yaml:1:1: a conversation is a mapping, not the text 'turns'"),
        (f"{HEAD}about: a\nabout: b\nturns: []\n",
         "talk.yaml:3:1: the key 'about' is already there"),
        (f"{HEAD}x-a: &a [l, l]\n{BOMB}turns: []\n",
         "aliases expand to more than 100,000 values"),
        (f"{HEAD}turns: &t\n  - {{say: hi, replies: *t}}\n",
         "talk.yaml:2:8: this alias contains itself"),
        (f"{HEAD}turns: *t\n", "talk.yaml:2:8: the alias '*t' has no anchor"),
        (f"{HEAD}turns:\n  - say: !!python/object/apply:os.system ['echo hi']\n",
         "talk.yaml:3:10: the tag '!!python/object/apply:os.system' means nothing here"),
        (f"{HEAD}turns:\n\t- say: hi\n", "talk.yaml:3:1: a tab"),
        (f"{TALK}---\n{TALK}", "talk.yaml:6:1: a second document starts here; one file holds one"),
        (f"{HEAD}x-d: {'[' * 3000}{']' * 3000}\nturns: []\n", "talk.yaml:2:1005: nested too deep"),
        (f"{HEAD}turns:\n  - say: h\0i\n", "talk.yaml:3:11: a NUL character cannot stand in YAML"),
        (f"{HEAD}turns:\n  - say: h\x07i\n", "talk.yaml:3:11: the control character U+0007"),
        (f"{HEAD}1: a\nturns: []\n", "talk.yaml:2:1: a conversation has no '1'"),
        (f"{HEAD}? [a]\n: b\nturns: []\n", "talk.yaml:2:3: a key must be text"),
        (f"{HEAD}turns:\n  - say: true\n", "talk.yaml:3:10: 'say' is text, not true"),
        (f"{HEAD}turn:\n  - say: hi\n",
         "talk.yaml:2:1: a conversation has no 'turn'; did you mean 'turns'?"),
        (f'{HEAD}"\\e[31mred": 1\nturns: []\n', "talk.yaml:2:1: a conversation has no '␛[31mred'"),
        (f"{HEAD}data: {{intent: .nan}}\nturns: []\n",
         "talk.yaml:2:16: nan is none of the values of 'intent'"),
        # The value that was refused is at fault, and not the turn around it.
        (f"{HEAD}turns:\n  - say: hi\n    replies: [{{writes: {{intent: no}}, reply: ok}}]\n",
         "talk.yaml:4:15: turn 1: 'sort' asks for its fields: 'intent' once more ('no' is none of"),
    ],
)  # fmt: skip
def test_one_message_at_its_place(text: str, message: str, place: Path) -> None:
    (place / "talk.yaml").write_text(text)
    done = run("test", "talk.yaml")
    problems = [line for line in done.out.splitlines() if line.startswith("  talk.yaml")]
    assert [message in problem for problem in problems] == [True], done.out
    assert done.code == (1 if "none of" in message else 2)
    assert "Traceback" not in done.out + done.err


@pytest.mark.parametrize(
    "text",
    [
        TALK.replace("say: hi", "say: 0755"),
        TALK.replace("say: hi", "say: 2024-01-01"),
        TALK.replace("say: hi", "say: .nan"),
        TALK.replace("say: hi", "say: yes"),
        TALK.replace("say: hi", f"say: {'x' * 1_000_000}"),
        TALK.replace("reply: ok", "reply: !!str 5"),
        f"%YAML 1.2\n---\n{TALK}...\n",
        f"{HEAD}x-b: &b {{say: hi, {REPLY}}}\nturns:\n  - <<: *b\n    expect: {{state: pay}}\n",
    ],
    ids=["octal", "date", "nan", "yes", "long", "tag", "directive", "merge"],
)
def test_what_is_only_odd_is_played(text: str) -> None:
    result = played(DESK, text)
    assert told(result) == []
    assert result.status == "passed"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("graph.yml", "there is no graph 'graph.yml'; did you mean 'graph.yaml'?"),
        ("talk", "there is no graph 'talk' beside it or one folder up"),  # not itself
        ("..", "there is no graph '..' beside it or one folder up"),
        ('"a\\0b"', "there is no graph 'a␀b' beside it or one folder up"),
        ("talk.yaml", "talk.yaml: this is no graph that could be run; statecli validate"),
        ("compose.yaml", "compose.yaml: this is no graph that could be run; statecli validate"),
        ("shop.desk:graph", "one that is built in Python is played with statecli.Run"),
        ("5", "'graph' is text, not the number 5"),
    ],
)
def test_a_graph_that_is_none_is_told_where_it_is_named(
    name: str, message: str, place: Path
) -> None:
    (place / "compose.yaml").write_text("services: {web: {image: x}}\n")
    (place / "talk.yaml").write_text(TALK.replace("graph.yaml", name))
    done = run("test", "talk.yaml")
    problems = [line for line in done.out.splitlines() if line.startswith("  ")]
    assert len(problems) == 1
    assert problems[0].startswith("  talk.yaml:1:8: ")
    assert message in problems[0]
    assert done.code == 2


def test_a_folder_that_may_be_entered_and_not_listed(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the one above a home often is: nothing is near there, and nothing else is wrong."""
    (place / "talk.yaml").write_text(TALK.replace("graph.yaml", "graph.yml"))

    def refused(folder: object) -> list[str]:
        raise PermissionError(13, "Permission denied", str(folder))

    monkeypatch.setattr(os, "listdir", refused)
    done = run("test", "talk.yaml", "graph.yaml")
    assert "talk.yaml:1:8: there is no graph 'graph.yml' beside it or one folder up" in done.out
    assert done.code == 2
    assert "Permission" not in done.out + done.err


@pytest.mark.parametrize("graph", ["none.yaml", "shop.desk:graph", "talk.yaml", "."])
def test_a_graph_for_all_of_them_is_told_once(graph: str, place: Path) -> None:
    (place / "talk.yaml").write_text(TALK)
    (place / "more.yaml").write_text(TALK)
    done = run("test", "--graph", graph, "talk.yaml", "more.yaml")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"statecli: {graph}: ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"graph": "graph.yaml", "turns": []}\n{"say": "hi"}\n',
         "1:25: in a file of JSON lines each turn is a line of its own; 'turns' says nothing here"),
        ('{"graph": "graph.yaml"}\n{"say": "hi"} {"say": "ho"}\n',
         "2:15: more text after the end of the JSON value"),
        ('{"graph": "graph.yaml"}\n{"say": "hi", "say": "ho"}\n',
         "2:15: the key 'say' is already there"),
        (f'{{"graph": "graph.yaml"}}\n{"[" * 10_000}\n', "2:101: nested more than 100 levels deep"),
        ('{"graph": "graph.yaml"}\n{"say": NaN}\n', "2:9: NaN is no JSON value"),
    ],
)  # fmt: skip
def test_lines_of_json(text: str, message: str, place: Path) -> None:
    (place / "talk.jsonl").write_text(text)
    done = run("test", "talk.jsonl")
    problems = [line for line in done.out.splitlines() if line.startswith("  ")]
    assert len(problems) == 1
    assert problems[0].startswith(f"  talk.jsonl:{message}")
    assert done.code == 2


def test_links_folders_and_what_is_not_there(place: Path) -> None:
    tests = place / "tests"
    tests.mkdir()
    (tests / "talk.yaml").write_text(TALK)
    (tests / "folder.yaml").mkdir()
    (tests / "loop.yaml").symlink_to("loop.yaml")
    (tests / "gone.yaml").symlink_to("nowhere.yaml")
    (tests / "up").symlink_to("..")
    done = run("test", "tests")
    assert (done.code, done.out.splitlines()[0]) == (0, "passed  tests/talk.yaml")
    assert "tests/gone.yaml: no such file" in run("test", "tests/gone.yaml").out
    assert "tests/loop.yaml: too many levels" in run("test", "tests/loop.yaml").out
    assert run("test", "tests/folder.yaml").err.startswith("statecli: tests/folder.yaml: no conv")
    for name in ("loop.yaml", "gone.yaml", "folder.yaml", "none.yaml"):
        assert run("test", f"tests/{name}").code == 2


def test_a_file_that_is_too_large(place: Path) -> None:
    """Its end is not even read, so how large it is cannot be told."""
    (place / "talk.yaml").write_bytes(TALK.encode() + b"#" * MAX_BYTES)
    done = run("test", "talk.yaml")
    assert "  talk.yaml:1:1: the file is larger than 64 MB, more than is read" in done.out
    assert done.code == 2


SLOW = "{matches: '^(a+)+$'}"


@pytest.mark.parametrize("expect", [f"{{said: {SLOW}}}", f"{{not_said: {SLOW}}}"])
def test_an_expression_that_never_comes_to_an_end(expect: str) -> None:
    began = time.monotonic()
    talk = TALK.replace("reply: ok", f"reply: {'a' * 40}b").replace("{state: pay}", expect)
    result = played(DESK, talk, update=True)
    message = "turn 1: its regular expression takes longer than 2 s here"
    assert [problem.message for problem in result.problems] == [message.partition(": ")[2]]
    assert "5:" in result.problems[0].where
    assert time.monotonic() - began < 30


# --- files that are written -----------------------------------------------------------------------

SHARED = f"""{HEAD}turns:
  - say: hi
    replies: [{{writes: {{intent: other}}, reply: ok}}]
    expect: &e {{state: pay}}
  - {{say: bye, {REPLY}, expect: *e}}
"""


def test_what_turns_share_is_not_rewritten_where_they_differ() -> None:
    """What makes one of them right makes the other wrong, and the next update the other way."""
    result = played(DESK, SHARED, update=True)
    assert (result.text, result.diff, result.status) == (None, (), "failed")
    assert "turns share what they expect by an alias, and differ" in result.notes[-1]
    alike = SHARED.replace("intent: refund", "intent: other")
    assert played(DESK, alike, update=True).text == alike.replace("{state: pay}", "{state: ask}")


def test_a_file_that_may_not_be_written_stays_and_the_others_are_updated(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = TALK.replace("state: pay", "state: ask")
    for name in ("a.yaml", "b.yaml"):
        (place / name).write_text(wrong)
    allowed = os.access
    monkeypatch.setattr(  # root may write everything
        os, "access", lambda path, how: allowed(path, how) and Path(path).name != "a.yaml"
    )
    done = run("test", "--update", "a.yaml", "b.yaml")
    assert done.code == 2
    assert done.err.splitlines() == ["a.yaml: permission denied", "b.yaml: updated"]
    assert (place / "a.yaml").read_text() == wrong
    assert (place / "b.yaml").read_text() == TALK


def test_what_somebody_else_wrote_meanwhile_is_kept(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = TALK.replace("state: pay", "state: ask")
    (place / "a.yaml").write_text(wrong)
    (place / "b.yaml").write_text(wrong)

    def slow(path: str, content: bytes) -> None:
        write_file(path, content)
        (place / "b.yaml").write_text("theirs")

    monkeypatch.setattr("statecli.text.whole_file.write_file", slow)
    done = run("test", "--update", "a.yaml", "b.yaml")
    assert done.code == 2
    assert "b.yaml: somebody else changed it meanwhile; nothing was written" in done.err
    assert (place / "b.yaml").read_text() == "theirs"


@pytest.mark.parametrize("option", ["--junit", "--coverage-file"])
def test_a_report_does_not_take_the_place_of_a_conversation(option: str, place: Path) -> None:
    """As in `statecli test --junit tests/*.yaml`: the file of the option was forgotten."""
    (place / "a.yaml").write_text(TALK)
    done = run("test", option, "./a.yaml", ".")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"statecli: {option} ./a.yaml: this is a conversation")
    assert (place / "a.yaml").read_text() == TALK
    both = run("test", "--junit", "out.xml", "--coverage-file", "./out.xml", ".")
    assert (both.code, "another report is written there" in both.err) == (2, True)
    assert not (place / "out.xml").exists()


def test_a_model_that_plays_another_file_tells_of_that_file(place: Path) -> None:
    (place / "talk.yaml").write_text(f"{HEAD}turns:\n  - say: hi\n  - say: ho\n")
    (place / "model.yaml").write_text(
        f"{HEAD}turns:\n  - say: hi\n    replies: [{{writes: {{intent: other}}, reply: ok}}]\n"
    )
    done = run("test", "--record", "--model", "replay:model.yaml", "talk.yaml")
    assert done.code == 1
    assert "  talk.yaml:4:5: turn 2: model.yaml:3:3: 'sort' asks for" in done.out
    assert "nothing was written" in done.out
