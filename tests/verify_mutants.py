"""Mistakes to plant in a copy of the verifier (verify.md 5): each must be noticed.

What a few of them break is shared with the kernel (the order of routes, the truth of atoms): then
the oracle's own reading of it is what notices.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import NamedTuple

import statecli

PACKAGE = Path(statecli.__file__).parent


class Mutant(NamedTuple):
    """`edits`: a file, a piece of text that stands in it once, and what it becomes."""

    name: str
    edits: tuple[tuple[str, str, str], ...]


def one(name: str, file: str, old: str, new: str) -> Mutant:
    return Mutant(name, ((file, old, new),))


BOX, SITE, EXPLORE = "verify/box.py", "verify/site.py", "verify/explore.py"
BACKWARD, DOMAIN, LAYOUT = "verify/backward.py", "verify/domain.py", "verify/layout.py"
ORDER, GUARD, CLASSES = "kernel/order.py", "model/guard.py", "model/classes.py"

MUTANTS = (
    one("1 sorted by the order of the file only", ORDER,
        "return tuple(sorted(written, key=_priority))", "return written"),
    one("2 no evaluation on entry", EXPLORE,
        "self._evaluate(site, site.entry(visited.mid_turn), False, box, visited, work)",
        "self._stays(site, site.entry(visited.mid_turn), box, work)"),
    one("3 transitions to itself are kept", SITE,
        "if self.state.is_plan and route.target == self.state.name:", "if False:"),
    one("4 the implicit completion route is dropped", ORDER,
        "return _made(state, target, COMPLETION_PRIORITY, why)", "return None"),
    one("5 a strict state offers everything", SITE,
        'if self.state.kind != "strict":\n            return found', "return found"),
    Mutant("6 nothing required is skipped in FULL", (
        (SITE, "may = not needs if strict else not coop or not task.required or not needs",
         "may = not needs if strict else not task.required or not needs"),
        (SITE, 'if not coop and state.kind == "loose" and state.tasks:', "if False:"),
    )),
    one("7 boxes that differ in two fields are merged", BOX,
        "if not differs & ~group_at[(differs & -differs).bit_length() - 1]:",
        "if differs.bit_count() <= 6:"),
    one("8 containment is reversed", BOX,
        "any(box & known == box for known", "any(box & known == known for known"),
    one("9 a call does not clear the idle turns", SITE,
        "return Counters(closed, counters.total, 0, counters.fresh, True)",
        "return Counters(closed, counters.total, counters.idle, counters.fresh, True)"),
    one("9 the turn of entry is counted", SITE,
        "return Counters(fresh=self.timed and mid_turn)", "return Counters(fresh=False)"),
    one("9 a turn with progress is idle", SITE, "if not counters.progressed:", "if True:"),
    one("10 a pre-image keeps what the call wrote", SITE,
        "        return box & ~axis.group | found << axis.at if found else 0\n\n\nclass Call",
        "        return box if found else 0\n\n\nclass Call"),
    one("10 a pre-image frees every field", EXPLORE,
        "yield entered & keep | frame.full & ~keep", "yield frame.full"),
    one("what is skipped reads as present", DOMAIN,
        "self.present = self.all & ~self.absent",
        "self.present = self.all & ~(1 if self.absents else 0)"),
    one("the net comes before completion", EXPLORE,
        "full = site.compiler.complete().yes", "full = [self.frame.full]"),
    one("the net does not wait for what holds at the end of a turn", EXPLORE,
        "for rest in site.evaluate(counters, True, here).rest:", "for rest in (here,):"),
    one("what is missing is unequal", CLASSES,
        'return test.op == "absent"', 'return test.op in ("absent", "ne", "neq#", "notin")'),
    one("text is not folded", GUARD, "return text.strip().casefold()", "return text"),
    one("text is no number", GUARD,
        "if isinstance(value, str) and len(value) <= 400:", "if False:"),
    one("what a state forgets is not undone backwards", EXPLORE,
        "        for one in found:\n            again |= one.group\n", ""),
    one("what was done is forgotten on every entry", EXPLORE,
        "        if axis is None:\n            yield box\n            return\n        mask",
        "        if axis is None:\n            yield self.forgotten(target, box)\n"
        "            return\n        mask"),
    one("a state that begins anew forgets nothing", EXPLORE,
        "yield self.forgotten(target, visited)", "yield visited"),
    one("a slot keeps the bits of another field", LAYOUT,
        "if here >> axis.number & 1:\n                    keep |= axis.group", "if True:\n"
        "                    keep |= axis.group"),
    one("a pass may come back", EXPLORE,
        "elif visited is not None and target in visited.visited:", "elif False:"),
    one("anybody may give a goal up in COOP", SITE,
        'self._gate(counters) if coop else None', "None"),
    one("a body writes all of its fields in FULL", EXPLORE,
        "        written = box\n        for effect in site.body(coop=self.coop):",
        "        written = box\n        for effect in site.body(coop=True):"),
)  # fmt: skip


def planted(mutant: Mutant, folder: Path) -> None:
    """A copy of the package with the mistake in it."""
    shutil.copytree(PACKAGE, folder / "statecli", ignore=shutil.ignore_patterns("__pycache__"))
    for file, old, new in mutant.edits:
        path = folder / "statecli" / file
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{file} no longer reads (once): {old}"
        path.write_text(text.replace(old, new), encoding="utf-8")
