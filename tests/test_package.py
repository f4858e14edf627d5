"""What `from statecli import ...` gives, in every order."""

from __future__ import annotations

import subprocess
import sys
from itertools import permutations

import pytest

import statecli


@pytest.mark.parametrize("order", list(permutations(["load", "lint", "Run"])), ids="-".join)
def test_names_are_the_functions_in_every_order(order: tuple[str, ...]) -> None:
    """Importing the room `statecli.load` must not hide the function `load`."""
    code = (
        f"from statecli import {order[0]}\nfrom statecli import {order[1]}, {order[2]}\n"
        "import statecli.load.loader, statecli.lint.linter\n"
        "import statecli\n"
        "graph = load('x.yaml', 'initial: a\\nstates: {a: {type: terminal}}')\n"
        "assert lint(graph) == [] and statecli.load is load and callable(Run)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_all_names_are_there() -> None:
    for name in statecli.__all__:
        assert getattr(statecli, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = statecli.nothing
