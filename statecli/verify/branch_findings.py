"""What is wrong with several branches at once: findings with runs that the real kernel replays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from statecli.verify.branch_replay import BranchReplay
from statecli.verify.branch_witness import BranchSearch
from statecli.verify.branches import Branches
from statecli.verify.findings import RULES
from statecli.verify.report import Finding, Witness
from statecli.verify.witness import Goal

if TYPE_CHECKING:
    from statecli.verify.verifier import Verification


def branch_findings(
    of: Verification, lists: Mapping[str, Any], coop: Branches, *, witnesses: bool
) -> Iterator[Finding]:
    """What is wrong with several branches at once, each with a run through the real kernel."""
    goals = dict(_branch_goals(of, lists, coop))
    runs = BranchSearch(of.sites, of.budget, list(goals)).run() if goals and witnesses else {}
    for goal, values in goals.items():
        name = of.layout.states[goal.site].name
        found = Finding(RULES[goal.kind], name, -1, "possible", None, values)
        if goal in runs:
            run = runs[goal]
            replay = BranchReplay(of.graph, run.root, run.given).run(run.acts)
            if replay.ok and replay.shows(goal.kind, name, goal.one):
                shown = Witness(replay.witness(), run.given)
                found = found._replace(verdict="witnessed", witness=shown)
                if goal.kind == "open" and run.other:  # as the run shows it
                    found = found._replace(values={**values, "other": run.other})
                elif goal.kind == "waits":
                    found = found._replace(values={**values, "lacking": run.lacking})
        yield found


def _branch_goals(
    of: Verification, lists: Mapping[str, Any], coop: Branches
) -> Iterator[tuple[Goal, dict[str, object]]]:
    """What is looked for, with the values of the messages."""
    index, names = of.layout.index, [state.name for state in of.layout.states]
    for name in sorted(lists["stuck"]):
        yield Goal("stuck", index[name]), {}
    asked = {(index[name], key) for name, key in lists["unset"]}
    for kind, pairs in (("unset", asked), ("lacking", coop.steps.lacking - asked)):
        for number, key in sorted(pairs):
            always = (names[number], key) in lists["never_set"]
            guard = kind == "unset"
            yield Goal(kind, number, key), {"key": key, "always": always, "guard": guard}
    for number, one in sorted(coop.waiting.items()):
        lacking = tuple(names[n] for n in one.lacking)
        goal = Goal("waits", number, one.follows)
        yield goal, {"lacking": lacking, "follows": one.follows}
    for number, other in sorted(coop.open_ends.items()):
        yield Goal("open", number), {"other": names[other]}
    for number in sorted(coop.twice):
        yield Goal("twice", number), {}
