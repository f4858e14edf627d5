"""The names of EvoFabric's document over our own: ``evofabric.core.graph`` and ``.typing``.

```python
from statecli.evofabric import MISSING, StateMessage, StateUpdater, generate_state_schema
```
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from statecli.kernel.reducers import MISSING, Reducer, known_reducer, register_reducer
from statecli.session.schema import generate_state_schema, safe_get_attr

__all__ = ["MISSING", "StateMessage", "StateUpdater", "generate_state_schema", "safe_get_attr"]

#: One message of a conversation: role, content, id and what else it carries.
StateMessage = dict[str, Any]


class StateUpdater:
    """Where update mechanisms (reducers) are registered by name."""

    @staticmethod
    def register(name: str) -> Callable[[Reducer], Reducer]:
        """A decorator: the function ``(old, new) -> value`` merges fields that name it."""
        return register_reducer(name)

    @staticmethod
    def registered(name: str) -> bool:
        """Whether fields may name it."""
        return known_reducer(name)
