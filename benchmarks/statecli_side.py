"""Our side: the command lines that are measured, and whether a graph is clean for them."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from measure import run

HERE = Path(__file__).resolve().parent


def statecli(python: str, *arguments: str) -> list[str]:
    """The command line of statecli with the given interpreter."""
    return [python, "-m", "statecli", *arguments]


def complaint(python: str, graph: Path, count: int, options: Sequence[str] = ()) -> str:
    """Say why `validate` would not call a graph of `count` states clean; empty when it would.

    A file that is skipped, or of which only half is read, must not pass for a fast one.
    """
    usage = run(statecli(python, "validate", "--format", "json", *options, str(graph)))
    if not usage.output.startswith("{"):
        return f"validate ends with {usage.code}: {usage.last_line[:120]}"
    report = json.loads(usage.output)
    serious = [found for found in report["diagnostics"] if found["severity"] != "info"]
    if serious:
        return f"{len(serious)} diagnostics, the first: {serious[0]['message'][:120]}"
    seen = [entry["states"] for entry in report["graphs"]]
    return "" if seen == [count] else f"validate saw {seen} states instead of [{count}]"


def write_graph(script: str, kind: str, count: int, folder: Path, suffix: str) -> Path:
    """Let generate.py or convert.py write one graph, in a process of its own (measure.run)."""
    path = folder / f"{kind}_{count}{suffix}"
    usage = run([sys.executable, str(HERE / script), kind, str(count), str(path)])
    if usage.code != 0:
        raise RuntimeError(usage.errors)
    return path
