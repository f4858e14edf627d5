"""Burr's actions: functions with a decorator, or objects with `run` and `update`."""

from __future__ import annotations

import abc
import copy
import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, Self, TypeVar

from statecli.burr.state import State

F = TypeVar("F", bound=Callable[..., Any])


class Action(abc.ABC):
    """An action in two steps: `run` gives a result from what it `reads` and its `inputs`, `update`
    a new state from the result. Either may be all of it; `run` may be async."""

    streaming = False
    _name: str | None = None

    @property
    def name(self) -> str:
        """The name under which the application knows it; empty before that."""
        return self._name or ""

    def with_name(self, name: str) -> Self:
        """A copy under a name. ValueError where it has one."""
        if self._name is not None:
            raise ValueError(f"the action '{self._name}' has a name; it cannot be '{name}' too")
        named = copy.copy(self)
        named._name = name
        return named

    @property
    @abc.abstractmethod
    def reads(self) -> Sequence[str]:
        """The keys that `run` sees."""

    @property
    @abc.abstractmethod
    def writes(self) -> Sequence[str]:
        """The keys that must be in the state after `update`, and the only new ones."""

    @abc.abstractmethod
    def run(self, state: State, *args: Any, **run_kwargs: Any) -> Any:
        """The result, a dictionary."""

    @abc.abstractmethod
    def update(self, result: Any, state: State) -> State:
        """The state with the result in it."""

    @property
    def inputs(self) -> Any:
        """The inputs that `run` takes: a list, or (required, optional)."""
        return []

    @property
    def optional_and_required_inputs(self) -> tuple[set[str], set[str]]:
        """(required, optional), in this order whatever the name says: as in Burr."""
        found = self.inputs
        required, optional = found if isinstance(found, tuple) else (found, ())
        return set(required), set(optional)

    @property
    def tags(self) -> Sequence[str]:
        """What halts may call it: ``halt_before=["@tag:name"]``."""
        return []

    def is_async(self) -> bool:
        """Whether it has to be awaited."""
        return inspect.iscoroutinefunction(self.run)

    def get_source(self) -> str:
        """The source of the action, where there is one."""
        return inspect.getsource(type(self))

    def __repr__(self) -> str:
        reads, writes = (", ".join(keys) or "{}" for keys in (self.reads, self.writes))
        return f"{self.name}: {reads} -> {writes}"


class StreamingAction(Action):
    """An action whose `stream_run` yields results as they come; the last one goes to `update`."""

    streaming = True

    @abc.abstractmethod
    def stream_run(self, state: State, *args: Any, **run_kwargs: Any) -> Any:
        """Dictionaries; the last one is the whole result."""

    def run(self, state: State, *args: Any, **run_kwargs: Any) -> Any:
        """The last result."""
        result = None
        for item in self.stream_run(state, *args, **run_kwargs):
            result = item
        return result


class AsyncStreamingAction(Action):
    """As `StreamingAction`, with an async generator."""

    streaming = True

    @abc.abstractmethod
    def stream_run(self, state: State, *args: Any, **run_kwargs: Any) -> Any:
        """Dictionaries; the last one is the whole result."""

    async def run(self, state: State, *args: Any, **run_kwargs: Any) -> Any:
        """The last result."""
        result = None
        async for item in self.stream_run(state, *args, **run_kwargs):
            result = item
        return result

    def is_async(self) -> bool:
        return True


