"""Models behind the API of OpenAI: what they answer, and everything that they do wrong. Each test
goes through the official SDK to a server of our own (`openai_server.py`), which also looks whether
each request is one that OpenAI would take."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path
from typing import Any

import pytest
from chatting import Chat
from openai_server import Answer, Server, calls, cut, status, text, value
from served import FAKE, Naps, served, target

from statecli.model.event import (
    Answered,
    Changed,
    Chose,
    Failed,
    Limited,
    Refused,
    Spent,
    Waiting,
    Warned,
)

AGENT = """
initial: hear
system_prompt: You are a shop.
states:
  hear: {type: user, transition: {next: [answer]}}
  answer: {type: agent, prompt: Help., transition: {next: [hear]}}
"""
CHOICE = """
initial: hear
states:
  hear: {type: user, transition: {next: [pick]}}
  pick:
    type: decision
    description: Where to
    transition: {next: [{to: red, description: Warm}, {to: blue, description: Cold}, hear]}
  red: {type: terminal, message: Red it is.}
  blue: {type: terminal, message: Blue it is.}
"""
WRITES = """
initial: hear
fields:
  intent: {type: enum, values: [refund, other], description: What it is about}
  amount: {type: float}
states:
  hear: {type: user, transition: {next: [ask]}}
  ask:
    type: agent
    prompt: Find out what they need.
    writes: [intent, amount]
    transition: {next: [{to: paid, when: {intent: refund, amount__gt: 0}}, hear]}
  paid: {type: terminal, message: Paid.}
"""
PLAN = """
id: p
states:
  - id: intake
    title: Intake
    tasks:
      - {id: who, description: Who they are, deliverables: [{key: name}, {key: age, type: integer}]}
      - {id: why, description: Why they come}
    transitions: [{target_state_id: done, condition_type: all_tasks_complete}]
  - {id: done, title: Done, type: terminal, message: Thanks.}
