"""Two branches that run side by side write one field, and nothing says how they are merged.

Why: where they meet again, the branch that is written later overwrites what the other one found;
half of the work is gone without a word.
An entry of `merge` is about the branches of its group only, and `overwrite` says no more than none.
Transitions without a `group` are one group, `default`; where no transition into the join names one,
the only entry of `merge` is about it, whatever it is called.

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

Bad (it merges a group that nobody is in):
    initial: split
    fields:
      finding: {type: dict}
    states:
      split: {type: decision, transition: {fanout: all, next: [costs, terms]}}
      costs: {type: agent, writes: [finding], transition: {next: [{to: weigh, group: facts}]}}
      terms: {type: agent, writes: [finding], transition: {next: [{to: weigh, group: facts}]}}
      weigh: {type: agent, join: all, merge: {fact: merge}, transition: {next: [done]}}
      done: {type: terminal}

Fix: give each branch a field of its own, give the field a reducer that keeps both, or say with
`merge` at the join how its group is merged.
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint import reading
from statecli.lint.facts import Facts
from statecli.lint.guardtable import guard_table
from statecli.model import graphs
from statecli.model.data import is_map
from statecli.model.diagnostic import Finding, Related
from statecli.model.graph import REDUCERS, Field, Transition
from statecli.model.nearest import nearest
from statecli.model.span import Place
from statecli.model.wording import listed

FAMILY = "data"
SEVERITY = "warning"
#: The states that are looked at behind all fan-outs together, times the size of the graph.
MOST_WALKS = 10
#: Each branch that writes a field is compared with so many others that do.
MOST_BRANCHES = 50
#: The group of transitions that name none.
_DEFAULT = "default"


def check(facts: Facts) -> Iterator[Finding]:
    """For each join the fields that two of its branches overwrite."""
    if "join" not in facts.document.survey.names:
        return
    joins = {n for n, state in enumerate(facts.states) if state.settings.get("join") == "all"}
    if not joins or not facts.roots:
        return
    merges = _Merges(facts, {n for n in joins if facts.reachable[n]})
    yield from merges.strays()
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
            for key, writers in _conflicts(facts, merges, branches).items():
                if (join, key) not in told:
                    told.add((join, key))
                    yield _finding(facts, join, key, writers)


class _Merges:
    """What the joins say about merging: for each, the reducers of its groups by name."""

    def __init__(self, facts: Facts, joins: set[int]) -> None:
        self.facts = facts
        self.reducers: dict[int, dict[str, object]] = {}
        self.groups: dict[int, set[str]] = {}
        self.strategies = {
            n: facts.states[n].settings.get("multi_input_merge_strategy") for n in joins
        }
        for number in sorted(joins):
            merge = facts.states[number].settings.get("merge")
            if is_map(merge) and merge:
                self.reducers[number] = merge
                self.groups[number] = set()
        for ways in facts.routes if self.groups else ():
            for way in ways:
                groups = self.groups.get(facts.index.get(way.target, -1))
                if groups is not None:
                    groups.add(way.group or _DEFAULT)
        for number, groups in self.groups.items():
            if groups == {_DEFAULT} and len(self.reducers[number]) == 1:
                self.reducers[number] = {_DEFAULT: next(iter(self.reducers[number].values()))}

    def lack(self, join: int, groups: set[str]) -> bool:
        """Whether the join says of one of the groups nothing about how to merge it. What a stray
        entry was meant for is not known."""
        strategy = self.strategies.get(join)
        if strategy is not None:  # a function makes all the data of the groups that it is for
            groups = {g for g in groups if isinstance(strategy, dict) and g not in strategy}
        known = self.reducers.get(join, {})
        stray = known.keys() - self.groups.get(join, known.keys())
        return any(known.get(g, not stray and REDUCERS[0]) == REDUCERS[0] for g in groups)

    def strays(self) -> Iterator[Finding]:
        """One finding for each join that merges groups which nobody is in."""
        for number, reducers in self.reducers.items():
            groups = self.groups[number]
            stray = [name for name in reducers if name not in groups]
            if stray:
                state = self.facts.states[number]
                guess = nearest(stray[0], groups - {_DEFAULT} - reducers.keys())
                yield Finding(
                    message=f"'{state.name}' merges the group {listed(stray)}, "
                    f"but no transition to it is in {'it' if len(stray) == 1 else 'them'}",
                    at=Place((*state.path, "merge", stray[0]), "key"),
                    states=(state.name,),
                    hint=f"did you mean '{guess}'?"
                    if guess is not None
                    else f"write 'group: {stray[0]}' at the transitions that are meant",
                )


class _Branch:
    """One way out of a fan-out, as far as a join: its first transition, the groups in which it
    arrives, and for each key that it may write the first state that does."""

    def __init__(self, facts: Facts, join: int, way: Transition, inside: list[int]) -> None:
        self.join = join
        self.way = way
        name = facts.states[join].name
        self.groups = {way.group or _DEFAULT} if way.target == name else set()
        self.writers: dict[str, int] = {}
        for number in inside:
            state = facts.states[number]
            ways = facts.routes[number]
            self.groups.update(w.group or _DEFAULT for w in ways if w.target == name)
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


def _conflicts(facts: Facts, merges: _Merges, branches: list[_Branch]) -> dict[str, list[int]]:
    """The fields that branches arriving in one group overwrite, each with its writers."""
    fields = facts.graph.fields if facts.graph is not None else {}
    writing: dict[str, list[_Branch]] = {}
    for branch in branches:
        for key in branch.writers:
            if _overwrites(fields.get(key)):
                writing.setdefault(key, []).append(branch)
    found: dict[str, list[int]] = {}
    for key, several in writing.items():
        writers: dict[int, None] = {}
        for number, two in enumerate(several):
            for one in several[: min(number, MOST_BRANCHES)]:
                pair = {one.writers[key]: None, two.writers[key]: None}
                if (
                    len(pair) == 2
                    and not pair.keys() <= writers.keys()
                    and merges.lack(one.join, one.groups & two.groups)
                    and not _exclude(facts, one.way, two.way)
                ):
                    writers.update(pair)
        if writers:
            found[key] = list(writers)
    return found


def _overwrites(field: Field | None) -> bool:
    return field is None or field.reducer == REDUCERS[0]


def _exclude(facts: Facts, one: Transition, two: Transition) -> bool:
    """Whether the guards of two transitions never hold together: then only one is taken."""
    if one.guard is None or two.guard is None:
        return False
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
