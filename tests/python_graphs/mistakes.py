"""Graphs with one mistake each. A comment at the end of a line says which rule tells it there, and
a part of its message; a line without one must be silent."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, Literal

from pydantic import BaseModel

from statecli import GraphBuilder, default, expr, when
from statecli.burr import ApplicationBuilder, State, action

Data = dict[str, Any]


def a(data: Data) -> Data:
    return {}


def b(data: Data) -> Data:  # expect: unreachable-under-guards "no run gets to 'b'"
    return {}


def c(data: Data) -> Data:  # expect: unreachable-under-guards "no run gets to 'c'"
    return {}


def end(data: Data) -> Data:
    return {}


def body(**told: Any) -> Any:
    """A state of its own line that says what it reads and writes."""

    def state(data: Data) -> Data:
        return {}

    state.__dict__.update(told)
    return state


# --- reachability ---------------------------------------------------------------------------------


def island(data: Data) -> Data:  # expect: unreachable-state "no path from 'a' leads to 'island'"
    return {}


unreachable = (
    GraphBuilder().with_states(a, island, end).with_transitions(("a", "end"), ("island", "end"))
)


class Clerk:  # expect: unreachable-state "'clerk'"
    def __call__(self, data: Data) -> Data:
        return {}


an_object = GraphBuilder().with_states(a, end, clerk=Clerk()).with_transitions(("a", "end"))


def named(data: Data, size: int) -> Data:  # expect: unreachable-state "'small'"
    return {}


a_partial = (
    GraphBuilder().with_states(a, end, small=partial(named, size=1)).with_transitions(("a", "end"))
)
a_lambda = (
    GraphBuilder()
    .with_states(a, end)
    .with_states(
        alone=lambda data: {"x": 1},  # expect: unreachable-state "'alone'"
    )
    .with_transitions(("a", "end"))
)
built_in = (
    GraphBuilder()
    .with_states(a, end, count=len)  # expect: unreachable-state "'count'"
    .with_transitions(("a", "end"))
)


async def waits(data: Data) -> Data:  # expect: unreachable-state "'waits'"
    return {}


an_async = GraphBuilder().with_states(a, waits, end).with_transitions(("a", "end"))


def streams(data: Data) -> Any:  # expect: unreachable-state "'streams'"
    yield "text"


a_generator = GraphBuilder().with_states(a, streams, end).with_transitions(("a", "end"))


def goal(data: Data) -> Data:  # expect: unreachable-terminal "this graph can never end"
    return {}


never_ends = GraphBuilder().with_states(a, b, goal).with_transitions(("a", "b"), ("b", "a"))

# --- guards ---------------------------------------------------------------------------------------

hidden = (
    GraphBuilder()
    .with_states(a, b, c, end)
    .with_transitions(
        ("a", "b"),
        ("a", "c", when(x=1)),  # expect: default-not-last "the way to 'c' is never tried"
        (["b", "c"], "end"),
    )
)
contradiction = (
    GraphBuilder()
    .with_states(a, b, end)
    .with_transitions(
        ("a", "b", expr("x > 5 and x < 3")),  # expect: guard-never-holds "'x > 5 and x < 3'"
        ("a", "end", default),
        ("b", "end"),
    )
    .with_transitions(("a", "b", when(y=1)))  # expect: default-not-last "'b'"
)
shadowed = (
    GraphBuilder()
    .with_states(a, b, c, end)
    .with_transitions(
        ("a", "b", expr("x > 1")),
        (
            "a",
            "c",  # expect: shadowed-transition "'c'"
            expr("x > 3"),
        ),
        ("a", "end"),
        (["b", "c"], "end"),
    )
)
in_a_loop = GraphBuilder().with_states(a, b, c, end)
in_a_loop.with_transitions(("a", "end"), (["b", "c"], "end"))
for target in ("b", "c"):
    in_a_loop.with_transitions(
        ("a", target, when(x=1))  # expect: default-not-last "never tried"
    )
WAYS = [("a", "b"), ("a", "c", when(x=1)), ("b", "end"), ("c", "end")]
elsewhere = (
    GraphBuilder()
    .with_states(a, b, c, end)
    .with_transitions(*WAYS)  # expect: default-not-last "never tried"
)
written_out = (
    GraphBuilder()
    .with_states(a, b, c, end)
    .with_transitions(
        *[
            ("a", "b"),
            ("a", "c", when(x=1)),  # expect: default-not-last "never tried"
        ],
        (["b", "c"], "end"),
    )
)


class Order(BaseModel):
    tier: Literal["free", "premium", "gold"] = "free"
    amount: int = 0
    done: bool = False
    note: Annotated[list[str], "append"] = []


typed = (
    GraphBuilder()
    .with_schema(Order)
    .with_states(a, b, end)
    .with_transitions(
        ("a", "b", when(tier="premum")),  # expect: value-not-in-enum "premum"
        ("a", "end"),
        ("b", "end"),
    )
)
mistyped = (
    GraphBuilder()
    .with_schema(Order)
    .with_states(a, b, end)
    .with_transitions(
        ("a", "b", when(amount="many")),  # expect: compare-type-mismatch "amount"
        ("a", "end"),
        ("b", "end"),
    )
)
undeclared = (
    GraphBuilder()
    .with_schema(Order)
    .with_states(a, b, end)
    .with_transitions(
        ("a", "b", when(amuont=3)),  # expect: field-never-written "'amuont'"
        ("a", "end"),
        ("b", "end"),
    )
)


def by_tier(data: Data) -> Data:  # expect: enum-value-unrouted "gold"
    return {}


unrouted = (
    GraphBuilder()
    .with_schema(Order)
    .with_states(by_tier, end)
    .with_transitions(
        ("by_tier", "end", when(tier="free")), ("by_tier", "end", when(tier="premium"))
    )
)


def by_amount(data: Data) -> Data:  # expect: numeric-gap "5"
    return {}


gap = (
    GraphBuilder()
    .with_schema(Order)
    .with_states(by_amount, b, end)
    .with_transitions(
        ("by_amount", "end", when(amount__gt=5)),
        ("by_amount", "b", when(amount__lt=5)),
        ("b", "end"),
    )
)


def until(data: Data) -> Data:  # expect: stuck-state "no way leads on in 'until'"
    return {}


stuck = (
    GraphBuilder()
    .with_schema(Order)
    .with_states(until, end)
    .with_transitions(("until", "end", when(done=True)))
)
dead = (
    GraphBuilder()
    .with_fields(x={"type": "bool"})
    .with_states(a=body(writes=[]), b=body(writes=[]), end=end)
    .with_transitions(
        ("a", "end", when(x=True)),
        ("a", "b"),
        ("b", "b", when(x=True)),  # expect: dead-transition "never taken"
        ("b", "end"),
    )
)

# --- termination ----------------------------------------------------------------------------------


def round_(data: Data) -> Data:  # expect: runaway-loop "round -> b -> round has no way out"
    return {}


loop = (
    GraphBuilder()
    .with_states(a, b, end, round=round_)
    .with_transitions(("a", "end", when(x=1)), ("a", "round"), ("round", "b"), ("b", "round"))
)


def locked(data: Data) -> Data:  # expect: no-way-out "no run gets from 'locked' to 'end'"
    return {}


locked.writes = []  # type: ignore[attr-defined]
trap = (
    GraphBuilder()
    .with_states(a=body(writes=[]), locked=locked, end=end)
    .with_transitions(
        ("a", "end", when(x=1)),
        ("a", "locked"),
        ("locked", "end", when(x=1)),  # expect: dead-transition "never taken"
        ("locked", "locked"),
    )
)

# --- branches -------------------------------------------------------------------------------------


def joins(data: Data) -> Data:  # expect: join-never-satisfied "joins"
    return {}


unjoined = (
    GraphBuilder()
    .with_states(a, b, c, joins, end)
    .with_transitions(
        ("a", "b"), ("a", "c", when(x=1)), ("b", "joins"), ("c", "joins"), ("joins", "end")
    )
    .with_fanout("a")
    .with_join("joins")
)


def twice(data: Data) -> Data:  # expect: duplicate-branch "twice"
    return {}


doubled = (
    GraphBuilder()
    .with_states(a, b, c, twice, end)
    .with_transitions(("a", "b"), ("a", "c"), (["b", "c"], "twice"), ("twice", "end"))
    .with_fanout("a")
)


def early(data: Data) -> Data:  # expect: end-with-open-branches "early"
    return {}


open_branch = (
    GraphBuilder()
    .with_states(a, b, c, early, late=body())
    .with_transitions(("a", "early"), ("a", "b"), ("b", "c"), ("c", "late"))
    .with_fanout("a")
)


def both(data: Data) -> Data:  # expect: fan-in-conflict "each write 'x'"
    return {}


conflict = (
    GraphBuilder()
    .with_states(a, b=body(writes=["x"]), c=body(writes=["x"]), both=both)
    .with_transitions(("a", "b"), ("a", "c"), (["b", "c"], "both"))
    .with_fanout("a")
    .with_join("both")
)


def merged(data: Data) -> Data:  # expect: unknown-reducer "no reducer is named 'sum_up'"
    return {}


reducer = (
    GraphBuilder()
    .with_states(a, b, c, merged)
    .with_transitions(("a", "b"), ("a", "c"), (["b", "c"], "merged"))
    .with_fanout("a")
    .with_join("merged", merge={"default": "sum_up"})
)

# --- references, data, the model's choice ---------------------------------------------------------

same_twice = (
    GraphBuilder()
    .with_states(a, end)
    .with_transitions(
        ("a", "end", when(x=1)),
        ("a", "end", when(x=1)),  # expect: duplicate-transition "the same transition to 'end'"
    )
)
no_choice = (
    GraphBuilder()
    .with_states(a, end)
    .with_transitions(
        ("a", "end"),
        ("a", "end"),  # expect: duplicate-target "twice among the ways out of 'a'"
    )
)
default_of_another_type = (
    GraphBuilder()
    .with_states(a)
    .with_fields(
        size={"type": "int", "default": "big"},  # expect: bad-field "the default of 'size'"
    )
)


@action(reads=["promt"], writes=["reply"])
def answer(state: State) -> State:  # expect: field-never-written "no state writes 'promt'"
    return state.update(reply="")


@action(reads=[], writes=["prompt"])
def human(state: State) -> State:
    return state.update(prompt="")


application = (
    ApplicationBuilder()
    .with_actions(human, answer, end=human.action_function)
    .with_transitions(
        ("human", "answer", when(prompt__exists=True)),
        ("human", "end"),
        ("answer", "end"),
    )
    .with_state(seen=1)
    .with_entrypoint("human")
)
