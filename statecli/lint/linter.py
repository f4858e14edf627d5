"""Runs the rules over a graph and decides what each finding counts for."""

from __future__ import annotations

import gc
from collections.abc import Iterable

from statecli.config import Config
from statecli.lint.facts import Facts
from statecli.lint.ignores import Ignores
from statecli.lint.rule import FAMILIES, Rule, rules
from statecli.load.loader import Loaded
from statecli.model.diagnostic import Diagnostic, Finding

UNUSED = "unused-suppression"


def lint(loaded: Loaded, config: Config | None = None) -> list[Diagnostic]:
    """Every diagnostic of a loaded graph, suppressions applied, in the order of the file.

    The severities are those of the config; a rule switched off does not run.
    """
    return check(facts_of(loaded, config or Config()))


def facts_of(loaded: Loaded, config: Config) -> Facts:
    """What the rules ask about; nothing of it is computed yet."""
    return Facts(loaded, config, selected(config))


def check(facts: Facts) -> list[Diagnostic]:
    """The diagnostics of a graph, for those who ask its facts more than that."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        return _run(facts, dict(facts.active))
    finally:
        if collecting:
            gc.enable()


def selected(config: Config) -> dict[str, str]:
    """The rules that run, with their severities."""
    known = rules()
    chosen = set(_named(config.select)) if config.select else {r.id for r in known.values() if r.on}
    chosen |= set(_named(config.extend_select))
    chosen -= set(_named(config.ignore))
    severities: dict[str, str] = {}
    for rule in known.values():
        severity = config.severity.get(rule.id)
        if severity == "off" or (rule.id not in chosen and severity is None):
            continue
        if rule.id in chosen or rule.id not in set(_named(config.ignore)):
            severities[rule.id] = severity or rule.severity
    return severities


def _named(words: Iterable[str]) -> list[str]:
    """Rule ids and families to rule ids."""
    found: list[str] = []
    for word in words:
        if word in FAMILIES or word == "all":
            found.extend(r.id for r in rules().values() if word in (r.family, "all"))
        else:
            found.append(word)
    return found


def _run(facts: Facts, active: dict[str, str]) -> list[Diagnostic]:
    found: list[tuple[Rule, Finding]] = []
    for rule in _order(active):
        results = facts.fired(rule.id)
        found.extend((rule, finding) for finding in results)
        if results and rule.exclusive and any(f.severity != "info" for f in results):
            break
    ignores = Ignores(facts.document)
    kept: list[Diagnostic] = []
    for rule, finding in found:
        if ignores.hides(rule.id, finding):
            continue
        kept.append(_diagnostic(facts, rule, finding, active[rule.id]))
    if UNUSED in active:
        rule = rules()[UNUSED]
        unused = ignores.unused(set(active), set(rules()))
        kept.extend(_diagnostic(facts, rule, finding, active[UNUSED]) for finding in unused)
    return kept


def _order(active: dict[str, str]) -> list[Rule]:
    """Rules whose finding holds all others back come first."""
    chosen = [rule for rule in rules().values() if rule.id in active and rule.id != UNUSED]
    return sorted(chosen, key=lambda rule: not rule.exclusive)


def _diagnostic(facts: Facts, rule: Rule, finding: Finding, severity: str) -> Diagnostic:
    """A severity that the config sets wins over the one the finding chose for its case."""
    if rule.id not in facts.config.severity and finding.severity is not None:
        severity = finding.severity
    return Diagnostic(rule.id, rule.family, severity, finding, facts.document)
