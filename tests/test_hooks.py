"""Hooks: what a program hears of a run, in which order, and what happens where they raise."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from statecli import GraphBuilder, Hooks, Run, aio, when
from statecli.model.event import Event
from statecli.model.graph import Graph
from statecli.session.run import RunError


class Heard(Hooks):
    """Writes down what it hears, as lines."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.events: list[Event] = []

    def before_step(self, *, run: Any, state: str, data: Any, inputs: Any) -> None:
        assert run.state
        self.lines.append(f"before {state} {dict(data)} {dict(inputs)}")

    def after_step(self, *, run: Any, state: str, result: Any, data: Any, error: Any) -> None:
        told = f" {type(error).__name__}: {error}" if error is not None else ""
        self.lines.append(f"after {state} {result} {dict(data)}{told}")

    def on_item(self, *, run: Any, state: str, text: str) -> None:
        self.lines.append(f"item {state} {text}")

    def on_event(self, *, run: Any, event: Event) -> None:
        assert run is None or event in run.events, "it is stored"
        self.events.append(event)


class Slow(Heard):
    """The same, but its methods have to wait."""

    async def before_step(self, **more: Any) -> None:  # type: ignore[override]
        await asyncio.sleep(0)
        super().before_step(**more)

    async def after_step(self, **more: Any) -> None:  # type: ignore[override]
        await asyncio.sleep(0)
        super().after_step(**more)

    async def on_item(self, **more: Any) -> None:  # type: ignore[override]
        await asyncio.sleep(0)
        super().on_item(**more)

    async def on_event(self, **more: Any) -> None:  # type: ignore[override]
        await asyncio.sleep(0)
        super().on_event(**more)


def add(data: dict[str, Any], by: int = 1) -> dict[str, Any]:
    return {"n": data["n"] + by}


def speak(data: dict[str, Any]) -> Iterator[Any]:
    yield "one "
    yield "two"
    yield {"said": True}


async def slowly(data: dict[str, Any]) -> AsyncIterator[Any]:
    for piece in speak(data):
        await asyncio.sleep(0)
        yield piece


def graph(speaks: Any = speak) -> Graph:
    return (
        GraphBuilder().with_states(add=add, speak=speaks).with_transitions(("add", "speak")).build()
    )


HEARD = [
    "before add {'n': 0} {'by': 2}",
    "after add {'n': 2} {'n': 2}",
    "before speak {'n': 2} {}",
    "item speak one ",
    "item speak two",
    "after speak {'said': True} {'n': 2, 'said': True}",
]


def went(hooks: list[Hooks], face: str, speaks: Any) -> list[str]:
    """Walk the graph to its end, synchronously or not; the names of its events."""
    if face == "sync":
        run = Run(graph(speaks), data={"n": 0}, hooks=hooks)
        run.run(inputs={"by": 2})
        return [event.name for event in run.events]

    async def main() -> list[str]:
        run = aio.Run(graph(speaks), data={"n": 0}, hooks=hooks)
        await run.run(inputs={"by": 2})
        return [event.name for event in run.events]

    return asyncio.run(main())


@pytest.mark.parametrize("speaks", [speak, slowly])
@pytest.mark.parametrize("kind", [Heard, Slow])
@pytest.mark.parametrize("face", ["sync", "async"])
def test_what_is_heard_and_in_which_order(face: str, kind: type[Heard], speaks: Any) -> None:
    heard = kind()
    names = went([heard], face, speaks)
    assert heard.lines == HEARD
    assert [event.name for event in heard.events] == names
    assert [event.number for event in heard.events] == list(range(1, len(names) + 1))


def test_a_run_with_hooks_has_the_trace_of_one_without() -> None:
    assert went([Heard(), Slow()], "sync", speak) == went([], "sync", speak)


def test_several_are_called_in_their_order() -> None:
    order: list[str] = []

    class Named(Hooks):
        def __init__(self, name: str) -> None:
            self.name = name

        def before_step(self, **more: Any) -> None:
            order.append(f"before {self.name}")

        async def after_step(self, **more: Any) -> None:
            order.append(f"after {self.name}")

    Run(graph(), data={"n": 0}, hooks=[Named("a"), Named("b")]).step()
    assert order == ["before a", "before b", "after a", "after b"]


def test_hooks_do_nothing_by_themselves() -> None:
    assert went([Hooks()], "async", slowly) == went([], "async", slowly)


def broken(data: dict[str, Any]) -> Any:
    raise KeyError("x")


async def slowly_broken(data: dict[str, Any]) -> Any:
    raise KeyError("x")


def odd(data: dict[str, Any]) -> Any:
    return 7


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (broken, "KeyError: 'x'"),
        (slowly_broken, "KeyError: 'x'"),
        (odd, "TypeError: 'a' gives back a int: a mapping of fields, or nothing"),
    ],
)
def test_after_step_is_told_what_a_body_raised(body: Any, told: str) -> None:
    heard = Heard()
    run = Run(GraphBuilder().with_states(a=body).build(), data={"n": 1}, hooks=[heard])
    with pytest.raises(RunError):
        run.step()
    assert heard.lines == ["before a {'n': 1} {}", f"after a None {{'n': 1}} {told}"]
    assert heard.events[-1].name == "failed"


def test_after_step_is_told_that_nothing_held() -> None:
    heard = Heard()
    builder = GraphBuilder().with_states(a=add, b=add)
    built = builder.with_transitions(("a", "b", when(n=5))).build()
    with pytest.raises(RunError):
        Run(built, data={"n": 1}, hooks=[heard]).step()
    assert heard.lines[1].startswith("after a None {'n': 2} RunError: a: nothing holds in 'a'")


