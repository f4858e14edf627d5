"""The oracle for graphs that split and join: every order in which branches may move, one by one.

A branch is (place, came, layers). `came`: (source, group), or None where it waits for nobody.
`layers`: what it knows, as it came to know it: a number for each split it stands under (0: the
start) and what it wrote since. What a branch sees are its layers laid over each other; a join lays
the last ones of its branches over each other, in routing order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations, product
from typing import Any

from verify_oracle.conditions import Scene, holds
from verify_oracle.reader import Book, Place, book
from verify_oracle.search import Node, TooLarge, World

Layers = tuple[tuple[int, tuple[tuple[str, Any], ...]], ...]
Branch = tuple[str, tuple[str, str] | None, Layers]
Run = tuple[Branch, ...]
LISTS = ("unreachable", "dead", "stuck", "unset", "never_set", "waits", "open", "twice")


#: Where nothing held after its body.
STUCK = ("", "stuck")


class Splitting:
    """A graph file with what only branches need: who takes all ways, who waits, groups."""

    def __init__(self, top: Mapping[str, Any]) -> None:
        self.book: Book = book(dict(top))
        self.world = World(self.book)
        states = top["states"]
        transition = {name: state.get("transition") or {} for name, state in states.items()}
        self.fans = {name for name, t in transition.items() if t.get("fanout") == "all"}
        self.named = {name: "join" in state for name, state in states.items()}
        self.group: dict[tuple[str, int], str] = {}
        for name, found in transition.items():
            listed = found.get("next") or []
            for number, item in enumerate([listed] if isinstance(listed, str) else listed):
                if isinstance(item, dict) and item.get("group"):
                    self.group[name, number] = item["group"]
        self.wanted: dict[tuple[str, str], set[str]] = {}
        for name, place in self.book.places.items():
            for way in place.ways:
                if states.get(way.target, {}).get("join") == "all":
                    assert way.number is not None
                    group = self.group.get((name, way.number), "")
                    self.wanted.setdefault((way.target, group), set()).add(name)

    def waits(self, branch: Branch) -> bool:
        place, came, _ = branch
        return (
            came not in (None, STUCK)
            and came is not None
            and len(self.wanted.get((place, came[1]), ())) > 1
        )

    def ended(self, branch: Branch) -> bool:
        return self.book.places[branch[0]].kind == "terminal" and not self.waits(branch)

    def ahead(self, name: str) -> set[str]:
        """All that some path leads to from a state."""
        seen, todo = {name}, [name]
        while todo:
            new = self.book.next_to(self.book.places[todo.pop()]) - seen
            seen |= new
            todo += new
        return seen


def data_of(layers: Layers) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for _, delta in layers:
        found.update(delta)
    return found


def _with(layers: Layers, delta: Mapping[str, Any]) -> Layers:
    number, old = layers[-1]
    return (*layers[:-1], (number, _sorted({**dict(old), **delta})))


def _sorted(delta: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    return tuple(sorted(delta.items()))


def _parted(run: Run, children: list[Branch]) -> list[Branch]:
    """Branches that have just split, under a number that no other split has."""
    used = {number for _, _, layers in run for number, _ in layers}
    new = min(set(range(1, len(used) + 2)) - used)
    return [(place, came, (*layers, (new, ()))) for place, came, layers in children]


class Walk:
    """Everything that can happen in one environment."""

    def __init__(self, of: Splitting, *, coop: bool, most: int) -> None:
        self.of = of
        self.coop = coop
        self.entered: set[str] = set()
        self.firsts: set[tuple[str, int | None]] = set()
        self.stuck: set[str] = set()
        self.asked: set[tuple[str, str]] = set()
        self.found: set[tuple[str, str]] = set()
        self.waiting: set[str] = set()
        self.open: set[str] = set()
        self.twice: set[str] = set()
        self._bodies: dict[Branch, list[list[Branch]]] = {}  # the same whatever others do
        known: set[Run] = set()
        todo: list[Run] = [
            ((name, None, ((0, _sorted(data)),)),)
            for name in of.book.roots
            for data in self._given()
        ]
        while todo:
            run = todo.pop()
            if run in known:
                continue
            if len(known) >= most or len(run) > 9:
                raise TooLarge
            known.add(run)
            self._judge(run)
            todo += self._after(run)

    def _given(self) -> Iterator[dict[str, Any]]:
        """The data at the start: a default that nothing writes may be given otherwise."""
        world, book_ = self.of.world, self.of.book
        keys = list(book_.data)
        choices = [
            world.values[key] if not self.coop and key not in world.written else [book_.data[key]]
            for key in keys
        ]
        for picked in product(*choices):
            yield dict(zip(keys, picked, strict=True))

    def _judge(self, run: Run) -> None:
        of = self.of
        self.entered |= {branch[0] for branch in run}
        open_ = [branch for branch in run if not of.ended(branch)]
        ended = [branch for branch in run if of.ended(branch)]
        if open_:
            self.open |= {branch[0] for branch in ended}
        names = [branch[0] for branch in open_ if not of.named[branch[0]]]
        self.twice |= {name for name in names if names.count(name) > 1}
        self.waiting |= self._in_vain(run)

    def _in_vain(self, run: Run) -> set[str]:
        """The joins that wait for somebody who has no way there any more."""
        of = self.of
        moving: set[str] = set()
        for branch in run:
            if not (of.ended(branch) or of.waits(branch)):
                moving |= of.ahead(branch[0])
        found: set[str] = set()
        for branch in run:
            place, came, _ = branch
            if came is not None and of.waits(branch):
                here = {b[1][0] for b in run if b[0] == place and b[1] and b[1][1] == came[1]}
                if of.wanted[place, came[1]] - here - moving:
                    found.add(place)
        return found

    def _failed(self, run: Run) -> bool:
        """Nobody goes on but who waits for the person, and something is wrong: the run stops."""
        for branch in run:
            resting = self.of.ended(branch) or self.of.waits(branch) or branch[1] == STUCK
            if not resting and self.of.book.places[branch[0]].kind != "user":
                return False
        return any(branch[1] == STUCK for branch in run) or bool(self._in_vain(run))

    # --- what happens next ----------------------------------------------------------------------

    def _after(self, run: Run) -> Iterator[Run]:
        if self.coop and self._failed(run):
            return
        for at in self._movable(run):
            branch = run[at]
            if branch not in self._bodies:
                self._bodies[branch] = [
                    list(c) for c in {tuple(c) for c in self._body(branch)} if c
                ]
            for children in self._bodies[branch]:
                made = children if len(children) == 1 else _parted(run, children)
                yield self._tidy(self._join((*run[:at], *made, *run[at + 1 :])))

    def _movable(self, run: Run) -> list[int]:
        """Who may move. COOP: the person is asked last, and whoever waits first is answered."""
        free = [
            at
            for at, b in enumerate(run)
            if not (self.of.ended(b) or self.of.waits(b) or b[1] == STUCK)
        ]
        others = [at for at in free if self.of.book.places[run[at][0]].kind != "user"]
        return free if not self.coop else others or free[:1]

    def _body(self, branch: Branch) -> Iterator[list[Branch]]:
        name, _, layers = branch
        place = self.of.book.places[name]
        if not self.coop and place.on_error in self.of.book.places:
            yield [(str(place.on_error), None, layers)]
        led_on = False
        for delta in self._written(place):
            after = _with(layers, delta)
            ways = self._split(place, after) if name in self.of.fans else None
            options = [ways] if ways is not None else [[way] for way in self._first(place, after)]
            led_on |= any(options)
            if not any(options) and place.kind != "user" and self.coop:
                self.stuck.add(name)
                yield [(name, STUCK, after)]
            if not any(options) and place.kind == "user":
                yield [(name, branch[1], after)]
            for taken in options:
                yield [
                    (way[0], (name, self.of.group.get((name, way[1]), "")), after) for way in taken
                ]
            stray, targets = place.on_invalid, {way.target for way in place.ways}
            if ways is None and not self.coop and len(options) > 1 and stray in targets:
                yield [(str(stray), None, after)]
        if not led_on and place.kind == "user" and self.coop:
            self.stuck.add(name)

    def _written(self, place: Place) -> Iterator[dict[str, Any]]:
        """What a body writes: COOP all of it, FULL any part."""
        world = self.of.world
        keys = list(place.keys)
        sizes = [len(keys)] if self.coop else range(len(keys) + 1)
        for size in sizes:
            for some in combinations(keys, size):
                allowed = [world.allowed[place.name, key] for key in some]
                for picked in product(*allowed):
                    yield {
                        key: world.values[key][number - 1]
                        for key, number in zip(some, picked, strict=True)
                    }

    def _first(self, place: Place, layers: Layers) -> list[tuple[str, int]]:
        """The way that is taken, or those among which a model chooses."""
        data, world = data_of(layers), self.of.world
        numbers = tuple(_number(world.values[key], data[key]) if key in data else 0
                        for key in world.keys)  # fmt: skip
        look = world.look(Node(place.name, numbers), at_end=False)
        self.firsts |= {(place.name, way.number) for way in look.ways}
        self.asked |= {(place.name, key) for key in look.asked}
        self.found |= {(place.name, key) for key in look.found}
        return [(way.target, way.number) for way in look.ways if way.number is not None]

    def _split(self, place: Place, layers: Layers) -> list[tuple[str, int]]:
        """All ways that hold."""
        taken: list[tuple[str, int]] = []
        for way in place.ways:
            scene = Scene(data_of(layers), False, False, 0, 0)
            if way.target in self.of.book.places:
                if way.condition is None or holds(way.condition, scene):
                    assert way.number is not None
                    taken.append((way.target, way.number))
                self.asked |= {(place.name, k) for k in scene.asked if k not in place.keys}
                self.found |= {(place.name, k) for k in scene.found if k not in place.keys}
        self.firsts |= {(place.name, number) for _, number in taken}
        return taken

    # --- joins ----------------------------------------------------------------------------------

    def _join(self, run: Run) -> Run:
        """Those that a join has waited for become one, in the place of the first of them."""
        for (place, group), wanted in self.of.wanted.items():
            chosen: dict[str, int] = {}
            for at, (name, came, _) in enumerate(run):
                if (
                    name == place
                    and came is not None
                    and came[1] == group
                    and self.of.waits(run[at])
                ):
                    chosen.setdefault(came[0], at)
            if len(wanted) > 1 and chosen.keys() == wanted:
                places = sorted(chosen.values())
                joined: Branch = (place, None, self._folded([run[at][2] for at in places]))
                left = [b for at, b in enumerate(run) if at not in places[1:]]
                left[places[0]] = joined
                return self._join(tuple(left))
        return run

    def _folded(self, parts: list[Layers]) -> Layers:
        level = 0
        while all(len(p) > level for p in parts) and len({p[level][0] for p in parts}) == 1:
            level += 1
        folded: dict[str, Any] = {}
        for part in parts:
            for _, delta in part[level - 1 :]:
                folded.update(delta)
        return (*parts[0][: level - 1], (parts[0][level - 1][0], _sorted(folded)))

    def _tidy(self, run: Run) -> Run:
        """Of what is over only the place matters; a split of which one branch is left is none."""
        live = [branch for branch in run if not self.of.ended(branch)]
        over = [(b[0], None, ((0, ()),)) for b in run if self.of.ended(b)]
        numbers = [number for _, _, layers in live for number, _ in layers]
        kept: list[Branch] = []
        for place, came, layers in live:
            made: list[tuple[int, dict[str, Any]]] = []
            for number, delta in layers:
                if number and numbers.count(number) == 1:
                    made[-1][1].update(delta)
                else:
                    made.append((number, dict(delta)))
            kept.append((place, came, tuple((n, _sorted(d)) for n, d in made)))
        few = [
            branch for at, branch in enumerate(sorted(over)) if sorted(over)[:at].count(branch) < 2
        ]
        return (*kept, *few)


def _number(values: list[Any], value: Any) -> int:
    return next(
        n + 1 for n, one in enumerate(values)
        if isinstance(one, bool) == isinstance(value, bool) and one == value
    )  # fmt: skip


def branching(top: Mapping[str, Any], most: int = 20_000) -> dict[str, frozenset[Any]]:
    """What can happen: the lists of `lists.py` that make sense for branches, and waits (the joins
    that wait in vain), open (the ends that one branch reaches before another), twice (the states
    that two branches are in at once). Raises TooLarge."""
    of = Splitting(top)
    full, coop = Walk(of, coop=False, most=most), Walk(of, coop=True, most=most)
    dead = {
        (name, way.number) for name in full.entered for way in of.book.places[name].ways
        if way.target in of.book.places and (name, way.number) not in full.firsts
    }  # fmt: skip
    return {
        "unreachable": frozenset(of.book.on_paper() - full.entered), "dead": frozenset(dead),
        "stuck": frozenset(coop.stuck), "unset": frozenset(coop.asked),
        "never_set": frozenset(coop.asked - full.found), "waits": frozenset(coop.waiting),
        "open": frozenset(coop.open), "twice": frozenset(coop.twice),
    }  # fmt: skip
