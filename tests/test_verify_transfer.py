"""The set-valued reading of the verifier against the kernel: concrete runs through both.

For every kind of transfer (enter, set, done, skip, close, end of turn, net, body) random runs of
the kernel are followed: where the kernel goes, the boxes must allow, and what they say of exactly
one valuation (no choice left) the kernel must do. A thousand configurations in each run.
"""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from statecli.kernel.calls import Plan
from statecli.kernel.choose import Ask, Take, choose
from statecli.kernel.order import routes_of
from statecli.kernel.recorder import Recorder
from statecli.kernel.settle import end_turn, enter, settle
from statecli.kernel.tasks import complete
from statecli.load.loader import load
from statecli.model.event import Started, Waiting
from statecli.model.graph import END, Graph, State
from statecli.model.snapshot import Snapshot
from statecli.verify.calls import Call
from statecli.verify.counters import Counters
from statecli.verify.site import THE_END, Outcome, Site
from statecli.verify.sites import Budget
from statecli.verify.snapshot_box import box_of
from statecli.verify.verifier import Verification

SEED = int(os.environ.get("STATECLI_VERIFY_SEED") or time.time_ns() % 10**9)
CONFIGURATIONS = 1000

DATA = Path(__file__).parent / "data"
PLAN, STATES = "transfer_plan.yaml", "transfer_states.yaml"
VALUES: dict[str, list[Any]] = {
    "n": [1, 2, 3, 4, 5, 6, 7, 8, 9], "word": ["billing", " BILLING ", "again", "x", "other"],
    "kind": ["a", "B"], "m": [2.5, 3, "2.5"], "agreed": [True, False], "flag": [True, False],
}  # fmt: skip


