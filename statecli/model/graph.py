"""The graph: states with transitions, fields, limits. Frozen; every input form becomes this."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from statecli.model.guard import Guard
from statecli.model.span import Path

if TYPE_CHECKING:
    from enum import Enum

#: No settings, no limits. Nobody writes into it: values are never changed in place.
NOTHING: Mapping[str, object] = MappingProxyType({})
#: The target that ends a plan.
END = "__end__"
PLAN_KINDS = frozenset({"strict", "loose", "goal"})
#: Kinds that hand control back to the person (model.md 3).
WAITING_KINDS = frozenset({"user"}) | PLAN_KINDS
KINDS = (
    "user", "agent", "tool", "decision", "planner", "executor", "verifier", "skill_builder",
    "terminal", "strict", "loose", "goal",
)  # fmt: skip
#: The kind of a state whose body is Python (`GraphBuilder`); one without a way out is an end.
FUNCTION = "function"
#: Reducers that are built in (model.md 7).
REDUCERS = ("overwrite", "append_messages", "append", "extend", "merge", "increment")


class Transition(NamedTuple):
    """One way out of a state. `path` is its place in the file, `at` the place of its target.

    `state_filter` are the fields that are passed on, or a function of the data that says so.
    `number` counts within the state as written; implicit ones continue after the last written one.
    `guard` None = unguarded. `origin`: written, implicit. `why` says why an implicit one exists.
    """

    source: str
    target: str
    guard: Guard | None
    priority: float
    number: int
    path: Path
    at: Path
    description: str = ""
    origin: str = "written"
    group: str = ""
    why: str = ""
    stated_priority: bool = False
    state_filter: tuple[str, ...] | Callable[[Any], Any] | None = None


class Deliverable(NamedTuple):
    """A value that a task (or goal) collects. `type` as written, "string" when absent."""

    key: str
    type: str
    required: bool
    values: tuple[object, ...]
    path: Path
    description: str = ""


class Task(NamedTuple):
    id: str
    description: str
    instruction: str
    required: bool
    deliverables: tuple[Deliverable, ...]
    path: Path

    @property
    def needed(self) -> tuple[Deliverable, ...]:
        """What must be there for the task to be addressed by its values: the required ones, or
        all of them if none is required."""
        required = tuple(item for item in self.deliverables if item.required)
        return required or self.deliverables


class Goal(NamedTuple):
    objective: str
    success_description: str
    deliverables: tuple[Deliverable, ...]
    path: Path


class State(NamedTuple):
    """One state. `settings` is the mapping as written, for what only one kind or rule reads.

    `jumps` are targets outside the transitions: `on_error`, `on_invalid` (key, target).
    """

    name: str
    kind: str
    path: Path
    transitions: tuple[Transition, ...] = ()
    title: str = ""
    description: str = ""
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    tasks: tuple[Task, ...] = ()
    goal: Goal | None = None
    jumps: tuple[tuple[str, str], ...] = ()
    settings: Mapping[str, object] = NOTHING

    @property
    def is_plan(self) -> bool:
        return self.kind in PLAN_KINDS

    @property
    def fans_out(self) -> bool:
        transition = self.settings.get("transition")
        return isinstance(transition, dict) and transition.get("fanout") == "all"

    def deliverables(self) -> list[Deliverable]:
        """What the state collects. A goal state collects for its goal only: tasks left over in it
        are never offered (model.md 5.4)."""
        if self.kind == "goal":
            return list(self.goal.deliverables) if self.goal is not None else []
        return [item for task in self.tasks for item in task.deliverables]


class Field(NamedTuple):
    """A field of the data. `type` is one of model.md 2.4 (str int float bool list tuple dict set
    enum any); `origin`: declared, deliverable, context, implicit."""

    name: str
    type: str
    values: tuple[object, ...]
    reducer: str
    has_default: bool
    default: object
    origin: str
    path: Path


class Graph:
    """A graph of either form; never changed once built. `states` keeps the order of the file.

    `initial` is the name the file gives, or the first state's (then `initial_path` is None).
    `declares_fields`: the file has a data schema, so writing anything else is a mistake. `memory`
    is what pure functions over the graph remember about it (the ordered routes).
    """

    __slots__ = (
        "bare", "declares_fields", "entries", "fields", "form", "initial", "initial_path", "joins",
        "limits", "memory", "settings", "states",
    )  # fmt: skip

    def __init__(
        self,
        form: str,
        initial: str,
        initial_path: Path | None,
        states: Mapping[str, State],
        fields: Mapping[str, Field],
        entries: tuple[tuple[str, Path], ...] = (),
        declares_fields: bool = False,
        limits: Mapping[str, object] = NOTHING,
        settings: Mapping[str, object] = NOTHING,
        bare: bool = False,
    ) -> None:
        self.form = form
        self.initial = initial
        self.initial_path = initial_path
        self.states = states
        self.fields = fields
        self.entries = entries
        self.declares_fields = declares_fields
        self.limits = limits
        self.settings = settings
        self.bare = bare
        self.memory: dict[str, Any] = {}
        #: The states that wait for several branches; None until a run asks (kernel/joins.py).
        self.joins: frozenset[str] | None = None

    def with_limits(self, **limits: object) -> Graph:
        """The same graph with some limits set otherwise."""
        return self._with({**self.limits, **limits}, self.settings)

    def with_settings(self, **settings: object) -> Graph:
        """The same graph with some of its own settings set otherwise."""
        return self._with(self.limits, {**self.settings, **settings})

    def _with(self, limits: Mapping[str, Any], settings: Mapping[str, Any]) -> Graph:
        return Graph(
            self.form, self.initial, self.initial_path, self.states, self.fields, self.entries,
            self.declares_fields, limits, settings, self.bare,
        )  # fmt: skip

    @property
    def is_plan(self) -> bool:
        return self.form == "plan"

    def enum(self) -> type[Enum]:
        """The names of the states as an Enum of texts, for code that goes by them."""
        from enum import Enum

        members: dict[str, str] = {}
        for name in self.states:
            member = "".join(sign if sign.isalnum() else "_" for sign in name).upper()
            if not member[:1].isalpha():
                member = f"STATE_{member}".rstrip("_")
            while member in members:
                member += "_"
            members[member] = name
        return Enum("States", members, type=str)  # type: ignore[return-value]  # of these names

    def roots(self) -> list[str]:
        """Where a run may begin: the entry transitions if there are any, else the initial state."""
        named = [name for name, _ in self.entries] or [self.initial]
        return [name for name in dict.fromkeys(named) if name in self.states]
