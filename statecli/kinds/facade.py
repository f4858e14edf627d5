"""The ARKOS agent as custom states know it (document 000): asked for a model, tools, what is next.

Behind it stands one step of a run (`Here`): what it asks and calls are events of that run, stored
before they leave it.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from statecli.kinds import arkos_names as arkos
from statecli.kinds.arguments import refusal
from statecli.kinds.calling import offered, overheard, told, whole
from statecli.kinds.choice import Choice
from statecli.kinds.schemas import choice_schema
from statecli.kinds.step import Step
from statecli.model.event import Called, Refused, Returned
from statecli.model.graph import Transition
from statecli.model.ports import AuthRequired, ModelError, ToolSpec


class Here(Protocol):
    """Where an agent is: the step that is at work, and how to let its events be stored."""

    step: Step

    async def pause(self) -> None: ...


class Unchosen(ModelError):
    """No answer of a model named an option, and nothing stands for one."""


class Facade(ABC):
    """What states and the loop of the document ask an agent."""

    def __init__(self) -> None:
        self.tool_manager = ToolManager(self)

    @property
    @abstractmethod
    def here(self) -> Here:
        """Where it is now."""

    def get_context(self) -> list[arkos.Message]:
        """The conversation so far."""
        return context_of(self.here.step)

    def add_context(self, messages: Sequence[Any]) -> None:
        """Add messages to the conversation; one that is there already (by its id) is not added."""
        found = [message_of(message) for message in messages]
        if found:
            self.here.step.change({"messages": found})

    async def call_llm(self, context: Any, json_schema: Any = None) -> arkos.AIMessage:
        """One model call; with a schema the content is JSON text. ModelError where it fails."""
        here = self.here
        step = here.step
        given = tuple(map(as_plain, context or ()))
        schema = _schema(json_schema)
        what = "structured" if schema is not None else "reply"
        note = given[-1]["content"] if given else ""
        request = step.request(what, schema=schema, note=note, context=given)
        async for piece in step.ask(request, shown=False):
            if piece is None:
                await here.pause()
        answer = step.answer
        if answer.value is not None:
            return arkos.AIMessage(content=json.dumps(answer.value))
        if not answer.text:
            raise ModelError("the model gave an empty reply")
        return arkos.AIMessage(content=answer.text)

    async def create_tool_option_class(self) -> Any:
        """A class with `model_json_schema`, for the choice of a tool."""
        servers = await self.tool_manager.list_all_tools()
        names = [name for tools in servers.values() for name in tools]
        properties = {"tool_name": {"type": "string", "enum": names}}
        return _schema_class(
            {"type": "object", "properties": properties, "required": ["tool_name"]}
        )

    def create_next_state_class(self, transitions: Sequence[tuple[str, str]]) -> Any:
        """A class with `model_json_schema`, for the choice among these (name, description)."""
        return _schema_class(choice_schema([name for name, _ in transitions]))

    async def choose_transition(
        self, transitions_dict: Mapping[str, Sequence[str]], messages: Any = None
    ) -> str:
        """The model chooses among the names in "tt" ("td" describes them), as in every run: asked
        twice at most, then `on_invalid`, else the only option that waits (model.md 6). What it
        knows is the conversation, which has the `messages`. ValueError for no options and for names
        of no state, Unchosen (a ModelError) where nothing was chosen.
        """
        found = await self._choose(transitions_dict)
        if found.route is None:
            names = ", ".join(route.target for route in found.routes)
            raise Unchosen(f"the model named none of {names}, asked twice")
        return found.route.target

    async def _choose(self, transitions: Mapping[str, Sequence[str]]) -> Choice:
        here = self.here
        step = here.step
        states, name = step.graph.states, step.state.name
        names = list(transitions.get("tt", ()))
        texts = [*transitions.get("td", ()), *[""] * len(names)]
        unknown = [target for target in names if target not in states]
        if unknown or not names:
            raise ValueError(f"there is no state '{unknown[0]}'" if unknown else "no options")
        routes = [
            Transition(name, target, None, 1, number, (), (), text)
            for number, (target, text) in enumerate(zip(names, texts, strict=False))
        ]
        strays = [way for way in step.state.transitions if way.target in states]
        asked = Choice(step, routes, [w for w in strays if w.target not in names], step.answered)
        if len(routes) == 1:
            asked.route = routes[0]
            return asked
        async for piece in asked.run():
            if piece is None:
                await here.pause()
        return asked


class ToolManager:
    """Tools by name, as the documents' examples ask for them: a tool's own name, without that of
    its server, unless two servers have one of that name."""

    def __init__(self, agent: Facade) -> None:
        self._agent = agent
        self._tools: dict[str, ToolSpec] = {}
        self._listed: dict[str, str] = {}

    @property
    def _tool_registry(self) -> dict[str, str]:
        """Tool to server: the servers that the graph declares, and the tools that they listed."""
        declared = self._agent.here.step.graph.settings.get("tools")
        names = list(declared) if isinstance(declared, dict) else []
        return {**{name: name.partition(".")[0] for name in names}, **self._listed}

    async def list_all_tools(self) -> dict[str, dict[str, Any]]:
        """Server to tool to its specification."""
        found: dict[str, dict[str, Any]] = {}
        self._tools = {}
        try:
            tools = await offered(self._agent.here.step, None)
        except AuthRequired as error:
            raise as_documented(error) from None
        for tool in tools:
            server = tool.server.partition(".")[0] or tool.name
            name = tool.name.removeprefix(f"{server}.")
            name = tool.name if name in self._tools else name
            schema = dict(tool.schema or {"type": "object", "properties": {}})
            spec = {"description": tool.description, "inputSchema": schema}
            found.setdefault(server, {})[name] = spec
            self._listed[name] = server
            self._tools[name] = tool
        return found

    async def call_tool(
        self,
        tool_name: str,
        arguments: Mapping[str, Any] | None = None,
        user_id: str | None = None,
    ) -> Any:
        """One call; what the tool gave back. An error of the tool raises ModelError, a service
        that must be connected first AuthRequiredError."""
        tool = await self._named(tool_name)
        here = self._agent.here
        step = here.step
        call, name = step.world.new_id(), step.state.name
        given, user = plain(arguments or {}), user_id or step.world.user_id or ""
        reason = refusal(tool.schema, given)
        if reason:
            raise ModelError(f"the arguments of {tool.name} do not fit: {reason}")
        reason = await step.world.permit(tool, given)
        overheard(step)
        if reason:
            step.emit(Refused(step.number, name, tool.name, reason))
            raise ModelError(f"{tool.name}: {reason}")
        step.emit(Called(step.number, name, call, tool.name, given, user))
        await here.pause()
        try:
            result = await step.world.call(tool, given, user)
        except AuthRequired as error:
            step.emit(Returned(step.number, name, call, str(error), False))
            raise as_documented(error) from None
        step.emit(Returned(step.number, name, call, told(result), result.ok))
        await here.pause()
        if not result.ok:
            raise ModelError(f"{tool.name}: {result.text}")
        return result.text if result.structured is None else whole(result.structured)

    async def _named(self, name: str) -> ToolSpec:
        """The tool of this name; one that nobody lists is called all the same."""
        if name not in self._tools:
            await self.list_all_tools()
        by_whole = {tool.name: tool for tool in self._tools.values()}
        return self._tools.get(name) or by_whole.get(name) or ToolSpec(name, "")


def context_of(step: Step) -> list[arkos.Message]:
    """The conversation as the documents' examples know it."""
    messages = step.snapshot.data.get("messages") or ()
    return [arkos.as_message(m) for m in messages if isinstance(m, Mapping)]


