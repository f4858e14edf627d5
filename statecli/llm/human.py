"""`human`: the author plays the model (Wizard of Oz): types its replies, calls and choices."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from statecli.kernel.tasks import offered
from statecli.llm import asking
from statecli.llm.by_hand import ByHand
from statecli.model.graph import State
from statecli.model.ports import Ask, Call, Chunk, Question, Request

_CALLS = {
    "set": "set_deliverable",
    "complete": "complete_task",
    "skip": "skip_task",
    "skip-state": "skip_state",
    "close": "close_goal",
}


class HumanProvider(ByHand):
    """Every request becomes a question; nothing is decided without the author."""

    label = "human"

    async def complete(self, request: Request, ask: Ask) -> AsyncIterator[Chunk]:
        """The author's answer to one request."""
        yield await getattr(self, f"_{request.what}")(request, ask)

    async def _reply(self, request: Request, ask: Ask) -> Chunk:
        return Chunk(text=await asking.text_of(ask, f"[{request.state.name}] Reply:"))

    async def _delta(self, request: Request, ask: Ask) -> Chunk:
        state = request.state
        text = await ask(Question(f"[{state.name}] Reply (empty for none):", optional=True))
        value = await asking.written(ask, request.graph, state.name, state.writes)
        return Chunk(text=text.strip(), value=value)

    async def _turn(self, request: Request, ask: Ask) -> Chunk:
        """A line is the reply, unless it is one of the calls that the state offers."""
        state = request.state
        told = [f"  {x.call.name}: {x.text}" for x in request.transcript[-1:]]
        open_now = ", ".join(_open(request)) or "nothing"
        lead = f"[{state.name}] Open: {open_now}. Reply, or {_offers(state)}:"
        line = await asking.text_of(ask, "\n".join([*told, lead]))
        word, _, rest = line.partition(" ")
        if not _is_call(request, word, rest.strip()):
            return Chunk(text=line)
        arguments = await self._arguments_of(word, rest, state, ask)
        return Chunk(call=Call(line, _CALLS[word], arguments))

    async def _arguments_of(self, word: str, rest: str, state: State, ask: Ask) -> dict[str, Any]:
        first, _, value = rest.strip().partition(" ")
        if word == "set":
            return {"key": first, "value": value.strip()}
        if word == "close":
            quote = await asking.text_of(ask, f"[{state.name}] The person's words that show it:")
            return {"outcome": first, "quote": quote}
        return {"id": first} if word != "skip-state" else {"state": state.name}

    async def _check(self, request: Request, ask: Ask) -> Chunk:
        """The second look: agree, and quote the person."""
        where = f"[{request.state.name}] Second check of {request.note!r}"
        agree = await asking.yes_no(ask, f"{where}: do you agree?")
        quote = await asking.text_of(ask, f"{where}: quote the person:") if agree else ""
        return Chunk(value={"agree": agree, "quote": quote, "reason": "the second check declined"})

    async def _choice(self, request: Request, ask: Ask) -> Chunk:
        title = f"[{request.state.name}] Where next?"
        return Chunk(value={"next_state": await asking.menu(ask, title, request.options)})

    async def _arguments(self, request: Request, ask: Ask) -> Chunk:
        tool = request.tools[0]
        ask_for = asking.free_arguments if tool.schema is None else asking.arguments
        return Chunk(value=await ask_for(ask, tool, request.state.name))

    async def _plan(self, request: Request, ask: Ask) -> Chunk:
        where = f"[{request.state.name}]"
        line = await asking.text_of(ask, f"{where} The steps of the plan, with ';' between:")
        steps = [part.strip() for part in line.split(";") if part.strip()]
        permission = await asking.yes_no(ask, f"{where} Must the person agree to it first?")
        return Chunk(value={"steps": steps, "needs_permission": permission})

    async def _step(self, request: Request, ask: Ask) -> Chunk:
        where = f"[{request.state.name}] {request.note}"
        text = await asking.text_of(ask, f"{where}. What came of it?")
        done = await asking.yes_no(ask, f"[{request.state.name}] Did it work?")
        return Chunk(text=text, value={"ok": done})

    async def _verdict(self, request: Request, ask: Ask) -> Chunk:
        where = f"[{request.state.name}]"
        done = await asking.yes_no(ask, f"{where} Is it done?")
        reason = await ask(Question(f"{where} Why (empty for nothing to say):", optional=True))
        name = await asking.menu(ask, f"{where} Where next?", request.options)
        return Chunk(value={"done": done, "reason": reason.strip(), "next": name})


def _open(request: Request) -> list[str]:
    """The tasks that may be worked on, or the values that a goal still lacks."""
    state, snapshot = request.state, request.snapshot
    if state.kind != "goal":
        return offered(snapshot, state)
    return [i.key for i in state.deliverables() if i.key not in snapshot.data] or ["the goal"]


def _offers(state: State) -> str:
    """The calls that a state takes, as they are typed."""
    if state.kind == "goal":
        return "set KEY VALUE, close achieved, close given_up"
    calls = "set KEY VALUE, complete TASK"
    return f"{calls}, skip TASK, skip-state" if state.kind == "loose" else calls


def _is_call(request: Request, word: str, rest: str) -> bool:
    """Whether a line is a call and no reply that only begins like one ("close the window")."""
    first, _, value = rest.partition(" ")
    if word == "set":
        return bool(value) and any(i.key == first for i in request.state.deliverables())
    if word in ("complete", "skip"):
        states = request.graph.states.values()
        return not value and any(task.id == first for s in states for task in s.tasks)
    if word == "close":
        return rest in ("achieved", "given_up")
    return word == "skip-state" and not rest
