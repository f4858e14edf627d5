"""When the model chooses the next state (model.md 6): asked, asked again, then a way out."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

from statecli.kinds.calling import own_tools, worked
from statecli.kinds.prompt import system_prompt
from statecli.kinds.schemas import choice_schema
from statecli.kinds.step import Delta, Step
from statecli.model.event import Refused
from statecli.model.graph import Graph, Transition
from statecli.model.guard import fold
from statecli.model.ports import Exchange, Option

#: How often the model is asked.
ATTEMPTS = 2


class Choice:
    """Asks the model which of the routes to take; `route` and `answers` hold the outcome.

    `answered` is what it said already (a verifier's `next`), which counts as the first answer.
    `strays`: where the state may send a run whose model names none of them (`on_invalid`).
    No route: no answer named an option and there is no such way; the run is limited then.
    """

    def __init__(
        self,
        step: Step,
        routes: Sequence[Transition],
        strays: Sequence[Transition] = (),
        answered: object = None,
    ) -> None:
        self.step = step
        self.routes = list(routes)
        self.strays = list(strays)
        self.answered = answered
        self.route: Transition | None = None
        self.answers: list[str] = []
        self.by = "model"

    async def run(self) -> AsyncIterator[Delta | None]:
        """Up to two answers, then `on_invalid`, else the only option that waits."""
        step = self.step
        names = [route.target for route in self.routes]
        if self.answered is not None:
            self._take(self.answered, names)
        note = self._refusal(names) if self.answers and self.route is None else ""
        # A decision answers with nothing but its choice: before that its tools are of use.
        tools = await own_tools(step) if step.state.kind == "decision" else ()
        yield None
        status = step.snapshot.status  # between two states (`statecli.arkos`) it may wait
        done: list[Exchange] = []
        while self.route is None and len(self.answers) < ATTEMPTS:
            if note:
                step.emit(Refused(step.number, step.state.name, "choice", note))
                yield None
            request = step.request(
                "choice",
                system_prompt(step.graph, step.state, step.snapshot),
                options=options_of(step.graph, self.routes),
                schema=choice_schema(names),
                note=note,
                tools=tools,
            )
            async for piece in worked(step, request, done, shown=False):
                yield piece
            if step.snapshot.status != status:
                return
            given = step.answer.value if step.answer.value is not None else step.answer.text
            self._take(given, names)
            note = self._refusal(names)
        if self.route is None:
            step.emit(Refused(step.number, step.state.name, "choice", note))
            self._fall_back()
        yield None

    def _take(self, given: object, names: Sequence[str]) -> None:
        said = given if isinstance(given, str) else json.dumps(given, default=str)
        self.answers.append(said)
        name = named(given, names)
        self.route = next((route for route in self.routes if route.target == name), None)

    def _refusal(self, names: Sequence[str]) -> str:
        said = self.answers[-1]
        short = said if len(said) <= 200 else f"{said[:199]}…"
        return f"{short!r} is none of: {', '.join(names)}"

    def _fall_back(self) -> None:
        wanted = dict(self.step.state.jumps).get("on_invalid")
        for route in (*self.routes, *self.strays):
            if route.target == wanted:
                self.route, self.by = route, "on_invalid"
                return
        waiting = [route for route in self.routes if self.step.waits(route.target)]
        if len(waiting) == 1:
            self.route, self.by = waiting[0], "fallback"


def options_of(graph: Graph, routes: Sequence[Transition]) -> tuple[Option, ...]:
    """The routes as a model sees them: the target, and the description of the transition, else of
    the target."""
    states = graph.states
    return tuple(
        Option(
            route.target,
            route.description or states[route.target].description or states[route.target].title,
        )
        for route in routes
    )


def named(answer: Any, names: Sequence[str]) -> str | None:
    """The option an answer names: `{"next_state": NAME}` with prose or a code fence around it, or
    nothing but the name. A name that merely occurs in prose does not count, and where two answers
    stand in one, neither does."""
    if isinstance(answer, dict):
        return _match(answer.get("next_state"), names)
    if not isinstance(answer, str):
        return None
    said = [_match(value["next_state"], names) for value in _objects(answer)]
    if said:
        return said[0] if len(set(said)) == 1 else None
    bare = _FENCE.sub("", answer.strip())
    return _match(bare.strip().strip("`\"'*. \n"), names)


#: The ends of a code fence, with the language that may stand behind the first.
_FENCE = re.compile(r"\A```\w*\n|\n?```\Z")


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """The JSON objects in a text that name a next state."""
    decoder = json.JSONDecoder()
    at = text.find("{")
    while at >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            if isinstance(value, dict) and "next_state" in value:
                yield value
        at = text.find("{", end)


def _match(name: Any, names: Sequence[str]) -> str | None:
    """The option that is meant: written so, else the only one that is the same but for case and
    spaces."""
    if not isinstance(name, str):
        return None
    if name in names:
        return name
    close = [known for known in names if _plain(known) == _plain(name)]
    return close[0] if len(close) == 1 else None


def _plain(name: str) -> str:
    return "_".join(re.split(r"[\s_-]+", fold(name)))
