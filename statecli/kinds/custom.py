"""Custom kinds: `state_<kind>.py` beside the graph, loaded only when the person allowed it."""

from __future__ import annotations

import asyncio
import importlib.util
import inspect
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from statecli.kinds import arkos_names as arkos
from statecli.kinds.arguments import refusal
from statecli.kinds.calling import offered, overheard, told, whole
from statecli.kinds.step import Delta, Run, Step
from statecli.model.event import Called, Refused, Returned
from statecli.model.graph import KINDS, Graph
from statecli.model.ports import AuthRequired, ModelError, ToolSpec
from statecli.model.unable import Unable


def load(graph: Graph, folder: Path, plugins: Sequence[Path] = ()) -> dict[str, Run]:
    """The bodies of the graph's custom kinds: from the files `plugins`, then from those beside the
    graph, which may also stand for a built-in kind. Runs their code.

    Raises Unable for a kind without a body, and for a file that does not load.
    """
    found: dict[str, Run] = {}
    for plugin in plugins:
        found.update(_loaded(plugin))
    for kind in dict.fromkeys(state.kind for state in graph.states.values()):
        path = folder / f"state_{kind}.py"
        if kind in found or (kind in KINDS and not path.is_file()):
            continue
        if not kind.isidentifier() or not path.is_file():
            raise Unable(f"nothing runs states of the kind '{kind}'", f"write {path}")
        found.update(_loaded(path))
        if kind not in found:
            raise Unable(f"{path} registers no state of the kind '{kind}'")
    return found


def _loaded(path: Path) -> dict[str, Run]:
    """What a file registers. A class without a `type` has the kind of the file's name."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise Unable(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)  # dataclasses look themselves up there
    arkos.collect()
    with arkos.importable() as names:
        module.__dict__.update(names)
        try:
            spec.loader.exec_module(module)
        except (Exception, SystemExit) as error:
            kind = type(error).__name__
            raise Unable(f"{path} does not load: {kind}: {error}") from None
    by_name = path.stem.removeprefix("state_")
    return {kind or by_name: body(thing) for kind, thing in arkos.collect()}


def body(thing: Any) -> Run:
    """The body that a registered class or function is. A class is made once for each state. A
    message or a text that it gives back is said, a mapping becomes data."""
    instances: dict[str, Any] = {}

    async def run(step: Step) -> AsyncIterator[Delta | None]:
        state = step.state
        target = thing
        if inspect.isclass(thing):
            make: Callable[[str, Mapping[str, Any]], Any] = thing
            if state.name not in instances:
                instances[state.name] = make(state.name, state.settings)
            target = instances[state.name]
        agent = Agent(step)
        call = target.run if inspect.isclass(thing) else target
        work = _Work(agent, call)
        async for _ in work.pauses():
            yield None
        content = getattr(work.result, "content", work.result)
        if isinstance(content, str) and content:
            step.say(content)
        elif isinstance(content, Mapping):
            step.change(_plain(content))
        yield None
        if getattr(target, "is_terminal", False):
            step.ended = True
        ready = getattr(target, "check_transition_ready", None)
        if ready is not None and not ready(context_of(step)):
            step.again = True

    return run


def context_of(step: Step) -> list[arkos.Message]:
    """The conversation as the documents' examples know it."""
    messages = step.snapshot.data.get("messages") or ()
    return [arkos.as_message(m) for m in messages if isinstance(m, Mapping)]


class _Work:
    """Runs a state's function, which may wait for the agent. Each time the agent is about to reach
    outside, the body pauses, so that what happened so far is stored before."""

    def __init__(self, agent: Agent, call: Callable[..., Any]) -> None:
        self.agent = agent
        self.call = call
        self.result: Any = None

    async def pauses(self) -> AsyncIterator[None]:
        result = self.call(*self._arguments())
        if not inspect.isawaitable(result):
            self.result = result
            return
        task = asyncio.ensure_future(_awaited(result))
        paused = asyncio.ensure_future(self.agent.paused.get())
        try:
            while not task.done():
                await asyncio.wait({task, paused}, return_when=asyncio.FIRST_COMPLETED)
                if paused.done():
                    yield None
                    paused.result().set()
                    paused = asyncio.ensure_future(self.agent.paused.get())
            self.result = task.result()
        finally:
            task.cancel()
            paused.cancel()
            await asyncio.gather(task, paused, return_exceptions=True)

    def _arguments(self) -> tuple[Any, ...]:
        """The conversation, and the agent where the function takes it (document 000 has both)."""
        context = context_of(self.agent.step)
        try:
            inspect.signature(self.call).bind(context, self.agent)
        except TypeError:
            return (context,)
        return (context, self.agent)


