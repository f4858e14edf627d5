"""What the rules ask about a graph, computed once and only when asked.

States are numbers here: `index[name]`, in the order of the file. The number after the last one,
`end`, stands for the end of a plan (`__end__`), so that ending is an edge like any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TypeVar

from statecli.config import Config
from statecli.kernel.order import followers, routes
from statecli.lint import graphs
from statecli.lint.rule import rules
from statecli.load.loader import Loaded
from statecli.model.diagnostic import Finding
from statecli.model.graph import END, KINDS, WAITING_KINDS, Graph, State, Transition
from statecli.model.guard import reads as guard_reads
from statecli.model.span import Place
from statecli.text.document import Document

IssueT = TypeVar("IssueT")
#: Fields that exist without being declared (model.md 3 and 7).
IMPLICIT_FIELDS = frozenset({"messages", "plan", "plan_step", "needs_permission"})


class Facts:
    """Facts over one document and its graph. `graph` is only there to be asked where one exists:
    a rule that needs it starts with ``if facts.graph is None: return``-free iteration over
    `states`, which is empty then."""

    def __init__(self, loaded: Loaded, config: Config, active: Mapping[str, str]) -> None:
        self.loaded = loaded
        self.config = config
        self.active = active
        self.document: Document = loaded.document
        self._fired: dict[str, list[Finding]] = {}
        self._running: set[str] = set()

    # --- the file and its graph -----------------------------------------------------------------

    @property
    def graph(self) -> Graph | None:
        return self.loaded.graph

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

    @property
    def is_plan(self) -> bool:
        return self.graph is not None and self.graph.is_plan

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

    # --- routes and edges -----------------------------------------------------------------------

    @cached_property
    def routes(self) -> list[tuple[Transition, ...]]:
        """For each state its ways out in the order they are tried, implicit ones included."""
        if self.graph is None:
            return []
        following = followers(self.graph)
        return [routes(self.graph, state, following[state.name]) for state in self.states]

    @cached_property
    def successors(self) -> list[list[int]]:
        """For each state where a run can go: routes, `on_error`, `on_invalid`. Targets that do
        not exist are left out; the plan's end is `end`."""
        index = dict(self.index)
        index.setdefault(END, self.end) if self.is_plan else None
        found: list[list[int]] = []
        for state, ways in zip(self.states, self.routes, strict=True):
            targets = [index[way.target] for way in ways if way.target in index]
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

    def path_to(self, state: int) -> list[int]:
        """A shortest path from a root to a state, both included; empty if there is none."""
        return graphs.shortest_path(self.successors, self.roots, {state})

    def has_cycle(self, members: Sequence[int]) -> bool:
        return len(members) > 1 or members[0] in self.successors[members[0]]

    # --- what states are ------------------------------------------------------------------------

    @cached_property
    def waiting(self) -> list[bool]:
        """Whether a state hands control back to the person."""
        kinds = WAITING_KINDS | set(self.config.waiting_kinds)
        return [state.kind in kinds for state in self.states]

    @cached_property
    def opaque(self) -> list[bool]:
        """States of a kind that is not built in: whether they wait, end or write is unknown."""
        declared = set(self.config.waiting_kinds)
        return [
            bool(state.kind) and state.kind not in KINDS and state.kind not in declared
            for state in self.states
        ]

    @cached_property
    def ending(self) -> list[bool]:
        """Whether the run can end in a state: terminal ones, and `end` itself (the last entry)."""
        return [*(state.kind == "terminal" for state in self.states), True]

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
            keys = dict.fromkeys(state.writes)
            keys.update((item.key, None) for item in state.deliverables())
            for key in keys:
                found.setdefault(key, []).append(number)
        return found

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
