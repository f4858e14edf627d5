"""`statecli.aio`: running a graph from a program that is async itself.

```python
from statecli import aio
run = aio.Run(graph, data={...})
state, result, data = await run.run(halt_after=["reply"])
```

`statecli.Run` has the same methods as `astep`, `aiterate`, `arun` and `astream_result`.
"""

from __future__ import annotations

from statecli.session.walk import RunError, Step, Stuck, Walk

__all__ = ["Run", "RunError", "Step", "Stuck"]


class Run(Walk):
    """One walk of a graph: as `statecli.Run`, to be awaited."""

    step = Walk.astep
    iterate = Walk.aiterate
    run = Walk.arun
    stream_result = Walk.astream_result
