"""A state reads a key that is not set on every way to it.

Why: on the other ways the condition is false for want of a value, and a prompt shows a gap. Often
that is meant, so this rule runs only when it is selected.

Bad:
    initial: start
    states:
      start: {type: user, transition: {next: [ask, reply]}}
      ask: {type: agent, description: Asks, writes: [name], transition: {next: [reply]}}
      reply: {type: agent, description: Replies, reads: [name], transition: {next: [start]}}

Good:
    initial: start
    states:
      start: {type: user, transition: {next: [ask]}}
      ask: {type: agent, writes: [name], transition: {next: [reply]}}
      reply: {type: agent, reads: [name], transition: {next: [start]}}

Fix: set the key on every way, give it a default, or ask whether it is there (`exists`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from statecli.lint import flow, reading
from statecli.lint.facts import Facts
from statecli.model import graphs
from statecli.model.diagnostic import Finding
from statecli.model.graph import State, Transition
from statecli.model.guard import AllOf, Atom, Closed, Complete, Expr, Guard
from statecli.model.wording import walked

FAMILY = "data"
SEVERITY = "info"
ON = False
#: For so many findings the way that lacks the key is searched for and named.
MOST_WAYS = 100


def check(facts: Facts) -> Iterator[Finding]:
    """Each key that a state needs and that one of the ways to it does not set."""
    late = [(n, key) for n, key in facts.foreign_reads if key in facts.writers]
    if not late or not facts.roots:
        return
    reported = {(f.states[0], f.at) for f in facts.fired("field-written-later")}
    bits = {key: 1 << at for at, key in enumerate(dict.fromkeys(key for _, key in late))}
    passed = _Passed(facts, bits)
    missing = passed.missing()
    opaque = flow.after_opaque(facts)
    told = 0
    for number, key in late:
        if not missing[number] & bits[key] or (opaque[number] and facts.may_hold(key)):
            continue
        needs = [read for read in reading.places(facts, number, key) if not read.asks]
        name = facts.states[number].name
        if not needs or (name, needs[0].place) in reported:
            continue
        told += 1
        way = passed.way(number, bits[key]) if told <= MOST_WAYS else []
        if len(way) == 1:
            why = "a run begins there"
        else:
            why = f"nothing sets it on {walked(facts.names(way)) if way else 'one of the ways'}"
        yield Finding(
            message=f"'{key}' may not be set in '{name}': {why}",
            at=needs[0].place,
            states=(name,),
            hint=f"set '{key}' on every way, give it a default, or ask whether it is there",
        )


class _Passed:
    """What surely is set when a run goes from one state to another, as bits."""

    def __init__(self, facts: Facts, bits: Mapping[str, int]) -> None:
        self.facts = facts
        self.whole = sum(bits.values())
        self.edges: list[dict[int, int]] = [self._leaving(state, bits) for state in facts.states]
        self.edges.append({})

    def _leaving(self, state: State, bits: Mapping[str, int]) -> dict[int, int]:
        """For each next state the bits that are set on every route to it."""
        index, number = self.facts.index, self.facts.index[state.name]
        written = _of(state.writes, bits)
        required = _of(
            (
                item.key
                for owner in (*state.tasks, *([state.goal] if state.goal is not None else ()))
                if getattr(owner, "required", True)
                for item in owner.deliverables
                if item.required
            ),
            bits,
        )
        found: dict[int, int] = {}
        for way in self.facts.routes[number]:
            target = index.get(way.target)
            if target is not None:
                sure = written | _on_route(way, required, bits)
                found[target] = found.get(target, self.whole) & sure
        for _, name in state.jumps:
            if name in index:
                found[index[name]] = 0
        return found

    def missing(self) -> list[int]:
        """For each state the bits that some way to it does not set. Where branches are joined all
        of them have come, so one that sets a bit is enough."""
        facts = self.facts
        lacking = [0] * len(self.edges)
        for root in facts.roots:
            lacking[root] = self.whole
        order = [number for members in facts.components[::-1] for number in members]
        sources: dict[int, list[int]] = {
            number: []
            for number, state in enumerate(facts.states)
            if state.settings.get("join") == "all" and number not in facts.roots
        }
        for number, ways in enumerate(self.edges):
            for target in ways:
                if target in sources and facts.reachable[number]:
                    sources[target].append(number)
        changed = True
        while changed:
            changed = False
            for number in order:
                for target, sure in self.edges[number].items():
                    bits = lacking[number] & ~sure
                    for source in sources.get(target, ()):
                        bits &= lacking[source] & ~self.edges[source][target]
                    if bits & ~lacking[target]:
                        lacking[target] |= bits
                        changed = True
        return lacking

    def way(self, number: int, bit: int) -> list[int]:
        """A shortest way to a state on which the bit is never set."""
        edges = [[to for to, sure in ways.items() if not sure & bit] for ways in self.edges]
        return graphs.shortest_path(edges, self.facts.roots, {number})


def _of(keys: Sequence[str] | Iterator[str], bits: Mapping[str, int]) -> int:
    found = 0
    for key in keys:
        found |= bits.get(key, 0)
    return found


def _on_route(way: Transition, required: int, bits: Mapping[str, int]) -> int:
    """What a route proves to be set: on completion all that is required, else what it reads."""
    found = 0
    for part in _conjuncts(way.guard):
        if isinstance(part, Complete | Closed):
            found |= required
        elif isinstance(part, Atom) and part.op != "absent":
            found |= bits.get(part.key, 0)
        elif isinstance(part, Expr):
            found |= _of(part.required, bits)
    return found


def _conjuncts(guard: Guard | None) -> Iterator[Guard]:
    stack = [guard]
    while stack:
        part = stack.pop()
        if isinstance(part, AllOf):
            stack.extend(part.children)
        elif part is not None:
            yield part
