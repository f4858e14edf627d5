"""How the rules ask the verifier, and what its answers do to theirs.

A path over edges is there only on paper: where the verifier decided everything, what no run does is
no finding (`withdrawn`), and what a run does comes with that run.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from statecli.lint.rule import Rule
from statecli.model.diagnostic import Finding
from statecli.model.graph import FUNCTION
from statecli.model.span import Path
from statecli.verify import DEFAULT_BUDGET, NOTHING_TO_DECIDE, Report
from statecli.verify.report import Finding as Proof

if TYPE_CHECKING:
    from statecli.lint.facts import Facts

#: Rules that only the verifier can answer, and those that it makes exact.
ASKING = frozenset(
    {"dead-transition", "unreachable-under-guards", "stuck-state", "no-way-out",
     "rescued-by-safety-net", "priority-tie-overlap", "read-before-write", "unbounded-hops",
     "join-never-satisfied", "end-with-open-branches", "duplicate-branch", "pass-through-state",
     "enum-value-unrouted", "numeric-gap"}
)  # fmt: skip
#: Rules that say why a route is never taken; where one does, nobody wants to read it twice.
NAMING = (
    "shadowed-transition", "turn-guard-shadowed", "default-not-last", "guard-never-holds",
    "value-not-in-enum", "compare-type-mismatch", "goal-condition-outside-goal", "guard-syntax",
    "unknown-operator", "unknown-condition-type", "condition-config-missing",
    "field-never-written", "field-written-later", "undefined-target", "duplicate-transition",
    "duplicate-target", "unknown-key", "wrong-value-type", "missing-key",
    "terminal-with-transition",
)  # fmt: skip


class Proving(NamedTuple):
    """How much the verifier may do: expansions, and seconds as an emergency stop."""

    budget: int = DEFAULT_BUDGET
    timeout: float | None = None


PROVING = Proving()


def verified(facts: Facts) -> Report | None:
    """The verifier's report. Nothing is loaded for a graph whose edges say it all."""
    graph, proving = facts.graph, facts.proving
    if graph is None or proving is None or not facts.roots or facts.fired("undefined-initial"):
        return None
    if ASKING.isdisjoint(facts.active):
        return None
    if not _has_data(facts):
        return NOTHING_TO_DECIDE
    anywhere = next((s.name for s in facts.states if s.answers and not s.transitions), None)
    if anywhere is not None:
        said = f"'{anywhere}': where its body goes on is not known"
        return NOTHING_TO_DECIDE._replace(exact=False, undecided=(said,))
    from statecli.verify.verifier import verify

    inputs = None if facts.open_start else facts.config.inputs
    return verify(graph, budget=proving.budget, timeout=proving.timeout, inputs=inputs)


def _has_data(facts: Facts) -> bool:
    """Whether a guard, a task, several branches or a foreign field decide anything."""
    if any(state.is_plan or state.reads or state.fans_out for state in facts.states):
        return True
    if any(facts.opaque):
        return True
    return any(way.guard is not None for ways in facts.routes for way in ways)


def withdrawn(facts: Facts, rule: Rule, finding: Finding) -> bool:
    """Whether a finding about how runs end is about states that no run enters."""
    if rule.family != "termination" or rule.id in ASKING or not finding.states:
        return False
    report = facts.decided
    if report is None or not report.lists["unreachable"]:
        return False
    return report.lists["unreachable"].issuperset(finding.states)


def named(facts: Facts) -> set[Path]:
    """The places of transitions about which a rule says already why they are never taken, and all
    that stands around those places."""
    found: set[Path] = set()
    for rule in NAMING:
        for finding in facts.fired(rule):
            path = finding.at.path
            found.update(path[:size] for size in range(1, len(path) + 1))
    return found


def gaps(facts: Facts, found: Iterator[Finding]) -> Iterator[Finding]:
    """Findings about values that no route takes: only where a run gets stuck with one of them, and
    then with that run."""
    report = facts.verified
    if report is None:
        yield from found
        return
    shown = {proof.state: proof for proof in report.of("stuck-state")}
    shown |= {proof.state: proof for proof in report.of("rescued-by-safety-net")}
    for finding in found:
        proof = shown.get(finding.states[0])
        if facts.states[facts.index[finding.states[0]]].kind == FUNCTION:
            yield finding  # what its body sees to is not known: the values have a gap all the same
        elif proof is not None and proof.witness is not None:
            yield finding._replace(verdict=proof.verdict, witness=proof.witness)
        elif proof is not None or not report.exact:
            yield finding


__all__ = ["ASKING", "PROVING", "Proof", "Proving", "gaps", "named", "verified", "withdrawn"]