async def _awaited(work: Awaitable[Any]) -> Any:
    return await work


class Agent:
    """The part of the ARKOS agent that custom states use."""

    def __init__(self, step: Step) -> None:
        self.step = step
        self.paused: asyncio.Queue[asyncio.Event] = asyncio.Queue()
        self.current_user_id = step.world.user_id
        self.tool_manager = ToolManager(self)

    async def pause(self) -> None:
        """Let the events so far be stored."""
        stored = asyncio.Event()
        await self.paused.put(stored)
        await stored.wait()

    async def call_llm(self, context: Any, json_schema: Any = None) -> arkos.AIMessage:
        """One model call; with a schema the content is JSON text."""
        step = self.step
        given = tuple(map(_message, context or ()))
        schema = _schema(json_schema)
        what = "structured" if schema is not None else "reply"
        note = given[-1]["content"] if given else ""
        request = step.request(what, schema=schema, note=note, context=given)
        async for piece in step.ask(request, shown=False):
            if piece is None:
                await self.pause()
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

        class ToolOption:
            @staticmethod
            def model_json_schema() -> dict[str, Any]:
                properties = {"tool_name": {"type": "string", "enum": names}}
                return {"type": "object", "properties": properties, "required": ["tool_name"]}

        return ToolOption


class ToolManager:
    """Tools by name, as the documents' examples ask for them: a tool's own name, without that of
    its server, unless two servers have one of that name."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._tools: dict[str, ToolSpec] = {}
        declared = agent.step.graph.settings.get("tools")
        names = list(declared) if isinstance(declared, dict) else []
        self._tool_registry = {name: name.partition(".")[0] for name in names}

    async def list_all_tools(self) -> dict[str, dict[str, Any]]:
        """Server to tool to its specification."""
        found: dict[str, dict[str, Any]] = {}
        self._tools = {}
        try:
            tools = await offered(self._agent.step, None)
        except AuthRequired as error:
            raise _as_documented(error) from None
        for tool in tools:
            server = tool.server.partition(".")[0] or tool.name
            name = tool.name.removeprefix(f"{server}.")
            name = tool.name if name in self._tools else name
            schema = dict(tool.schema or {"type": "object", "properties": {}})
            spec = {"description": tool.description, "inputSchema": schema}
            found.setdefault(server, {})[name] = spec
            self._tool_registry[name] = server
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
        step = self._agent.step
        tool = await self._named(tool_name)
        call, name = step.world.new_id(), step.state.name
        given, user = _plain(arguments or {}), user_id or step.world.user_id or ""
        reason = refusal(tool.schema, given)
        if reason:
            raise ModelError(f"the arguments of {tool.name} do not fit: {reason}")
        reason = await step.world.permit(tool, given)
        overheard(step)
        if reason:
            step.emit(Refused(step.number, name, tool.name, reason))
            raise ModelError(f"{tool.name}: {reason}")
        step.emit(Called(step.number, name, call, tool.name, given, user))
        await self._agent.pause()
        try:
            result = await step.world.call(tool, given, user)
        except AuthRequired as error:
            step.emit(Returned(step.number, name, call, str(error), False))
            raise _as_documented(error) from None
        step.emit(Returned(step.number, name, call, told(result), result.ok))
        if not result.ok:
            raise ModelError(f"{tool.name}: {result.text}")
        return result.text if result.structured is None else whole(result.structured)

    async def _named(self, name: str) -> ToolSpec:
        """The tool of this name; one that nobody lists is called all the same."""
        if name not in self._tools:
            await self.list_all_tools()
        by_whole = {tool.name: tool for tool in self._tools.values()}
        return self._tools.get(name) or by_whole.get(name) or ToolSpec(name, "")


def _as_documented(error: AuthRequired) -> AuthRequired:
    """The error that the document's states catch."""
    if isinstance(error, arkos.AuthRequiredError):
        return error
    info = {"name": error.service, "message": error.text}
    return arkos.AuthRequiredError(error.service, error.url, info)


def _plain(value: Mapping[str, Any]) -> dict[str, Any]:
    """Data as a document holds it: it is stored, and what the code keeps of it may change."""
    try:
        found: dict[str, Any] = json.loads(json.dumps(dict(value)))
    except (TypeError, ValueError, RecursionError) as error:
        raise ModelError(f"this is no plain data: {error}") from None
    return found


def _message(message: Any) -> dict[str, str]:
    """A message of the documents' classes, or anything else that is said, as the API has it."""
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
