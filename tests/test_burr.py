"""`statecli.burr`: apps of Burr show what they show there, and what is different is said."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import burr_apps
import pytest
from burr_apps import counting, plain, streaming, walked

from statecli import Hooks, burr
from statecli.burr import (
    Action,
    Application,
    ApplicationBuilder,
    AsyncStreamingAction,
    Condition,
    GraphBuilder,
    State,
    action,
    default,
    expr,
    streaming_action,
    when,
)
from statecli.session.function import MissingInput
from statecli.store.sqlite import SqliteStore

#: What apache-burr 0.43 shows of the same apps; how to record it stands in burr_apps.py.
REAL = json.loads((Path(__file__).parent / "data" / "burr_0_43.json").read_text("utf-8"))


@pytest.mark.parametrize("name", sorted(burr_apps.APPS))
def test_an_app_shows_what_it_shows_in_burr(name: str) -> None:
    assert json.loads(json.dumps(burr_apps.APPS[name]())) == REAL[name]


def test_every_app_was_recorded() -> None:
    assert sorted(REAL) == sorted(burr_apps.APPS)


def one(found: Any, *ways: Any, **state: Any) -> Application:
    """An application that begins with this action."""
    builder = ApplicationBuilder().with_actions(a=found, b=burr.Result("n"), c=burr.Result("n"))
    return builder.with_transitions(*ways).with_state(**state).with_entrypoint("a").build()


@action(reads=["n"], writes=["n"])
def add(state: State, by: int, times: int = 1) -> State:
    """Adds to n."""
    return state.update(n=state["n"] + by * times)


@pytest.mark.parametrize("begins", ["a", "b", "c"])
def test_it_begins_at_the_entrypoint_wherever_that_stands(begins: str) -> None:
    builder = ApplicationBuilder().with_actions(a=add, b=add, c=add)
    app = builder.with_transitions(("a", "b")).with_state(n=0).with_entrypoint(begins).build()
    step = app.step(inputs={"by": 1})
    assert step is not None
    assert step[0].name == begins


# --- inputs -----------------------------------------------------------------------------


def test_inputs_reach_the_first_action_only() -> None:
    """ "This will only apply to the first action" (measured in 0.43: to every one)."""
    app = one(add, ("a", "a", when(n__lt=10)), ("a", "b"), n=0)
    steps = walked(app.iterate(halt_after=["b"], inputs={"by": 1, "times": 9}))
    assert [step[2]["n"] for step in steps] == [9, 10, 10, 10], "`times` was for the first one"


def test_what_an_action_further_on_requires_it_gets() -> None:
    """ "Actions that are not the first but require inputs are considered undefined behavior": so
    that Burr's own counter of objects runs."""
    app = one(add, ("a", "a", when(n__lt=3)), ("a", "b"), n=0)
    assert walked(app.iterate(halt_after=["b"], inputs={"by": 1}))[-1][2] == {"n": 3}


def test_inputs_are_checked() -> None:
    app = one(add, n=0)
    for call in (app.step, lambda: app.run(halt_after=["a"])):
        with pytest.raises(MissingInput, match="'a' needs the input 'by'"):
            call()
    assert plain(app.state) == {"n": 0}
    assert app.sequence_id is None
    with pytest.raises(ValueError, match="two underscores are reserved: __x"):
        app.step(inputs={"by": 1, "__x": 2})
    app.step(inputs={"by": 1, "other": 2})
    assert plain(app.state) == {"n": 1}, "an input that nobody takes is left out"


def test_a_stream_says_at_once_that_an_input_is_missing() -> None:
    @streaming_action(reads=[], writes=["x"])
    def stream(state: State, word: str) -> Any:
        yield {"word": word}, None
        yield {"word": word}, state.update(x=word)

    with pytest.raises(ValueError, match="'a' needs the input 'word'"):
        one(stream).stream_result(halt_after=["a"])


