"""The search: every configuration that a run can be in, one by one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any, NamedTuple

from verify_oracle.conditions import Scene, constants, holds, keys, parts
from verify_oracle.reader import END, Book, Job, Place, Way
from verify_oracle.values import Kind, candidates


class TooLarge(Exception):
    """There are more configurations than may be looked at."""


class Node(NamedTuple):
    """Where a run is: a plan state at rest, or another state before its body.

    `values`: for each key the number of its value, 0 for none. `done`: a bit for each task that was
    completed or skipped, `skipped` those of them that may still be completed (kept only where turns
    count). `been`: a bit for each state that forgets when it is entered again.
    `counted`: this turn is one of the visit. `progressed`: something new came in this turn.
    `heard`: the person may have said something in this visit (told of goals only: without it
    nothing can be quoted that a goal is closed with).
    """

    state: str
    values: tuple[int, ...]
    done: int = 0
    been: int = 0
    closed: bool = False
    total: int = 0
    idle: int = 0
    counted: bool = True
    progressed: bool = False
    skipped: int = 0
    heard: bool = True


class Move(NamedTuple):
    """What one thing led to: the next node (None: the run has ended), and the moves on the way."""

    to: Node | None
    hops: tuple[tuple[str, str], ...] = ()


class Look(NamedTuple):
    """One evaluation: the way that is the first (ways, where a model chooses), and what was seen on
    the way to it."""

    ways: tuple[Way, ...]
    asked: tuple[str, ...]
    found: tuple[str, ...]
    ties: tuple[tuple[int, int], ...]


class World:
    """What both environments share: the keys and values of a graph, the truth of its ways."""

    def __init__(self, book: Book, forget: bool = True) -> None:
        self.book = book
        self.places = book.places
        self.timed = {
            name: [part for way in place.ways if way.condition for part in parts(way.condition)
                   if part[0] == "turns"]
            for name, place in self.places.items()
        }  # fmt: skip
        self.values = self._values()
        self.keys = list(self.values)
        self.at = {key: n for n, key in enumerate(self.keys)}
        bits = [(name, n) for name, place in self.places.items() for n in range(len(place.jobs))]
        self.bit = {which: 1 << n for n, which in enumerate(bits)}
        self.reset_bit = {name: 1 << n for n, name in enumerate(self.places)}
        self.allowed = {
            (name, key): [
                n + 1 for n, value in enumerate(self.values[key])
                if _of_kind(kind, value, self._constants[key], self._twice)
            ]
            for name, place in self.places.items() for key, kind in place.keys.items()
        }  # fmt: skip
        self.reads = {
            name: sorted(
                {self.at[key] for way in place.ways if way.condition for key in keys(way.condition)}
                | {self.at[key] for job in place.jobs for key in job.needed}
            )
            for name, place in self.places.items()
        }
        self.live = self._live() if forget else {}
        self._looks: dict[Any, Look] = {}

    def _values(self) -> dict[str, list[Any]]:
        self._twice = any(self.timed.values())
        found: dict[str, list[Kind]] = {}
        self._constants: dict[str, list[Any]] = {}
        for place in self.places.values():
            for key, kind in place.keys.items():
                found.setdefault(key, []).append(kind)
            for way in place.ways:
                for key in keys(way.condition) if way.condition else ():
                    found.setdefault(key, [])
                for key, value in constants(way.condition) if way.condition else ():
                    self._constants.setdefault(key, []).append(value)
        for key, (kind, _) in self.book.given.items():
            found.setdefault(key, []).append(kind)
        self.written = set(found) & {key for p in self.places.values() for key in p.keys}
        for key in self.book.data:
            kinds = found.setdefault(key, [])
            if key not in self.written:  # it is there to be given
                kinds.append(self.book.kinds[key])
            self._constants.setdefault(key, [])
        result: dict[str, list[Any]] = {}
        for key, kinds in found.items():
            listed = self._constants.setdefault(key, [])
            values: list[Any] = [self.book.data[key]] if key in self.book.data else []
            for kind in kinds:
                for value in candidates(kind, listed, self._twice):
                    if not any(_same(value, known) for known in values):
                        values.append(value)
            result[key] = values
        return result

    def _live(self) -> dict[str, tuple[frozenset[int], int]]:
        """For each state the keys, and the tasks' bits, that something can still look at."""
        after: dict[str, set[str]] = {}
        for name, place in self.places.items():
            after[name] = self.book.next_to(place)
            if self.book.plan and place.following is not None:
                after[name].add(place.following)
        found = {}
        for name in self.places:
            seen, todo = {name}, [name]
            while todo:
                new = after[todo.pop()] - seen
                seen |= new
                todo += new
            read: set[int] = set()
            bits = 0
            for other in seen:
                place = self.places[other]
                read.update(self.reads[other])
                read.update(self.at[key] for key in place.required)
                if self.timed[other]:
                    read.update(self.at[key] for key in place.keys)
                for n in range(len(place.jobs)):
                    bits |= self.bit[other, n]
            found[name] = frozenset(read), bits
        return found

    def data(self, node: Node) -> dict[str, Any]:
        return {
            key: self.values[key][number - 1]
            for key, number in zip(self.keys, node.values, strict=True) if number
        }  # fmt: skip

    def is_done(self, node: Node, place: Place, job: Job) -> bool:
        """Completed or skipped, or its values are there."""
        if node.done & self.bit[place.name, place.jobs.index(job)]:
            return True
        return bool(job.needed) and all(node.values[self.at[key]] for key in job.needed)

    def is_complete(self, node: Node, place: Place) -> bool:
        return all(self.is_done(node, place, job) for job in place.jobs)

    def look(self, node: Node, at_end: bool) -> Look:
        """Evaluate the ways of the node's state."""
        place = self.places[node.state]
        seen = tuple(node.values[n] for n in self.reads[node.state])
        key = (node.state, seen, node.done, node.closed, node.total, node.idle, at_end)
        found = self._looks.get(key)
        if found is None:
            found = self._looks[key] = self._look(node, place, at_end)
        return found

    def _look(self, node: Node, place: Place, at_end: bool) -> Look:
        scene = self._scene(node, place, node.closed)
        hits: tuple[Way, ...] = ()
        for way in place.ways:
            if place.is_plan and way.target == place.name:
                continue
            ends = self.book.plan and way.target == END
            if ends and way.number is None and not at_end:
                continue
            if way.condition is None:
                if way.target in self.places:
                    hits = self._options(place, way.priority)
                    break
            elif holds(way.condition, scene) and (ends or way.target in self.places):
                hits = (way,)
                break
        asked = tuple(key for key in dict.fromkeys(scene.asked) if key not in place.keys)
        found = tuple(key for key in dict.fromkeys(scene.found) if key not in place.keys)
        return Look(hits, asked, found, self._ties(node, place, hits))

    def _options(self, place: Place, priority: float) -> tuple[Way, ...]:
        """What a model may choose: all unguarded ways of this priority."""
        return tuple(
            way
            for way in place.ways
            if way.condition is None and way.priority == priority and way.target in self.places
        )

    def _ties(self, node: Node, place: Place, hits: tuple[Way, ...]) -> tuple[tuple[int, int], ...]:
        """Two conditions of one priority that hold together, at the priority that was reached."""
        if not hits:
            return ()
        scene = self._scene(node, place, node.closed)
        both = [
            way for way in place.ways
            if way.priority == hits[0].priority and way.condition is not None
            and way.number is not None
            and (self.book.plan or any(w.stated for w in place.ways))
            and not (place.is_plan and way.target == place.name)
            and (way.target in self.places or (self.book.plan and way.target == END))
            and holds(way.condition, scene)
        ]  # fmt: skip
        return tuple(
            (min(a.number, b.number), max(a.number, b.number))
            for n, a in enumerate(both) for b in both[n + 1 :]
            if a.target != b.target and a.number is not None and b.number is not None
        )  # fmt: skip

    def _scene(self, node: Node, place: Place, closed: bool) -> Scene:
        complete = self.is_complete(node, place)
        return Scene(self.data(node), complete, closed, node.total, node.idle)

    def data_way_holds(self, node: Node) -> bool:
        """Whether a way that reads data would hold if the goal were closed."""
        place = self.places[node.state]
        scene = self._scene(node, place, closed=True)
        return any(
            way.condition is not None and keys(way.condition) and holds(way.condition, scene)
            for way in place.ways
        )


