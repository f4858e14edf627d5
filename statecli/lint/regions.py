"""Sets of numbers in words: "r < 4", "7 < r < 8", "r = 5"."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from statecli.model.classes import numbers
from statecli.model.data import shown


class Region(NamedTuple):
    """Neighbouring numbers; None: no end on this side. `sample` is one of them."""

    low: float | None
    with_low: bool
    high: float | None
    with_high: bool
    sample: float

    def said(self, key: str) -> str:
        """The region as people write it."""
        low = shown(self.low) if self.low is not None else ""
        high = shown(self.high) if self.high is not None else ""
        if low and low == high:
            return f"{key} = {low}"
        below = f"{low} {'<=' if self.with_low else '<'} " if low else ""
        above = f" {'<=' if self.with_high else '<'} {high}" if high else ""
        if below and not above:
            return f"{key} {'>=' if self.with_low else '>'} {low}"
        return f"{below}{key}{above}" if above else f"any {key}"


def regions(
    marks: Sequence[float], inside: Callable[[float], bool], *, whole: bool
) -> list[Region]:
    """The numbers for which `inside` says yes; its answer changes only at the marks. With `whole`
    only whole numbers count."""
    found: list[Region] = []
    for at, sample in enumerate(numbers(marks)):
        if inside(sample):
            region = _cell(marks, at, sample)
            if found and found[-1].high == region.low and found[-1].with_high != region.with_low:
                region = _joined(found.pop(), region)
            found.append(region)
    if whole:
        return [small for region in found if (small := _whole(region)) is not None]
    return found


def _cell(marks: Sequence[float], at: int, sample: float) -> Region:
    """What sample number `at` of the marks stands for: a mark, or what lies between two."""
    if at % 2:
        return Region(sample, True, sample, True, sample)
    low = marks[at // 2 - 1] if at else None
    high = marks[at // 2] if at // 2 < len(marks) else None
    return Region(low, False, high, False, sample)


def _joined(left: Region, right: Region) -> Region:
    sample = left.sample if left.low is None else right.sample
    return Region(left.low, left.with_low, right.high, right.with_high, sample)


def _whole(region: Region) -> Region | None:
    """The whole numbers of a region, None if it has none."""
    low, high = region.low, region.high
    first = last = None
    if low is not None:
        first = math.ceil(low) + (low == math.ceil(low) and not region.with_low)
    if high is not None:
        last = math.floor(high) - (high == math.floor(high) and not region.with_high)
    if first is not None and last is not None:
        if first > last:
            return None
        return Region(first, True, last, True, first)
    if last is not None:
        return Region(None, False, last + 1, False, last)
    if first is not None:
        return Region(first - 1, False, None, False, first)
    return region._replace(sample=0)
