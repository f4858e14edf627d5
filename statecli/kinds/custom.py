"""Custom kinds: `state_<kind>.py` beside the graph, loaded only when the person allowed it."""

from __future__ import annotations

import importlib.util
import inspect
import json
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any

from statecli import arkos
from statecli.kinds.step import Delta, Run, Step
from statecli.model.event import Called, Returned
from statecli.model.graph import KINDS, Graph
from statecli.model.ports import ModelError, ToolSpec
from statecli.model.unable import Unable


def load(graph: Graph, folder: Path) -> dict[str, Run]:
    """The bodies of the graph's custom kinds, from the files beside it. Runs their code.

    Raises Unable for a kind without a file, and for a file that does not load.
    """
    found: dict[str, Run] = {}
    for state in graph.states.values():
        kind = state.kind
        if kind in KINDS or kind in found:
            continue
        path = folder / f"state_{kind}.py"
        if not path.is_file():
            raise Unable(f"nothing runs states of the kind '{kind}'", f"write {path}")
        found.update(_loaded(path))
        if kind not in found:
            raise Unable(f"{path} registers no state of the kind '{kind}'")
    return found


def _loaded(path: Path) -> dict[str, Run]:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise Unable(f"{path} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    arkos.collect()
    with arkos.importable() as names:
        module.__dict__.update(names)
        try:
            spec.loader.exec_module(module)
        except Exception as error:
            kind = type(error).__name__
            raise Unable(f"{path} does not load: {kind}: {error}") from None
    registered = arkos.collect()
    by_name = path.stem.removeprefix("state_")
    return {kind or by_name: body(thing) for kind, thing in registered}


def body(thing: Any) -> Run:
    """The body that a registered class or function is."""
    instances: dict[str, Any] = {}

    async def run(step: Step) -> AsyncIterator[Delta | None]:
        state = step.state
        config: Mapping[str, Any] = state.settings
        if inspect.isclass(thing) and state.name not in instances:
            make: Callable[[str, Mapping[str, Any]], Any] = thing
            instances[state.name] = make(state.name, config)
        target = instances.get(state.name, thing)
        messages = step.snapshot.data.get("messages") or ()
        context = [arkos.as_message(m) for m in messages if isinstance(m, Mapping)]
        agent = Agent(step)
        function = target.run if state.name in instances else target
        result = function(context, agent)
        if inspect.isawaitable(result):
            result = await result
        content = getattr(result, "content", result)
        if isinstance(content, str) and content:
            step.say(content)
        yield None
        if getattr(target, "is_terminal", False):
            step.ended = True
        ready = getattr(target, "check_transition_ready", None)
        if ready is not None and not ready(context):
            step.again = True

    return run


class Agent:
    """The part of the ARKOS agent that custom states use."""

    def __init__(self, step: Step) -> None:
        self._step = step
        self.current_user_id = getattr(step.world, "user_id", None)
        self.tool_manager = ToolManager(step)

    async def call_llm(self, context: Any, json_schema: Any = None) -> arkos.AIMessage:
        """One model call; with a schema the content is JSON text."""
        step = self._step
        texts = [str(getattr(message, "content", message)) for message in context or ()]
        schema = _schema(json_schema)
        what = "structured" if schema is not None else "reply"
        note = texts[-1] if texts else ""
        async for _ in step.ask(step.request(what, note, schema=schema, note=note)):
            pass
        answer = step.answer
        if answer.value is not None:
            return arkos.AIMessage(content=json.dumps(answer.value))
        if not answer.text:
            raise ModelError("the model gave an empty reply")
        return arkos.AIMessage(content=answer.text)

    async def create_tool_option_class(self) -> Any:
        """A class with `model_json_schema`, for the choice of a tool."""
        names = [tool.name for tool in await self._step.world.tools(None)]

        class ToolOption:
            @staticmethod
            def model_json_schema() -> dict[str, Any]:
                properties = {"tool_name": {"type": "string", "enum": names}}
                return {"type": "object", "properties": properties, "required": ["tool_name"]}

        return ToolOption


class ToolManager:
    """Tools by name, as the documents' examples ask for them."""

    def __init__(self, step: Step) -> None:
        self._step = step
        declared = step.graph.settings.get("tools")
        names = list(declared) if isinstance(declared, dict) else []
        self._tool_registry = {name: name.partition(".")[0] for name in names}

    async def list_all_tools(self) -> dict[str, dict[str, Any]]:
        """Server to tool to its specification."""
        found: dict[str, dict[str, Any]] = {}
        for tool in await self._step.world.tools(None):
            server = tool.server.partition(".")[0] or tool.name
            schema = dict(tool.schema or {"type": "object", "properties": {}})
            spec = {"description": tool.description, "inputSchema": schema}
            found.setdefault(server, {})[tool.name] = spec
            self._tool_registry[tool.name] = server
        return found

    async def call_tool(
        self,
        tool_name: str,
        arguments: Mapping[str, Any] | None = None,
        user_id: str | None = None,
    ) -> Any:
        """One call; what the tool gave back. An error of the tool raises."""
        step = self._step
        tool = next(
            (t for t in await step.world.tools(None) if t.name == tool_name),
            ToolSpec(tool_name, ""),
        )
        call = step.world.new_id()
        step.emit(Called(step.number, step.state.name, call, tool.name, dict(arguments or {})))
        result = await step.world.call(tool, dict(arguments or {}))
        shown = result.structured if result.structured is not None else result.text
        step.emit(Returned(step.number, step.state.name, call, shown, result.ok))
        if not result.ok:
            raise ModelError(f"{tool.name}: {result.text}")
        return shown


def _schema(value: Any) -> dict[str, Any] | None:
    """The schema itself, whether wrapped as OpenAI's `response_format` or not."""
    if not isinstance(value, Mapping):
        return None
    inner = value.get("json_schema")
    if isinstance(inner, Mapping) and isinstance(inner.get("schema"), Mapping):
        return dict(inner["schema"])
    return dict(value)
