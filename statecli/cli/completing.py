"""`test --record`: a model is asked once for the replies that conversations lack."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial

from statecli.cli.asked import Asked
from statecli.cli.conversations import Found, Graphs
from statecli.cli.output import write
from statecli.cli.test import rewrite
from statecli.discover import identity
from statecli.scenario.completing import complete
from statecli.scenario.job import Result, Told, guarded
from statecli.scenario.report import exit_code, lines, summary


def completed(args: argparse.Namespace, found: Sequence[Found]) -> int:
    """Complete the files, and run each as it is then."""
    graphs = Graphs(args)
    asked = Asked(args)
    results: list[Result] = []
    files = {identity(one.path): one for one in found}
    written = True
    for path, content, trouble in found:
        if content is None:
            result = Result(path, "", "", "error", (Told(path, 0, "", trouble),))
        else:
            result = guarded(path, partial(complete, path, content, graphs.of, asked.of))
        results.append(result)
        write(f"{line}\n" for line in lines(result))
        written &= rewrite(result, files)
    asked.close()
    write([f"{summary(results)}\n"])
    return exit_code(results) if written else 2
