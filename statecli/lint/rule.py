"""A rule is a module of `lint/rules/`: a docstring, a few constants and `check`.

The file's name with ``-`` for ``_`` is the rule's id. The docstring's first line says what it
finds; then come `Why:`, `Bad:` and `Good:` (graphs, indented, run as tests) and `Fix:`.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterable
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from statecli.model.diagnostic import Finding

if TYPE_CHECKING:
    from statecli.lint.facts import Facts

#: In the order of rules.md; the words of `--select`.
FAMILIES = (
    "syntax", "references", "reachability", "termination", "guards", "tasks", "data", "model",
    "style",
)  # fmt: skip


class Rule(NamedTuple):
    """One rule as its module says it. `on` False: only when selected by name or severity.

    `own_form`: about our own syntax or style, so not run on imported graphs. `fix`: the best fix
    it offers, "safe" or "unsafe"; empty for none.
    """

    id: str
    family: str
    severity: str
    on: bool
    doc: str
    check: Callable[[Facts], Iterable[Finding]]
    exclusive: bool
    own_form: bool
    fix: str = ""

    @property
    def finds(self) -> str:
        """The first sentence of its docstring."""
        return " ".join(self.doc.strip().split("\n\n", 1)[0].split())

    @property
    def standing(self) -> str:
        """Its severity, and whether it is off unless selected."""
        return self.severity if self.on else f"{self.severity}, off"


@cache
def rules() -> dict[str, Rule]:
    """Every rule by id, in alphabetical order: the folder's listing is the registry."""
    return {rule.id: rule for rule in map(_load, _names())}


def rule_ids(words: Iterable[str]) -> list[str]:
    """Rule ids, families and `all` to rule ids."""
    found: list[str] = []
    for word in words:
        if word in FAMILIES or word == "all":
            found.extend(rule.id for rule in rules().values() if word in (rule.family, "all"))
        else:
            found.append(word)
    return found


def _names() -> list[str]:
    folder = os.path.join(os.path.dirname(__file__), "rules")
    return sorted(
        entry[:-3] for entry in os.listdir(folder) if entry.endswith(".py") and entry[0] != "_"
    )


def _load(name: str) -> Rule:
    module = importlib.import_module(f"statecli.lint.rules.{name}")
    return Rule(
        id=name.replace("_", "-"),
        family=module.FAMILY,
        severity=module.SEVERITY,
        on=getattr(module, "ON", True),
        doc=module.__doc__ or "",
        check=module.check,
        exclusive=getattr(module, "EXCLUSIVE", False),
        own_form=getattr(module, "OWN_FORM", module.FAMILY in ("syntax", "style")),
        fix=getattr(module, "FIX", ""),
    )
