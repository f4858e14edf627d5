"""`human`: the author plays the model (Wizard of Oz): types its replies, calls and choices."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from statecli.kernel.tasks import offered
from statecli.llm import asking
from statecli.model.graph import State
from statecli.model.ports import Ask, Call, Chunk, Option, Question, Request, ToolSpec

_CALLS = {
    "set": "set_deliverable",
    "complete": "complete_task",
    "skip": "skip_task",
    "skip-state": "skip_state",
    "close": "close_goal",
}


class HumanProvider:
    """Every request becomes a question; nothing is decided without the author."""

    label = "human (you play the model)"

    async def complete(self, request: Request, ask: Ask) -> AsyncIterator[Chunk]:
        """The author's answer to one request."""
        yield await getattr(self, f"_{request.what}")(request, ask)

    async def _reply(self, request: Request, ask: Ask) -> Chunk:
        return Chunk(text=await ask(Question(f"[{request.state.name}] reply as the model:")))

    async def _delta(self, request: Request, ask: Ask) -> Chunk:
        text = await ask(Question(f"[{request.state.name}] reply as the model:", optional=True))
        value: dict[str, Any] = {}
        for key in request.state.writes:
            field = request.graph.fields.get(key)
            value[key] = await asking.value_of(ask, key, field, optional=True)
        return Chunk(text=text.strip(), value={"reply": text, **value})

    async def _turn(self, request: Request, ask: Ask) -> Chunk:
        """A line is the reply; `set KEY VALUE`, `complete ID`, `skip ID`, `skip-state` and
        `close achieved|given_up` are calls."""
        state = request.state
        told = [f"  {x.call.name}: {x.text}" for x in request.transcript[-1:]]
        open_now = ", ".join(offered(request.snapshot, state)) or "nothing"
        lead = f"[{state.name}] open: {open_now}. Reply, or set KEY VALUE, complete ID" + (
            ", close OUTCOME:" if state.kind == "goal" else ", skip ID, skip-state:"
        )
        line = (await ask(Question("\n".join([*told, lead])))).strip()
        word, _, rest = line.partition(" ")
        name = _CALLS.get(word)
        if name is None:
            return Chunk(text=line)
        return Chunk(
            call=Call(f"{word} {rest}", name, await self._arguments_of(word, rest, state, ask))
        )

    async def _arguments_of(self, word: str, rest: str, state: State, ask: Ask) -> dict[str, Any]:
        first, _, value = rest.strip().partition(" ")
        if word == "set":
            return {"key": first, "value": value}
        if word == "close":
            quote = await ask(Question("the person's words that show it:"))
            return {"outcome": first or "achieved", "quote": quote}
        return {"id": first} if word != "skip-state" else {"state": state.name}

    async def _check(self, request: Request, ask: Ask) -> Chunk:
        """The second look: agree, and quote the person."""
        agree = await asking.yes_no(ask, f"second check, {request.note}: do you agree?")
        quote = await ask(Question("quote of the person:")) if agree else ""
        return Chunk(value={"agree": agree, "quote": quote, "reason": "the second check declined"})

    async def _choice(self, request: Request, ask: Ask) -> Chunk:
        title = f"[{request.state.name}] next state:"
        return Chunk(value={"next_state": await asking.menu(ask, title, request.options)})

    async def _tool(self, request: Request, ask: Ask) -> Chunk:
        options = [Option(tool.name, tool.description) for tool in request.tools]
        return Chunk(value={"tool": await asking.menu(ask, "tool:", options)})

    async def _arguments(self, request: Request, ask: Ask) -> Chunk:
        return Chunk(value=await asking.arguments(ask, request.tools[0]))

    async def _structured(self, request: Request, ask: Ask) -> Chunk:
        """Whatever a custom state asks for, field by field."""
        asked = ToolSpec("the answer", request.note, request.schema)
        return Chunk(value=await asking.arguments(ask, asked))

    async def _plan(self, request: Request, ask: Ask) -> Chunk:
        line = await ask(Question("the plan's steps, separated by ';':"))
        steps = [part.strip() for part in line.split(";") if part.strip()]
        permission = await asking.yes_no(ask, "does it need permission?")
        return Chunk(value={"steps": steps, "needs_permission": permission})

    async def _step(self, request: Request, ask: Ask) -> Chunk:
        text = await ask(Question(f"{request.note}: what came of it?"))
        done = await asking.yes_no(ask, "did it succeed?")
        return Chunk(text=text.strip(), value={"reply": text, "ok": done})

    async def _verdict(self, request: Request, ask: Ask) -> Chunk:
        reason = await ask(Question("verdict in a sentence:", optional=True))
        name = await asking.menu(ask, "next state:", request.options)
        return Chunk(value={"done": False, "reason": reason.strip(), "next": name})

    async def _skill(self, request: Request, ask: Ask) -> Chunk:
        name = await ask(Question("name of the skill:"))
        text = await ask(Question("its text:"))
        return Chunk(value={"name": name.strip(), "text": text.strip()})
