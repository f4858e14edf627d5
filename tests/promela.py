"""A graph as a Promela model, and what Spin says about it (for tests and benchmarks only).

Everything that can be told about a graph stands on a line of its own in the model. Spin searches
all of it and names the lines that were never reached: those things cannot happen. Two models, one
for each environment of verify.md 1.
"""

from __future__ import annotations

import math
import re
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from verify_oracle.conditions import Condition, Scene, holds, keys
from verify_oracle.reader import END, Book, Place, Way
from verify_oracle.search import World

#: What Spin decides here; the other lists need more than reachability of a line.
LISTS = ("unreachable", "dead", "fallthrough", "stuck", "rescued", "tie", "settle_loops")
MISSING = [name for name in ("spin", "gcc") if shutil.which(name) is None]
SPIN_MISSING = f"not installed: {', '.join(MISSING)} (Debian packages of these names)"


class Told(NamedTuple):
    """What Spin said: the lists, and the seconds that the search and all of it took."""

    lists: Mapping[str, frozenset[Any]]
    search: float
    total: float


def spin(book: Book, folder: Path) -> Told:
    """Search both environments with Spin."""
    begin = time.perf_counter()
    happened: dict[bool, set[tuple[Any, ...]]] = {}
    search = 0.0
    for coop in (False, True):
        model = _Model(book, coop=coop)
        path = folder / f"{'coop' if coop else 'full'}.pml"
        path.write_text(model.text, encoding="utf-8")
        never, seconds = _run(path)
        search += seconds
        happened[coop] = {what for line, what in model.told.items() if line not in never}
    lists = _lists(book, happened[False], happened[True])
    return Told(lists, search, time.perf_counter() - begin)


