"""The truth of guards, as model.md 4.2 gives it: values, missing fields, three-valued logic."""

from __future__ import annotations

import math
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from statecli.load.guardtext import GuardReader
from statecli.model.guard import (
    AllOf,
    AnyOf,
    Atom,
    Bounds,
    Closed,
    Complete,
    Expr,
    Guard,
    GuardMissingField,
    Invalid,
    Not,
    Opaque,
    Turns,
    View,
    as_number,
    evaluate,
    fold,
    holds,
    reads,
    same,
    walk,
)
from statecli.model.shape import BadCondition, Issue, WrongType

YES, NO, UNKNOWN = Atom("y", "exists"), Atom("n", "exists"), Opaque("decided in code")
KNOWN = {"y": 1}


def truth(guard: Guard, **data: object) -> bool | None:
    return evaluate(guard, View(data))


def read(kind: str, *, in_goal: bool = False, **config: object) -> tuple[Guard, list[Issue]]:
    issues: list[Issue] = []
    return GuardReader(issues, in_goal=in_goal).condition(kind, config, ("g",)), issues


def when(value: object) -> Guard:
    issues: list[Issue] = []
    guard = GuardReader(issues, in_goal=False).when(value, ("w",))
    assert guard is not None
    assert issues == []
    return guard


# --- one field ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("op", "operand", "value", "wanted"),
    [
        # text is compared trimmed and case-folded
        ("eq", "billing", "Billing", True),
        ("eq", "billing", "  billing\n", True),
        ("eq", "STRASSE", "straße", True),
        ("eq", "billing", "billings", False),
        ("eq", "", "   ", True),
        # otherwise nothing is coerced
        ("eq", 5, 5, True),
        ("eq", 5, 5.0, True),
        ("eq", 5, "5", False),
        ("eq", "5", 5, False),
        ("eq", True, 1, False),
        ("eq", 1, True, False),
        ("eq", 0, False, False),
        ("eq", "true", True, False),
        ("eq", True, True, True),
        ("eq", None, None, True),
        ("eq", None, "", False),
        ("eq", None, False, False),
        ("eq", math.nan, math.nan, False),
        ("eq", ("a", "B"), ["A ", "b"], True),
        ("eq", ("a", "b"), ["b", "a"], False),
        ("eq", ("a",), ["a", "a"], False),
        ("eq", (1,), [True], False),
        ("ne", "billing", "BILLING ", False),
        ("ne", "billing", "sales", True),
        ("ne", 5, "5", True),
        ("in", ("a", "b"), " B", True),
        ("in", ("a", "b"), "c", False),
        ("in", (1, 2), "1", False),
        ("in", (1, 2), True, False),
        ("in", (), "a", False),
        ("notin", ("a", "b"), "c", True),
        ("notin", ("a", "b"), "A", False),
        ("notin", (), "a", True),
        ("contains", "BC", "abcd", True),
        ("contains", "x", "abcd", False),
        ("contains", "b", ["a", "B "], True),
        ("contains", 2, [1, 2], True),
        ("contains", 1, [True], False),
        ("contains", "k", {"K": 1}, True),
        ("contains", 2, "12", False),
        ("contains", "a", 5, False),
        ("is", True, True, True),
        ("is", True, 1, False),
        ("is", None, None, True),
        ("is", None, 0, False),
        ("is", "a", "A", True),
        ("isnot", None, 0, True),
        ("isnot", False, False, False),
        # numbers: finite ones, and text that is one
        ("gte", 8, 8, True),
        ("gte", 8, "8", True),
        ("gte", 8, " 8.0 ", True),
        ("gte", 8, "8e0", True),
        ("gte", 8, "+9", True),
        ("gt", 8, 8, False),
        ("lt", 8, -0.5, True),
        ("lt", 8, ".5", True),
        ("lte", 8, "8.", True),
        ("lte", 8, "-1E+2", True),
        ("eq#", 5, "5.0", True),
        ("neq#", 5, "6", True),
        ("neq#", 5, "5", False),
        ("eq#", "5", 5, True),
        # what is no number is false, also for "not equal"
        ("gte", 0, True, False),
        ("neq#", 5, True, False),
        ("neq#", 5, [6], False),
        ("neq#", 5, "eight", False),
        ("neq#", 5, "", False),
        ("neq#", 5, None, False),
        ("gte", 0, "0x10", False),
        ("gte", 0, "1_0", False),
        ("gte", 0, "8 of 10", False),
        ("gte", 0, "inf", False),
        ("lt", 0, "-Infinity", False),
        ("gte", 0, "nan", False),
        ("gte", 0, math.inf, False),
        ("neq#", 5, math.nan, False),
        ("gte", 0, "1e999", False),
        ("gte", 0, "٣", False),
        ("gte", 0, "1 000", False),
        ("gte", 0, "--1", False),
        ("gte", 0, "9" * 10_000, False),
        ("gt", 10**300, 10**301, True),
        # ranges include their ends unless they say otherwise
        ("between", Bounds(4, 7, True), 4, True),
        ("between", Bounds(4, 7, True), "7.0", True),
        ("between", Bounds(4, 7, True), 7.1, False),
        ("between", Bounds(4, 7, False), 4, False),
        ("between", Bounds(4, 7, False), 4.5, True),
        ("between", Bounds(4, 4, True), 4, True),
        ("between", Bounds(4, 4, False), 4, False),
        ("between", Bounds(4, 7, True), "five", False),
        ("between", Bounds(0, 1, True), True, False),
        ("exists", None, None, True),
        ("exists", None, "", True),
        ("absent", None, "", False),
    ],
)
def test_atom(op: str, operand: object, value: object, wanted: bool) -> None:
    atom = Atom("k", op, operand)
    assert holds(atom, value) is wanted
    assert truth(atom, k=value) is wanted


