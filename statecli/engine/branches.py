"""Runs the branches of a run that has split, side by side, until all of them rest.

Each body runs in a task of its own. What they record is taken in turns: one piece of each branch
in routing order, then the next piece of each, however long one takes. So the order of the events
says nothing about who was faster, and the same run has the same trace.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING, Any

from statecli.engine.reason import reason
from statecli.kernel.branches import in_the_whole, view
from statecli.kernel.fanin import folded
from statecli.kernel.filters import whole
from statecli.kernel.given import given
from statecli.kernel.joins import arrived, group_of, groups_of, merge_of, unsatisfied
from statecli.kernel.reducers import Misfit
from statecli.kinds.step import Delta, closing
from statecli.model.event import BARRIERS, Body, Ended, Failed, Interrupted, Joined, Split
from statecli.model.graph import WAITING_KINDS
from statecli.model.snapshot import Snapshot

if TYPE_CHECKING:
    import asyncio

    from statecli.engine.advance import Engine


class Branches:
    """One call of `advance` for a run that has split. `engine` is that of the whole run."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.graph = engine.graph
        self.to = engine.to
        self.concurrent = getattr(engine.world, "parallel", True) and _in_loop()
        self.lanes: dict[int, _Lane] = {}
        self.turns: deque[_Lane] = deque()
        #: How many of the bodies at work count for the limit of steps.
        self.at_work = 0
        #: From which sources tokens wait at each join, so that none is looked at in vain.
        self.waiting: dict[tuple[str, str], list[str]] = {}

    @property
    def snapshot(self) -> Snapshot:
        return self.to.snapshot

    async def run(self) -> AsyncIterator[list[Body] | Delta]:
        """Everything until no branch can go on, or something stops the run."""
        ready = [n for n, b in self.snapshot.branches.items() if b.status == "running"]
        for number, branch in list(self.snapshot.branches.items()):
            made = self._arrives(number) if branch.status == "joining" else None
            ready += [made] if made is not None else []
        if self.to.bodies:
            yield self._recorded()
        self._begin(ready)
        try:
            while self.turns:
                lane = self.turns.popleft()
                async with closing(lane.segment()) as texts:
                    async for text in texts:
                        yield text
                numbers = self._take(lane)
                if lane.done:
                    del self.lanes[lane.number]
                    self.at_work -= lane.counts
                    ready = self._after(numbers)
                if self.to.bodies:
                    yield self._recorded()
                if self._cancels(lane) or (lane.engine.alone and not self.concurrent):
                    await self._cancel(lane)
                    if self.to.bodies:
                        yield self._recorded()
                elif lane.done:
                    self._begin([] if self.engine.stopped else ready)
                else:
                    lane.go_on(view(self.snapshot, lane.number))
                    self.turns.append(lane)
        finally:
            await self._end(list(self.lanes.values()))
        if not self.engine.stopped and self.snapshot.branches:
            self._miss()
            if self.to.bodies:
                yield self._recorded()

    def _recorded(self) -> list[Body]:
        """What was recorded since the last time."""
        bodies, self.to.bodies = self.to.bodies, []
        return bodies

    # --- one branch -----------------------------------------------------------------------------

    def _begin(self, numbers: Sequence[int]) -> None:
        """Begin the bodies of these branches; those that are at work count for the limit."""
        for number in numbers:
            branch = self.snapshot.branches.get(number)
            if branch is None or branch.status != "running":
                continue
            engine = self.engine.for_branch(view(self.snapshot, number), self.at_work)
            kind = self.graph.states[branch.token.state].kind
            waits = kind in WAITING_KINDS or kind in self.engine.custom.waiting
            lane = _Lane(engine, counts=not waits, concurrent=self.concurrent)
            self.lanes[number] = lane
            self.at_work += lane.counts
            self.turns.append(lane)

    def _take(self, lane: _Lane) -> list[int]:
        """Record what a branch did since its last turn; the branch, or those it has split into."""
        bodies, lane.engine.to.bodies = lane.engine.to.bodies, []
        made: list[int] = []
        for own in in_the_whole(self.snapshot, bodies):
            body = self._last(own) if isinstance(own, Ended) else own
            if isinstance(body, Split):
                made = list(body.tokens)
            self.to.emit(body)
        if lane.engine.error is not None and self.engine.error is None:
            self.engine.error = lane.engine.error
        if lane.engine.stopped:
            self.engine.stopped = True
        return made or [lane.number]

    def _last(self, body: Ended) -> Ended | Failed:
        """The end of a branch, or of the run if it is the last: if their ends fit together."""
        branches = self.snapshot.branches
        if any(b.status != "ended" for n, b in branches.items() if n != body.token):
            return body
        try:
            folded(self.graph, list(branches.values()))
        except Misfit as error:
            return Failed(body.token, body.state, f"the ends of the branches do not fit: {error}")
        return body

    def _after(self, numbers: Sequence[int]) -> list[int]:
        """The branches that go on after a body is done: these, or one that others wait for."""
        found: list[int] = []
        for number in numbers:
            branch = self.snapshot.branches.get(number)
            if branch is None:
                continue
            if branch.status == "joining":
                made = self._arrives(number)
                found.extend([made] if made is not None else [])
            elif branch.status == "limited":
                self.engine.stopped = True
            else:
                found.append(number)
        return found

    # --- joins ----------------------------------------------------------------------------------

    def _waits(self, number: int) -> bool:
        """Note that a token waits in a join; whether one may be there from each source now."""
        branch = self.snapshot.branches[number]
        assert branch.came is not None
        name, group = branch.token.state, group_of(self.graph, branch.came)
        here = self.waiting.setdefault((name, group), [])
        here.append(branch.came[0])
        needed = groups_of(self.graph, name)[group]
        return len(here) >= len(needed) and len(set(here)) == len(needed)

    def _arrives(self, number: int) -> int | None:
        """A token comes to a join; where it is the last of its group they go on as one."""
        if not self._waits(number):
            return None
        tokens = arrived(self.graph, self.snapshot, number)
        if not tokens:
            return None
        branch = self.snapshot.branches[number]
        name, group = branch.token.state, group_of(self.graph, branch.came)
        gone = [self.snapshot.branches[token] for token in tokens]
        body: Body
        try:
            folded(self.graph, gone, merge_of(self.graph.states[name], group))
            made = max(self.snapshot.branches) + 1
            body = Joined(made, name, tokens, group, self._strategy(name, group, tokens))
        except Exception as error:
            why = str(error) if isinstance(error, Misfit) else reason(error)
            self.engine.error = error
            if self.engine.custom.failed is not None:
                self.engine.custom.failed(number, error)
            body = Failed(number, name, f"the branches do not fit together: {why}")
        self.to.emit(body)
        if isinstance(body, Failed):
            return None
        here = self.waiting[name, group]
        for one in gone:
            assert one.came is not None
            here.remove(one.came[0])
        return body.token

    def _strategy(self, name: str, group: str, tokens: Sequence[int]) -> dict[str, Any] | None:
        """All the data as the join's own function makes it; None where it has none."""
        found: Any = self.graph.states[name].settings.get("multi_input_merge_strategy")
        merge = found.get(group) if isinstance(found, dict) else found
        if merge is None:
            return None
        kind = self.graph.settings.get("data_type")
        return whole(
            self.to, merge([given(kind, self.snapshot.branches[token].data) for token in tokens])
        )

    def _miss(self) -> None:
        """Joins whose other branches never come: an error that names them."""
        for number, why in unsatisfied(self.graph, self.snapshot):
            name = self.snapshot.branches[number].token.state
            self.to.emit(Failed(number, name, why, stuck=True))

    # --- failures -------------------------------------------------------------------------------

    def _cancels(self, lane: _Lane) -> bool:
        branch = self.snapshot.branches.get(lane.number)
        return branch is not None and branch.status in ("failed", "stuck") and branch.cancels

    async def _cancel(self, failed: _Lane) -> None:
        """Stop the other branches: one has failed, or nobody is there to answer any of them. Their
        open steps begin anew when the run goes on."""
        name = self.snapshot.branches[failed.number].token.state
        again = failed.engine.alone
        begun = set(self.lanes) if again else set(self.snapshot.branches)
        lanes = [lane for lane in self.lanes.values() if lane is not failed]
        await self._end(lanes)
        self.turns.clear()
        self.engine.stopped = True
        for number, branch in list(self.snapshot.branches.items()):
            if branch.status == "running" and number in begun:
                why = "nobody is there to answer" if again else f"'{name}' failed"
                self.to.emit(Interrupted(number, branch.token.state, why, again))

    async def _end(self, lanes: Sequence[_Lane]) -> None:
        """Close what is at work still."""
        for lane in lanes:
            await lane.close()
            self.lanes.pop(lane.number, None)


