"""Measure statecli and print ratios: against bare Python, a bare parse, and its peers.

    python benchmarks/run.py [--quick] [--peers] [--only PART] [--install] [--python PATH]

Exit code: 0 every target met, 1 one missed, 2 statecli does not run with that interpreter.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from cold import cold
from drawing import drawing
from library import library
from measure import run
from peer_list import install
from peers import peers
from proofs import proofs
from provers import provers
from replays import replays
from scale import scale
from statecli_side import statecli
from steps import steps

PARTS = ("cold", "scale", "proofs", "peers", "steps", "library", "drawing", "replays", "provers")


def main() -> int:
    """Run the chosen parts."""
    options = _options()
    if options.install:
        install()
    probe = run(statecli(options.python, "--version"))
    if probe.code != 0:
        print(f"statecli does not run with {options.python}: {probe.last_line}", file=sys.stderr)
        return 2
    chosen = {options.only} if options.only else {"cold", "scale", "proofs"}
    if options.peers:
        chosen |= {"peers", "steps", "provers"}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        parts = {
            "cold": lambda: cold(options.python, 7 if options.quick else 21, folder),
            "scale": lambda: scale(options.python, options.quick, folder),
            "proofs": lambda: proofs(options.python, options.quick, folder),
            "provers": lambda: provers(options.python, options.quick, folder),
            "peers": lambda: peers(options.python, options.quick, folder),
            "steps": lambda: steps(options.python, options.quick, folder),
            "library": lambda: library(options.python, options.quick, folder),
            "drawing": lambda: drawing(options.python, options.quick, folder),
            "replays": lambda: replays(options.python, options.quick, folder),
        }
        fits = [parts[part]() for part in PARTS if part in chosen]
    print("\nevery measured target met" if all(fits) else "\na target was missed: see OVER above")
    return 0 if all(fits) else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer runs, no 100,000 states")
    parser.add_argument("--peers", action="store_true", help="other linters and libraries too")
    parser.add_argument("--only", choices=PARTS, help="one part")
    parser.add_argument("--install", action="store_true", help="install the peers first, once")
    parser.add_argument(
        "--python", default=sys.executable, metavar="PATH", help="has the dependencies of statecli"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
