"""One state as the verifier sees it: its routes in order, and what may happen there at rest.

The order, the implicit routes and the truth of atoms are the kernel's. What is here is the reading
over boxes: where each route is the first that holds, what a call makes of a box, how turns count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from statecli.kernel.limits import limit
from statecli.kernel.order import routes_of
from statecli.model.classes import candidates
from statecli.model.graph import END, FUNCTION, Transition
from statecli.model.guard import Atom, Expr, Turns, reads, walk
from statecli.verify.asking import foreign, possible_ties
from statecli.verify.calls import Call, Calls, Effect
from statecli.verify.counters import CLOSED, NO_COUNTERS, Counters, Pass
from statecli.verify.cubes import Compiler, Mode, TooMany, Truth
from statecli.verify.domain import is_custom
from statecli.verify.layout import Layout

#: So many undecided leaves of one state are tried in all combinations; beyond, one by one.
MOST_FREE = 4
#: Into so many boxes the values fall apart that one evaluation leaves; beyond, one around them all.
MOST_PIECES = 1024
#: The target of a route that ends the run.
THE_END = -1


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
        self.foreign = foreign(self)
        self.ties = possible_ties(self)

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

    def has_held(self, at: int) -> bool | None:
        """Whether the condition of a route held in anything that was evaluated so far, be it that
        another way came first; None where nothing was."""
        if not self._known or self.routes[at].guard is None:
            return True if self._known else None
        return any(
            bool(self.compiler.meet([box], self.truth(at, mode._replace(free=free)).yes))
            for mode, _, box in self._known
            for free in self._frees
        )

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

    def is_chosen(self, at: int) -> bool:
        """Whether the model chooses a route, where it is reached: there are others to choose."""
        first = next((n for n, route in enumerate(self.routes) if route.guard is None), at)
        found = self.options(first)
        return at in found and len({self.targets[n] for n in found}) > 1

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
        goes_on = entry.mid_turn and target in entry.visited
        unheard = goes_on and self.state.kind == "goal"
        return self.entry(goes_on)._replace(open=True, unheard=unheard)

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
            known = memory[key] = list(Calls(self).all(coop, counters))
        return known

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
        names: Sequence[str] = self._said_writes
        if not state.tells_writes:
            names = [key for key in keys if self.custom or self._may_hold(key)]
        for key in dict.fromkeys(names):
            axis = keys.get(key)
            if axis is not None and self.live_now >> axis.number & 1:
                kept = 0 if coop and not self.custom else 1
                values = axis.present
                if state.kind == "user":
                    values = axis.spoken(surely=coop)
                outcomes = [values | kept << at for at in range(axis.size)]
                yield Effect(axis, outcomes)

    @property
    def _said_writes(self) -> Sequence[str]:
        """Of the fields that the state says it writes those that its kind does write."""
        state = self.state
        if state.kind in ("terminal", "decision"):
            return ()
        if state.kind == "user" and len(state.writes) != 1:
            return ()
        return [key for key in state.writes if key not in self.domain.implicit]

    def written(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """What a body writes: these values, and one for each field that makes no difference."""
        fields = self.graph.fields
        others = [key for key in self._said_writes if key not in values]
        return {**values, **{key: candidates(fields.get(key), [])[0] for key in others}}

    def lacks(self, key: str, box: int) -> bool:
        """Whether a field that the body reads, and does not write itself, may not be there."""
        axis = self.domain.keys.get(key)
        return axis is not None and key not in self.own and bool(box & (axis.absent << axis.at))

    def strays(self, hits: Iterable[Hit]) -> Iterator[tuple[int, int]]:
        """Where a model that names no option leads: to `on_invalid`, if it is a target of the
        state. Each with the box of what leads there."""
        open_ = [hit for hit in hits if self.routes[hit.route].guard is None]
        if len({self.targets[hit.route] for hit in open_}) < 2:
            return
        for key, name in self.state.jumps:
            target = self.layout.index.get(name)
            if key == "on_invalid" and target is not None and target in self.targets:
                for box in dict.fromkeys(hit.box for hit in open_):
                    yield target, box

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
