"""`statecli` and `python -m statecli`: the rim between a process and `main`."""

from __future__ import annotations

import gc
import os
import sys

from statecli import __version__


def run() -> None:
    """Run the command line and end the process with its exit code."""
    if sys.argv[1:] == ["--version"]:  # before anything else is imported
        sys.stdout.write(f"statecli {__version__}\n")
        sys.exit(0)
    gc.disable()  # modules are no garbage; `main` switches it on again
    try:
        from statecli.cli.app import main

        code = main(sys.argv[1:])
    except KeyboardInterrupt:  # while the modules load
        code = 130
    _end(code)


def _end(code: int) -> None:
    """End at once: taking every object apart costs as much as a small graph, and more for a big
    one. Not where somebody watches (a profiler, coverage), or where threads may still work."""
    from statecli.cli.output import flush

    flush()
    if sys.gettrace() or sys.getprofile() or "threading" in sys.modules:
        sys.exit(code)
    os._exit(code)


if __name__ == "__main__":
    run()
