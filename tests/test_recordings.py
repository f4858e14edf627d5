"""Whatever the model, its server and the person did: the recording loads, and played again it
makes the same events happen."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from chatting import Chat, graph_of
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from openai_server import Answer, Server, calls, cut, status, text, value
from served import served
from test_served_runs import TALK, WORK

from statecli.chat.record import Record
from statecli.llm.replay import ReplayProvider
from statecli.model.event import (
    NAMES,
    Answered,
    Approved,
    Body,
    Called,
    Returned,
    Said,
    Spent,
    Streamed,
    Waiting,
    Warned,
)
from statecli.model.ports import Ask, Chunk, EndOfInput, Request
from statecli.store.memory import MemoryStore
from statecli.text.conversation import read

PLAN = """
initial: hear
fields: {note: {type: str}, kept: {type: any}}
tools: {t: {description: x}, u: {description: y}}
states:
  hear: {type: user, transition: {next: [answer]}}
  answer: {type: agent, tools: [t, u], writes: [note], allow_writes_null: true,
    transition: {next: [draw, hear]}}
  draw: {type: planner, on_error: hear, transition: {next: [work]}}
  work: {type: executor, tools: [t], on_error: hear, transition: {next: [work, look]}}
  look: {type: tool, tools: [t, u], writes: [kept], on_error: hear, transition: {next: [judge]}}
  judge: {type: verifier, on_error: hear, on_invalid: hear, transition: {next: [bye, hear]}}
  bye: {type: terminal}
"""
GOAL = """
initial: talk
states:
  talk:
    type: goal
    goal: {objective: x, success_description: y, deliverables: [{key: k, required: false}]}
    transition: {next: [order]}
  order:
    type: strict
    tasks: [{id: a, description: d, deliverables: [{key: n, type: integer}]}]
    transition: {next: [bye]}
  bye: {type: terminal}
