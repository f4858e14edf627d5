"""The names of Burr's document (001) over our own: an app of Burr runs with another import line.

```python
from statecli.burr import ApplicationBuilder, State, action, default, expr, when
```

Everything runs on `statecli.Run`: a state is an action, the data is its state. Different from
apache-burr 0.43, by its document or because our graphs can be proved:

- `inputs` reach the first step of a call only, as the document says (there, measured, every step);
  an action further on gets of them what it requires;
- guards are ours: `when` compares text trimmed and without case, a key that is not there makes a
  condition false (there: ValueError); `expr` is read, never evaluated: it is the language of
  model.md 4.2; ``~default`` is a ValueError;
- nothing outside an update changes the state: a list changed in place is as it was (there, it is
  changed);
- a streaming action that raises fails its step (there it may go on with what it yielded last);
- an action may be async in a synchronous call, and a synchronous one may stream in an async call;
- `state` has no keys of the framework (``__SEQUENCE_ID``, ``__PRIOR_STEP``): see `sequence_id`.
"""

from __future__ import annotations

from statecli.burr.action import (
    Action,
    AsyncStreamingAction,
    Input,
    Result,
    StreamingAction,
    action,
    streaming_action,
    type_eraser,
)
from statecli.burr.application import Application, ApplicationContext
from statecli.burr.builder import ApplicationBuilder
from statecli.burr.condition import Condition, default, expr, lmda, safe_expr, when
from statecli.burr.graph import ApplicationGraph, Graph, GraphBuilder, Transition
from statecli.burr.lifecycle import (
    PostRunStepHook,
    PostRunStepHookAsync,
    PostStreamItemHook,
    PreRunStepHook,
    PreRunStepHookAsync,
)
from statecli.burr.state import State
from statecli.burr.stream import AsyncStreamingResultContainer, StreamingResultContainer

__all__ = [
    "Action", "Application", "ApplicationBuilder", "ApplicationContext", "ApplicationGraph",
    "AsyncStreamingAction",
    "AsyncStreamingResultContainer", "Condition", "Graph", "GraphBuilder", "Input",
    "PostRunStepHook", "PostRunStepHookAsync", "PostStreamItemHook", "PreRunStepHook",
    "PreRunStepHookAsync", "Result", "State", "StreamingAction", "StreamingResultContainer",
    "Transition", "action", "default", "expr", "lmda", "safe_expr", "streaming_action",
    "type_eraser", "when",
]  # fmt: skip
