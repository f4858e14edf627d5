"""One random graph by the verifier and by Spin; prints the times and where they differ.

python benchmarks/spin_side.py SEED      (tests/ on the path)
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

from kernel_walks import graph_of
from promela import LISTS, MISSING, SPIN_MISSING, spin
from verify_graphs import graph
from verify_oracle.reader import book

from statecli.verify.verifier import verify


def main() -> None:
    """Ask both."""
    if MISSING:
        sys.exit(SPIN_MISSING)
    value = graph(int(sys.argv[1]))
    built = graph_of(value)
    begin = time.process_time()
    report = verify(built, witnesses=False)
    seconds = time.process_time() - begin
    with tempfile.TemporaryDirectory() as folder:
        told = spin(book(value), Path(folder))
    differs = [name for name in LISTS if report.lists[name] != told.lists[name]]
    found = sum(len(report.lists[name]) for name in LISTS)
    print(json.dumps({"verify": seconds, "search": told.search, "total": told.total,
                      "differs": differs, "found": found}))  # fmt: skip


if __name__ == "__main__":
    main()
