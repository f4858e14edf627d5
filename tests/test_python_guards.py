"""Guards written in Python: composed with ``~ & |``, read by every command that reads guards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from statecli import GraphBuilder, Run, default, expr, when
from statecli.model.graph import Graph
from statecli.model.guard import MAX_DEPTH, AllOf, AnyOf, Atom, Not, View, evaluate
from statecli.session.guards import When, decided_by
from statecli.session.run import RunError
from statecli.verify.verifier import verify

PARTS = {
    "a": when(a=1),
    "b": when(b__gt=2),
    "c": expr("c == 'x' or c == 'y'"),
    "d": when(a=2, b__lte=2),
}


def holds(found: When, data: Mapping[str, Any]) -> bool:
    assert found.guard is not None
    return evaluate(found.guard, View(data)) is True


def truth(tree: Any, data: Mapping[str, Any]) -> bool:
    """What a tree says, by Python's own operators over the truth of its parts."""
    if isinstance(tree, str):
        return holds(PARTS[tree], data)
    sign, *children = tree
    values = [truth(child, data) for child in children]
    return {"~": lambda: not values[0], "&": lambda: all(values), "|": lambda: any(values)}[sign]()


def composed(tree: Any) -> When:
    if isinstance(tree, str):
        return PARTS[tree]
    sign, *children = tree
    found = [composed(child) for child in children]
    if sign == "~":
        return ~found[0]
    return found[0] & found[1] if sign == "&" else found[0] | found[1]


def depth(tree: Any) -> int:
    """At most so deep is what is composed of a tree; `d` is an and of two already."""
    return int(tree == "d") if isinstance(tree, str) else 1 + max(map(depth, tree[1:]))


TREES = st.recursive(
    st.sampled_from(sorted(PARTS)),
    lambda inner: st.one_of(
        st.tuples(st.just("~"), inner),
        st.tuples(st.just("&"), inner, inner),
        st.tuples(st.just("|"), inner, inner),
    ),
    max_leaves=5,
)
DATA = st.fixed_dictionaries(
    {},
    optional={"a": st.integers(0, 2), "b": st.integers(0, 4), "c": st.sampled_from("xyz")},
)


@given(TREES, DATA)
def test_composites_mean_what_python_means(tree: Any, data: dict[str, Any]) -> None:
    """Also where a field is not set: a part of which is false then."""
    assume(depth(tree) <= MAX_DEPTH)
    found = composed(tree)
    assert holds(found, data) == truth(tree, data)
    if depth(tree) < MAX_DEPTH:
        assert holds(~found, data) != truth(tree, data)
        assert ~~found == found


def test_composites_are_flat_and_in_words() -> None:
    found = when(a=1) & when(b=2) & when(c=3)
    assert isinstance(found.guard, AllOf)
    assert len(found.guard.children) == 3
    assert when(a=1, b=2) & when(c=3) == found
    either = when(a=1) | when(b=2) | when(c=3)
    assert isinstance(either.guard, AnyOf)
    assert len(either.guard.children) == 3
    assert isinstance((~when(a=1)).guard, Not)
    assert (found.name, repr(~when(a=1))) == ("a is 1 and b is 2 and c is 3", "<not (a is 1)>")
    assert hash(found) == hash(when(a=1, b=2, c=3))


def test_default_in_composites() -> None:
    one = when(a=1)
    assert (default & one, one & default, default & default) == (one, one, default)
    assert (default | one, one | default) == (default, default)
    assert (default.name, when()) == ("default", default)
    with pytest.raises(ValueError, match="~default never holds: leave the transition out"):
        _ = ~default


def test_composites_nest_at_most_five_deep() -> None:
    found = ~(when(a=1) & when(b=1))
    found = ~(found & when(b=2)) & when(b=3)
    with pytest.raises(ValueError, match="at most 5 deep"):
        _ = ~found


