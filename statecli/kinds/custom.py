"""Custom kinds: `state_<kind>.py` beside the graph, loaded only when the person allowed it."""

from __future__ import annotations

import asyncio
import importlib.util
import inspect
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar, copy_context
from pathlib import Path
from typing import Any

from statecli.kinds import arkos_names as arkos
from statecli.kinds.facade import Facade, context_of, plain
from statecli.kinds.step import Delta, Step
from statecli.model.graph import KINDS, Graph, State
from statecli.model.unable import Unable


def load(
    graph: Graph,
    folder: Path,
    plugins: Sequence[Path] = (),
    known: Mapping[str, CustomKind] = {},
) -> dict[str, CustomKind]:
    """The bodies of the graph's custom kinds: those that are `known`, from the files `plugins`,
    then from those beside the graph, which may also stand for a built-in kind. Runs their code.

    Raises Unable for a kind without a body, and for a file that does not load.
    """
    found: dict[str, CustomKind] = {}
    for plugin in plugins:
        found.update(_loaded(plugin))
    found.update(known)
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


def _loaded(path: Path) -> dict[str, CustomKind]:
    """What a file registers. A class without a `type` has the kind of the file's name."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise Unable(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)  # dataclasses look themselves up there
    with arkos.importable() as names, arkos.registering() as found:
        module.__dict__.update(names)
        try:
            spec.loader.exec_module(module)
        except (Exception, SystemExit) as error:
            kind = type(error).__name__
            raise Unable(f"{path} does not load: {kind}: {error}") from None
    by_name = path.stem.removeprefix("state_")
    return {kind or by_name: CustomKind(thing) for kind, thing in found}


class CustomKind:
    """The body that a registered class or function is. A class is made once for each state. A
    message or a text that it gives back is said, a mapping becomes data. `agent`: what it is given
    as its agent, instead of the part of one that is made for each step."""

    def __init__(self, thing: Any) -> None:
        self.thing = thing
        self.agent: Any = None
        self._instances: dict[str, Any] = {}

    def for_agent(self, agent: Any) -> CustomKind:
        """The same with an agent of its own, and with objects of its own."""
        found = CustomKind(self.thing)
        found.agent = agent
        return found

    def instance(self, state: State) -> Any:
        """The object of a state: of a class the one that is made for it, else the function."""
        if not inspect.isclass(self.thing):
            return self.thing
        if state.name not in self._instances:
            make: Callable[[str, Mapping[str, Any]], Any] = self.thing
            self._instances[state.name] = make(state.name, state.settings)
        return self._instances[state.name]

    async def __call__(self, step: Step) -> AsyncIterator[Delta | None]:
        target = self.instance(step.state)
        call = target.run if inspect.isclass(self.thing) else target
        work = _Work(StepAgent(step, self.agent), call)
        async for _ in work.pauses():
            yield None
        content = getattr(work.result, "content", work.result)
        if isinstance(content, str) and content:
            step.say(content)
        elif isinstance(content, Mapping):
            step.change(plain(content))
        yield None
        if getattr(target, "is_terminal", False):
            step.ended = True
        ready = getattr(target, "check_transition_ready", None)
        if ready is not None and not ready(context_of(step)):
            step.again = True


class StepAgent(Facade):
    """The agent of one step that the engine runs. With an `owner` (an agent that lives longer) the
    state's function gets that; its `here` is this while the function runs, also in tasks that it
    starts."""

    def __init__(self, step: Step, owner: Any = None) -> None:
        self.step = step
        self.owner = owner
        self.paused: asyncio.Queue[asyncio.Event] = asyncio.Queue()
        super().__init__()
        self.current_user_id = step.world.user_id

    @property
    def here(self) -> StepAgent:
        return self

    @property
    def current_state(self) -> Any:
        """The state that runs."""
        return arkos.State(self.step.state.name, self.step.state.settings)

    async def pause(self) -> None:
        """Let the events so far be stored."""
        stored = asyncio.Event()
        await self.paused.put(stored)
        await stored.wait()


#: The step whose function runs in this context.
HERE: ContextVar[StepAgent | None] = ContextVar("HERE", default=None)


class _Work:
    """Runs a state's function, which may wait for the agent. Each time the agent is about to reach
    outside, the body pauses, so that what happened so far is stored before."""

    def __init__(self, here: StepAgent, call: Callable[..., Any]) -> None:
        self.here = here
        self.call = call
        self.agent = here if here.owner is None else here.owner
        self.result: Any = None

    async def pauses(self) -> AsyncIterator[None]:
        context = copy_context()
        context.run(HERE.set, self.here)
        result = context.run(self.call, *self._arguments())
        if not inspect.isawaitable(result):
            self.result = result
            return
        task = asyncio.get_running_loop().create_task(_awaited(result), context=context)
        paused = asyncio.ensure_future(self.here.paused.get())
        try:
            while not task.done():
                await asyncio.wait({task, paused}, return_when=asyncio.FIRST_COMPLETED)
                if paused.done():
                    yield None
                    paused.result().set()
                    paused = asyncio.ensure_future(self.here.paused.get())
            self.result = task.result()
        finally:
            task.cancel()
            paused.cancel()
            await asyncio.gather(task, paused, return_exceptions=True)

    def _arguments(self) -> tuple[Any, ...]:
        """The conversation, and the agent where the function takes it (document 000 has both)."""
        context = context_of(self.here.step)
        try:
            inspect.signature(self.call).bind(context, self.agent)
        except TypeError:
            return (context,)
        return (context, self.agent)


async def _awaited(work: Awaitable[Any]) -> Any:
    return await work
