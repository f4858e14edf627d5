"""What a program that uses the library gets wrong, or that happens to it: said where it is."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, StrEnum
from pathlib import Path
from typing import Annotated, Any, Generic, TypedDict, TypeVar
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from pydantic import BaseModel, Field

from statecli import GraphBuilder, Hooks, Run, aio, expr, load, when
from statecli.model.graph import Graph
from statecli.model.ports import Batch
from statecli.model.unable import Unable
from statecli.session.walk import RunError, Stuck
from statecli.store.memory import MemoryStore
from statecli.store.rows import _READ, from_json, loaded
from statecli.store.sqlite import SqliteStore
from statecli.store.standard import READ


def _nothing(data: Any) -> dict[str, Any]:
    return {}


def _two(body: Any, schema: Any = None) -> Graph:
    """A state with this body, and one after it."""
    built = GraphBuilder().with_states(a=body, b=_nothing).with_transitions(("a", "b"))
    return (built.with_schema(schema) if schema else built).build()


def _bodies() -> dict[str, Any]:
    """The ways to write a body that takes its time."""

    def plain(data: Any) -> Any:
        return {"n": data.get("n", 0) + 1}

    async def waits(data: Any) -> Any:
        await asyncio.sleep(0)
        return plain(data)

    def streams(data: Any) -> Any:
        yield "text"
        yield plain(data)

    return {"plain": plain, "async": waits, "stream": streams}


# --- a stored run goes on ----------------------------------------------------------------------


def _chain(body: Any) -> Graph:
    names = ["one", "two", "three"]
    built = GraphBuilder().with_states(**dict.fromkeys(names, body), end=_nothing)
    return built.with_transitions(("one", "two"), ("two", "three"), ("three", "end")).build()


@pytest.mark.parametrize("kind", ["plain", "async", "stream"])
@pytest.mark.parametrize("steps", [0, 1, 2, 4])
def test_a_run_of_a_store_goes_on_in_another_process(tmp_path: Path, kind: str, steps: int) -> None:
    graph = _chain(_bodies()[kind])
    run = Run(graph, store=SqliteStore(str(tmp_path / "s.db")))
    for _ in range(steps):
        run.step()
    again = Run.resume(graph, SqliteStore(tmp_path / "s.db"), run.id)
    assert (again.id, again.state, dict(again.data)) == (run.id, run.state, dict(run.data))
    again.run()
    assert (again.status, again.data["n"]) == ("ended", 3)


def test_a_run_with_branches_goes_on_from_each_point_of_its_store() -> None:
    graph = (
        GraphBuilder()
        .with_states(s=_nothing, one=lambda data: {"one": 1}, two=lambda data: {"two": 2})
        .with_states(join=lambda data: {"sum": data["one"] + data["two"]})
        .with_transitions(("s", "one"), ("s", "two"), (["one", "two"], "join"))
        .with_fanout("s")
        .with_join("join")
        .build()
    )
    whole = Run(graph)
    whole.run()
    for number in range(1, len(whole.events) + 1):
        store = MemoryStore()
        left = Run(graph, store=store)  # stored up to here, and then the process died
        for row in whole.events[1:number]:
            left._session.record([row.body])
        again = Run.resume(graph, store, left.id)
        again.run()
        assert (again.status, dict(again.data)) == ("ended", {"one": 1, "two": 2, "sum": 3})


def test_resuming_what_is_not_there() -> None:
    store = MemoryStore()
    run = Run(_chain(_nothing), store=store, task_id="talk-1")
    with pytest.raises(KeyError, match="talk-1"):
        Run.resume(run.graph, store, "talk-2")
    run.step()
    with pytest.raises(ValueError, match="'two'"):
        Run.resume(_two(_nothing), store, run.id)


# --- one store, many threads; one run, one walker ----------------------------------------------


def test_threads_share_a_store(tmp_path: Path) -> None:
    store, failed = SqliteStore(tmp_path / "s.db"), []

    def walk(graph: Graph) -> None:
        try:
            for _ in range(10):
                Run(graph, store=store).run()
        except Exception as error:
            failed.append(error)

    graphs = [_chain(body) for body in _bodies().values()]
    threads = [threading.Thread(target=walk, args=(graph,)) for graph in graphs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert [stored.status for stored in store.runs()] == ["ended"] * 30


@pytest.mark.parametrize("kind", ["plain", "async", "stream"])
def test_no_step_begins_while_another_one_runs(kind: str) -> None:
    inner, said = _bodies()[kind], []
    holder: list[Any] = []

    def body(data: Any) -> Any:
        try:
            holder[0].step()
        except RuntimeError as error:
            said.append(str(error))
        return inner(data) if kind == "plain" else None

    async def waiting(data: Any) -> Any:
        await asyncio.sleep(0)
        return {"n": 1}

    holder.append(Run(_two(body)))
    holder[0].step()
    assert ["is at work" in text for text in said] == [True]
    assert holder[0].state == "b"

    async def both() -> Any:
        run = aio.Run(_two(waiting))
        found = await asyncio.gather(run.step(), run.step(), return_exceptions=True)
        return [type(one).__name__ for one in found], run.state

    assert asyncio.run(both()) == (["Step", "RuntimeError"], "b")


# --- taken back ---------------------------------------------------------------------------------


def _diamond(body: Any) -> Graph:
    return (
        GraphBuilder()
        .with_states(s=body, one=body, two=body, join=body)
        .with_fields(n={"type": "int", "reducer": "increment", "default": 0})
        .with_transitions(("s", "one"), ("s", "two"), (["one", "two"], "join"))
        .with_fanout("s")
        .with_join("join")
        .build()
    )


async def _waits(data: Any) -> Any:
    await asyncio.sleep(0)
    return {"n": 1}


def _tells(data: Any) -> Any:
    yield "text"
    yield {"n": 1}


@pytest.mark.parametrize("graph", [_chain, _diamond])
@pytest.mark.parametrize("body", [lambda data: {"n": 1}, _waits, _tells])
def test_undo_goes_back_to_any_event_and_the_run_ends_as_if_nothing_had_been(
    graph: Any, body: Any
) -> None:
    made = graph(body)
    whole = Run(made)
    whole.run()
    for number in range(1, len(whole.events) + 1):
        heard = Heard()
        run = Run(made, hooks=[heard])
        run.run()
        before = len(run.events)
        assert run.undo(number) is (number < before)
        kept = [event.body for event in run.events[:before]]
        assert kept == [event.body for event in whole.events]
        assert heard.numbers == [event.number for event in run.events]
        again = Run.load(run.dump(), made)
        for one in (run, again):
            one.run()
            assert (one.status, one.data) == ("ended", whole.data)


class Heard(Hooks):
    """The numbers of the events that a hook is told of."""

    def __init__(self) -> None:
        self.numbers: list[int] = []

    def on_event(self, *, run: Any, event: Any) -> None:
        self.numbers.append(event.number)


@pytest.mark.parametrize("kind", ["plain", "async", "stream"])
def test_undo_takes_the_last_step_back_until_there_is_none(kind: str) -> None:
    run = Run(_chain(_bodies()[kind]))
    run.run()
    stood = []
    while run.undo():
        stood.append((run.state, run.status, run.data.get("n", 0), run.last))
    assert stood == [(name, "running", n, None) for name, n in
                     [("end", 3), ("three", 2), ("two", 1), ("one", 0)]]  # fmt: skip
    run.run()
    assert (run.status, run.data["n"]) == ("ended", 3)


def test_undo_takes_a_failed_step_back_and_no_step_that_waits_to_be_given_out() -> None:
    def odd(data: Any) -> Any:
        raise OSError

    run = Run(_two(odd))
    with pytest.raises(RunError):
        run.step()
    assert run.undo()
    assert (run.status, run.state) == ("running", "a")

    split = Run(_diamond(lambda data: {"n": 1}))
    split.step()
    first = split.step()
    assert first is not None
    assert first.state == "one"  # the round is done, and the step of two not given out
    assert split.undo()
    second = split.step()
    assert second is not None
    assert (second.state, split.data["n"]) == ("two", 3)


def test_undo_of_what_was_said_goes_to_the_wait_before_it() -> None:
    text = "initial: ask\nstates:\n  ask: {type: user, transition: {next: [ask]}}\n"
    graph = load("g.yaml", text).graph
    assert graph is not None
    run = Run(graph)
    run.step({"line": "one"})
    stood = run.status, run.data
    run.step({"line": "two"})
    assert run.undo()
    assert (run.status, run.data) == stood
    assert [message["content"] for message in run.data["messages"]] == ["one"]
    assert run.undo()
    assert not run.undo()


def test_undo_of_what_is_not_there() -> None:
    run = Run(_chain(_nothing))
    assert not run.undo()
    run.run()
    last = len(run.events)
    run.undo(2)
    for number in (0, last, 99):
        with pytest.raises(ValueError, match=f"back to event {number}: "):
            run.undo(number)

    def body(data: Any) -> Any:
        holder[0].undo()

    holder = [Run(_two(body))]
    with pytest.raises(RunError, match="between two steps"):
        holder[0].step()


# --- broken off from outside -------------------------------------------------------------------


class _Struck(BaseException):
    pass


def _struck_once(kind: str, error: BaseException) -> Any:
    """A body that is broken off the first time it runs."""
    called = []

    def plain(data: Any) -> Any:
        called.append(1)
        if len(called) == 1:
            raise error
        return {"n": data.get("n", 0) + 1}

    async def waits(data: Any) -> Any:
        await asyncio.sleep(0)
        return plain(data)

    def streams(data: Any) -> Any:
        yield "text"
        yield plain(data)

    async def streams_later(data: Any) -> Any:
        yield "text"
        await asyncio.sleep(0)
        yield plain(data)

    class Object:
        def execute(self, machine: Any, data: Any) -> str:
            data.update(plain(data))
            return "b"

    bodies = {"plain": plain, "async": waits, "stream": streams, "late": streams_later}
    return bodies.get(kind) or Object()


@pytest.mark.parametrize("how", ["step", "stream", "arun"])
@pytest.mark.parametrize("kind", ["plain", "async", "stream", "late", "object"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, _Struck])
def test_a_step_that_is_broken_off_begins_anew(
    tmp_path: Path, how: str, kind: str, error: type[BaseException]
) -> None:
    """Ctrl-C and the like: the store says so, and the run goes on, here or in another process."""
    graph = _two(_struck_once(kind, error()))
    run = Run(graph, store=SqliteStore(tmp_path / "s.db"))
    walk: dict[str, Any] = {
        "step": run.step,
        "stream": lambda: list(run.stream_result(halt_after=["a"])),
        "arun": lambda: asyncio.run(run.arun()),
    }
    with pytest.raises(error):
        walk[how]()
    assert (run.status, run.state, dict(run.data)) == ("interrupted", "a", {})
    assert [event.name for event in run.events] == ["started", "interrupted"]
    other = Run.resume(graph, SqliteStore(tmp_path / "s.db"), run.fork().id)
    for one in (run, other):
        assert one.step() is not None
        assert (one.status, one.state, dict(one.data)) == ("running", "b", {"n": 1})


@pytest.mark.parametrize("how", ["step", "stream", "arun"])
@pytest.mark.parametrize("kind", ["plain", "async", "late"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, _Struck, asyncio.CancelledError])
def test_a_branch_that_is_broken_off_begins_anew_and_the_others_with_it(
    how: str, kind: str, error: type[BaseException]
) -> None:
    async def other(data: Any) -> Any:
        await asyncio.sleep(0)
        return {"m": 1}

    graph = (
        GraphBuilder()
        .with_states(s=_nothing, one=_struck_once(kind, error()), two=other, join=_nothing)
        .with_transitions(("s", "one"), ("s", "two"), (["one", "two"], "join"))
        .with_fanout("s")
        .with_join("join")
        .build()
    )
    run = Run(graph)
    run.step()
    walk: dict[str, Any] = {
        "step": run.step,
        "stream": lambda: list(run.stream_result()),
        "arun": lambda: asyncio.run(run.arun()),
    }
    with pytest.raises(error):
        walk[how]()
    assert run.status == "interrupted"
    run.run()
    assert (run.status, dict(run.data)) == ("ended", {"n": 1, "m": 1})


@pytest.mark.parametrize("how", ["step", "stream"])
def test_what_breaks_the_event_loop_off_leaves_nothing_at_work_in_it(how: str) -> None:
    """Ctrl-C while a body waits is raised by the loop, not by the body."""
    called = []

    def strike() -> None:
        raise KeyboardInterrupt

    async def body(data: Any) -> Any:
        called.append(1)
        if len(called) == 1:
            asyncio.get_running_loop().call_soon(strike)
            await asyncio.sleep(60)
        return {"n": len(called)}

    run = Run(_two(body))
    with pytest.raises(KeyboardInterrupt):
        run.step() if how == "step" else list(run.stream_result())
    assert (run.status, run.state) == ("interrupted", "a")
    run.run()
    assert (run.status, dict(run.data)) == ("ended", {"n": 2})


# --- data that cannot be kept ------------------------------------------------------------------


class _Own:
    def __deepcopy__(self, memo: Any) -> _Own:
        return self


def _circle() -> Any:
    found: list[Any] = []
    found.append(found)
    return found


@pytest.mark.parametrize("kind", ["plain", "async", "stream"])
@pytest.mark.parametrize("value", [_Own(), 10**5000, _circle()], ids=["own", "digits", "circle"])
def test_a_value_that_cannot_be_stored_fails_its_step(
    tmp_path: Path, kind: str, value: Any
) -> None:
    def plain(data: Any) -> Any:
        return {"v": value}

    async def waits(data: Any) -> Any:
        return {"v": value}

    def streams(data: Any) -> Any:
        yield {"v": value}

    body = {"plain": plain, "async": waits, "stream": streams}[kind]
    run = Run(_two(body), store=SqliteStore(tmp_path / "s.db"))
    with pytest.raises(RunError):
        run.step()
    assert (run.status, dict(run.data)) == ("failed", {})
    assert [event.name for event in run.events] == ["started", "failed"]


class _Color(Enum):
    RED = "r"


class _Word(StrEnum):
    YES = "y"


KEPT = [
    datetime(2026, 12, 1, 3, 4, 5, 6), datetime(2026, 12, 1, tzinfo=UTC),
    datetime(2026, 10, 25, 2, 30, tzinfo=ZoneInfo("Europe/Berlin"), fold=1),
    date(2026, 12, 1), time(3, 4), timedelta(1, 2, 3), Path("a/b"), Decimal("1.50"),
    UUID(int=7), _Color.RED, _Word.YES, {1, 2}, frozenset({"a"}), (1, (2, [3])), b"x",
    {_Color.RED: 1, 2: "two"}, {date(2026, 1, 1)}, [Decimal("NaN").is_nan(), float("inf")],
    {"$date": "no date"},
]  # fmt: skip


@pytest.mark.parametrize("value", KEPT, ids=repr)
def test_a_value_of_pythons_own_library_is_kept_as_it_is(tmp_path: Path, value: Any) -> None:
    """Given, written by a body, edited; read from a store, a dump, the history."""
    seen = []

    def body(data: Any) -> Any:
        seen.append(data["given"])
        return {"made": value, "deep": [{"x": value}]}

    graph = _two(body)
    run = Run(graph, store=SqliteStore(tmp_path / "s.db"), data={"given": value})
    run.step()
    run.edit({"edited": value})
    want = {"given": value, "made": value, "deep": [{"x": value}], "edited": value}
    saved = json.loads(json.dumps(run.dump()))
    held = [
        run.data,
        Run.load(saved, graph).data,
        Run.load({**saved, "statecli": None}, graph).data,
        run.history().at(len(run.events)),
        run.fork().data,
        Run.resume(graph, SqliteStore(tmp_path / "s.db"), run.id).data,
    ]
    assert seen == [value]
    for data in held:
        assert repr(dict(data)) == repr(want) or data == want
        assert type(data["deep"][0]["x"]) is type(value)
    if isinstance(value, datetime):
        assert (held[-1]["made"].fold, held[-1]["made"].tzinfo) == (value.fold, value.tzinfo)


def test_a_member_of_an_enum_that_nobody_has_loaded_is_its_value(tmp_path: Path) -> None:
    graph = _two(_nothing)
    run = Run(graph, store=SqliteStore(tmp_path / "s.db"), data={"color": _Color.RED})
    text = json.dumps(run.dump()).replace("_Color", "os.path.sep.gone")
    assert Run.load(json.loads(text), graph).data["color"] == "r"


def test_a_member_that_an_enum_has_no_more_is_its_value() -> None:
    graph = _two(_nothing)
    run = Run(graph, data={"color": _Color.RED})
    text = json.dumps(run.dump()).replace('"r"', '"gone"')
    assert Run.load(json.loads(text), graph).data["color"] == "gone"


DAMAGED: tuple[Any, ...] = (
    7,
    None,
    "?",
    [],
    [1, 2, 3],
    [[]],
    {},
    ["2026-12-01T00:00:00", "No/Where", 0],
)


@pytest.mark.parametrize("key", [*_READ, *READ])
@pytest.mark.parametrize("written", DAMAGED, ids=repr)
def test_a_damaged_value_is_read_as_another_one_or_told(key: str, written: Any) -> None:
    """Whatever somebody wrote into a store or a dump: no error but a ValueError leaves."""
    with contextlib.suppress(ValueError):
        from_json({key: written})
    with contextlib.suppress(ValueError):
        loaded("edited", json.dumps({"key": "x", "value": {key: written}}))


def _inside() -> Any:
    class Color(Enum):
        RED = "r"

    return Color.RED


@pytest.mark.parametrize(
    "value",
    [_Own(), complex(1), bytearray(b"x"), range(3), _inside()],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize("deep", [False, True])
def test_what_cannot_be_stored_is_refused_when_it_is_given(
    tmp_path: Path, value: Any, deep: bool
) -> None:
    data = {"outer": [{"field": value}]} if deep else {"field": value}
    with pytest.raises(TypeError, match=r"^'field' holds a \w+, which cannot be stored: use"):
        Run(_two(_nothing), store=SqliteStore(tmp_path / "s.db"), data=data)
    assert SqliteStore(tmp_path / "s.db").runs() == []
    run = Run(_two(_nothing), store=SqliteStore(tmp_path / "s.db"))
    with pytest.raises(TypeError, match=r"^'field' holds a \w+, which cannot be stored: use"):
        run.edit(data)
    assert dict(run.data) == {}


@dataclass
class _Inner:
    x: int = 1


@dataclass
class _Outer:
    color: _Color = _Color.RED
    inner: _Inner = field(default_factory=_Inner)
    many: list[_Inner] = field(default_factory=lambda: [_Inner(2)])
    named: dict[str, _Inner] = field(default_factory=dict)
    pair: tuple[_Inner, int] = (_Inner(3), 4)
    maybe: _Inner | None = None
    when: date = date(2026, 1, 1)


class _Keys(TypedDict):
    color: _Color
    maybe: _Inner | None


def _same_again(data: Any) -> Any:
    return data if isinstance(data, dict) else dict(vars(data))


@pytest.mark.parametrize("kind", ["schema", "instance"])
def test_dataclasses_and_members_in_a_dataclass_come_back_as_they_are(
    tmp_path: Path, kind: str
) -> None:
    first = _Outer(named={"a": _Inner(5)}, maybe=_Inner(6))
    seen = []

    def body(data: Any) -> Any:
        seen.append(data)
        return _same_again(data)

    graph = _two(body, _Outer) if kind == "schema" else _two(body)
    given: Any = first if kind == "instance" else _same_again(first)
    run = Run(graph, store=SqliteStore(tmp_path / "s.db"), data=given)
    run.step()
    again = run.fork()
    again.undo()
    again.step()
    assert seen == [first, first]
    assert run.data["inner"] == {"x": 1}


def test_a_typed_dict_gives_members_and_dataclasses_too(tmp_path: Path) -> None:
    seen = []

    def body(data: Any) -> Any:
        seen.append(data)
        return _same_again(data)

    first = {"color": _Color.RED, "maybe": _Inner(6)}
    run = Run(_two(body, _Keys), store=SqliteStore(tmp_path / "s.db"), data=first)
    run.step()
    assert seen == [first]


# --- models in models --------------------------------------------------------------------------


@dataclass
class _Many:
    few: Sequence[_Inner] = ()
    pair: tuple[_Color, int] = (_Color.RED, 0)
    any_: tuple[_Color, ...] = ()


@pytest.mark.parametrize("row", [list, tuple])
def test_a_list_or_tuple_keeps_all_of_its_items(row: Any) -> None:
    """Whatever the annotation says of how many there are."""
    seen = []

    def body(data: _Many) -> Any:
        seen.append(data)
        return {}

    rows = {"few": row([{"x": 1}, {"x": 2}]), "pair": row(["r", 3]), "any_": row(["r", "r"])}
    Run(GraphBuilder().with_states(a=body).with_data_type(_Many).build(), data=rows).step()
    assert list(seen[0].few) == [_Inner(1), _Inner(2)]
    assert seen[0].pair == (_Color.RED, 3)
    assert list(seen[0].any_) == [_Color.RED, _Color.RED]
    odd = {"pair": row(["r", 3, 4])}
    Run(GraphBuilder().with_states(a=body).with_data_type(_Many).build(), data=odd).step()
    assert seen[1].pair == row(["r", 3, 4])


_T = TypeVar("_T")


@dataclass
class _Any(Generic[_T]):
    value: _T


def test_a_data_type_may_be_a_generic_class_with_its_parameter() -> None:
    seen = []

    def body(data: Any) -> Any:
        seen.append(data)
        return {}

    graph = GraphBuilder().with_states(a=body).with_data_type(_Any[int]).build()
    Run(graph, data={"value": 3}).step()
    assert seen == [_Any(3)]


class _Pet(BaseModel):
    name: str = "Rex"


class _Owner(BaseModel):
    pet: _Pet = _Pet()
    pets: Annotated[list[_Pet], "extend"] = [_Pet(name="Tom")]
    named: dict[str, _Pet] = {"x": _Pet(name="X")}
    pair: tuple[_Pet, ...] = (_Pet(name="P"),)


class _Wanting(_Owner):
    later: str


def _look(data: Any) -> Any:
    names = [data.pet.name, data.pets[0].name, data.named["x"].name, data.pair[0].name]
    return {"pet": {"name": "+".join(names)}}


@pytest.mark.parametrize("schema", [_Owner, _Wanting])
@pytest.mark.parametrize(
    "given",
    [None, {"pet": _Pet()}, {"pets": [_Pet(name="Tom")]}, {"named": {"x": _Pet(name="X")}}],
    ids=["defaults", "one", "list", "mapping"],
)
def test_models_in_the_data_are_kept_as_plain_data(tmp_path: Path, schema: Any, given: Any) -> None:
    graph = _two(_look, schema)
    run = Run(graph, store=SqliteStore(tmp_path / "s.db"), data=given)
    run.step()
    assert run.data["pet"] == {"name": "Rex+Tom+X+P"}
    assert Run.load(run.dump(), graph).data == run.data
    assert Run.resume(graph, run._session.store, run.id).data == run.data


class _Renamed(BaseModel, extra="forbid", frozen=True):
    name: str = Field("nobody", alias="theName")


def test_a_body_gets_a_field_whose_model_has_another_name_for_it() -> None:
    def body(data: Any) -> Any:
        return {"name": data.name + "!"}

    run = Run(_two(body, _Renamed), data={"name": "Ann"})
    run.step()
    assert run.data["name"] == "Ann!"


# --- joins that fail ---------------------------------------------------------------------------


def _joining(**join: Any) -> Graph:
    return (
        GraphBuilder()
        .with_states(s=_nothing, one=lambda data: {"x": 1}, two=lambda data: {"x": "b"})
        .with_states(join=_nothing)
        .with_transitions(("s", "one"), ("s", "two"), (["one", "two"], "join"))
        .with_fanout("s")
        .with_join("join", **join)
        .build()
    )


async def _async_strategy(datas: Any) -> Any:
    return {}


@pytest.mark.parametrize(
    ("join", "said"),
    [
        ({"merge": {"default": "increment"}}, "unsupported operand"),
        ({"strategy": lambda datas: 1 / 0}, "ZeroDivisionError"),
        ({"strategy": lambda datas: None}, "gave back a NoneType"),
        ({"strategy": lambda datas: [1]}, "gave back a list"),
        ({"strategy": _async_strategy}, "cannot be async"),
    ],
)
def test_a_join_that_fails_says_why_each_time(join: Any, said: str) -> None:
    run = Run(_joining(**join))
    run.step()
    for _ in range(3):
        with pytest.raises(RunError, match=said):
            run.step()
        assert run.status == "failed"


def test_a_join_that_failed_once_is_made_when_the_run_goes_on() -> None:
    tried = []

    def strategy(datas: Any) -> Any:
        tried.append(len(datas))
        if len(tried) == 1:
            raise OSError("try again")
        return {"x": "both"}

    run = Run(_joining(strategy=strategy))
    with pytest.raises(RunError, match="try again"):
        run.run()
    run.run()
    assert (tried, run.status, dict(run.data)) == ([2, 2], "ended", {"x": "both"})


# --- mistakes in a graph, where they are made --------------------------------------------------


@pytest.mark.parametrize(
    "wrong",
    [
        lambda built: built.with_states(c=5),
        lambda built: built.with_states(c=None),
        lambda built: built.with_states(object()),
        lambda built: built.with_states(lambda data: {}, lambda data: {}),
        lambda built: built.with_transitions("ab"),
        lambda built: built.with_transitions(None),
        lambda built: built.with_transitions(("a",)),
        lambda built: built.with_transitions(("a", ["b"])),
        lambda built: built.with_transitions((None, "b")),
        lambda built: built.with_transitions((["a", None], "b")),
        lambda built: built.with_join("b", merge={"default": 5}),
        lambda built: built.with_join("b", strategy=5),
        lambda built: built.with_join("b", strategy={"default": "name"}),
    ],
)
def test_a_mistake_is_said_by_the_call_that_makes_it(wrong: Any) -> None:
    built = GraphBuilder().with_states(a=_nothing, b=_nothing)
    with pytest.raises((TypeError, ValueError), match=r"state|transition|reducer|strategy|name"):
        wrong(built)


# --- where no way out holds --------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["plain", "async", "stream"])
@pytest.mark.parametrize(
    ("guard", "said"),
    [
        (when(n=5), "-> b: n is 5  [does not hold]  (n is 1)"),
        (when(n__gt=3, tier="vip"), "tier is vip  [does not hold]  (n is 1, tier is not set)"),
        (~(when(n=1) | when(tier="vip")), "(n is 1, tier is not set)"),
        (expr("n > 5 and has(tier)"), "-> b: n > 5 and has(tier)  [does not hold]  (n is 1"),
    ],
)  # fmt: skip
def test_where_nothing_holds_each_guard_is_said_with_the_values_it_saw(
    kind: str, guard: Any, said: str
) -> None:
    built = GraphBuilder().with_states(a=_bodies()[kind], b=_nothing, c=_nothing)
    run = Run(built.with_transitions(("a", "b", guard), ("a", "c", when(n="x"))).build())
    with pytest.raises(Stuck) as stuck:
        run.step()
    text = str(stuck.value)
    assert said in text
    assert text.splitlines()[2] == "  -> c: n is x  [does not hold]  (n is 1)"


def test_a_branch_that_is_stuck_says_what_it_saw_itself() -> None:
    graph = (
        GraphBuilder()
        .with_states(s=_nothing, one=lambda data: {"n": 1}, two=lambda data: {"n": 2}, end=_nothing)
        .with_transitions(("s", "one"), ("s", "two"), ("one", "end"), ("two", "end", when(n=1)))
        .with_fanout("s")
        .build()
    )
    run = Run(graph, data={"n": 0})
    with pytest.raises(Stuck, match=r"\(n is 2\)$") as stuck:
        run.run()
    assert stuck.value.step == ("two", {"n": 2}, {"n": 2})
    assert (run.status, dict(run.data)) == ("stuck", {"n": 2})
    assert Run.load(run.dump(), graph).data == run.data


def _grouped(**join: Any) -> GraphBuilder:
    return (
        GraphBuilder()
        .with_states(s=_nothing, one=_nothing, two=_nothing, join=_nothing)
        .with_transitions(("s", "one"), ("s", "two"))
        .with_transitions((["one", "two"], "join", {"group": "pair"}))
        .with_fanout("s")
        .with_join("join", **join)
    )


@pytest.mark.parametrize(
    ("built", "said"),
    [
        (_grouped(merge={"pairs": "extend"}), r"merge of 'join'.*'pairs'.*did you mean 'pair'"),
        (_grouped(merge={"default": "extend"}), r"merge of 'join'.*'default'.*there are: pair"),
        (_grouped(strategy={"Pair": len}), r"strategy of 'join'.*'Pair'.*did you mean 'pair'"),
        (
            _grouped().with_transitions(("join", "s", {"group": "again"})),
            r"from 'join' to 's'.*'again'.*with_join\('s'\)",
        ),
        (_grouped().with_join("jion"), "no state is named 'jion'.*did you mean 'join'"),
        (_grouped().with_fanout("t"), "no state is named 't'"),
        (_grouped().with_tags(twoo=["x"]), "no state is named 'twoo'.*did you mean 'two'"),
        (_grouped().with_initial("won"), "no state is named 'won'"),
        (_grouped().with_transitions(("on", "s")), "no state is named 'on'"),
    ],
)
def test_what_a_graph_says_of_what_it_has_not(built: GraphBuilder, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        built.build()


def test_groups_that_are_there() -> None:
    assert _grouped(merge={"pair": "extend"}, strategy={"pair": lambda datas: {}}).build()
    assert _joining(merge={"default": "overwrite"})


# --- what a graph is called ---------------------------------------------------------------------


def test_graphs_say_in_a_line_what_they_are() -> None:
    from statecli.burr import ApplicationBuilder, State, action

    assert repr(_two(_nothing)) == "Graph(states: a, b; begins at a)"

    @action(reads=[], writes=[])
    def one(state: State) -> State:
        return state

    app = (
        ApplicationBuilder()
        .with_actions(one=one, two=one)
        .with_transitions(("one", "two"))
        .with_entrypoint("one")
        .build()
    )
    assert repr(app.graph) == "ApplicationGraph(one, two; begins at one)"
    assert repr(app.graph.transitions[0]) == "Transition(one -> two: default)"
    with pytest.raises(AttributeError, match=r"Run\.resume\(graph, store, run\)"):
        _ = ApplicationBuilder().initialize_from


def test_a_store_in_memory_is_no_file_of_that_name() -> None:
    with pytest.raises(Unable, match="would be a file"):
        SqliteStore(":memory:")


def test_a_run_that_has_split_has_no_way_back_to_its_beginning_but_undo() -> None:
    run = Run(_joining(merge={"default": "overwrite"}))
    run.step()
    with pytest.raises(RuntimeError, match=r"has split \(into 'one', 'two'\): undo"):
        run.reset()
    assert run.undo()
    run.reset()
    assert run.state == "s"


# --- streams that are left early ---------------------------------------------------------------


def _pieces(kind: str, made: list[int]) -> Any:
    def plain(data: Any) -> Any:
        for number in range(3):
            made.append(number)
            yield f"{number}"
        yield {"n": 1}

    async def at_once(data: Any) -> Any:
        for piece in plain(data):
            yield piece

    async def waits(data: Any) -> Any:
        for piece in plain(data):
            yield piece
            await asyncio.sleep(0)

    return {"plain": plain, "at once": at_once, "waits": waits}[kind]


@pytest.mark.parametrize("hooks", [[], [Hooks()]], ids=["none", "hooks"])
@pytest.mark.parametrize("taken", [1, 2, 3])
@pytest.mark.parametrize("kind", ["plain", "at once", "waits"])
def test_a_stream_that_is_left_early_leaves_nothing_behind(
    kind: str, taken: int, hooks: list[Hooks]
) -> None:
    """However near to its end the body was: nothing runs ahead of what was asked for."""
    made: list[int] = []
    run = Run(_two(_pieces(kind, made)), hooks=hooks)
    stream = run.stream_result()
    assert [next(stream) for _ in range(taken)] == ["0", "1", "2"][:taken]
    stream.close()  # type: ignore[attr-defined]
    assert made == list(range(taken))
    assert (run.state, dict(run.data)) == ("a", {})
    assert list(run.stream_result()) == ["0", "1", "2"]
    assert (run.status, dict(run.data)) == ("ended", {"n": 1})


# --- stores that fail --------------------------------------------------------------------------


class _Full(MemoryStore):
    """A disk that is full for a while."""

    full = False

    def append(self, run: str, batch: Batch) -> None:
        if self.full:
            raise OSError("disk full")
        super().append(run, batch)


@pytest.mark.parametrize("times", [1, 3])
@pytest.mark.parametrize("kind", ["plain", "async", "stream"])
def test_a_store_that_fails_is_no_fault_of_the_body(kind: str, times: int) -> None:
    """Its error comes out as it is, nothing has happened, and the step can be taken later."""
    store = _Full()
    run = Run(_chain(_bodies()[kind]), store=store)
    run.step()
    store.full = True
    for _ in range(times):
        with pytest.raises(OSError, match=r"^disk full$"):
            run.step()
        assert (run.status, run.state, dict(run.data)) == ("running", "two", {"n": 1})
    store.full = False
    run.run()
    assert run.data == {"n": 3}
    assert Run.resume(run.graph, store, run.id).data == {"n": 3}