def test_the_context_is_given_to_those_who_take_it() -> None:
    seen: list[Any] = []

    class Object(Action):
        reads = writes = ()
        inputs: Any = ["__context"]  # noqa: RUF012 - as people write it

        def run(self, state: State, __context: Any, **more: Any) -> dict[str, Any]:
            seen.append(__context)
            return {}

        def update(self, result: Any, state: State) -> State:
            return state

    @action(reads=[], writes=[])
    def function(state: State, __context: Any = None) -> State:
        seen.append(__context)
        return state

    app = (
        ApplicationBuilder()
        .with_actions(a=Object(), b=function)
        .with_transitions(("a", "b"))
        .with_identifiers(app_id="me", partition_key="mine", sequence_id=6)
        .with_entrypoint("a")
        .build()
    )
    app.run(halt_after=["b"])
    assert [tuple(found) for found in seen] == [("me", "mine", 7, "a"), ("me", "mine", 8, "b")]
    assert app.sequence_id == 8


# --- halts and ends ---------------------------------------------------------------------


def test_halts_must_be_there() -> None:
    app = counting(ApplicationBuilder())
    for call in (app.run, lambda **more: list(app.iterate(**more))):
        with pytest.raises(ValueError, match=r"named 'countr' \(did you mean 'counter'\?\)"):
            call(halt_after=["countr"])
        with pytest.raises(ValueError, match="named '@tag:nope'"):
            call(halt_before=["@tag:nope"])
    assert plain(app.state) == {"counter": 0}


def test_no_way_on_ends_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    """ "If there are no more transitions to take": "will log a warning"."""
    app = one(add, ("a", "b", when(n=5)), n=0)
    with caplog.at_level(logging.WARNING, "statecli.burr"):
        found = app.run(halt_after=["b"], inputs={"by": 1})
    assert burr_apps.shown(found) == ["a", {}, {"n": 1}]
    assert "no halt was reached: there is no way on from 'a'" in caplog.text
    assert (app.has_next_action(), app.step(), app.get_next_action()) == (False, None, None)
    assert burr_apps.shown(app.run(halt_after=["b"])) == [None, None, {"n": 1}]
    app.update_state(State({"n": 5}))
    app.reset_to_entrypoint()
    assert burr_apps.shown(app.run(halt_after=["b"], inputs={"by": 0}))[0] == "b"


def test_without_halts_there_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "statecli.burr"):
        counting(ApplicationBuilder()).run()
    assert "no halt is given" in caplog.text


def test_async_no_way_on() -> None:
    async def main() -> Any:
        app = one(add, ("a", "b", when(n=5)), n=0)
        steps = [step async for step in app.aiterate(halt_after=["b"], inputs={"by": 1})]
        return [burr_apps.shown(step) for step in steps], await app.astep()

    assert asyncio.run(main()) == ([["a", {}, {"n": 1}]], None)


def test_an_application_that_was_built_async() -> None:
    async def main() -> None:
        builder = ApplicationBuilder().with_actions(a=add).with_state(n=0).with_entrypoint("a")
        app = await builder.abuild()
        for call in (app.step, app.run, lambda: next(app.iterate())):
            with pytest.raises(ValueError, match="abuild"):
                call()
        found = await app.astep(inputs={"by": 2})
        assert found is not None
        assert found[2]["n"] == 2

    asyncio.run(main())


# --- actions ----------------------------------------------------------------------------


class Wrong(Action):
    """Writes what it does not declare."""

    reads = ("n",)
    writes = ("n",)

    def run(self, state: State, **more: Any) -> dict[str, Any]:
        return {}

    def update(self, result: Any, state: State) -> State:
        return state.update(other=1)


@action(reads=[], writes=["q"])
def forgets(state: State) -> State:
    return state


@action(reads=[], writes=[])
def no_state(state: State) -> Any:
    return {"x": 1}


@action(reads=[], writes=[])
def no_result(state: State) -> Any:
    return 7, state


@action(reads=[], writes=[])
def raises(state: State) -> State:
    raise KeyError("mine")


