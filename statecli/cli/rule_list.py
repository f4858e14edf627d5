"""`--list-rules`: every rule on one line."""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint.rule import FAMILIES, rules


def lines() -> Iterator[str]:
    """Id, family, severity, fix, and what the rule finds; by family."""
    known = sorted(rules().values(), key=lambda rule: (FAMILIES.index(rule.family), rule.id))
    wide = max(len(rule.id) for rule in known)
    for rule in known:
        fix = f"{rule.fix} fix" if rule.fix else ""
        yield f"{rule.id:<{wide}}  {rule.family:<12}  {rule.standing:<9}  {fix:<10}  {rule.finds}\n"
