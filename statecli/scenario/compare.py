"""What happened against what was expected."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from statecli.kernel.tasks import task_status
from statecli.model.data import shown
from statecli.model.wording import listed
from statecli.scenario.expect import Expected, Test, Way, at_place, ways_named
from statecli.scenario.happened import Seen, Taken
from statecli.scenario.pattern import LIMIT, TooSlow, occurs

#: There is nothing that could be written instead.
NOTHING: Any = type("Nothing", (), {"__repr__": lambda self: "NOTHING"})()


class Difference(NamedTuple):
    """An expectation that does not hold. `actual` is what would hold, NOTHING where that cannot be
    written; `whole`: it takes the place of all expectations with this key."""

    expected: Expected
    message: str
    actual: Any = NOTHING
    whole: bool = False


def differences(seen: Seen, expected: Sequence[Expected]) -> Iterator[Difference]:
    """The expectations that do not hold, in the order of the file."""
    series: dict[str, list[Expected]] = {}
    for one in expected:
        if one.key in _SERIES:
            series.setdefault(one.key, []).append(one)
    for one in expected:
        try:
            found = _difference(seen, one, series)
        except TooSlow:
            found = Difference(one, f"its regular expression takes longer than {LIMIT:g} s here")
        if found is not None:
            yield found


def _difference(seen: Seen, one: Expected, series: dict[str, list[Expected]]) -> Difference | None:
    if one.key in series:
        return _SERIES[one.key](seen, series.pop(one.key))
    return _SINGLE[one.key](seen, one) if one.key in _SINGLE else None


# --- what comes in an order -----------------------------------------------------------------------


class _Lacking(NamedTuple):
    """An expectation that nothing fits behind the ones before it. `order` says so where something
    fits elsewhere."""

    one: Expected
    order: str


def _in_order(
    wanted: Sequence[Expected], there: Sequence[Any], fits: Callable[[Expected, Any], bool]
) -> _Lacking | None:
    """The first that is not there behind the ones before it."""
    at = 0
    for number, one in enumerate(wanted):
        while at < len(there) and not fits(one, there[at]):
            at += 1
        if at == len(there):
            found = sum(fits(one, item) for item in there)
            times = sum(other[1:3] == one[1:3] for other in wanted[: number + 1])
            order = f" after {_label(wanted[number - 1])}" if found and number else ""
            if found and found < times:
                order = f" {times} times"
            return _Lacking(one, order)
        at += 1
    return None


def _label(one: Expected) -> str:
    return str(one.value) if isinstance(one.value, Way) else f"'{one.name or one.value}'"


def _states(seen: Seen, wanted: list[Expected]) -> Difference | None:
    key = wanted[0].key
    there = seen.entered if key == "entered" else seen.left
    actual: Any = there[0] if len(there) == 1 else there
    if wanted[0].value is None:
        if not there:
            return None
        return Difference(wanted[0], f"expected that no state is {key}: {_names(there)}", actual)
    found = _in_order(wanted, there, lambda one, name: bool(one.value == name))
    if found is None:
        return None
    told = f"expected '{found.one.value}' to be {key}{found.order}; {key}: {_names(there)}"
    return Difference(found.one, told, actual, True)


def _names(names: Sequence[str]) -> str:
    return listed(names, most=12) if names else "none"


def _takes(seen: Seen, wanted: list[Expected]) -> Difference | None:
    there = seen.taken
    actual: Any = [_named(way) for way in there]
    actual = actual[0] if len(actual) == 1 else actual
    told = "; ".join(f"'{w.source}' -> '{w.target}'" + _how(w) for w in there) or "none"
    if wanted[0].value is None:
        if not there:
            return None
        return Difference(wanted[0], f"expected that no way is taken; taken: {told}", actual)
    found = _in_order(wanted, there, lambda one, way: _is_way(one.value, way))
    if found is None:
        return None
    message = f"expected {found.one.value} to be taken{found.order}; taken: {told}"
    return Difference(found.one, message, actual, True)


def _named(way: Taken) -> str:
    return way.target


def _how(way: Taken) -> str:
    return f" ({way.origin})" if way.origin not in ("written", "implicit") else ""


def _is_way(wanted: Way, way: Taken) -> bool:
    return (
        wanted.source in ("", way.source)
        and wanted.target in ("", way.target)
        and (not wanted.where or at_place(way.where, wanted.where))
        and wanted.by in ("", way.by, way.origin)
    )


def _called(seen: Seen, wanted: list[Expected]) -> Difference | None:
    there = seen.called
    actual = [{call.tool: dict(call.arguments)} for call in there]
    told = ", ".join(f"{c.tool}({_arguments(c.arguments)})" for c in there) or "none"
    if wanted[0].value is None:
        if not there:
            return None
        return Difference(wanted[0], f"expected that no tool is called; called: {told}", actual)
    found = _in_order(wanted, there, _is_call)
    if found is None:
        return None
    one = found.one
    name = f"{one.name}({_arguments(one.value)})" if one.value else f"'{one.name}'"
    message = f"expected {name} to be called{found.order}; called: {told}"
    return Difference(one, message, actual, True)


def _is_call(one: Expected, call: Any) -> bool:
    named = one.name in (call.tool, call.tool.rpartition(".")[2])
    given: Mapping[str, Any] = call.arguments
    return named and all(
        key in given and same(given[key], value) for key, value in one.value.items()
    )


def _arguments(given: Mapping[str, Any]) -> str:
    return ", ".join(f"{key}={shown(value)}" for key, value in given.items())


def _collected(seen: Seen, wanted: list[Expected]) -> Difference | None:
    there = list(seen.changed)
    if wanted[0].value is None:
        if not there:
            return None
        message = f"expected that nothing is collected; collected: {_names(there)}"
        return Difference(wanted[0], message, there)
    for one in wanted:
        if one.value not in there:
            message = f"expected '{one.value}' to be collected; collected: {_names(there)}"
            if one.value in seen.before.data:
                message += " (it was there before)"
            elif one.value in seen.after.early:
                message += " (it waits to be confirmed)"
            return Difference(one, message, there, True)
    return None


_SERIES: dict[str, Callable[[Seen, list[Expected]], Difference | None]] = {
    "entered": _states,
    "left": _states,
    "takes": _takes,
    "called": _called,
    "collected": _collected,
}


# --- what stands by itself ------------------------------------------------------------------------


def _state(seen: Seen, one: Expected) -> Difference | None:
    state = seen.after.state
    if state == one.value:
        return None
    return Difference(one, f"expected to be in '{one.value}'; it is in '{state}'", state)


def _status(seen: Seen, one: Expected) -> Difference | None:
    status = seen.after.status
    if status == one.value:
        return None
    return Difference(one, f"expected the status '{one.value}'; it is '{status}'", status)


def _ended(seen: Seen, one: Expected) -> Difference | None:
    state, over = seen.after.state, seen.after.status == "ended"
    if one.value is over or (over and one.value == state):
        return None
    stands = f"it has ended in '{state}'" if over else f"it is {seen.after.status} in '{state}'"
    wanted = {True: "that the run has ended", False: "that the run goes on"}
    told = wanted.get(one.value, f"the end in '{one.value}'")
    actual = over if isinstance(one.value, bool) or not over else state
    return Difference(one, f"expected {told}; {stands}", actual)


def _data(seen: Seen, one: Expected) -> Difference | None:
    data, test = seen.after.data, one.value
    there = one.name in data
    value = _plain(data.get(one.name))
    if fits(test, value, there=there):
        return None
    told = f"it is {shown(value, 200)}" if there else "it is not set"
    if not there and one.name in seen.after.early:
        told += f" ({shown(seen.after.early[one.name])} waits to be confirmed)"
    actual = value if there else None
    return Difference(one, f"expected '{one.name}' to be {test}; {told}", actual)


def fits(test: Test, value: Any, *, there: bool) -> bool:
    """Whether a value passes a test."""
    if test.op == "unset":
        return (value is None or not there) is test.value
    if not there:
        return False
    if test.op == "equals":
        return same(value, test.value)
    if test.op == "matches":
        return isinstance(value, str) and occurs(test.value, value)
    if isinstance(value, str):
        return isinstance(test.value, str) and _folded(test.value) in _folded(value)
    items = value if isinstance(value, list) else list(value) if isinstance(value, dict) else []
    return any(same(item, test.value) for item in items)


def same(value: Any, wanted: Any) -> bool:
    """Equal as documents have it: 1 is 1.0 but not true, a tuple or a set is a list."""
    value = _plain(value)
    if isinstance(value, bool) or isinstance(wanted, bool):
        return value is wanted
    if isinstance(value, list) and isinstance(wanted, list):
        return len(value) == len(wanted) and all(map(same, value, wanted))
    if isinstance(value, dict) and isinstance(wanted, dict):
        return value.keys() == wanted.keys() and all(same(value[k], wanted[k]) for k in value)
    return bool(value == wanted)


def _plain(value: Any) -> Any:
    """A value as a document would hold it."""
    if isinstance(value, set | frozenset):
        return sorted(value, key=repr)
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Sequence):
        return value
    return list(value)


def _text(seen: Seen, one: Expected) -> Difference | None:
    said = seen.said
    if fits(one.value, said, there=True) or _folded(said) == _folded(one.value.value):
        return None
    told = f"said: {shown(said, 300)}" if said else "nothing was said"
    return Difference(one, f"expected a reply {_that(one.value)}; {told}", said or NOTHING)


def _not_said(seen: Seen, one: Expected) -> Difference | None:
    if not fits(one.value, seen.said, there=True):
        return None
    return Difference(one, f"expected no reply {_that(one.value)}; said: {shown(seen.said, 300)}")


def _that(test: Test) -> str:
    """A test of a text, in words."""
    words = {"equals": "that is", "matches": "that matches", "contains": "that contains"}
    return f"{words[test.op]} {shown(test.value, 200)}"


def _folded(text: str) -> str:
    """A text with its white space folded: lines are broken anywhere in a file."""
    return " ".join(text.split())


def _tasks(seen: Seen, one: Expected) -> Difference | None:
    state, _, task = one.name.rpartition("/")
    owner = seen.graph.states[state]
    found = next(item for item in owner.tasks if item.id == task)
    status = task_status(seen.after, owner, found)
    if status == one.value:
        return None
    return Difference(one, f"expected the task '{one.name}' {one.value}; it is {status}", status)


def _guards(seen: Seen, one: Expected) -> Difference | None:
    ways = {(way.source, way.number) for way in ways_named(seen.graph, one.name)}
    value: bool | None = None
    note = ""
    for tried in seen.tried:
        for trial in tried.trials:
            if (tried.state, trial.number) in ways:
                value, note = trial.value, trial.note
    if value is one.value:
        return None
    truths = {True: "it is true", False: "it is false"}
    told = truths.get(value, note or "it was not tried, another way was taken before it")  # type: ignore[arg-type]
    message = f"expected the guard to '{one.name}' to be {shown(one.value)}; {told}"
    return Difference(one, message, NOTHING if value is None else value)


def _refused(seen: Seen, one: Expected) -> Difference | None:
    told = [f"{body.what}: {body.reason}" for body in seen.refused]
    if any(fits(one.value, text, there=True) for text in told):
        return None
    more = "; ".join(told) or "nothing"
    actual = told[0] if told else NOTHING
    return Difference(one, f"expected a refusal {_that(one.value)}; refused: {more}", actual)


def _turns(seen: Seen, one: Expected) -> Difference | None:
    if seen.lines <= one.value:
        return None
    message = f"expected at most {one.value} turns; there were {seen.lines}"
    return Difference(one, message, seen.lines)


def _never(seen: Seen, one: Expected) -> Difference | None:
    if one.value is None or one.value not in seen.entered:
        return None
    return Difference(one, f"expected that '{one.value}' is never entered; it was")


_SINGLE: dict[str, Callable[[Seen, Expected], Difference | None]] = {
    "state": _state,
    "status": _status,
    "ended": _ended,
    "data": _data,
    "said": _text,
    "not_said": _not_said,
    "tasks": _tasks,
    "guards": _guards,
    "refused": _refused,
    "turns_at_most": _turns,
    "never": _never,
}