@pytest.mark.parametrize(
    ("found", "kind", "told"),
    [
        (Wrong(), ValueError, "'a' writes other, which it does not declare"),
        (forgets, ValueError, "'a' did not write q, which it declares"),
        (no_state, ValueError, "'a' must give back the new State"),
        (no_result, ValueError, "'a' has the result 7: it has to be a dictionary"),
        (raises, KeyError, "mine"),
    ],
)
def test_what_an_action_does_wrong_comes_out_as_it_is(found: Any, kind: Any, told: str) -> None:
    app = one(found, n=0)
    with pytest.raises(kind, match=told):
        app.step()
    assert plain(app.state) == {"n": 0}
    with pytest.raises(kind, match=told):
        app.run(halt_after=["a"])
    assert app.get_next_action() is app.graph.get_action("a"), "it stands where it was"


def test_a_function_may_write_more_than_it_declares(caplog: pytest.LogCaptureFixture) -> None:
    """As in Burr, measured; here it is logged."""

    @action(reads=[], writes=["m"])
    def more(state: State) -> State:
        return state.update(m=1, z=2)

    app = one(more)
    with caplog.at_level(logging.WARNING, "statecli.burr"):
        app.step()
    assert plain(app.state) == {"m": 1, "z": 2}
    assert "'a' writes z, which it does not declare" in caplog.text


def test_a_stream_without_a_state_at_its_end() -> None:
    @streaming_action(reads=[], writes=["x"])
    def endless(state: State) -> Any:
        yield {"x": 1}

    @streaming_action(reads=[], writes=["x"])
    def odd(state: State) -> Any:
        yield "text"

    for found, told in ((endless, "gave no state"), (odd, "yields a result or")):
        _, items = one(found).stream_result(halt_after=["a"])
        with pytest.raises(ValueError, match=told):
            list(items)


def test_a_stream_may_return_its_state() -> None:
    """As the docstring of Burr's decorator has it."""

    @streaming_action(reads=[], writes=["x"])
    def returns(state: State) -> Any:
        yield {"x": "a"}
        return {"x": "ab"}, state.update(x="ab")

    app = one(returns)
    _, items = app.stream_result(halt_after=["a"])
    assert list(items) == [{"x": "a"}]
    result, state = items.get()
    assert (result, plain(state)) == ({"x": "ab"}, {"x": "ab"})


def test_a_stream_that_is_left_leaves_nothing_behind() -> None:
    app = streaming(burr_apps.speak)
    _, items = app.stream_result(halt_after=["speak"], inputs={"prompt": "a b c"})
    for _ in items:
        break
    assert "response" not in app.state
    assert items.get()[0] is None
    _, items = app.stream_result(halt_after=["speak"])
    assert next(items) == {"delta": "a"}
    assert items.get()[0] == {"response": ["a", "b", "c"]}


def test_an_async_stream_of_objects() -> None:
    class Slow(AsyncStreamingAction):
        reads = ()
        writes = ("x",)

        async def stream_run(self, state: State, **more: Any) -> Any:
            for number in (1, 2, 3):
                await asyncio.sleep(0)
                yield {"x": number}

        def update(self, result: Any, state: State) -> State:
            return state.update(**result)

    async def main() -> Any:
        app = one(Slow(), ("a", "b"), n=1)
        found, items = await app.astream_result(halt_after=["a"])
        pieces = [item async for item in items]
        result, state = await items.get()
        done, rest = await app.astream_result(halt_after=["b"])
        return found.name, pieces, result, plain(state), done.name, await rest.get()

    name, pieces, result, state, done, rest = asyncio.run(main())
    assert (name, pieces, result, state) == (
        "a", [{"x": 1}, {"x": 2}], {"x": 3}, {"n": 1, "x": 3})  # fmt: skip
    assert (done, rest[0]) == ("b", {"n": 1})
    assert plain(one(Slow()).run(halt_after=["a"])[2]) == {"x": 3}, "in a synchronous call too"


# --- states and conditions --------------------------------------------------------------


