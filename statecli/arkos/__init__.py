"""The names of ARKOS's document over our own (document 000).

```python
from statecli.arkos import Agent, StateHandler
agent = Agent(StateHandler("state_graph.yaml"), provider)
reply = await agent.step("hello", user_id="ann")
```
"""

from __future__ import annotations

from statecli.arkos.agent import Agent
from statecli.arkos.handler import StateHandler
from statecli.kinds.arkos_names import (
    AIMessage,
    AuthRequiredError,
    Message,
    State,
    SystemMessage,
    ToolMessage,
    UserMessage,
    register_state,
)
from statecli.session.stepping import RunError

__all__ = [
    "AIMessage", "Agent", "AuthRequiredError", "Message", "RunError", "State", "StateHandler",
    "SystemMessage", "ToolMessage", "UserMessage", "register_state",
]  # fmt: skip
