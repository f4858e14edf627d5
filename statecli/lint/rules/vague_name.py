"""A state's name does not say what happens in it.

Why: people and models read the names. `state2` has to be looked up every time, and a model that
chooses the next state by name can only guess.

Bad:
    initial: state1
    states:
      state1:
        type: user
        transition: {next: [state1]}

Good:
    initial: ask_address
    states:
      ask_address:
        type: user
        transition: {next: [ask_address]}

Fix: name the state after what it does: `ask_address`, `check_stock`, `say_goodbye`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from statecli.lint.facts import Facts
from statecli.model.diagnostic import Finding

FAMILY = "style"
SEVERITY = "info"
#: Words that say nothing alone, and words that say nothing with a number.
_VAGUE = re.compile(
    r"^(?:(?:(?:new|my|some|next|other)[ _-]?)?(?:state|node|step)|process|task|thing|next"
    r"|foo|bar|baz|qux|temp|tmp|misc|stuff|untitled|unnamed|asdf|xxx)[ _-]?[0-9]*$"
    r"|^(?:test|phase|stage|action|agent|user|tool|decision)[ _-]?[0-9]+$",
    re.IGNORECASE | re.MULTILINE,
)


def check(facts: Facts) -> Iterator[Finding]:
    """Every name that is such a word."""
    if _VAGUE.search("\n".join(facts.index)) is None:
        return
    for state in facts.states:
        if _VAGUE.search(state.name):
            yield Finding(
                message=f"'{state.name}' does not say what happens there",
                at=facts.place(state),
                states=(state.name,),
                hint="name it after what it does, such as 'ask_address'",
            )
