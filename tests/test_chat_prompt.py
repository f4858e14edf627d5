"""The prompt of a terminal: keys, history, search, completion, status line, the turning bar."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from chatting import graph_of
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput

from statecli.chat import terminal
from statecli.chat.complete import Answers, CommandWords
from statecli.chat.lines import Struck
from statecli.chat.repl import MAX_LINE, TerminalLines
from statecli.chat.terminal import TerminalScreen
from statecli.kinds.step import Delta
from statecli.model.event import Answered, Asked, Event
from statecli.model.ports import EndOfInput, Question
from statecli.model.snapshot import Snapshot, Token

GRAPH = graph_of("""
id: p
title: P
states:
  - id: ask
    title: Ask
    tasks:
      - {id: name, description: Name, deliverables: [{key: name}]}
      - {id: age, description: Age, deliverables: [{key: age}]}
  - {id: "st\\e[2Jate", title: S, tasks: [{id: t, description: T}]}
  - {id: bye, title: Bye, tasks: [{id: t, description: T}]}
""")
ENTER, ALT_ENTER, UP, CTRL_R, CTRL_C, CTRL_D = "\r", "\x1b\r", "\x1b[A", "\x12", "\x03", "\x04"


class Seat:
    """Somebody at a terminal: keys go in, lines come out."""

    leaving = False

    def __init__(self, pipe: PipeInput, history: Path | None = None) -> None:
        self.shown: list[str] = []
        self.commands: list[str] = []
        self.data: dict[str, Any] = {}
        screen = TerminalScreen(GRAPH, self.shown.append, color=False)
        self.lines = TerminalLines(
            GRAPH, screen, history=history, input_=pipe, output=DummyOutput()
        )
        self.lines.watch(self)

    @property
    def snapshot(self) -> Snapshot:
        return Snapshot((Token(0, "ask"),), self.data, status="waiting")

    async def at_question(self, line: str) -> bool:
        self.commands.append(line)
        self.leaving = line == "/quit"
        return line != "/no command"


def typed(keys: str, *, history: Path | None = None, times: int = 1) -> list[str]:
    """The lines that keys make."""
    with create_pipe_input() as pipe:
        seat = Seat(pipe, history)

        async def read() -> list[str]:
            pipe.send_text(keys)
            return [await seat.lines.read("ask> ") for _ in range(times)]

        return asyncio.run(read())


def asked(keys: str, question: Question) -> tuple[Seat, Callable[[], str]]:
    with create_pipe_input() as pipe:
        seat = Seat(pipe)

        async def ask() -> str:
            pipe.send_text(keys)
            return await seat.lines(question)

        try:
            answer = asyncio.run(ask())
        except (EndOfInput, asyncio.CancelledError) as error:
            caught: BaseException = error

            def fail() -> str:
                raise caught

            return seat, fail
        return seat, lambda: answer


def test_enter_sends_and_alt_enter_begins_a_line() -> None:
    assert typed(f"one{ALT_ENTER}two{ENTER}") == ["one\ntwo"]


def test_history_and_search(tmp_path: Path) -> None:
    kept = tmp_path / "data" / "history"
    assert typed(f"first{ENTER}second{ENTER}", history=kept, times=2) == ["first", "second"]
    assert typed(f"{UP}{UP}{ENTER}", history=kept) == ["first"]
    assert typed(f"{CTRL_R}fir{ENTER}{ENTER}", history=kept) == ["first"]
    assert kept.stat().st_mode & 0o077 == 0


def test_a_history_that_cannot_be_kept_is_no_trouble(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert typed(f"x{ENTER}", history=tmp_path / "file" / "history") == ["x"]


def test_ctrl_c_clears_the_line_and_strikes_at_an_empty_one() -> None:
    assert typed(f"wrong{CTRL_C}right{ENTER}") == ["right"]
    with pytest.raises(Struck):
        typed(CTRL_C)


def test_ctrl_d_is_the_end_of_input() -> None:
    with pytest.raises(EndOfInput):
        typed(CTRL_D)


def test_a_megabyte_is_cut_and_that_is_said() -> None:
    with create_pipe_input() as pipe:
        seat = Seat(pipe)
        text = "\x1b[200~" + "a" * 1_000_000 + "\x1b[201~" + ENTER

        async def read() -> str:
            sending = threading.Thread(target=pipe.send_text, args=(text,))
            sending.start()
            line = await seat.lines.read("> ")
            sending.join()
            return line

        assert asyncio.run(read()) == "a" * MAX_LINE
    assert seat.shown == ["only the first 200,000 characters of the line are taken\n"]


def test_half_characters_become_question_marks() -> None:
    assert typed(f"a\ud83db{ENTER}".encode("utf-8", "surrogatepass").decode("utf-8", "replace"))
    with create_pipe_input() as pipe:
        seat = Seat(pipe)

        async def read() -> str:
            pipe.send_bytes(b"a\xffb\r")
            return await seat.lines.read("> ")

        line = asyncio.run(read())
    assert line.encode("utf-8")


def test_questions_have_their_own_prompt_and_no_history(tmp_path: Path) -> None:
    seat, answer = asked(f"{UP}2{ENTER}", Question("Which?", choices=("dogs", "cats")))
    assert answer() == "2"
    assert seat.shown == ["Which?\n"]


def test_commands_at_a_question() -> None:
    seat, answer = asked(f"/data{ENTER}/no command{ENTER}", Question("Which?"))
    assert answer() == "/no command"
    assert seat.commands == ["/data", "/no command"]
    assert seat.shown == ["Which?\n", "Which?\n"]
    _, answer = asked(f"/quit{ENTER}", Question("Which?"))
    with pytest.raises(EndOfInput):
        answer()


def test_ctrl_c_at_a_question_stops_the_step() -> None:
    _, answer = asked(CTRL_C, Question("Which?"))
    with pytest.raises(asyncio.CancelledError):
        answer()
    seat, answer = asked(CTRL_D, Question("Which?"))
    with pytest.raises(EndOfInput):
        answer()
    assert seat.lines.dry


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("/", None), ("/st", ["state", "step"]), ("/goto ", ["ask", "bye"]),
        ("/break b", ["bye"]), ("/set n", ["name"]), ("/model r", ["rules"]),
        ("/data ", []), ("hello", []), ("", []), (" /", []),
    ],
)  # fmt: skip
def test_completion(text: str, words: list[str] | None) -> None:
    found = CommandWords(GRAPH).get_completions(Document(text), CompleteEvent())
    names = [completion.text for completion in found]
    if words is None:
        assert len(names) == 23
    else:
        assert names == words


def test_answers_are_completed() -> None:
    answers = Answers()
    answers.names = ("dogs", "cats", "cows")
    found = answers.get_completions(Document("c"), CompleteEvent())
    assert [completion.text for completion in found] == ["cats", "cows"]
    assert list(answers.get_completions(Document(""), CompleteEvent())) == []


def test_status_line() -> None:
    with create_pipe_input() as pipe:
        seat = Seat(pipe)
        seat.data = {"messages": [{"role": "user", "content": "x"}], "name": "Ann"}
        assert seat.lines._status() == "ask  turn 1  1/2 tasks"


def event(body: Any) -> Event:
    return Event("r", 1, 0.0, body)


def screen(color: bool = False) -> tuple[TerminalScreen, list[str]]:
    shown: list[str] = []
    return TerminalScreen(GRAPH, shown.append, color=color), shown


def test_streamed_text_is_shown_once() -> None:
    on, shown = screen()
    for piece in ("Hel", "lo \x1b[2J", "there"):
        on.show(Delta(piece))
    on.show(event(Answered(0, "ask", "Hello \x1b[2Jthere, Ann")))
    assert "".join(shown) == "Hello ␛[2Jthere, Ann\n"
    on.show(Delta("partly"))
    on.show(event(Answered(0, "ask", "something else")))
    assert "".join(shown).endswith("partly\nsomething else\n")


def test_ctrl_c_leaves_no_mark() -> None:
    on, shown = screen()
    on.show(Delta("half"))
    on.struck()
    on.struck()
    assert "".join(shown) == "half\n\r    \r"


def test_notes_are_dim_only_with_color() -> None:
    plain, shown = screen()
    plain.notes("a")
    colored, dim = screen(color=True)
    colored.notes("a")
    assert (shown, dim) == (["a\n"], ["\x1b[2ma\x1b[0m\n"])


def test_the_bar_turns_late_and_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "PATIENCE", 0.01)
    on, shown = screen()

    async def wait(seconds: float) -> None:
        on.show(event(Asked(0, "ask", "reply")))
        await asyncio.sleep(seconds)
        on.close()
        await asyncio.sleep(0.02)

    asyncio.run(wait(0.15))
    assert shown[0] == "\r|"
    assert shown[-1] == "\r \r"
    shown.clear()
    asyncio.run(wait(0))
    assert shown == []

    async def stream() -> None:
        on.show(Delta("half a li"))
        await asyncio.sleep(0.05)
        on.show(Delta("ne"))
        on.close()

    asyncio.run(stream())
    assert "".join(shown) == "half a line\n"