"""


def events(chat: Chat, kind: type[Any]) -> list[Any]:
    found = chat.store.events(chat.talk.session.run)
    return [event.body for event in found if isinstance(event.body, kind)]


def said(chat: Chat) -> list[str]:
    return [body.text for body in events(chat, Answered)]


# --- answers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("streams", [True, False])
def test_an_agent_answers(streams: bool) -> None:
    with Server(text("Good ", "morning", "!")) as server:
        chat = Chat(AGENT, "hello", provider=served(server, streams=streams))
        assert said(chat) == ["Good morning!"]
        (request,) = server.requests
        assert request.get("stream", False) is streams
        assert request["messages"] == [
            {"role": "system", "content": "You are a shop.\n\nHelp."},
            {"role": "user", "content": "hello"},
        ]
        assert server.headers[0]["authorization"] == f"Bearer {FAKE}"
    (spent,) = events(chat, Spent)
    assert (spent.tokens, spent.input, spent.output, spent.model) == (15, 10, 5, "test")
    assert not spent.estimated


def test_settings_are_sent_and_prices_make_the_cost() -> None:
    settings: dict[str, Any] = {"temperature": 0, "top_p": 0.5, "max_tokens": 99, "seed": 7}
    with Server(text("Hi")) as server:
        prices = {"input": 2.0, "output": 8.0}
        chat = Chat(AGENT, "hello", provider=served(server, prices=prices, **settings))
        assert {key: server.requests[0][key] for key in settings} == settings
    assert events(chat, Spent)[0].cost == pytest.approx((10 * 2 + 5 * 8) / 1_000_000)


def test_the_cost_that_the_server_tells() -> None:
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "cost": 0.25}
    with Server(text("Hi", usage=usage)) as server:
        assert events(Chat(AGENT, "x", provider=served(server)), Spent)[0].cost == 0.25


def test_a_choice() -> None:
    with Server(value({"next_state": "blue"})) as server:
        chat = Chat(CHOICE, "cold", provider=served(server))
        assert "Blue it is." in chat.seen
        form = server.requests[0]["response_format"]["json_schema"]
        assert form["strict"] is True
        names = ["red", "blue", "hear"]
        assert form["schema"]["properties"]["next_state"] == {"type": "string", "enum": names}
        assert "- red: Warm\n- blue: Cold\n- hear" in server.last()
    (chose,) = [body for body in events(chat, Chose) if body.state == "pick"]
    assert (chose.by, len(chose.answers)) == ("model", 1)


def test_fields_are_filled_and_only_the_reply_is_read() -> None:
    given = {"reply": 'Sure, "soon" 🙂\n', "intent": "refund", "amount": 20}
    with Server(value(given)) as server:
        chat = Chat(WRITES, "money back", provider=served(server))
        assert chat.data["intent"] == "refund"
        assert chat.data["amount"] == 20
        assert said(chat)[0] == given["reply"]
        assert "Paid." in chat.seen
        assert "- intent (one of refund, other): What it is about" in server.last("system")


def test_the_reply_streams_out_of_the_json() -> None:
    """What the person sees while it comes is never JSON, nor half an escape."""
    given = (
        '{"reply": "Gr\\u00fc\\u00df \\ud83d\\ude80 \\"dich\\"", "intent": null, "amount": null}'
    )
    for size in (1, 2, 3, 5):
        pieces = [given[at : at + size] for at in range(0, len(given), size)]
        with Server(text(*pieces)) as server:
            provider, shown = served(server), ""
            chunks = asyncio.run(_chunks(provider, WRITES, "ask"))
            for chunk in chunks:
                shown += chunk.text
                assert 'Grüß 🚀 "dich"'.startswith(shown)
            assert shown == 'Grüß 🚀 "dich"'
            assert chunks[-2].value["intent"] is None


async def _chunks(provider: Any, graph: str, state: str, what: str = "") -> list[Any]:
    from chatting import TypedLines, graph_of

    from statecli.kinds.schemas import delta_schema
    from statecli.model.ports import Request
    from statecli.model.snapshot import Snapshot

    found = graph_of(graph)
    here = found.states[state]
    schema = delta_schema(found, here)
    request = Request("delta", found, here, Snapshot(), "Ask.", schema=schema)
    try:
        return [chunk async for chunk in provider.complete(request, TypedLines([], []))]
    finally:
        await provider.aclose()


def test_what_a_model_thinks_is_not_read() -> None:
    with Server(text("<th", "ink>Hm, hm.</th", "ink>\n\n", "Hello!")) as server:
        chat = Chat(AGENT, "hi", provider=served(server))
        assert said(chat) == ["Hello!"]
        assert not any("Hm" in line for line in chat.seen)


def test_a_plan_state_works_through_its_tools() -> None:
    answers = [
        text("Who are you?"),
        calls(("set_deliverable", {"key": "name", "value": "Ann", "reasoning": "said so"}),
              ("set_deliverable", {"key": "age", "value": 40, "reasoning": "said so"})),
        calls(("complete_task", {"id": "why", "reasoning": "told"}), say="Nice."),
    ]  # fmt: skip
    with Server(*answers) as server:
        chat = Chat(PLAN, "Ann, 40, a cough", provider=served(server))
        assert chat.data["name"] == "Ann"
        assert chat.data["age"] == 40
        assert "Thanks." in chat.seen
        first = server.requests[0]
        names = [tool["function"]["name"] for tool in first["tools"]]
        assert names == ["set_deliverable", "complete_task", "skip_task", "skip_state"]
        assert "Open tasks:\n- who: Who they are" in first["messages"][0]["content"]
        roles = [message["role"] for message in server.requests[2]["messages"]]
        assert roles == ["system", "assistant", "user", "assistant", "tool", "assistant", "tool"]


# --- what models do wrong -------------------------------------------------------------------------


@pytest.mark.parametrize("orderly", [True, False])
def test_a_cut_stream(orderly: bool) -> None:
    """The partial text is shown and stored, flagged; no transition is taken; the run goes on."""
    with Server(cut("I th", "ink", orderly=orderly), text("Yes.")) as server:
        chat = Chat(AGENT, "well?", "again", provider=served(server))
        first, second = events(chat, Answered)
        assert (first.text, first.partial) == ("I think", True)
        assert (second.text, second.partial) == ("Yes.", False)
        (failed,) = events(chat, Failed)
        assert "cut off" in failed.error
        assert "\n" not in failed.error
        assert [body.target for body in events(chat, Chose)] == ["answer", "hear"]
        assert len(server.requests) == 2, "nothing is sent again by itself once some of it came"
        assert events(chat, Spent)[0].estimated, "what came is paid for"
    assert chat.data["messages"][1]["partial"] is True


def test_a_cut_stream_changes_no_field() -> None:
    with Server(text('{"reply": "So', ', well", "intent": "ref', 'und"', cut_after=2)) as server:
        chat = Chat(WRITES, "money", provider=served(server))
        assert events(chat, Changed) == []
        assert [(a.text, a.partial) for a in events(chat, Answered)] == [("So, well", True)]
        assert chat.talk.snapshot.status == "failed"


def test_half_a_call_is_never_made() -> None:
    half = calls(("set_deliverable", {"key": "name", "value": "Ann"}))._replace(cut_after=1)
    with Server(text("Who?"), half, text("Sorry?")) as server:
        chat = Chat(PLAN, "Ann", "Ann!", provider=served(server))
        assert events(chat, Changed) == []
        assert len(events(chat, Failed)) == 1
        assert said(chat)[-1] == "Sorry?"


def test_no_done_at_the_end() -> None:
    with Server(text("Hello", done=False)) as server:
        assert said(Chat(AGENT, "hi", provider=served(server))) == ["Hello"]


def test_no_reason_at_the_end_but_the_bill() -> None:
    with Server(text("Hello", finish=None)) as server:
        assert said(Chat(AGENT, "hi", provider=served(server))) == ["Hello"]


@pytest.mark.parametrize(
    "answer",
    [
        '```json\n{"next_state": "red"}\n```',
        'I would go on with {"next_state": "red"}, since it is warm.',
        " Red ",
        '{"next_state": "RED"}',
        '<think>blue? {"next_state": "blue"}</think>{"next_state": "red"}',
    ],
)
def test_json_in_fences_and_prose(answer: str) -> None:
    with Server(text(*answer)) as server:
        chat = Chat(CHOICE, "warm", provider=served(server))
        assert "Red it is." in chat.seen
        assert len(server.requests) == 1


@pytest.mark.parametrize(
    "answer",
    [
        '{"next_state": "green"}',
        "red would be nice, or blue",
        '{"next_state": "red"} or {"next_state": "blue"}',
        '{"next_state": ["red"]}',
        '{"next_state": ',
        "[]",
    ],
)
def test_an_answer_that_names_no_option(answer: str) -> None:
    """Asked again once with the reason, then the only option that waits; never another state."""
    with Server(text(answer), value({"next_state": "blue"})) as server:
        chat = Chat(CHOICE, "x", provider=served(server))
        assert "Blue it is." in chat.seen
        assert "could not be taken" in server.last()
        assert "is none of: red, blue, hear" in server.last()
    with Server(text(answer), text(answer)) as server:
        chat = Chat(CHOICE, "x", provider=served(server))
        chose = [body for body in events(chat, Chose) if body.state == "pick"]
        assert [(body.target, body.by, len(body.answers)) for body in chose] == [
            ("hear", "fallback", 2)
        ]


@pytest.mark.parametrize("streams", [True, False])
@pytest.mark.parametrize("answer", [Answer(no_choices=True), text(), text("  \n")])
def test_an_empty_answer(answer: Answer, streams: bool) -> None:
    with Server(answer, text("Here.")) as server:
        chat = Chat(AGENT, "hi", "hello?", provider=served(server, streams=streams))
        (failed,) = events(chat, Failed)
        assert "empty" in failed.error
        assert said(chat) == ["Here."]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ('{"key": "name", "value": ', "the arguments are not JSON: "),
        ("[1, 2]", "the arguments are no object: [1, 2]"),
        ('"name"', "the arguments are not JSON: "),
        ("null", "the arguments are no object: null"),
        ('{"key": "name"}', "missing: 'value'"),
        ("", "missing: 'key', 'value'"),
    ],
)
def test_arguments_that_are_none(arguments: str, reason: str) -> None:
    """Nothing is called; the reason goes back to the model, which does better."""
    good = calls(("set_deliverable", {"key": "name", "value": "Ann"}))
    bad = calls(("set_deliverable", arguments))
    with Server(text("Who?"), bad, good, text("Thanks.")) as server:
        chat = Chat(PLAN, "Ann", provider=served(server))
        assert chat.data["name"] == "Ann"
        refused = events(chat, Refused)
        assert [body.what for body in refused] == ["set_deliverable"]
        assert refused[0].reason.startswith(reason)
        told = server.requests[2]["messages"][-1]
        assert told["role"] == "tool"
        assert told["content"].startswith(f"error: {reason}")


def test_a_call_that_nobody_offers() -> None:
    with Server(text("Who?"), calls(("rm_rf", {"path": "/"})), text("Sorry.")) as server:
        chat = Chat(PLAN, "Ann", provider=served(server))
        assert [body.what for body in events(chat, Refused)] == ["rm_rf"]
        assert said(chat)[-1] == "Sorry."


def test_two_calls_with_the_same_index() -> None:
    """Some servers number every call 0, and send each as a whole."""

    def whole(identity: str, arguments: str) -> dict[str, Any]:
        function = {"name": "set_deliverable", "arguments": arguments}
        return {"tool_calls": [{"index": 0, "id": identity, "function": function}]}

    both = Answer([whole("a", '{"key": "name", "value": "Ann"}'),
                   whole("b", '{"key": "age", "value": "40"}')], finish="tool_calls")  # fmt: skip
    with Server(text("Who?"), both, text("Thanks.")) as server:
        chat = Chat(PLAN, "Ann, 40", provider=served(server))
        assert (chat.data["name"], chat.data["age"]) == ("Ann", 40)


def test_usage_that_is_missing_is_estimated() -> None:
    with Server(text("Hello there", usage=None)) as server:
        (spent,) = events(Chat(AGENT, "hi", provider=served(server)), Spent)
        assert spent.estimated
        assert spent.tokens > 10


@pytest.mark.parametrize(
    "refusal",
    [
        status(400, "Unknown parameter: 'response_format.json_schema'", param="response_format"),
        status(422, "json_schema is not supported by this model"),
        status(500, "failed to parse grammar"),
        status(400, "bad request"),
    ],
)
def test_a_server_that_refuses_schemas_is_asked_in_words(refusal: Answer) -> None:
    """And is not asked for schemas again."""
    answers = [refusal, text('```\n{"next_state": "hear"}\n```'), text('{"next_state": "red"}')]
    with Server(*answers) as server:
        chat = Chat(CHOICE, "x", "warm", provider=served(server))
        assert "Red it is." in chat.seen
        assert "response_format" in server.requests[0]
        for request in server.requests[1:]:
            assert "response_format" not in request
            assert '"enum": ["red", "blue", "hear"]' in request["messages"][-1]["content"]


def test_fields_in_words_are_repaired_once() -> None:
    refusal = status(400, "no json_schema here", param="response_format")
    good = '{"reply": "Fine.", "intent": "other", "amount": null}'
    with Server(refusal, text("I think refund."), text(good)) as server:
        chat = Chat(WRITES, "x", provider=served(server))
        assert chat.data["intent"] == "other"
        assert said(chat) == ["Fine."]
        assert "could not be taken: the answer is no object" in server.last()
    with Server(refusal, text("Hm."), text("Hm.")) as server:
        chat = Chat(WRITES, "x", provider=served(server))
        assert "does not fit" in events(chat, Failed)[0].error


def test_a_reply_that_was_read_is_not_said_twice() -> None:
    bad = {"reply": "Let me see.", "intent": "nonsense", "amount": None}
    good = {"reply": "Let me see again.", "intent": "other", "amount": None}
    with Server(value(bad), value(good)) as server:
        chat = Chat(WRITES, "x", provider=served(server))
        assert said(chat) == ["Let me see."]
        assert chat.data["intent"] == "other"


@pytest.mark.parametrize("name", ["temperature", "seed", "stream_options"])
def test_a_setting_that_a_server_does_not_take_is_left_out(name: str) -> None:
    refusal = status(400, f"Unsupported value: '{name}' does not support this", param=name)
    with Server(refusal, text("Hi."), text("Ho.")) as server:
        chat = Chat(AGENT, "a", "b", provider=served(server, temperature=0.5, seed=3))
        assert said(chat) == ["Hi.", "Ho."]
        assert [name in request for request in server.requests] == [True, False, False]
        warned = [body.message for body in events(chat, Warned)]
        left_out = f"{server.url} does not take '{name}', which is left out"
        assert warned == ([] if name == "stream_options" else [left_out]), "told once"


def test_the_newer_name_of_max_tokens() -> None:
    told = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
    with Server(status(400, told, param="max_tokens"), text("Hi.")) as server:
        chat = Chat(AGENT, "a", provider=served(server, max_tokens=50))
        assert said(chat) == ["Hi."]
        assert server.requests[1]["max_completion_tokens"] == 50
        assert "max_tokens" not in server.requests[1]


def test_an_answer_that_was_too_long() -> None:
    with Server(text("Once upon", finish="length")) as server:
        chat = Chat(AGENT, "a tale", provider=served(server, max_tokens=2))
        assert [(a.text, a.partial) for a in events(chat, Answered)] == [("Once upon", True)]
        assert "'max_tokens'" in events(chat, Failed)[0].error


# --- what servers do wrong ------------------------------------------------------------------------


def test_429_with_retry_after_is_waited_for() -> None:
    naps = Naps()
    with Server(status(429, "slow down", retry_after="7"), text("Hi.")) as server:
        chat = Chat(AGENT, "a", provider=served(server, naps=naps))
        assert said(chat) == ["Hi."]
        assert 7 <= naps.seconds[0] <= 8
        (warned,) = events(chat, Warned)
        told = f"too many requests (429): slow down; asking again in {naps.seconds[0]:.1f} s"
        assert any(told in line for line in chat.seen)
        assert told in warned.message
        assert events(chat, Spent)[0].attempts == 2


def test_retry_after_as_a_date() -> None:
    import email.utils
    import time

    naps, date = Naps(), email.utils.formatdate(time.time() + 20, usegmt=True)
    with Server(status(503, retry_after=date), text("Hi.")) as server:
        Chat(AGENT, "a", provider=served(server, naps=naps))
        assert 15 < naps.seconds[0] < 23


def test_a_wait_that_is_too_long_is_not_waited_for() -> None:
    naps = Naps()
    with Server(status(429, retry_after="3600")) as server:
        chat = Chat(AGENT, "a", provider=served(server, naps=naps))
        assert naps.seconds == []
        assert "asked again in 3600 seconds" in events(chat, Failed)[0].error


@pytest.mark.parametrize("code", [408, 409, 429, 500, 502, 503])
def test_attempts_are_bounded_and_wait_longer_each_time(code: int) -> None:
    naps = Naps()
    with Server(*[status(code, "busy")] * 4, text("Hi.")) as server:
        chat = Chat(AGENT, "a", "b", provider=served(server, naps=naps))
        assert len(server.requests) == 5
        assert "asked 4 times" in events(chat, Failed)[0].error
        assert [round(s / n, 2) for s, n in zip(naps.seconds, (0.5, 1, 2), strict=True)] != [
            1,
            1,
            1,
        ]
        assert all(n * 0.7 < s < n * 1.3 for s, n in zip(naps.seconds, (0.5, 1, 2), strict=True))
        assert said(chat) == ["Hi."], "the session goes on with the next line"
        assert [m["content"] for m in chat.data["messages"]][:2] == ["a", "b"], "nothing is lost"


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (status(401, f"Incorrect API key provided: {FAKE}"), "does not take the key (401); is"),
        (status(403, "not in your country"), "does not allow this (403): not in your country"),
        (status(404, "The model 'test' does not exist"), "(404): The model 'test' does not exist"),
        (
            status(429, "You exceeded your quota", code="insufficient_quota"),
            "nothing left to spend",
        ),
        (status(400, "context too long", code="context_length_exceeded"), "400: context too long"),
        (status(418, f"I saw {FAKE}"), "answered 418: I saw ***"),
    ],
)
def test_errors_are_one_line_that_says_what_to_do(answer: Answer, told: str) -> None:
    with Server(answer) as server:
        chat = Chat(AGENT, "a", provider=served(server))
        error = events(chat, Failed)[0].error
        assert told in error
        assert server.url in error
        assert "\n" not in error
        assert len(server.requests) == 1
        assert FAKE not in str(chat.seen)


def test_nobody_listens() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    naps = Naps()
    chat = Chat(AGENT, "a", provider=served(url, naps=naps))
    error = events(chat, Failed)[0].error
    assert error.startswith(f"no answer from {url} (")
    assert "does the server run?" in error
    assert len(naps.seconds) == 3


def test_a_hang_is_given_up() -> None:
    with Server(text("never", hang=30), text("Hi.")) as server:
        chat = Chat(AGENT, "a", "b", provider=served(server, timeout=2))
        assert "sent nothing for 2 seconds" in events(chat, Failed)[0].error
        assert said(chat) == ["Hi."]


def test_a_hang_in_the_middle() -> None:
    with Server(text("I th", "ink", "so", hang=30, hang_after=2)) as server:
        chat = Chat(AGENT, "a", provider=served(server, timeout=2))
        assert [(a.text, a.partial) for a in events(chat, Answered)] == [("I think", True)]
        assert "cut off" in events(chat, Failed)[0].error


@pytest.mark.parametrize("streams", [True, False])
@pytest.mark.parametrize(
    ("kind", "content", "told"),
    [
        ("text/html", "<html><body>Welcome to nginx!</body></html>", "not with the API of OpenAI"),
        ("text/plain", "hello", "not with the API of OpenAI"),
        ("application/json", "{not json", "sent something that is no JSON"),
        ("application/json", '"hello"', "not with the API of OpenAI"),
        ("application/json", "{}", "empty answer"),
        ("application/json", '{"choices": "no"}', "empty answer"),
    ],
)
def test_a_wrong_content_type(kind: str, content: str, told: str, streams: bool) -> None:
    with Server(Answer(raw=content, content_type=kind)) as server:
        chat = Chat(AGENT, "a", provider=served(server, streams=streams))
        assert told in events(chat, Failed)[0].error


def test_a_server_that_does_not_stream() -> None:
    """It answers the request for a stream with all at once."""
    import json

    message = {"role": "assistant", "content": "All at once."}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    content = json.dumps({"id": "1", "object": "chat.completion", "choices": [choice]})
    with Server(Answer(raw=content)) as server:
        assert said(Chat(AGENT, "a", provider=served(server))) == ["All at once."]


@pytest.mark.parametrize("chunk", ["{half", "5", '"x"', "[]", "null", '{"choices": [{}]}'])
def test_a_stream_of_junk(chunk: str) -> None:
    raw = f"data: {chunk}\n\ndata: [DONE]\n\n"
    answer = Answer(raw=raw, content_type="text/event-stream")
    with Server(*[answer] * 5) as server:
        chat = Chat(AGENT, "a", provider=served(server))
        (failed,) = events(chat, Failed)
        assert server.url in failed.error
        assert "\n" not in failed.error


@pytest.mark.parametrize("number", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("streams", [True, False])
def test_a_server_that_sends_on_is_not_followed(number: int, streams: bool) -> None:
    """What is said, and the key, go to the address that was allowed and to no other."""
    with Server() as other:
        there = {"location": f"http://me:{FAKE}@127.0.0.1:{other.port}/v1/chat?key={FAKE}"}
        with Server(Answer(status=number, raw="{}", headers=there)) as server:
            chat = Chat(AGENT, "a", provider=served(server, streams=streams))
            error = events(chat, Failed)[0].error
            assert f"sends on to http://127.0.0.1:{other.port}/v1/chat ({number})" in error
            assert "which is not followed; is the address right?" in error
            assert len(server.requests) == 1
        assert other.requests == []


def test_an_error_inside_of_a_stream() -> None:
    error = 'data: {"error": {"message": "out of memory"}}\n\n'
    with Server(*[Answer(raw=error, content_type="text/event-stream")] * 4) as server:
        chat = Chat(AGENT, "a", provider=served(server))
        assert "out of memory" in events(chat, Failed)[0].error


# --- keys -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("streams", [True, False])
def test_a_server_that_says_the_key_aloud(streams: bool) -> None:
    """Not even a reply brings it into the session, in whatever pieces it comes."""
    leak = [f"Your key is {FAKE[:9]}", FAKE[9:20], f"{FAKE[20:]}, is it not? sk-fake", "-no"]
    call = calls(("set_deliverable", {"key": "name", "value": FAKE}))
    with Server(text(*leak), call, text("Done.")) as server:
        chat = Chat(PLAN, "Ann", provider=served(server, streams=streams))
        assert said(chat)[0] == "Your key is ***, is it not? sk-fake-no"
        assert chat.data["name"] == "***"
        assert FAKE not in str(chat.store.events(chat.talk.session.run))
        assert FAKE not in str(chat.seen)


def test_what_the_environment_says_for_openai_is_for_nobody_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-real-1234567890abcdefgh")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-secret")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-secret")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "Authorization: Bearer other\nX-Team: secret")
    with Server(text("Hi.")) as server:
        provider = served(server)
        monkeypatch.delenv("STATECLI_TEST_KEY")
        Chat(AGENT, "a", provider=provider)
        assert "secret" not in str(server.headers)
        assert "sk-real" not in str(server.headers)
        assert server.headers[0]["authorization"] == f"Bearer {FAKE}"


def test_a_provider_shows_no_key_of_its_own() -> None:
    with Server() as server:
        assert FAKE not in repr(target(server))
        assert FAKE not in repr(served(server).targets)


# --- models of single states ----------------------------------------------------------------------


def test_a_state_with_a_model_of_its_own() -> None:
    two = AGENT.replace("next: [hear]}}\n", "next: [more]}}\n", 1).replace(
        "next: [answer]", "next: [answer]"
    )
    two += "  more: {type: agent, prompt: More., transition: {next: [hear]}}\n"
    with Server(text("One.")) as first, Server(text("Two.")) as second:
        provider = served(first, states={"more": target(second, temperature=1)})
        chat = Chat(two, "a", provider=provider)
        assert said(chat) == ["One.", "Two."]
        assert second.requests[0]["temperature"] == 1
        assert len(first.requests) == 1


# --- limits ---------------------------------------------------------------------------------------


def test_a_budget_of_tokens_bites_and_the_run_goes_on() -> None:
    graph = AGENT.replace("initial", "limits: {max_tokens: 20}\ninitial")
    with Server(text("One."), text("Two."), text("Three.")) as server:
        chat = Chat(graph, "a", "b", "c", "d", provider=served(server))
        (limited,) = events(chat, Limited)
        assert limited.limit == "max_tokens"
        assert "30 of 20 tokens" in limited.message
        assert said(chat) == ["One.", "Two.", "Three."], "the next line goes on"
        assert [m["content"] for m in chat.data["messages"] if m["role"] == "user"] == list("abcd")


def test_a_budget_of_money_bites() -> None:
    graph = AGENT.replace("initial", "limits: {max_cost: 0.0001}\ninitial")
    with Server(text("One."), text("Two.")) as server:
        chat = Chat(graph, "a", "b", provider=served(server, prices={"input": 10}))
        assert [body.limit for body in events(chat, Limited)] == ["max_cost"]
        assert len(server.requests) == 1


def test_the_timeout_of_a_run_bites_in_the_middle_of_an_answer() -> None:
    import openai  # that takes a while, and is not what is measured

    assert openai.__version__
    graph = AGENT.replace("initial", "limits: {timeout: 3}\ninitial")
    slow = text("I th", "ink", "so", hang=30, hang_after=2)
    with Server(slow, text("Yes.")) as server:
        chat = Chat(graph, "a", "b", provider=served(server))
        assert [body.limit for body in events(chat, Limited)] == ["timeout"]
        assert events(chat, Failed) == []
        assert [(a.text, a.partial) for a in events(chat, Answered)] == [
            ("I think", True), ("Yes.", False)]  # fmt: skip
        assert isinstance(events(chat, Waiting)[-1], Waiting)


# --- states in Python -----------------------------------------------------------------------------


def test_a_custom_state_sends_what_it_says_itself(tmp_path: Path) -> None:
    from statecli.engine.advance import Custom
    from statecli.kinds import custom

    (tmp_path / "state_ask.py").write_text(
        "from statecli.arkos import SystemMessage\n\n\n"
        '@register_state("ask")\n'
        "async def ask(context, agent):\n"
        "    schema = {'type': 'object', 'properties': {'n': {'type': 'integer'}},\n"
        "              'required': ['n'], 'additionalProperties': False}\n"
        "    given = [SystemMessage('Count.'), *context]\n"
        "    found = await agent.call_llm(context=given, json_schema=schema)\n"
        "    plain = await agent.call_llm(context=given)\n"
        "    return found.content + ' ' + plain.content\n"
    )
    graph = """
states: {hear: {type: user, transition: {next: [ask]}}, ask: {type: ask, transition: {next: [bye]}},
  bye: {type: terminal}}
"""
    from chatting import graph_of

    found = graph_of(graph)
    kinds = Custom(custom.load(found, tmp_path, []))
    with Server(value({"n": 3}), text("three")) as server:
        chat = Chat(found, "how many?", provider=served(server), custom=kinds)
        assert '{"n": 3} three' in chat.seen
        for request in server.requests:
            assert request["messages"][0] == {"role": "system", "content": "Count."}
            assert request["messages"][1]["content"].startswith("how many?")
        assert server.requests[0]["response_format"]["json_schema"]["strict"] is True
