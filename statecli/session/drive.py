"""Runs what is async from where nothing is: one coroutine at a time, in one task.

Where it is known that nothing ever waits no event loop is needed, and a step costs microseconds.
Otherwise each thread has a loop of its own, kept open so that what a provider holds (a connection)
outlives a step. asyncio is loaded there only: it would be half of what importing `Run` costs.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from statecli.kinds.step import closing

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")


def finished(work: Coroutine[Any, Any, T], *, waits: bool) -> T:
    """The result of a coroutine. Raises InsideLoop where an event loop runs: there is `aio`."""
    if waits:
        return _done(_loop(work), work)
    try:
        work.send(None)
    except StopIteration as stop:
        found: T = stop.value
        return found
    work.close()
    raise RuntimeError("a body waits for something; write it with async def")


def each(stream: AsyncIterator[T], *, waits: bool) -> Iterator[T]:
    """The items of a stream. It is read by one task from its beginning to its end, and no further
    than what is asked for: a body whose stream is closed early is not run to its end."""
    if not waits:
        yield from _each_now(stream)
        return
    import asyncio

    queue: asyncio.Queue[tuple[T | None, BaseException | None]] = asyncio.Queue(1)
    asked = asyncio.Semaphore(0)
    work = _pump(stream, queue, asked)
    loop = _loop(work)
    task = loop.create_task(work)
    try:
        while True:
            asked.release()
            item, error = _done(loop, queue.get())
            if isinstance(error, StopAsyncIteration):
                return
            if error is not None:
                raise error
            yield item  # type: ignore[misc]  # an item where there is no error
    finally:
        task.cancel()
        while not queue.empty():  # room for what the task says at its end
            queue.get_nowait()
        loop.run_until_complete(asyncio.wait({task}))


def _done(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine in a loop. What breaks the loop itself off (Ctrl-C) ends it too:
    nothing is left at work in there."""
    task = loop.create_task(work)
    try:
        return loop.run_until_complete(task)
    except BaseException:
        if not task.done():
            import asyncio

            task.cancel()
            loop.run_until_complete(asyncio.wait({task}))
            if not task.cancelled():
                task.exception()  # it is told already
        raise


async def _pump(
    stream: AsyncIterator[T],
    queue: asyncio.Queue[tuple[T | None, BaseException | None]],
    asked: asyncio.Semaphore,
) -> None:
    try:
        async with closing(stream) as items:
            await asked.acquire()
            async for item in items:
                await queue.put((item, None))
                await asked.acquire()
    except BaseException as error:  # whatever it is: somebody waits for it at the other end
        await queue.put((None, error))
    else:
        await queue.put((None, StopAsyncIteration()))


def _each_now(stream: AsyncIterator[T]) -> Iterator[T]:
    async def next_item() -> T:
        return await anext(stream)

    async def close() -> None:
        async with closing(stream):
            pass

    try:
        while True:
            try:
                item = finished(next_item(), waits=False)
            except StopAsyncIteration:
                return
            yield item
    finally:
        finished(close(), waits=False)


class InsideLoop(Exception):
    """Synchronous calls cannot wait inside of an event loop."""


class _Loop:
    """An event loop that is closed with its thread (or at the end of the process)."""

    def __init__(self) -> None:
        import asyncio

        self.loop = asyncio.new_event_loop()
        weakref.finalize(self, self.loop.close)


_LOCAL = threading.local()


def _loop(work: Coroutine[Any, Any, Any]) -> asyncio.AbstractEventLoop:
    """The loop of this thread."""
    import asyncio

    with suppress(RuntimeError):
        asyncio.get_running_loop()
        work.close()
        raise InsideLoop("an event loop runs here already: use statecli.aio.Run")
    holder: _Loop | None = getattr(_LOCAL, "holder", None)
    if holder is None or holder.loop.is_closed():
        holder = _LOCAL.holder = _Loop()
    return holder.loop
