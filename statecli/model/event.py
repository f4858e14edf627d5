"""The events of a run: what happened, in order. If it is not an event it did not happen.

An event is a row (run, number, time, body); bodies are small tuples whose class name, lower case,
is the word in a trace. `apply` (kernel) folds bodies to a snapshot.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Trial(NamedTuple):
    """One route that was tried: its number in the state, its target, and whether its guard held.

    None: unguarded (it always holds), or a guard that cannot be known (then `opaque`).
    """

    number: int
    target: str
    value: bool | None
    note: str = ""


class Started(NamedTuple):
    """A run began at `state` with these values set. `speaks`: it opens the conversation;
    `entries`: the model first chooses among these."""

    state: str
    data: Mapping[str, Any]
    speaks: bool = False
    entries: tuple[str, ...] = ()


class Entered(NamedTuple):
    """A token moved. `number` is the route taken in the state it left (None: not by a route), `by`
    how it was chosen (as in `Chose`; on_error: the body raised; empty: not by a choice). `resets`:
    the state has ``on_reenter: reset``; `forgotten` are the fields and `reopened` the tasks
    (``state/task``) of its last visit."""

    token: int
    state: str
    number: int | None = None
    by: str = ""
    why: str = ""
    resets: bool = False
    forgotten: tuple[str, ...] = ()
    reopened: tuple[str, ...] = ()


class Said(NamedTuple):
    """The person typed a line."""

    text: str
    id: str = ""


class Asked(NamedTuple):
    """A model (or the person in its place) is asked, for `what` (see `Request`)."""

    token: int
    state: str
    what: str


class Answered(NamedTuple):
    """What was said to the person; an assistant message. `partial`: it was cut off."""

    token: int
    state: str
    text: str
    id: str = ""
    partial: bool = False


class Streamed(NamedTuple):
    """Text that was shown while a model still speaks; kept in case the run dies meanwhile."""

    token: int
    state: str
    text: str


class Spent(NamedTuple):
    """What one question to a model cost: tokens in and out, and money where its price is known.

    `input` and `output` are the parts of `tokens`; `estimated`: nobody counted them; `seconds`
    until the answer was complete; `attempts`: how often it was sent.
    """

    token: int
    state: str
    tokens: int
    cost: float = 0.0
    input: int = 0
    output: int = 0
    seconds: float = 0.0
    attempts: int = 1
    model: str = ""
    estimated: bool = False


class Called(NamedTuple):
    """A tool is called, for the person `user`; stored before the call leaves."""

    token: int
    state: str
    call: str
    tool: str
    arguments: Mapping[str, Any]
    user: str = ""


class Returned(NamedTuple):
    """What a tool gave back; `ok` False: an error, as data for the model."""

    token: int
    state: str
    call: str
    result: Any
    ok: bool = True
    message: bool = False


class Changed(NamedTuple):
    """Values, task records and the goal's outcome changed by one body or one plan call.

    `data` is the delta before reducers; `tasks` maps ``state/task`` to completed or skipped;
    `early` are values for a later task of a strict state, not in force yet; `goal` is the outcome
    with which the goal of this visit was closed. `progress`: the idle count starts anew.
    """

    token: int
    state: str
    data: Mapping[str, Any] = {}
    tasks: Mapping[str, str] = {}
    early: Mapping[str, Any] = {}
    goal: str = ""
    progress: bool = False


class Chose(NamedTuple):
    """A route was chosen. `by`: order (its guard, or the only one), model (among `options`),
    line (after the person's line), settle (in a plan state), net (too many idle turns), entry
    (where to begin), on_invalid, fallback (the model named no option), body (the state itself).
    `number` is -1 where it was no route of the state."""

    token: int
    state: str
    target: str
    number: int
    trials: tuple[Trial, ...] = ()
    options: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    by: str = "order"


class Refused(NamedTuple):
    """A plan call, a tool or a line that was not accepted, with the reason."""

    token: int
    state: str
    what: str
    reason: str


class Insight(NamedTuple):
    """Something noticed in a goal state beyond its declared keys; apart from the data."""

    token: int
    state: str
    key: str
    value: Any


class Skipped(NamedTuple):
    """Open tasks (and the goal) of a state were released by the idle-turn net."""

    token: int
    state: str
    tasks: tuple[str, ...]
    goal: bool


class Guard_Missing_Field(NamedTuple):  # noqa: N801 - the word in a trace is guard_missing_field
    """A guard read a field that is not set."""

    token: int
    state: str
    key: str


class Warned(NamedTuple):
    """Something the author should know: a settle that goes round, a target that is not there."""

    token: int
    state: str
    message: str


class Turned(NamedTuple):
    """A turn of a plan state ended: its counters move."""

    token: int
    state: str


class Waiting(NamedTuple):
    """The run waits for the person."""

    token: int
    state: str


class Limited(NamedTuple):
    """A limit stopped the run; the next line goes on."""

    token: int
    state: str
    limit: str
    message: str


class Failed(NamedTuple):
    """A body raised, or nothing held in a state that does not wait; data is as it was before."""

    token: int
    state: str
    error: str
    stuck: bool = False
    trials: tuple[Trial, ...] = ()


class Interrupted(NamedTuple):
    """The person stopped a step (`text`: why, where it was not they). With `again` it begins anew
    when the run is taken up, without a further line."""

    token: int
    state: str
    text: str = ""
    again: bool = False


class Approved(NamedTuple):
    """The person allowed or denied something that needs a yes; `always`: for the whole session."""

    what: str
    allowed: bool
    always: bool = False


class Unauthorized(NamedTuple):
    """A tool needs the person to connect `service` first, at `url`. The run stays where it is."""

    token: int
    state: str
    service: str
    url: str = ""
    text: str = ""


class Edited(NamedTuple):
    """The person set a value by hand."""

    key: str
    value: Any


class Jumped(NamedTuple):
    """A transition from outside, by the person or a signal. The rest is as in `Entered`."""

    token: int
    state: str
    resets: bool = False
    forgotten: tuple[str, ...] = ()
    reopened: tuple[str, ...] = ()


class Undone(NamedTuple):
    """Everything after event `to` does not count any more."""

    to: int


class Resumed(NamedTuple):
    """A run goes on: a stored one was opened again (`note` says what changed in the graph since),
    or, with `runs`, one that had stopped goes on without a line."""

    note: str = ""
    runs: bool = False


class Ended(NamedTuple):
    """The run is over, at `state`."""

    token: int
    state: str


Body = (
    Started | Entered | Said | Asked | Answered | Streamed | Spent | Called | Returned | Changed
    | Chose | Refused | Insight | Skipped | Guard_Missing_Field | Warned | Turned | Waiting
    | Limited | Failed | Interrupted | Unauthorized | Approved | Edited | Jumped | Undone | Resumed
    | Ended
)  # fmt: skip

#: The body classes by their word in a trace.
BODIES: dict[str, type[Body]] = {
    kind.__name__.lower(): kind
    for kind in (
        Started, Entered, Said, Asked, Answered, Streamed, Spent, Called, Returned, Changed, Chose,
        Refused, Insight, Skipped, Guard_Missing_Field, Warned, Turned, Waiting, Limited, Failed,
        Interrupted, Unauthorized, Approved, Edited, Jumped, Undone, Resumed, Ended,
    )
}  # fmt: skip


#: The word of each body class.
NAMES: dict[type, str] = {kind: name for name, kind in BODIES.items()}


class Event(NamedTuple):
    """One row of a trace. `number` counts from 1 in its run; `time` is seconds since 1970."""

    run: str
    number: int
    time: float
    body: Body

    @property
    def name(self) -> str:
        return NAMES[type(self.body)]
