"""One loop between two states that do nothing but count, with one library, in a process of its own.

    PYTHON benchmarks/step_loop.py LIBRARY STEPS [FILE]

Prints CPU and wall seconds of the steps alone, without imports and building. FILE is a database,
for those that keep their steps. The libraries are imported by name because they are installed only
in the venv of the peers.
"""

import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any, TypedDict

TRANSITIONS = [["go", "a", "b"], ["go", "b", "a"]]


class Data(TypedDict):
    """What the loop counts."""

    x: int


def count(data: Any) -> Any:
    return {"x": data["x"] + 1}


def timed(work: Callable[[], object]) -> tuple[float, float]:
    cpu, wall = time.process_time(), time.perf_counter()
    work()
    return time.process_time() - cpu, time.perf_counter() - wall


def repeated(step: Callable[[], object], steps: int) -> tuple[float, float]:
    def all_of_them() -> None:
        for _ in range(steps):
            step()

    return timed(all_of_them)


# --- ours -------------------------------------------------------------------------------


def loop(**more: Any) -> Any:
    from statecli import GraphBuilder, Run

    graph = (
        GraphBuilder()
        .with_states(a=count, b=count)
        .with_transitions(("a", "b"), ("b", "a"))
        .with_initial("a")
        .build()
    )
    return Run(graph, data={"x": 0}, **more)


def statecli(steps: int, _: str) -> tuple[float, float]:
    """Every event is recorded in memory."""
    run = loop()
    found = repeated(run.step, steps)
    assert run.data["x"] == steps
    assert len(run.events) == 1 + 3 * steps
    return found


def statecli_sqlite(steps: int, file: str) -> tuple[float, float]:
    import sqlite3
    from pathlib import Path

    from statecli.store.sqlite import SqliteStore

    store = SqliteStore(Path(file))
    run = loop(store=store, task_id="r")
    found = repeated(run.step, steps)
    (rows,) = sqlite3.connect(file).execute("SELECT count(*) FROM events").fetchone()
    assert rows == 1 + 3 * steps, "all are there; reading them would count as our memory"
    return found


def statecli_messages(steps: int, file: str) -> tuple[float, float]:
    """A long run that says something at each step and remembers the last twenty messages."""
    from pathlib import Path

    from statecli import GraphBuilder, Run, register_reducer
    from statecli.store.sqlite import SqliteStore

    def last_20(old: Any, new: Any) -> Any:
        return [*(old if isinstance(old, list) else ()), *new][-20:]

    register_reducer("last_20")(last_20)

    def say(data: Any) -> Any:
        number = data["x"] + 1
        return {"x": number, "messages": [{"role": "assistant", "content": f"message {number}"}]}

    graph = (
        GraphBuilder()
        .with_states(a=say, b=say)
        .with_transitions(("a", "b"), ("b", "a"))
        .with_fields(x={"type": "int"}, messages={"type": "list", "reducer": "last_20"})
        .with_initial("a")
        .build()
    )
    run = Run(graph, data={"x": 0, "messages": []}, store=SqliteStore(Path(file)), task_id="r")
    found = repeated(run.step, steps)
    assert len(run.data["messages"]) == 20
    return found


