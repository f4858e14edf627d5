"""What the rules ask about a graph, computed once and only when asked.

States are numbers here: `index[name]`, in the order of the file. The number after the last one,
`end`, stands for the end of a plan (`__end__`), so that ending is an edge like any other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TypeVar

from statecli.config import Config
from statecli.kernel.order import followers, options, routes
from statecli.lint import doubt, proofs, reading, templates
from statecli.lint.guardtable import GuardTable, Tables
from statecli.lint.misfits import Misfit, misfits
from statecli.lint.proofs import Proving
from statecli.lint.rule import rules
from statecli.load.loader import Loaded, is_state
from statecli.load.shape import STATE_KEYS
from statecli.model import graphs
from statecli.model.data import is_list
from statecli.model.diagnostic import Finding
from statecli.model.graph import (
    END,
    KINDS,
    WAITING_KINDS,
    Deliverable,
    Field,
    Graph,
    State,
    Transition,
)
from statecli.model.guard import Atom, Closed, Complete, Expr, Guard, walk
from statecli.model.guard import reads as guard_reads
from statecli.model.keys import KEY_SLIPS
from statecli.model.nearest import nearest
from statecli.model.shape import BadCondition, MissingKey, UnknownKey, WrongType
from statecli.model.span import Path, Place
from statecli.text.document import PYTHON, Document
from statecli.verify.report import Report

IssueT = TypeVar("IssueT")
#: Fields that exist without being declared (model.md 3 and 7).
IMPLICIT_FIELDS = frozenset({"messages", "plan", "plan_step", "needs_permission"})
#: So many different unknown keys are compared with the known ones; a file with more is no slip.
MOST_GUESSES = 1000
_DONE = (Complete, Closed)
_NO_SLIPS: Mapping[str, str] = {}
#: An alias of YAML, and an anchor.
_ALIAS = re.compile(r"(?<=[\s,\[{:])\*([^\s,\[\]{}]+)")
_ANCHOR = re.compile(r"(?<=[\s,\[{:])&([^\s,\[\]{}]+)")


class Facts:
    """Facts over one document and its graph. `graph` is only there to be asked where one exists:
    a rule that needs it starts with ``if facts.graph is None: return``-free iteration over
    `states`, which is empty then. `slips` are the misspelt kinds, each with the one that its states
    are judged as."""

    def __init__(
        self,
        loaded: Loaded,
        config: Config,
        active: Mapping[str, str],
        slips: Mapping[str, str] = _NO_SLIPS,
        proving: Proving | None = None,
    ) -> None:
        self.loaded = loaded
        self.slips = slips
        self.proving = proving
        self.config = config
        self.active = active
        self.document: Document = loaded.document
        self.graph: Graph | None = loaded.graph
        self.is_plan = loaded.graph is not None and loaded.graph.is_plan
        self._fired: dict[str, list[Finding]] = {}
        self._running: set[str] = set()
        self._tables: dict[int, GuardTable | None] = {}

    # --- the file and its graph -----------------------------------------------------------------

    @cached_property
    def states(self) -> list[State]:
        return list(self.graph.states.values()) if self.graph is not None else []

    @cached_property
    def index(self) -> dict[str, int]:
        return {state.name: number for number, state in enumerate(self.states)}

    @property
    def end(self) -> int:
        """The number that stands for `__end__`."""
        return len(self.states)

    def issues(self, kind: type[IssueT]) -> list[IssueT]:
        """What the loader noted of one kind."""
        return [issue for issue in self.loaded.issues if isinstance(issue, kind)]

    def fired(self, rule: str) -> list[Finding]:
        """The findings of another rule; none if it is switched off. For rules that stay silent
        where that rule already names the cause."""
        if rule not in self.active:
            return []
        found = self._fired.get(rule)
        if found is None:
            if rule in self._running:
                raise RuntimeError(f"the rule {rule} waits for itself")
            self._running.add(rule)
            found = self._fired[rule] = list(rules()[rule].check(self))
            self._running.discard(rule)
        return found

    def place(self, state: str | State) -> Place:
        """Where a state is named: its key, its `id`, or the object that lacks one."""
        if isinstance(state, str):
            state = self.states[self.index[state]]
        if self.is_plan:
            return Place((*state.path, "id")) if "id" in state.settings else Place(state.path)
        return Place(state.path, "key")

    def value(self, path: Path) -> object:
        """What the document holds at a path; None where it has nothing."""
        found: object = self.document.value
        for step in path:
            if isinstance(step, str):
                found = found.get(step) if isinstance(found, dict) else None
            else:
                found = found[step] if is_list(found) and step < len(found) else None
        return found

    @cached_property
    def _names_by_path(self) -> dict[Path, str]:
        return {state.path: state.name for state in self.states}

    def owner(self, path: Path) -> tuple[str, ...]:
        """The name of the state that a path lies in, as `Finding.states` has it; else empty. A
        plan state that is left out because its id stands twice counts by its id."""
        if not self.states:
            return ()
        at = path[: len(self.states[0].path)]
        name: object = self._names_by_path.get(at)
        if name is None and self.is_plan and len(at) > 1:
            name = self.value((*at, "id"))
        return (name,) if isinstance(name, str) else ()

    # --- what the guards and the data allow -----------------------------------------------------

    @cached_property
    def verified(self) -> Report | None:
        """What the verifier says; None where it is not asked, or there is no graph to ask about."""
        return proofs.verified(self)

    @cached_property
    def decided(self) -> Report | None:
        """The same, only where nothing was left undecided."""
        report = self.verified
        return report if report is not None and report.exact else None

    def proven(self, rule: str) -> list[proofs.Proof]:
        """What the verifier found for a rule."""
        return self.verified.of(rule) if self.verified is not None else []

    # --- keys that were meant -------------------------------------------------------------------

    @cached_property
    def lacking(self) -> dict[Path, list[str]]:
        """For each object the keys that it must have and has not."""
        found: dict[Path, list[str]] = {}
        for missing in self.issues(MissingKey):
            if missing.severity == "error":
                found.setdefault(missing.path, []).append(missing.key)
        for bad in self.issues(BadCondition):
            if bad.rule == "condition-config-missing":
                found.setdefault(bad.path, []).extend(bad.choices)
        return found

    @cached_property
    def guesses(self) -> dict[Path, str]:
        """For each unknown key (by its path) the key of its object that it was probably meant to
        be: the nearest one, or the only required one that the object lacks."""
        unknown = self.issues(UnknownKey)
        strangers: dict[Path, int] = {}
        for issue in unknown:
            strangers[issue.path[:-1]] = strangers.get(issue.path[:-1], 0) + 1
        near: dict[tuple[str, str], str | None] = {}
        found: dict[Path, str] = {}
        for issue in unknown:
            asked = (issue.key, issue.object)
            if asked not in near:
                slip = KEY_SLIPS.get(issue.object, {}).get(issue.key)
                fits = slip is None and len(near) < MOST_GUESSES
                near[asked] = nearest(issue.key, issue.known) if fits else slip
            guess = near[asked]
            needed = self.lacking.get(issue.path[:-1], [])
            alone = len(needed) == 1 and strangers[issue.path[:-1]] == 1
            if guess is None and alone and isinstance(self.value(issue.path), str):
                guess = needed[0]
            if guess is not None:
                found[issue.path] = guess
        return found

    @cached_property
    def meant(self) -> dict[Path, set[str]]:
        """For each object the keys that it seems to have under a misspelt name, or with a value
        that cannot be read: what follows from their absence is no mistake of its own."""
        found: dict[Path, set[str]] = {}
        for path, guess in self.guesses.items():
            found.setdefault(path[:-1], set()).add(guess)
        for issue in self.issues(WrongType):
            if issue.path:
                found.setdefault(issue.path[:-1], set()).add(str(issue.path[-1]))
            if issue.path[:-1] == ("states",) and issue.path[-1] in STATE_KEYS:
                # A state's keys stand one level too far out, so it looks empty.
                for state in self.states:
                    if not state.settings:
                        found.setdefault(state.path, set()).update(STATE_KEYS)
        return found

    def misspelt(self, state: str) -> set[str]:
        """The keys (`type`, `transition`, `tasks`, `next`, ...) that a state means to have but
        whose name or value is a mistake that another rule names."""
        if not self.meant:
            return set()
        path = self.states[self.index[state]].path
        inside = self.meant.get((*path, "transition"), set())
        return self.meant.get(path, set()) | inside

    def half_read(self, way: Transition) -> bool:
        """Whether a way out has a condition whose key is misspelt, so that it seems to have none:
        the rule that names the slip is enough."""
        return bool(self.meant) and "when" in self.meant.get(way.path, ())

    @cached_property
    def spare(self) -> frozenset[str]:
        """Unknown keys at the top that are there to be used elsewhere: YAML whose value is, or
        holds, an anchor that an alias refers to."""
        document = self.document
        if document.language != "yaml" or "*" not in document.text:
            return frozenset()
        aliases = set(_ALIAS.findall(document.text))
        found = set()
        for issue in self.issues(UnknownKey) if aliases else ():
            key = document.key_node(issue.path) if len(issue.path) == 1 else None
            node = document.node(issue.path)
            if key is not None and node is not None and issue.path not in self.guesses:
                if not aliases.isdisjoint(_ANCHOR.findall(document.text, key.end, node.end)):
                    found.add(issue.key)
        return frozenset(found)

    @cached_property
    def nameless(self) -> frozenset[str]:
        """The names that lead nowhere because the states of a plan that they mean have no id:
        there are exactly as many of them."""
        if not self.is_plan or not self.lacking:
            return frozenset()
        without = sum(state.settings.get("id") is None for state in self.states)
        unknown = self.targets - self.index.keys() - {END}
        if without and len(unknown) != without and len(unknown) <= MOST_GUESSES:
            unknown = frozenset(name for name in unknown if nearest(name, self.index) is None)
        return unknown if len(unknown) == without else frozenset()

    @cached_property
    def stray(self) -> frozenset[str]:
        """The names of what looks like a state but stands beside `states`."""
        if self.graph is None or self.graph.bare:
            return frozenset()
        found = (issue.key for issue in self.issues(UnknownKey) if len(issue.path) == 1)
        states = frozenset(name for name in found if is_state(self.value((name,))))
        return states - self.spare if states else states

    # --- routes and edges -----------------------------------------------------------------------

    @cached_property
    def routes(self) -> list[tuple[Transition, ...]]:
        """For each state its ways out in the order they are tried, implicit ones included."""
        if self.graph is None:
            return []
        graph = self.graph
        if not graph.is_plan:
            return [routes(graph, state, None) for state in self.states]
        following = followers(graph)
        return [routes(graph, state, following[state.name]) for state in self.states]

    def options(self, number: int) -> list[Transition]:
        """The ways out of a state that a model chooses from, one for each target; empty where it
        does not choose. How a custom kind goes on is its own affair."""
        state = self.states[number]
        if len(state.transitions) < 2 or state.fans_out or self.opaque[number]:
            return []
        found: dict[str, Transition] = {}
        for way in options(self.routes[number]):
            if way.target in self.index and not self.half_read(way):
                found.setdefault(way.target, way)
        if state.kind == "executor":
            found.pop(state.name, None)
        return list(found.values()) if len(found) > 1 else []

    @cached_property
    def guarded(self) -> list[int]:
        """The states whose guards are worth reasoning about: not those with no guard at all, or
        with one route that only asks whether everything is done; nor those that end the run, or
        go on as their own code likes."""
        found: list[int] = []
        for number, ways in enumerate(self.routes):
            for way in ways:
                if way.guard is not None and (len(ways) > 1 or type(way.guard) not in _DONE):
                    if not self.opaque[number] and not self.states[number].ends:
                        found.append(number)
                    break
        return found

    @cached_property
    def guard_types(self) -> frozenset[type]:
        """What guards there are, without what stands inside: many a rule is about few sorts."""
        return frozenset({type(way.guard) for ways in self.routes for way in ways})

    @cached_property
    def alike(self) -> list[list[int]]:
        """The guarded states in groups that ask the same, each perhaps of another field: a large
        plan asks few different questions."""
        groups: dict[object, list[int]] = {}
        for number in self.guarded:
            _, asked = self._table_maker.asked([way.guard for way in self.routes[number]])
            groups.setdefault(asked or number, []).append(number)
        return list(groups.values())

    def suspects(self, suspect: Callable[[Sequence[Guard | None], GuardTable], bool]) -> list[int]:
        """The guarded states for which a question about their guards, in the order in which they
        are tried, is true. It is asked once for all that ask the same, so not what they ask of."""
        found: list[int] = []
        for members in self.alike:
            table = self.guard_table(members[0])
            if table is not None:
                guards = [way.guard for way in self.routes[members[0]]]
                if suspect(guards, table):
                    found += members
        return sorted(found)

    def guard_table(self, state: int) -> GuardTable | None:
        """The table of the guards of a state's routes, made once; None if it has too many rows."""
        if state not in self._tables:
            guards = [way.guard for way in self.routes[state]]
            self._tables[state] = self._table_maker.of(guards)
        return self._tables[state]

    @cached_property
    def _table_maker(self) -> Tables:
        return Tables(self.fields)

    @cached_property
    def doubled(self) -> list[State]:
        """The states with two transitions to one target."""
        found = []
        for state in self.states:
            ways = state.transitions
            count = len(ways)
            if count > 2:
                if len({way.target for way in ways}) < count:
                    found.append(state)
            elif count == 2 and ways[0].target == ways[1].target:
                found.append(state)
        return found

    @cached_property
    def comparing(self) -> dict[str, set[int]]:
        """For each key the states whose guards look at its value, not only whether it is set."""
        found: dict[str, set[int]] = {}
        for number in self.guarded:
            for way in self.routes[number]:
                for part in walk(way.guard) if way.guard is not None else ():
                    if isinstance(part, Atom) and part.op not in ("exists", "absent"):
                        found.setdefault(part.key, set()).add(number)
                    elif isinstance(part, Expr):
                        for key in part.required:
                            found.setdefault(key, set()).add(number)
        return found

    @cached_property
    def misfits(self) -> list[Misfit]:
        """The comparisons in guards that do not fit the type of their field."""
        return misfits(self)

    @cached_property
    def kinds(self) -> frozenset[str]:
        """Every kind that some state has."""
        return frozenset(state.kind for state in self.states)

    @cached_property
    def targets(self) -> frozenset[str]:
        """Every name that stands where a state is meant: targets, `on_error`, entries, initial."""
        names = {way.target for state in self.states for way in state.transitions}
        names.update(name for state in self.states if state.jumps for _, name in state.jumps)
        if self.graph is not None:
            names.update(name for name, _ in self.graph.entries)
            names.add(self.graph.initial)
        return frozenset(names)

    @cached_property
    def successors(self) -> list[list[int]]:
        """For each state where a run can go: routes, `on_error`, `on_invalid`. Targets that do
        not exist are left out; the plan's end is `end`. A terminal state ends the run, so nothing
        leads on from it, whatever is written there. A body that answers the next state and has no
        transitions may go anywhere."""
        everywhere = list(range(len(self.states)))
        index = dict(self.index)
        index.setdefault(END, self.end) if self.is_plan else None
        number = index.get
        found: list[list[int]] = []
        for state, ways in zip(self.states, self.routes, strict=True):
            if state.answers and not ways:
                found.append(everywhere)
                continue
            if state.ends:
                found.append([])
                continue
            targets = [to for way in ways if (to := number(way.target)) is not None]
            if state.jumps:
                targets.extend(index[name] for _, name in state.jumps if name in index)
            found.append(targets)
        found.append([])
        return found

    @cached_property
    def roots(self) -> list[int]:
        """Where a run may begin; empty when the initial state does not exist."""
        if self.graph is None:
            return []
        return [self.index[name] for name in self.graph.roots()]

    @cached_property
    def reachable(self) -> bytearray:
        """1 for each state (and `end`) that some path from a root reaches."""
        return graphs.reachable(self.successors, self.roots)

    @cached_property
    def components(self) -> list[list[int]]:
        """The strongly connected components, `end` included."""
        return graphs.components(self.successors)

    @cached_property
    def component_of(self) -> list[int]:
        owner = [0] * len(self.successors)
        for number, members in enumerate(self.components):
            for member in members:
                owner[member] = number
        return owner

    @cached_property
    def closed(self) -> list[list[int]]:
        """Reachable components that no transition leaves: once in, a run stays."""
        owner = self.component_of
        return [
            members
            for number, members in enumerate(self.components)
            if self.reachable[members[0]]
            and all(owner[to] == number for member in members for to in self.successors[member])
        ]

    @cached_property
    def _breadth_first(self) -> tuple[list[int], list[int]]:
        return graphs.breadth_first(self.successors, self.roots)

    def way_in(self, members: Sequence[int], most: int) -> list[int]:
        """The last steps, at most this many, of a shortest path from a root to the first of
        `members` that it reaches."""
        before, depth = self._breadth_first
        path = [min(members, key=depth.__getitem__)]
        while len(path) < most and before[path[-1]] >= 0:
            path.append(before[path[-1]])
        return path[::-1]

    def edge(self, source: int, target: int) -> Place:
        """Where it is written that one state leads to another; the state itself if nowhere."""
        state, name = self.states[source], self.names([target])[0]
        for way in state.transitions:
            if way.target == name:
                return Place(way.at)
        for key, jump in state.jumps:
            if jump == name:
                return Place((*state.path, key))
        return self.place(state)

    def has_cycle(self, members: Sequence[int]) -> bool:
        return len(members) > 1 or members[0] in self.successors[members[0]]

    # --- what a mistake named elsewhere puts in doubt -------------------------------------------

    @cached_property
    def unclear(self) -> set[int]:
        """States whose kind or ways out are not known, because of a mistake that another rule
        names."""
        return doubt.unclear(self)

    @cached_property
    def astray(self) -> set[int]:
        """States some of whose ways out stand under a key that nobody knows."""
        return doubt.astray(self)

    @cached_property
    def mended(self) -> tuple[list[list[int]], list[int]]:
        """`successors` and `roots` as they would be without the mistakes that other rules name."""
        return doubt.mended(self)

    @cached_property
    def traps(self) -> list[list[int]]:
        """Closed components in which no run ends. Those with a state of an unknown kind, or with
        one that is `unclear`, are left out: nobody knows what happens there."""
        opaque, ending = self.opaque, self.ending
        exits = [number for number, ends in enumerate(ending) if ends or opaque[number]]
        free = graphs.reachable(graphs.reversed_edges(self.successors), exits)
        if not any(here and not out for here, out in zip(self.reachable, free, strict=True)):
            return []  # and the components need not be found
        found = [
            members
            for members in self.closed
            if not any(ending[member] or opaque[member] for member in members)
        ]
        if not found or self.fired("undefined-initial"):
            return []
        return [members for members in found if self.unclear.isdisjoint(members)]

    # --- what states are ------------------------------------------------------------------------

    @cached_property
    def waiting(self) -> list[bool]:
        """Whether a state hands control back to the person."""
        kinds = WAITING_KINDS | set(self.config.waiting_kinds)
        return [state.kind in kinds for state in self.states]

    @cached_property
    def opaque(self) -> list[bool]:
        """States of a kind that is not built in: whether they wait, end or write is unknown. A
        function goes where its transitions say."""
        strange = self.kinds.difference(KINDS, self.config.waiting_kinds, ("",))
        return [state.kind in strange and not state.routed for state in self.states]

    @cached_property
    def is_python(self) -> bool:
        """Whether the graph is built in Python: our own form is none of its business."""
        return self.document.language == PYTHON

    @cached_property
    def open_start(self) -> bool:
        """Whether a run may begin with any data: who runs a Python graph gives it what they like,
        unless `inputs` says what."""
        return self.is_python and not self.config.inputs

    def is_given(self, key: str) -> bool:
        """Whether a field may be set before the first step."""
        if key in self.given:
            return True
        graph = self.graph
        return self.open_start and graph is not None and self.may_hold(key)

    def may_hold(self, key: str) -> bool:
        """Whether the data may have a field: with a schema only declared ones."""
        graph = self.graph
        return graph is not None and (not graph.declares_fields or key in graph.fields)

    @cached_property
    def ending(self) -> list[bool]:
        """Whether the run can end in a state: terminal ones, and `end` itself (the last entry)."""
        return [*(state.ends for state in self.states), True]

    @cached_property
    def terminals(self) -> list[str]:
        """The names of the states in which a run can end, in the order of the file: terminal
        states, and in a plan those with a route to the end."""
        return [
            state.name
            for number, state in enumerate(self.states)
            if self.ending[number] or self.end in self.successors[number]
        ]

    # --- data -----------------------------------------------------------------------------------

    @cached_property
    def collecting(self) -> list[State]:
        """The states that ask for values: those with tasks or a goal."""
        return [state for state in self.states if state.tasks or state.goal is not None]

    @cached_property
    def collected(self) -> list[tuple[State, Deliverable]]:
        """Each value that a state asks for, with the state."""
        return [(state, item) for state in self.collecting for item in state.deliverables()]

    @cached_property
    def fields(self) -> Mapping[str, Field]:
        """The fields of the graph whose type is certain: not those that are declared in two ways,
        which is a finding of its own."""
        fields = self.graph.fields if self.graph is not None else {}
        disputed = self.fired("deliverable-type-conflict")
        if not disputed:
            return fields
        keys: set[object] = set()
        for finding in disputed:
            path = finding.at.path
            keys.add(self.value((*(path[:-1] if isinstance(path[-1], str) else path), "key")))
        return {name: field for name, field in fields.items() if name not in keys}

    @cached_property
    def given(self) -> frozenset[str]:
        """Fields that are set before the first step: defaults, session context, `inputs`."""
        fields = self.graph.fields.values() if self.graph is not None else ()
        return (
            IMPLICIT_FIELDS
            | {field.name for field in fields if field.has_default or field.origin == "context"}
            | set(self.config.inputs)
        )

    @cached_property
    def writers(self) -> dict[str, list[int]]:
        """For each field the states that may set it."""
        found: dict[str, list[int]] = {}
        for number, state in enumerate(self.states):
            keys = state.writes
            if state.tasks or state.goal is not None:
                keys = (*keys, *[item.key for item in state.deliverables()])
            for key in keys:
                writers = found.get(key)
                if writers is None:
                    found[key] = [number]
                elif writers[-1] != number:
                    writers.append(number)
        return found

    @cached_property
    def templates(self) -> list[templates.Variable]:
        """The `{{name}}` variables in the texts of the graph and its states."""
        if self.graph is None or "{{" not in self.document.text:
            return []
        return templates.variables(self.graph, self.states)

    @cached_property
    def foreign_reads(self) -> list[tuple[int, str]]:
        """(state, key) for what a state reads and somebody else must have set before."""
        return reading.foreign(self)

    def guard_reads(self, state: int) -> dict[str, Transition]:
        """The fields that the guards of a state look at, each with the first route that does."""
        found: dict[str, Transition] = {}
        for way in self.routes[state]:
            if way.guard is not None:
                for key in guard_reads(way.guard):
                    found.setdefault(key, way)
        return found

    def names(self, states: Iterable[int]) -> tuple[str, ...]:
        return tuple(self.states[number].name if number < self.end else END for number in states)