class Followed:
    """A run of the kernel beside the boxes of exactly its values."""

    def __init__(self, graph: Graph, rng: random.Random, seen: Counter[str]) -> None:
        self.graph = graph
        self.rng = rng
        self.seen = seen
        self.of = Verification(graph, Budget(10**9, None), ())
        self.to = Recorder(graph, Snapshot())
        root = graph.roots()[0]
        data = {f.name: f.default for f in graph.fields.values() if f.has_default}
        self.to.emit(Started(root, data))

    @property
    def state(self) -> State | None:
        snapshot = self.to.snapshot
        return self.graph.states[snapshot.state] if snapshot.status != "ended" else None

    def site(self) -> Site:
        return self.of.sites[self.of.layout.index[self.to.snapshot.state]]

    def box(self) -> int:
        return box_of(self.of.sites, self.site().number, self.to.snapshot)

    def counters(self) -> Counters:
        site, token = self.site(), self.to.snapshot.token
        if not site.timed:
            return Counters(bool(token.closed))
        total = min(token.total, site.most_total)
        idle = min(token.idle, site.most_idle)
        return Counters(bool(token.closed), total, idle, token.fresh, token.progressed)

    def agrees(self, outcome: Outcome, *, at_end: bool) -> None:
        """One evaluation: the boxes name one way (or the options), and the kernel takes it."""
        site, snapshot = self.site(), self.to.snapshot
        found = choose(self.graph, snapshot, snapshot.token, at_turn_end=at_end)
        hits = {site.routes[hit.route].number for hit in outcome.hits}
        if isinstance(found, Take):
            same = {r.number for r in site.routes if r.target == found.transition.target}
            assert not outcome.rest
            assert hits == {found.transition.number} or (
                found.transition.guard is None and found.transition.number in hits <= same
            )
        elif isinstance(found, Ask):
            assert hits >= {route.number for route in found.options}
            assert not outcome.rest
        else:
            assert not hits
            assert outcome.rest

    def step(self) -> None:
        state = self.state
        assert state is not None
        site, box = self.site(), self.box()
        assert box, "every value has a class"
        full = site.compiler.complete()
        held = any(box & cube == box for cube in full.yes)
        if state.is_plan and state.kind != "goal":
            assert held == complete(self.to.snapshot, state)
            assert held != any(box & cube == box for cube in full.no)
        if state.is_plan:
            self._plan(state, site, box)
        else:
            self._body(state, site, box)

    # --- transfers ------------------------------------------------------------------------------

    def _plan(self, state: State, site: Site, box: int) -> None:
        counters = self.counters()._replace(open=True)
        kinds = ["set", "set", "done", "end", "end"]
        kinds += ["close"] if state.kind == "goal" else ["skip"]
        kind = self.rng.choice(kinds)
        if kind == "end":
            over = site.turn_over(counters)
            self.agrees(site.evaluate(over, True, box), at_end=True) if not self._moves() else None
            before = state.name
            end_turn(self.to, 0)
            self.seen["net" if self._by_net() else "end"] += 1
            if self.state is not None:
                self.to.emit(Waiting(0, self.state.name))
                if self.state.name == before and site.timed:
                    assert self.counters()[1:3] == over[1:3]
            return
        plan, snapshot = Plan(self.to, 0), self.to.snapshot
        key, task = "", ""
        if kind == "set":
            items = state.deliverables()
            if not items:
                return
            key = self.rng.choice(items).key
            outcome = plan.set_deliverable(key, self.rng.choice(VALUES[key]))
            if key in self.to.snapshot.early:
                return
        elif kind == "done":
            task = self.rng.choice([one.id for one in state.tasks] or ["none"])
            outcome = plan.complete_task(task)
            if not outcome.ok and state.kind == "loose":
                outcome = plan.skip_task(task)
        elif kind == "skip":
            outcome = plan.skip_state()
        else:
            outcome = plan.close_goal(self.rng.choice(["achieved", "given_up"]))
        changed = self.to.snapshot is not snapshot
        calls = [
            c for c in site.calls(coop=False, counters=counters) if self._is(c, kind, key, task)
        ]
        after = self.box()
        allowed = [x for call in calls for x in call.of(box, site.frame)]
        if outcome.ok and changed and self.to.snapshot.work.tasks is not None:
            again = after == box and not site.timed  # what was skipped is completed after all
            assert again or any(after & x == after for x in allowed), (state.name, kind, key, task)
            self.agrees(site.evaluate(self.counters(), False, after), at_end=False)
        elif not outcome.ok:
            assert after == box
        if outcome.ok:
            self.seen[kind] += 1
            self._settled()

    def _is(self, call: Call, kind: str, key: str, task: str) -> bool:
        if kind == "done":
            return call.kind in ("done", "give") and call.what == task
        if kind == "skip":
            return call.kind == "skip"
        return call.kind == kind and (kind != "set" or call.what == key)

    def _moves(self) -> bool:
        """Whether the end of the turn changes what guards see (its counters)."""
        return self.site().timed

    def _by_net(self) -> bool:
        return any(getattr(body, "by", "") == "net" for body in self.to.bodies[-6:])

    def _settled(self) -> None:
        """Settle, and for every state entered on the way: the box of its values arrives there."""
        state, box = self.state, self.box()
        assert state is not None
        number = self.of.layout.index[state.name]
        found = choose(self.graph, self.to.snapshot, self.to.snapshot.token)
        if isinstance(found, Take) and found.transition.target != END:
            target = self.of.layout.index[found.transition.target]
            arrived = list(self.of.sites.arrive(number, target, box))
            copy = Recorder(self.graph, self.to.snapshot)
            enter(copy, 0, found.transition.target, found.transition.number)
            there = box_of(self.of.sites, target, copy.snapshot)
            assert any(there & x == there for x in arrived), (state.name, found.transition.target)
            assert any(box & x == box for x in self.of.sites.before(number, target, there)), (
                "and back"
            )
            self.seen["enter"] += 1
        settle(self.to, 0)

    def _body(self, state: State, site: Site, box: int) -> None:
        from statecli.kernel.change import change

        delta = {
            key: self.rng.choice(VALUES[key]) for key in state.writes if self.rng.random() < 0.7
        }
        change(self.to, 0, delta, lambda: "m")
        written = box
        for effect in site.body(coop=False):
            written = effect.of(written)
        after = self.box()
        assert after & written == after
        outcome = site.evaluate(Counters(), False, after)
        self.agrees(outcome, at_end=False)
        self.seen["body"] += 1
        if not outcome.hits:
            self.to = Recorder(self.graph, Snapshot())
            self.to.emit(Started(self.graph.roots()[0], {"n": 3}))
            return
        hit = self.rng.choice(outcome.hits)
        target = site.targets[hit.route]
        assert target is not None
        assert target != THE_END
        name = self.of.layout.states[target].name
        enter(self.to, 0, name, routes_of(self.graph, state.name)[hit.route].number, "order")


@pytest.mark.parametrize("name", [PLAN, STATES])
def test_boxes_agree_with_the_kernel(name: str) -> None:
    print(f"STATECLI_VERIFY_SEED={SEED}")
    rng, seen = random.Random(SEED), Counter[str]()
    graph = load(name, (DATA / name).read_text("utf-8")).graph
    assert graph is not None
    done = 0
    while done < CONFIGURATIONS:
        run = Followed(graph, rng, seen)
        for _ in range(30):
            if run.state is None or run.state.kind == "terminal":
                break
            run.step()
            done += 1
    wanted = {"body"} if name == STATES else {"enter", "set", "done", "skip", "close", "end", "net"}
    assert wanted <= seen.keys(), seen
