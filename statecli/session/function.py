"""Bodies written in Python: functions of the data, and objects with `execute`."""

from __future__ import annotations

import copy
import inspect
import uuid
from collections.abc import AsyncIterator, Mapping
from typing import Any, NamedTuple

from statecli.kernel.change import change
from statecli.kernel.difference import difference, reducer_of, same
from statecli.kernel.given import FIXED, fields_of, given, kept_values
from statecli.kernel.recorder import Recorder
from statecli.kinds.step import Delta, Step
from statecli.model.event import Changed, Filtered
from statecli.model.graph import Graph, State
from statecli.model.nearest import did_you_mean, nearest

_NONE: Mapping[str, Any] = {}
#: Builds the event of every step: three times as fast as calling its class.
_new: Any = tuple.__new__


def is_plain(body: Any) -> bool:
    """Whether a body is a function of the data alone that returns at once."""
    if not inspect.isfunction(body) or inspect.isgeneratorfunction(body) or is_async(body):
        return False
    required = [p for p in inspect.signature(body).parameters.values() if p.default is p.empty]
    return len(required) == 1


def is_async(body: Any) -> bool:
    """Whether a body needs an event loop."""
    function = getattr(body, "execute", body)
    call = getattr(type(function), "__call__", None)  # noqa: B004 - of objects that can be called
    return any(
        inspect.iscoroutinefunction(f) or inspect.isasyncgenfunction(f) for f in (function, call)
    )


def new_id() -> str:
    return uuid.uuid4().hex[:12]


class Anywhere(str):
    """An answer of ``execute`` that no declared transition has to allow: somebody outside moved the
    machine there while the body ran."""

    __slots__ = ()


class Outcome(NamedTuple):
    """What a body may give back where its result is not its delta: the `result` is that of the
    step, the `delta` goes into the data, and the fields it `forgets` are gone from it."""

    result: Any
    delta: Mapping[str, Any] = {}
    forgets: tuple[str, ...] = ()


class Item(NamedTuple):
    """What a generator may yield that is neither text nor its delta: `stream_result` gives `value`
    as it is. It is not stored."""

    value: Any


class MissingInput(ValueError):
    """A state needs an input that was not given; raised before the step."""


