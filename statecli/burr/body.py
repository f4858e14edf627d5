"""An action as the body of one of our states: the data in, an `Outcome` out."""

from __future__ import annotations

import inspect
import logging
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import Any

from statecli.burr.action import Action, FunctionAction
from statecli.burr.state import State
from statecli.session.function import Item, Outcome

#: The input that the application gives by itself: an `ApplicationContext`.
CONTEXT = "__context"
log = logging.getLogger("statecli.burr")


def body_of(action: Action) -> Callable[..., Any]:
    """The function of the data (and inputs) that runs an action once."""
    if action.streaming:
        body = _streamed_async(action) if action.is_async() else _streamed(action)
    else:
        body = _awaited(action) if action.is_async() else _called(action)
    told: Any = body
    told.__name__, told.__doc__ = action.name, inspect.getdoc(_source(action))
    told.__signature__ = inspect.Signature(_parameters(action))
    told.reads, told.writes = tuple(action.reads), tuple(action.writes)
    told.source = _source(action)
    return body


def _source(action: Action) -> Any:
    return action.source if isinstance(action, FunctionAction) else type(action)


def _parameters(action: Action) -> list[inspect.Parameter]:
    """What the body takes: the data, required inputs, optional inputs (left out if not given)."""
    kind = inspect.Parameter.KEYWORD_ONLY
    required, optional = action.optional_and_required_inputs
    return [
        inspect.Parameter("data", inspect.Parameter.POSITIONAL_ONLY),
        *(inspect.Parameter(name, kind) for name in sorted(required)),
        *(inspect.Parameter(name, kind, default=None) for name in sorted(optional)),
    ]


def _runner(action: Action, run: Callable[..., Any]) -> Callable[..., Any]:
    """The function to call, with a ``__context`` under the name that a class gives it."""
    if CONTEXT not in set().union(*action.optional_and_required_inputs):
        return run
    taken = inspect.signature(run).parameters
    own = next((name for name in taken if name.endswith(CONTEXT)), CONTEXT)

    def called(state: State, **inputs: Any) -> Any:
        context = inputs.pop(CONTEXT, None)
        return run(state, **inputs, **({own: context} if context is not None else {}))

    return called


def _called(action: Action) -> Callable[..., Any]:
    run = _runner(action, action.run)

    def body(data: dict[str, Any], **inputs: Any) -> Outcome:
        state = State(data)
        return _done(action, state, run(_seen(action, state), **inputs))

    return body


def _awaited(action: Action) -> Callable[..., Any]:
    run = _runner(action, action.run)

    async def body(data: dict[str, Any], **inputs: Any) -> Outcome:
        state = State(data)
        return _done(action, state, await run(_seen(action, state), **inputs))

    return body


def _streamed(action: Any) -> Callable[..., Any]:
    def body(data: dict[str, Any], **inputs: Any) -> Iterator[Any]:
        stream = _Stream(action, State(data))
        items = iter(stream.begun(inputs))
        try:
            while True:
                yield from stream.taken(next(items))
        except StopIteration as stop:
            if stop.value is not None:  # it may return what it yields last
                yield from stream.taken(stop.value)
        yield stream.end()

    return body


def _streamed_async(action: Any) -> Callable[..., Any]:
    async def body(data: dict[str, Any], **inputs: Any) -> AsyncIterator[Any]:
        stream = _Stream(action, State(data))
        async for item in stream.begun(inputs):
            for piece in stream.taken(item):
                yield piece
        yield stream.end()

    return body


class _Stream:
    """The results of a streaming action on their way."""

    def __init__(self, action: Any, state: State) -> None:
        self.action = action
        self.state = state
        self.whole = isinstance(action, FunctionAction)
        self.last: Any = None

    def begun(self, inputs: Mapping[str, Any]) -> Any:
        run = self.action.run if self.whole else self.action.stream_run
        return _runner(self.action, run)(self.state, **inputs)

    def taken(self, item: Any) -> Iterator[Item]:
        """What is passed on: of a function all but the item with the state, else all but the last
        one. ValueError for an item that is neither a result nor (result, state or None)."""
        if not self.whole:
            if self.last is not None:
                yield Item(self.last)
            self.last = item
            return
        if not isinstance(item, tuple):
            item = (item, None)
        if len(item) != 2 or not isinstance(item[0], Mapping):
            raise ValueError(f"'{self.action.name}' yields a result or (result, state), "
                             f"not {item!r}")  # fmt: skip
        if item[1] is None:
            yield Item(item[0])
        else:
            self.last = item

    def end(self) -> Outcome:
        if self.last is None:
            raise ValueError(f"'{self.action.name}' gave no state: the last thing that a streaming "
                             "action yields is (result, state)")  # fmt: skip
        return _done(self.action, self.state, self.last)


def _seen(action: Action, state: State) -> State:
    """What `run` sees: an object what it reads, a function all of it (as in Burr, measured)."""
    return state if isinstance(action, FunctionAction) else state.subset(*action.reads)


def _done(action: Action, state: State, found: Any) -> Outcome:
    """What came of an action. ValueError for what is no result or no state, for keys that it
    declares but did not write, and for new ones that an object does not declare."""
    whole = isinstance(action, FunctionAction)
    if whole:
        result, after = found if isinstance(found, tuple) and len(found) == 2 else ({}, found)
    else:
        result = found
        after = action.update(result, state) if isinstance(found, dict) else None
    if not isinstance(result, dict):
        raise ValueError(f"'{action.name}' has the result {result!r}: it has to be a dictionary")
    if not isinstance(after, State):
        raise ValueError(f"'{action.name}' must give back the new State, or (result, State), "
                         f"not {found!r}")  # fmt: skip
    values = after.get_all()
    missing = [key for key in action.writes if key not in values]
    if missing:
        raise ValueError(f"'{action.name}' did not write {', '.join(missing)}, which it declares")
    before = state.get_all()
    new = [key for key in values if key not in before and key not in action.writes]
    if new:
        told = f"'{action.name}' writes {', '.join(new)}, which it does not declare"
        if not whole:
            raise ValueError(told)
        log.warning("%s", told)
    return Outcome(result, *_changes(before, values))


def _changes(
    before: Mapping[str, Any], after: Mapping[str, Any]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """What an update put into the state, and what it wiped. Only that: a value that was changed in
    place is no update."""
    delta = {k: v for k, v in after.items() if k not in before or before[k] is not v}
    return delta, tuple(key for key in before if key not in after)
