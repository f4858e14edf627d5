"""The cases that were computed by brute force (`STATECLI_CASES`, else ../shared/cases), and what
they say of the eleven lists."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from verify_oracle.reader import Book

ROOT = Path(__file__).parent.parent
FOLDER = Path(os.environ.get("STATECLI_CASES") or ROOT.parent / "shared" / "cases") / "verify"
CASES_MISSING = f"the cases are not here: {FOLDER} (set STATECLI_CASES)"


def _cases() -> dict[str, tuple[Path, dict[str, Any]]]:
    listed = FOLDER / "expected.json"
    if not listed.is_file():
        return {}
    named = json.loads(listed.read_text(encoding="utf-8"))
    return {name: (FOLDER / name, expected) for name, expected in named.items()}


#: File name to its path and what is expected of it.
CASES = _cases()
#: Branches that run at once: the oracle follows one token only.
CONCURRENT = ("24_fork_join_sound.yaml", "25_fork_ends_early.yaml")

#: The list that a rule is drawn from. A rule that is not here is decided on paper.
LIST_OF = {
    "rescued-by-safety-net": "rescued",
    "enum-value-unrouted": "rescued",
    "numeric-gap": "rescued",
    "stuck-state": "stuck",
    "no-way-out": "doomed",
    "runaway-loop": "loops",
    "dead-transition": "dead",
    "shadowed-transition": "dead",
    "guard-never-holds": "dead",
    "compare-type-mismatch": "dead",
    "value-not-in-enum": "dead",
    "unreachable-under-guards": "unreachable",
    "priority-tie-overlap": "tie",
    "read-before-write": "unset",
    "implicit-fallthrough": "fallthrough",
}
#: A gap may be told as either; the cases forbid the wrong ones of these two for one finding.
DEAD = ("dead-transition", "shadowed-transition", "guard-never-holds", "compare-type-mismatch",
        "value-not-in-enum")  # fmt: skip


def states(name: str, listed: Iterable[Any]) -> set[str]:
    """The states that a list is about."""
    if name == "loops":
        return {state for loop in listed for state in loop}
    return {item if isinstance(item, str) else item[0] for item in listed}


def wrong(expected: dict[str, Any], lists: Mapping[str, frozenset[Any]], book: Book) -> list[str]:
    """What of a case's expectations the lists do not say."""
    bad = []
    told = set()
    for must in expected["must"]:
        rules = must["rule"].split("|")
        told.update(rules)
        for name in {LIST_OF[rule] for rule in rules if rule in LIST_OF}:
            found = states(name, lists[name])
            wanted = {must["state"]} if "state" in must else set(must.get("states", ()))
            if not wanted <= found:
                bad.append(f"{name} {sorted(found)} without {sorted(wanted - found)}")
            if (
                must.get("field")
                and name == "unset"
                and not any(key == must["field"] for _, key in lists[name])
            ):
                bad.append(f"'{must['field']}' is not in {name}")
    return bad + [
        f"{rule}: {sorted(found)}" for rule, found in _unwanted(expected, lists, book, told)
    ]


def _unwanted(
    expected: dict[str, Any], lists: Mapping[str, frozenset[Any]], book: Book, told: set[str]
) -> Iterable[tuple[str, set[str]]]:
    for must_not in expected["must_not"]:
        rule, state = (
            (must_not, None) if isinstance(must_not, str) else (must_not["rule"], must_not["state"])
        )
        name = LIST_OF.get(rule)
        if name is None or (rule in told and state is None):
            continue
        if rule in DEAD and told.intersection(DEAD):
            continue  # the same finding under its other name
        if name == "rescued" and told & {"rescued-by-safety-net"} and state is None:
            continue
        found = states(name, lists[name])
        if rule == "read-before-write" and book.plan:
            found = states(name, lists["never_set"])
        if rule == "runaway-loop":
            found = {s for loop in lists["loops"] if not _waits(book, loop) for s in loop}
        if state is not None:
            found &= {state}
        if found:
            yield rule, found


def _waits(book: Book, loop: Iterable[str]) -> bool:
    return any(book.places[name].kind == "user" or book.places[name].is_plan for name in loop)
