"""Guards in words."""

from __future__ import annotations

import pytest

from statecli.load.guardtext import GuardReader
from statecli.model.guard import (
    AllOf,
    AnyOf,
    Atom,
    Bounds,
    Closed,
    Complete,
    Guard,
    Invalid,
    Not,
    Opaque,
    Turns,
)
from statecli.model.words import in_words


@pytest.mark.parametrize(
    ("guard", "wanted"),
    [
        (Atom("risk", "gte", 8), "risk ≥ 8"),
        (Atom("risk", "gt", 0.5), "risk > 0.5"),
        (Atom("risk", "lte", 8.0), "risk ≤ 8"),
        (Atom("risk", "lt", "8"), "risk < '8'"),
        (Atom("risk", "eq#", 5), "risk = 5"),
        (Atom("risk", "neq#", 5), "risk ≠ 5"),
        (Atom("risk", "between", Bounds(4, 7, True)), "4 ≤ risk ≤ 7"),
        (Atom("risk", "between", Bounds(4, 7.5, False)), "4 < risk < 7.5"),
        (Atom("issue", "eq", "billing"), "issue is billing"),
        (Atom("issue", "ne", "billing"), "issue is not billing"),
        (Atom("issue", "eq", "two words"), "issue is 'two words'"),
        (Atom("issue", "eq", ""), "issue is ''"),
        (Atom("issue", "eq", "5"), "issue is '5'"),
        (Atom("issue", "eq", 5), "issue is 5"),
        (Atom("issue", "eq", "true"), "issue is 'true'"),
        (Atom("issue", "eq", True), "issue is true"),
        (Atom("issue", "eq", "set"), "issue is 'set'"),
        (Atom("issue", "is", None), "issue is null"),
        (Atom("issue", "isnot", None), "issue is not null"),
        (Atom("issue", "eq", "状態"), "issue is 状態"),
        (Atom("tags", "contains", "vip"), "tags contains vip"),
        (Atom("tags", "eq", ("a", 1)), "tags is ['a', 1]"),
        (Atom("issue", "in", ("a", "b c", 3)), "issue is one of 'a', 'b c', 3"),
        (Atom("issue", "notin", ("a", "b")), "issue is none of 'a', 'b'"),
        (Atom("issue", "in", ("Y", "y", "no-1")), "issue is one of 'Y', 'y', 'no-1'"),
        (Atom("issue", "in", ("true", "y")), "issue is one of 'true', 'y'"),
        (Atom("issue", "in", (1, 1)), "issue is 1"),
        (Atom("tags", "eq", ("a", "b c")), "tags is ['a', 'b c']"),
        (Atom("issue", "in", ("a",)), "issue is a"),
        (Atom("issue", "notin", ("a",)), "issue is not a"),
        (Atom("issue", "in", ()), "issue is one of no values"),
        (Atom("email", "exists"), "email is set"),
        (Atom("email", "absent"), "email is not set"),
        (Turns(3), "after 3 turns without progress"),
        (Turns(1, "total"), "after 1 turn in this state"),
        (Turns(20, "session"), "after 20 turns in the session"),
        (Complete(), "all tasks done"),
        (Closed(), "goal closed"),
        (Opaque("my_router"), "decided in code: my_router"),
        (Opaque(""), "decided in code"),
        (Invalid("no such operator"), "never: no such operator"),
        (AllOf(()), "always"),
        (AnyOf(()), "never"),
        (AllOf((Complete(),)), "all tasks done"),
        (AllOf((Complete(), Turns(3))), "all tasks done and after 3 turns without progress"),
        (
            AllOf((AnyOf((Atom("a", "eq", 1), Atom("b", "eq", 2))), Complete())),
            "(a is 1 or b is 2) and all tasks done",
        ),
        (
            AnyOf((AllOf((Atom("a", "eq", 1), AnyOf((Complete(), Closed())))), Closed())),
            "(a is 1 and (all tasks done or goal closed)) or goal closed",
        ),
        (AllOf((AnyOf((Atom("a", "exists"),)), Complete())), "a is set and all tasks done"),
        (AnyOf((Atom("a", "eq", [1]), Atom("a", "eq", [1]))), "a is [1]"),
        (AnyOf((Atom("a", "eq", 1), Atom("a", "eq", 1, ("x",)))), "a is 1"),
        (
            AllOf((AnyOf((AnyOf((Complete(), Closed())),)), Turns(1))),
            "(all tasks done or goal closed) and after 1 turn without progress",
        ),
        (AllOf((AnyOf(()), Complete())), "never and all tasks done"),
        (Not(Atom("a", "eq", 1)), "not (a is 1)"),
        (AllOf((Not(Complete()), Closed())), "not (all tasks done) and goal closed"),
    ],
)
def test_words(guard: Guard, wanted: str) -> None:
    assert in_words(guard) == wanted


@pytest.mark.parametrize(
    ("when", "wanted"),
    [
        ({"intent": "refund", "amount__gt": 0}, "intent is refund and amount > 0"),
        ("tier == 'premium'\n  and amount > 500", "tier == 'premium' and amount > 500"),
        ({"k__in": ["a", "b"]}, "k is one of 'a', 'b'"),
    ],
)
def test_when(when: object, wanted: str) -> None:
    guard = GuardReader([], in_goal=False).when(when, ())
    assert guard is not None
    assert in_words(guard) == wanted
