"""What holds for every conversation with every graph: kept, cut, resumed, forked."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from plans import KEYS
from walks import LINES, Chance, any_graph, built, graphs, plain, talked

from statecli.kernel.apply import fold
from statecli.kernel.choose import Ask, Take, choose
from statecli.kernel.limits import limit
from statecli.kernel.order import routes_of
from statecli.model.event import (
    BODIES,
    Asked,
    Body,
    Changed,
    Chose,
    Entered,
    Event,
    Failed,
    Insight,
    Jumped,
    Limited,
    Said,
    Started,
    Trial,
    Waiting,
)
from statecli.model.graph import END, WAITING_KINDS, Graph
from statecli.model.ports import Batch
from statecli.model.snapshot import Messages, Snapshot
from statecli.session.open_step import effective
from statecli.session.session import Session
from statecli.store.memory import MemoryStore
from statecli.store.rows import dumped, loaded

SEEDS = st.integers(0, 2**32)


class Kept(MemoryStore):
    """Remembers after which events something was stored: where a process may have died."""

    def __init__(self) -> None:
        super().__init__()
        self.cuts: list[int] = []

    def append(self, run: str, batch: Batch) -> None:
        super().append(run, batch)  # `create` comes here too
        self.cuts.append(batch.first + len(batch.bodies) - 1)


def started(value: dict[str, Any]) -> tuple[Graph, Session, Kept]:
    graph, store = built(value), Kept()
    return graph, Session.start(graph, store, run="r", first_line=True), store


def bodies(session: Session) -> list[Body]:
    return [event.body for event in session.store.events(session.run)]


@settings(max_examples=120, deadline=None)
@given(any_graph, LINES, SEEDS)
def test_nothing_raises_and_no_limit_is_exceeded(
    value: dict[str, Any], lines: list[str], seed: int
) -> None:
    graph, session, _ = started(value)
    talked(session, Chance(seed), lines)
    steps = calls = 0
    for body in bodies(session):
        if isinstance(body, Failed):
            assert not body.error.startswith(("KeyError", "TypeError", "AttributeError",
                                              "AssertionError", "IndexError")), body  # fmt: skip
        if isinstance(body, Said | Waiting):
            steps = calls = 0
        if isinstance(body, Entered) and body.by in ("order", "model", "on_error", "fallback"):
            steps += 1
            calls = 0
        if isinstance(body, Asked) and body.what == "turn":
            calls += 1
        assert steps <= limit(graph, "max_steps")
        assert calls <= limit(graph, "max_calls")
    insights = [body for body in bodies(session) if isinstance(body, Insight)]
    assert len(insights) <= limit(graph, "max_insights")
    _moves_stay_below(graph, bodies(session))


def _moves_stay_below(graph: Graph, found: list[Body]) -> None:
    """Moves of one settle: those without anything else between them, seen as one run of moves."""
    moves = 0
    for body in found:
        if isinstance(body, Chose) and body.by == "settle":
            moves += 1
        elif not isinstance(body, Entered) and not (isinstance(body, Chose) and body.by == "net"):
            moves = 0
        assert moves <= 2 * limit(graph, "max_hops"), "one pass before the net, one after"


@settings(max_examples=120, deadline=None)
@given(any_graph, LINES, SEEDS)
def test_a_collected_value_is_never_lost(
    value: dict[str, Any], lines: list[str], seed: int
) -> None:
    """Except where a state with `on_reenter: reset` is entered again, and then only its own."""
    graph, session, _ = started(value)
    talked(session, Chance(seed), lines)
    snapshot = Snapshot()
    for body in bodies(session):
        before = set(snapshot.data)
        snapshot = fold(graph, [body], snapshot)
        lost = before - set(snapshot.data)
        if lost:
            assert isinstance(body, Entered | Jumped)
            assert body.resets
            own = {item.key for item in graph.states[body.state].deliverables()}
            assert lost <= own


@settings(max_examples=100, deadline=None)
@given(any_graph, LINES, SEEDS, st.integers(0, 1000))
def test_a_fold_can_be_cut_anywhere_and_go_through_rows(
    value: dict[str, Any], lines: list[str], seed: int, at: int
) -> None:
    graph, session, _ = started(value)
    talked(session, Chance(seed), lines)
    found = bodies(session)
    assert fold(graph, found) == session.snapshot
    cut = at % (len(found) + 1)
    assert fold(graph, found[cut:], fold(graph, found[:cut])) == session.snapshot
    events = session.store.events("r")
    rows = [loaded(event.name, dumped(event.body)) for event in events]
    assert rows == found
    assert fold(graph, rows) == session.snapshot


@settings(max_examples=100, deadline=None)
@given(graphs(), LINES, SEEDS)
def test_choose_names_written_targets_only(
    value: dict[str, Any], lines: list[str], seed: int
) -> None:
    graph, session, _ = started(value)
    talked(session, Chance(seed), lines)
    snapshot = session.snapshot
    for name, state in graph.states.items():
        token = snapshot.token._replace(state=name)
        trials: list[Trial] = []
        choice = choose(graph, snapshot, token, trials)
        written = {route.target for route in state.transitions}
        assert {route.target for route in routes_of(graph, name)} == written
        targets = set()
        if isinstance(choice, Take):
            targets = {choice.transition.target}
        elif isinstance(choice, Ask):
            targets = {route.target for route in choice.options}
            assert len(targets) == len(choice.options) > 1
        assert targets <= written & set(graph.states)
        assert len(trials) == len({trial.number for trial in trials})


@settings(max_examples=100, deadline=None)
@given(any_graph, LINES, SEEDS)
def test_every_move_goes_where_a_route_leads(
    value: dict[str, Any], lines: list[str], seed: int
) -> None:
    graph, session, _ = started(value)
    talked(session, Chance(seed), lines)
    state = ""
    for body in bodies(session):
        if isinstance(body, Chose) and body.by not in ("entry", "net"):
            assert body.target in {route.target for route in routes_of(graph, body.state)}
            assert body.target in {*graph.states, END}
            state = body.target
        if isinstance(body, Entered) and body.by in ("order", "model", "line", "settle"):
            if body.why != "on_error":
                assert body.state == state


def said(session: Session) -> list[str]:
    return [m["content"] for m in session.snapshot.data.get("messages") or ()]


@settings(max_examples=80, deadline=None)
@given(any_graph, LINES, SEEDS, st.lists(st.integers(0, 10_000), min_size=1, max_size=4))
def test_a_run_that_died_goes_on_as_if_it_had_not(
    value: dict[str, Any], lines: list[str], seed: int, deaths: list[int]
) -> None:
    """Whatever was stored last when the process died, the end is the same: nothing that was shown
    is lost, nothing that was said is repeated. (A plan turn that begins anew may call anew.)"""
    graph, session, store = started(value)
    talked(session, Chance(seed), lines)
    assume(not any(isinstance(b, Limited) and b.limit == "max_calls" for b in bodies(session)))
    for number, death in enumerate(deaths):
        cut = store.cuts[death % len(store.cuts)]
        again = MemoryStore()
        stored = store.get("r")
        assert stored is not None
        kept = store.events("r")[:cut]
        times, found = [e.time for e in kept], [e.body for e in kept]
        again.create(stored, Batch(1, times, found, "", ""))
        resumed = Session.open(graph, again, "r")
        if resumed.snapshot.status != "ended":
            resumed.recover()
        talked(resumed, Chance(seed, f"again{number}-"), lines)
        assert said(resumed) == said(session)
        assert plain(resumed.snapshot) == plain(session.snapshot)


@settings(max_examples=100, deadline=None)
@given(any_graph, LINES, SEEDS, st.integers(1, 10_000))
def test_a_fork_never_changes_its_parent(
    value: dict[str, Any], lines: list[str], seed: int, at: int
) -> None:
    graph, session, store = started(value)
    talked(session, Chance(seed), lines[:2])
    before, stands, summary = store.events("r"), session.snapshot, store.get("r")
    forked = session.fork(1 + at % len(before))
    if forked.snapshot.status != "ended":
        forked.recover()
    talked(forked, Chance(seed + 1, "f"), ["other", "words", *lines])
    assert store.events("r") == before
    assert store.get("r") == summary
    assert session.snapshot == stands
    assert fold(graph, (event.body for event in before)) == stands
    talked(session, Chance(seed, "b"), lines)
    alone_graph, alone, _ = started(value)
    talked(alone, Chance(seed), lines[:2])
    talked(alone, Chance(seed, "b"), lines)
    assert plain(alone.snapshot) == plain(session.snapshot)
    assert alone_graph.states.keys() == graph.states.keys()


@settings(max_examples=100, deadline=None)
@given(any_graph, LINES, SEEDS)
def test_undo_goes_back_to_the_wait_before(
    value: dict[str, Any], lines: list[str], seed: int
) -> None:
    graph, session, store = started(value)
    world = Chance(seed)
    talked(session, world, lines[:1])
    before = session.snapshot
    if before.status == "ended" or len(lines) < 2:
        return
    talked(session, world, lines[:2])
    assert session.undo()
    assert session.snapshot == before
    assert fold(graph, (e.body for e in effective(store.events("r")))) == before


# --- rows -------------------------------------------------------------------------------

TEXTS = st.one_of(st.text(max_size=6), st.sampled_from(["🏗️", "状態", "\ud800", "\x00", "$tuple"]))
FLOATS = st.floats(allow_nan=False)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), FLOATS, TEXTS, st.binary(max_size=4))
HASHABLE = st.recursive(SCALARS, lambda inner: st.tuples(inner, inner), max_leaves=3)
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.tuples(inner, inner),
        st.dictionaries(st.one_of(TEXTS, st.integers(), HASHABLE), inner, max_size=3),
        st.sets(HASHABLE, max_size=3),
        st.frozensets(HASHABLE, max_size=3),
        st.lists(st.fixed_dictionaries({"id": TEXTS, "content": inner}), max_size=2).map(Messages),
    ),
    max_leaves=8,
)
MAPPINGS = st.dictionaries(st.one_of(st.sampled_from(KEYS), TEXTS), VALUES, max_size=3)
TRIALS = st.builds(Trial, st.integers(0, 9), TEXTS, st.sampled_from([True, False, None]), TEXTS)
_BY_NAME: dict[str, st.SearchStrategy[Any]] = {
    "data": MAPPINGS, "early": MAPPINGS, "arguments": MAPPINGS, "value": VALUES, "result": VALUES,
    "token": st.integers(0, 3), "to": st.integers(0, 99), "tokens": st.integers(0, 99),
    "cost": FLOATS, "number": st.one_of(st.none(), st.integers(-1, 9)),
    "trials": st.lists(TRIALS, max_size=3).map(tuple),
}  # fmt: skip


def any_body(kind: Any) -> st.SearchStrategy[Any]:
    fields: list[st.SearchStrategy[Any]] = []
    for name, hint in kind.__annotations__.items():
        if name == "tasks" and kind is Changed:
            fields.append(st.dictionaries(TEXTS, TEXTS, max_size=2))
        elif name in _BY_NAME:
            fields.append(_BY_NAME[name])
        elif "tuple" in str(hint):
            fields.append(st.lists(TEXTS, max_size=3).map(tuple))
        else:
            fields.append(st.booleans() if "bool" in str(hint) else TEXTS)
    return st.tuples(*fields).map(lambda values: kind(*values))


@settings(max_examples=400, deadline=None)
@given(st.one_of([any_body(kind) for kind in BODIES.values()]))
def test_every_body_goes_through_a_row_unchanged(body: Body) -> None:
    name = Event("r", 1, 0.0, body).name
    assert loaded(name, dumped(body)) == body
    assert dumped(loaded(name, dumped(body))) == dumped(body)


def test_types_survive_a_row() -> None:
    value = {"t": (1, (2,)), "s": {1}, "f": frozenset({1}), "b": b"x", "m": {1: {2: 3}}, "u": 1.0}
    body = loaded("changed", dumped(Changed(0, "a", value)))
    assert isinstance(body, Changed)
    assert {key: type(item) for key, item in body.data.items()} == {
        key: type(item) for key, item in value.items()
    }
    assert [type(x) for x in body.data["t"]] == [int, tuple]


def test_every_kind_is_reached() -> None:
    """Or these tests say little."""
    seen: Counter[str] = Counter()

    @settings(max_examples=100, deadline=None, database=None, derandomize=True)
    @given(graphs(), LINES, SEEDS)
    def count(value: dict[str, Any], lines: list[str], seed: int) -> None:
        graph, session, _ = started(value)
        talked(session, Chance(seed), lines)
        states = [b.state for b in bodies(session) if isinstance(b, Started | Entered)]
        seen.update(graph.states[name].kind for name in states)

    count()
    assert set(WAITING_KINDS) | {"agent", "tool", "decision", "planner", "executor"} <= set(seen)
