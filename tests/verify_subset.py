"""Runs the verifier that is on the path over graphs whose lists are known: for planted mistakes.

    python tests/verify_subset.py FILE

FILE holds ``[[name, graph, {list: [elements]}], ...]``. Prints the first graph that differs, and
ends with 1.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from statecli.load.loader import load
from statecli.verify import LISTS
from statecli.verify.verifier import verify


def main() -> int:
    for name, value, expected in json.loads(Path(sys.argv[1]).read_text("utf-8")):
        graph = load("g.json", json.dumps(value)).graph
        assert graph is not None
        report = verify(graph, witnesses=False)
        for key in LISTS:
            found = json.loads(json.dumps(sorted(report.lists[key])))
            if report.exact and found != expected[key]:
                print(f"{name}: {key} {found}, not {expected[key]}")
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