@pytest.mark.parametrize(
    ("written", "told"),
    [
        (lambda: when(a__gtt=1), "'gtt' is not an operator of 'when'"),
        (lambda: when(a__gt="x"), "a__gt is not a number"),
        (lambda: when(a__in=5), "a__in is not a list"),
        (lambda: when(a__exists=1), "a__exists is not true or false"),
        (lambda: expr("open('x')"), "open"),
        (lambda: expr("a.b"), "a.b"),
        (lambda: expr(""), "an empty condition"),
    ],
)
def test_what_is_no_guard_says_why(written: Any, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        written()


def test_equality_is_that_of_our_guards() -> None:
    """Text without case and white space around it, nothing else converted; Python's in `expr`."""
    assert holds(when(t="Premium"), {"t": " premium "})
    assert not holds(expr("t == 'Premium'"), {"t": " premium "})
    assert not holds(when(n=5), {"n": "5"})
    assert not holds(when(n=1), {"n": True})
    assert holds(expr("n == 1"), {"n": True})
    assert holds(when(n__gt=4), {"n": "5"})
    assert not holds(when(n=5), {})
    assert not holds(when(n__ne=5), {}), "what is not there is false, whatever is asked"
    assert holds(~when(n=5), {}), "but not what is composed of it"


def test_collections_of_python_in_a_membership() -> None:
    for several in ([1, 2], (1, 2), {1, 2}, frozenset({1, 2}), range(1, 3)):
        assert holds(when(n__in=several), {"n": 2})
        assert holds(when(n__notin=several), {"n": 3})


class Tier(Enum):
    FREE = "free"
    VIP = "vip"


class Level(Enum):
    LOW = 1
    HIGH = 2


@dataclass
class Customer:
    tier: Tier = Tier.VIP
    level: Level = Level.HIGH
    seen: list[Tier] = field(default_factory=lambda: [Tier.VIP])


@pytest.mark.parametrize("schema", [None, Customer], ids=["members", "a schema"])
@pytest.mark.parametrize(
    "guard",
    [
        when(tier=Tier.VIP),
        when(tier="VIP"),
        when(tier__ne=Tier.FREE),
        when(tier__in=[Tier.FREE, Tier.VIP]),
        when(tier__in={Tier.VIP}),
        when(tier__notin=(Tier.FREE,)),
        when(tier__is=Tier.VIP),
        when(seen__contains=Tier.VIP),
        when(seen=[Tier.VIP]),
        when(level=Level.HIGH),
        when(level__gte=Level.HIGH),
        when(level__gt=1),
        expr("tier == 'vip'"),
        expr("level > 1"),
    ],
)
def test_a_member_of_an_enum_is_its_value(schema: Any, guard: When) -> None:
    """However it came into the data: a field of a schema keeps the value, any other the member."""

    def sets(data: Any) -> Any:
        return {"tier": Tier.VIP, "level": Level.HIGH, "seen": [Tier.VIP]}

    builder = GraphBuilder() if schema is None else GraphBuilder().with_schema(schema)
    built = (
        builder.with_states(a=sets, b=lambda data: None, c=lambda data: None)
        .with_transitions(("a", "b", guard), ("a", "c", ~guard))
        .build()
    )
    assert not [found for found in built.lint() if found.rule == "value-not-in-enum"]
    assert Run(built).run().state == "b"


def test_an_enum_without_the_value_is_told() -> None:
    states: Any = {"a": lambda data: {}, "b": lambda data: {}}
    built = GraphBuilder().with_schema(Customer).with_states(**states)
    found = built.with_transitions(("a", "b", when(tier=Level.LOW))).build().lint()
    assert [one.rule for one in found if one.rule == "value-not-in-enum"]


@pytest.mark.parametrize(
    "composed_by_python",
    [
        lambda: when(a=1) and when(b=2),
        lambda: when(a=1) or when(b=2),
        lambda: not when(a=1),
        lambda: default and when(a=1),
        lambda: bool(expr("a > 1")),
    ],
)
def test_and_or_not_would_lose_a_condition(composed_by_python: Any) -> None:
    with pytest.raises(TypeError, match=r"compose conditions with & \| ~"):
        composed_by_python()


@pytest.mark.parametrize(
    ("guard", "said"),
    [("n > 1", r"is expr\('n > 1'\)"), (lambda data: True, r"when\(field=value\) or expr")],
)
def test_what_is_no_condition_says_what_is(guard: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        GraphBuilder().with_transitions(("a", "b", guard))


def graph(*ways: Any) -> Graph:
    states: dict[str, Any] = {name: lambda data: {} for name in "abcd"}
    builder = GraphBuilder().with_states(**states).with_transitions(*ways).with_initial("a")
    return builder.with_fields(n={"type": "int"}, t={"type": "enum", "values": ["x", "y"]}).build()


def decided(*ways: Any) -> Any:
    """What `verify` says where `a` decides and the others end: what functions do is unknown."""
    built = graph(*ways)
    states = {
        name: state._replace(kind="decision" if name == "a" else "terminal", settings={})
        for name, state in built.states.items()
    }
    return verify(Graph("states", "a", None, states, built.fields), inputs=["n", "t"])


def test_verify_understands_composites() -> None:
    """Two ways that exclude each other and leave nothing over; one that hides the next; one that
    can never be: what a person would prove."""
    low = when(n__lt=5) & when(t="x")
    report = decided(("a", "b", low), ("a", "c", ~low))
    assert (report.exact, report.findings) == (True, ())
    hiding = decided(("a", "b", when(n__lt=5) | when(n__gte=5)), ("a", "c", when(n=3)))
    assert [(f.rule, f.transition) for f in hiding.findings if f.transition >= 0] == [
        ("dead-transition", 1)]  # fmt: skip
    never = decided(("a", "b", when(n__lt=5) & when(n__gt=7)), ("a", "c"))
    assert [(f.rule, f.transition) for f in never.findings if f.transition >= 0] == [
        ("dead-transition", 0)]  # fmt: skip


def test_a_function_decides_but_cannot_be_proved() -> None:
    def many(data: Mapping[str, Any]) -> bool:
        with pytest.raises(TypeError):
            data["n"] = 7  # type: ignore[index]
        data["items"].append(1)
        return len(data["items"]) > 1

    found = decided_by(many)
    assert found.name == "decided in code: many"
    assert evaluate(found.guard, View({"items": [1, 2]})) is True  # type: ignore[arg-type]
    assert evaluate((~found).guard, View({"items": [1, 2]})) is False  # type: ignore[arg-type]
    run = Run(graph(("a", "b", found), ("a", "c")), data={"items": [1]})
    run.step()
    assert (run.state, run.data["items"]) == ("c", [1]), "it was not changed"
    broken = decided_by(lambda data: data["nope"])
    with pytest.raises(RunError, match="'nope'"):
        Run(graph(("a", "b", broken))).step()
    assert decided_by(many) != found, "nobody knows whether two functions are one"
    assert when(n=1).guard == Atom("n", "eq", 1)
