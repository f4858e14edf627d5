"""What a drawing shows, whatever the format: boxes, arrows between them, and marks on both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

#: What a box stands for. A state (also one that is only named: `missing`), a group of states, the
#: place where a run begins or ends, a bar where branches part or meet.
STATE, GROUP, START, END_MARK, BAR = "state", "group", "start", "end", "bar"
#: How a route is taken: by its guard, as the model chooses, without being written, after an error
#: or a wrong answer; a link joins a state and its bar or its start.
GUARD, CHOSEN, IMPLICIT, JUMP, LINK = "guard", "chosen", "implicit", "jump", "link"


class Message(NamedTuple):
    """A diagnostic on a drawing."""

    severity: str
    text: str

    def __str__(self) -> str:
        return f"{self.severity}: {self.text}"


class Mark(NamedTuple):
    """What is known of a box or an arrow besides the graph itself.

    `severity` is the worst of the diagnostics in `messages`; `times` how often a run was there
    (None: nobody asked); `current`: a run is there now; `steps` its places on a path that is shown.
    """

    severity: str = ""
    messages: tuple[Message, ...] = ()
    times: int | None = None
    current: bool = False
    steps: tuple[int, ...] = ()


NO_MARK = Mark()


class Marks(NamedTuple):
    """Marks of states by name and of routes by (state, number of the route), see
    `Transition.number`, and of the ways after an error by (state, `on_error` or `on_invalid`).
    `counts`: runs were counted, so what has no count was never seen."""

    states: Mapping[str, Mark] = {}
    routes: Mapping[tuple[str, int], Mark] = {}
    counts: str = ""
    jumps: Mapping[tuple[str, str], Mark] = {}


class Box(NamedTuple):
    """`id` is unique in the drawing and safe in every format; `name` is the state's own name.

    `about` is its title and description; `tasks` one line each; `members` are the states of a
    group; `hidden` is the number of routes from or to here that lead out of what is shown.
    """

    id: str
    name: str
    role: str = STATE
    kind: str = ""
    about: str = ""
    waits: bool = False
    ends: bool = False
    missing: bool = False
    tasks: tuple[str, ...] = ()
    members: tuple[str, ...] = ()
    hidden: int = 0
    mark: Mark = NO_MARK


class Arrow(NamedTuple):
    """`source` and `target` are ids of boxes; `label` is drawn, `about` stands in the tooltip.

    `order` is the place in which the route is tried, 0 where that does not matter. `state` and
    `number` name the transition, as in `Marks.routes`; `ways` is how many routes were merged.
    """

    id: str
    source: str
    target: str
    label: str = ""
    about: str = ""
    style: str = GUARD
    order: int = 0
    state: str = ""
    number: int = -1
    ways: int = 1
    mark: Mark = NO_MARK


class Drawing(NamedTuple):
    """`title` is the graph's own, or its file's name. `counted` says what `Mark.times` counts
    ("session 1f3a"), empty where nothing is counted."""

    title: str
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    counted: str = ""

    def states(self) -> list[Box]:
        """The boxes that stand for states of the file."""
        return [box for box in self.boxes if box.role == STATE and not box.missing]


class Look(NamedTuple):
    """How it is drawn. `theme`: light, dark, auto (the viewer prefers); `rankdir`: TB, LR."""

    theme: str = "auto"
    rankdir: str = "TB"
    legend: bool = False
