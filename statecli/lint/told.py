"""A witness in words: what was answered where, or which way was chosen."""

from __future__ import annotations

from collections.abc import Mapping

from statecli.kernel.order import options, routes_of
from statecli.lint.facts import Facts
from statecli.model.data import shown
from statecli.model.diagnostic import Witness
from statecli.model.wording import joined

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


def how(facts: Facts, witness: Witness | None) -> str:
    """ "after issue = 'general' in 'intake'"; where nothing had to be answered "when 'a' goes on to
    'b'", of what was chosen freely. Empty where all runs go that way."""
    after = answers(witness)
    if after or witness is None:
        return after and f"after {after}"
    assert facts.graph is not None
    chosen = []
    for visit in witness.visits:
        if visit.taken is None or facts.graph.states[visit.state].fans_out:
            continue
        way = facts.graph.states[visit.state].transitions[visit.taken]
        free = options(routes_of(facts.graph, visit.state))
        if way in free and len({option.target for option in free}) > 1:
            chosen.append(f"'{visit.state}' goes on to '{way.target}'")
    chosen = list(dict.fromkeys(chosen))
    if len(chosen) > MOST:
        chosen = ["…", *chosen[-MOST:]]
    return f"when {joined(chosen)}" if chosen else ""


def _turn(turn: Mapping[str, object]) -> str:
    if set(turn) == {"done"}:
        return f"task '{turn['done']}' done without a value"
    if set(turn) == {"close"}:
        return "the goal reached"
    return ", ".join(_value(key, value) for key, value in turn.items())


def _value(key: str, value: object) -> str:
    return f"{key} = {shown(value)}"