class _Lane:
    """The body of one branch at work. `counts`: it counts for the limit of steps."""

    def __init__(self, engine: Engine, *, counts: bool, concurrent: bool) -> None:
        self.engine = engine
        self.number = engine.number
        self.counts = counts
        self.done = False
        self._pieces = engine.one_step()
        self._crash: BaseException | None = None
        self._task: asyncio.Task[None] | None = None
        if concurrent:
            import asyncio

            self._queue: asyncio.Queue[Delta | None] = asyncio.Queue()
            self._gate = asyncio.Event()
            self._task = asyncio.get_running_loop().create_task(self._work())

    async def segment(self) -> AsyncIterator[Delta]:
        """Text on its way, until something was recorded that has to be kept before it goes on."""
        if self._task is not None:
            while (piece := await self._queue.get()) is not None:
                yield piece._replace(token=self.number)
            if self._crash is not None:
                raise self._crash
            return
        async for piece in self._pieces:
            if piece is not None:
                yield piece._replace(token=self.number)
            elif self._must_be_kept():
                return
        self.done = True

    def _must_be_kept(self) -> bool:
        """Whether what was recorded has to be stored before the body goes on; in a plan state each
        call is a step of its own."""
        bodies = self.engine.to.bodies
        if not bodies or any(isinstance(body, BARRIERS) for body in bodies):
            return bool(bodies)
        state = self.engine.graph.states.get(self.engine.snapshot.state)
        return state is not None and state.is_plan

    def go_on(self, snapshot: Snapshot) -> None:
        """What was recorded is kept."""
        self.engine.to.snapshot = snapshot
        if self._task is not None:
            self._gate.set()

    async def _work(self) -> None:
        """One task runs the body from its beginning to its end."""
        try:
            async with closing(self._pieces) as pieces:
                async for piece in pieces:
                    if piece is not None:
                        self._queue.put_nowait(piece)
                    elif self._must_be_kept():
                        self._queue.put_nowait(None)
                        await self._gate.wait()
                        self._gate.clear()
        except GeneratorExit:
            raise
        except BaseException as error:  # whatever it is: the run waits for it at the other end
            self._crash = error
        self.done = True
        self._queue.put_nowait(None)

    async def close(self) -> None:
        """Stop the body where it is."""
        if self._task is None:
            async with closing(self._pieces):
                return
        import asyncio

        self._task.cancel()
        await asyncio.wait({self._task})


def _in_loop() -> bool:
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