MISSING = [
    ("eq", 1), ("ne", 1), ("in", (1,)), ("notin", (1,)), ("contains", 1), ("is", None),
    ("isnot", None), ("gt", 1), ("gte", 1), ("lt", 1), ("lte", 1), ("eq#", 1), ("neq#", 1),
    ("between", Bounds(0, 9, True)),
]  # fmt: skip


@pytest.mark.parametrize(("op", "operand"), MISSING)
def test_missing_field_is_false_and_noted(op: str, operand: object) -> None:
    view = View({"other": 1})
    assert evaluate(Atom("k", op, operand), view) is False
    assert view.missing == ["k"]


@pytest.mark.parametrize(("op", "operand"), MISSING)
def test_missing_field_under_strict_guards(op: str, operand: object) -> None:
    with pytest.raises(GuardMissingField, match="'k'"):
        evaluate(Atom("k", op, operand), View({}, strict=True))


def test_asking_whether_it_is_there_misses_nothing() -> None:
    view = View({"there": None}, strict=True)
    assert evaluate(Atom("there", "exists"), view) is True
    assert evaluate(Atom("gone", "exists"), view) is False
    assert evaluate(Atom("gone", "absent"), view) is True
    assert evaluate(Atom("there", "absent"), view) is False
    assert view.missing == []


def test_deep_values_are_equal_to_nothing_instead_of_a_crash() -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    assert truth(Atom("k", "eq", deep), k=deep[0]) is False
    assert truth(Atom("k", "contains", 1), k=[deep]) is False


# --- turns, tasks, goal -------------------------------------------------------------------------


@pytest.mark.parametrize(("count", "wanted"), [(2, False), (3, True), (4, True), (0, False)])
def test_turns_are_at_least(count: int, wanted: bool) -> None:
    turns = {"without_progress": count, "total": 99, "session": 0}
    assert evaluate(Turns(3), View({}, turns=turns)) is wanted
    assert evaluate(Turns(3, "total"), View({}, turns=turns)) is True
    assert evaluate(Turns(3, "session"), View({}, turns=turns)) is False


def test_turns_that_nobody_counts_are_unknown() -> None:
    assert evaluate(Turns(3), View({})) is None
    assert evaluate(Turns(3, "session"), View({}, turns={"total": 5})) is None


def test_fractions_of_turns_are_floored() -> None:
    guard, issues = read("turn_count_exceeded", turns=3.9)
    assert issues == []
    assert isinstance(guard, Turns)
    assert guard.turns == 3
    assert guard.scope == "without_progress"


