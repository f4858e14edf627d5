"""Scale: `validate --no-verify` against a process that only parses the same text in C."""

from pathlib import Path
from typing import NamedTuple

from measure import Usage, best
from statecli_side import HERE, complaint, statecli, write_graph
from table import Table, verdict

LIMITS = {".yaml": 3.0, ".json": 8.0}  # times the CPU of the bare parse
LIMIT_FROM = 1_000  # states; below, the start of Python is most of both sides
SIZES = (
    *(("states", ".yaml", count) for count in (10, 100, 1_000, 10_000, 100_000)),
    ("chain", ".yaml", 100_000),
    *(("plan", ".json", count) for count in (10, 100, 1_000, 10_000)),
)
QUICK_LIMIT = 10_000  # states; `--quick` leaves out what is larger


class Pair(NamedTuple):
    """One graph, measured on both sides."""

    states: int
    ours: Usage
    parse: Usage


def scale(python: str, quick: bool, folder: Path) -> bool:
    """Print a row for each size; true if no ratio is over its limit."""
    print("\nscale: validate --no-verify FILE against a bare C parse of FILE; CPU, best of runs")
    print("(us/state: CPU per state beyond the 10-state run of the same language)")
    table = Table(
        ("graph", 15),
        ("CPU s", 7),
        ("parse s", 7),
        ("ratio", 6),
        ("us/state", 8),
        ("parse", 6),
        ("peak MiB", 8),
        ("parse", 6),
        ("target", 16),
    )
    first: dict[str, Pair] = {}
    fits = True
    for form, suffix, count in SIZES:
        if quick and count > QUICK_LIMIT:
            continue
        graph = write_graph("generate.py", form, count, folder, suffix)
        name = f"{form} {count:,}"
        problem = complaint(python, graph, count, ["--no-verify"])
        if problem:
            table.row([name, problem])
            fits = False
            continue
        pair = _measure(python, graph, count)
        graph.unlink()
        ratio = pair.ours.cpu / pair.parse.cpu
        target = verdict(ratio, LIMITS[suffix]) if count >= LIMIT_FROM else ""
        fits &= count < LIMIT_FROM or ratio <= LIMITS[suffix]
        table.row([name, *_cells(pair, first.setdefault(suffix, pair)), target])
    return fits


def _measure(python: str, graph: Path, count: int) -> Pair:
    commands = {
        "ours": statecli(python, "validate", "--no-verify", str(graph)),
        "parse": [python, str(HERE / "floor.py"), str(graph)],
    }
    found = best(commands, rounds=7 if count <= LIMIT_FROM else 3)
    if found["parse"].code != 0:
        raise RuntimeError(found["parse"].errors)
    return Pair(count, found["ours"], found["parse"])


def _cells(pair: Pair, first: Pair) -> list[str]:
    more = pair.states - first.states
    per_state = [
        f"{(cpu - start) / more * 1e6:.1f}" if pair.states >= LIMIT_FROM else ""
        for cpu, start in ((pair.ours.cpu, first.ours.cpu), (pair.parse.cpu, first.parse.cpu))
    ]
    return [
        f"{pair.ours.cpu:.3f}",
        f"{pair.parse.cpu:.3f}",
        f"{pair.ours.cpu / pair.parse.cpu:.2f}x",
        *per_state,
        f"{pair.ours.peak:.0f}",
        f"{pair.parse.peak:.0f}",
    ]
