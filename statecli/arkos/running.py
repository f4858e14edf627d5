"""The run of an agent as its states and its loop know it: bodies by the engine, one at a time, and
moves where the loop says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from statecli.arkos.outside import AgentWorld, Outside
from statecli.engine.advance import Engine
from statecli.kernel.move import Options, move, take
from statecli.kernel.recorder import Recorder
from statecli.kinds.arkos_names import AuthRequiredError, Message, as_message
from statecli.kinds.choice import Choice
from statecli.kinds.facade import as_documented
from statecli.kinds.step import Step, closing
from statecli.model.event import Body, Chose, Event, Failed, Interrupted, Limited, Unauthorized
from statecli.model.graph import WAITING_KINDS, Graph, Transition
from statecli.model.ports import AuthRequired, NotAllowed
from statecli.model.snapshot import Snapshot
from statecli.session.session import Session
from statecli.session.stepping import RunError

if TYPE_CHECKING:
    from statecli.arkos.handler import StateHandler

_STOPS = (Failed, Limited, Unauthorized, Interrupted)


class Running:
    """One run. `_held` is the step whose body is done while the run has not moved on, `_open` what
    it offers a model, `_asked` what the model chose, `_outside` where its agent is meanwhile."""

    def __init__(
        self, graph: Graph, flow: StateHandler, session: Session, world: AgentWorld
    ) -> None:
        self._graph = graph
        self._flow = flow
        self._session = session
        self._world = world
        session.hold = self._hold
        self._held: Step | None = None
        self._open: Options | None = None
        self._asked: Choice | None = None
        self._outside: Outside | None = None

    @property
    def snapshot(self) -> Snapshot:
        """Where the run is."""
        return self._session.snapshot

    @property
    def status(self) -> str:
        """running, waiting, ended, failed, stuck, limited or interrupted."""
        return self.snapshot.status

    # --- what bound states ask ------------------------------------------------------------------

    def rests_at(self, name: str) -> bool:
        """Whether there is nothing to do in a state: the run ended, or waits there for a line."""
        now, node = self.snapshot, self._graph.states[name]
        if now.status == "ended" or now.state != name:
            return now.status == "ended" or node.kind == "terminal"
        waits = node.kind in WAITING_KINDS or node.kind in self._flow.custom.waiting
        idle = waits and now.line is None and not (node.is_plan and now.awaits_reply)
        return now.status == "waiting" or (now.status == "running" and idle and not now.entries)

    def held_at(self, name: str) -> bool:
        """Whether a state's body is done and the run has not moved on."""
        return self._held is not None and self._held.state.name == name == self.snapshot.state

    def allowed(self, name: str) -> Sequence[str] | None:
        """The targets to which a body narrowed what may come next; None: all."""
        return self._held.options if self._held is not None and self.held_at(name) else None

    async def run_state(self, name: str) -> Message | None:
        """Run the body of the state where the run is, and stop before it moves; the message that
        came last."""
        if name != self.snapshot.state:
            raise ValueError(f"the run is at '{self.snapshot.state}': set current_state to be at "
                             f"'{name}'")  # fmt: skip
        before = len(self.snapshot.data.get("messages") or ())
        await self._send()
        added = list(self.snapshot.data.get("messages") or ())[before:]
        found = [m for m in added if isinstance(m, Mapping) and m.get("role") != "user"]
        return as_message(found[-1]) if found else None

    async def _send(self) -> None:
        """Let the engine run one body; what stopped it is raised."""
        self._flush()
        self._held = self._open = self._asked = None
        stop: Body | None = None
        try:
            async with closing(self._session.send(self._world)) as items:
                async for item in items:
                    if isinstance(item, Event) and isinstance(item.body, _STOPS):
                        stop = item.body
        except NotAllowed as error:
            raise RunError(f"{self.snapshot.state}: {error}; name it in allow_tools") from error
        if stop is not None and self.status not in ("running", "waiting", "ended"):
            raise _error(stop)

    def _hold(self, step: Step) -> bool:
        self._held = step
        return True

    # --- moving ---------------------------------------------------------------------------------

    def _go(self, name: str) -> None:
        now, node = self.snapshot, self._graph.states[self.snapshot.state]
        if not self.held_at(node.name) or self._held is None:
            if name != node.name:
                self._session.goto(name)
            return
        to, number = Recorder(self._graph, now), now.token.id
        open_ = self._open or self._moved(to)
        asked, taken = (
            self._asked,
            any(isinstance(b, Chose) and b.target == name for b in to.bodies),
        )
        route = next((r for r in open_.routes if r.target == name), None) if open_ else None
        if open_ is not None and route is not None:
            names = tuple(r.target for r in open_.routes)
            answers, by = (tuple(asked.answers), asked.by) if asked else ((), "body")
            take(to, number, node, route, open_.trials, names, answers, by=by)
        elif not taken:  # whoever wrote the loop knows better
            to = Recorder(self._graph, now)
            at = next((r.number for r in node.transitions if r.target == name), -1)
            take(to, number, node, Transition(node.name, name, None, 1, at, (), ()), by="body")
        self._held = self._open = self._asked = None
        self._session.record(to.bodies, to.snapshot)

    def _moved(self, to: Recorder) -> Options | None:
        """Move on by the routes; None where that needed no choice."""
        node = self._graph.states[self.snapshot.state]
        return move(to, to.snapshot.token.id, node, by=self._by(node.name),
                    allowed=self.allowed(node.name))  # fmt: skip

    def _offer(self) -> None:
        """Before a model is asked: what was missing when the guards were tried is recorded."""
        if self._open is not None or not self.held_at(self.snapshot.state):
            return
        to = Recorder(self._graph, self.snapshot)
        self._open = self._moved(to)
        if self._open is not None and to.bodies:
            self._session.record(to.bodies, to.snapshot)

    def _by(self, name: str) -> str:
        kind = self._graph.states[name].kind
        return "line" if kind in WAITING_KINDS or kind in self._flow.custom.waiting else "order"

    def _nowhere(self) -> None:
        """Nothing holds: the run waits where it may, else it is stuck."""
        now = self.snapshot
        to = Recorder(self._graph, now)
        self._moved(to)
        self._held = None
        self._session.record(to.bodies, to.snapshot)
        stop = to.bodies[-1]
        if isinstance(stop, Failed):
            raise _error(stop)

    def _failed(self, error: Exception) -> None:
        """What the engine makes of an error: `on_error`, or the run stands here."""
        engine = Engine(self._graph, self.snapshot, self._world, custom=self._flow.custom)
        engine.failed(self.snapshot.state, error)
        self._held = self._open = self._asked = None
        self._session.record(engine.to.bodies, engine.to.snapshot)
        if self.status == "failed":
            raise RunError(f"{self.snapshot.state}: {error}") from error

    def _listener(self) -> int:
        """Who takes the person's line, of a run that has split: the first that waits for one."""
        branches = self.snapshot.branches
        waiting = (number for number, branch in branches.items() if branch.status == "waiting")
        return next(waiting, self.snapshot.token.id) if branches else 0

    def _flush(self) -> None:
        if self._outside is not None:
            self._outside.flush()


def _error(stop: Any) -> Exception:
    """What stopped a run, as an exception."""
    if isinstance(stop, Unauthorized):
        found = as_documented(AuthRequired(stop.service, stop.url, stop.text))
        assert isinstance(found, AuthRequiredError)
        return found
    text = stop.error if isinstance(stop, Failed) else getattr(stop, "message", "") or stop.text
    return RunError(f"{stop.state}: {text}")