"""


def happened(chat: Chat) -> list[tuple[str, Body]]:
    """The events, without what is new each time and what only tells about servers."""
    found: list[tuple[str, Body]] = []
    for event in chat.store.events(chat.talk.session.run):
        body = event.body
        if isinstance(body, Warned | Approved | Streamed) or (
            isinstance(body, Waiting) and len(found) == 1
        ):
            continue  # a file begins with a line, not with a wait for it
        if isinstance(body, Spent):
            body = body._replace(seconds=0.0)
        if isinstance(body, Called | Returned):
            body = body._replace(call="")
        if isinstance(body, Said | Answered):
            body = body._replace(id="")
        found.append((NAMES[type(body)], body))
    return found


class Recorded:
    """A chat that was recorded, and the same played from the file."""

    def __init__(self, folder: Path, graph: str, lines: list[str], provider: Any,
                 name: str = "r.yaml") -> None:  # fmt: skip
        self.file = folder / name
        self.first = _Chat(graph, *lines, provider=provider, file=str(self.file))
        conversation = read(str(self.file), self.file.read_bytes())
        self.again = Chat(graph_of(graph), provider=ReplayProvider(conversation))

    def same(self) -> None:
        first, again = happened(self.first), happened(self.again)
        assert again == first, "\n".join(self.again.seen)


class _Chat(Chat):
    """A chat with a record."""

    def __init__(self, graph: str, *lines: str, provider: Any, file: str) -> None:
        self.file = file
        super().__init__(graph_of(graph), *lines, provider=provider, store=MemoryStore())

    async def _run(self, box: Any) -> int:
        self.talk.record = Record(self.talk, self.file)
        return await super()._run(box)


# --- every misbehaviour ---------------------------------------------------------------------------

LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3), st.floats(-1e9, 1e9, allow_nan=False),
    st.sampled_from(["bye", "hear", "t", "u", "answer", "", "a: b", "on", "1e3", "x\ny", "ÄÖ\u2028",
                     "\x85", "{", "# no", " lead", "'", "!tag", "achieved", "I say so"]),
)  # fmt: skip
KEYS = st.sampled_from([
    "next_state", "next", "tool", "reply", "note", "ok", "steps", "needs_permission", "done",
    "reason", "agree", "quote", "on", "1", "$unreadable", "what",
])  # fmt: skip
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=8,
)  # fmt: skip
NAMES_OF_TOOLS = st.sampled_from([
    "t", "u", "nope", "set_deliverable", "complete_task", "close_goal", "skip_state", "a b: c"
])  # fmt: skip
ARGUMENTS = st.one_of(
    st.dictionaries(st.sampled_from(["key", "value", "id", "outcome", "quote", "x"]), LEAVES,
                    max_size=3),
    st.sampled_from(["{", "", "[]", '"x"', "null", '{"a": NaN}', '{"a": 1e999}', "\u2028"]),
)  # fmt: skip
ANSWERS = st.one_of(
    st.builds(value, VALUES),
    st.builds(lambda v: text(f"Well:\n```json\n{json.dumps(v)}\n``` so"), VALUES),
    st.builds(lambda words: text(*words), st.lists(LEAVES.map(str), max_size=3)),
    st.builds(lambda given, say: calls(*given, say=say),
              st.lists(st.tuples(NAMES_OF_TOOLS, ARGUMENTS), min_size=1, max_size=3),
              st.sampled_from(["", "I look."])),
    st.sampled_from([
        cut("Hel", "lo"), cut('{"reply": "So'), cut(), status(400, "no"), status(500), status(401),
        status(400, "no response_format", param="response_format"), text("x", usage=None),
        text("no end", finish=None, done=False), Answer(no_choices=True), text(""), text("  "),
        text("too long", finish="length"), text("x", finish="content_filter"),
        Answer(raw="<html>", content_type="text/html"), Answer(raw="not json"),
        text("<think>hm</think>", "bye"), text('{"next_state": NaN}'), text('{"a": 1e999}'),
    ]),
)  # fmt: skip


@pytest.mark.parametrize("name", ["r.yaml", "r.jsonl"])
@pytest.mark.parametrize("graph", [TALK, WORK, PLAN, GOAL], ids=["talk", "work", "plan", "goal"])
@settings(
    max_examples=4, deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.generate]
)  # each example is a chat: shrinking one takes minutes
@given(data=st.data())
def test_a_recording_makes_the_same_happen(
    graph: str, name: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    answers = data.draw(st.lists(ANSWERS, min_size=4, max_size=14))
    lines = data.draw(st.lists(st.sampled_from(["hi", "I say so", "yes", "error: broken", "7", "",
                                                '{"note": [1]}', "x: y"]), max_size=6))  # fmt: skip
    with Server(*answers, brain=status(400, "enough"), lax=True) as server:
        Recorded(tmp_path_factory.mktemp("r"), graph, lines, served(server), name).same()


def test_a_tool_that_fails_is_told_alike(tmp_path: Path) -> None:
    """Its error is text: a file that writes it as ``{error: why}`` makes no data of it."""
    answers = (calls(("u", {})), value({"reply": "Hm.", "note": None}))
    with Server(*answers, brain=status(400, "enough"), lax=True) as server:
        talk = Recorded(tmp_path, PLAN, ["hi", "error: broken"], served(server))
    talk.same()
    returned = [body for name, body in happened(talk.again) if name == "returned"]
    assert [(body.ok, body.result) for body in returned if isinstance(body, Returned)] == [
        (False, "broken")
    ]


# --- steps that were stopped ----------------------------------------------------------------------


class Striking:
    """Answers a few times; then the person strikes Ctrl-C, or the input ends, in the middle."""

    label = "striking"

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)

    async def complete(self, request: Request, ask: Ask) -> AsyncIterator[Chunk]:
        answer = self.answers.pop(0) if self.answers else EndOfInput()
        for part in answer if isinstance(answer, list) else [answer]:
            if isinstance(part, BaseException):
                raise part
            if part == "strike":
                task = asyncio.current_task()
                assert task is not None
                task.cancel()
                await asyncio.sleep(10)
            yield Chunk(text=part) if isinstance(part, str) else Chunk(value=part)


@pytest.mark.parametrize("answers", [
    [["strike"], "Hi.", {"next_state": "bye"}],
    [["Well, ", "strike"], "Hi.", ["strike"], "Ho.", {"next_state": "bye"}],
    ["Hi.", ["str", "strike"], {"next_state": "hear"}, "Ho.", {"next_state": "bye"}],
    [["Well, ", TimeoutError()], "Hi.", {"next_state": "bye"}],
    [["Well, ", EndOfInput()]],
    ["Hi.", EndOfInput()],
])  # fmt: skip
def test_a_step_that_was_stopped_is_in_the_recording(answers: list[Any], tmp_path: Path) -> None:
    graph = TALK.replace("initial: hear", "initial: hear\nlimits: {timeout: 100}")
    recorded = Recorded(tmp_path, graph, ["one", "two", "/continue", "three"], Striking(*answers))
    assert "stopped: model" in recorded.file.read_text()
    recorded.same()


def test_saving_after_a_stop(tmp_path: Path) -> None:
    played = Chat(TALK, "one", f"/save {tmp_path}/s.yaml", "two",
                  provider=Striking(["We", "strike"], "Hi.", {"next_state": "bye"}))  # fmt: skip
    assert any("written to" in line for line in played.seen), played.seen
    assert read("s.yaml", (tmp_path / "s.yaml").read_bytes()).turns[0].replies[0].items == {
        "stopped": "model", "reply": "We"}  # fmt: skip


def test_a_stop_at_a_question(tmp_path: Path) -> None:
    """The person plays the tool, and the input ends while they do."""
    tool = "initial: a\ntools: {t: {description: x}}\nstates:\n"
    tool += "  a: {type: tool, tool: t, transition: {next: [b]}}\n  b: {type: terminal}\n"
    recorded = Recorded(tmp_path, tool, [], Striking({}, {}))
    assert "stopped: call" in recorded.file.read_text()
    recorded.same()