def _schema_class(schema: dict[str, Any]) -> Any:
    class Options:
        @staticmethod
        def model_json_schema() -> dict[str, Any]:
            return schema

    return Options


def message_of(message: Any) -> dict[str, Any]:
    """A message as the data of a run holds it, with its id if it has one."""
    found = message.get("id") if isinstance(message, Mapping) else getattr(message, "id", None)
    return {**as_plain(message), **({"id": found} if found else {})}


def as_documented(error: AuthRequired) -> AuthRequired:
    """The error that the document's states catch."""
    if isinstance(error, arkos.AuthRequiredError):
        return error
    info = {"name": error.service, "message": error.text}
    return arkos.AuthRequiredError(error.service, error.url, info)


def plain(value: Mapping[str, Any]) -> dict[str, Any]:
    """Data as a document holds it: it is stored, and what the code keeps of it may change."""
    try:
        found: dict[str, Any] = json.loads(json.dumps(dict(value)))
    except (TypeError, ValueError, RecursionError) as error:
        raise ModelError(f"this is no plain data: {error}") from None
    return found


def as_plain(message: Any) -> dict[str, str]:
    """A message of the documents' classes, a mapping, or anything else that is said, as the API has
    it."""
    if isinstance(message, Mapping):
        message = arkos.as_message(message)
    content = str(getattr(message, "content", message))
    return {"role": str(getattr(message, "role", "user")), "content": content}


def _schema(value: Any) -> dict[str, Any] | None:
    """The schema itself, whether wrapped as OpenAI's `response_format` or not."""
    if not isinstance(value, Mapping):
        return None
    inner = value.get("json_schema")
    if isinstance(inner, Mapping) and isinstance(inner.get("schema"), Mapping):
        return dict(inner["schema"])
    return dict(value)
