"""What a turn, or a whole conversation, is expected to bring: `expect` read and checked against the
graph, so that a misspelt name is told before anything runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from statecli.kernel.order import routes_of
from statecli.model.data import described, is_list, is_map
from statecli.model.graph import END, Graph, Transition
from statecli.model.nearest import did_you_mean
from statecli.model.span import Path, dotted
from statecli.scenario.toolnames import PLAN_CALLS, ToolNames

#: What may be expected after any turn, and of the whole run.
ANYTIME = (
    "state", "entered", "left", "takes", "data", "collected", "said", "not_said", "called",
    "tasks", "guards", "refused", "status", "ended",
)  # fmt: skip
#: What may be expected of the whole run only.
WHOLE = ("turns_at_most", "never")
STATUSES = ("waiting", "limited", "failed", "stuck", "ended", "running")
TASK_STATUSES = ("completed", "skipped", "in_progress", "pending")
#: Tests of a value or a text, instead of the value itself.
VALUE_TESTS = ("equals", "matches", "contains", "unset")
TEXT_TESTS = ("equals", "matches", "contains")
TAKES = ("from", "to", "at", "by")
_LONGEST_PATTERN = 2000


class Expected(NamedTuple):
    """One expectation and its place in the file. `name` is that of a field, task or way."""

    key: str
    name: str
    value: Any
    path: Path


class Mistake(NamedTuple):
    """Something in an `expect` that cannot be right."""

    path: Path
    message: str
    part: str = "value"


class Test(NamedTuple):
    """`equals`, `matches` (a regular expression), `contains` or `unset`, and its operand."""

    op: str
    value: Any

    def __str__(self) -> str:
        from statecli.model.data import shown

        if self.op == "unset":
            return "not set" if self.value else "set"
        words = {"equals": "", "matches": "a match of ", "contains": "something that contains "}
        return f"{words[self.op]}{shown(self.value, 200)}"


class Way(NamedTuple):
    """A transition as an expectation names it; empty: any."""

    source: str = ""
    target: str = ""
    where: str = ""
    by: str = ""

    def __str__(self) -> str:
        parts = [f"from '{self.source}'"] if self.source else []
        parts += [f"to '{self.target}'"] if self.target else []
        parts += [f"at {self.where}"] if self.where else []
        parts += [f"by {self.by}"] if self.by else []
        return f"the way {' '.join(parts)}"


def expectations(
    graph: Graph,
    value: dict[str, Any],
    path: Path,
    *,
    whole: bool = False,
    tools: ToolNames | None = None,
) -> tuple[list[Expected], list[Mistake]]:
    """What an `expect` says, and its mistakes."""
    reader = _Reader(graph, tools or ToolNames(graph))
    known = (*ANYTIME, *WHOLE) if whole else ANYTIME
    found: list[Expected] = []
    for key, item in value.items():
        here = (*path, key)
        if key.startswith("x-"):
            continue
        if key not in known:
            hint = did_you_mean(key, known)
            if key in WHOLE:
                hint = "it stands in the 'expect' of the whole conversation"
            message = f"nothing is expected by '{key}'; {hint or 'there are: ' + ', '.join(known)}"
            reader.wrong(here, message, part="key")
            continue
        found.extend(_READERS[key](reader, key, item, here))
    return found, reader.mistakes


class _Reader:
    """Reads the expectations of one `expect`; collects what is wrong."""

    def __init__(self, graph: Graph, tools: ToolNames) -> None:
        self.graph = graph
        self.tools = tools
        self.mistakes: list[Mistake] = []

    def wrong(self, path: Path, message: str, part: str = "value") -> None:
        self.mistakes.append(Mistake(path, message, part))

    # --- names ----------------------------------------------------------------------------------

    def state(self, name: Any, path: Path, *, end: bool = False) -> bool:
        """Whether this names a state (with `end` also the end of a plan)."""
        if not isinstance(name, str):
            self.wrong(path, f"a state is named here, not {described(name)}")
            return False
        if name in self.graph.states or (end and name == END and self.graph.is_plan):
            return True
        hint = did_you_mean(name, self.graph.states)
        self.wrong(path, f"no state is named '{name}'" + (f"; {hint}" if hint else ""))
        return False

    def states(self, key: str, value: Any, path: Path) -> Iterator[Expected]:
        """One state, or several in the order in which they come."""
        for name, here in _each(value, path):
            if self.state(name, here, end=key == "left"):
                yield Expected(key, "", name, here)
        if is_list(value) and not value:
            yield Expected(key, "", None, path)

    def one_state(self, key: str, value: Any, path: Path) -> Iterator[Expected]:
        if self.state(value, path, end=True):
            yield Expected(key, "", value, path)

    def ended(self, key: str, value: Any, path: Path) -> Iterator[Expected]:
        if isinstance(value, bool) or self.state(value, path, end=True):
            yield Expected(key, "", value, path)

    def status(self, key: str, value: Any, path: Path) -> Iterator[Expected]:
        if self.one_of(value, STATUSES, "a status", path):
            yield Expected(key, "", value, path)

    def one_of(self, value: Any, known: tuple[str, ...], what: str, path: Path) -> bool:
        if isinstance(value, str) and value in known:
            return True
        hint = did_you_mean(value, known) if isinstance(value, str) else ""
        listed = f"{', '.join(known[:-1])} or {known[-1]}"
        self.wrong(path, f"{what} is {listed}, not {described(value)}" + (f"; {hint}" * bool(hint)))
        return False

    # --- transitions ----------------------------------------------------------------------------

    def takes(self, key: str, value: Any, path: Path) -> Iterator[Expected]:
        """Transitions by target, by place, or both; several in their order."""
        for item, here in _each(value, path):
            way = self._way(item, here)
            if way is not None:
                yield Expected(key, "", way, here)
        if is_list(value) and not value:
            yield Expected(key, "", None, path)

    def _way(self, item: Any, path: Path) -> Way | None:
        if is_map(item):
            for name in item:
                if name not in TAKES:
                    hint = did_you_mean(name, TAKES) or f"it has: {', '.join(TAKES)}"
                    self.wrong((*path, name), f"a transition has no '{name}'; {hint}", "key")
                    return None
                if not isinstance(item[name], str):
                    self.wrong((*path, name), f"'{name}' is text, not {described(item[name])}")
                    return None
            way = Way(*(str(item.get(name, "")) for name in TAKES))
            for name, end in (("from", False), ("to", True)):
                if name in item and not self.state(item[name], (*path, name), end=end):
                    return None
            if way.where and not list(self._at(way.where)):
                self.wrong((*path, "at"), _no_place(way.where))
                return None
            return way
        if not isinstance(item, str):
            self.wrong(path, f"a transition is a target or a place, not {described(item)}")
            return None
        source, arrow, target = (part.strip() for part in item.partition("->"))
        if arrow:
            fine = self.state(source, path) and self.state(target, path, end=True)
            return Way(source, target) if fine else None
        if item in self.graph.states or item == END:
            return Way(target=item)
        if list(self._at(item)):
            return Way(where=item)
        if "[" in item:
            self.wrong(path, _no_place(item))
            return None
        self.state(item, path, end=True)
        return None

    def _at(self, where: str) -> Iterator[Transition]:
        """The written ways with this place, or one that ends like it."""
        for name in self.graph.states:
            for route in routes_of(self.graph, name):
                if route.origin == "written" and at_place(dotted(route.path), where):
                    yield route
            for key, _ in self.graph.states[name].jumps:
                if at_place(dotted((*self.graph.states[name].path, key)), where):
                    yield Transition(name, "", None, 1, -1, (), ())

    def guards(self, key: str, value: Any, path: Path) -> Iterator[Expected]:
        """Conditions by the target (or the place) of their transition, each true or false."""
        for name, truth in self.mapping(key, value, path).items():
            here = (*path, name)
            if not isinstance(truth, bool):
                self.wrong(here, f"a guard is true or false, not {described(truth)}")
                continue
            routes = self.guarded(name)
            if any(route.guard is not None for route in routes):
                yield Expected(key, name, truth, here)
            elif routes:
                self.wrong(here, f"the way to '{name}' has no condition", "key")
            else:
                targets = {r.target for s in self.graph.states for r in routes_of(self.graph, s)}
                hint = did_you_mean(name, targets)
                message = f"no way leads to '{name}'"
                self.wrong(here, message + (f"; {hint}" if hint else ""), "key")

    def guarded(self, name: str) -> list[Transition]:
        """The ways that a key of `guards` names: ``target``, ``source -> target``, or a place."""
        return ways_named(self.graph, name)

    # --- values ---------------------------------------------------------------------------------

    def mapping(self, key: str, value: Any, path: Path) -> dict[str, Any]:
        if is_map(value):
            return value
        self.wrong(path, f"'{key}' is a mapping, not {described(value)}")
        return {}

    def field(self, name: Any, path: Path, part: str = "key") -> bool:
        """Whether a field may have this name: any, where the graph declares none."""
        if not isinstance(name, str):
            self.wrong(path, f"a field is named here, not {described(name)}")
            return False
        graph = self.graph
        implicit = ("messages", "plan", "plan_step", "needs_permission")
        if name in graph.fields or name in implicit:
            return True
        if not (graph.declares_fields or graph.is_plan):
            return True
        hint = did_you_mean(name, graph.fields)
        self.wrong(path, f"the graph has no field '{name}'" + (f"; {hint}" if hint else ""), part)
        return False

    def data(self, key: str, value: Any, path: Path) -> Iterator[Expected]:
        for name, item in self.mapping(key, value, path).items():
            here = (*path, name)
            if not self.field(name, here):
                continue
            for test in self.tests(item, here, VALUE_TESTS):
                yield Expected(key, name, test, here)

    def collected(self, key: str, value: Any, path: Path) -> Iterator[Expected]:
        for name, here in _each(value, path):
            if self.field(name, here, "value"):
                yield Expected(key, "", name, here)
        if is_list(value) and not value:
            yield Expected(key, "", None, path)

    def tests(self, value: Any, path: Path, known: tuple[str, ...]) -> list[Test]:
        """A value stands for itself; a mapping of tests for all of them."""
        if not (is_map(value) and value and all(name in VALUE_TESTS for name in value)):
            if value is None:
                return [Test("unset", True)]
            return [Test("equals" if "unset" in known else "contains", value)]
        found: list[Test] = []
        for op, operand in value.items():
            if op not in known:
                self.wrong((*path, op), f"a text has no test '{op}'", "key")
            elif op == "matches" and not self._is_pattern(operand, (*path, op)):
                continue
            elif op == "unset" and not isinstance(operand, bool):
                self.wrong((*path, op), f"'unset' is true or false, not {described(operand)}")
            else:
                found.append(Test(op, operand))
        return found

    def _is_pattern(self, pattern: Any, path: Path) -> bool:
        if not isinstance(pattern, str) or len(pattern) > _LONGEST_PATTERN:
            self.wrong(path, f"'matches' is a regular expression, not {described(pattern)}")
            return False
        try:
            re.compile(pattern)
        except (re.error, RecursionError, OverflowError) as error:
            self.wrong(path, f"this regular expression cannot be read: {error}")
            return False
        return True

    def texts(self, key: str, value: Any, path: Path) -> Iterator[Expected]:
        """Texts that occur, or tests of the text; all of a list hold."""
        for item, here in _each(value, path):
            if not isinstance(item, str) and not is_map(item):
                self.wrong(here, f"'{key}' is text or a test of it, not {described(item)}")
                continue
            if is_map(item) and not all(name in TEXT_TESTS for name in item):
                name = next(name for name in item if name not in TEXT_TESTS)
                hint = did_you_mean(name, TEXT_TESTS) or f"there are: {', '.join(TEXT_TESTS)}"
                self.wrong((*here, name), f"a text has no test '{name}'; {hint}", "key")
                continue
            for test in self.tests(item, here, TEXT_TESTS):
                if isinstance(test.value, str):
                    never = self.tools.never_refused(test.value) if key == "refused" else ""
                    if never and test.op != "matches":
                        self.wrong(here, never)
                    yield Expected(key, "", test, here)
                else:
                    message = f"'{test.op}' is text here, not {described(test.value)}"
                    self.wrong((*here, test.op), message)

    def called(self, key: str, value: Any, path: Path) -> Iterator[Expected]:
        """Tools by name, or ``{name: {argument: value}}``; several in their order."""
        for item, here in _each(value, path):
            calls = item if is_map(item) else {item: {}} if isinstance(item, str) else None
            if calls is None:
                self.wrong(here, f"a tool is named here, not {described(item)}")
                continue
            for name, arguments in calls.items():
                there = (*here, name) if is_map(item) else here
                if arguments is not None and not is_map(arguments):
                    message = f"the arguments of '{name}' are a mapping"
                    self.wrong(there, f"{message}, not {described(arguments)}")
                elif self._tool(name, there, "key" if is_map(item) else "value"):
                    yield Expected(key, name, arguments or {}, there)
        if is_list(value) and not value:
            yield Expected(key, "", None, path)

    def _tool(self, name: str, path: Path, part: str) -> bool:
        if name in PLAN_CALLS:
            message = f"'{name}' is a call of the plan, not a tool; expect {PLAN_CALLS[name]}"
            self.wrong(path, message, part)
            return False
        why = self.tools.unknown(name)
        if why:
            self.wrong(path, why, part)
        return not why

    def tasks(self, key: str, value: Any, path: Path) -> Iterator[Expected]:
        """Tasks by id (``state/id`` where two states use it) and their status."""
        owners: dict[str, list[str]] = {}
        for state in self.graph.states.values():
            for task in state.tasks if state.kind != "goal" else ():
                owners.setdefault(task.id, []).append(state.name)
        names = {f"{s}/{task}" for task, states in owners.items() for s in states}
        for name, status in self.mapping(key, value, path).items():
            here = (*path, name)
            full = name if name in names else f"{(owners.get(name) or [''])[0]}/{name}"
            if full not in names:
                hint = did_you_mean(name, (*owners, *names))
                self.wrong(here, f"no task is named '{name}'" + (f"; {hint}" * bool(hint)), "key")
            elif name not in names and len(owners[name]) > 1:
                listed = " or ".join(f"{state}/{name}" for state in owners[name])
                self.wrong(here, f"several states have a task '{name}': write {listed}", "key")
            elif self.one_of(status, TASK_STATUSES, "the status of a task", here):
                yield Expected(key, full, status, here)

    def number(self, key: str, value: Any, path: Path) -> Iterator[Expected]:
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            self.wrong(path, f"'{key}' is a number of turns, not {described(value)}")
        else:
            yield Expected(key, "", value, path)


_Read = Callable[[_Reader, str, Any, Path], Iterable[Expected]]
_READERS: dict[str, _Read] = {
    "state": _Reader.one_state,
    "entered": _Reader.states,
    "left": _Reader.states,
    "takes": _Reader.takes,
    "data": _Reader.data,
    "collected": _Reader.collected,
    "said": _Reader.texts,
    "not_said": _Reader.texts,
    "called": _Reader.called,
    "tasks": _Reader.tasks,
    "guards": _Reader.guards,
    "refused": _Reader.texts,
    "status": _Reader.status,
    "ended": _Reader.ended,
    "turns_at_most": _Reader.number,
    "never": _Reader.states,
}


def _each(value: Any, path: Path) -> list[tuple[Any, Path]]:
    """The items of a list, or the one value, each with its place."""
    if is_list(value):
        return [(item, (*path, number)) for number, item in enumerate(value)]
    return [(value, path)]


def at_place(where: str, named: str) -> bool:
    """Whether a place of the graph is the one that is named, in full or by its end."""
    return where == named or where.endswith(f".{named}")


def _no_place(where: str) -> str:
    return f"no transition stands at '{where}'; `statecli explain GRAPH --format json` lists places"


def ways_named(graph: Graph, name: str) -> list[Transition]:
    """The ways that a key of `guards` names: ``target``, ``source -> target``, or a place."""
    source, arrow, target = (part.strip() for part in name.partition("->"))
    found = [route for state in graph.states for route in routes_of(graph, state)]
    if arrow:
        return [route for route in found if (route.source, route.target) == (source, target)]
    return [
        route
        for route in found
        if route.target == name
        or (route.origin == "written" and at_place(dotted(route.path), name))
    ]
