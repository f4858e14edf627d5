"""Plan states hand a run round in a circle without asking anything.

Why: a state whose conditions hold when it is entered is left at once. Where such states lead to
each other, the engine stops the run in one of them, though its condition holds: the person talks to
a state that was not meant to be talked to.

Bad:
    states:
      - id: ask
        title: Ask
        tasks:
          - id: a
            description: Ask for a number
            deliverables: [{key: n, type: integer}]
        transitions:
          - target_state_id: again
            condition_type: deliverable_value_numeric
            condition_config: {key: n, operator: lt, value: 1}
          - {target_state_id: done, priority: 2}
      - id: again
        title: Again
        transitions: [{target_state_id: ask}]
      - id: done
        title: Done

Good:
    states:
      - id: ask
        title: Ask
        tasks:
          - id: a
            description: Ask for a number
            deliverables: [{key: n, type: integer}]
        transitions:
          - target_state_id: again
            condition_type: deliverable_value_numeric
            condition_config: {key: n, operator: lt, value: 1}
          - {target_state_id: done, priority: 2}
      - id: again
        title: Again
        tasks:
          - id: b
            description: Ask for the number again
            deliverables: [{key: n, type: integer}]
        transitions: [{target_state_id: done}]
      - id: done
        title: Done

Fix: ask for something new on the way round, or let the states forget their answers when they are
entered again (`on_reenter: reset`).
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.kernel.limits import limit
from statecli.lint.facts import Facts
from statecli.model.diagnostic import Finding
from statecli.model.wording import listed

FAMILY = "termination"
SEVERITY = "warning"


def check(facts: Facts) -> Iterator[Finding]:
    """One finding for each circle, if nobody says already that no run gets out of it."""
    yield from _too_long(facts)
    pairs = [
        (facts.index[proof.state], facts.index[str(proof.values["target"])])
        for proof in facts.proven("unbounded-hops")
        if not proof.values["long"]
    ]
    if not pairs:
        return
    possible = any(proof.verdict == "possible" for proof in facts.proven("unbounded-hops"))
    trapped = {name for finding in facts.fired("no-way-out") for name in finding.states}
    for members in _circles(pairs):
        names = facts.names(members)
        if not trapped.isdisjoint(names):
            continue
        yield Finding(
            message=f"{listed(names)} hand the run round in a circle without asking anything; it"
            f" stops in one of them",
            at=facts.place(names[0]),
            states=names,
            hint="ask for something new on the way round, or let them forget their answers"
            " (on_reenter: reset)",
            verdict="possible" if possible else "proved",
            anchors=tuple(facts.place(name) for name in names[1:]),
        )


def _too_long(facts: Facts) -> Iterator[Finding]:
    """Each state in which a run stops since it has come through too many at once."""
    assert facts.graph is not None
    for proof in facts.proven("unbounded-hops"):
        if proof.values["long"]:
            most, target = limit(facts.graph, "max_hops"), str(proof.values["target"])
            yield Finding(
                message=f"a run can come into '{proof.state}' with {most} moves made at once, and"
                f" stops there on the way to '{target}' (max_hops)",
                at=facts.place(proof.state),
                states=(proof.state, *((target,) if target in facts.index else ())),
                hint="ask for something on the way, or set a higher 'max_hops' under 'limits'",
                verdict=proof.verdict,
            )


def _circles(pairs: list[tuple[int, int]]) -> list[list[int]]:
    """The states of pairs that hang together, in the order of the file."""
    groups: list[set[int]] = []
    for pair in pairs:
        joined = set(pair)
        apart = []
        for group in groups:
            if group.isdisjoint(joined):
                apart.append(group)
            else:
                joined |= group
        groups = [*apart, joined]
    return sorted(sorted(group) for group in groups)
