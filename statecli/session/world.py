"""The world of a session: the provider that answers, the person behind `ask`, tools, the clock."""

from __future__ import annotations

import time
import uuid
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from statecli.llm import asking
from statecli.llm.by_hand import ByHand
from statecli.llm.recording import RecordingProvider
from statecli.llm.script import ScriptProvider
from statecli.llm.scrub import Veil, known_secrets
from statecli.model.data import is_map
from statecli.model.event import Approved
from statecli.model.graph import Graph, State
from statecli.model.ports import (
    Ask,
    AuthRequired,
    Chunk,
    EndOfInput,
    Provider,
    Question,
    Request,
    ToolResult,
    ToolSpec,
)
from statecli.session.toolbox import Toolbox
from statecli.text.whole_file import write_file

#: Kinds in which a model may call tools while it works.
_WORKERS = frozenset({"agent", "decision", "planner", "executor", "verifier"})


class SessionWorld:
    """`provider` answers for the model, `asker` reaches the person; tools that no server is
    started for (see `Toolbox`) are played by the person, or the script. `user_id` is who talks;
    `here` is the state that runs. Without a folder `skills` none is kept. What a tool gives back
    comes without the secrets of the environment: a model gets it, and it is kept."""

    def __init__(
        self,
        graph: Graph,
        provider: Provider,
        asker: Ask,
        skills: Path | None = None,
        *,
        user_id: str | None = None,
        toolbox: Toolbox | None = None,
    ) -> None:
        self.graph = graph
        self.provider = provider
        self.asker = asker
        self.skills = skills
        self.user_id = user_id
        self.toolbox = toolbox
        self.veil = Veil(known_secrets())
        if toolbox is not None:
            toolbox.by_hand = lambda: self.by_hand
        self.here: Callable[[], State | None] = lambda: None

    @property
    def parallel(self) -> bool:
        """Whether branches may ask at the same time: a model, not a person or a script."""
        provider = getattr(self.provider, "inner", self.provider)
        return getattr(provider, "parallel", False) is True

    def complete(self, request: Request) -> AsyncIterator[Chunk]:
        return self.provider.complete(request, self.asker)

    @property
    def by_hand(self) -> bool:
        """Whether the person plays the model, and so also the tools that are not connected."""
        inner = self.provider
        inner = inner.inner if isinstance(inner, RecordingProvider) else inner
        return isinstance(inner, ByHand)

    @property
    def _recording(self) -> RecordingProvider | None:
        return self.provider if isinstance(self.provider, RecordingProvider) else None

    def _at(self, place: str) -> AbstractContextManager[None]:
        """Something is at work that may be stopped; a recording keeps where."""
        return nullcontext() if self._recording is None else self._recording.at(place)

    def _box(self) -> Toolbox | None:
        """The tools that may be connected; none are where a file says what they give back."""
        return None if isinstance(self.provider, ScriptProvider) else self.toolbox

    async def tools(self, names: Sequence[str] | None) -> tuple[ToolSpec, ...]:
        """The declared tools with these names (``server.tool`` or ``server``); all if None."""
        box, here = self._box(), self.here()
        if box is not None and self.by_hand and here is not None and here.kind in _WORKERS:
            return ()  # who plays the model does the work by hand
        if box is not None:
            return await self._offered(box, names)
        told = self.provider.tools(names) if isinstance(self.provider, ScriptProvider) else None
        return self.known_tools(names) if told is None else told

    def known_tools(self, names: Sequence[str] | None) -> tuple[ToolSpec, ...]:
        """What is known of these tools, without connecting any."""
        box = self._box()
        if box is not None:
            return box.known(names)
        declared = self.graph.settings.get("tools")
        entries: Mapping[str, Any] = declared if is_map(declared) else {}
        wanted = list(entries) if names is None else names
        found: list[ToolSpec] = []
        for name in wanted:
            entry = entries.get(name.partition(".")[0])
            about = entry.get("description") if is_map(entry) else ""
            found.append(ToolSpec(name, about if isinstance(about, str) else "", None, name))
        return tuple(found)

    async def _offered(self, box: Toolbox, names: Sequence[str] | None) -> tuple[ToolSpec, ...]:
        """The tools that are connected; what servers offer is recorded."""
        recording = self._recording
        try:
            with self._at("tools"):
                found = await box.tools(names)
        except EndOfInput:
            raise
        except Exception:
            if recording is not None:
                recording.gap = "a tool could not be reached"
            raise
        if recording is not None and not all(map(box.plays, found)):
            recording.tools(names, found)
        return found

    async def permit(self, tool: ToolSpec, arguments: Mapping[str, Any]) -> str:
        """Why a call may not be made; empty if it may."""
        if isinstance(self.provider, ScriptProvider):
            return self.provider.permit()
        box = self._box()
        with self._at("permission"):
            reason = "" if box is None else await box.permit(tool, arguments)
        if reason and self._recording is not None:
            self._recording.denied(reason)
        return reason

    async def call(
        self, tool: ToolSpec, arguments: Mapping[str, Any], user: str = ""
    ) -> ToolResult:
        """What a tool gives back, or whoever plays it. `user`: for whom, if not who talks."""
        if isinstance(self.provider, ScriptProvider):
            return self.provider.result(tool, self.here())
        with self._at("call"):
            result = await self._called(tool, arguments, user)
        result = ToolResult(*map(self.veil.value, result))
        if self._recording is not None:
            self._recording.result(result)
        return result

    async def _called(self, tool: ToolSpec, arguments: Mapping[str, Any], user: str) -> ToolResult:
        if self.toolbox is not None and not self.toolbox.plays(tool):
            try:
                return await self.toolbox.call(tool, arguments, user or self.user_id or "")
            except AuthRequired:
                if self._recording is not None:
                    self._recording.gap = "a service had to be connected first"
                raise
        here = self.here()
        takes = here.writes if here is not None and here.kind == "tool" else ()
        fields = [asking.field_of(self.graph, name) for name in takes]
        return await asking.result_of(self.asker, tool, arguments, fields)

    def heard(self) -> Sequence[Approved | str]:
        return [] if self.toolbox is None else self.toolbox.heard()

    async def ask(self, question: Question) -> str:
        """Something only the person can answer; a yes or no comes back as just that."""
        if isinstance(self.provider, ScriptProvider):
            return self.provider.answer(question)
        with self._at("question"):
            if question.kind == "yes_no":
                text = "yes" if await asking.yes_no(self.asker, question.text) else "no"
            else:
                text = await self.asker(question)
        if self._recording is not None:
            self._recording.answer(text)
        return text

    async def keep_skill(self, name: str, text: str) -> str:
        """Write a skill into the skills folder; its path."""
        if self.skills is None:
            return f"{name}.md, for this time only"
        text = self.veil.text(text)
        self.skills.mkdir(parents=True, exist_ok=True)
        path = self.skills / f"{name}.md"
        write_file(str(path), f"{text.rstrip()}\n".encode("utf-8", "replace"))
        return str(path)

    def known_skills(self) -> Sequence[str]:
        """Each kept skill: its name and its first line."""
        found: list[str] = []
        for path in sorted(self.skills.glob("*.md")) if self.skills is not None else ():
            with path.open(encoding="utf-8", errors="replace") as file:
                found.append(f"{path.stem}: {file.readline(200).strip('# ').strip()}")
        return found

    def now(self) -> float:
        return time.time()

    def new_id(self) -> str:
        return uuid.uuid4().hex[:12]