def test_the_state_is_immutable_all_the_way_down() -> None:
    """ "If you modify it the results will not show up -- state is immutable!"."""

    @action(reads=["items"], writes=[])
    def spoils(state: State) -> State:
        state["items"].append("mine")
        return state

    app = one(spoils, ("a", "b"), items=[{"x": [1]}])
    app.state["items"].append(2)
    app.state["items"][0]["x"].append(2)
    step = app.step()
    assert step is not None
    step[2]["items"][0]["x"].append(3)
    assert plain(app.state) == {"items": [{"x": [1]}]}
    with pytest.raises(TypeError):
        app.state["items"] = 1  # type: ignore[index]
    with pytest.raises(KeyError, match=r"no key 'x'; it has: items"):
        app.state["x"]


def test_states_refuse_what_does_not_fit() -> None:
    state = State({"a": 1, "t": "x"})
    with pytest.raises(ValueError, match="cannot append to 'a': it is a int, not a list"):
        state.append(a=1)
    with pytest.raises(ValueError, match="cannot increment 't'"):
        state.increment(t=1)
    with pytest.raises(ValueError, match="delete or keep"):
        state.wipe(delete=["a"], keep=["a"])
    with pytest.raises(KeyError):
        state.subset("nope", ignore_missing=False)


def test_what_is_wiped_is_gone() -> None:
    @action(reads=[], writes=[])
    def wipes(state: State) -> State:
        return state.wipe(delete=["n"])

    app = one(wipes, ("a", "b", ~when(n__exists=True)), n=1, m=2)
    app.step()
    assert plain(app.state) == {"m": 2}
    assert [event.name for event in app.inner.events].count("filtered") == 1
    assert app.get_next_action() is app.graph.get_action("b")


def test_conditions_in_code() -> None:
    said = Condition(["n"], lambda state: state["n"] > 1, name="many")
    lmda = Condition.lmda(lambda state: state["n"] % 2 == 0, ["n"])
    for n, goes in ((1, "c"), (2, "b"), (3, "c")):
        app = one(add, ("a", "b", said & lmda), ("a", "c"), n=n)
        app.step(inputs={"by": 0})
        found = app.get_next_action()
        assert found is not None
        assert found.name == goes
    assert said.name == "decided in code: many"
    assert (Condition.when(x=1), Condition.expr("x > 1"), Condition.default) == (
        when(x=1), expr("x > 1"), default)  # fmt: skip
    app = one(add, ("a", "b", said), n=0)
    app.inner.edit({}, forgets=["n"])
    assert "n" not in app.state


# --- building ---------------------------------------------------------------------------


def builder() -> ApplicationBuilder:
    return ApplicationBuilder().with_actions(a=add, b=forgets)