class FunctionBody:
    """Runs the function states of one graph for `machine`. `inputs` go to the next step only;
    `results` are what the bodies of the last step gave back (by token), `errors` what they raised.
    `waits`: there is an event loop, so that a body may wait for something."""

    def __init__(self, machine: Any, graph: Graph) -> None:
        self.machine = machine
        self.graph = graph
        self.waits = False
        self.data_type: Any = graph.settings.get("data_type")
        self.inputs: Mapping[str, Any] = {}
        self.results: dict[int, Any] = {}
        self.errors: dict[int, Exception] = {}
        #: Nothing about a delta has to be checked, unless it adds to the conversation.
        self._simple = not graph.declares_fields and all(
            field.type == "any" and field.reducer in ("", "overwrite")
            for field in graph.fields.values()
        )
        self._parameters: dict[int, list[inspect.Parameter]] = {}

    def parameters(self, body: Any) -> list[inspect.Parameter]:
        """The inputs a function takes besides the data."""
        known = self._parameters.get(id(body))
        if known is None:
            known = list(inspect.signature(body).parameters.values())[1:]
            self._parameters[id(body)] = known
        return known

    def check(self, state: State, inputs: Mapping[str, Any]) -> None:
        """MissingInput if a required input is not there."""
        body: Any = state.settings["body"]
        if hasattr(body, "execute"):
            return
        for found in self.parameters(body):
            required = found.default is found.empty and found.kind not in _REST
            if required and found.name not in inputs:
                meant = nearest(found.name, inputs)
                raise MissingInput(f"'{state.name}' needs the input '{found.name}'"
                                   + (f", not '{meant}'" if meant else ""))  # fmt: skip

    def plain(self, to: Recorder, state: State) -> Any:
        """Call a plain function and record its delta; what it gave back."""
        body: Any = state.settings["body"]
        data = to.snapshot.data
        result = body(given(self.data_type, data))
        if type(result) is Outcome:
            self._outcome(to, to.snapshot.tokens[0].id, state, result)
            return result.result
        if result:
            self._record(to, to.snapshot.tokens[0].id, state, result)
        return result

    def _record(self, to: Recorder, number: int, state: State, result: Any) -> None:
        """Record what a function gave back as its delta."""
        delta = self._delta(state, result)
        if self._simple and "messages" not in delta:
            to.emit(_new(Changed, (number, state.name, delta, _NONE, _NONE, "", False)))
        else:
            change(to, number, delta, new_id)

    def _outcome(self, to: Recorder, number: int, state: State, outcome: Outcome) -> None:
        """Record the delta of a body whose result is something else, and what it forgets."""
        if outcome.delta:
            self._record(to, number, state, outcome.delta)
        data = to.snapshot.data
        if any(key in data for key in outcome.forgets):
            kept = tuple(key for key in data if key not in outcome.forgets)
            to.emit(Filtered(number, state.name, kept))

    async def __call__(self, step: Step) -> AsyncIterator[Delta | None]:
        """One body: a deep copy of the data in, a delta out."""
        try:
            async for piece in self._run(step):
                yield piece
        except Exception as error:
            self.errors[step.number] = error
            raise
        yield None

    async def _run(self, step: Step) -> AsyncIterator[Delta | None]:
        body: Any = step.state.settings["body"]
        inputs, self.inputs = self.inputs, {}
        if hasattr(body, "execute"):
            await self._execute(step, body)
            return
        self.check(step.state, inputs)
        taken = self.parameters(body)
        if all(found.kind is not found.VAR_KEYWORD for found in taken):
            inputs = {found.name: inputs[found.name] for found in taken if found.name in inputs}
        result = body(self._given(step.snapshot.data), **inputs)
        if inspect.isgenerator(result) or inspect.isasyncgen(result):
            pieces = _Pieces(result)
            async for piece in pieces.deltas():
                yield piece
            result = pieces.delta
        result = await self._waited(step.state, result)
        if isinstance(result, Outcome):
            self.results[step.number] = result.result
            self._outcome(step.to, step.number, step.state, result)
            return
        self.results[step.number] = result
        if result:
            self._record(step.to, step.number, step.state, result)

    async def _waited(self, state: State, result: Any) -> Any:
        if not inspect.isawaitable(result):
            return result
        if not self.waits:
            raise _waits_in_secret(state, result)
        return await result

    def _delta(self, state: State, result: Any) -> dict[str, Any]:
        """What a function gave back as a delta of its own: what it keeps may change later."""
        if type(result) is not dict and not isinstance(result, Mapping):
            if inspect.isawaitable(result):
                raise _waits_in_secret(state, result)
            if hasattr(result, "model_dump"):  # a model: the fields that were set are its delta
                found: dict[str, Any] = result.model_dump(exclude_unset=True)
                return found
            kind = type(result).__name__
            whole = hasattr(result, "__dataclass_fields__")
            raise TypeError(f"'{state.name}' gives back a {kind}: a mapping of fields, or nothing"
                            + (" (a mapping of what changes: all of a dataclass would be folded in "
                               "once more)" if whole else ""))  # fmt: skip
        for value in result.values():
            if type(value) not in FIXED:
                return kept_values(result, self.data_type)
        return dict(result)

    async def _execute(self, step: Step, body: Any) -> None:
        """An object that changes its copy and answers the next state (Agentex)."""
        state = step.state
        own = self._given(step.snapshot.data)
        before = copy.deepcopy(fields_of(own))
        answer = await self._waited(state, body.execute(self.machine, own))
        self.results[step.number] = answer
        after = fields_of(own)
        changed = {k: v for k, v in after.items() if k not in before or not same(before[k], v)}
        gone = tuple(key for key in before if key not in after)
        jump = None if answer is None else self._next(state, answer)  # before anything is recorded
        delta = self._differences(before, changed)
        self._outcome(step.to, step.number, state, Outcome(answer, delta, gone))
        step.jump = jump

    def _next(self, state: State, answer: Any) -> str:
        """The state that an answer names. ValueError where it may not go there."""
        name = str(getattr(answer, "value", answer))
        targets = [route.target for route in state.transitions]
        known = targets if targets and type(answer) is not Anywhere else list(self.graph.states)
        if name in known:
            return name
        found, listed = did_you_mean(name, known), ", ".join(known)
        message = f"'{state.name}' answered '{name}', not: {listed}"
        raise ValueError(f"{message} ({found})" if found else message)

    def _differences(self, before: Mapping[str, Any], changed: Mapping[str, Any]) -> dict[str, Any]:
        """What the reducers have to be given so that these values come out."""
        return {
            key: difference(key, reducer_of(self.graph, key), before.get(key), value)
            for key, value in changed.items()
        }

    def _given(self, data: Mapping[str, Any]) -> Any:
        """The data as a body gets it: a deep copy, of the graph's own type."""
        return given(self.data_type, data)


def _waits_in_secret(state: State, result: Any) -> TypeError:
    if inspect.iscoroutine(result):
        result.close()
    return TypeError(f"'{state.name}' has to wait for something: write it with async def")


_REST = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


class _Pieces:
    """What a generator yields: text on its way to the person, or an `Item`; the last mapping or
    `Outcome` (or what it returns) is its delta."""

    def __init__(self, result: Any) -> None:
        self.result = result
        self.delta: Any = None

    async def deltas(self) -> AsyncIterator[Delta]:
        async for piece in self._each():
            if isinstance(piece, Mapping | Outcome):
                self.delta = piece
            elif isinstance(piece, Item):
                yield Delta("", item=piece)
            else:
                yield Delta(str(piece))

    async def _each(self) -> AsyncIterator[Any]:
        if inspect.isasyncgen(self.result):
            async for piece in self.result:
                yield piece
            return
        try:
            while True:
                yield next(self.result)
        except StopIteration as stop:
            self.delta = stop.value if stop.value is not None else self.delta
