"""Sets of valuations. A box is one int: for each slot a group of bits, one bit for each class of
values that the field may have there, and a spare bit above them (never set in a box)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol


class Frame:
    """How the bits of a box are laid out. `groups` are the masks of the slots."""

    __slots__ = ("_add", "_spare", "full", "group_at", "groups")

    def __init__(self, widths: Iterable[int]) -> None:
        self.groups: list[int] = []
        self.group_at: list[int] = []
        self._add = self._spare = self.full = 0
        at = 0
        for width in widths:
            ones = (1 << width) - 1
            group = ones << at
            self.groups.append(group)
            self.group_at += [group] * (width + 1)
            self.full |= group
            self._add |= group
            self._spare |= 1 << (at + width)
            at += width + 1

    def some(self, box: int) -> bool:
        """Whether a box holds any valuation: no slot is without a class. Adding all ones to a
        group carries into its spare bit if and only if a bit of it is set."""
        return (box + self._add) & self._spare == self._spare

    def parts(self, cube: int) -> list[tuple[int, int]]:
        """The slots that a box constrains, each with what it allows there."""
        missing = self.full & ~cube
        found: list[tuple[int, int]] = []
        while missing:
            group = self.group_at[(missing & -missing).bit_length() - 1]
            found.append((group, cube & group))
            missing &= ~group
        return found

    def minus(self, box: int, parts: list[tuple[int, int]]) -> list[int]:
        """What of a box lies outside another one (given by its `parts`), in disjoint boxes."""
        found: list[int] = []
        for group, allowed in parts:
            here = box & group
            out = here & ~allowed
            if out:
                if out == here:
                    found.append(box)
                    return found
                found.append(box ^ here | out)
                box = box ^ out
        return found

    def outside(self, boxes: Iterable[int], others: Iterable[int]) -> list[int]:
        """What of some boxes lies in none of the others."""
        left = list(boxes)
        for other in others:
            if not left:
                break
            parts = self.parts(other)
            left = [
                piece
                for box in left
                for piece in (self.minus(box, parts) if self.some(box & other) else [box])
            ]
        return left


class Meter(Protocol):
    """Counts work; so many boxes may be compared with one for nothing."""

    used: int

    @property
    def left(self) -> bool: ...


_FREE = 32


class BoxSet:
    """A union of boxes. Two that differ in one field become one; nothing else is ever lost, until
    `widen`: from then on it is one box that holds them all (and more)."""

    __slots__ = ("boxes", "frame", "meter", "most", "wide")

    def __init__(self, frame: Frame, most: int = 0, meter: Meter | None = None) -> None:
        self.frame = frame
        self.boxes: list[int] = []
        self.most = most
        self.meter = meter
        self.wide = False

    def __iter__(self) -> Iterator[int]:
        return iter(self.boxes)

    def __bool__(self) -> bool:
        return bool(self.boxes)

    def __contains__(self, box: int) -> bool:
        return box in self.boxes

    def covers(self, box: int) -> bool:
        """Whether one of the boxes holds this one; enough boxes together are not noticed."""
        return any(box & known == box for known in self.boxes)

    def add(self, box: int) -> int:
        """Take in a box. The box that it has become (with what it was united with), or 0 where it
        adds nothing."""
        boxes = self.boxes
        if len(boxes) >= _FREE and self.meter is not None:
            self.meter.used += len(boxes) // _FREE
            if not self.meter.left:
                return 0 if self.covers(box) else self._widened(box)
        for known in boxes:
            if box & known == box:
                return 0
        if self.wide or (self.most and len(boxes) >= self.most):
            return self._widened(box)
        group_at = self.frame.group_at
        changed = True
        while changed:
            changed = False
            kept: list[int] = []
            for known in boxes:
                differs = known ^ box
                # Their difference lies in one slot: then their union is a box.
                if not differs & ~group_at[(differs & -differs).bit_length() - 1]:
                    if known & box != known:
                        box |= known
                        changed = True
                elif known & box != known:
                    kept.append(known)
            boxes = kept
        boxes.append(box)
        self.boxes = boxes
        return box

    def widen(self) -> int:
        """Keep one hull from now on. That hull where it is a new box, else 0."""
        self.wide = True
        if len(self.boxes) <= 1:
            return 0
        self.boxes = [self.hull()]
        return self.boxes[0]

    def _widened(self, box: int) -> int:
        self.wide = True
        self.boxes = [box | self.hull()]
        return self.boxes[0]

    def hull(self) -> int:
        """The smallest box around all of them."""
        hull = 0
        for box in self.boxes:
            hull |= box
        return hull
