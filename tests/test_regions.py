"""Sets of numbers in words say exactly the numbers that are in them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from statecli.lint.regions import Region, regions
from statecli.model.classes import numbers

MARKS = [0, 1.5, 2, 4, 7]
GRID = [value / 4 for value in range(-8, 40)]


def cell(marks: list[float], value: float) -> int:
    """The number of the sample that stands for a value."""
    below = sum(mark < value for mark in marks)
    return 2 * below + (value in marks)


def has(region: Region, value: float) -> bool:
    low = region.low is None or value > region.low or (region.with_low and value == region.low)
    high = region.high is None or value < region.high or (region.with_high and value == region.high)
    return low and high


@given(st.lists(st.sampled_from(MARKS), unique=True).map(sorted), st.data(), st.booleans())
def test_the_regions_hold_what_is_inside(
    marks: list[float], source: st.DataObject, whole: bool
) -> None:
    samples = numbers(marks)
    chosen = source.draw(st.lists(st.booleans(), min_size=len(samples), max_size=len(samples)))
    inside = dict(zip(samples, chosen, strict=True))
    found = regions(marks, inside.__getitem__, whole=whole)
    for value in GRID:
        if not whole or value == int(value):
            number = cell(marks, value) if marks else 0
            assert any(has(region, value) for region in found) is chosen[number], (found, value)
    for region in found:
        assert has(region, region.sample)
        assert not whole or region.sample == int(region.sample)


@pytest.mark.parametrize(
    ("region", "words"),
    [
        (Region(None, False, 4, False, 3), "r < 4"),
        (Region(None, False, 4, True, 3), "r <= 4"),
        (Region(4, False, None, False, 5), "r > 4"),
        (Region(4, True, None, False, 5), "r >= 4"),
        (Region(7, False, 8, False, 7.5), "7 < r < 8"),
        (Region(7.5, True, 8, False, 7.6), "7.5 <= r < 8"),
        (Region(5, True, 5, True, 5), "r = 5"),
        (Region(None, False, None, False, 0), "any r"),
    ],
)
def test_in_words(region: Region, words: str) -> None:
    assert region.said("r") == words
