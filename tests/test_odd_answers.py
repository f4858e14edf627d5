"""Answers of servers that are odd, but meant well, and of those that are not: pieces of calls that
do not say whose they are, text in parts, halves of characters, counts that are none, answers
without end. What can be understood is; all else is one line, and the next turn goes on."""

from __future__ import annotations

import gzip
import json
import time
import warnings
from types import SimpleNamespace
from typing import Any

import pytest
from chatting import Chat
from openai_server import Answer, Server, status, text, value
from served import FAKE, Naps, served
from test_openai_compatible import AGENT, CHOICE, PLAN, WRITES, events, said

from statecli.llm.bounds import LARGEST
from statecli.llm.stream import MAX_CALLS, Assembly
from statecli.model.event import Answered, Called, Failed, Limited, Refused, Spent

STREAM = "text/event-stream"
NAME = '{"key": "name", "value": "Ann"}'
AGE = '{"key": "age", "value": 40}'
SET = "set_deliverable"


def stream(*chunks: str, done: str = "data: [DONE]\n\n", **more: Any) -> Answer:
    """Chunks as they are written."""
    return Answer(
        raw="".join(f"data: {chunk}\n\n" for chunk in chunks) + done, content_type=STREAM, **more
    )


def delta(delta: object, finish: str | None = None, **more: Any) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return json.dumps({"id": "c", "choices": [choice], **more})


def piece(
    arguments: object, *, name: object = None, call: object = None, index: object = None
) -> str:
    """A piece of a call that says of itself only what is given."""
    function = {"arguments": arguments} | ({"name": name} if name is not None else {})
    found = {"function": function} | {
        key: item for key, item in (("id", call), ("index", index)) if item is not None
    }
    return delta({"tool_calls": [found]})


def whole(*given: dict[str, Any], content: object = None) -> Answer:
    """An answer that comes at once, to a request that asks for no stream."""
    message = {"role": "assistant", "content": content, "tool_calls": list(given) or None}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return Answer(raw=json.dumps({"id": "1", "object": "chat.completion", "choices": [choice]}))


END = delta({}, "tool_calls")
STOP = delta({}, "stop")


def tells(answer: Answer, **settings: Any) -> str:
    """Why the step of an agent fails whose model answers like this; the next one does not."""
    with Server(*[answer] * 4) as server:
        server.brain = text("Hi.")
        chat = Chat(AGENT, "a", provider=served(server, **settings))
        error = str(events(chat, Failed)[0].error)
        assert server.url in error
        assert "\n" not in error
        server.answers.clear()
        assert said(Chat(AGENT, "b", provider=served(server))) == ["Hi."]
    return error


# --- calls in pieces ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "pieces",
    [
        pytest.param(
            [piece(NAME[:9], name=SET, call="a", index=0),
             piece(AGE[:9], name=SET, call="b", index=1),
             piece(NAME[9:], index=0), piece(AGE[9:], index=1)],
            id="mixed, by index",
        ),
        pytest.param(
            [piece(NAME[:9], name=SET, call="a"), piece(NAME[9:]),
             piece(AGE[:9], name=SET, call="b"), piece(AGE[9:])],
            id="no index, an id at the beginning",
        ),
        pytest.param(
            [piece(NAME[:9], name=SET, call="a"), piece(AGE[:9], name=SET, call="b"),
             piece(NAME[9:], call="a"), piece(AGE[9:], call="b")],
            id="mixed, no index, an id each time",
        ),
        pytest.param(
            [piece(NAME[:9], name=SET, call="a", index=0),
             piece(AGE[:9], name=SET, call="b", index=0),
             piece(NAME[9:], call="a", index=0), piece(AGE[9:], call="b", index=0)],
            id="mixed, each index 0",
        ),
        pytest.param([piece(NAME, name=SET), piece(AGE, name=SET)], id="neither, as a whole"),
        pytest.param(
            [piece(NAME[:9], name=SET), piece(NAME[9:]), piece(AGE[:9], name=SET), piece(AGE[9:])],
            id="neither, in pieces",
        ),
        pytest.param(
            [piece(NAME, name=SET, call="x", index=0), piece(AGE, name=SET, call="x", index=1)],
            id="the same id twice",
        ),
        pytest.param(
            [piece(NAME, name=SET, call="a", index="0"), piece(AGE, name=SET, call="b", index="1")],
            id="an index that is text",
        ),
        pytest.param(
            [piece(NAME, name=SET, index=-1), piece(json.loads(AGE), name=SET, index=10**12)],
            id="an index without end, arguments that are no text",
        ),
    ],
)  # fmt: skip
def test_pieces_of_two_calls(pieces: list[str]) -> None:
    with Server(text("Who?"), stream(*pieces, END), text("Thanks.")) as server:
        chat = Chat(PLAN, "Ann, 40", provider=served(server))
        assert events(chat, Refused) == []
        assert (chat.data["name"], chat.data["age"]) == ("Ann", 40)
        assert said(chat)[-1] == "Thanks."


