"""The graph: states with transitions, fields, limits. Frozen; every input form becomes this."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple
from unicodedata import normalize

from statecli.model.guard import Guard
from statecli.model.room import upstairs
from statecli.model.span import Path

if TYPE_CHECKING:
    from enum import Enum

    from statecli.model.diagnostic import Diagnostics

#: No settings, no limits. Nobody writes into it: values are never changed in place.
NOTHING: Mapping[str, object] = MappingProxyType({})
NOTHING_SET: Mapping[str, str] = MappingProxyType({})
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
    def ends(self) -> bool:
        """Whether a run is over here."""
        return self.kind == "terminal" or (self.kind == FUNCTION and not self.transitions)

    @property
    def answers(self) -> bool:
        """Whether its body is a Python object that names the next state itself."""
        return self.kind == FUNCTION and _executes(self.settings.get("body"))

    @property
    def routed(self) -> bool:
        """Whether its transitions decide where it goes on; a custom kind does as it likes."""
        return self.kind in KINDS or (self.kind == FUNCTION and not self.answers)

    @property
    def tells_writes(self) -> bool:
        """Whether `writes` names all that its body may write; nobody reads the code of a body."""
        return self.kind in KINDS or (self.kind == FUNCTION and "writes" in self.settings)

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


def _executes(body: object) -> bool:
    try:
        return hasattr(body, "execute")
    except Exception:  # a person's own attributes may do anything
        return False


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
        "limits", "memory", "origin", "settings", "states",
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
        #: Where it comes from: a document with its issues, or the calls that built it.
        self.origin: Any = None
        #: The states that wait for several branches; None until a run asks (kernel/joins.py).
        self.joins: frozenset[str] | None = None

    def __repr__(self) -> str:
        return f"Graph({self.form}: {', '.join(self.states)}; begins at {self.initial})"

    def with_limits(self, **limits: object) -> Graph:
        """The same graph with some limits set otherwise."""
        return self._with({**self.limits, **limits}, self.settings)

    def with_settings(self, **settings: object) -> Graph:
        """The same graph with some of its own settings set otherwise."""
        return self._with(self.limits, {**self.settings, **settings})

    def _with(self, limits: Mapping[str, Any], settings: Mapping[str, Any]) -> Graph:
        found = Graph(
            self.form, self.initial, self.initial_path, self.states, self.fields, self.entries,
            self.declares_fields, limits, settings, self.bare,
        )  # fmt: skip
        found.origin = self.origin
        return found

    @property
    def is_plan(self) -> bool:
        return self.form == "plan"

    def enum(self) -> type[Enum]:
        """The names of the states as an Enum of texts, for code that goes by them (ARKOS's
        ``AgentState``). A member has the name of its state in capitals, each sign that Python does
        not take in a name as ``_``, and ``STATE_`` before what does not begin with a letter. Where
        that makes two names one, the state that is written so has it, and the others in their order
        get ``_`` at the end.
        """
        from enum import Enum

        known = {name: _member(name) for name in self.states}
        members: dict[str, str] = {}
        for name in sorted(known, key=lambda name: name.upper() != known[name]):
            member = known[name]
            while member in members:
                member += "_"
            members[member] = name
        order = {name: member for member, name in members.items()}
        return Enum("States", [(order[n], n) for n in self.states], type=str)  # type: ignore[return-value]

    def lint(
        self,
        *,
        select: Sequence[str] = (),
        ignore: Sequence[str] = (),
        extend_select: Sequence[str] = (),
        severity: Mapping[str, str] = NOTHING_SET,
        strict: bool = False,
        verify: bool = True,
        inputs: Sequence[str] = (),
        config: str | bool = True,
    ) -> Diagnostics:
        """What is wrong with the graph, for a test: ``assert not graph.lint()``.

        Empty where `statecli validate` would end with 0: errors count, with `strict` warnings too
        (the others are in its attribute `milder`). The options are those of `validate`; `inputs`
        are the fields that every run is given at its start (a graph built in Python may else be
        given any). `config`: the nearest statecli.toml or pyproject.toml is read (True), none
        (False), or this file. ValueError for a rule that does not exist.
        """
        found: Diagnostics = upstairs("statecli.lint.from_python:lint_graph")(
            self, select=select, ignore=ignore, extend_select=extend_select, severity=severity,
            strict=strict, verify=verify, inputs=inputs, config=config,
        )  # fmt: skip
        return found

    def roots(self) -> list[str]:
        """Where a run may begin: the entry transitions if there are any, else the initial state."""
        named = [name for name, _ in self.entries] or [self.initial]
        return [name for name in dict.fromkeys(named) if name in self.states]


def _member(name: str) -> str:
    """The name of a state as one that Python takes after a dot, which reads it as NFKC."""
    plain = normalize("NFKC", normalize("NFKC", name).upper())
    member = "".join(sign if f"_{sign}".isidentifier() else "_" for sign in plain)
    return member if member[:1].isalpha() else f"STATE_{member}".rstrip("_")
