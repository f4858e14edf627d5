"""Two branches that run side by side write one field, and nothing says how they are merged.

Why: where they meet again, the branch that is written later overwrites what the other one found;
half of the work is gone without a word.

Bad:
    initial: split
    fields:
      finding: {type: str}
    states:
      split: {type: decision, transition: {fanout: all, next: [costs, terms]}}
      costs: {type: agent, writes: [finding], transition: {next: [weigh]}}
      terms: {type: agent, writes: [finding], transition: {next: [weigh]}}
      weigh: {type: agent, join: all, reads: [finding], transition: {next: [done]}}
      done: {type: terminal}

Good:
    initial: split
    fields:
      findings: {type: list, reducer: extend, default: []}
    states:
      split: {type: decision, transition: {fanout: all, next: [costs, terms]}}
      costs: {type: agent, writes: [findings], transition: {next: [weigh]}}
      terms: {type: agent, writes: [findings], transition: {next: [weigh]}}
      weigh: {type: agent, join: all, reads: [findings], transition: {next: [done]}}
      done: {type: terminal}

Good (the join merges):
    initial: split
    fields:
      finding: {type: dict}
    states:
      split: {type: decision, transition: {fanout: all, next: [costs, terms]}}
      costs: {type: agent, writes: [finding], transition: {next: [{to: weigh, group: all}]}}
      terms: {type: agent, writes: [finding], transition: {next: [{to: weigh, group: all}]}}
      weigh: {type: agent, join: all, merge: {all: merge}, transition: {next: [done]}}
      done: {type: terminal}

Fix: give each branch a field of its own, give the field a reducer that keeps both, or say with
`merge` at the join how its group is merged.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from statecli.lint import graphs, reading
from statecli.lint.facts import Facts
from statecli.lint.guardtable import guard_table
from statecli.model.data import is_map
from statecli.model.diagnostic import Finding, Related
from statecli.model.graph import REDUCERS, Field, Transition
from statecli.model.span import Place
from statecli.model.wording import listed

FAMILY = "data"
SEVERITY = "warning"
#: The states that are looked at behind all fan-outs together, times the size of the graph.
MOST_WALKS = 10


def check(facts: Facts) -> Iterator[Finding]:
    """For each join the fields that two of its branches overwrite."""
    if "join" not in facts.document.survey.names:
        return
    joins = {n for n, state in enumerate(facts.states) if state.settings.get("join") == "all"}
    if not joins or not facts.roots:
        return
    splits = [n for n, s in enumerate(facts.states) if facts.reachable[n] and s.fans_out]
    before = graphs.reversed_edges(facts.successors) if splits else []
    told: set[tuple[int, str]] = set()
    left = MOST_WALKS * len(facts.states)
    for split in splits:
        arriving: dict[int, list[_Branch]] = {}
        for way in facts.routes[split]:
            if way.target in facts.index and left > 0:
                branches, steps = _branches(facts, before, joins, split, way)
                left -= steps
                for branch in branches:
                    arriving.setdefault(branch.join, []).append(branch)
        for join, branches in sorted(arriving.items()):
            for key, writers in _conflicts(facts, branches).items():
                if (join, key) not in told:
                    told.add((join, key))
                    yield _finding(facts, join, key, writers)


class _Branch:
    """One way out of a fan-out, as far as a join: its first transition, the groups in which it
    arrives, and for each key that it may write the first state that does."""

    def __init__(self, facts: Facts, join: int, way: Transition, inside: list[int]) -> None:
        self.join = join
        self.way = way
        name = facts.states[join].name
        self.groups = {way.group} if way.target == name else set()
        self.writers: dict[str, int] = {}
        for number in inside:
            state = facts.states[number]
            self.groups.update(w.group for w in facts.routes[number] if w.target == name)
            for key in (*state.writes, *(item.key for item in state.deliverables())):
                self.writers.setdefault(key, number)


def _branches(
    facts: Facts, before: graphs.Edges, joins: set[int], split: int, way: Transition
) -> tuple[list[_Branch], int]:
    """The branch that a transition starts, once for each join at which it may arrive, and how
    many states were looked at."""
    start = facts.index[way.target]
    seen = {start}
    queue = [start]
    reached: list[int] = []
    for number in queue:
        if number in joins:
            reached.append(number)
        elif number != split and number < facts.end:
            for target in facts.successors[number]:
                if target not in seen:
                    seen.add(target)
                    queue.append(target)
    found: list[_Branch] = []
    for join in reached:
        inside = _between(before, seen, joins, split, join)
        found.append(_Branch(facts, join, way, [n for n in queue if n in inside]))
    return found, len(queue) * (1 + len(reached))


def _between(
    before: graphs.Edges, seen: set[int], joins: set[int], split: int, join: int
) -> set[int]:
    """The states of a branch from which the join is reached without passing another one."""
    inside: set[int] = set()
    stack = [join]
    while stack:
        for source in before[stack.pop()]:
            if source in seen and source not in inside and source not in joins and source != split:
                inside.add(source)
                stack.append(source)
    return inside


def _conflicts(facts: Facts, branches: list[_Branch]) -> dict[str, list[int]]:
    """The fields that branches arriving in one group overwrite, each with its writers."""
    fields = facts.graph.fields if facts.graph is not None else {}
    found: dict[str, dict[int, None]] = {}
    for one, two in combinations(branches, 2):
        groups = one.groups & two.groups
        keys = [key for key in one.writers if key in two.writers and _overwrites(fields.get(key))]
        if not keys or not _unmerged(facts, one.join, groups) or _exclude(facts, one.way, two.way):
            continue
        for key in keys:
            if one.writers[key] != two.writers[key]:
                writers = found.setdefault(key, {})
                writers.update({one.writers[key]: None, two.writers[key]: None})
    return {key: list(writers) for key, writers in found.items()}


def _overwrites(field: Field | None) -> bool:
    return field is None or field.reducer == REDUCERS[0]


def _unmerged(facts: Facts, join: int, groups: set[str]) -> bool:
    """Whether the join says of one of the groups nothing about how to merge it."""
    merge = facts.states[join].settings.get("merge")
    if not is_map(merge) or not merge:
        return bool(groups)
    # Without names there is one group, and one entry is about it.
    return any(group and merge.get(group, REDUCERS[0]) == REDUCERS[0] for group in groups)


def _exclude(facts: Facts, one: Transition, two: Transition) -> bool:
    """Whether the guards of two transitions never hold together: then only one is taken."""
    table = guard_table((one.guard, two.guard), facts.fields)
    return table is not None and not table.truths[0] & table.truths[1]


def _finding(facts: Facts, join: int, key: str, writers: list[int]) -> Finding:
    names = facts.names(writers)
    return Finding(
        message=f"{listed(names)} run side by side and each write '{key}': "
        f"in '{facts.states[join].name}' one overwrites the other",
        at=facts.place(facts.states[join]),
        states=facts.names([join, *writers]),
        related=tuple(
            Related(f"'{key}' is written here", Place(reading.setter(facts.states[n], key)[0]))
            for n in writers
        ),
        hint=f"give '{key}' a reducer that keeps both, write 'merge' at the join, "
        "or let each branch write a field of its own",
    )
