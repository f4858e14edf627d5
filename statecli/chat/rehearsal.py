"""`/test`: a conversation file against the graph of a chat, in a session that is kept nowhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from statecli.chat.talk import Talk
from statecli.llm.script import ScriptProvider
from statecli.model.span import Place
from statecli.model.unable import Unable
from statecli.scenario.job import told_of
from statecli.scenario.report import problem
from statecli.scenario.runner import Case, Played, played, prepared

if TYPE_CHECKING:
    from collections.abc import Iterator


async def rehearse(talk: Talk, file: str) -> list[str]:
    """How it went, in words."""
    if talk.models is None:
        return ["nothing can be played here"]
    try:
        script = talk.models(f"script:{file}")
    except Unable as error:
        return [error.message]
    assert isinstance(script, ScriptProvider)
    conversation, session = script.conversation, talk.session
    case = prepared(conversation, session.graph)
    if not isinstance(case, Case):
        places = [conversation.document.span(Place(m.path, m.part)).start for m in case]
        return [
            f"{file}:{at.line}:{at.column}: {mistake.message}"
            for at, mistake in zip(places, case, strict=True)
        ]
    return list(_outcome(file, await played(case, script, session.custom)))


def _outcome(file: str, found: Played) -> Iterator[str]:
    snapshot, turns = found.whole.after, len(found.case.conversation.turns)
    if found.passed:
        where = f"{snapshot.status} in '{snapshot.state}'"
        yield f"{file}: passed, {turns} turn{'' if turns == 1 else 's'}, {where}"
        return
    yield f"{file}: failed in '{snapshot.state}'"
    for one in found.problems:
        yield from problem(told_of(found.case.conversation, one))
