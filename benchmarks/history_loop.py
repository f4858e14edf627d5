"""A run of the loop is kept in a file; another process reads from it what the data was after each
of its steps.

    PYTHON benchmarks/history_loop.py keep LIBRARY STEPS FILE
    PYTHON benchmarks/history_loop.py read LIBRARY STEPS FILE

`read` prints CPU and wall seconds, from the open file to the last value, without imports and
building. `python-statemachine` has no history.
"""

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from step_loop import burr_loop, langgraph_loop, loop, timed

#: What is imported before the clock starts.
MODULES = {
    "statecli": ("statecli.session.history", "statecli.session.run", "statecli.store.sqlite"),
    "burr": ("burr.core", "burr.core.persistence"),
    "langgraph": ("langgraph.graph", "langgraph.checkpoint.sqlite"),
}


def statecli_keep(steps: int, file: str) -> None:
    from statecli.store.sqlite import SqliteStore

    run = loop(store=SqliteStore(Path(file)), task_id="r")
    for _ in range(steps):
        run.step()


def statecli_read(steps: int, file: str) -> list[int]:
    """Every point of the tree: the root, and one of each step."""
    from statecli.session.history import History
    from statecli.store.sqlite import SqliteStore

    store = SqliteStore(Path(file))
    found = History(loop().graph, store.events("r"))
    assert len(found) == steps + 1
    values = [int(found.at(number)["x"]) for number in found]
    store.close()
    return values[1:]


def burr_keep(steps: int, file: str) -> None:
    persister = import_module("burr.core.persistence").SQLitePersister(db_path=file)
    persister.initialize()
    builder = import_module("burr.core").ApplicationBuilder()
    app = burr_loop(builder).with_identifiers(app_id="r", partition_key="p")
    built = app.with_state_persister(persister).build()
    for _ in range(steps):
        built.step()


def burr_read(steps: int, file: str) -> list[int]:
    """It loads the state of one sequence id at a time."""
    persister = import_module("burr.core.persistence").SQLitePersister(db_path=file)
    found = []
    for number in range(steps):
        kept = persister.load("p", "r", number)
        found.append(int(kept["state"]["x"]))
    return found


def langgraph_keep(steps: int, file: str) -> None:
    with import_module("langgraph.checkpoint.sqlite").SqliteSaver.from_conn_string(file) as saver:
        app, config = langgraph_loop(steps, saver)
        app.invoke({"x": 0}, config)


def langgraph_read(steps: int, file: str) -> list[int]:
    """`get_state_history`, the newest first; two of its points are not those of a step."""
    with import_module("langgraph.checkpoint.sqlite").SqliteSaver.from_conn_string(file) as saver:
        app, config = langgraph_loop(steps, saver)
        found = [int(point.values["x"]) for point in app.get_state_history(config) if point.values]
    return found[::-1][1:]


def main(what: str, library: str, steps: int, file: str) -> None:
    function: Callable[[int, str], Any] = globals()[f"{library}_{what}"]
    for name in MODULES[library]:
        import_module(name)
    found: list[int] = []

    def work() -> None:
        found.extend(function(steps, file) or ())

    cpu, wall = timed(work)
    if what == "read":
        assert found == list(range(1, steps + 1)), found[:3] + found[-3:]
        print(f"{cpu} {wall}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4])
