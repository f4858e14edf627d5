"""A condition is not in the language of conditions.

Why: what cannot be read never holds, so the transition is never taken. Conditions only compare;
they cannot call or change anything.

Bad:
    initial: ask
    states:
      ask:
        type: agent
        writes: [amount]
        transition:
          next:
            - {to: refund, when: "amount = 5"}
            - ask
      refund:
        type: terminal

Bad (an attribute):
    initial: ask
    states:
      ask:
        type: agent
        writes: [order]
        transition:
          next:
            - {to: refund, when: "order.amount > 5"}
            - ask
      refund:
        type: terminal

Good:
    initial: ask
    states:
      ask:
        type: agent
        writes: [amount, order]
        transition:
          next:
            - {to: refund, when: "amount == 5 or order['amount'] > 5"}
            - ask
      refund:
        type: terminal

Fix: use field names, constants, comparisons (also `in` and `is`), `and or not`, arithmetic,
subscripts, and the functions len, abs, min, max, sum, all, any, str, int, float, bool and has.
Composite conditions nest at most 5 deep.
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint.conditions import from_conditions
from statecli.lint.facts import Facts
from statecli.model.diagnostic import Finding

FAMILY = "guards"
SEVERITY = "error"


def check(facts: Facts) -> Iterator[Finding]:
    """The expressions that did not pass the allow list, and composites that nest too deeply."""
    yield from from_conditions(facts, "guard-syntax")