def resume(steps: int, file: str) -> tuple[float, float]:
    """How long a session of `steps` events takes to open, and its rows to be read: not seconds of
    CPU and wall, but of the two."""
    import sqlite3
    from pathlib import Path

    from statecli.session.session import Session
    from statecli.store.sqlite import SqliteStore

    store = SqliteStore(Path(file))
    run = loop(store=store, task_id="r")
    for _ in range(steps // 3):
        run.step()
    store.close()

    def opened() -> None:
        again = SqliteStore(Path(file))
        session = Session.open(run.graph, again, "r")
        assert session.snapshot == run._session.snapshot
        again.close()

    def rows() -> None:
        with sqlite3.connect(file) as db:
            found = db.execute("SELECT * FROM events WHERE run='r' ORDER BY number").fetchall()
        db.close()
        assert len(found) > steps - 3

    best = [min(timed(work)[0] for _ in range(7)) for work in (opened, rows)]
    return best[0], best[1]


# --- the peers --------------------------------------------------------------------------


def statecli_branches(steps: int, file: str) -> tuple[float, float]:
    """A split into so many branches that meet again."""
    from pathlib import Path

    from statecli import GraphBuilder, Run
    from statecli.store.sqlite import SqliteStore

    names = [f"b{number}" for number in range(steps)]
    graph = (
        GraphBuilder()
        .with_states(**{name: noting(name) for name in ("s", *names, "j")})
        .with_transitions(*(("s", name) for name in names), (names, "j"))
        .with_fields(log={"type": "list", "reducer": "extend"})
        .with_fanout("s")
        .with_join("j")
        .build()
    )
    run = Run(graph, store=SqliteStore(Path(file)) if file else None)
    found = timed(run.run)
    assert len(run.data["log"]) == steps + 2
    return found


def noting(name: str) -> Callable[[Any], Any]:
    return lambda data: {"log": [name]}


def history(steps: int, _: str) -> tuple[float, float]:
    """CPU of the tree of a run with a tenth of its points rebuilt, and of the run itself."""
    run = loop()
    walked, _wall = repeated(run.step, steps)

    def rebuild() -> None:
        found = run.history()
        for number in list(found)[::10]:
            found.at(number)

    built, _wall = timed(rebuild)
    return built, walked


def transitions(steps: int, _: str) -> tuple[float, float]:
    class Model:
        pass

    model: Any = Model()
    machine = import_module("transitions").Machine
    machine(model, states=["a", "b"], transitions=TRANSITIONS, initial="a", auto_transitions=False)
    return repeated(model.go, steps)


def statemachine(steps: int, _: str) -> tuple[float, float]:
    create = import_module("statemachine.io").create_machine_class_from_definition
    states = {
        "a": {"initial": True, "on": {"go": [{"target": "b"}]}},
        "b": {"on": {"go": [{"target": "a"}]}},
    }
    machine = create("Loop", states)()
    return repeated(lambda: machine.send("go"), steps)


def statemachine_sqlite(steps: int, file: str) -> tuple[float, float]:
    """It keeps nothing by itself. So the plainest that keeps each step: one row, one commit, in the
    same mode of SQLite as ours; the count is its data."""
    import json
    import sqlite3

    create = import_module("statemachine.io").create_machine_class_from_definition
    states = {
        "a": {"initial": True, "on": {"go": [{"target": "b"}]}},
        "b": {"on": {"go": [{"target": "a"}]}},
    }
    machine = create("Loop", states)()
    kept = sqlite3.connect(file)
    kept.execute("PRAGMA journal_mode=WAL")
    kept.execute("PRAGMA synchronous=NORMAL")
    kept.execute("CREATE TABLE steps (run TEXT, number INTEGER, state TEXT, data TEXT)")
    data = {"x": 0}

    def step() -> None:
        machine.send("go")
        data["x"] += 1
        state = next(iter(machine.configuration)).id
        row = ("r", data["x"], state, json.dumps(data))
        with kept:
            kept.execute("INSERT INTO steps VALUES (?, ?, ?, ?)", row)

    return repeated(step, steps)


def burr_loop(builder: Any) -> Any:
    core = import_module("burr.core")

    def counting(state: Any) -> Any:
        return state.update(x=state["x"] + 1)

    one = core.action(reads=["x"], writes=["x"])(counting)
    return (
        builder.with_actions(a=one, b=one)
        .with_transitions(("a", "b"), ("b", "a"))
        .with_state(x=0)
        .with_entrypoint("a")
    )


def burr(steps: int, _: str) -> tuple[float, float]:
    builder = import_module("burr.core").ApplicationBuilder()
    return repeated(burr_loop(builder).build().step, steps)


def burr_sqlite(steps: int, file: str) -> tuple[float, float]:
    persister = import_module("burr.core.persistence").SQLitePersister(db_path=file)
    persister.initialize()
    builder = import_module("burr.core").ApplicationBuilder()
    app = burr_loop(builder).with_identifiers(app_id="r", partition_key="p")
    found = repeated(app.with_state_persister(persister).build().step, steps)
    persister.connection.close()
    return found


def langgraph_loop(steps: int, saver: Any) -> tuple[Any, dict[str, Any]]:
    """The graph, and the config that it is invoked with."""
    module = import_module("langgraph.graph")
    graph = module.StateGraph(Data)
    graph.add_node("a", count)
    graph.add_node("b", count)
    graph.add_edge(module.START, "a")
    graph.add_edge("a", "b")
    ways = {"a": "a", module.END: module.END}
    graph.add_conditional_edges("b", lambda s: module.END if s["x"] >= steps else "a", ways)
    app = graph.compile(checkpointer=saver) if saver else graph.compile()
    config = {"recursion_limit": 10 * steps, "configurable": {"thread_id": "1"}}
    return app, config


def _langgraph(steps: int, saver: Any) -> tuple[float, float]:
    app, config = langgraph_loop(steps, saver)
    return timed(lambda: app.invoke({"x": 0}, config))


def langgraph(steps: int, _: str) -> tuple[float, float]:
    return _langgraph(steps, None)


def langgraph_memory(steps: int, _: str) -> tuple[float, float]:
    return _langgraph(steps, import_module("langgraph.checkpoint.memory").InMemorySaver())


def langgraph_sqlite(steps: int, file: str) -> tuple[float, float]:
    module = import_module("langgraph.checkpoint.sqlite")
    with module.SqliteSaver.from_conn_string(file) as saver:
        return _langgraph(steps, saver)


def langgraph_branches(steps: int, file: str) -> tuple[float, float]:
    import operator
    import sqlite3
    from typing import Annotated

    module = import_module("langgraph.graph")

    class Log(TypedDict):
        log: Annotated[list[str], operator.add]

    builder = module.StateGraph(Log)
    names = [f"b{number}" for number in range(steps)]
    for name in ("s", *names, "j"):
        builder.add_node(name, noting(name))
    for name in names:
        builder.add_edge("s", name)
    builder.add_edge(names, "j")
    builder.add_edge(module.START, "s")
    builder.add_edge("j", module.END)
    saver = None
    if file:
        kept = import_module("langgraph.checkpoint.sqlite")
        saver = kept.SqliteSaver(sqlite3.connect(file, check_same_thread=False))
    graph = builder.compile(checkpointer=saver)
    config = {"recursion_limit": 50, "configurable": {"thread_id": "r"}}
    return timed(lambda: graph.invoke({"log": []}, config))


def pydantic_graph(steps: int, _: str) -> tuple[float, float]:
    module = import_module("pydantic_graph")
    builder = module.GraphBuilder(input_type=int, output_type=int)

    async def counting(context: Any) -> int:
        return int(context.inputs) + 1

    hint = module.StepContext[None, None, int]
    counting.__annotations__ = {"context": hint, "return": int}
    first = builder.step(node_id="a")(counting)
    second = builder.step(node_id="b")(counting)
    decision = (
        builder.decision()
        .branch(builder.match(int, matches=lambda v: v >= steps).to(builder.end_node))
        .branch(builder.match(int).to(first))
    )
    builder.add(
        builder.edge_from(builder.start_node).to(first),
        builder.edge_from(first).to(second),
        builder.edge_from(second).to(decision),
    )
    graph = builder.build()
    import asyncio  # not at the top: what a library does not need is not its memory

    return timed(lambda: asyncio.run(graph.run(inputs=0)))


if __name__ == "__main__":
    name, steps = sys.argv[1], int(sys.argv[2])
    cpu, wall = globals()[name](steps, sys.argv[3] if len(sys.argv) > 3 else "")
    print(f"{cpu} {wall}")
