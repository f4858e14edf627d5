"""What the verifier remembers of a visit and of a pass beside the data."""

from __future__ import annotations

from typing import NamedTuple


class Counters(NamedTuple):
    """What a visit remembers beside the data. `fresh`: entered in this turn; `progressed`:
    something new came in this turn; `open`: not evaluated since it was entered (or cut); `unheard`:
    a goal in whose visit nobody has spoken yet (told where it may make a difference)."""

    closed: bool = False
    total: int = 0
    idle: int = 0
    fresh: bool = False
    progressed: bool = False
    open: bool = False
    unheard: bool = False


NO_COUNTERS = Counters()
CLOSED = Counters(closed=True)


class Pass(NamedTuple):
    """What an entry carries: the states of its pass that it could come back to, and whether it came
    in the middle of a turn (kept only where turns are counted, or a goal's pass may be cut), and
    how many moves it has made (counted only where one may be too long: `Sites.most_hops`)."""

    visited: frozenset[int] = frozenset()
    mid_turn: bool = False
    hops: int = 0


NO_PASS = Pass()
