"""Runs the rules over a graph and decides what each finding counts for."""

from __future__ import annotations

import gc

from statecli.config import Config
from statecli.lint.facts import Facts
from statecli.lint.ignores import Ignores
from statecli.lint.kinds import misspelt_kinds
from statecli.lint.proofs import PROVING, Proving, withdrawn
from statecli.lint.rule import Rule, rule_ids, rules
from statecli.load.loader import Loaded, build
from statecli.model.diagnostic import SEVERITIES, Diagnostic, Finding
from statecli.text.document import PYTHON

UNUSED = "unused-suppression"


def lint(loaded: Loaded, config: Config | None = None) -> list[Diagnostic]:
    """Every diagnostic of a loaded graph, suppressions applied, in the order of the file.

    The severities are those of the config; a rule switched off does not run.
    """
    return check(facts_of(loaded, config or Config()))


def facts_of(loaded: Loaded, config: Config, proving: Proving | None = PROVING) -> Facts:
    """What the rules ask about; nothing of it is computed yet. A state whose kind is misspelt is
    judged as the kind that was meant. `proving`: how much the verifier may do, None for nothing."""
    active = selected(config)
    if loaded.document.language == PYTHON:
        known = rules()
        active = {rule: level for rule, level in active.items() if not known[rule].own_form}
        return Facts(loaded, config, active, proving=proving)
    slips = misspelt_kinds(loaded, config) if "unknown-state-type" in active else {}
    if slips and loaded.graph is not None:
        loaded = build(loaded.document, loaded.graph.form, slips)
    return Facts(loaded, config, active, slips, proving)


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
    if config.select:
        chosen = set(rule_ids(config.select))
    else:
        chosen = {rule.id for rule in known.values() if rule.on}
    ignored = set(rule_ids(config.ignore))
    chosen = (chosen | set(rule_ids(config.extend_select))) - ignored
    severities: dict[str, str] = {}
    for rule in known.values():
        severity = config.severity.get(rule.id)
        if severity == "off" or (rule.id not in chosen and severity is None):
            continue
        if rule.id not in ignored:
            severities[rule.id] = severity or rule.severity
    return severities


def _run(facts: Facts, active: dict[str, str]) -> list[Diagnostic]:
    found: list[tuple[Rule, Finding]] = []
    for rule in _order(active):
        results = facts.fired(rule.id)
        found.extend((rule, finding) for finding in results)
        if results and rule.exclusive and any(f.severity != "info" for f in results):
            break
    found = [item for item in found if not withdrawn(facts, *item)]
    ignores = Ignores(facts.document)
    kept: list[Diagnostic] = []
    for rule, finding in found:
        if ignores.hides(rule.id, finding):
            continue
        kept.append(_diagnostic(facts, rule, finding, active[rule.id]))
    if facts.document.language == "yaml" and "*" in facts.document.text:
        kept = _once(facts, kept)
    if UNUSED in active:
        rule = rules()[UNUSED]
        unused = ignores.unused(set(active), set(rules()))
        kept.extend(_diagnostic(facts, rule, finding, active[UNUSED]) for finding in unused)
    return kept


def _once(facts: Facts, found: list[Diagnostic]) -> list[Diagnostic]:
    """One diagnostic for a mistake that aliases repeat: what stands once in the file is written
    once. It is about all the states that hold it."""
    kept: list[Diagnostic] = []
    seen: dict[tuple[object, ...], int] = {}
    for item in found:
        finding = item.finding
        cause = (item.rule, facts.document.offsets(finding.at))
        said = [finding.message]
        if finding.states:  # which of the states it is told of makes no difference
            said.append(finding.message.replace(f"'{finding.states[0]}'", "''"))
        causes = [(*cause, text) for text in said]
        number = next((seen[one] for one in causes if one in seen), len(kept))
        if number < len(kept) and kept[number].finding.at.path != finding.at.path:
            kept[number] = _joined(kept[number], item)
        else:  # two of one path are no aliases
            kept.append(item)
        seen.update((one, number) for one in causes if one not in seen)
    return kept


def _joined(first: Diagnostic, other: Diagnostic) -> Diagnostic:
    states = tuple(dict.fromkeys((*first.finding.states, *other.finding.states)))
    severity = min(first.severity, other.severity, key=SEVERITIES.index)
    return first._replace(severity=severity, finding=first.finding._replace(states=states))


def _order(active: dict[str, str]) -> list[Rule]:
    """Rules whose finding holds all others back come first."""
    chosen = [rule for rule in rules().values() if rule.id in active and rule.id != UNUSED]
    return sorted(chosen, key=lambda rule: not rule.exclusive)


def _diagnostic(facts: Facts, rule: Rule, finding: Finding, severity: str) -> Diagnostic:
    """A severity that the config sets wins over the one the finding chose for its case."""
    if rule.id not in facts.config.severity and finding.severity is not None:
        severity = finding.severity
    document = facts.document.within(finding.at)
    if facts.is_python:
        from statecli.lint.python_graph import in_its_file  # inspect is heavy

        finding = in_its_file(facts.document, finding)
    return Diagnostic(rule.id, rule.family, severity, finding, document)
