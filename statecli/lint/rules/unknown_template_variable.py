"""A text has a `{{variable}}` that no state collects and nothing declares.

Why: nothing is ever put in its place, so the model, or the person, reads the braces.

Bad:
    states:
      - id: greet
        title: Greet
        tasks:
          - id: hello
            description: Say hello
            instruction: "Greet {{customer_nme}}"
            deliverables: [{key: customer_name}]

Good:
    states:
      - id: greet
        title: Greet
        tasks:
          - id: hello
            description: Say hello
            instruction: "Greet {{ customer_name | title }}"
            deliverables: [{key: customer_name}]

Fix: correct the name, let a state collect it, or declare it under `fields`, in `session_context`
or under `inputs` in the config.
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint import reading
from statecli.lint.facts import Facts
from statecli.lint.lost import lost
from statecli.model.diagnostic import Finding
from statecli.model.graph import KINDS
from statecli.model.nearest import nearest
from statecli.model.span import Place

FAMILY = "data"
SEVERITY = "warning"
FIX = "unsafe"
#: So many different names are compared with the known ones.
MOST_GUESSES = 50


def check(facts: Facts) -> Iterator[Finding]:
    """Each variable that is no field, at its name."""
    if facts.graph is None:
        return
    unknown = [v for v in facts.templates if not reading.is_known(facts, v.name)]
    if not unknown:
        return
    hidden = lost(facts)
    known = [*facts.graph.fields, *facts.writers, *facts.given]
    # A custom kind may set any key, but hardly one that is nearly the name of another.
    free = not facts.graph.declares_fields and any(s.kind not in KINDS for s in facts.states)
    guesses: dict[str, str | None] = {}
    for variable in unknown:
        name = variable.name
        if name not in guesses:
            guesses[name] = nearest(name, known) if len(guesses) < MOST_GUESSES else None
        guess = guesses[name]
        if name in hidden or (free and guess is None):
            continue
        place = Place(variable.path, "value", (variable.start, variable.end))
        fix = reading.rename([reading.Read(place, asks=False)], guess) if guess else None
        yield Finding(
            message=f"nothing sets the variable '{name}'",
            at=place,
            states=facts.names([variable.state]) if variable.state >= 0 else (),
            hint=f"did you mean '{guess}'?" if guess else _hint(facts),
            fix=fix,
        )


def _hint(facts: Facts) -> str:
    where = "in 'session_context'" if facts.is_plan else "under 'fields'"
    return f"let a state collect it, or declare it {where}"
