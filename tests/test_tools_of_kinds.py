"""`tools` of an agent, a decision, a planner, an executor and a verifier: its model may call them
before it answers, and in all five it is the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from chatting import Chat
from openai_server import Answer, Server, calls, text, value
from served import served
from test_recordings import Recorded

from statecli.model.event import Called, Failed, Limited, Refused, Returned

GRAPH = """
initial: hear
fields: {{note: {{type: str}}}}
tools: {{t: {{description: Tells}}, u: {{description: Other}}}}
states:
  hear: {{type: user, transition: {{next: [first]}}}}
  first: {{{first}}}
  bye: {{type: terminal, message: Bye.}}
"""
PLAN = "type: planner, transition: {next: [work]}}\n  work: {"
WAYS = "transition: {next: [{to: bye, description: Done}, {to: hear, description: More}]}"
#: What each kind says of itself, how its model answers, and what comes before and after that.
KINDS: dict[str, tuple[str, list[Answer], Answer, list[Answer]]] = {
    "agent": (f"type: agent, tools: [t], {WAYS}", [], text("It is ten."),
              [value({"next_state": "bye"})]),
    "agent with writes": (f"type: agent, writes: [note], tools: [t], {WAYS}", [],
                          value({"reply": "So.", "note": "ten"}), [value({"next_state": "bye"})]),
    "decision": (f"type: decision, tools: [t], {WAYS}", [], value({"next_state": "bye"}), []),
    "planner": (f"type: planner, tools: [t], {WAYS}", [],
                value({"steps": ["a"], "needs_permission": False}),
                [value({"next_state": "bye"})]),
    "executor": (f"{PLAN}type: executor, tools: [t], transition: {{next: [work, bye]}}",
                 [value({"steps": ["a"], "needs_permission": False})],
                 value({"reply": "Done.", "ok": True}), []),
    "verifier": (f"type: verifier, tools: [t], {WAYS}", [],
                 value({"done": True, "reason": "So it is.", "next": "bye"}), []),
}  # fmt: skip
ALL = pytest.mark.parametrize("kind", KINDS)


def graph_of(kind: str, head: str = "") -> str:
    return head + GRAPH.format(first=KINDS[kind][0]).lstrip()


def bodies(chat: Chat, *kinds: type[Any]) -> list[Any]:
    events = chat.store.events(chat.talk.session.run)
    return [event.body for event in events if isinstance(event.body, kinds)]


@ALL
def test_the_model_calls_and_then_answers(kind: str, tmp_path: Path) -> None:
    """Two calls, one that does not fit; what came of them stands before the answer. What is sent
    is what OpenAI takes (leaving the server fails otherwise), and the recording plays again."""
    _, before, answer, after = KINDS[kind]
    made = calls(("t", {"what": "hour"}), ("u", {}), say="I look.")
    with Server(*before, made, calls(("t", "{")), answer, *after) as server:
        recorded = Recorded(tmp_path, graph_of(kind), ["hi", "ten"], served(server))
        assert server.answers == []
        chat = recorded.first
        offered = [r for r in server.requests if r.get("tools")]
        assert len(offered) == 3
        assert [t["function"]["name"] for r in offered for t in r["tools"]] == ["t"] * 3
        told = [m["content"] for m in offered[-1]["messages"] if m["role"] == "tool"]
        assert told[0] == "ten"
        assert [line.startswith("error: ") for line in told] == [False, True, True]
        assert not any("response_format" in r for r in offered), "a schema would forbid the calls"
    assert chat.talk.snapshot.status == "ended", chat.seen
    assert [(c.state, c.tool) for c in bodies(chat, Called)] == [
        ("work" if kind == "executor" else "first", "t")]  # fmt: skip
    assert [r.result for r in bodies(chat, Returned)] == ["ten"]
    assert len(bodies(chat, Refused)) == 2
    recorded.same()


@ALL
def test_a_model_that_only_calls(kind: str) -> None:
    """`max_calls` bounds it, a budget stops it between two calls."""
    _, before, _, _ = KINDS[kind]
    again = calls(("t", {}))
    lines = ["hi", *["ten"] * 3]
    with Server(*before, brain=again) as server:
        chat = Chat(graph_of(kind, "limits: {max_calls: 3}\n"), *lines, provider=served(server))
        assert len(server.requests) == len(before) + 3
    assert "3 model calls" in bodies(chat, Failed)[0].error
    most = 20 + 15 * len(before)
    with Server(*before, brain=again) as server:
        chat = Chat(graph_of(kind, f"limits: {{max_tokens: {most}}}\n"), *lines[:3],
                    provider=served(server))  # fmt: skip
    assert [body.limit for body in bodies(chat, Limited)] == ["max_tokens"]
    assert not bodies(chat, Failed)


@ALL
def test_who_plays_the_model_does_the_work_by_hand(kind: str) -> None:
    chat = Chat(graph_of(kind), "hi", "/quit")
    assert not bodies(chat, Called)


@ALL
def test_the_prompt_says_so(kind: str) -> None:
    if kind == "executor":
        pytest.skip("what it is asked depends on the plan")
    chat = Chat(graph_of(kind), "/prompt")
    assert any("--- tools: t" in line for line in chat.seen), chat.seen
