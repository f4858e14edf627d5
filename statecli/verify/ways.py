"""With which values runs take each route of a state."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from statecli.model.classes import ABSENT
from statecli.verify.explore import MOST_SHOWN

if TYPE_CHECKING:
    from statecli.verify.domain import Axis
    from statecli.verify.sites import Sites


class Ways:
    """`first`: by state the routes that FULL runs take, by their places in the order, each with
    boxes of values: every combination in one of them happens."""

    def __init__(self, sites: Sites, first: Mapping[int, Mapping[int, Sequence[int]]]) -> None:
        self._layout = sites.layout
        self._first = first

    def taken_with(
        self, state: str, at: int, wanted: Mapping[str, tuple[object, Callable[[object], bool]]]
    ) -> dict[str, object] | None:
        """Values with which some run takes a route: for each key the wanted one, or one of which
        the test holds. None where no run does so, as far as that is known."""
        number = self._layout.index[state]
        boxes = self._first.get(number, {}).get(at, ())
        if len(boxes) >= MOST_SHOWN:
            return {key: value for key, (value, _) in wanted.items()}
        best: tuple[int, dict[str, object]] | None = None
        for box in boxes:
            found: dict[str, object] = {}
            others = 0
            for key, (value, like) in wanted.items():
                axis = self._axis(number, key)
                one = value if axis is None else next(_values(axis, box, value, like), _NONE)
                if one is _NONE:
                    break
                found[key] = one
                others += one is not value
            else:
                if best is None or others < best[0]:
                    best = (others, found)
        return best[1] if best is not None else None

    def _axis(self, number: int, key: str) -> Axis | None:
        axis = self._layout.domain.keys.get(key)
        return axis if axis is not None and self._layout.live[number] >> axis.number & 1 else None


#: No value.
_NONE = object()


def _values(
    axis: Axis, box: int, wanted: object, like: Callable[[object], bool]
) -> Iterator[object]:
    """The wanted value where a box has it, then one of each class that is like it."""
    mask = box >> axis.at & axis.all
    if mask & (axis.absent if wanted is ABSENT else axis.class_of(wanted)):
        yield wanted
    for one in range(axis.size):
        if mask >> one & 1 and like(axis.sample(one)):
            yield axis.sample(one)
