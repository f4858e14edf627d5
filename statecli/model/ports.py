"""What a kind may touch of the world, and what stands behind it. Protocols and the data they pass.

A kind asks its World; a World asks a Provider (a model, or who plays it), tools and the person.
Tests pass a scripted World.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from statecli.model.event import Approved, Body, Event
from statecli.model.graph import Graph, State
from statecli.model.snapshot import Snapshot


class Option(NamedTuple):
    """One target among which a model (or a person in its place) chooses."""

    name: str
    description: str


class ToolSpec(NamedTuple):
    """A tool as a model sees it. `schema`: JSON schema of its arguments, None if unknown;
    `server`: the entry of `tools` it comes from, empty for a plan's own tools."""

    name: str
    description: str
    schema: Mapping[str, Any] | None = None
    server: str = ""


class Call(NamedTuple):
    """A tool call that a model asks for. `error`: what it wrote cannot be read as arguments; such
    a call is never made."""

    id: str
    name: str
    arguments: Mapping[str, Any]
    error: str = ""


class ToolResult(NamedTuple):
    """What a tool gave back. `structured` is its result as data, where it has one."""

    ok: bool
    text: str
    structured: Mapping[str, Any] | None = None


class Exchange(NamedTuple):
    """A call made earlier in the same turn, with its answer."""

    call: Call
    ok: bool
    text: str


class Request(NamedTuple):
    """One question to a model.

    `what`: reply (text to the person), delta (`{reply, field...}` by `schema`), turn (a plan
    state's turn: `tools` may be called, or a reply ends it), choice (one of `options`), tool (pick
    one of `tools`), arguments (for the only tool in `tools`), plan, step, verdict, check (second
    look at a goal: `{agree, quote, reason}`), skill, structured (what a custom kind asks for).
    `prompt` is the system text; the conversation is in `snapshot.data["messages"]`. `note`: what
    was wrong with the last answer, or what it is about. `seconds`: an answer that takes longer is
    given up with TimeoutError (None, or a person who answers: never). `context`: messages that are
    sent in place of the conversation.
    """

    what: str
    graph: Graph
    state: State
    snapshot: Snapshot
    prompt: str = ""
    schema: Mapping[str, Any] | None = None
    options: tuple[Option, ...] = ()
    tools: tuple[ToolSpec, ...] = ()
    transcript: tuple[Exchange, ...] = ()
    note: str = ""
    seconds: float | None = None
    context: tuple[Mapping[str, Any], ...] | None = None


class Chunk(NamedTuple):
    """A piece of an answer: text for the person, a call, or the structured value (the last one
    counts). `usage`: what it took, as far as that is known: `input` and `output` tokens (with
    `estimated` if nobody counted them), `cost`, seconds (`latency`), `attempts`, the `model`.
    `note`: something on the way that the author should know."""

    text: str = ""
    call: Call | None = None
    value: Any = None
    usage: Mapping[str, Any] | None = None
    note: str = ""


class Question(NamedTuple):
    """Something only the person can answer, asked in the middle of a step.

    `kind`: text, yes_no, number, integer, choice (one of `choices`, by number or name).
    """

    text: str
    kind: str = "text"
    choices: tuple[str, ...] = ()
    optional: bool = False


class EndOfInput(Exception):
    """The person is gone; the run rests and can be resumed."""


class Unanswered(Exception):
    """Off a terminal, a line fitted no answer twice; the text says the way out."""


class Stopped(Exception):
    """The person stops the step here, as a file says that they did when it was recorded."""


class NotAllowed(Unanswered):
    """Off a terminal, something needs a yes of the person; `way` is how to give it beforehand."""

    def __init__(self, text: str, way: str) -> None:
        super().__init__(text)
        self.way = way


class ModelError(Exception):
    """A model could not be asked or gave nothing usable; the text says why."""


class AuthRequired(Exception):
    """A tool works once the person has connected `service`, at `url`; the run stays where it is.
    `text` is what the service says about it."""

    def __init__(self, service: str, url: str = "", text: str = "") -> None:
        super().__init__(f"{service} must be connected{f': {url}' if url else ''}")
        self.service = service
        self.url = url
        self.text = text


class World(Protocol):
    """All that a kind may touch. `user_id` is who talks, told to every tool; `known_skills` are the
    skills that were kept, each with its name and what it is about.

    `tools` may start servers (`known_tools` starts none), and `permit` may ask the person: the
    reason why a call is not allowed, or an empty text. `heard` is what happened in both since it
    was last asked: what the person allowed or denied, and warnings (texts).
    """

    @property
    def user_id(self) -> str | None: ...
    def complete(self, request: Request) -> AsyncIterator[Chunk]: ...
    async def tools(self, names: Sequence[str] | None) -> tuple[ToolSpec, ...]: ...
    def known_tools(self, names: Sequence[str] | None) -> tuple[ToolSpec, ...]: ...
    async def permit(self, tool: ToolSpec, arguments: Mapping[str, Any]) -> str: ...
    async def call(
        self, tool: ToolSpec, arguments: Mapping[str, Any], user: str = ""
    ) -> ToolResult: ...
    def heard(self) -> Sequence[Approved | str]: ...
    async def ask(self, question: Question) -> str: ...
    async def keep_skill(self, name: str, text: str) -> str: ...
    def known_skills(self) -> Sequence[str]: ...
    def now(self) -> float: ...
    def new_id(self) -> str: ...


class Ask(Protocol):
    """How a provider that plays the model asks the person; raises EndOfInput. `patient`: may ask
    again and again (a person at a terminal); else twice without a fitting line is Unanswered."""

    patient: bool

    async def __call__(self, question: Question) -> str: ...


class Provider(Protocol):
    """Who answers when a model is asked. `label` is what the first line of a chat says."""

    label: str

    def complete(self, request: Request, ask: Ask) -> AsyncIterator[Chunk]: ...


class Stored(NamedTuple):
    """What a store knows about a run besides its events. Times are seconds since 1970."""

    run: str
    path: str
    digest: str
    text: str
    created: float
    updated: float
    status: str
    state: str
    events: int
    parent: str = ""
    fork_at: int = 0
    title: str = ""


class Batch(NamedTuple):
    """Events that happened at once: the number of the first, and for each its time and body; then
    where the run is."""

    first: int
    times: Sequence[float]
    bodies: Sequence[Body]
    status: str
    state: str


class Store(Protocol):
    """Append-only events of runs. `create` and `append` are one transaction: all or nothing."""

    def create(self, stored: Stored, batch: Batch) -> None: ...
    def append(self, run: str, batch: Batch) -> None: ...
    def events(self, run: str) -> list[Event]: ...
    def runs(self) -> list[Stored]: ...
    def get(self, run: str) -> Stored | None: ...
    def remove(self, run: str) -> None: ...
    def close(self) -> None: ...
