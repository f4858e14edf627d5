"""Cold start: what a person waits for before anything about the graph matters."""

import re
from pathlib import Path

from measure import ROOT, best
from statecli_side import statecli, write_graph
from table import Table, verdict

VALIDATE_LIMIT = 8.0  # times the CPU of `python -c pass`
VERSION_LIMIT = 3.0
GRAPH = re.compile(r"^states:", re.MULTILINE)


def cold(python: str, rounds: int, folder: Path) -> bool:
    """Print CPU of `validate SMALL` and `--version` against `python -c pass`; true if both fit."""
    graph = _smallest_graph(folder)
    name = f"validate {graph.relative_to(ROOT) if graph.is_relative_to(ROOT) else graph.name}"
    found = best(
        {
            "python -c pass": [python, "-c", "pass"],
            "--version": statecli(python, "--version"),
            name: statecli(python, "validate", str(graph)),
        },
        rounds,
    )
    print(f"\ncold start, best CPU of {rounds} interleaved runs")
    table = Table(("command", 36), ("CPU ms", 7), ("wall ms", 7), ("ratio", 6), ("target", 16))
    fits = True
    limits = {"--version": VERSION_LIMIT, name: VALIDATE_LIMIT}
    for command, usage in found.items():
        cells = [command, f"{usage.cpu * 1000:.1f}", f"{usage.wall * 1000:.1f}"]
        if command in limits:
            ratio = usage.cpu / found["python -c pass"].cpu
            cells += [f"{ratio:.2f}x", verdict(ratio, limits[command])]
            fits &= ratio <= limits[command]
        if usage.code != 0:
            cells.append(f"ends with {usage.code}: {usage.last_line[:80]}")
            fits = False
        table.row(cells)
    return fits


def _smallest_graph(folder: Path) -> Path:
    """The smallest graph of the repository's `graphs/`; without one, a generated one."""
    shipped = [
        path for path in ROOT.glob("graphs/**/*.yaml") if GRAPH.search(path.read_text("utf-8"))
    ]
    if not shipped:
        return write_graph("generate.py", "states", 10, folder, ".yaml")
    return min(shipped, key=lambda path: path.stat().st_size)