@pytest.mark.parametrize("identity", [None, "", "x"])
def test_whole_calls_with_one_id_or_none_are_two(identity: str | None) -> None:
    both = [
        {"id": identity, "type": "function", "function": {"name": SET, "arguments": arguments}}
        for arguments in (NAME, AGE)
    ]
    with Server(whole(content="Who?"), whole(*both), whole(content="Thanks.")) as server:
        chat = Chat(PLAN, "Ann, 40", provider=served(server, streams=False))
        assert (chat.data["name"], chat.data["age"]) == ("Ann", 40)


def test_a_great_many_calls_cost_no_more_than_their_number() -> None:
    """A server may begin another call with each piece; all of them were looked at each time."""
    found, began = Assembly(), time.monotonic()
    for number in range(60_000):
        function = SimpleNamespace(name="look", arguments="{}")
        call = SimpleNamespace(id=f"c{number}", index=None, function=function)
        delta = SimpleNamespace(tool_calls=[call])
        found.take(SimpleNamespace(choices=[SimpleNamespace(delta=delta)]))
    assert time.monotonic() - began < 10
    assert len(found.calls({}, [])) == MAX_CALLS + 1, "the last one says how many were left out"


@pytest.mark.parametrize(
    "given", [{"a": 1}, "x", 7, ["x", None, 5], [{"index": 0, "id": "a", "function": None}], [{}]]
)
def test_calls_that_are_none(given: object) -> None:
    """Nothing is called, whatever it is."""
    answer = stream(delta({"content": "Hm.", "tool_calls": given}), STOP)
    with Server(text("Who?"), answer, text("Go on?")) as server:
        chat = Chat(PLAN, "Ann", provider=served(server))
        assert events(chat, Called) == []
        assert "name" not in chat.data
        assert "Hm." in said(chat)


@pytest.mark.parametrize("name", ["", None])
def test_a_call_that_names_no_tool_is_refused_in_words(name: str | None) -> None:
    call = {"id": "a", "type": "function", "function": {"name": name, "arguments": NAME}}
    with Server(whole(content="Who?"), whole(call), whole(content="Go on?")) as server:
        chat = Chat(PLAN, "Ann", provider=served(server, streams=False))
        assert [one.reason for one in events(chat, Refused)] == ["the model names no tool"]
        assert all(one.what for one in events(chat, Refused))
        assert "name" not in chat.data


def test_calls_beyond_the_first_fifty_are_not_dropped_without_a_word() -> None:
    function = {"name": SET, "arguments": NAME}
    calls = [{"id": f"c{n}", "type": "function", "function": function} for n in range(53)]
    with Server(whole(content="Who?"), whole(*calls), whole(content="Go on?")) as server:
        chat = Chat(PLAN, "Ann", provider=served(server, streams=False))
        told = [one.reason for one in events(chat, Refused)]
        assert told == ["50 calls of one answer are made; 3 more were left out"]
        assert chat.data["name"] == "Ann"


# --- text -----------------------------------------------------------------------------------------