def _same(one: Any, other: Any) -> bool:
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def _of_kind(kind: Kind, value: Any, listed: list[Any], twice: bool) -> bool:
    return any(_same(value, each) for each in candidates(kind, listed, twice))


class Search:
    """All that can happen in one environment. `coop`: people do what they are asked (verify.md
    1). It begins at the roots, or at `start`.

    `moves`: for each node what can happen next. `entries`: every entry into a state, with what the
    pass that made it led to. The other sets are what was seen on the way.
    """

    def __init__(self, world: World, *, coop: bool, most: int, start: Node | None = None) -> None:
        self.world = world
        self.book = world.book
        self.coop = coop
        self.most = most
        self.moves: dict[Node, list[Move]] = {}
        self.entries: set[tuple[str, Move]] = set()
        self.firsts: set[tuple[str, int | None]] = set()
        self.asked: set[tuple[str, str]] = set()
        self.found: set[tuple[str, str]] = set()
        self.ties: set[tuple[str, int, int]] = set()
        self.cut: set[tuple[str, str]] = set()
        self.stuck: set[str] = set()
        self.rescued: set[str] = set()
        self.bodies = 0
        self._after_call: dict[Node, Move] = {}  # many calls come to the same
        self._run([self._lean(start)] if start is not None else list(self._roots()))

    @property
    def entered(self) -> set[str]:
        return {name for name, _ in self.entries}

    def _run(self, todo: list[Node]) -> None:
        for node in todo:
            self.entries.add((node.state, Move(node)))
        while todo:
            node = todo.pop()
            if node in self.moves:
                continue
            if len(self.moves) >= self.most:
                raise TooLarge
            found = list(dict.fromkeys(self._after(node)))
            self.moves[node] = found
            todo += [move.to for move in found if move.to is not None and move.to not in self.moves]

    def _roots(self) -> Iterator[Node]:
        world = self.world
        choices: list[list[int]] = []
        for key in world.keys:
            given = self.book.given.get(key)
            if given is not None:
                listed = [n + 1 for n in range(len(world.values[key]))]
                choices.append([0, *listed] if given[1] else listed)
            elif key in self.book.data and not self.coop and key not in world.written:
                choices.append([n + 1 for n in range(len(world.values[key]))])
            else:
                choices.append([1 if key in self.book.data else 0])
        for name in self.book.roots:
            been = world.reset_bit[name] if world.places[name].resets else 0
            for values in product(*choices):
                yield self._lean(Node(name, values, been=been))

    def _lean(self, node: Node) -> Node:
        """The node without what nobody can look at any more."""
        if node.state not in self.world.live:
            return node
        read, bits = self.world.live[node.state]
        values = tuple(v if n in read else 0 for n, v in enumerate(node.values))
        return node._replace(values=values, done=node.done & bits, skipped=node.skipped & bits)

    def _after(self, node: Node) -> Iterator[Move]:
        place = self.world.places[node.state]
        if not self.coop and place.on_error in self.world.places and place.kind != "terminal":
            yield self._jump(node, place.on_error)
        if not place.is_plan:
            yield from self._step(node, place)
            return
        for called in self._calls(node, place):
            move = self._after_call.get(called)
            if move is None:
                move = self._after_call[called] = self._settle(
                    called, [called.state], mid_turn=True
                )
            yield move
        yield from self._end_turn(node, place)

    def _jump(self, node: Node, target: str) -> Move:
        """Somewhere else by no way of its own."""
        return self._enter(node, target, ((node.state, target),), mid_turn=False)

    def _passed_on(self, node: Node, way: Way) -> Node:
        """The node with what goes on along a way."""
        kept = way.kept
        if kept is None:
            return node
        values = tuple(v if key in kept else 0
                       for key, v in zip(self.world.keys, node.values, strict=True))  # fmt: skip
        return node._replace(values=values)

    # --- states with a body ---------------------------------------------------------------------

    def _step(self, node: Node, place: Place) -> Iterator[Move]:
        if place.kind == "terminal":
            yield Move(None)
            return
        for values in self._written(node, place):
            self.bodies += 1
            if self.bodies > self.most * 4:
                raise TooLarge
            after = node._replace(values=values)
            look = self._look(after, at_end=False)
            for way in look.ways:
                yield self._jump(self._passed_on(after, way), way.target)
            stray = place.on_invalid
            targets = {way.target for way in place.ways} & self.world.places.keys()
            if not self.coop and len(look.ways) > 1 and stray in targets:
                yield self._jump(after, stray)
            if not look.ways and place.kind == "user":
                yield Move(after)
                if place.name not in self.stuck and not any(
                    self.world.look(node._replace(values=again), at_end=False).ways
                    for again in self._subsets(after, place)
                ):
                    self.stuck.add(place.name)
            elif not look.ways:
                self.stuck.add(place.name)

    def _written(self, node: Node, place: Place) -> Iterable[tuple[int, ...]]:
        return self._subsets(node, place, every=self.coop)

    def _subsets(self, node: Node, place: Place, every: bool = False) -> Iterable[tuple[int, ...]]:
        choices = [[number] for number in node.values]
        for key in place.keys:
            at, allowed = self.world.at[key], self.world.allowed[place.name, key]
            choices[at] = allowed if every else list(dict.fromkeys([*choices[at], *allowed]))
        return product(*choices)

    # --- plan states ----------------------------------------------------------------------------

    def _calls(self, node: Node, place: Place) -> Iterator[Node]:
        """The node after each call that is accepted, before anything is evaluated."""
        world = self.world
        for key in self._offered(node, place):
            at = world.at[key]
            for number in world.allowed[place.name, key]:
                if node.values[at] == number:
                    yield node
                else:
                    values = (*node.values[:at], number, *node.values[at + 1 :])
                    yield self._progress(node._replace(values=values))
        if not self.coop:
            yield node  # a call that changes nothing is accepted
        for job in self._doable(node, place):
            bit = world.bit[place.name, place.jobs.index(job)]
            if place.kind == "strict" or not job.required:
                yield self._progress(node._replace(done=node.done | bit))
            if place.kind != "strict":
                yield self._skipped(node, place, bit)
        if place.kind == "loose" and not self.coop:
            yield self._skipped(node, place)
            yield from self._completed(node, place)
        if place.kind == "goal" and not node.closed and self._closable(node, place):
            yield self._progress(node._replace(closed=True))

    def _completed(self, node: Node, place: Place) -> Iterator[Node]:
        """Tasks that were skipped may be completed after all, where nothing required is missing."""
        for n, job in enumerate(place.jobs):
            bit = self.world.bit[place.name, n]
            if node.skipped & bit and all(node.values[self.world.at[k]] for k in job.required):
                yield self._progress(node._replace(skipped=node.skipped & ~bit))

    def _skipped(self, node: Node, place: Place, only: int = 0) -> Node:
        """One task is skipped, or the state: all open tasks at once."""
        bits = only
        for n, job in enumerate(place.jobs):
            if not only and not self.world.is_done(node, place, job):
                bits |= self.world.bit[place.name, n]
        kept = bits if self.world.timed[place.name] else 0
        node = node._replace(done=node.done | bits, skipped=node.skipped | kept)
        return self._progress(node) if bits else node

    def _progress(self, node: Node) -> Node:
        if not self.world.timed[node.state]:
            return node
        return node._replace(idle=0, progressed=True)

    def _offered(self, node: Node, place: Place) -> list[str]:
        if place.kind != "strict":
            return list(place.keys)
        found: dict[str, None] = {}
        current = True
        for job in place.jobs:
            done = self.world.is_done(node, place, job)
            if done or current:
                found.update(dict.fromkeys(job.keys))
            current = current and done
        return list(found)

    def _doable(self, node: Node, place: Place) -> list[Job]:
        open_jobs = [job for job in place.jobs if not self.world.is_done(node, place, job)]
        if place.kind == "strict":
            return [job for job in open_jobs[:1] if not job.required]
        if self.coop:
            return [job for job in open_jobs if job.optional or not job.required]
        return open_jobs

    def _closable(self, node: Node, place: Place) -> bool:
        if not self.coop:
            return True
        if not node.heard:
            return False
        there = all(node.values[self.world.at[key]] for key in place.required)
        return there or self.world.data_way_holds(node)

    def _end_turn(self, node: Node, place: Place) -> Iterator[Move]:
        """Counters move, one more settle, then the idle net."""
        timed = self.world.timed[place.name]
        net = self.book.stuck_turns
        past = True
        node = node._replace(heard=True)
        if timed:
            most_total = max((p[2] for p in timed if p[1] == "total"), default=0)
            most_idle = net or max((p[2] for p in timed if p[1] == "without_progress"), default=0)
            total, idle = node.total, node.idle
            if node.counted:
                total, idle = total + 1, idle + (not node.progressed)
            past = idle >= most_idle and (bool(net and self.book.plan) or total >= most_total)
            node = node._replace(total=min(total, most_total), idle=min(idle, most_idle),
                                 counted=True, progressed=False)  # fmt: skip
        move = self._settle(node, [place.name], mid_turn=False)
        if move.hops or self._look(node, at_end=True).ways:
            yield move
            return
        if past and place.kind != "goal" and self.world.is_complete(node, place):
            if self.book.plan and net:
                self.rescued.add(place.name)
                target = place.following or END
                yield self._enter(node, target, ((place.name, target),), mid_turn=False)
                return
            self.stuck.add(place.name)
        if timed and net and node.idle >= net:
            if self.book.plan:
                return  # the net would move on: that silence is not looked at
            node = node._replace(idle=0)
        yield Move(node)

    # --- moving ---------------------------------------------------------------------------------

    def _settle(
        self,
        node: Node,
        visited: list[str],
        *,
        mid_turn: bool,
        hops: tuple[tuple[str, str], ...] = (),
        entered: tuple[tuple[str, int], ...] = (),
    ) -> Move:
        """Move on while something holds; back into a state of this pass is not gone."""
        first, end = len(hops), None
        while True:
            place = self.world.places[node.state]
            end = node
            if not place.is_plan:
                break
            at_end = not mid_turn and not entered and len(hops) == first
            look = self._look(node, at_end=at_end)
            if not look.ways:
                break
            target = look.ways[0].target
            if target in visited:
                self.cut.add((node.state, target))
                break
            if len(visited) > self.book.max_hops:  # it stops; next comes a line of the person
                self.cut.add((node.state, target))
                end = node._replace(heard=True, counted=True)
                break
            hops = (*hops, (node.state, target))
            if target == END:
                end = None
                break
            node = self._entered(node, target, mid_turn=mid_turn)
            visited = [*visited, target]
            entered = (*entered, (target, len(hops)))
        for name, at in entered:
            self.entries.add((name, Move(end, hops[at:])))
        return Move(end, hops)

    def _enter(
        self, node: Node, target: str, hops: tuple[tuple[str, str], ...], *, mid_turn: bool
    ) -> Move:
        if target == END and self.book.plan:
            return Move(None, hops)
        node = self._entered(node, target, mid_turn=mid_turn)
        return self._settle(node, [target], mid_turn=mid_turn, hops=hops,
                            entered=((target, len(hops)),))  # fmt: skip

    def _entered(self, node: Node, target: str, *, mid_turn: bool) -> Node:
        place, world = self.world.places[target], self.world
        values, done, been, skipped = node.values, node.done, node.been, node.skipped
        if place.resets:
            if been & world.reset_bit[target]:
                gone = {world.at[key] for key in place.keys}
                values = tuple(0 if n in gone else v for n, v in enumerate(values))
                for n in range(len(place.jobs)):
                    done &= ~world.bit[target, n]
                    skipped &= ~world.bit[target, n]
            been |= world.reset_bit[target]
        counted = not (mid_turn and world.timed[target])
        heard = not (mid_turn and place.kind == "goal")
        return self._lean(
            Node(target, values, done, been, counted=counted, skipped=skipped, heard=heard)
        )

    def _look(self, node: Node, *, at_end: bool) -> Look:
        """Evaluate, and keep what was seen."""
        look = self.world.look(node, at_end)
        name = node.state
        self.firsts.update((name, way.number) for way in look.ways)
        self.ties.update((name, i, j) for i, j in look.ties)
        self.asked.update((name, key) for key in look.asked)
        self.found.update((name, key) for key in look.found)
        return look