@pytest.mark.parametrize("value", [True, False, None])
def test_completion_and_goal(value: bool | None) -> None:
    assert evaluate(Complete(), View({}, complete=value)) is value
    assert evaluate(Closed(), View({}, closed=value)) is value


def test_completion_in_a_goal_state_means_the_goal() -> None:
    guard, _ = read("all_tasks_complete", in_goal=True)
    assert isinstance(guard, Closed)
    guard, _ = read("all_of", in_goal=True, conditions=[{"condition_type": "all_tasks_complete"}])
    assert isinstance(guard, AllOf)
    assert isinstance(guard.children[0], Closed)


def test_the_goal_outside_a_goal_state_never_holds() -> None:
    guard, issues = read("goal_achieved")
    assert isinstance(guard, Invalid)
    assert [type(issue) for issue in issues] == [BadCondition]
    assert evaluate(guard, View({}, complete=True, closed=True)) is False


# --- composites ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("guard", "wanted"),
    [
        (AllOf((YES, YES)), True),
        (AllOf((YES, NO)), False),
        (AllOf((YES, UNKNOWN)), None),
        (AllOf((UNKNOWN, NO)), False),
        (AllOf(()), True),
        (AnyOf((NO, YES)), True),
        (AnyOf((NO, NO)), False),
        (AnyOf((NO, UNKNOWN)), None),
        (AnyOf((UNKNOWN, YES)), True),
        (AnyOf(()), False),
        (Not(YES), False),
        (Not(NO), True),
        (Not(UNKNOWN), None),
        (Not(AllOf((UNKNOWN, NO))), True),
        (AnyOf((AllOf((YES, UNKNOWN)), Not(NO))), True),
        (UNKNOWN, None),
    ],
)
def test_composite(guard: Guard, wanted: bool | None) -> None:
    assert evaluate(guard, View(KNOWN)) is wanted


INVERTED = Atom("y", "between", Bounds(7, 4, True))
WRONG = [
    Invalid("no such operator"),
    INVERTED,
    read("deliverable_value", key="k")[0],
    read("deliverable_value_numeric", key="k", operator="=>", value=1)[0],
    read("goal_achieved")[0],
]


@pytest.mark.parametrize("wrong", WRONG)
def test_an_invalid_child_makes_the_whole_invalid(wrong: Guard) -> None:
    view = View(KNOWN, complete=True, closed=True, turns={"total": 9})
    assert evaluate(wrong, view) is False
    assert evaluate(AnyOf((YES, wrong)), view) is False
    assert evaluate(AllOf((YES, wrong)), view) is False
    assert evaluate(Not(wrong), view) is False
    assert evaluate(AnyOf((YES, AllOf((Not(AnyOf((YES, wrong))), YES)))), view) is False
    assert evaluate(AnyOf((UNKNOWN, wrong)), view) is False


def test_between_the_wrong_way_round_never_holds() -> None:
    guard, _ = read("deliverable_value_numeric", key="y", operator="between", min=7, max=4)
    for value in (3, 4, 5, 7, 8):
        assert truth(guard, y=value) is False


@pytest.mark.parametrize(
    ("kind", "config"),
    [
        ("deliverable_exists", {}),
        ("deliverable_exists", {"key": 5}),
        ("deliverable_value", {"key": "k"}),
        ("deliverable_value_in", {"key": "k", "values": "ab"}),
        ("deliverable_value_numeric", {"key": "k", "operator": "gt"}),
        ("deliverable_value_numeric", {"key": "k", "operator": "gt", "value": "high"}),
        ("deliverable_value_numeric", {"key": "k", "operator": "gt", "value": True}),
        ("deliverable_value_numeric", {"key": "k", "operator": "between", "min": 1}),
        ("deliverable_value_numeric", {"key": "k", "operator": "near", "value": 1}),
        ("turn_count_exceeded", {}),
        ("turn_count_exceeded", {"turns": "3"}),
        ("turn_count_exceeded", {"turns": 3, "scope": "week"}),
        ("all_of", {}),
        ("any_of", {"conditions": {}}),
        ("compound", {"conditions": []}),
        ("compound", {"operator": "xor", "conditions": []}),
        ("no_such_type", {}),
    ],
)
def test_wrong_config_is_a_guard_that_never_holds(kind: str, config: dict[str, object]) -> None:
    issues: list[Issue] = []
    guard = GuardReader(issues, in_goal=False).condition(kind, config, ("g",))
    assert isinstance(guard, Invalid)
    assert len(issues) == 1
    assert isinstance(issues[0], BadCondition | WrongType)
    assert evaluate(guard, View({"k": 5}, turns={"without_progress": 9})) is False


