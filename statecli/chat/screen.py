"""What a person sees of a run: the events, in words."""

from __future__ import annotations

from collections.abc import Callable

from statecli.kinds.step import Delta
from statecli.llm import asking
from statecli.model.data import shown
from statecli.model.event import (
    Answered,
    Called,
    Changed,
    Entered,
    Event,
    Failed,
    Limited,
    Refused,
    Returned,
    Skipped,
    Unauthorized,
    Warned,
)
from statecli.model.graph import Graph
from statecli.session.account import call_words
from statecli.text.excerpt import plain

Write = Callable[[str], None]


class Screen:
    """Plain text: `write` what is said to the person, `notes` what the author must know; what
    they get cannot do anything to a terminal. `moves`: also show each state that is entered;
    `calls`: also tools, where it is not the person who plays them.
    """

    def __init__(self, graph: Graph, write: Write, notes: Write, *, moves: bool = True) -> None:
        self.graph = graph
        self.moves = moves
        self.calls = False
        self._open = ""
        self._write = write
        self._notes = notes

    def write(self, text: str) -> None:
        self._write(plain(text))

    def notes(self, text: str) -> None:
        self._notes(plain(text))

    def show(self, item: Event | Delta) -> None:
        """One item of the stream of a session."""
        if isinstance(item, Delta):
            self.stream(item.text)
            return
        self.close()
        self.event(item)

    def stream(self, text: str) -> None:
        """Text on its way is shown when it is stored: `Answered` brings it as a whole."""

    def close(self) -> None:
        """End a line that is still open."""

    def struck(self) -> None:
        """The person pressed Ctrl-C while the run was at work."""

    def busy(self) -> None:
        """The run is at work, and nothing may come for a while."""

    def event(self, event: Event) -> None:
        body = event.body
        if isinstance(body, Answered):
            if body.text:
                self.write(body.text + cut(body))
        elif isinstance(body, Entered):
            if self.moves:
                self.notes(f"-> {body.state}" + (f" ({body.why})" if body.why else ""))
        elif isinstance(body, Refused):
            self._refused(body)
        elif isinstance(body, Changed):
            self._changed(body)
        elif isinstance(body, Called | Returned):
            if self.calls:
                self._called(body)
        elif isinstance(body, Limited):
            self.notes(f"stopped by a limit, {body.message}; the next line goes on")
        elif isinstance(body, Failed):
            self.notes(f"failed in '{body.state}': {body.error}")
        elif isinstance(body, Unauthorized):
            self._unauthorized(body)
        elif isinstance(body, Warned):
            self.notes(f"warning: {body.message}")
        elif isinstance(body, Skipped):
            self.notes(f"'{body.state}' is left: too many turns without progress")

    def _unauthorized(self, body: Unauthorized) -> None:
        self.write(f"{body.service} must be connected first: {body.url or 'it gives no link'}")
        if body.text and body.text != body.url:
            self.notes(f"{body.service} says: {body.text[:400]}")

    def _changed(self, body: Changed) -> None:
        """What a state wrote. Plan states and planners say so themselves."""
        state = self.graph.states.get(body.state)
        if state is not None and not state.is_plan and state.kind not in ("planner", "executor"):
            data = {key: value for key, value in body.data.items() if key != "messages"}
            told = [f"{key} = {shown(value)}" for key, value in data.items()]
            if told:
                self.notes(", ".join(told))

    def _called(self, body: Called | Returned) -> None:
        """A call and its answer; the answer to one that was not made says nothing new."""
        if isinstance(body, Called):
            self._open = body.call
        if body.call == self._open:
            self.notes(call_words(body))

    def _refused(self, body: Refused) -> None:
        """A line that does not fit is asked for again; other refusals are for the author."""
        if body.what != "line":
            self.notes(call_words(body))
            return
        name = self.graph.states[body.state].writes[0]
        field = self.graph.fields.get(name)
        listed = field is not None and field.type == "enum"
        question = asking.worded(asking.about(self.graph, name) or name, asking.hint(field))
        self.write(asking.again("that is none of these" if listed else body.reason, question))


def cut(body: Answered) -> str:
    """What stands behind an answer that was not finished."""
    return " [cut off]" if body.partial else ""


class SilentScreen(Screen):
    """Shows nothing but the notes: the events themselves are written by the store (`--json`)."""

    def event(self, event: Event) -> None:
        """The line is already there."""
