"""No path from the initial state leads to a state.

Why: no conversation ever gets there, so what the state should do never happens. States that only
an unreachable one leads to are named in its message, not reported again.

Bad:
    initial: ask
    states:
      ask:
        type: user
        transition: {next: [ask]}
      search:
        type: tool
        transition: {next: [reply]}
      reply:
        type: agent
        transition: {next: [search]}

Good:
    initial: ask
    states:
      ask:
        type: user
        transition: {next: [search]}
      search:
        type: tool
        transition: {next: [reply]}
      reply:
        type: agent
        transition: {next: [ask]}

Fix: lead a transition to the state, or remove it. The unsafe fix removes it, together with the
states that only it leads to.
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint.facts import Facts
from statecli.model import graphs
from statecli.model.diagnostic import Edit, Finding, Fix
from statecli.model.span import Place
from statecli.model.wording import listed

FAMILY = "reachability"
SEVERITY = "error"
FIX = "unsafe"


def check(facts: Facts) -> Iterator[Finding]:
    """One finding for each island: the state that it begins with, and what only it leads to."""
    if not facts.roots or facts.reachable.find(0, 0, facts.end) < 0:
        return
    if facts.fired("undefined-initial"):
        return
    told = {name for finding in facts.fired("unreachable-terminal") for name in finding.states}
    stuck = _behind_dead_ends(facts)
    start = listed(facts.names(facts.roots), "or", 3)
    for island in _islands(facts):
        if not stuck.isdisjoint(island):
            continue
        names = [facts.states[number].name for number in island]
        names = [name for name in names if name not in told]
        if names:
            yield _finding(facts, names, start)


def _finding(facts: Facts, names: list[str], start: str) -> Finding:
    first, *others = names
    more = f" (and {listed(others)})" if others else ""
    graph = facts.graph
    initial = graph.initial if graph is not None and graph.initial_path is not None else ""
    hint = f"lead a transition to '{first}', or remove it"
    if first == initial:
        hint = f"name '{first}' in 'entry_transitions' too: where they stand, only they begin a run"
    edits = tuple(Edit(Place(facts.states[facts.index[n]].path), "", "item") for n in names)
    return Finding(
        message=f"no path from {start} leads to '{first}'{more}",
        at=facts.place(first),
        states=tuple(names),
        hint=hint,
        fix=None if facts.unclear or initial in names else Fix(f"remove {listed(names)}", edits),
    )


def _behind_dead_ends(facts: Facts) -> set[int]:
    """The states that end a run, where `dead-end-state` already says why none is reached."""
    ends = {facts.index[name] for name in facts.terminals}
    if any(facts.reachable[number] for number in ends):
        return set()
    return ends if any(f.severity != "info" for f in facts.fired("dead-end-state")) else set()


def _islands(facts: Facts) -> Iterator[list[int]]:
    """The unreachable parts that nothing outside leads into, each with what it leads to; a state
    that two of them lead to belongs to the first."""
    edges, roots = facts.mended
    seen = graphs.reachable(edges, roots)
    inside = [
        [] if seen[number] else [target for target in targets if not seen[target]]
        for number, targets in enumerate(edges)
    ]
    parts = [part for part in graphs.components(inside) if not seen[part[0]]]
    owner = {number: at for at, part in enumerate(parts) for number in part}
    entered = {
        owner[target]
        for at, part in enumerate(parts)
        for number in part
        for target in inside[number]
        if owner[target] != at
    }
    for part in sorted(part for at, part in enumerate(parts) if at not in entered):
        if part[0] == facts.end:
            continue
        island, stack = list(part), list(part)
        for number in part:
            seen[number] = 1
        while stack:
            for target in inside[stack.pop()]:
                if not seen[target]:
                    seen[target] = 1
                    stack.append(target)
                    island.append(target)
        yield [part[0], *sorted(n for n in island if n not in (part[0], facts.end))]
