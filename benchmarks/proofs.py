"""What deciding costs: `validate` against `validate --no-verify`, as graphs grow."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import NamedTuple

from measure import ROOT, Usage, best, run
from statecli_side import HERE, statecli
from table import Table, verdict

#: States, percent of states with a way back, times the CPU of the structural check.
CHAINS = ((50, 10), (200, 10), (1_000, 0), (1_000, 10), (10_000, 0), (10_000, 10))
LIMIT = 10.0  # for a long plan whose fields are read soon after they are written
PAIRS = (4, 8, 10, 14, 18, 24)
QUICK_LIMIT = 1_000
OURS_LIMIT = 1.5  # on every graph under graphs/


class Pair(NamedTuple):
    """One graph with verification and without."""

    on: Usage
    off: Usage

    @property
    def ratio(self) -> float:
        return self.on.cpu / self.off.cpu

    @property
    def verified(self) -> str:
        try:
            return str(json.loads(self.on.output)["graphs"][0]["verified"])
        except (ValueError, LookupError):
            return f"ends with {self.on.code}: {self.on.last_line[:60]}"


def proofs(python: str, quick: bool, folder: Path) -> bool:
    """Print the growth of long plans, the worst case, and our own graphs; true if all is fine."""
    fits = _chains(python, quick, folder)
    fits &= _pairs(python, quick, folder)
    return fits & _ours(python, 7 if quick else 21)


def _measure(python: str, path: Path, rounds: int) -> Pair:
    found = best(
        {
            "on": statecli(python, "validate", "--format", "json", str(path)),
            "off": statecli(python, "validate", "--no-verify", "--format", "json", str(path)),
        },
        rounds,
    )
    return Pair(found["on"], found["off"])


def _written(folder: Path, kind: str, count: int, retry: int = 0) -> Path:
    path = folder / f"{kind}_{count}_{retry}.json"
    words = [sys.executable, str(HERE / "proof_graphs.py"), kind, str(count), str(path), str(retry)]
    usage = run(words)
    if usage.code != 0:
        raise RuntimeError(usage.errors)
    return path


def _chains(python: str, quick: bool, folder: Path) -> bool:
    print("\nproofs: validate FILE against validate --no-verify FILE; CPU, best of runs")
    print("(ms/state: CPU that verification adds; the start of Python is in both sides)")
    table = Table(
        ("long plan, ways back", 24), ("CPU s", 7), ("no proof", 8), ("ratio", 6), ("ms/state", 8),
        ("peak MiB", 8), ("no proof", 8), ("verified", 8), ("target", 16),
    )  # fmt: skip
    fits = True
    for count, retry in CHAINS:
        if quick and count > QUICK_LIMIT:
            continue
        pair = _measure(python, _written(folder, "chain", count, retry), 3 if count > 200 else 7)
        fine = pair.verified == "exact" and pair.ratio <= LIMIT
        fits &= fine
        table.row([
            f"{count:,} states, {retry}%", f"{pair.on.cpu:.2f}", f"{pair.off.cpu:.2f}",
            f"{pair.ratio:.2f}x", f"{(pair.on.cpu - pair.off.cpu) / count * 1000:.3f}",
            f"{pair.on.peak:.0f}", f"{pair.off.peak:.0f}", pair.verified,
            verdict(pair.ratio, LIMIT),
        ])  # fmt: skip
    return fits


def _pairs(python: str, quick: bool, folder: Path) -> bool:
    """n answers that have to be remembered in all combinations: it must end, and say what it does
    not know."""
    print(
        "\nthe worst case: n correlated pairs, 2^n combinations (a run must end within the budget)"
    )
    table = Table(("pairs", 8), ("CPU s", 8), ("peak MiB", 8), ("verified", 8), ("found", 32))
    fits = True
    for count in PAIRS[:3] if quick else PAIRS:
        path = _written(folder, "pairs", count)
        usage = run(statecli(python, "validate", "--format", "json", str(path)), cpu_limit=300)
        pair = Pair(usage, usage)
        ended = usage.output.startswith("{")
        fits &= ended
        rules: dict[str, int] = {}
        for found in json.loads(usage.output)["diagnostics"] if ended else ():
            rules[found["rule"]] = rules.get(found["rule"], 0) + (found["severity"] != "info")
        told = ", ".join(f"{rule} {n}" for rule, n in rules.items() if n)
        cells = [f"{usage.cpu:.2f}", f"{usage.peak:.0f}", pair.verified, told or "nothing"]
        table.row([str(count), *cells, "" if ended else "DOES NOT END"])
    return fits


def _ours(python: str, rounds: int) -> bool:
    print("\nour own graphs: validate with verification against --no-verify")
    table = Table(
        ("graph", 24), ("CPU s", 7), ("no proof", 8), ("ratio", 6), ("verified", 8), ("target", 16)
    )
    fits = True
    for path in sorted((ROOT / "graphs").iterdir()):
        if path.suffix not in (".yaml", ".json"):
            continue
        pair = _measure(python, path, rounds)
        fits &= pair.ratio < OURS_LIMIT and pair.verified == "exact"
        table.row([
            path.name, f"{pair.on.cpu:.3f}", f"{pair.off.cpu:.3f}", f"{pair.ratio:.2f}x",
            pair.verified, verdict(pair.ratio, OURS_LIMIT),
        ])  # fmt: skip
    return fits
