"""Any small graph: however it is walked, the same happens. Steps taken one by one, iterated, run,
streamed; synchronously or not; with hooks or without; through the names of Burr."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from statecli import GraphBuilder, Hooks, Run, aio, when
from statecli.model.graph import Graph
from statecli.session.run import RunError, Step

NAMES = ("a", "b", "c", "d")
#: A body that never stops is stopped: it raises at this many steps.
MOST = 12


class Shape(NamedTuple):
    """A small graph: of each state its sort of body and its ways (target, n at least)."""

    sorts: tuple[str, ...]
    ways: tuple[tuple[tuple[str, int | None], ...], ...]
    before: tuple[str, ...]
    after: tuple[str, ...]


def body(name: str, sort: str) -> Callable[..., Any]:
    """A body that counts, and says its name where it streams."""

    def delta(data: dict[str, Any]) -> dict[str, Any]:
        if data["n"] >= MOST or sort == "raises":
            raise ValueError(f"{name} at {data['n']}")
        return {"n": data["n"] + 1, "path": [*data["path"], name]}

    def plain(data: dict[str, Any]) -> dict[str, Any]:
        return delta(data)

    async def slow(data: dict[str, Any]) -> dict[str, Any]:
        await asyncio.sleep(0)
        return delta(data)

    def streams(data: dict[str, Any]) -> Iterator[Any]:
        yield f"{name}{data['n']} "
        yield delta(data)

    async def streams_slowly(data: dict[str, Any]) -> AsyncIterator[Any]:
        yield f"{name}{data['n']} "
        await asyncio.sleep(0)
        yield delta(data)

    sorts = {"plain": plain, "raises": plain, "slow": slow, "streams": streams,
             "streams slowly": streams_slowly}  # fmt: skip
    return sorts[sort]


SORTS = ("plain", "plain", "slow", "streams", "streams slowly", "raises")
WAYS = st.lists(
    st.tuples(st.sampled_from(NAMES), st.one_of(st.none(), st.integers(0, 8))), max_size=2
).map(tuple)
HALTS = st.lists(st.sampled_from(NAMES), max_size=2).map(tuple)
SHAPES = st.builds(
    Shape,
    st.tuples(*[st.sampled_from(SORTS)] * 4),
    st.tuples(*[WAYS] * 4),
    HALTS,
    HALTS,
)


def built(shape: Shape) -> Graph:
    states = {name: body(name, sort) for name, sort in zip(NAMES, shape.sorts, strict=True)}
    builder = GraphBuilder().with_states(**states).with_initial("a")
    for name, ways in zip(NAMES, shape.ways, strict=True):
        for target, least in ways:
            guard = [] if least is None else [when(n__gte=least)]
            builder.with_transitions((name, target, *guard))
            if least is None:
                break  # what comes after a way that always holds would be a model's choice
    return builder.build()


def fresh(kind: Any, graph: Graph, **more: Any) -> Any:
    return kind(graph, data={"n": 0, "path": []}, **more)


class Walked(NamedTuple):
    """What came of a walk: its steps, its end, the error, the text, the data, the trace."""

    steps: list[Any]
    end: Any
    error: str
    text: str
    data: dict[str, Any]
    trace: list[Any]


def left(step: Step | None) -> Any:
    return None if step is None else (step.state, step.result, dict(step.data))


def outcome(run: Any, steps: list[Any], end: Any, error: str, text: str = "") -> Walked:
    trace = [event.body for event in run.events]
    return Walked(steps, end, error, text, dict(run.data), trace)


def iterated(run: Run, shape: Shape) -> Walked:
    steps: list[Any] = []
    walk = run.iterate(list(shape.after), list(shape.before))
    try:
        while True:
            steps.append(left(next(walk)))
    except StopIteration as stop:
        return outcome(run, steps, left(stop.value), "")
    except RunError as error:
        return outcome(run, steps, None, str(error))


def stepped(run: Run, shape: Shape) -> Walked:
    """By `step`, with the halts as the document says them."""
    steps: list[Any] = []
    try:
        while True:
            found = run.step()
            steps += [left(found)] if found is not None else []
            if run.status != "running":
                return outcome(run, steps, left(found), "")
            if run.state in shape.before:
                return outcome(run, steps, (run.state, None, dict(run.data)), "")
            if found is not None and found.state in shape.after:
                return outcome(run, steps, left(found), "")
    except RunError as error:
        return outcome(run, steps, None, str(error))


def run_at_once(run: Run, shape: Shape) -> Walked:
    try:
        return outcome(run, [], left(run.run(list(shape.after), list(shape.before))), "")
    except RunError as error:
        return outcome(run, [], None, str(error))


def streamed(run: Run, shape: Shape) -> Walked:
    text = ""
    try:
        for piece in run.stream_result(list(shape.after), list(shape.before)):
            text += piece
    except RunError as error:
        return outcome(run, [], None, str(error), text)
    return outcome(run, [], None, "", text)


async def aiterated(run: Any, shape: Shape) -> Walked:
    steps: list[Any] = []
    try:
        async for step in run.aiterate(list(shape.after), list(shape.before)):
            steps += [left(step)]
    except RunError as error:
        return outcome(run, steps, None, str(error))
    return outcome(run, steps, None, "")


async def arun(run: Any, shape: Shape) -> Walked:
    try:
        return outcome(run, [], left(await run.arun(list(shape.after), list(shape.before))), "")
    except RunError as error:
        return outcome(run, [], None, str(error))


async def astreamed(run: Any, shape: Shape) -> Walked:
    text = ""
    try:
        async for piece in run.astream_result(list(shape.after), list(shape.before)):
            text += piece
    except RunError as error:
        return outcome(run, [], None, str(error), text)
    return outcome(run, [], None, "", text)


@settings(max_examples=100)
@given(SHAPES)
def test_every_face_walks_the_same_way(shape: Shape) -> None:
    graph = built(shape)
    first = iterated(fresh(Run, graph), shape)
    by_step = stepped(fresh(Run, graph), shape)
    assert by_step == first
    whole = run_at_once(fresh(Run, graph), shape)
    assert (whole.end, whole.error, whole.data, whole.trace) == (
        first.end, first.error, first.data, first.trace)  # fmt: skip
    stream = streamed(fresh(Run, graph), shape)
    assert (stream.error, stream.data, stream.trace) == (first.error, first.data, first.trace)
    assert iterated(fresh(Run, graph, hooks=[Hooks()]), shape) == first

    async def main() -> None:
        assert (await aiterated(fresh(Run, graph), shape))._replace(end=first.end) == first
        assert (await aiterated(fresh(aio.Run, graph), shape))._replace(end=first.end) == first
        assert await arun(fresh(aio.Run, graph), shape) == whole
        assert await astreamed(fresh(aio.Run, graph), shape) == stream

    asyncio.run(main())


def tried(run: Run) -> Any:
    """A step, or the text of what went wrong."""
    try:
        return left(run.step())
    except RunError as error:
        return str(error)


@settings(max_examples=60)
@given(SHAPES)
def test_a_walk_may_be_left_and_taken_up_anywhere(shape: Shape) -> None:
    """Dumped and loaded after every step, the data and the way are the same."""
    graph = built(shape)
    whole, parts = fresh(Run, graph), fresh(Run, graph)
    for _ in range(MOST):
        one = tried(whole)
        assert tried(parts) == one
        parts = Run.load(parts.dump(), graph)
        assert (parts.state, parts.status, dict(parts.data)) == (
            whole.state, whole.status, dict(whole.data))  # fmt: skip
        if one is None or isinstance(one, str):
            break


@settings(max_examples=80)
@given(SHAPES)
def test_burrs_names_walk_the_same_way(shape: Shape) -> None:
    """Except where nothing holds: there Burr ends, with a warning."""
    from statecli import burr

    def written(name: str, sort: str) -> Any:
        inner = body(name, "raises" if sort == "raises" else "plain")

        def act(state: burr.State) -> burr.State:
            return state.update(**inner(dict(state)))

        return burr.action(reads=["n", "path"], writes=["n", "path"])(act)

    acts = {name: written(name, sort) for name, sort in zip(NAMES, shape.sorts, strict=True)}
    builder = burr.ApplicationBuilder().with_actions(**acts).with_entrypoint("a")
    for name, state in built(shape).states.items():
        for route in state.transitions:
            condition = burr.default if route.guard is None else burr_when(route.guard)
            builder.with_transitions((name, route.target, condition))
    app = builder.with_state(n=0, path=[]).build()
    ours = iterated(fresh(Run, built(shape)), shape)
    steps, end = walked_by_burr(app, shape)
    if isinstance(end, str):
        assert end in ours.error
    elif ours.error:
        assert "nothing holds" in ours.error
    else:
        assert end == (ours.end[0], ours.end[2])
    assert steps[: len(ours.steps)] == [(name, data) for name, _, data in ours.steps]
    assert dict(app.state) == ours.data


def walked_by_burr(app: Any, shape: Shape) -> tuple[list[Any], Any]:
    """The steps of an application, and its end or the text of what was raised."""
    steps: list[Any] = []
    walk = app.iterate(halt_after=list(shape.after), halt_before=list(shape.before))
    try:
        while True:
            action, _, data = next(walk)
            steps.append((action.name, dict(data)))
    except StopIteration as stop:
        return steps, (stop.value[0].name, dict(stop.value[2]))
    except ValueError as error:
        return steps, str(error)


def burr_when(guard: Any) -> Any:
    from statecli.session.guards import When

    return When(guard)
