"""Runs the verifier that is on the path over graphs whose lists are known: for planted mistakes.

    python tests/verify_subset.py FILE

FILE holds ``[[name, graph, {list: [elements]}], ...]``. Prints the first graph that differs, and
ends with 1.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from statecli.load.loader import load
from statecli.verify import Report
from statecli.verify.verifier import verify

#: What the oracle of branches calls the findings about them.
RULES = {
    "waits": "join-never-satisfied", "open": "end-with-open-branches", "twice": "duplicate-branch",
}  # fmt: skip


def _told(report: Report, key: str) -> Iterable[Any]:
    if key in RULES:
        return {finding.state for finding in report.findings if finding.rule == RULES[key]}
    return report.lists[key]


def main() -> int:
    for name, value, expected in json.loads(Path(sys.argv[1]).read_text("utf-8")):
        graph = load("g.json", json.dumps(value)).graph
        assert graph is not None
        report = verify(graph, witnesses=False)
        for key in expected:
            found = json.loads(json.dumps(sorted(_told(report, key))))
            if report.exact and found != expected[key]:
                print(f"{name}: {key} {found}, not {expected[key]}")
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
