"""A Python function as a tool: ``module:function``. Its schema comes from its type hints.

Loading it runs the module's code, so only what the person allowed (--allow-plugins) gets here.
"""

from __future__ import annotations

import asyncio
import importlib
import inspect
import json
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from statecli.model.ports import AuthRequired, ToolResult, ToolSpec
from statecli.tools.hints import Signature, signature_of
from statecli.tools.tool import MAX_ABOUT, Answer, Entry, Unreachable, cut

#: A parameter with this name is no argument: it gets who talks.
USER = "user_id"


class Functions:
    """The function of one entry. It keeps its module's state from call to call."""

    tail = ""

    def __init__(self, entry: Entry) -> None:
        self.entry = entry
        self._function: Callable[..., Any] | None = None
        self._signature: Signature | None = None

    @property
    def running(self) -> bool:
        return self._function is not None

    async def list(self) -> tuple[ToolSpec, ...]:
        """The one tool, named as the entry."""
        function, signature = self._loaded()
        about = self.entry.description or inspect.getdoc(function) or ""
        schema = signature.schema
        return (ToolSpec(self.entry.name, about[:MAX_ABOUT], schema, self.entry.name),)

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        user: str,
        answer: Answer,
    ) -> ToolResult:
        function, signature = self._loaded()
        try:
            given = signature.values(arguments)
            if signature.takes_user:
                given[USER] = user or None
            async with asyncio.timeout(self.entry.timeout):
                return cut(_result(await _run(function, given)))
        except TimeoutError:
            return ToolResult(False, f"{name} did not answer within {self.entry.timeout:g} s")
        except AuthRequired:
            raise
        except Exception as error:
            kind = type(error).__name__
            return cut(ToolResult(False, f"{kind}: {error}" if str(error) else kind))

    async def close(self) -> None:
        """A function needs no end."""

    def _loaded(self) -> tuple[Callable[..., Any], Signature]:
        if self._function is None or self._signature is None:
            self._function = _function(self.entry)
            try:
                self._signature = signature_of(self._function, USER)
            except (TypeError, NameError, ValueError) as error:
                raise Unreachable(f"{self.entry.name}: {self.entry.python}: {error}") from None
        return self._function, self._signature


def _function(entry: Entry) -> Callable[..., Any]:
    """Import it, with the graph's folder among the places where modules are looked for."""
    where = f"{entry.name}: {entry.python}"
    try:
        found = imported(entry.python, entry.folder)
    except ValueError:
        raise Unreachable(f"{where}: write 'module:function'") from None
    except ImportError as error:
        raise Unreachable(f"{where} {error}") from None
    if not callable(found):
        raise Unreachable(f"{where}: there is no such function")
    function: Callable[..., Any] = found
    return function


def imported(name: str, folder: str) -> Any:
    """What ``module:name`` names; None where its module has no such thing. Modules in `folder` come
    first. ValueError where it is written otherwise, ImportError for all that importing raises."""
    module, colon, path = name.partition(":")
    if not colon or not module or not path:
        raise ValueError(name)
    try:
        with beside(folder):
            found: Any = importlib.import_module(module)
    except (Exception, SystemExit) as error:
        raise ImportError(f"does not load: {type(error).__name__}: {error}") from None
    for part in path.split("."):
        found = getattr(found, part, None)
    return found


@contextmanager
def beside(folder: str) -> Iterator[None]:
    """Modules in this folder can be imported."""
    if not folder:
        yield
        return
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        if folder in sys.path:
            sys.path.remove(folder)


async def _run(function: Callable[..., Any], given: dict[str, Any]) -> Any:
    """What the function gives back. One that waits by itself runs in a thread that nobody waits
    for: when it does not come back, the chat goes on and can end without it."""
    if inspect.iscoroutinefunction(function):
        return await function(**given)
    loop = asyncio.get_running_loop()
    place: asyncio.Future[Any] = loop.create_future()

    def settle(value: Any, error: BaseException | None) -> None:
        if place.done():
            return
        if error is not None:
            place.set_exception(error)
        else:
            place.set_result(value)

    def work() -> None:
        value: Any = None
        failure: Exception | None = None
        try:
            value = function(**given)
        except StopIteration as error:  # no future may hold one
            failure = RuntimeError(f"StopIteration: {error}")
        except BaseException as error:
            failure = error if isinstance(error, Exception) else RuntimeError(repr(error))
        try:
            loop.call_soon_threadsafe(settle, value, failure)
        except RuntimeError:  # the loop is closed: nobody is there any more
            return

    threading.Thread(target=work, daemon=True).start()
    found = await place
    return await found if inspect.isawaitable(found) else found


def _result(found: Any) -> ToolResult:
    """A text as it is, anything else as JSON; a mapping is data too."""
    if isinstance(found, ToolResult):
        return found
    if found is None or isinstance(found, str):
        return ToolResult(True, found or "")
    if hasattr(found, "_asdict"):
        found = found._asdict()
    elif hasattr(found, "__dataclass_fields__") and not inspect.isclass(found):
        import dataclasses

        found = dataclasses.asdict(found)
    text = json.dumps(found, ensure_ascii=False, default=str)
    return ToolResult(True, text, json.loads(text) if isinstance(found, Mapping) else None)