PARTS = [
    {"type": "thinking", "thinking": [{"type": "text", "text": "Hm, hm."}]},
    {"type": "text", "text": "Hel"},
    {"type": "image_url", "image_url": {"url": "http://127.0.0.1:9/x.png"}},
    {"type": "text", "text": 7},
    {"type": "text", "text": "lo"},
    None,
]


def test_text_in_parts() -> None:
    with Server(stream(delta({"content": PARTS}), STOP), whole(content=PARTS)) as server:
        assert said(Chat(AGENT, "a", provider=served(server))) == ["Hello"]
        assert said(Chat(AGENT, "a", provider=served(server, streams=False))) == ["Hello"]


def test_thoughts_beside_the_text_are_not_read() -> None:
    pieces = [delta({"reasoning_content": "Hm"}), delta({"content": None, "reasoning": "hm"})]
    with Server(stream(*pieces, delta({"content": "Yes."}), STOP)) as server:
        chat = Chat(AGENT, "a", provider=served(server))
        assert said(chat) == ["Yes."]
        assert not any("Hm" in line for line in chat.seen)
    assert "empty answer" in tells(stream(*pieces, STOP))
    assert "not done" in tells(stream(*pieces, delta({}, "length")))


def test_a_refusal_is_an_answer_but_no_choice() -> None:
    refusal = stream(delta({"refusal": "I can not say."}), STOP)
    with Server(refusal, refusal, refusal) as server:
        assert said(Chat(AGENT, "a", provider=served(server))) == ["I can not say."]
        chat = Chat(CHOICE, "a", provider=served(server))
        assert [body.what for body in events(chat, Refused)] == ["choice", "choice"]
        assert chat.state == "hear"


@pytest.mark.parametrize(
    ("pieces", "reply"),
    [
        (['"a \\ud83d"', '"\\ude00 b"'], "a 😀 b"),
        (['"a \\ud83d"', '" b"'], "a � b"),
        (['"a \\ude00 b"'], "a � b"),
        (['"a"', '"\\ud83d"'], "a�"),
    ],
)
@pytest.mark.parametrize("graph", [AGENT, WRITES])
def test_halves_of_characters(graph: str, pieces: list[str], reply: str) -> None:
    """Some servers cut in the middle of one. What is kept can be sent again with the next turn, as
    well as written into a file."""
    if graph == WRITES:
        inner = "".join(item[1:-1] for item in pieces)
        pieces = [json.dumps(f'{{"reply": "{inner}", "intent": "other", "amount": 1}}')]
    chunks = [f'{{"choices": [{{"index": 0, "delta": {{"content": {p}}}}}]}}' for p in pieces]
    second = text("Second.") if graph == AGENT else value({"reply": "Second.", "intent": "other"})
    with Server(stream(*chunks, STOP), second) as server:
        chat = Chat(graph, "a", "b", provider=served(server))
        assert said(chat) == [reply, "Second."]
        assert reply in chat.seen
        json.dumps(chat.data, ensure_ascii=False, default=str).encode()


def test_halves_of_characters_in_a_call() -> None:
    half = stream(
        piece('{"key": "name", "value": "A\\ud83d"}', name=SET, call="\ud83d", index=0),
        piece("{}", name="x\ud83d", call="b", index=1),
        piece('{"key": \ud83d', name=SET, call="c", index=2),
        END,
    )
    with Server(text("Who?"), half, text("Thanks.")) as server:
        chat = Chat(PLAN, "Ann", provider=served(server))
        assert chat.data["name"] == "A�"
        assert [body.what for body in events(chat, Refused)] == ["x�", SET]
        assert said(chat)[-1] == "Thanks."
        for event in chat.store.events(chat.talk.session.run):
            str(event).encode()