def _run(path: Path) -> tuple[set[int], float]:
    """The lines that are never reached, and how long the search took."""
    folder = path.parent

    def call(*words: str) -> str:
        done = subprocess.run(
            words, cwd=folder, capture_output=True, text=True, timeout=300, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    call("spin", "-a", "-o3", path.name)
    call("gcc", "-O0", "-w", "-DSAFETY", "-DNOREDUCE", "-DMEMLIM=2048", "-o", "pan", "pan.c")
    begin = time.perf_counter()
    said = call("./pan", "-E", "-m2000000", "-c1")
    seconds = time.perf_counter() - begin
    assert "errors: 0" in said, said
    assert "error: max search depth" not in said, said
    pattern = re.escape(path.name) + r":(\d+), state"
    return {int(line) for line in re.findall(pattern, said.split("unreached in")[1])}, seconds


def _lists(book: Book, full: set[Any], coop: set[Any]) -> dict[str, frozenset[Any]]:
    entered = {what[1] for what in full if what[0] == "entered"} | set(book.roots)
    dead = {
        (name, way.number)
        for name in entered
        for way in book.places[name].ways
        if way.number is not None and _counts(book, book.places[name], way)
        and ("first", name, way.number) not in full
    }  # fmt: skip
    fallen = {
        name for name, place in book.places.items()
        if place.kind == "goal" and ("first", name, None) in full
        and any(way.number is None and way.priority == math.inf for way in place.ways)
    }  # fmt: skip
    return {
        "unreachable": frozenset(book.on_paper() - entered),
        "dead": frozenset(dead),
        "fallthrough": frozenset(fallen),
        "stuck": frozenset(what[1] for what in coop if what[0] == "stuck"),
        "rescued": frozenset(what[1] for what in coop if what[0] == "rescued"),
        "tie": frozenset(what[1:] for what in coop if what[0] == "tie"),
        "settle_loops": frozenset(what[1:] for what in full if what[0] == "cut"),
    }


def _counts(book: Book, place: Place, way: Way) -> bool:
    """Whether a way is ever tried."""
    if place.is_plan and way.target == place.name:
        return False
    return way.target in book.places or (book.plan and way.target == END)


class _Model:
    """The text of a model; `told` maps a line of it to what happens there."""

    def __init__(self, book: Book, *, coop: bool) -> None:
        self.book = book
        self.coop = coop
        self.world = World(book, forget=False)
        self.number = {name: n for n, name in enumerate(book.places)}
        self.lines: list[str] = []
        self.told: dict[int, tuple[Any, ...]] = {}
        self._write()

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n"

    def _say(self, *lines: str) -> None:
        self.lines += lines

    def _tell(self, *what: Any) -> None:
        """A line that is reached when this happens."""
        self.told[len(self.lines) + 1] = what
        self.lines.append(f'printf("{len(self.told)}");')

    def _write(self) -> None:
        book, world = self.book, self.world
        assert not any(place.on_error or place.on_invalid for place in book.places.values())
        keys, tasks, states = max(1, len(world.keys)), max(1, len(world.bit)), len(book.places)
        self._say(
            f"byte v[{keys}]; bit d[{tasks}]; bit k[{tasks}];",
            f"bit seen[{states}]; bit been[{states}]; byte st; bit closed;",
            "byte total, idle; bit counted, progressed, moved, mid, turn; byte places;",
            "active proctype walk() {",
        )
        for at, key in enumerate(world.keys):
            numbers = [n + 1 for n in range(len(world.values[key]))]
            if key in book.given:
                self._choose(at, [0, *numbers] if book.given[key][1] else numbers)
            elif key in book.data and not self.coop and key not in world.written:
                self._choose(at, numbers)
            elif key in book.data:
                self._say(f"v[{at}] = 1;")
        for name in book.roots:
            begin = f"been[{self.number[name]}] = {int(book.places[name].resets)}"
            self._say("if" if name == book.roots[0] else "",
                      f":: st = {self.number[name]}; counted = 1; {begin};")  # fmt: skip
        self._say("fi;", "goto rest;", "rest:", self._cleared(), "mid = 0; turn = 0;", "if")
        self._say(*(f":: st == {n} -> goto rest_{n};" for n in self.number.values()), "fi;")
        self._say("settle:", "if")
        self._say(*(f":: st == {self.number[name]} -> goto eval_{self.number[name]};"
                    for name, place in book.places.items() if place.is_plan),
                  ":: else -> goto rest;", "fi;")  # fmt: skip
        for place in book.places.values():
            self._place(place)
        self._say("ended: skip;", "}")

    def _cleared(self) -> str:
        seen = " ".join(f"seen[{n}] = 0;" for n in self.number.values())
        return f"{seen} moved = 0; places = 0;"

    def _choose(self, at: int, numbers: list[int]) -> None:
        self._say("if", *(f":: v[{at}] = {n};" for n in numbers), "fi;")

    # --- guards ---------------------------------------------------------------------------------

    def _guard(self, condition: Condition, place: Place, known: Mapping[int, int]) -> str:
        """A condition as an expression; `known`: keys whose value is given."""
        word = condition[0]
        if word == "complete":
            return self._complete(place)
        if word == "closed":
            return "(closed == 1)"
        if word == "turns":
            counter = {"total": "total", "without_progress": "idle"}[condition[1]]
            return f"({counter} >= {condition[2]})"
        if word in ("all", "any"):
            children = [self._guard(child, place, known) for child in condition[1]]
            join = (" && " if word == "all" else " || ").join(children)
            return f"({join})" if children else ("true" if word == "all" else "false")
        return self._over_values(condition, known) if keys(condition) else "false"

    def _over_values(self, condition: Condition, known: Mapping[int, int]) -> str:
        """All the values for which it holds, one by one."""
        world = self.world
        listed = sorted(world.at[key] for key in keys(condition))
        ranges = [
            [known[at]] if at in known else range(len(world.values[world.keys[at]]) + 1)
            for at in listed
        ]
        found = []
        for numbers in product(*ranges):
            data = {
                world.keys[at]: world.values[world.keys[at]][n - 1]
                for at, n in zip(listed, numbers, strict=True) if n
            }  # fmt: skip
            if holds(condition, Scene(data, complete=False, closed=False, total=0, idle=0)):
                tests = [f"v[{at}] == {n}" for at, n in zip(listed, numbers, strict=True)
                         if at not in known]  # fmt: skip
                found.append(" && ".join(tests) or "true")
        return f"({' || '.join(f'({test})' for test in found)})" if found else "false"

    def _done(self, place: Place, n: int) -> str:
        job = place.jobs[n]
        bit = self.world.bit[place.name, n].bit_length() - 1
        there = " && ".join(f"v[{self.world.at[key]}] != 0" for key in job.needed)
        return f"(d[{bit}] == 1 || ({there}))" if there else f"(d[{bit}] == 1)"

    def _complete(self, place: Place) -> str:
        return f"({' && '.join(self._done(place, n) for n in range(len(place.jobs))) or 'true'})"

    # --- one state ------------------------------------------------------------------------------

    def _place(self, place: Place) -> None:
        at = self.number[place.name]
        self._say(f"enter_{at}:")
        self._tell("entered", place.name)
        self._reset(place, at)
        self._say(f"st = {at}; seen[{at}] = 1; moved = 1; places++; closed = 0;",
                  "total = 0; idle = 0; progressed = 0;",
                  f"counted = {'(mid == 1 -> 0 : 1)' if self.world.timed[place.name] else '1'};",
                  "goto settle;" if place.is_plan else f"{self._cleared()} goto rest_{at};",
                  f"rest_{at}:")  # fmt: skip
        if place.is_plan:
            self._calls(place, at)
            self._evaluation(place, at)
        elif place.kind == "terminal":
            self._say("goto ended;")
        else:
            self._body(place, at)

    def _reset(self, place: Place, at: int) -> None:
        if not place.resets:
            return
        gone = [f"v[{self.world.at[key]}] = 0;" for key in place.keys]
        bits = [self.world.bit[place.name, n].bit_length() - 1 for n in range(len(place.jobs))]
        gone += [f"d[{bit}] = 0; k[{bit}] = 0;" for bit in bits]
        self._say(f"if :: been[{at}] == 1 -> {' '.join(gone) or 'skip;'} :: else fi;",
                  f"been[{at}] = 1;")  # fmt: skip

    def _calls(self, place: Place, at: int) -> None:
        called = f"seen[{at}] = 1; mid = 1; goto eval_{at};"
        progress = "idle = 0; progressed = 1;" if self.world.timed[place.name] else ""
        self._say("if")
        for key in place.keys:
            n = self.world.at[key]
            due = self._due(place, key)
            for number in self.world.allowed[place.name, key]:
                is_it = f"{due} && v[{n}] == {number}"
                self._say(
                    f":: {due} && v[{n}] != {number} -> v[{n}] = {number}; {progress} {called}",
                    f":: {is_it} -> {called}",
                )
        for test, effect in self._doings(place):
            self._say(f":: {test} -> {effect} {progress} {called}")
        if not self.coop:  # a call that changes nothing is accepted
            self._say(f":: true -> {called}")
        self._say(f":: true -> goto turn_{at};", "fi;")
        self._turn_end(place, at)

    def _due(self, place: Place, key: str) -> str:
        """Whether a strict state takes a key now."""
        if place.kind != "strict":
            return "true"
        tests = []
        for n, job in enumerate(place.jobs):
            if key in job.keys:
                before = " && ".join(self._done(place, m) for m in range(n)) or "true"
                tests.append(f"{self._done(place, n)} || ({before})")
        return f"({' || '.join(tests)})"

    def _doings(self, place: Place) -> Iterator[tuple[str, str]]:
        """The calls that set no value: what must be so, and what they do."""
        bits = [self.world.bit[place.name, n].bit_length() - 1 for n in range(len(place.jobs))]
        kept = "k[{}] = 1;" if self.world.timed[place.name] and not self.coop else ""
        for n, job in enumerate(place.jobs):
            undone = f"!{self._done(place, n)}"
            if place.kind == "strict":
                before = " && ".join(self._done(place, m) for m in range(n)) or "true"
                if not job.required:
                    yield f"{undone} && {before}", f"d[{bits[n]}] = 1;"
                continue
            if not self.coop or job.optional or not job.required:
                yield undone, f"d[{bits[n]}] = 1; {kept.format(bits[n])}"
            if not job.required:
                yield undone, f"d[{bits[n]}] = 1;"
            if kept:  # a skipped task may be completed after all
                there = [f"v[{self.world.at[key]}] != 0" for key in job.required]
                yield " && ".join([f"k[{bits[n]}] == 1", *there]), f"k[{bits[n]}] = 0;"
        if place.kind == "loose" and not self.coop and place.jobs:
            skips = [
                f"if :: !{self._done(place, n)} -> d[{bit}] = 1; {kept.format(bit)} :: else fi;"
                for n, bit in enumerate(bits)
            ]
            yield f"!{self._complete(place)}", " ".join(skips)
        if place.kind == "goal":
            yield f"closed == 0 && {self._closable(place)}", "closed = 1;"

    def _closable(self, place: Place) -> str:
        if not self.coop:
            return "true"
        there = " && ".join(f"v[{self.world.at[key]}] != 0" for key in place.required) or "true"
        ways = [
            self._guard(_closed(way.condition), place, {})
            for way in place.ways if way.condition is not None and keys(way.condition)
        ]  # fmt: skip
        return f"({' || '.join([f'({there})', *ways])})"

    def _turn_end(self, place: Place, at: int) -> None:
        timed, net = self.world.timed[place.name], self.book.stuck_turns
        total = max((p[2] for p in timed if p[1] == "total"), default=0)
        idle = net or max((p[2] for p in timed if p[1] == "without_progress"), default=0)
        self._say(f"turn_{at}:")
        self._say("places = 0;")
        if timed:
            self._say("places = total;",  # whether total was as far as it goes, for what is past
                      "if :: counted == 1 ->",
                      f"places = (total + 1 >= {total} -> 1 : 0);",
                      f"total = (total >= {total} -> total : total + 1);",
                      f"idle = (progressed == 0 && idle < {idle} -> idle + 1 : idle);",
                      f":: else -> places = (total >= {total} -> 1 : 0); fi;",
                      "counted = 1; progressed = 0;")  # fmt: skip
        self._say(f"seen[{at}] = 1; turn = 1; goto eval_{at};", f"over_{at}:")
        # Nothing held at the end of the turn.
        past = f"idle >= {idle}" + ("" if net and self.book.plan else " && places == 1")
        ready = f"{past if timed else 'true'} && {self._complete(place)}"
        if place.kind != "goal":
            self._say(f"if :: {ready} ->")
            self._tell("rescued" if net and self.book.plan else "stuck", place.name)
            if net and self.book.plan:
                self._say(f"{self._cleared()} turn = 0; mid = 0;",
                          f"goto enter_{self.number[place.following]};" if place.following
                          else "goto ended;")  # fmt: skip
            self._say(":: else fi;")
        if timed and net:
            gone = "goto ended;" if self.book.plan else "idle = 0;"
            self._say(f"if :: idle >= {net} -> {gone} :: else fi;")
        self._say("goto rest;")

    def _evaluation(self, place: Place, at: int) -> None:
        self._say(f"eval_{at}:")
        self._ties(place)
        for way in place.ways:
            if way.condition is None or not _counts(self.book, place, way):
                continue
            test = self._guard(way.condition, place, {})
            if way.target == END and way.number is None:
                test = f"{test} && turn == 1 && moved == 0"
            self._say(f"if :: {test} ->")
            self._tell("first", place.name, way.number)
            if way.target == END and self.book.plan:
                self._say("goto ended;")
            else:
                target = self.number[way.target]
                self._say(f"if :: seen[{target}] == 1 ->")
                self._tell("cut", place.name, way.target)
                self._say(f"goto rest; :: else -> goto enter_{target}; fi;")
            self._say(":: else fi;")
        self._say(f"if :: turn == 1 && moved == 0 -> goto over_{at}; :: else -> goto rest; fi;")

    def _ties(self, place: Place) -> None:
        stated = self.book.plan or any(way.stated for way in place.ways)
        ways = [way for way in place.ways if _counts(self.book, place, way)]
        for n, one in enumerate(ways):
            for other in ways[n + 1 :]:
                if (
                    not stated or one.priority != other.priority or one.target == other.target
                    or one.number is None or other.number is None
                    or one.condition is None or other.condition is None
                ):  # fmt: skip
                    continue
                before = [way for way in ways if way.priority < one.priority]
                if any(way.condition is None for way in before):
                    continue
                tests = [self._guard(way.condition or (), place, {}) for way in (one, other)]
                tests += [f"!{self._guard(way.condition or (), place, {})}" for way in before]
                self._say(f"if :: {' && '.join(tests)} ->")
                self._tell("tie", place.name, *sorted((one.number, other.number)))
                self._say(":: else fi;")

    def _body(self, place: Place, at: int) -> None:
        for key in place.keys:
            n, numbers = self.world.at[key], self.world.allowed[place.name, key]
            self._say("if", *(f":: v[{n}] = {number};" for number in numbers),
                      *([] if self.coop else [":: skip;"]), "fi;")  # fmt: skip
        self._ties(place)
        ways = [way for way in place.ways if way.target in self.book.places]
        for way in ways:
            if way.condition is None:
                options = [w for w in ways if w.condition is None and w.priority == way.priority]
                self._say("if")
                for option in options:
                    self._say(":: true ->")
                    self._tell("first", place.name, option.number)
                    self._say(f"goto enter_{self.number[option.target]};")
                self._say("fi;")
                return
            self._say(f"if :: {self._guard(way.condition, place, {})} ->")
            self._tell("first", place.name, way.number)
            self._say(f"goto enter_{self.number[way.target]};", ":: else fi;")
        if place.kind == "user":
            self._say(f"if :: {self._for_ever(place, ways)} ->")
            self._tell("stuck", place.name)
            self._say(f":: else fi; goto rest_{at};")
        else:
            self._tell("stuck", place.name)
            self._say("goto ended;")

    def _for_ever(self, place: Place, ways: list[Way]) -> str:
        """Nothing holds, whatever the body writes."""
        listed = [self.world.at[key] for key in place.keys]
        ranges = [[None, *self.world.allowed[place.name, key]] for key in place.keys]
        tests = []
        for numbers in product(*ranges):
            known = {at: n for at, n in zip(listed, numbers, strict=True) if n is not None}
            tests += [f"!{self._guard(way.condition or (), place, known)}" for way in ways]
        return " && ".join(tests) or "true"


def _closed(condition: Condition | None) -> Condition:
    """The condition as it is once the goal is closed."""
    assert condition is not None
    if condition[0] == "closed":
        return ("all", ())
    if condition[0] in ("all", "any"):
        return (condition[0], tuple(_closed(child) for child in condition[1]))
    return condition