def nested(depth: int) -> dict[str, object]:
    leaf: dict[str, object] = {
        "condition_type": "deliverable_exists",
        "condition_config": {"key": "y"},
    }
    for _ in range(depth - 1):
        leaf = {"condition_type": "any_of", "condition_config": {"conditions": [leaf]}}
    return leaf


def test_composites_nest_five_deep_and_no_deeper() -> None:
    assert truth(when(nested(6)), y=1) is True  # five composites around an atom
    issues: list[Issue] = []
    guard = GuardReader(issues, in_goal=False).when(nested(7), ("w",))
    assert guard is not None
    assert truth(guard, y=1) is False
    assert len(issues) == 1


def test_missing_field_inside_composites_is_noted() -> None:
    view = View({"a": 1})
    guard = AllOf((Atom("a", "eq", 1), AnyOf((Atom("b", "eq", 1), Atom("c", "ne", 1)))))
    assert evaluate(guard, view) is False
    assert view.missing == ["b", "c"]


# --- `when` -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "data", "wanted"),
    [
        ({"intent": "refund", "amount__gt": 0}, {"intent": "Refund", "amount": 1}, True),
        ({"intent": "refund", "amount__gt": 0}, {"intent": "refund"}, False),
        ({"k__ne": 1}, {}, False),
        ({"k__notin": [1]}, {}, False),
        ({"k__exists": False}, {}, True),
        ({"k__exists": True}, {"k": None}, True),
        ({"k__in": ["a", "b"]}, {"k": "B"}, True),
        ({"k__lte": 5}, {"k": "5"}, True),
        ({"k__contains": "x"}, {"k": ["X"]}, True),
        ({"k__isnot": None}, {"k": 0}, True),
        ({"k": [1, 2]}, {"k": [1, 2]}, True),
        ({"k__eq": "a"}, {"k": "a"}, True),
        ("k > 4 and has(z)", {"k": 5, "z": 0}, True),
        ("k > 4 and has(z)", {"k": 5}, False),
        ("not has(k)", {}, True),
        ("not k", {}, False),
        ("not (k > 4)", {}, False),
        ("k is None or True", {}, False),
        ("k == 'A'", {"k": "a"}, False),
        ("k > 4", {"k": "5"}, False),
    ],
)
def test_when(value: object, data: dict[str, object], wanted: bool) -> None:
    assert truth(when(value), **data) is wanted


def test_expression_notes_every_unset_field_it_needs() -> None:
    guard = when("a > 1 or has(b) or c")
    assert isinstance(guard, Expr)
    view = View({"c": 1})
    assert evaluate(guard, view) is False
    assert view.missing == ["a"]
    with pytest.raises(GuardMissingField, match="'a'"):
        evaluate(guard, View({"c": 1}, strict=True))


@pytest.mark.parametrize("value", [None, "default", {}])
def test_no_guard(value: object) -> None:
    assert GuardReader([], in_goal=False).when(value, ()) is None


def test_reads_in_reading_order_each_once() -> None:
    guard = AllOf(
        (Atom("b", "exists"), Not(AnyOf((Atom("a", "eq", 1), Atom("b", "eq", 2)))), when("c > a"))
    )
    assert reads(guard) == ("b", "a", "c")


# --- laws ---------------------------------------------------------------------------------------

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=True),
    st.text(max_size=8),
    st.sampled_from(["5", " 5.0 ", "true", "inf", "Straße", "STRASSE", "1e3"]),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)
OPS = ("exists", "absent", "eq", "ne", "in", "notin", "contains", "is", "isnot", "gt", "gte",
       "lt", "lte", "eq#", "neq#")  # fmt: skip
KEYS = st.sampled_from(["a", "b", "c"])