def test_what_is_half_a_character_already_is_sent_whole() -> None:
    """It may stand in the data from elsewhere: a tool of one's own, a file, an older session."""
    with Server(text("Hi.")) as server:
        graph = AGENT.replace("Help.", "'Help {{who}}.'").replace(
            "initial", "fields: {who: {}}\ninitial"
        )
        chat = Chat(graph, "a \ud83d", provider=served(server), data={"who": "\ude00"})
        assert said(chat) == ["Hi."]
        assert server.last() == "a �"


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_a_character_in_two_packets(size: int) -> None:
    raw = stream(json.dumps(json.loads(delta({"content": "Grüß 🚀"})), ensure_ascii=False), STOP)
    data = str(raw.raw).encode()
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    with Server(Answer(raw=pieces[0], content_type=STREAM, packets=pieces[1:])) as server:
        assert said(Chat(AGENT, "a", provider=served(server))) == ["Grüß 🚀"]


# --- the end of a stream, and its bill ------------------------------------------------------------


def test_a_bill_in_each_piece_is_not_the_end() -> None:
    """A cut stream is one also where the server counts along."""
    usage = {"prompt_tokens": 3, "completion_tokens": 1}
    answer = stream(delta({"content": "I th"}, usage=usage), done="")
    with Server(answer) as server:
        chat = Chat(AGENT, "a", provider=served(server))
        assert [(a.text, a.partial) for a in events(chat, Answered)] == [("I th", True)]
        assert "cut off" in events(chat, Failed)[0].error
        assert events(chat, Spent)[0].tokens == 4


def test_a_call_of_a_stream_that_counts_along_is_not_made_before_its_end() -> None:
    usage = {"prompt_tokens": 3, "completion_tokens": 1}
    call = {"index": 0, "id": "a", "function": {"name": SET, "arguments": NAME}}
    with Server(
        text("Who?"), stream(delta({"tool_calls": [call]}, usage=usage), done="")
    ) as server:
        chat = Chat(PLAN, "Ann", provider=served(server))
        assert "name" not in chat.data
        assert len(events(chat, Failed)) == 1


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": "many", "completion_tokens": 2},
        {"prompt_tokens": -5, "completion_tokens": -5},
        {"prompt_tokens": True, "completion_tokens": 1},
        {"prompt_tokens": 10**400, "completion_tokens": 1},
        {"prompt_tokens": 1e400, "completion_tokens": 1},
        {"prompt_tokens": 1.5, "completion_tokens": 1},
        [1],
        "none",
    ],
)
@pytest.mark.parametrize("streams", [True, False])
def test_counts_that_are_none_are_estimated(usage: object, streams: bool) -> None:
    """And nothing of them is said on the terminal."""
    if streams:
        answer = stream(delta({"content": "Hello"}, "stop", usage=usage))
    else:
        plain = json.loads(str(whole(content="Hello").raw))
        answer = Answer(raw=json.dumps({**plain, "usage": usage}))
    with Server(answer) as server, warnings.catch_warnings():
        warnings.simplefilter("error")
        (spent,) = events(Chat(AGENT, "a", provider=served(server, streams=streams)), Spent)
        assert spent.estimated
        assert 0 < spent.tokens < 1000


@pytest.mark.parametrize("cost", [-1, 1e400, "NaN", True, 10**400, [1]])
def test_a_cost_that_is_none(cost: object) -> None:
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "cost": cost}
    with Server(stream(delta({"content": "Hello"}, "stop", usage=usage))) as server:
        (spent,) = events(Chat(AGENT, "a", provider=served(server)), Spent)
        assert (spent.tokens, spent.cost) == (2, 0)


# --- answers without end --------------------------------------------------------------------------

TOO_LONG = f"sent an answer of more than {LARGEST >> 20} MB"


@pytest.mark.parametrize("streams", [True, False])
@pytest.mark.parametrize(
    ("kind", "code"), [(STREAM, 200), ("application/json", 200), ("text/plain", 418)]
)
def test_an_answer_without_end(kind: str, code: int, streams: bool) -> None:
    answer = Answer(raw="data: ", content_type=kind, status=code, endless=b"x" * 1_000_000)
    with Server(answer, lax=True) as server:
        chat = Chat(AGENT, "a", provider=served(server, streams=streams))
        assert TOO_LONG in events(chat, Failed)[0].error
        assert len(server.requests) == 1


