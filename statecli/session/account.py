"""What a run took and where it went: tokens, money, states, the choices of its model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from statecli.model.data import shown
from statecli.model.event import (
    Called,
    Chose,
    Entered,
    Event,
    Jumped,
    Refused,
    Returned,
    Spent,
    Started,
)

#: So many characters are shown of what a tool gave back.
MOST_RESULT = 400
#: Who chose, where it was not the first route that holds.
_BY = {
    "model": "as the model chose",
    "entry": "as the model chose where to begin",
    "on_invalid": "by 'on_invalid', since the model named none of them",
    "fallback": "the only one that waits, since the model named none of them",
}


class Account(NamedTuple):
    """Sums over all events of a run, also those that were taken back: they were paid for. `states`
    counts visits; `choices` are those that a model was asked for."""

    calls: int
    attempts: int
    input: int
    output: int
    tokens: int
    cost: float
    seconds: float
    estimated: bool
    models: tuple[str, ...]
    states: dict[str, int]
    choices: tuple[tuple[int, Chose], ...]

    def lines(self) -> Iterator[str]:
        """For the head of `sessions show`."""
        listed = ", ".join(f"{name} {count}" for name, count in self.states.items())
        yield f"states  {listed}"
        if not self.calls:
            return
        about = "about " if self.estimated else ""
        parts = f" ({self.input:,} in, {self.output:,} out)" if self.input or self.output else ""
        again = f", sent {self.attempts} times" if self.attempts > self.calls else ""
        times = f"{self.calls} answer{'' if self.calls == 1 else 's'}{again}"
        yield f"tokens  {about}{self.tokens:,}{parts} for {times}, {self.seconds:.1f} s"
        if self.cost:
            yield f"cost    {about}{money(self.cost)}"
        if self.models:
            yield f"model   {', '.join(self.models)}"

    def plain(self) -> dict[str, Any]:
        """For `--json`."""
        spent = {
            key: getattr(self, key)
            for key in ("calls", "attempts", "input", "output", "tokens", "cost", "seconds")
        }
        choices = [
            {
                "event": number, "from": body.state, "to": body.target, "by": body.by,
                "options": list(body.options), "answers": list(body.answers),
            }
            for number, body in self.choices
        ]  # fmt: skip
        return {
            "spent": {**spent, "estimated": self.estimated, "models": list(self.models)},
            "states": self.states,
            "choices": choices,
        }


def account(events: Sequence[Event]) -> Account:
    """The sums over the events of a run."""
    bodies = [event.body for event in events]
    spent = [body for body in bodies if isinstance(body, Spent)]
    states = Counter(body.state for body in bodies if isinstance(body, Started | Entered | Jumped))
    choices = [(e.number, e.body) for e in events if isinstance(e.body, Chose) and e.body.answers]
    return Account(
        len(spent),
        sum(body.attempts for body in spent),
        sum(body.input for body in spent),
        sum(body.output for body in spent),
        sum(body.tokens for body in spent),
        sum(body.cost for body in spent),
        sum(body.seconds for body in spent),
        any(body.estimated for body in spent),
        tuple(dict.fromkeys(body.model for body in spent if body.model)),
        dict(states),
        tuple(choices),
    )


def choice(body: Chose) -> str:
    """A choice of the model in words, with what it answered where it was asked more than once."""
    said = f"chose {body.target} of {', '.join(body.options)}, {_BY.get(body.by, body.by)}"
    if len(body.answers) < 2:
        return said
    return f"{said} (asked {len(body.answers)} times: {'; '.join(map(shown, body.answers))})"


def money(amount: float) -> str:
    """An amount with as many digits as it needs."""
    if amount >= 1:
        return f"{amount:.2f}"
    return f"{amount:.8f}".rstrip("0")


def call_words(body: Called | Returned | Refused) -> str:
    """A call of a tool, its answer, or why it was not accepted."""
    if isinstance(body, Called):
        given = ", ".join(f"{key}={shown(value)}" for key, value in body.arguments.items())
        return f"calls {body.tool}({given})"
    if isinstance(body, Refused):
        return f"refused {body.what}: {body.reason}"
    result = body.result if isinstance(body.result, str) else shown(body.result, MOST_RESULT)
    return f"{'got' if body.ok else 'it failed'}: {result[:MOST_RESULT] or 'nothing'}"