def test_what_cannot_be_stored_is_told_too(tmp_path: Any) -> None:
    from statecli.store.sqlite import SqliteStore

    heard = Heard()
    built = GraphBuilder().with_states(a=lambda data: {"x": object()}).build()
    run = Run(built, store=SqliteStore(tmp_path / "s.db"), hooks=[heard])
    with pytest.raises(RunError):
        run.step()
    assert "which cannot be stored" in heard.lines[-1]
    assert [event.name for event in heard.events] == [event.name for event in run.events]


class Stops(Hooks):
    """Raises from one of its methods."""

    def __init__(self, name: str, calls: Callable[[Any], bool] = lambda _: True) -> None:
        self.calls = calls
        setattr(self, name, self.raises)

    def raises(self, **more: Any) -> None:
        if self.calls(more):
            raise ZeroDivisionError("mine")


@pytest.mark.parametrize("speaks", [speak, slowly])
@pytest.mark.parametrize("name", ["before_step", "after_step", "on_item", "on_event"])
def test_what_a_hook_raises_comes_out_as_it_is(name: str, speaks: Any) -> None:
    broken = [True]
    hook = Stops(name, lambda more: bool(broken) and more.get("state") != "add"
                 and getattr(more.get("event"), "number", 9) > 5)  # fmt: skip
    heard = Heard()
    run = Run(graph(speaks), data={"n": 0}, hooks=[heard, hook])
    run.step()
    with pytest.raises(ZeroDivisionError, match="mine"):
        run.step()
    befores = sum(line.startswith("before speak") for line in heard.lines)
    assert befores == sum(line.startswith("after speak") for line in heard.lines)
    broken.clear()
    run.run()
    assert run.status == "ended", "it goes on from where it stood"
    assert dict(run.data) == {"n": 1, "said": True}
    assert [event.number for event in heard.events] == list(range(1, len(run.events) + 1))


def test_before_step_keeps_a_body_from_running() -> None:
    ran: list[str] = []
    built = GraphBuilder().with_states(a=lambda data: ran.append("a")).build()
    run = Run(built, hooks=[Stops("before_step")])
    before = run.events
    with pytest.raises(ZeroDivisionError):
        run.step()
    assert (ran, run.events, run.status) == ([], before, "running")


def test_a_stream_that_is_closed_ends_its_step() -> None:
    heard = Heard()
    run = Run(graph(), data={"n": 0}, hooks=[heard])
    run.step()
    stream = run.stream_result()
    assert next(stream) == "one "
    stream.close()  # type: ignore[attr-defined]
    assert heard.lines[-1] == "after speak None {'n': 1} RunError: speak: broken off"


def test_a_step_that_is_cancelled_is_told() -> None:
    async def forever(data: dict[str, Any]) -> None:
        await asyncio.sleep(1000)

    heard = Heard()

    async def main() -> None:
        run = aio.Run(GraphBuilder().with_states(forever).build(), hooks=[heard])
        task = asyncio.create_task(run.step())
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert run.status == "interrupted"
        again = asyncio.create_task(run.step())
        await asyncio.sleep(0.01)
        assert "interrupted" in [event.name for event in heard.events], "told when it goes on"
        again.cancel()

    asyncio.run(main())
    assert heard.lines[:2] == [
        "before forever {} {}",
        "after forever None {} RunError: forever: broken off",
    ]


@pytest.mark.parametrize("kind", [Heard, Slow])
def test_what_happens_between_steps_is_told(kind: type[Heard]) -> None:
    heard = kind()
    run = Run(graph(), data={"n": 0}, hooks=[heard])
    run.transition("speak")
    known = [] if kind is Slow else ["started", "jumped"]
    assert [event.name for event in heard.events] == known
    run.step()
    assert [event.name for event in heard.events] == [event.name for event in run.events]


def test_forks_and_loaded_runs_tell_what_is_new() -> None:
    heard = Heard()
    run = Run(graph(), data={"n": 0}, hooks=[heard])
    run.step()
    known = len(heard.events)
    fork = run.fork()
    fork.step()
    new = heard.events[known:]
    assert [event.number for event in new] == list(range(known + 1, len(fork.events) + 1))
    again = Heard()
    loaded = Run.load(json.loads(json.dumps(run.dump())), graph(), hooks=[again])
    assert again.events == []
    loaded.step()
    assert [event.number for event in again.events] == [event.number for event in new]


def test_branches_side_by_side() -> None:
    """Each body has its own before and after, with the data as its branch sees it."""

    async def left(data: dict[str, Any]) -> AsyncIterator[Any]:
        yield "l"
        await asyncio.sleep(0)
        yield {"left": True}

    async def right(data: dict[str, Any]) -> AsyncIterator[Any]:
        yield "r"
        yield {"right": True}

    built = (
        GraphBuilder()
        .with_states(start=lambda data: {}, left=left, right=right, end=lambda data: {"end": True})
        .with_transitions(("start", "left"), ("start", "right"), (["left", "right"], "end"))
        .with_fanout("start")
        .with_join("end")
        .build()
    )
    heard = Slow()
    run = Run(built, hooks=[heard])
    run.run()
    lines = heard.lines
    assert set(lines[2:8]) == {
        "before left {} {}", "before right {} {}", "item left l", "item right r",
        "after left {'left': True} {'left': True}", "after right {'right': True} {'right': True}",
    }  # fmt: skip
    assert lines[8:] == [
        "before end {'left': True, 'right': True} {}",
        "after end {'end': True} {'left': True, 'right': True, 'end': True}",
    ]
    assert [event.number for event in heard.events] == list(range(1, len(run.events) + 1))