def test_one_that_is_packed_counts_as_it_is_unpacked() -> None:
    packed = {"content-encoding": "gzip"}
    fine = gzip.compress(str(stream(delta({"content": "Hi."}, "stop")).raw).encode())
    with Server(Answer(raw=fine, content_type=STREAM, headers=packed)) as server:
        assert said(Chat(AGENT, "a", provider=served(server))) == ["Hi."]
    bomb = gzip.compress(b"data: " + b"x" * (3 * LARGEST))
    assert len(bomb) < LARGEST / 100
    assert TOO_LONG in tells(Answer(raw=bomb, content_type=STREAM, headers=packed))


@pytest.mark.parametrize("streams", [True, False])
def test_one_that_cannot_be_unpacked(streams: bool) -> None:
    answer = Answer(raw="no gzip", content_type=STREAM, headers={"content-encoding": "gzip"})
    assert "packed its answer in a way that cannot be undone" in tells(answer, streams=streams)


def test_a_server_that_never_is_silent_and_never_answers() -> None:
    """The time of a run counts as a whole: signs of life do not lengthen it."""
    import openai  # that takes a while, and is not what is measured

    assert openai.__version__
    graph = AGENT.replace("initial", "limits: {timeout: 2}\ninitial")
    drip = Answer(raw="", content_type=STREAM, endless=b": still here\n\n", pause=0.1)
    with Server(drip, text("Yes.")) as server:
        chat = Chat(graph, "a", "b", provider=served(server))
        assert [body.limit for body in events(chat, Limited)] == ["timeout"]
        assert said(chat) == ["Yes."]


# --- one line for everything ----------------------------------------------------------------------


@pytest.mark.parametrize("streams", [True, False])
def test_json_that_is_too_deep(streams: bool) -> None:
    deep = "[" * 200_000
    answer = stream(deep) if streams else Answer(raw=deep)
    assert "sent something that is no JSON" in tells(answer, streams=streams)


def test_the_kind_of_an_answer_in_capitals() -> None:
    answer = stream(delta({"content": "Hi."}, "stop"))._replace(
        content_type="Text/Event-Stream; charset=UTF-8"
    )
    with Server(answer) as server:
        assert said(Chat(AGENT, "a", provider=served(server))) == ["Hi."]


@pytest.mark.parametrize(
    "wait",
    ["-5", "nan", "inf", "soon", "Mon, 01 Jan 99999 00:00:00 GMT", "Wed, 99 Foo 2015 07:28:00 GMT",
     "Wed, 21 Oct 2015 07:28:00 GMT"],
)  # fmt: skip
def test_a_retry_after_that_says_nothing(wait: str) -> None:
    """It is asked again all the same, as if it were not there."""
    naps = Naps()
    with Server(status(429, retry_after=wait), text("Hi.")) as server:
        assert said(Chat(AGENT, "a", provider=served(server, naps=naps))) == ["Hi."]
        assert 0.3 < naps.seconds[0] < 0.7


@pytest.mark.parametrize("where", ["http://[bad", "//", "http://a:99999999/", "x" * 5000, "data:x"])
def test_a_redirect_to_nowhere(where: str) -> None:
    error = tells(Answer(status=302, raw="{}", headers={"location": where}))
    assert "sends on to" in error
    assert len(error) < 500


def test_what_a_connection_breaks_with_is_told_without_the_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also a key that looks like none, and is named like none."""
    key = "correct horse battery"
    error = Exception("outer")
    error.__cause__ = ValueError(f"illegal status line: {key} {FAKE}")

    import openai

    from statecli.llm.trouble import trouble

    request: Any = None
    broken = openai.APIConnectionError(request=request)
    broken.__cause__ = error
    told = trouble(broken, "http://x/v1", 1, [key]).message
    assert key not in told
    assert FAKE not in told
    assert "illegal status line: ***" in told
