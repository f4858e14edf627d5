"""Bodies written in Python: functions of the data, and objects with `execute`."""

from __future__ import annotations

import copy
import inspect
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

from statecli.kernel.settle import Recorder
from statecli.kinds.step import Delta, Step
from statecli.model.event import Changed
from statecli.model.graph import State

#: Values that need no copy: a body cannot change them.
_FIXED = (str, int, float, bool, bytes, type(None), frozenset)


def is_plain(body: Any) -> bool:
    """Whether a body is a function of the data alone that returns at once."""
    if not inspect.isfunction(body) or inspect.isgeneratorfunction(body):
        return False
    if inspect.iscoroutinefunction(body) or inspect.isasyncgenfunction(body):
        return False
    required = [p for p in inspect.signature(body).parameters.values() if p.default is p.empty]
    return len(required) == 1


class MissingInput(ValueError):
    """A state needs an input that was not given; raised before the step."""


class FunctionBody:
    """Runs the function states of one graph. `inputs` go to the next step only; `result` is what
    the last step gave back; `pieces` what it streamed."""

    def __init__(self, machine: Any, data_type: Any = None) -> None:
        self.machine = machine
        self.data_type = data_type
        self.inputs: Mapping[str, Any] = {}
        self.result: Any = None
        self._parameters: dict[int, tuple[tuple[str, bool], ...]] = {}

    def wanted(self, body: Any) -> tuple[tuple[str, bool], ...]:
        """The inputs a function takes besides the data: (name, required)."""
        known = self._parameters.get(id(body))
        if known is None:
            found = list(inspect.signature(body).parameters.values())[1:]
            known = tuple((p.name, p.default is p.empty) for p in found)
            self._parameters[id(body)] = known
        return known

    def check(self, name: str, body: Any) -> None:
        """MissingInput if a required input is not there."""
        if hasattr(body, "execute"):
            return
        for parameter, required in self.wanted(body):
            if required and parameter not in self.inputs:
                raise MissingInput(f"'{name}' needs the input '{parameter}'")

    def plain(self, to: Recorder, state: State) -> Any:
        """Call a plain function and record its delta; what it gave back."""
        body: Any = state.settings["body"]
        result = body(self._copied(to.snapshot.data))
        if result:
            to.emit(Changed(to.snapshot.tokens[0].id, state.name, dict(result)))
        return result

    async def __call__(self, step: Step) -> AsyncIterator[Delta | None]:
        """One body: a deep copy of the data in, a delta out."""
        body: Any = step.state.settings["body"]
        data = step.snapshot.data
        given = self._copied(data)
        if hasattr(body, "execute"):
            await self._execute(step, body, data, given)
            yield None
            return
        inputs = {name: self.inputs[name] for name, _ in self.wanted(body) if name in self.inputs}
        self.inputs = {}
        result = body(given, **inputs)
        if inspect.isawaitable(result):
            result = await result
        elif inspect.isgenerator(result) or inspect.isasyncgen(result):
            delta: Any = None
            async for piece in _pieces(result):
                delta = piece
                yield Delta(str(piece))
            result = delta if isinstance(delta, Mapping) else None
        self.result = result
        if result:
            step.emit(Changed(step.number, step.state.name, dict(result)))
        yield None

    async def _execute(self, step: Step, body: Any, data: Mapping[str, Any], given: Any) -> None:
        """An object that changes its copy and answers the next state (Agentex)."""
        answer = body.execute(self.machine, given)
        if inspect.isawaitable(answer):
            answer = await answer
        after = given if isinstance(given, Mapping) else _fields(given)
        delta = {k: v for k, v in after.items() if k not in data or data[k] != v}
        if delta:
            step.emit(Changed(step.number, step.state.name, delta))
        self.result = answer
        if answer is not None:
            step.jump = str(getattr(answer, "value", answer))
            targets = [route.target for route in step.state.transitions]
            if step.jump not in (targets or step.graph.states):
                listed = ", ".join(targets or step.graph.states)
                raise ValueError(f"'{step.state.name}' answered '{step.jump}', not: {listed}")

    def _copied(self, data: Mapping[str, Any]) -> Any:
        if all(type(value) in _FIXED for value in data.values()):
            given = dict(data)
        else:
            given = copy.deepcopy(dict(data))
        return self.data_type(**given) if self.data_type is not None else given


async def _pieces(result: Any) -> AsyncIterator[Any]:
    if inspect.isasyncgen(result):
        async for piece in result:
            yield piece
    else:
        for piece in result:
            yield piece


def _fields(value: Any) -> dict[str, Any]:
    """The fields of a model or dataclass."""
    dump: Callable[[], dict[str, Any]] | None = getattr(value, "model_dump", None)
    return dump() if dump is not None else dict(vars(value))