def operands(op: str) -> st.SearchStrategy[object]:
    if op in ("in", "notin"):
        return st.lists(VALUES, max_size=3).map(tuple)
    if op in ("gt", "gte", "lt", "lte", "eq#", "neq#"):
        return st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    return VALUES


ATOMS = st.sampled_from(OPS).flatmap(
    lambda op: st.builds(Atom, KEYS, st.just(op), operands(op))
) | st.builds(
    Atom,
    KEYS,
    st.just("between"),
    st.builds(Bounds, st.integers(-9, 9), st.integers(-9, 9), st.booleans()),
)
LEAVES = st.one_of(
    ATOMS,
    st.builds(Turns, st.integers(0, 5), st.sampled_from(["total", "session"])),
    st.just(Complete()),
    st.just(Closed()),
    st.just(UNKNOWN),
    st.just(Invalid("wrong")),
)
GUARDS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda parts: AllOf(tuple(parts))),
        st.lists(inner, max_size=3).map(lambda parts: AnyOf(tuple(parts))),
        st.builds(Not, inner),
    ),
    max_leaves=8,
)
DATA = st.dictionaries(KEYS, VALUES)


def view(data: dict[str, object], known: bool | None = None) -> View:
    return View(data, complete=known, closed=known, turns={"total": 3})


@given(GUARDS, DATA, st.sampled_from([True, False, None]))
def test_evaluate_answers_always_and_without_changing_the_data(
    guard: Guard, data: dict[str, object], known: bool | None
) -> None:
    before = repr(data)
    assert evaluate(guard, view(data, known)) in (True, False, None)
    assert repr(data) == before


@given(GUARDS, DATA)
def test_what_is_known_stays_when_more_becomes_known(guard: Guard, data: dict[str, object]) -> None:
    """None means that it depends: once decided, no further knowledge may turn it round."""
    answer = evaluate(guard, view(data))
    if answer is not None:
        assert evaluate(guard, view(data, True)) is answer
        assert evaluate(guard, view(data, False)) is answer


@given(GUARDS, DATA)
def test_double_negation_and_de_morgan(guard: Guard, data: dict[str, object]) -> None:
    if any(isinstance(part, Invalid) for part in walk(guard)) or _inverted(guard):
        assert evaluate(Not(guard), view(data)) is False
        return
    assert evaluate(Not(Not(guard)), view(data)) is evaluate(guard, view(data))
    if isinstance(guard, AnyOf):
        twin = Not(AllOf(tuple(Not(child) for child in guard.children)))
        assert evaluate(twin, view(data)) is evaluate(guard, view(data))


def _inverted(guard: Guard) -> bool:
    return any(
        isinstance(part, Atom)
        and isinstance(part.operand, Bounds)
        and part.operand.low > part.operand.high
        for part in walk(guard)
    )


@given(VALUES, VALUES)
def test_equality_is_symmetric_and_ne_its_opposite(left: object, right: object) -> None:
    assert same(left, right) is same(right, left)
    assert holds(Atom("k", "ne", right), left) is not holds(Atom("k", "eq", right), left)


@given(st.text(alphabet=string.whitespace, max_size=3), st.text())
def test_folding_sees_neither_case_nor_blanks_around(blank: str, text: str) -> None:
    assert fold(blank + text + blank) == fold(text)
    assert fold(fold(text)) == fold(text)


@given(st.integers() | st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_as_text_is_that_number(number: float) -> None:
    assert as_number(str(number)) == number
    assert as_number(number) == number


@given(st.text())
def test_what_is_read_as_a_number_is_finite_and_python_agrees(text: str) -> None:
    number = as_number(text)
    if number is not None:
        assert math.isfinite(number)
        assert float(text.strip()) == float(number)


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(-9, 9), st.integers(-9, 9))
def test_ranges_are_two_comparisons(value: float, low: int, high: int) -> None:
    inside = holds(Atom("k", "gte", low), value) and holds(Atom("k", "lte", high), value)
    assert holds(Atom("k", "between", Bounds(low, high, True)), value) is inside
    strictly = holds(Atom("k", "gt", low), value) and holds(Atom("k", "lt", high), value)
    assert holds(Atom("k", "between", Bounds(low, high, False)), value) is strictly
