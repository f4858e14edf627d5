"""A witness in words: what was answered where."""

from __future__ import annotations

from collections.abc import Mapping

from statecli.model.data import shown
from statecli.model.diagnostic import Witness

#: So many answers are told in a message; the witness has them all.
MOST = 4


def answers(witness: Witness | None) -> str:
    """ "issue = 'general' in 'intake'"; empty where nothing had to be answered."""
    if witness is None:
        return ""
    parts = [_value(key, value) for key, value in witness.given.items()]
    given = f"{', '.join(parts)} at the start" if parts else ""
    told = [given] if given else []
    count = len(parts)
    for visit in witness.visits:
        said = [text for turn in visit.turns if (text := _turn(turn))]
        count += len(said)
        if said:
            told.append(f"{', '.join(said[:MOST])} in '{visit.state}'")
    if count > MOST and len(told) > 2:
        told = [*told[:1], "…", told[-1]]
    return ", then ".join(told)


def _turn(turn: Mapping[str, object]) -> str:
    if set(turn) == {"done"}:
        return f"task '{turn['done']}' done without a value"
    if set(turn) == {"close"}:
        return "the goal reached"
    return ", ".join(_value(key, value) for key, value in turn.items())


def _value(key: str, value: object) -> str:
    return f"{key} = {shown(value)}"
