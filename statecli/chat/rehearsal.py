"""`/test`: a conversation file against the graph of a chat, in a session that is kept nowhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from statecli.chat.lines import NoLines
from statecli.chat.screen import Screen
from statecli.chat.talk import Talk
from statecli.llm.script import ScriptProvider
from statecli.model.unable import Unable
from statecli.session.session import Session
from statecli.session.world import SessionWorld
from statecli.store.memory import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Iterator

    from statecli.engine.advance import Custom
    from statecli.model.graph import Graph


class Performance(NamedTuple):
    """A conversation that was played: the exit code of its end, what was said, and its session."""

    code: int
    said: list[str]
    session: Session


async def perform(graph: Graph, script: ScriptProvider, custom: Custom | None) -> Performance:
    """Play a conversation through a graph."""
    session = Session.start(
        graph, MemoryStore(), data=script.conversation.data, custom=custom, first_line=True
    )
    lines, said = NoLines(), list[str]()
    world = SessionWorld(graph, script, lines)
    screen = Screen(graph, said.append, said.append, moves=False)
    code = await Talk(session, world, screen, lines).play(script)
    return Performance(code, said, session)


async def rehearse(talk: Talk, file: str) -> list[str]:
    """How it went, in words."""
    if talk.models is None:
        return ["nothing can be played here"]
    try:
        script = talk.models(f"script:{file}")
    except Unable as error:
        return [error.message]
    assert isinstance(script, ScriptProvider)
    played = await perform(talk.session.graph, script, talk.session.custom)
    return list(_outcome(file, script, played.session, played.code, played.said))


def _outcome(
    file: str, script: ScriptProvider, session: Session, code: int, said: list[str]
) -> Iterator[str]:
    turns = len(script.conversation.turns)
    where = f"{session.snapshot.status} in '{session.snapshot.state}'"
    if code:
        yield f"{file}: failed in '{session.snapshot.state}'"
        yield f"  {said[-1] if said else 'nothing was said'}"
    else:
        yield f"{file}: passed, {turns} turn{'' if turns == 1 else 's'}, {where}"
    if script.conversation.expect or any(turn.expect for turn in script.conversation.turns):
        yield "  what it expects (expect) is not compared here"
