"""Drawing: `render -o FILE.svg` against the layout engine alone on the same DOT document."""

import shutil
import sys
from pathlib import Path
from typing import NamedTuple

from measure import Usage, best, run
from statecli_side import complaint, statecli, write_graph
from table import Table, verdict

LIMIT = 1.3  # times the CPU of the engine, after the start of both
FORMS = {"local-plan": ".json", "local": ".yaml"}
SIZES = (20, 100, 300, 1_000)
SMALLEST = 2  # states of the graph whose drawing is the start
ALL = ("--no-verify",)
#: Writes the document that `render` hands to the engine: with the same attributes, after the same
#: choice of an attempt.
DOT = """
import sys
from pathlib import Path
from statecli.load.loader import load
from statecli.render import dot, layout
from statecli.render.draw import Wish, draw
from statecli.render.drawing import Look, Marks
source = Path(sys.argv[1])
graph = load(source.name, source.read_bytes()).graph
picture = draw(graph, source.name, Wish(), Marks())
attempt = layout.ATTEMPTS[layout._begin(picture)]
Path(sys.argv[2]).write_text(dot.text(picture, Look(), attempt.extra), encoding="utf-8")
print(attempt.layout)
"""


class Pair(NamedTuple):
    """One graph: our whole process, and the engine's."""

    ours: Usage
    engine: Usage


def drawing(python: str, quick: bool, folder: Path) -> bool:
    """Print a row for each size; true if no ratio is over the limit."""
    engine = shutil.which(str(Path(python).parent / "graphviz-pure")) or shutil.which("dot")
    print(f"\ndrawing: render --collapse none -o FILE.svg against {engine} -Tsvg on the same DOT")
    print("(CPU, best of runs; the ratio leaves out what a graph of two states costs on each side)")
    if engine is None:
        print("no layout engine: pip install graphviz-pure")
        return False
    table = Table(
        ("graph", 17), ("CPU s", 7), ("engine s", 8), ("beyond", 7), ("engine", 7),
        ("ratio", 6), ("peak MiB", 8), ("target", 18),
    )  # fmt: skip
    fits = True
    for form, suffix in FORMS.items():
        first: Pair | None = None
        for count in (SMALLEST, *SIZES):
            graph = write_graph("generate.py", form, count, folder, suffix)
            name = f"{form} {count:,}"
            problem = complaint(python, graph, count, ALL)
            if problem:
                table.row([name, problem])
                fits = False
                continue
            pair = _measure(python, engine, graph, 5 if quick else 15)
            first = first or pair
            fits &= _row(table, name, pair, first, judged=count > SMALLEST)
    return fits


def _row(table: Table, name: str, pair: Pair, first: Pair, *, judged: bool) -> bool:
    beyond = pair.ours.cpu - first.ours.cpu
    bare = pair.engine.cpu - first.engine.cpu
    cells = [name, f"{pair.ours.cpu:.3f}", f"{pair.engine.cpu:.3f}"]
    if not judged:
        table.row(cells)
        return True
    ratio = beyond / bare
    cells += [f"{beyond:.3f}", f"{bare:.3f}", f"{ratio:.2f}x", f"{pair.ours.peak:.0f}"]
    table.row([*cells, verdict(ratio, LIMIT)])
    return ratio <= LIMIT


def _measure(python: str, engine: str, graph: Path, rounds: int) -> Pair:
    document, picture = graph.with_suffix(".dot"), graph.with_suffix(".svg")
    written = run([python, "-c", DOT, str(graph), str(document)])
    if written.code != 0:
        raise RuntimeError(written.errors)
    layout = f"-K{written.last_line}"
    found = best(
        {
            "ours": statecli(
                python, "render", str(graph), "--collapse", "none", "-o", str(picture)
            ),
            "engine": [engine, layout, "-Tsvg", str(document), "-o", str(picture)],
        },
        rounds,
    )
    for usage in found.values():
        if usage.code != 0:
            raise RuntimeError(usage.errors)
    return Pair(found["ours"], found["engine"])


if __name__ == "__main__":
    sys.exit("python benchmarks/run.py --only drawing")
