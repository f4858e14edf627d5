"""`goal_achieved` is asked in a state that has no goal.

Why: only a state of type `goal` can close a goal, so the condition never holds.

Bad:
    states:
      - id: intake
        title: Intake
        tasks: [{id: name, description: Ask for the name}]
        transitions:
          - {target_state_id: summary, condition_type: goal_achieved}
      - id: summary
        title: Summary

Good:
    states:
      - id: intake
        title: Intake
        tasks: [{id: name, description: Ask for the name}]
        transitions:
          - {target_state_id: summary, condition_type: all_tasks_complete}
      - id: summary
        title: Summary

Fix: write `all_tasks_complete` (the unsafe fix does), or make the state a goal state.
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint.facts import Facts
from statecli.model.diagnostic import Edit, Finding, Fix
from statecli.model.graph import KINDS
from statecli.model.shape import BadCondition
from statecli.model.span import Place

FAMILY = "guards"
SEVERITY = "error"
FIX = "unsafe"
_INSTEAD = "all_tasks_complete"


def check(facts: Facts) -> Iterator[Finding]:
    """What the loader noted; silent where it is the state's type that is misspelt."""
    for issue in facts.issues(BadCondition):
        if issue.rule != "goal-condition-outside-goal":
            continue
        owner = facts.owner(issue.path)
        state = facts.states[facts.index[owner[0]]] if owner and owner[0] in facts.index else None
        if state is not None and (state.kind not in KINDS or "type" in facts.misspelt(state.name)):
            continue
        at = Place(issue.path)
        hint, fix = "ask for something that this state can give", None
        if state is not None and state.is_plan:
            hint = f"write '{_INSTEAD}'"
            fix = Fix(hint, (Edit(at, _INSTEAD, "text"),))
            if state.goal is not None:
                hint = f"write type: goal, or '{_INSTEAD}' here"
        yield Finding(message=issue.message, at=at, states=owner, hint=hint, fix=fix)
