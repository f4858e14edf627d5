"""The variables of a verification: which fields matter, and the classes of their values.

Values of a field on which all guards agree are interchangeable (`model/classes.py`): one class
each. Whether a task is done is a variable too. If a task needs one key, and nothing else needs it,
then that key's axis says it: there are two ways to be absent, open and passed over.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import NamedTuple

from statecli.kernel.order import routes_of
from statecli.kernel.reducers import IMPLICIT
from statecli.model.classes import (
    ABSENT,
    Test,
    answer,
    candidates,
    classes,
    lines,
    open_ended,
    points,
    seeks_too_much,
    whole_numbers,
)
from statecli.model.data import is_list, is_map
from statecli.model.graph import Field, Graph, State, Task
from statecli.model.guard import Atom, Expr, Guard, Opaque, Turns, as_number, walk
from statecli.model.parts import parts

#: So many tasks may share the ways in which one key is absent.
_MOST_FOLDED = 2
_COLLECTIONS = ("list", "tuple", "dict", "set")
_KNOWN_REDUCERS = ("", "overwrite", "increment")


class Axis:
    """One variable. `size` classes, the first `absents` of which mean that the key is not set
    (none for a task's bit). `initial`: the classes at the start. `single`: the classes of exactly
    one value. `at`: where its bits begin in a box, once it has a slot.
    """

    __slots__ = (
        "__dict__", "absent", "absents", "all", "answers", "at", "field", "initial", "name",
        "number", "present", "samples", "single", "size", "tests",
    )  # fmt: skip

    def __init__(self, name: str, number: int) -> None:
        self.name = name
        self.number = number
        self.at = 0
        self.tests: list[Test] = []
        self.field: Field | None = None

    def bits(self, size: int = 2) -> None:
        """Whether a task is done: open, done; or where it matters how: open, skipped, completed."""
        self.size, self.absents, self.initial, self.single = size, 0, 1, 0
        self.samples: list[object] = []
        self.answers: list[tuple[bool | None, ...]] = []
        self._masks()

    def values(self, field: Field | None, tests: list[Test], folded: int) -> None:
        """A key's axis; `folded`: so many tasks are told by how it is absent."""
        found = classes(field, tests)
        self.field, self.tests = field, tests
        self.samples, self.answers = found.samples, found.answers
        if not tests:
            self.samples = [ABSENT, candidates(field, [])[0]]
        self.absents = 1 << folded
        self.size = self.absents + len(found.samples) - 1
        self.initial = 1
        self.single = 0
        self._masks()

    def _masks(self) -> None:
        self.all = (1 << self.size) - 1
        self.absent = (1 << self.absents) - 1
        self.present = self.all & ~self.absent

    @property
    def group(self) -> int:
        return self.all << self.at

    def saying(self, number: int, said: bool | None) -> int:
        """The classes of which a test says this."""
        found = self.absent if self.answers[0][number] is said else 0
        for at, answers in enumerate(self.answers[1:]):
            if answers[number] is said:
                found |= 1 << (self.absents + at)
        return found

    def class_of(self, value: object) -> int:
        """The class of a value that is set, as a mask; 0 where no value of its type is like it."""
        pattern = tuple(answer(test, value) for test in self.tests)
        for at, answers in enumerate(self.answers[1:]):
            if answers == pattern:
                return 1 << (self.absents + at)
        return 0

    def sample(self, number: int) -> object:
        """A value of a class; ABSENT for those in which nothing is set."""
        if number < self.absents or not self.samples:
            return ABSENT
        return self.samples[number - self.absents + 1]

    def other(self, number: int, value: object) -> object:
        """Another value of a class than this one, if one is found; else the same."""
        found: list[object] = candidates(self.field, self.tests)
        if type(value) is str:
            found += [f"{value}x", value.swapcase(), f"{value}0"]
        elif type(value) in (int, float):
            assert isinstance(value, int | float)
            found += [value + 1, value - 1]
            if self.field is None or self.field.type != "int":
                found += [value + 0.125, value - 0.125]
        for one in found:
            if one != value and self.class_of(one) == 1 << number:
                return one
        return value

    @property
    def spoken(self) -> int:
        """The classes of what a person can type into the field: text for one of no other type,
        without blanks around it, and not nothing."""
        field = self.field
        if not self.tests or (field is not None and field.type not in ("str", "any")):
            return self.present
        found = 0
        for number in self._lines:
            found |= 1 << number
        return found

    @cached_property
    def _lines(self) -> dict[int, str]:
        """A line for each class of which a person can type a member."""
        found: dict[int, str] = {}
        for line in lines(self.tests):
            mask = self.class_of(line)
            if mask:
                found.setdefault(mask.bit_length() - 1, line)
        return found

    def line(self, number: int) -> object:
        """A value of a class as a person can type it; of a field that is no text any value."""
        field = self.field
        if not self.tests or (field is not None and field.type not in ("str", "any")):
            return self.sample(number)
        return self._lines.get(number, self.sample(number))

    def find_single(self) -> None:
        """Find out which classes hold exactly one value: setting it again is no progress."""
        field = self.field
        if field is None or field.type not in ("bool", "enum", "int", "float"):
            return
        values: list[object]
        marks = points(self.tests)
        ends: tuple[object, ...] = ()
        if field.type == "bool":
            values = [True, False]
        elif field.type == "enum":
            values = list(field.values)
        elif field.type == "int":
            values = list(whole_numbers(marks))
            ends = (values[0], values[-1])
        else:
            values, ends = list(marks), ()
        counts: dict[int, list[object]] = {}
        for value in values:
            counts.setdefault(self.class_of(value), []).append(value)
        for mask, members in counts.items():
            if len(members) == 1 and members[0] not in ends:
                if field.type != "float" or not self._between(members[0], mask):
                    self.single |= mask

    def _between(self, mark: object, mask: int) -> bool:
        """Whether a number that is no mark belongs to a class too."""
        from statecli.model.classes import numbers

        return any(self.class_of(n) == mask for n in numbers(points(self.tests)) if n != mark)


class Done(NamedTuple):
    """How a task is known to be addressed: by one axis (`mask` of its classes) or, where `keys` are
    given, by its bit or all these keys. `gives`: the axis stands for its values as well."""

    axis: Axis
    mask: int
    keys: tuple[Axis, ...] = ()
    gives: bool = False
    fold: int = 0


class Domain:
    """All the axes of a graph. `inputs`: fields that are given before the start; None: whoever
    starts a run may give any."""

    def __init__(self, graph: Graph, inputs: Iterable[str] | None) -> None:
        self.graph = graph
        self.inputs = frozenset(inputs or ())
        self.open = inputs is None
        #: Fields that only bodies of certain kinds write, in ways that are not modelled.
        self.implicit = {name for name in IMPLICIT if name not in graph.fields} | {"messages"}
        self.axes: list[Axis] = []
        self.keys: dict[str, Axis] = {}
        #: By (state, task id).
        self.done: dict[tuple[str, str], Done] = {}
        #: For each state that forgets its last visit: whether there was one.
        self.visited: dict[str, Axis] = {}
        self.undecided: list[str] = []
        self._tests: dict[str, list[Test]] = {}
        #: A leaf that is decided by single fields, by identity: its axis and the test's number.
        self.places: dict[int, tuple[Axis, int]] = {}
        self.parts: dict[int, bool] = {}
        self.timed: set[str] = set()
        self._needs: dict[str, list[tuple[str, str]]] = {}
        self._seeking: dict[str, list[tuple[State, Atom]]] = {}
        self._guards()
        self._contained()
        self._fields()
        self._tasks()

    # --- what guards ask ------------------------------------------------------------------------

    def _guards(self) -> None:
        for state in self.graph.states.values():
            for key in state.reads:
                if key not in self.implicit:
                    self._tests.setdefault(key, [])
            for route in routes_of(self.graph, state.name):
                if route.guard is not None:
                    for leaf in walk(route.guard):
                        self._leaf(state, leaf)

    def _leaf(self, state: State, leaf: Guard) -> None:
        kind = type(leaf)
        if kind is Atom:
            assert isinstance(leaf, Atom)
            if leaf.key in self.implicit:
                self._unknown(state, f"what '{leaf.key}' holds")
                return
            tests = self._tests.setdefault(leaf.key, [])
            if leaf.op in ("exists", "absent"):
                return
            field = self.graph.fields.get(leaf.key)
            if open_ended(field, leaf) and (field is None or field.type not in _COLLECTIONS):
                self._seeking.setdefault(leaf.key, []).append((state, leaf))
            elif open_ended(field, leaf):
                self._unknown(state, f"what '{leaf.key}' contains")
            else:
                self.places[id(leaf)] = _NOWHERE
                tests.append(leaf)
        elif kind is Expr:
            assert isinstance(leaf, Expr)
            self._expression(state, leaf)
        elif kind is Turns:
            assert isinstance(leaf, Turns)
            if leaf.scope == "session":
                self._unknown(state, "the turns of the session")
            elif state.is_plan:
                self.timed.add(state.name)
        elif kind is Opaque:
            self._unknown(state, "a guard that is code")

    def _contained(self) -> None:
        """What texts contain is decided where samples can show all of it."""
        for key, found in self._seeking.items():
            tests = self._tests[key]
            if seeks_too_much([*tests, *(leaf for _, leaf in found)]):
                for state, _ in found:
                    self._unknown(state, f"what '{key}' contains")
                continue
            for _, leaf in found:
                self.places[id(leaf)] = _NOWHERE
                tests.append(leaf)

    def _expression(self, state: State, leaf: Expr) -> None:
        found = parts(leaf.tree)
        if any(name in self.implicit for name in leaf.names):
            self._unknown(state, f"'{leaf.text}'")
            return
        for name in leaf.names:
            self._tests.setdefault(name, [])
        fields = self.graph.fields
        if found is None or any(open_ended(fields.get(p.key), p) for p in found.values()):
            self._unknown(state, f"'{leaf.text}'")
            return
        self.parts[id(leaf)] = True
        for part in found.values():
            self._tests[part.key].append(part)
            self.places[id(part.node)] = _NOWHERE

    def _unknown(self, state: State, what: str) -> None:
        note = f"'{state.name}': {what} is not decided"
        if note not in self.undecided:
            self.undecided.append(note)

    # --- the axes -------------------------------------------------------------------------------

    def _fields(self) -> None:
        """Which tasks need a key, and which keys are asked for in states whose turns count."""
        for state in self.graph.states.values():
            if state.kind == "goal":
                for item in state.deliverables():
                    if item.required or state.name in self.timed:
                        self._tests.setdefault(item.key, [])
                continue
            for task in state.tasks if state.is_plan else ():
                for item in task.needed:
                    self._needs.setdefault(item.key, []).append((state.name, task.id))
                if state.name in self.timed or resets(state):
                    for item in task.deliverables:
                        self._tests.setdefault(item.key, [])
        for key, needing in self._needs.items():
            if len(set(needing)) > 1:
                self._tests.setdefault(key, [])

    def _axis(self, name: str) -> Axis:
        axis = Axis(name, len(self.axes))
        self.axes.append(axis)
        return axis

    def _tasks(self) -> None:
        """Make the axes: of keys, then of what says whether tasks are done."""
        resetting: dict[str, set[str]] = {}
        for state in self.graph.states.values():
            for item in state.deliverables() if resets(state) else ():
                resetting.setdefault(item.key, set()).add(state.name)
        folded: dict[str, list[tuple[str, str]]] = {}
        for state in self.graph.states.values():
            if not state.is_plan or state.kind == "goal":
                continue
            ids = [task.id for task in state.tasks]
            for task in state.tasks if not self._tells_how(state) else ():
                keys = list(dict.fromkeys(item.key for item in task.needed))
                if len(keys) == 1 and keys[0] in self._tests and ids.count(task.id) == 1:
                    users = self._needs[keys[0]]
                    alone = sum(name == state.name for name, _ in users) == 1
                    if keys[0] in resetting:
                        alone &= len(users) == 1 and resetting[keys[0]] == {state.name}
                    taken = folded.setdefault(keys[0], [])
                    if alone and len(taken) < _MOST_FOLDED:
                        taken.append((state.name, task.id))
        for key, tests in self._tests.items():
            self._key(key, tests, len(folded.get(key, ())))
        for state in self.graph.states.values():
            if state.is_plan and state.kind != "goal":
                for task in state.tasks:
                    self._done(state, task, folded)
            if resets(state):
                axis = self.visited[state.name] = self._axis(f"{state.name} was visited")
                axis.bits()

    def _key(self, key: str, tests: list[Test], folds: int) -> None:
        axis = self.keys[key] = self._axis(key)
        field = self.graph.fields.get(key)
        if field is not None and field.reducer not in _KNOWN_REDUCERS and tests:
            self.undecided.append(f"'{key}': what its reducer '{field.reducer}' makes is not known")
        axis.values(self._with_null(key, field), tests, folds)
        for number, test in enumerate(tests):
            self.places[id(test) if isinstance(test, Atom) else id(test.node)] = (axis, number)
        if self.timed:
            axis.find_single()
        axis.initial = self._initial(key, axis, field)

    def _with_null(self, key: str, field: Field | None) -> Field | None:
        """A field into which some body may write null can hold that too."""
        if field is None or field.type == "any" or field.has_default:
            return field
        for state in self.graph.states.values():
            if key in state.writes and state.settings.get("allow_writes_null"):
                return field._replace(has_default=True, default=None)
        return field

    def _initial(self, key: str, axis: Axis, field: Field | None) -> int:
        if key in self.inputs:
            return axis.present
        if self.open and (field is not None or not self.graph.declares_fields):
            return axis.present | (0 if field is not None and field.has_default else 1)
        if field is None:
            return 1
        if field.origin == "context":
            asked = _required(self.graph, field) or field.has_default
            return axis.present if asked else axis.present | 1
        if field.has_default:
            return axis.class_of(field.default) or axis.present
        return 1

    def _tells_how(self, state: State) -> bool:
        """Where turns count, completing a task that was skipped is progress."""
        return state.kind == "loose" and state.name in self.timed

    def _done(self, state: State, task: Task, folded: Mapping[str, list[tuple[str, str]]]) -> None:
        me = (state.name, task.id)
        if me in self.done:
            return
        keys = list(dict.fromkeys(item.key for item in task.needed))
        if len(keys) == 1 and me in folded.get(keys[0], ()):
            fold = folded[keys[0]].index(me)
            axis = self.keys[keys[0]]
            over = sum(1 << way for way in range(axis.absents) if way >> fold & 1)
            self.done[me] = Done(axis, axis.present | over, fold=1 << fold)
            return
        axis = self._axis(f"{state.name}/{task.id}")
        if self._tells_how(state):
            axis.bits(3)
            self.done[me] = Done(axis, 6, tuple(self.keys[key] for key in keys))
            return
        axis.bits()
        known = [key for key in keys if key in self.keys]
        if not known:
            self.done[me] = Done(axis, 2, gives=bool(keys))
            return
        for key in keys:
            if key not in self.keys:
                self._key(key, [], 0)
        self.done[me] = Done(axis, 2, tuple(self.keys[key] for key in keys))


def resets(state: State) -> bool:
    """Whether a plan state forgets its last visit when it is entered again."""
    return state.is_plan and state.settings.get("on_reenter") == "reset"


def is_custom(state: State) -> bool:
    """Whether a state's kind is not built in: nobody knows what its body does."""
    return not state.routed


def _required(graph: Graph, field: Field) -> bool:
    found: object = graph.settings
    for step in field.path:
        if isinstance(step, str) and (is_map(found) or isinstance(found, Mapping)):
            found = found.get(step)
        elif isinstance(step, int) and is_list(found) and step < len(found):
            found = found[step]
    return is_map(found) and found.get("required") is True


_NOWHERE = (Axis("", -1), 0)

__all__ = ["ABSENT", "Axis", "Domain", "Done", "as_number", "is_custom", "resets"]
