"""The floor: a process that parses a graph in C and does nothing else.

    python benchmarks/floor.py FILE

YAML: PyYAML's libyaml parser composes nodes with positions; no tag is resolved and nothing is
built from the nodes. JSON: `json.loads`. The cyclic garbage collector is off and nothing is freed
at the end, as in the fastest reader one could write: with the collector on, the same parse costs
several times as much.
"""

import gc
import json
import os
import sys
from importlib import import_module
from pathlib import Path


def compose(text: str) -> None:
    """Compose YAML to nodes, with the three tag hooks of the parser doing nothing."""
    hooks = {
        "resolve": lambda self, kind, value, implicit: None,
        "descend_resolver": lambda self, parent, index: None,
        "ascend_resolver": lambda self: None,
    }
    parser = type("Untagged", (import_module("yaml._yaml").CParser,), hooks)
    parser(text).get_single_node()


def main() -> None:
    """Parse the file named on the command line."""
    gc.disable()
    path = Path(sys.argv[1])
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".json":
        json.loads(text)
    else:
        compose(text)
    os._exit(0)


if __name__ == "__main__":
    main()
