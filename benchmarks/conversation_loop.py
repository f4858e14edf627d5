"""A plain loop over our engine: reads conversation files and plays them, and nothing else.

    python benchmarks/conversation_loop.py make FOLDER COUNT TURNS     writes the files
    python benchmarks/conversation_loop.py play FOLDER                 plays them

No expectations, no report: what `statecli test` is compared with.
"""

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

GRAPH = """\
initial: hear
fields:
  topic: {type: enum, values: [order, trouble, done]}
  number: {type: int}
states:
  hear: {type: user, transition: {next: [sort]}}
  sort:
    type: agent
    writes: [topic, number]
    transition:
      next:
        - {to: look_up, when: {topic: order, number__gt: 0}}
        - {to: help, when: {topic: trouble}}
        - {to: bye, when: {topic: done}}
        - hear
  look_up: {type: tool, tool: shop.find, transition: {next: [hear]}}
  help: {type: agent, transition: {next: [hear, sort]}}
  bye: {type: terminal}
tools: {shop: {command: [shop]}}
"""
TURNS = (
    (
        "  - say: Where is my order {n}?\n"
        "    replies:\n"
        "      - {{writes: {{topic: order, number: {n}}}, reply: Let me look it up.}}\n"
        "      - {{calls: [shop.find: {{number: {n}}}]}}\n"
        "      - {{result: {{place: Hamburg}}}}\n"
        "    expect: {{takes: [sort, look_up, hear], state: hear, data: {{number: {n}}}}}\n"
    ),
    (
        "  - say: It does not work, {n} times\n"
        "    replies:\n"
        "      - {{writes: {{topic: trouble}}, reply: I see.}}\n"
        "      - {{reply: Switch it off and on.}}\n"
        "      - {{choice: hear}}\n"
        "    expect: {{state: hear, said: off and on, guards: {{help: true}}}}\n"
    ),
)


def make(folder: Path, count: int, turns: int) -> None:
    (folder / "graph.yaml").write_text(GRAPH)
    for number in range(count):
        parts = [TURNS[turn % 2].format(n=number + turn + 1) for turn in range(turns)]
        head = f"graph: graph.yaml\nabout: conversation {number}\nturns:\n"
        (folder / f"c{number:05}.yaml").write_text(head + "".join(parts))


def play(folder: Path) -> None:
    from statecli.llm.script import ScriptProvider
    from statecli.load.loader import load
    from statecli.session.session import Session
    from statecli.session.world import SessionWorld
    from statecli.store.memory import MemoryStore
    from statecli.text.conversation import read

    graph = load(str(folder / "graph.yaml")).graph
    assert graph is not None

    async def nobody(_: Any) -> str:
        raise EOFError

    async def one(path: Path) -> int:
        script = ScriptProvider(read(str(path), path.read_bytes()))
        session = Session.start(graph, MemoryStore(), first_line=True)
        world = SessionWorld(graph, script, nobody)  # type: ignore[arg-type]  # never asked
        events = 0
        for line in script.lines():
            stream: AsyncIterator[Any] = session.send(world, line)
            async for _ in stream:
                events += 1
        return events

    async def all_of_them() -> int:
        return sum([await one(path) for path in sorted(folder.glob("c*.yaml"))])

    print(asyncio.run(all_of_them()))


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
    else:
        play(Path(sys.argv[2]))