@pytest.mark.parametrize(
    ("built", "told"),
    [
        (lambda: ApplicationBuilder().with_entrypoint("a").build(), "there are no actions"),
        (lambda: builder().build(), "there is no entrypoint"),
        (lambda: builder().with_entrypoint("z").build(), "no action is named 'z'; there are: a, b"),
        (lambda: builder().with_entrypoint("a").with_entrypoint("b"), "the entrypoint is 'a'"),
        (lambda: builder().with_actions(a=forgets).with_entrypoint("a").build(), "named 'a'"),
        (lambda: builder().with_transitions(("a", "z")).with_entrypoint("a").build(), "named 'z'"),
        (lambda: builder().with_transitions(("z", "a")).with_entrypoint("a").build(), "named 'z'"),
        (lambda: builder().with_transitions(("a", "b", "c")), "a transition is"),
        (
            lambda: builder().with_transitions(("a", "b"), ("a", "a")).with_entrypoint("a").build(),
            "'a' -> 'a' is never taken",
        ),
        (lambda: builder().with_actions(lambda state: state), "is no action; decorate it"),
        (lambda: builder().with_actions(Wrong()), "has no name"),
        (lambda: builder().with_actions(x=Wrong().with_name("y")), "cannot be 'x' too"),
        (lambda: builder().with_hooks(object()), "has none of pre_run_step"),
        (lambda: GraphBuilder().build(), "there are no actions"),
    ],
)
def test_builders_say_what_does_not_fit(built: Any, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        built()


@pytest.mark.parametrize("name", ["with_tracker", "initialize_from", "with_typing", "with_nothing"])
def test_what_is_not_here_says_so(name: str) -> None:
    with pytest.raises(AttributeError, match=f"statecli.burr has no ApplicationBuilder.{name}: "):
        getattr(ApplicationBuilder(), name)
    with pytest.raises(NotImplementedError, match="with_schema"):
        action.pydantic(reads=[], writes=[])


def test_an_action_may_be_known_by_its_own_name() -> None:
    app = ApplicationBuilder().with_actions(add, Wrong().with_name("w")).with_entrypoint("add")
    found = app.build().graph.actions
    assert [repr(item) for item in found] == ["add: n -> n", "w: n -> n"]
    assert "def add" in found[0].get_source()
    assert "class Wrong" in found[1].get_source()


def test_graphs_of_burr_are_graphs_of_ours() -> None:
    """They are linted, drawn and proved like any other."""
    app = counting(ApplicationBuilder())
    graph = app.inner.graph
    assert (graph.initial, list(graph.states)) == ("counter", ["counter", "result"])
    state = graph.states["counter"]
    assert (state.reads, state.writes) == (("counter",), ("counter",))
    assert app.graph.graph("counter") is not app.graph.graph("result")
    drawing = app.visualize(include_conditions=True)
    assert drawing is not None
    assert "s0 --> s0 : counter #60; 5" in drawing


def test_a_drawing_in_a_file(tmp_path: Path) -> None:
    app = counting(ApplicationBuilder())
    app.visualize(tmp_path / "x.svg", include_conditions=True)
    assert "counter" in (tmp_path / "x.svg").read_text("utf-8")
    app.visualize(str(tmp_path / "y"), format="dot")
    assert "digraph" in (tmp_path / "y.dot").read_text("utf-8")
    with pytest.raises(ValueError, match="no format is named 'xyz'"):
        app.visualize(str(tmp_path / "z"), format="xyz")


def test_a_store_and_hooks_of_ours(tmp_path: Path) -> None:
    steps: list[str] = []

    class Mine(Hooks):
        def after_step(self, *, state: str, **more: Any) -> None:
            steps.append(state)

    class Slow:
        async def post_run_step(self, *, action: Any, **more: Any) -> None:
            await asyncio.sleep(0)
            steps.append(f"slow {action.name}")

    created: list[Any] = []

    class Created:
        def post_application_create(self, *, app_id: str, state: Any, **more: Any) -> None:
            created.append((app_id, plain(state)))

    store = SqliteStore(tmp_path / "s.db")
    made = ApplicationBuilder().with_store(store).with_identifiers(app_id="me")
    app = counting(made.with_hooks(Mine(), Slow(), Created()))
    app.run(halt_before=["result"])
    assert steps == ["counter", "slow counter"] * 5
    assert created == [("me", {"counter": 0})]
    assert [event.name for event in store.events("me")][:2] == ["started", "changed"]


def test_stream_items_are_heard() -> None:
    heard: list[Any] = []

    class Items:
        def post_stream_item(self, *, item: Any, item_index: int, action: str, **_: Any) -> None:
            heard.append((action, item_index, item))

    made = ApplicationBuilder().with_actions(a=burr_apps.speak).with_state(prompt="x y")
    app = made.with_hooks(Items()).with_entrypoint("a").build()
    list(app.stream_result(halt_after=["a"])[1])
    assert heard == [("a", 1, {"delta": "x"}), ("a", 2, {"delta": "y"})]


def test_every_name_of_the_package_is_there() -> None:
    def names() -> Iterator[Any]:
        for name in burr.__all__:
            yield getattr(burr, name)

    assert all(found is not None for found in names())
