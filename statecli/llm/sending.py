"""One request to a model on its way: sent, sent again where that may help, and its answer read."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from statecli.llm.answers import Spoken, answer, value_in
from statecli.llm.bill import Bill
from statecli.llm.messages import SPOKEN, Sheet, sheet
from statecli.llm.prompts import prompt
from statecli.llm.scrub import Scrubber
from statecli.llm.stream import Assembly
from statecli.llm.trouble import ATTEMPTS, Trouble, pause, trouble
from statecli.model.data import well_formed
from statecli.model.ports import Chunk, ModelError, Request

if TYPE_CHECKING:
    from statecli.llm.openai_compatible import OpenAICompatible, Target

#: What may be left out where a server does not take it, and what else it is called in a refusal.
_OPTIONAL = {
    "response_format": ("response_format", "schema", "structured", "grammar"),
    "stream_options": ("stream_options", "include_usage"),
    "temperature": ("temperature",),
    "top_p": ("top_p",),
    "seed": ("seed",),
    "max_tokens": ("max_tokens",),
}
#: How it is told that something is left out, where that is not a setting of the graph.
_LEFT_OUT = {
    "response_format": "takes no JSON schemas; it is asked in words",
    "stream_options": "",
    "max_tokens": "knows 'max_tokens' by its newer name",
}
#: Settings of `model` that are sent as they are.
_SETTINGS = ("temperature", "top_p", "max_tokens", "seed")
#: Requests whose text is shown only as far as it is the "reply" of a JSON object.
_WRAPPED = ("delta", "step")


class Sending:
    """The work on one request."""

    def __init__(self, provider: OpenAICompatible, request: Request, target: Target) -> None:
        self.provider = provider
        self.request = request
        self.target = target
        self.without = provider.without(target)
        self.client = provider.client(target)
        self.bill = Bill(target.wanted.name, target.wanted.settings.get("prices"))
        self.spoken = Spoken(reply_only=request.what in _WRAPPED)

    async def run(self) -> AsyncGenerator[Chunk]:
        """Everything that comes of it. Raises ModelError."""
        found = Assembly()
        async with aclosing(self._asked(self._sheet, found)) as chunks:
            async for chunk in chunks:
                yield chunk
        sent, text = self._sheet(), answer(self.spoken.text)
        calls = found.calls(sent.names, self.provider.secrets)
        if self.request.what in _WRAPPED and not calls:
            async for chunk in self._wrapped(text):
                yield chunk
        elif self.request.what in SPOKEN:
            yield Chunk(text=self.spoken.rest(text))
            for call in calls:
                yield Chunk(call=call)
        elif calls:
            for call in calls:
                yield Chunk(call=call)
        else:
            yield Chunk(text=text, value=value_in(text, sent.schema))
        yield Chunk(usage=self.bill.usage())

    def _sheet(self) -> Sheet:
        return sheet(self.request, words="response_format" in self.without)

    async def _wrapped(self, text: str) -> AsyncIterator[Chunk]:
        """A JSON object whose `reply` is for the person."""
        value = value_in(text, self.request.schema)
        reply = value.get("reply") if value is not None else None
        if value is None and self.request.what == "step":
            reply, value = text, {}
            async for chunk in self._judged(text, value):
                yield chunk
        if isinstance(reply, str):
            yield Chunk(text=self.spoken.rest(reply))
        yield Chunk(value=value)

    async def _judged(self, text: str, value: dict[str, Any]) -> AsyncIterator[Chunk]:
        """A step that was answered in prose: the model says whether it worked. One that does not
        even say that has failed."""
        request = self.request
        reason = 'it is not the JSON object {"reply": ..., "ok": ...}'
        repair = prompt(request.graph, "repair", request.snapshot.data, reason=reason)
        more = [
            {"role": "assistant", "content": text or "(nothing)"},
            {"role": "user", "content": repair},
        ]

        def again() -> Sheet:
            words = "response_format" in self.without
            found = sheet(request._replace(tools=()), words=words)
            return found._replace(messages=[*found.messages, *more])

        found, shown, self.spoken = Assembly(), self.spoken, Spoken(reply_only=True)
        async for chunk in self._asked(again, found):
            if not chunk.text:
                yield chunk
        said = value_in(answer(self.spoken.text), request.schema)
        self.spoken = shown
        value["ok"] = said is not None and said.get("ok") is True

    # --- asking -----------------------------------------------------------------------------------

    async def _asked(self, written: Callable[[], Sheet], found: Assembly) -> AsyncGenerator[Chunk]:
        """Send a request until something comes back; text as it comes. Nothing is sent again once
        some of an answer has arrived."""
        tries = 0
        scrubber = Scrubber(self.provider.secrets)
        while True:
            tries += 1
            self.bill.attempts += 1
            sent = written()
            given = self._parameters(sent)
            try:
                async with aclosing(self._pieces(given, found)) as pieces:
                    async for text in pieces:
                        new = self._taken(scrubber.take(text))
                        if new:
                            yield Chunk(text=new)
                what = self._lacking(found)
            except Exception as error:
                what = self._trouble(error)
            if what is None:
                new = self._taken(scrubber.rest())
                self._billed(sent, found)
                yield Chunk(text=new)
                return
            left_out = "" if found.began else self._leaves_out(what, given)
            if left_out:
                tries -= 1
                told = _LEFT_OUT.get(left_out, f"does not take '{left_out}', which is left out")
                yield Chunk(note=f"{self.target.where} {told}" if told else "")
                continue
            if found.began or not what.again or tries >= ATTEMPTS:
                self._billed(sent, found)
                if self.bill.spent:
                    yield Chunk(usage=self.bill.usage())
                raise ModelError(_told(what, found, tries))
            seconds = pause(tries, what.wait)
            yield Chunk(note=f"{what.message}; asking again in {seconds:.1f} s")
            await self.provider.sleep(seconds)

    def _taken(self, text: str) -> str:
        """A piece of the answer; what of it to show now."""
        if self.request.what in SPOKEN:
            return self.spoken.take(text)
        self.spoken.text += text
        return ""

    async def _pieces(self, given: dict[str, Any], found: Assembly) -> AsyncGenerator[str]:
        """The text of one answer, as it comes; everything else is put together in `found`."""
        create = self.client.chat.completions.create
        if not self.provider.streams:
            yield self._whole(found, await create(**given))
            return
        async with await create(**given, stream=True) as stream:
            told = stream.response.headers.get("content-type", "")
            kind = told.partition(";")[0].strip().lower()
            if kind == "application/json":  # it does not stream, and says so in this way
                yield self._whole(found, _completion(await stream.response.aread()))
                return
            if kind not in ("text/event-stream", ""):
                raise ModelError(self._no_api(kind))
            async for chunk in stream:
                yield found.take(chunk)

    def _whole(self, found: Assembly, completion: Any) -> str:
        if isinstance(completion, str):
            raise ModelError(self._no_api("a web page" if "<" in completion[:200] else "text"))
        return found.whole(completion)

    def _no_api(self, kind: str) -> str:
        where = self.target.where
        return f"{where} answered with {kind}, not with the API of OpenAI; is the address right?"

    def _parameters(self, sent: Sheet) -> dict[str, Any]:
        """What the SDK is given besides `stream`."""
        wanted = self.target.wanted
        given: dict[str, Any] = {"model": wanted.name, "messages": well_formed(sent.messages)}
        if sent.tools:
            given["tools"] = well_formed(sent.tools)
        for key in _SETTINGS:
            value = wanted.settings.get(key)
            if value is not None and key not in self.without:
                given[key] = value
            elif value is not None and key == "max_tokens":
                given["max_completion_tokens"] = value
        if sent.schema is not None and not sent.tools and "response_format" not in self.without:
            strict = sent.strict is not None
            schema = dict(sent.strict if sent.strict is not None else sent.schema)
            form = {"name": self.request.what, "strict": strict, "schema": schema}
            given["response_format"] = {"type": "json_schema", "json_schema": form}
        if self.provider.streams and "stream_options" not in self.without:
            given["stream_options"] = {"include_usage": True}
        return given

    # --- when it goes wrong -----------------------------------------------------------------------

    def _lacking(self, found: Assembly) -> Trouble | None:
        """What is missing of an answer that came to its end."""
        where, wanted = self.target.where, self.target.wanted
        if not found.complete:
            return Trouble(f"{where} stopped before the end of its answer", again=True)
        if found.finish == "length":
            limited = wanted.settings.get("max_tokens") is not None
            way = "a larger 'max_tokens' in 'model' gives it room" if limited else "it was too long"
            return Trouble(f"{wanted.name} at {where} was not done with its answer; {way}")
        if found.finish == "content_filter":
            return Trouble(f"{where} withholds it (content filter)")
        return None if found.began else Trouble(f"{where} gave an empty answer")

    def _trouble(self, error: Exception) -> Trouble:
        if isinstance(error, ModelError):
            return Trouble(str(error))
        found = trouble(error, self.target.where, self.target.seconds, self.provider.secrets)
        variable = self.target.wanted.variable
        if found.status == 401 and variable:
            way = f"is {variable} right?" if self.target.key else f"set {variable}"
            return found._replace(message=f"{self.target.where} does not take the key (401); {way}")
        return found

    def _leaves_out(self, what: Trouble, given: dict[str, Any]) -> str:
        """Without what the thing that a server refuses may go through; that is remembered."""
        if what.status not in (400, 404, 415, 422, 500, 501):
            return ""
        text = f"{what.param} {what.message}".casefold()
        for name, words in _OPTIONAL.items():
            if name in given and any(word in text for word in words):
                self.without.add(name)
                return name
        if what.status in (400, 422) and "response_format" in given and "context" not in text:
            self.without.add("response_format")
            return "response_format"
        return ""

    def _billed(self, sent: Sheet, found: Assembly) -> None:
        size = len(json.dumps([sent.messages, sent.tools], ensure_ascii=False))
        self.bill.add(found.usage, size, found.size)


def _told(what: Trouble, found: Assembly, tries: int) -> str:
    if found.began:
        return f"the answer was cut off: {what.cut or what.message}"
    return what.message + (f" (asked {tries} times)" if tries > 1 else "")


def _completion(content: bytes) -> Any:
    """A whole answer of a server that was asked to stream."""
    from openai.types.chat import ChatCompletion

    value = json.loads(content)
    return ChatCompletion.construct(**value) if isinstance(value, dict) else str(value)
