"""What `stream_result` gives: the results as they come, and the whole at the end."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

from statecli.burr.state import State
from statecli.kinds.step import closing

Whole = tuple[Any, State]


class StreamingResultContainer:
    """Iterate for the results of an action as they come; `get` gives (result, state) at its end,
    and waits for it. An action that is left before its end is broken off: the application stays
    where it was."""

    def __init__(self, items: Iterator[Any], end: Callable[[], Whole]) -> None:
        self._items = items
        self._end = end
        self._whole: Whole | None = None

    def __iter__(self) -> Iterator[Any]:
        yield from self._items
        if self._whole is None:
            self._whole = self._end()

    def __next__(self) -> Any:
        try:
            return next(self._items)
        except StopIteration:
            self.get()
            raise

    def get(self) -> Whole:
        """(result, state) of the action, once it is done."""
        for _ in self:
            pass
        assert self._whole is not None
        return self._whole


class AsyncStreamingResultContainer:
    """As `StreamingResultContainer`, to be awaited."""

    def __init__(self, items: AsyncIterator[Any] | None, end: Callable[[], Whole]) -> None:
        self._items = items
        self._end = end
        self._whole: Whole | None = None

    async def __aiter__(self) -> AsyncIterator[Any]:
        if self._items is not None:
            async with closing(self._items) as items:
                async for item in items:
                    yield item
        if self._whole is None:
            self._whole = self._end()

    async def get(self) -> Whole:
        """(result, state) of the action, once it is done."""
        async for _ in self:
            pass
        assert self._whole is not None
        return self._whole
