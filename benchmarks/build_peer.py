"""Build a converted graph (convert.py, `lists`) with one library, and nothing else.

    PEERS_PYTHON benchmarks/build_peer.py LIBRARY FILE

The libraries are imported by name because they are installed only in the venv of the peers.
"""

import json
import os
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, TypedDict


def transitions(names: list[str], targets: list[list[int]]) -> None:
    """One trigger per transition number."""
    machine = import_module("transitions").Machine
    routes = [
        {"trigger": f"go{number}", "source": name, "dest": names[target]}
        for name, row in zip(names, targets, strict=True)
        for number, target in enumerate(row)
    ]
    machine(states=names, transitions=routes, initial=names[0], auto_transitions=False)


def statemachine(names: list[str], targets: list[list[int]]) -> None:
    """python-statemachine's own way from a mapping to a machine class, then one machine."""
    create = import_module("statemachine.io").create_machine_class_from_definition
    states = {
        name: {
            "initial": name == names[0],
            "final": not row,
            "on": {f"go{number}": [{"target": names[to]}] for number, to in enumerate(row)},
        }
        for name, row in zip(names, targets, strict=True)
    }
    create("Generated", states)()


def burr(names: list[str], targets: list[list[int]]) -> None:
    """One action for all states, a `when` for every target but the first, which is the default."""
    core = import_module("burr.core")

    def body(state: Any) -> Any:
        return state

    step = core.action(reads=["choice"], writes=["choice"])(body)
    routes = [
        (name, names[target], core.when(choice=number)) if number else (name, names[target])
        for name, row in zip(names, targets, strict=True)
        for number, target in reversed(list(enumerate(row)))
    ]
    builder = core.ApplicationBuilder().with_actions(**dict.fromkeys(names, step))
    builder.with_transitions(*routes).with_state(choice=0).with_entrypoint(names[0]).build()


def langgraph(names: list[str], targets: list[list[int]]) -> None:
    """One conditional edge with a map of targets per node."""
    graph_module = import_module("langgraph.graph")

    class Data(TypedDict):
        choice: int

    graph = graph_module.StateGraph(Data)
    for name in names:
        graph.add_node(name, lambda data: {})
    graph.add_edge(graph_module.START, names[0])
    for name, row in zip(names, targets, strict=True):
        if row:
            routes = {number: names[target] for number, target in enumerate(row)}
            graph.add_conditional_edges(name, lambda data: data["choice"], routes)
        else:
            graph.add_edge(name, graph_module.END)
    graph.compile()


def pydantic_graph(names: list[str], targets: list[list[int]]) -> None:
    """One decision per step, a branch for each target."""
    builder = import_module("pydantic_graph").GraphBuilder(output_type=int)

    async def body(_context: Any) -> int:
        return 0

    steps = [builder.step(body, node_id=name) for name in names]
    builder.add(builder.edge_from(builder.start_node).to(steps[0]))
    for step, row in zip(steps, targets, strict=True):
        if row:
            decision = builder.decision()
            for number, target in enumerate(row):
                branch = builder.match(int, matches=number.__eq__).to(steps[target])
                decision = decision.branch(branch)
            builder.add(builder.edge_from(step).to(decision))
        else:
            builder.add(builder.edge_from(step).to(builder.end_node))
    builder.build()


LIBRARIES: dict[str, Callable[[list[str], list[list[int]]], None]] = {
    build.__name__: build for build in (transitions, statemachine, burr, langgraph, pydantic_graph)
}


def main() -> None:
    """Build the graph of a file; the process ends without freeing it."""
    graph = json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
    LIBRARIES[sys.argv[1]](graph["names"], graph["targets"])
    os._exit(0)


if __name__ == "__main__":
    main()
