"""`statecli` and `python -m statecli`: the rim between a process and `main`."""

from __future__ import annotations

import sys

from statecli import __version__


def run() -> None:
    """Run the command line and end the process with its exit code."""
    if sys.argv[1:] == ["--version"]:  # before anything else is imported
        sys.stdout.write(f"statecli {__version__}\n")
        return
    try:
        from statecli.cli.app import main

        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    run()
