"""One state as the verifier sees it: its routes in order, and what may happen there at rest.

The order, the implicit routes and the truth of atoms are the kernel's. What is here is the reading
over boxes: where each route is the first that holds, what a call makes of a box, how turns count.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import product
from typing import NamedTuple

from statecli.kernel.limits import limit
from statecli.kernel.order import routes_of
from statecli.model.graph import END, FUNCTION, Task, Transition
from statecli.model.guard import AllOf, AnyOf, Atom, Expr, Guard, Not, Turns, invalid, reads, walk
from statecli.verify.box import Frame
from statecli.verify.cubes import Compiler, Mode, TooMany, Truth
from statecli.verify.domain import Axis, Done, is_custom
from statecli.verify.layout import Layout

#: So many undecided leaves of one state are tried in all combinations; beyond, one by one.
MOST_FREE = 4
#: So many tasks of a state that is skipped are told apart by whether their values are there.
MOST_APART = 4
#: Into so many boxes the values fall apart that one evaluation leaves; beyond, one around them all.
MOST_PIECES = 1024
#: The target of a route that ends the run.
THE_END = -1


class Counters(NamedTuple):
    """What a visit remembers beside the data. `fresh`: entered in this turn; `progressed`:
    something new came in this turn; `open`: not evaluated since it was entered (or cut); `unheard`:
    a goal in whose visit nobody has spoken yet (told where it may make a difference)."""

    closed: bool = False
    total: int = 0
    idle: int = 0
    fresh: bool = False
    progressed: bool = False
    open: bool = False
    unheard: bool = False


NO_COUNTERS = Counters()
CLOSED = Counters(closed=True)


class Pass(NamedTuple):
    """What an entry carries: the states of its pass that it could come back to, and whether it came
    in the middle of a turn (kept only where turns are counted, or a goal's pass may be cut), and
    how many moves it has made (counted only where one may be too long: `Sites.most_hops`)."""

    visited: frozenset[int] = frozenset()
    mid_turn: bool = False
    hops: int = 0


NO_PASS = Pass()


class Effect:
    """What a call does to one axis: for each class those that it may become."""

    __slots__ = ("_known", "axis", "outcomes")

    def __init__(self, axis: Axis, outcomes: Sequence[int]) -> None:
        self.axis = axis
        self.outcomes = tuple(outcomes)
        self._known: dict[int, int] = {}

    def of(self, box: int) -> int:
        """The box after the call; 0 where it cannot be made."""
        axis = self.axis
        mask = box >> axis.at & axis.all
        found = self._known.get(mask)
        if found is None:
            found = 0
            for number, outcome in enumerate(self.outcomes):
                if mask >> number & 1:
                    found |= outcome
            self._known[mask] = found
        return box & ~axis.group | found << axis.at if found else 0

    def before(self, box: int) -> int:
        """The box of all from which the call may lead into this one; 0 if there is none."""
        axis = self.axis
        mask = box >> axis.at & axis.all
        found = 0
        for number, outcome in enumerate(self.outcomes):
            if outcome & mask:
                found |= 1 << number
        return box & ~axis.group | found << axis.at if found else 0


class Call(NamedTuple):
    """One thing that may happen at rest. `kind`: set, give (all values of a task), done, skip
    (the whole state), close, again (a value that is there already). `region`: where it may; None:
    everywhere."""

    kind: str
    what: str
    effects: tuple[Effect, ...]
    region: Sequence[int] | None = None
    progress: bool = True

    def of(self, box: int, frame: Frame) -> Iterator[int]:
        """The boxes after the call."""
        for part in (frame.full,) if self.region is None else self.region:
            found = box & part
            if not frame.some(found):
                continue
            for effect in self.effects:
                found = effect.of(found)
                if not found:
                    break
            if found:
                yield found

    def before(self, box: int, frame: Frame) -> Iterator[int]:
        """The boxes of all from which the call may lead into this one."""
        for effect in self.effects:
            box = effect.before(box)
            if not box:
                return
        for part in (frame.full,) if self.region is None else self.region:
            found = box & part
            if frame.some(found):
                yield found


class Hit(NamedTuple):
    """Where a route (by its place in the order) is the first that holds."""

    route: int
    box: int


class Outcome(NamedTuple):
    """What an evaluation makes of a box."""

    hits: tuple[Hit, ...]
    rest: tuple[int, ...]


class Site:
    """One state, compiled."""

    def __init__(self, layout: Layout, number: int) -> None:
        self.layout = layout
        self.frame = layout.frame
        self.domain = layout.domain
        self.number = number
        self.state = layout.states[number]
        self.graph = layout.graph
        self.compiler = Compiler(layout.frame, layout.domain, self.state)
        self.routes = routes_of(self.graph, self.state.name)
        self.custom = is_custom(self.state)
        self.open = self._is_open()
        self.live_now = layout.live[number]
        self.targets = [self._target(route) for route in self.routes]
        self._at_end = [at for at, target in enumerate(self.targets) if target is not None]
        self._at_once = [
            at
            for at in self._at_end
            if self.targets[at] != THE_END or self.routes[at].origin != "implicit"
        ]
        self.ends_late = any(
            route.origin == "implicit" and self.targets[at] == THE_END
            for at, route in enumerate(self.routes)
        )
        self.filters = self._filters() if self.domain.filters else {}
        self._count_turns()
        self._truths: dict[tuple[int, Mode], Truth] = {}
        self._known: dict[tuple[Mode, bool, int], Outcome] = {}
        self._modes: dict[Counters, Mode] = {}
        self._frees = self._combinations()
        self.too_many = False
        self.fell_apart = False
        self.own = {item.key for item in self.state.deliverables()} | set(self.state.writes)
        self.foreign = self._foreign()
        self.ties = self._possible_ties()

    # --- routes ---------------------------------------------------------------------------------

    def _target(self, route: Transition) -> int | None:
        """The number of a route's target, THE_END, or None where it is never tried."""
        if self.state.ends:
            return None
        if self.state.is_plan and route.target == self.state.name:
            return None
        if route.target == END and self.graph.is_plan:
            return THE_END
        return self.layout.index.get(route.target)

    def _combinations(self) -> tuple[int, ...]:
        """All readings of what nobody can decide; the compiler numbers it on the way."""
        for route in self.routes:
            for leaf in walk(route.guard) if route.guard is not None else ():
                if isinstance(leaf, Atom | Expr | Turns) or type(leaf).__name__ == "Opaque":
                    with suppress(TooMany):
                        self.compiler.part(leaf, Mode())
        return tuple(range(1 << min(len(self.compiler.free), MOST_FREE)))

    # --- what a route passes on -----------------------------------------------------------------

    def filtered(self, way: int, box: int) -> int:
        """What goes on of a box along a route (by its place in the order)."""
        for effect in self.filters.get(way, ()):
            box = effect.of(box)
        return box

    def unfiltered(self, way: int, box: int) -> int:
        """The box of all from which a route passes on this one; 0 if there is none."""
        for effect in self.filters.get(way, ()) if box else ():
            box = effect.before(box)
        return box

    def _filters(self) -> dict[int, tuple[Effect, ...]]:
        """A field that is not passed on is no longer set. A function may make anything of them."""
        found: dict[int, tuple[Effect, ...]] = {}
        for at, route in enumerate(self.routes):
            kept = route.state_filter
            if kept is None:
                continue
            effects = []
            for key, axis in self.domain.keys.items():
                if not self.live_now >> axis.number & 1 or (
                    isinstance(kept, tuple) and key in kept
                ):
                    continue
                gone = [1 << n if n < axis.absents else 1 for n in range(axis.size)]
                effects.append(
                    Effect(axis, gone if isinstance(kept, tuple) else [axis.all] * axis.size)
                )
            found[at] = tuple(effects)
        return found

    @property
    def undecided(self) -> bool:
        return bool(self.compiler.free)

    def truth(self, at: int, mode: Mode) -> Truth:
        known = self._truths.get((at, mode))
        if known is None:
            try:
                known = self.compiler.truth(self.routes[at].guard, mode)
            except TooMany:
                self.too_many = True
                full = [self.frame.full]
                known = Truth(full, full, [])
            self._truths[at, mode] = known
        return known

    def evaluate(self, counters: Counters, at_end: bool, box: int) -> Outcome:
        """The first routes that hold, and where none does."""
        mode = self._modes.get(counters)
        if mode is None:
            mode = self._modes[counters] = Mode(counters.closed, counters.total, counters.idle)
        key = (mode, at_end, box)
        known = self._known.get(key)
        if known is None:
            if len(self._frees) == 1:
                known = self._evaluate(key[0], at_end, box)
            else:
                found = [self._evaluate(key[0]._replace(free=f), at_end, box) for f in self._frees]
                hits = dict.fromkeys(hit for one in found for hit in one.hits)
                rest = dict.fromkeys(left for one in found for left in one.rest)
                known = Outcome(tuple(hits), tuple(rest))
            self._known[key] = known
        return known

    def modes(self, counters: Counters) -> list[Mode]:
        """Every way in which guards may read at these counters."""
        mode = Mode(counters.closed, counters.total, counters.idle)
        return [mode._replace(free=free) for free in self._frees]

    def _evaluate(self, mode: Mode, at_end: bool, box: int) -> Outcome:
        hits: list[Hit] = []
        rest = [box]
        for at in self._tried(at_end):
            if self.routes[at].guard is None:
                for option in self.options(at):
                    hits += [Hit(option, left) for left in rest]
                rest = []
            else:
                truth = self.truth(at, mode)
                left = self._split(at, truth.yes, rest, hits)
                rest = rest if truth.yes is truth.no else left  # not decided: it may not hold
            if not rest:
                break
            rest = self._few(rest)
        return Outcome(tuple(hits), tuple(rest))

    def _few(self, boxes: list[int]) -> list[int]:
        """The boxes, or one around them if they are too many: then more is held possible."""
        if len(boxes) <= MOST_PIECES:
            return boxes
        self.fell_apart = True
        hull = 0
        for box in boxes:
            hull |= box
        return [hull]

    def _tried(self, at_end: bool) -> list[int]:
        """The routes that are tried at all, by their places in the order."""
        return self._at_end if at_end else self._at_once

    def trying(self, mode: Mode, at_end: bool, box: int) -> Iterator[tuple[int, list[int]]]:
        """Each route that is tried, with what of a box is left for it."""
        rest = [box]
        for at in self._tried(at_end):
            yield at, rest
            if self.routes[at].guard is None:
                return
            truth = self.truth(at, mode)
            if truth.yes is not truth.no:
                rest = self._few(self.frame.outside(rest, truth.yes))
            if not rest:
                return

    def _split(self, at: int, yes: Sequence[int], rest: list[int], hits: list[Hit]) -> list[int]:
        frame = self.frame
        some = frame.some
        for cube in yes:
            left: list[int] = []
            for box in rest:
                both = box & cube
                if some(both):
                    hits.append(Hit(at, both))
                    if both != box:
                        left += frame.minus(box, frame.parts(cube))
                else:
                    left.append(box)
            rest = left
            if not rest:
                break
        return rest

    def options(self, first: int) -> list[int]:
        """The unguarded routes that are reached together with this one."""
        priority = self.routes[first].priority
        return [
            at
            for at, route in enumerate(self.routes)
            if at >= first
            and route.priority == priority
            and route.guard is None
            and self.targets[at] is not None
        ]

    # --- turns ----------------------------------------------------------------------------------

    def _count_turns(self) -> None:
        totals, idles = [0], [0]
        for route in self.routes:
            for part in walk(route.guard) if route.guard is not None else ():
                if isinstance(part, Turns) and part.scope != "session":
                    (totals if part.scope == "total" else idles).append(part.turns)
        stuck = limit(self.graph, "stuck_turns")
        self.timed = self.state.is_plan and self.state.name in self.domain.timed
        self.stuck_turns = stuck
        self.most_total = max(totals)
        self.most_idle = min(max(idles), stuck) if stuck else max(idles)
        if stuck and self.most_total >= stuck:
            self.most_idle = stuck
        self.net = self.layout.next[self.number] if stuck else -2

    def entry(self, mid_turn: bool) -> Counters:
        """The counters of a visit that begins: the rest of the turn of entry is none of its own."""
        fresh = self.timed and mid_turn
        if not fresh:
            return NO_COUNTERS
        return Counters(fresh=fresh, unheard=fresh and self.state.kind == "goal")

    def cut(self, entry: Pass, target: int) -> Counters:
        """The counters where a pass that enters is cut before it moves on to `target`. If it is too
        long, it is a limit that stops it: the next thing that happens is a line of the person."""
        counters = self.entry(entry.mid_turn)
        unheard = entry.mid_turn and self.state.kind == "goal" and target in entry.visited
        return counters._replace(open=True, unheard=unheard)

    def turn_over(self, counters: Counters) -> Counters:
        """The counters after a turn's end."""
        if not self.timed:
            return CLOSED if counters.closed else NO_COUNTERS
        total, idle = counters.total, counters.idle
        if not counters.fresh:
            total = min(self.most_total, total + 1)
            if not counters.progressed:
                idle = min(self.most_idle, idle + 1)
        return Counters(counters.closed, total, idle)

    def forced_on(self, counters: Counters) -> bool:
        """Whether the idle net moves the run on whatever its tasks are: nobody waits here."""
        return self.net != -2 and self.timed and counters.idle >= self.stuck_turns

    def settled(self, counters: Counters) -> bool:
        """Whether idle turns change the counters no further (as far as guards can tell)."""
        if not self.timed:
            return True
        if self.most_total >= self.stuck_turns and self.net != -2:
            return counters.idle >= self.stuck_turns
        return counters.total >= self.most_total and counters.idle >= self.most_idle

    def called(self, counters: Counters, call: Call) -> Counters:
        """The counters after a call."""
        closed = counters.closed or call.kind == "close"
        if not self.timed:
            return CLOSED if closed else NO_COUNTERS
        if not call.progress:
            return counters._replace(closed=closed, open=False)
        return counters._replace(closed=closed, idle=0, progressed=True, open=False)

    # --- calls ----------------------------------------------------------------------------------

    def calls(self, *, coop: bool, counters: Counters) -> list[Call]:
        """What may be called at rest. COOP does what it is asked for, FULL all that is accepted."""
        key = (coop, counters)
        memory = self.__dict__.setdefault("_calls", {})
        known: list[Call] | None = memory.get(key)
        if known is None:
            known = memory[key] = list(self._calls_of(coop, counters))
        return known

    def _calls_of(self, coop: bool, counters: Counters) -> Iterator[Call]:
        state = self.state
        if not coop and counters.open:  # a call that changes nothing is accepted: evaluated again
            yield Call("again", "", (), None, progress=False)
        if state.kind == "goal":
            for item in state.deliverables():
                yield from self._set(item.key, None, counters)
            if not counters.closed and not (coop and counters.unheard):
                yield Call("close", "achieved", (), self._gate(counters) if coop else None)
            return
        offers = self._offers()
        for key in dict.fromkeys(item.key for item in state.deliverables()):
            yield from self._set(key, offers.get(key), counters)
        yield from self._tasks(coop)
        if not coop and state.kind == "loose" and state.tasks:
            yield from self._skipped()

    def _skipped(self) -> Iterator[Call]:
        """The whole state skipped: its open tasks. What is done by its values stays as it is."""
        compiler, tasks = self.compiler, self.state.tasks
        some = [self.domain.done[self.state.name, task.id] for task in tasks]
        by_values = [at for at, done in enumerate(some) if done.keys][:MOST_APART]
        whole: Sequence[int] | None = compiler.complete().no if self.timed else None
        for chosen in product((True, False), repeat=len(by_values)):
            given = {at for at, yes in zip(by_values, chosen, strict=True) if yes}
            region = whole
            for at in by_values:
                truth = compiler.addressed(tasks[at].id)
                part = truth.yes if at in given else truth.no
                region = compiler.meet(part, [self.frame.full] if region is None else region)
            effects = [self._passed(t.id, True) for at, t in enumerate(tasks) if at not in given]
            yield Call("skip", "", tuple(effects), region)

    def _set(self, key: str, region: Sequence[int] | None, counters: Counters) -> Iterator[Call]:
        axis = self.domain.keys.get(key)
        if axis is None or not self.live_now >> axis.number & 1:
            return
        if not self.timed or not axis.single:
            yield Call("set", key, (Effect(axis, [axis.present] * axis.size),), region)
            return
        ways = [axis.present & ~(axis.single & 1 << at) for at in range(axis.size)]
        yield Call("set", key, (Effect(axis, ways),), region)
        if counters.open:
            same = [axis.single & 1 << at for at in range(axis.size)]
            yield Call("again", key, (Effect(axis, same),), region, progress=False)

    def _offers(self) -> dict[str, Sequence[int] | None]:
        """Where a strict state takes a key: its task is the current or an addressed one."""
        found: dict[str, Sequence[int] | None] = {}
        if self.state.kind != "strict":
            return found
        compiler, before = self.compiler, [self.frame.full]
        for task in self.state.tasks:
            done = compiler.addressed(task.id).yes
            for item in task.deliverables:
                here = compiler.join(found.get(item.key) or [], done, before)
                found[item.key] = here
            before = compiler.meet(before, done)
        return found

    def _tasks(self, coop: bool) -> Iterator[Call]:
        compiler, strict = self.compiler, self.state.kind == "strict"
        before = [self.frame.full]
        for task in self.state.tasks:
            done = self.domain.done[self.state.name, task.id]
            needs = any(item.required for item in task.deliverables)
            truth = compiler.addressed(task.id)
            region = compiler.meet(before, truth.no) if strict else truth.no
            effect = (self._passed(task.id, False),)
            if done.gives:
                yield Call("give", task.id, effect, region)
            may = not needs if strict else not coop or not task.required or not needs
            if may and not (done.gives and coop):
                yield Call("done", task.id, effect, region)
            if done.axis.size == 3 and not done.fold and done.axis.absents == 0:
                yield from self._completed(task, truth.no, done, coop=coop, may=may)
            if strict:
                before = compiler.meet(before, truth.yes)

    def _completed(
        self, task: Task, open_: Sequence[int], done: Done, *, coop: bool, may: bool
    ) -> Iterator[Call]:
        """A task of a loose state completed: one that is open, or that was skipped before."""
        there: Sequence[int] = [self.frame.full]
        for item in task.deliverables:
            if item.required:
                axis = self.domain.keys[item.key]
                present = self.compiler.cube(axis, axis.present)
                there = self.compiler.meet(there, present)
        now = self.compiler.meet(there, open_)
        if may and now and not any(item.required for item in task.deliverables):
            yield Call("done", task.id, (Effect(done.axis, (4, 0, 0)),), now)
        if not coop and there:
            yield Call("done", task.id, (Effect(done.axis, (0, 4, 0)),), there)

    def _passed(self, task: str, also_done: bool) -> Effect:
        """A task becomes addressed without its values."""
        done = self.domain.done[self.state.name, task]
        axis, outcomes = done.axis, []
        for at in range(axis.size):
            if done.mask >> at & 1:
                outcomes.append(1 << at if also_done else 0)
            else:
                outcomes.append(1 << (at | done.fold) if done.fold else 2)
        if axis.size == 3 and not axis.absents:
            outcomes = [2, 2 if also_done else 0, 4 if also_done else 0]
        elif done.keys:
            outcomes = [2, 2 if also_done else 0]
        return Effect(axis, outcomes)

    def _gate(self, counters: Counters) -> list[int]:
        """Where a goal may be closed as achieved: its required keys are there, or a route that
        reads data would hold."""
        compiler, keys = self.compiler, self.domain.keys
        found: list[int] = [self.frame.full]
        for item in self.state.deliverables():
            if item.required:
                axis = keys[item.key]
                found = compiler.meet(found, compiler.cube(axis, axis.present))
        for mode in self.modes(counters._replace(closed=True)):
            for at, route in enumerate(self.routes):
                if route.guard is not None and reads(route.guard):
                    found = compiler.join(found, self.truth(at, mode).yes)
        return found

    # --- bodies ---------------------------------------------------------------------------------

    def body(self, *, coop: bool) -> tuple[Effect, ...]:
        """What the body of a state of another kind may write: any subset, COOP all of it. Nobody
        knows what the body of a custom kind writes, nor a function that does not say it."""
        memory = self.__dict__.setdefault("_bodies", {})
        known: tuple[Effect, ...] | None = memory.get(coop)
        if known is None:
            known = memory[coop] = tuple(self._body(coop))
        return known

    def _body(self, coop: bool) -> Iterator[Effect]:
        state, keys = self.state, self.domain.keys
        names: Sequence[str] = [key for key in state.writes if key not in self.domain.implicit]
        if not state.tells_writes:
            names = [key for key in keys if self.custom or self._may_hold(key)]
        elif (state.kind == "user" and len(state.writes) != 1) or state.kind in (
            "terminal",
            "decision",
        ):
            names = ()
        for key in dict.fromkeys(names):
            axis = keys.get(key)
            if axis is not None and self.live_now >> axis.number & 1:
                kept = 0 if coop and not self.custom else 1
                values = axis.present
                if state.kind == "user":
                    values = axis.spoken(surely=coop)
                outcomes = [values | kept << at for at in range(axis.size)]
                yield Effect(axis, outcomes)

    def _is_open(self) -> bool:
        """Whether a function may take care itself that one of its ways holds: not where they look
        at fields alone that can have few values, all of which a schema allows."""
        if self.state.kind != FUNCTION:
            return False
        keys = {key for way in self.routes if way.guard is not None for key in reads(way.guard)}
        fields = [self.graph.fields.get(key) for key in keys]
        return any(field is None or field.type not in ("bool", "enum") for field in fields)

    def _may_hold(self, key: str) -> bool:
        """Whether the data may have a field: what a schema does not declare is dropped."""
        return not self.graph.declares_fields or key in self.graph.fields

    # --- what is looked at ----------------------------------------------------------------------

    def _foreign(self) -> dict[str, Axis]:
        """The keys whose value the guards look at, and that somebody else must have set."""
        found: dict[str, Axis] = {}
        for route in self.routes:
            for part in walk(route.guard) if route.guard is not None else ():
                names: Sequence[str] = ()
                if isinstance(part, Atom) and part.op not in ("exists", "absent"):
                    names = (part.key,)
                elif isinstance(part, Expr):
                    names = part.required
                for name in names:
                    axis = self.domain.keys.get(name)
                    if axis is not None and name not in self.own and not self.custom:
                        found[name] = axis
        return found

    def asked(self, counters: Counters, at_end: bool, box: int, *, set_: bool) -> dict[str, int]:
        """The foreign keys that an evaluation of this box looks at while they are absent (or with
        `set_`: present), each with a box of where."""
        open_ = {
            key: axis
            for key, axis in self.foreign.items()
            if box >> axis.at & (axis.present if set_ else axis.absent)
        }
        found: dict[str, int] = {}
        for mode in self.modes(counters) if open_ and not self.too_many else ():
            for at, rest in self.trying(mode, at_end, box):
                guard = self.routes[at].guard
                if guard is not None and invalid(guard) is None:
                    try:
                        self._asked(guard, mode, rest, open_, set_, found)
                    except TooMany:
                        self.too_many = True
        return found

    def asked_by_all(self, box: int, *, set_: bool) -> dict[str, int]:
        """The same where every route is tried, whatever comes before it."""
        mask = {key: axis.present if set_ else axis.absent for key, axis in self.foreign.items()}
        open_ = {k: axis for k, axis in self.foreign.items() if box >> axis.at & mask[k]}
        found: dict[str, int] = {}
        for mode in self.modes(NO_COUNTERS) if open_ and not self.too_many else ():
            for at, route in enumerate(self.routes):
                guard = route.guard
                if guard is not None and self.targets[at] is not None and invalid(guard) is None:
                    try:
                        self._asked(guard, mode, [box], open_, set_, found)
                    except TooMany:
                        self.too_many = True
        return found

    def _asked(
        self,
        guard: Guard,
        mode: Mode,
        boxes: list[int],
        keys: dict[str, Axis],
        set_: bool,
        found: dict[str, int],
    ) -> None:
        compiler = self.compiler
        if isinstance(guard, AllOf | AnyOf):
            for child in guard.children:
                if not boxes:
                    return
                self._asked(child, mode, boxes, keys, set_, found)
                truth = compiler.part(child, mode)
                boxes = compiler.meet(boxes, truth.yes if isinstance(guard, AllOf) else truth.no)
        elif isinstance(guard, Not):
            self._asked(guard.child, mode, boxes, keys, set_, found)
        else:
            names: Sequence[str] = ()
            if isinstance(guard, Atom) and guard.op not in ("exists", "absent"):
                names = (guard.key,)
            elif isinstance(guard, Expr):
                names = guard.required
            for name in names:
                axis = keys.get(name)
                if axis is not None and name not in found:
                    mask = axis.present if set_ else axis.absent
                    here = compiler.meet(boxes, compiler.cube(axis, mask))
                    if here:
                        found[name] = here[0]

    def _possible_ties(self) -> list[tuple[int, int]]:
        """Pairs of guarded, written routes of one priority with different targets."""
        if not self.graph.is_plan and not any(r.stated_priority for r in self.state.transitions):
            return []
        if self.custom or self.state.fans_out:
            return []
        return [
            (a, b)
            for a, left in enumerate(self.routes)
            for b, right in enumerate(self.routes)
            if a < b
            and left.priority == right.priority
            and left.guard is not None
            and right.guard is not None
            and self.targets[a] is not None
            and self.targets[b] is not None
            and left.target != right.target
            and left.origin == right.origin == "written"
        ]

    def tied(self, counters: Counters, at_end: bool, box: int) -> dict[tuple[int, int], int]:
        """The pairs of routes that both hold somewhere in a box when their priority is reached,
        each with a box of where."""
        found: dict[tuple[int, int], int] = {}
        for mode in self.modes(counters) if self.ties else ():
            pairs = self._pairs(mode)
            if not pairs:
                continue
            left: dict[float, list[int]] = {}
            for at, rest in self.trying(mode, at_end, box):
                left.setdefault(self.routes[at].priority, rest)
            for pair, cubes in pairs:
                both = self.compiler.meet(left.get(self.routes[pair[0]].priority, []), cubes)
                if both:
                    found.setdefault(pair, both[0])
        return found

    def _pairs(self, mode: Mode) -> list[tuple[tuple[int, int], list[int]]]:
        """The pairs of routes that can hold together at all, with where."""
        memory = self.__dict__.setdefault("_tying", {})
        known: list[tuple[tuple[int, int], list[int]]] | None = memory.get(mode)
        if known is None:
            known = []
            for a, b in self.ties:
                cubes = self.compiler.meet(self.truth(a, mode).yes, self.truth(b, mode).yes)
                if cubes:
                    known.append(((a, b), cubes))
            memory[mode] = known
        return known
