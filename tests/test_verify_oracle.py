"""The oracle itself: it reproduces the cases, and what the real kernel does it holds possible."""

from __future__ import annotations

import random

import pytest
from kernel_walks import Seen, Walk, graph_of
from verify_cases import CASES, CASES_MISSING, CONCURRENT, wrong
from verify_graphs import graph
from verify_oracle.lists import lists
from verify_oracle.reader import book, read
from verify_oracle.search import Search, TooLarge, World

#: Even: plans, odd: `states` graphs.
SEEDS = range(200)


@pytest.mark.skipif(not CASES, reason=CASES_MISSING)
@pytest.mark.parametrize("name", [name for name in CASES if name not in CONCURRENT])
def test_the_oracle_finds_what_the_cases_say(name: str) -> None:
    path, expected = CASES[name]
    assert not wrong(expected, lists(read(path)), read(path))


@pytest.mark.parametrize("seed", SEEDS)
def test_what_the_kernel_does_is_possible(seed: int) -> None:
    value = graph(seed)
    found = book(value)
    world = World(found)
    try:
        full = Search(world, coop=False, most=8_000)
    except TooLarge:
        pytest.skip("too large for the oracle")
    seen, rng, built = Seen(found), random.Random(1), graph_of(value)
    for _ in range(60):
        Walk(built, found, world, rng).run(seen)
    assert not seen.beyond(full)


@pytest.mark.parametrize("seed", range(60))
def test_forgetting_what_nobody_reads_changes_nothing(seed: int) -> None:
    found = book(graph(seed))
    try:
        assert lists(found, most=20_000) == lists(found, most=20_000, forget=False)
    except TooLarge:
        pytest.skip("too large for the oracle")
