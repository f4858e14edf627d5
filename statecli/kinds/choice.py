"""When the model chooses the next state (model.md 6): asked, asked again, then a way out."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Sequence
from typing import Any

from statecli.kinds.schemas import choice_schema
from statecli.kinds.step import Delta, Step
from statecli.model.event import Refused
from statecli.model.graph import WAITING_KINDS, Transition
from statecli.model.guard import fold
from statecli.model.ports import Option


class Choice:
    """Asks the model which of the routes to take; `route` and `answers` hold the outcome.

    No route: neither answer named an option and no fallback is set; the run is limited then.
    """

    def __init__(self, step: Step, routes: Sequence[Transition]) -> None:
        self.step = step
        self.routes = list(routes)
        self.route: Transition | None = None
        self.answers: list[str] = []
        self.by = "model"

    async def run(self) -> AsyncIterator[Delta | None]:
        """Up to two questions, then `on_invalid`, else the only option that waits."""
        step = self.step
        options = tuple(Option(route.target, self._described(route)) for route in self.routes)
        names = [option.name for option in options]
        note = ""
        for _ in range(2):
            request = step.request(
                "choice", options=options, schema=choice_schema(names), note=note
            )
            async for piece in step.ask(request):
                if not isinstance(piece, Delta):
                    yield piece
            given = step.answer.value if step.answer.value is not None else step.answer.text
            self.answers.append(given if isinstance(given, str) else json.dumps(given))
            name = named(given, names)
            if name is not None:
                self.route = next(r for r in self.routes if r.target == name)
                return
            note = f"{self.answers[-1]!r} is none of: {', '.join(names)}"
            step.emit(Refused(step.number, step.state.name, "choice", note))
            yield None
        self._fall_back()

    def _described(self, route: Transition) -> str:
        state = self.step.graph.states[route.target]
        return route.description or state.description or state.title

    def _fall_back(self) -> None:
        jumps = dict(self.step.state.jumps)
        states = self.step.graph.states
        waiting = [r for r in self.routes if states[r.target].kind in WAITING_KINDS]
        for route in self.routes:
            if route.target == jumps.get("on_invalid"):
                self.route, self.by = route, "on_invalid"
                return
        if len(waiting) == 1:
            self.route, self.by = waiting[0], "fallback"


def named(answer: Any, names: Sequence[str]) -> str | None:
    """The option an answer names: `{"next_state": NAME}` with prose or a code fence around it, or
    nothing but the name. A name that merely occurs in prose does not count."""
    if isinstance(answer, dict):
        answer = answer.get("next_state")
        return _match(answer, names)
    if not isinstance(answer, str):
        return None
    for found in re.finditer(r"\{[^{}]*\}", answer):
        try:
            value = json.loads(found.group())
        except ValueError:
            continue
        if isinstance(value, dict) and "next_state" in value:
            return _match(value["next_state"], names)
    return _match(answer.strip().strip("`\"'. \n"), names)


def _match(name: Any, names: Sequence[str]) -> str | None:
    if not isinstance(name, str):
        return None
    if name in names:
        return name
    close = [known for known in names if fold(known) == fold(name)]
    return close[0] if len(close) == 1 else None
