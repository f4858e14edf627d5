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
CALLS, SITES = "verify/calls.py", "verify/sites.py"
TOKENS, BRANCHES, STEPS = "verify/tokens.py", "verify/branches.py", "verify/steps.py"
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
    one("5 a strict state offers everything", CALLS,
        'if self.state.kind != "strict":\n            return found', "return found"),
    Mutant("6 nothing required is skipped in FULL", (
        (CALLS, "may = not needs if strict else not coop or not task.required or not needs",
         "may = not needs if strict else not task.required or not needs"),
        (CALLS, 'if not coop and state.kind == "loose" and state.tasks:', "if False:"),
    )),
    one("7 boxes that differ in two fields are merged", BOX,
        "if not differs & ~group_at[(differs & -differs).bit_length() - 1]:",
        "if differs.bit_count() <= 6:"),
    one("8 containment is reversed", BOX,
        "any(box & known == box for known", "any(box & known == known for known"),
    one("9 a call does not clear the idle turns", SITE,
        "return counters._replace(closed=closed, idle=0, progressed=True, open=False)",
        "return counters._replace(closed=closed, progressed=True, open=False)"),
    one("9 the turn of entry is counted", SITE,
        "fresh = self.timed and mid_turn", "fresh = False"),
    one("9 a turn with progress is idle", SITE, "if not counters.progressed:", "if True:"),
    one("10 a pre-image keeps what the call wrote", CALLS,
        "        return box & ~axis.group | found << axis.at if found else 0\n\n\nclass Call",
        "        return box if found else 0\n\n\nclass Call"),
    one("10 a pre-image frees every field", SITES,
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
    one("what a state forgets is not undone backwards", SITES,
        "        for one in found:\n            again |= one.group\n", ""),
    one("what was done is forgotten on every entry", SITES,
        "        if axis is None:\n            yield box\n            return\n        mask",
        "        if axis is None:\n            yield self.forgotten(target, box)\n"
        "            return\n        mask"),
    one("a state that begins anew forgets nothing", SITES,
        "yield self.forgotten(target, visited)", "yield visited"),
    one("a slot keeps the bits of another field", LAYOUT,
        "if here >> axis.number & 1:\n                    keep |= axis.group", "if True:\n"
        "                    keep |= axis.group"),
    one("a pass may come back", SITES,
        "return target in entry.visited or", "return"),
    one("anybody may give a goal up in COOP", CALLS,
        'self._gate(counters) if coop else None', "None"),
    one("a goal is closed before anybody spoke", CALLS,
        "not (coop and counters.unheard)", "True"),
    one("a pass may be as long as it likes", SITES,
        "return target in entry.visited or 0 < self.most_hops <= entry.hops",
        "return target in entry.visited"),
    one("what is not passed on is kept", SITE,
        "gone = [1 << n if n < axis.absents else 1 for n in range(axis.size)]",
        "gone = [1 << n for n in range(axis.size)]"),
    one("a filter is not undone backwards", SITE,
        "        for effect in self.filters.get(way, ()) if box else ():\n"
        "            box = effect.before(box)\n        return box", "        return box"),
    one("a default that nothing writes stays", DOMAIN,
        "axis.initial |= axis.present", "pass"),
    one("backwards there is no net", BACKWARD,
        "        if site.net == -2:\n            return\n        for rest",
        "        return\n        for rest"),
    one("any text can be typed", DOMAIN,
        "        found = 0\n        for number in self._lines:",
        "        found = self.present\n        for number in self._lines:"),
    # --- branches
    one("a join takes whoever comes", TOKENS,
        "if len(found) == len(self.groups[site][group]):", "if len(found) > 1:"),
    one("the first value wins in a join", TOKENS, "parts[at[-1]].box", "parts[at[0]].box"),
    one("what was written before an inner split is forgotten", TOKENS,
        "touched = [_union(part.written[level - 1 :]) for part in parts]",
        "touched = [_union(part.written[-1:]) for part in parts]"),
    one("groups are one", TOKENS, "return Token(target, source, group or DEFAULT,",
        "return Token(target, source, DEFAULT,"),
    one("branches do not share what was there at the split", STEPS,
        "        for value in self.values(site, token.box):\n            for mode",
        "        for value in (token.box,):\n            for mode"),
    one("a join waits for nobody in vain", TOKENS,
        "            if lacking:\n", "            if False:\n"),
    one("a body of a branch writes all of its fields in FULL", STEPS,
        "for n in range(len(sure) + 1)", "for n in (len(sure),)"),
    one("a split tries its guards up to the first that holds", STEPS,
        "if not site.state.fans_out:", "if True:"),
    one("nobody notices who comes where another one may come", BRANCHES,
        "if ahead[at] >> now[at].site & 1:", "if False:"),
    one("nobody notices that a branch ends", BRANCHES,
        "if len(step.branches) > 1 or self.joins.ended(step.branches[0]):",
        "if len(step.branches) > 1:"),
    one("nobody notices that a join is complete", BRANCHES,
        "if self.joins.complete(after):", "if False:"),
    one("a loop puts the other branches off for ever", BRANCHES,
        "if any(one not in self._known for one in found):", "if found:"),
    one("an error leads nowhere", STEPS, 'if target is not None and key == "on_error":',
        "if False:"),
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
