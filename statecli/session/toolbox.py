"""The tools of a session: servers that are started on first use, and only if the person allows it.

Where nothing is started the person stands in for a tool. Off a terminal nobody stands in for the
tools of a model but for one that is played by hand too: what may not be started ends the chat.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from importlib.util import find_spec
from typing import Any, NamedTuple

from statecli.config.trust import Trust
from statecli.kernel.spoken import yes_or_no
from statecli.kernel.values import Unfit
from statecli.llm import asking
from statecli.model.data import is_map, shown
from statecli.model.event import Approved
from statecli.model.graph import Graph
from statecli.model.ports import (
    Ask,
    AuthRequired,
    ModelError,
    NotAllowed,
    Question,
    ToolResult,
    ToolSpec,
)
from statecli.model.wording import shortened
from statecli.session.allowance import Allowance
from statecli.text.excerpt import harmless
from statecli.tools.tool import Elicited, Entry, Source, Unreachable, entries, source_of

#: So much of what a call is given is shown before it is allowed.
MAX_SHOWN = 2_000
#: A server may ask the person so often during one call.
MAX_ASKED = 5
ALLOW = "Allow it for this graph?"
_SAID = {None: "", True: " (always allowed)", False: " (never allowed)"}
_ANSWERS = ("yes", "no", "always", "never")


class Trusted(NamedTuple):
    """What the person said about starting servers: where it is kept, for which graph."""

    trust: Trust
    digest: str


class Toolbox:
    """`folder` is where the graph stands; `by_hand` says whether the person plays the model;
    `plugins`: Python code of the graph may run; `folders` are those of entries that stand elsewhere
    than in the graph, `own` the entries that are the person's own word: they are started without a
    question. `tell` and `connecting` show the person what
    happens."""

    def __init__(
        self,
        graph: Graph,
        ask: Ask,
        allowance: Allowance,
        *,
        folder: str = "",
        trusted: Trusted | None = None,
        plugins: bool = False,
        by_hand: Callable[[], bool] = lambda: False,
        tell: Callable[[str], None] = lambda text: None,
        connecting: Callable[[str], None] = lambda text: None,
        folders: Mapping[str, str] | None = None,
        own: Collection[str] = (),
    ) -> None:
        declared = graph.settings.get("tools")
        self.declared: Mapping[str, Any] = declared if is_map(declared) else {}
        found = entries(self.declared, folder)
        places = folders or {}
        self.entries = {n: e._replace(folder=places.get(n, folder)) for n, e in found.items()}
        self.own = own
        self.ask = ask
        self.allowance = allowance
        self.trusted = trusted
        self.plugins = plugins
        self.by_hand = by_hand
        self.tell = tell
        self.connecting = connecting
        self._sources: dict[str, Source] = {}
        self._listed: dict[str, tuple[ToolSpec, ...]] = {}
        self._closed: dict[str, str] = {}
        self._news: list[Approved | str] = []

    # --- what there is --------------------------------------------------------------------------

    async def tools(self, names: Sequence[str] | None) -> tuple[ToolSpec, ...]:
        """The tools of these entries, or these tools (``server.tool``, or the tool's name alone);
        all of them if None. Raises what kept the last of them from being there."""
        wanted = list(self.declared) if names is None else list(dict.fromkeys(names))
        found: dict[str, ToolSpec] = {}
        errors: list[Exception] = []
        for name in wanted:
            server = self._server(name)
            servers = [server] if server is not None else list(self.declared)
            for server in servers:
                try:
                    listed = await self._tools_of(server)
                except (Unreachable, AuthRequired) as error:
                    if not self._stands_in(server, error):
                        errors.append(error)
                else:
                    found.update((tool.name, tool) for tool in _named(listed, name, server))
            if not any(server in self._sources for server in servers):
                found.setdefault(name, self._played(name))
        if errors and not found:
            raise errors[0]
        self._news.extend(str(error) for error in errors)
        if wanted and not found:
            raise ModelError(self._missing(wanted))
        return tuple(found.values())

    def known(self, names: Sequence[str] | None) -> tuple[ToolSpec, ...]:
        """What is known of these tools, without connecting any: what servers listed so far, else
        what the graph says."""
        found: dict[str, ToolSpec] = {}
        for name in self.declared if names is None else names:
            server = self._server(name)
            servers = list(self.declared) if server is None else [server]
            listed = [t for one in servers for t in _named(self._listed.get(one, ()), name, one)]
            found.update((tool.name, tool) for tool in listed or [self._played(name)])
        return tuple(found.values())

    def _server(self, name: str) -> str | None:
        """The entry that a name means, or whose tool it means; None: a tool's name alone."""
        found = name.partition(".")[0]
        return next((entry for entry in (name, found) if entry in self.declared), None)

    def _stands_in(self, server: str, error: Exception) -> bool:
        """Whether the person plays a tool whose server does not run, until it is used again. One
        that was named to be connected has to be."""
        if isinstance(error, AuthRequired) or not self.by_hand() or self.allowance.starts(server):
            return False
        del self._sources[server]
        self.tell(f"{error}; you play it")
        return True

    def _played(self, name: str) -> ToolSpec:
        """A tool that the person plays: nothing is known of it but what the graph says."""
        entry = self.declared.get(self._server(name) or name)
        about = entry.get("description") if is_map(entry) else ""
        return ToolSpec(name, about if isinstance(about, str) else "", None, name)

    def _missing(self, wanted: Sequence[str]) -> str:
        """Why none of these tools is there."""
        known = [tool.name for listed in self._listed.values() for tool in listed]
        more = f"; there are: {', '.join(known[:12])}" if known else ""
        return f"there is no tool {', '.join(wanted)}{more}"

    async def _tools_of(self, server: str) -> tuple[ToolSpec, ...]:
        source = await self._source(server)
        if source is None:
            return ()
        if not source.running:
            self.connecting(harmless(f"connecting {server}: {source.entry.shown}"))
        listed = await source.list()
        self._listed[server] = listed
        return listed

    async def _source(self, server: str) -> Source | None:
        """What runs an entry, if it may; the reason why not is in `_closed`."""
        entry = self.entries.get(server)
        if server in self._sources or entry is None or server in self._closed:
            if entry is None:
                self._closed[server] = "the graph does not say what runs it"
            return self._sources.get(server)
        why = self._python(entry) if entry.python else await self._start(entry)
        if why:
            self._closed[server] = why
            if self.ask.patient or not self.by_hand() or self.allowance.starts(server):
                self.tell(f"{server} is not connected: {why}; you play it")
            return None
        self._sources[server] = source_of(entry)
        return self._sources[server]

    # --- what the person allows -----------------------------------------------------------------

    def _python(self, entry: Entry) -> str:
        if not self.plugins:
            return f"--allow-plugins runs the code of {entry.python}"
        if self.by_hand() and not self.ask.patient and not self.allowance.starts(entry.name):
            return f"--allow-tools {entry.name} connects it"
        return ""

    async def _start(self, entry: Entry) -> str:
        """Why a server may not be started or connected to; empty if it may."""
        by_hand, way = self.by_hand(), f"--allow-tools {entry.name}"
        if self.allowance.starts(entry.name):
            return ""
        if by_hand and not self.ask.patient:
            return f"{way} connects it"
        if by_hand and find_spec("mcp") is None:
            return "it needs the MCP client: pip install 'statecli[mcp]'"
        known = True if entry.name in self.own else self._known(entry)
        if known is not None:
            return "" if known else f"you said no to that for this graph; {way} connects it"
        question = _question(entry)
        if not self.ask.patient:
            raise NotAllowed(f"{question} Nobody can be asked here", way)
        allowed = await self._yes_no(question, ALLOW)
        if self.trusted is not None:
            self.trusted.trust.remember(self.trusted.digest, entry.identity, allowed)
        verb = "start" if entry.command else "connect"
        self._news.append(Approved(f"{verb} {entry.name}: {entry.shown}", allowed))
        return "" if allowed else f"you said no; {way} connects it"

    async def _yes_no(self, text: str, short: str) -> bool:
        """A yes or no; what was no answer is asked again with the last line alone."""
        question = Question(f"{text} (yes or no)", "yes_no")
        found = await asking.fitting(self.ask, question, _yes_or_no, f"{short} (yes or no)")
        return bool(found)

    def _known(self, entry: Entry) -> bool | None:
        if self.trusted is None:
            return None
        return self.trusted.trust.answered(self.trusted.digest, entry.identity)

    async def permit(self, tool: ToolSpec, arguments: Mapping[str, Any]) -> str:
        """Why a call may not be made; empty if it may. What the person plays needs no yes."""
        if tool.server not in self._sources:
            return ""
        allowed = self.allowance.calls(tool)
        if allowed is None:
            allowed = await self._asked(tool, arguments)
        return "" if allowed else "the person does not allow this call"

    async def _asked(self, tool: ToolSpec, arguments: Mapping[str, Any]) -> bool:
        question = harmless(f"Call {tool.name}{_given(arguments)}?")
        if not self.ask.patient:
            raise NotAllowed(f"{question} Nobody can be asked here", f"--allow-tools {tool.server}")
        text = f"{question} (yes, no, always or never in this session)"
        answer = await asking.fitting(self.ask, Question(text, "choice", _ANSWERS), _answer)
        said = self.allowance.say(
            tool, allowed=answer in ("yes", "always"), always=answer in ("always", "never")
        )
        self._news.append(said)
        return said.allowed

    # --- calling --------------------------------------------------------------------------------

    def plays(self, tool: ToolSpec) -> bool:
        """Whether the person plays a tool, for want of a server."""
        return tool.server not in self._sources

    async def call(self, tool: ToolSpec, arguments: Mapping[str, Any], user: str) -> ToolResult:
        """Call a tool once. What goes wrong is a result; raises AuthRequired."""
        source = self._sources[tool.server]
        name = tool.name.removeprefix(f"{tool.server}.")
        if not source.running:
            self.connecting(harmless(f"connecting {tool.server} again: {source.entry.shown}"))
        counted = 0

        async def answer(elicited: Elicited) -> Mapping[str, Any] | None:
            nonlocal counted
            counted += 1
            return await self._answer(elicited, counted)

        try:
            return await source.call(name, arguments, user, answer)
        except Unreachable as error:
            return ToolResult(False, f"{error}; nothing was called")

    async def _answer(self, asked: Elicited, count: int) -> Mapping[str, Any] | None:
        """What a server asks the person for while its tool is at work."""
        said = _line(asked.text, 1_000)
        if asked.url:
            if not self.ask.patient or count > MAX_ASKED:
                raise AuthRequired(asked.server, asked.url, asked.text)
            text = (
                f"{asked.server} asks you to open {asked.url}\n{asked.text}\nGo on, once you did?"
            )
            return {} if await asking.yes_no(self.ask, text) else None
        if not self.ask.patient or count > MAX_ASKED:
            return None
        short = "Do you answer it?"
        if not await self._yes_no(f"{asked.server} asks: {said}\n{short}", short):
            return None
        wanted = ToolSpec("", asked.text, asked.schema)
        return await asking.arguments(self.ask, wanted, asked.server)

    def heard(self) -> list[Approved | str]:
        """What was allowed or denied since the last time, and what could not be connected."""
        news, self._news = self._news, []
        return news

    async def close(self) -> None:
        """End everything that was started."""
        sources = list(self._sources.values())
        self._sources.clear()
        await asyncio.gather(*(source.close() for source in sources), return_exceptions=True)

    # --- telling --------------------------------------------------------------------------------

    def about(self, name: str = "") -> Iterator[str]:
        """Each entry, what runs it and how it stands; with a name its tools, and what its server
        printed."""
        said = self.allowance.said()
        for server in [name] if name else self.declared:
            entry, source = self.entries.get(server), self._sources.get(server)
            played = self._played(server)
            yield f"{server}  {played.description or '(no description)'}  ({self._status(server)})"
            if entry is not None:
                yield f"  {harmless(entry.shown)}"
            for tool in self._listed.get(server, ()):
                word = _SAID[said.get(tool.name)]
                yield f"  {harmless(tool.name)}{word}  {_line(tool.description)}".rstrip()
                if name:
                    yield from (f"    {line}" for line in _parameters(tool))
            if name and source is not None and source.tail:
                yield "  it printed:"
                yield from (f"    {line}" for line in source.tail.splitlines()[-10:])

    def _status(self, server: str) -> str:
        source = self._sources.get(server)
        if source is not None and source.running:
            return f"connected, {len(self._listed.get(server, ()))} tools"
        if source is not None:
            return "not running; it is connected again when it is used"
        why = self._closed.get(server)
        if why is not None:
            return f"not connected: {why}; you play it"
        return "not connected yet"


def _named(listed: Sequence[ToolSpec], name: str, server: str) -> list[ToolSpec]:
    """Those of a server's tools that a name means."""
    if name == server:
        return list(listed)
    return [tool for tool in listed if name in (tool.name, tool.name.removeprefix(f"{server}."))]


def _question(entry: Entry) -> str:
    """What the person is asked before a server is started or connected to."""
    verb = "start this program" if entry.command else "connect to this address"
    lines = [f"The graph wants to {verb} for its tool '{entry.name}':", f"  {entry.shown}"]
    if entry.cwd:
        lines.append(f"  in {entry.directory}")
    if entry.env and entry.command:
        lines.append(f"  with {', '.join(f'{key}={value}' for key, value in entry.env.items())}")
    if entry.variables:
        lines.append(f"  It is given {', '.join(entry.variables)} from your environment.")
    return "\n".join([*map(harmless, lines), ALLOW])


def _given(arguments: Mapping[str, Any]) -> str:
    """The arguments of a call, whole as far as that can be read."""
    text = ", ".join(f"{key}={_whole(value)}" for key, value in arguments.items())
    if len(text) > MAX_SHOWN:
        text = f"{text[:MAX_SHOWN]}… and {len(text) - MAX_SHOWN:,} more characters"
    return f"({text})"


def _whole(value: Any) -> str:
    plain = isinstance(value, str | bool | int | float | None)
    return shown(value, 1_000_000) if plain else json.dumps(value, ensure_ascii=False, default=str)


def _yes_or_no(line: str) -> Any:
    plain = yes_or_no(line)
    return Unfit(f"{shown(line.strip())} is neither yes nor no") if plain is None else plain


def _answer(line: str) -> Any:
    """A plain answer, or the first letters of one."""
    word = line.strip().casefold()
    if word in _ANSWERS:
        return word
    plain = yes_or_no(line)
    if plain is not None:
        return "yes" if plain else "no"
    return Unfit(f"{shown(line.strip())} is none of {', '.join(_ANSWERS)}")


def _line(text: str, most: int = 80) -> str:
    """A text of a server on one line: no line of it can pass for one of ours."""
    return shortened(harmless(" ".join(text.split())), most)


def _parameters(tool: ToolSpec) -> Iterator[str]:
    """What a tool takes, a line each."""
    for key, settings, required in asking.parameters(tool):
        kind = settings.get("type") or ("enum" if "enum" in settings else "any")
        about = settings.get("description")
        optional = "" if required else ", optional"
        yield f"{key} ({kind}{optional})" + (f"  {_line(about)}" if isinstance(about, str) else "")