class FunctionAction(Action):
    """A function of the state (and inputs) that gives back the new state, or (result, state); or a
    generator of results whose last item is (result, state)."""

    def __init__(
        self, fn: Callable[..., Any], reads: Sequence[str], writes: Sequence[str],
        tags: Sequence[str], streaming: bool, bound: dict[str, Any],
    ) -> None:  # fmt: skip
        self.fn = functools.partial(fn, **bound) if bound else fn
        self.source = fn
        self.streaming = streaming
        self.bound = bound
        self._reads, self._writes, self._tags = list(reads), list(writes), list(tags)
        taken = [
            p for p in list(inspect.signature(fn).parameters.values())[1:]
            if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD) and p.name not in bound
        ]  # fmt: skip
        required = [p.name for p in taken if p.default is p.empty]
        self._inputs = (required, [p.name for p in taken if p.default is not p.empty])

    @property
    def reads(self) -> Sequence[str]:
        return self._reads

    @property
    def writes(self) -> Sequence[str]:
        return self._writes

    @property
    def tags(self) -> Sequence[str]:
        return self._tags

    @property
    def inputs(self) -> tuple[list[str], list[str]]:
        return self._inputs

    def run(self, state: State, *args: Any, **run_kwargs: Any) -> Any:
        return self.fn(state, *args, **run_kwargs)

    def update(self, result: Any, state: State) -> State:
        raise TypeError(f"'{self.name}' is a function: it updates the state itself")

    def is_async(self) -> bool:
        return inspect.iscoroutinefunction(self.source) or inspect.isasyncgenfunction(self.source)

    def get_source(self) -> str:
        return inspect.getsource(self.source)


class action:  # noqa: N801 - as the document writes it
    """``@action(reads=[...], writes=[...], tags=[...])``: a function is an action. What it takes
    besides the state are its inputs (those with a default are optional), or are bound:
    ``f.bind(model="x")``."""

    _streaming = False

    def __init__(
        self, reads: Sequence[str], writes: Sequence[str], tags: Sequence[str] | None = None
    ) -> None:
        self.reads, self.writes, self.tags = reads, writes, tags or ()

    def __call__(self, fn: Callable[..., Any]) -> Any:
        return self._decorated(fn, fn, {})

    def _decorated(self, fn: Any, source: Callable[..., Any], bound: dict[str, Any]) -> Any:
        def bind(**values: Any) -> Any:
            @functools.wraps(source)
            def found(*args: Any, **more: Any) -> Any:
                return source(*args, **{**bound, **values, **more})

            return self._decorated(found, source, {**bound, **values})

        fn.action_function = FunctionAction(
            source, self.reads, self.writes, self.tags, self._streaming, bound
        )
        fn.bind = bind
        return fn

    @staticmethod
    def pydantic(*args: Any, **more: Any) -> Any:
        """Not here: NotImplementedError that says what there is instead."""
        raise NotImplementedError(
            "statecli types the data, not single actions: GraphBuilder().with_schema(Model)"
        )


class streaming_action(action):  # noqa: N801 - as the document writes it
    """``@streaming_action(reads=[...], writes=[...])``: the same for a generator, sync or async. It
    yields results (or (result, None)), and at last (result, state)."""

    _streaming = True


def type_eraser(function: F) -> F:
    """Burr's marker for type checkers; it does nothing here."""
    return function


class Result(Action):
    """Gives fields of the state as its result, and changes nothing."""

    def __init__(self, *fields: str) -> None:
        self._fields = list(fields)

    @property
    def reads(self) -> Sequence[str]:
        return self._fields

    @property
    def writes(self) -> Sequence[str]:
        return []

    def run(self, state: State, *args: Any, **run_kwargs: Any) -> dict[str, Any]:
        return {key: value for key, value in state.items() if key in self._fields}

    def update(self, result: Any, state: State) -> State:
        return state


class Input(Action):
    """Writes inputs into the state as they are."""

    def __init__(self, *fields: str) -> None:
        self._fields = list(fields)

    @property
    def reads(self) -> Sequence[str]:
        return []

    @property
    def writes(self) -> Sequence[str]:
        return self._fields

    @property
    def inputs(self) -> list[str]:
        return self._fields

    def run(self, state: State, *args: Any, **run_kwargs: Any) -> dict[str, Any]:
        return {key: run_kwargs[key] for key in self._fields}

    def update(self, result: Any, state: State) -> State:
        return state.update(**result)


def named(given: Any, name: str = "") -> Action:
    """An action from a decorated function or an Action. ValueError for anything else, or for an
    Action without a name where none is given."""
    found = getattr(given, "action_function", given)
    if not isinstance(found, Action):
        raise ValueError(f"{given!r} is no action; decorate it with @action or @streaming_action")
    if not name and found.name:
        return found
    own = name or (given.__name__ if found is not given else "")
    if not own:
        raise ValueError(f"{found!r} has no name: with_actions(name=...)")
    return found.with_name(own)
