"""The Python library as a stranger meets it: documented, typed, and whole in the wheel."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
import tempfile
import venv
import zipfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
#: The modules that a program imports from, each with an `__all__`.
PUBLIC = ("statecli", "statecli.aio", "statecli.agentex", "statecli.arkos", "statecli.burr",
          "statecli.evofabric")  # fmt: skip


def documented(module: str) -> Iterator[tuple[str, Any]]:
    """Every public name of a module, and the public methods of its classes that are ours."""
    found = import_module(module)
    for name in found.__all__:
        value = getattr(found, name)
        if not callable(value) or not str(getattr(value, "__module__", "")).startswith("statecli"):
            continue
        yield f"{module}.{name}", value
        if inspect.isclass(value):
            for part, member in inspect.getmembers(value):
                home = getattr(member, "__module__", None) or getattr(
                    getattr(member, "fget", None), "__module__", "")  # fmt: skip
                if not part.startswith("_") and str(home).startswith("statecli"):
                    yield f"{module}.{name}.{part}", member


@pytest.mark.parametrize("module", PUBLIC)
def test_every_public_name_has_a_docstring(module: str) -> None:
    assert (import_module(module).__doc__ or "").strip()
    missing = [
        name for name, value in documented(module) if not (inspect.getdoc(value) or "").strip()
    ]
    assert missing == []


PROGRAM = """
import asyncio
from collections.abc import Mapping
from typing import Any

from statecli import GraphBuilder, Run, aio, default, expr, lint, load, register_reducer, when
from statecli.agentex import NoOpWorkflow, State, StateMachine, StateWorkflow
from statecli.arkos import AIMessage, StateHandler, register_state
from statecli.burr import ApplicationBuilder
from statecli.burr import State as BurrState
from statecli.burr import action
from statecli.evofabric import MISSING, StateUpdater, generate_state_schema
from statecli.store.memory import MemoryStore


@register_reducer("longest")
def longest(old: Any, new: Any) -> Any:
    return new if old is MISSING or len(new) > len(old) else old


def count(data: Mapping[str, Any]) -> dict[str, Any]:
    return {"n": data["n"] + 1}


def report(data: Mapping[str, Any]) -> dict[str, Any]:
    return {"said": str(data["n"])}


graph = (
    GraphBuilder()
    .with_states(count, report)
    .with_transitions(("count", "report", when(n__gte=3) | expr("n > 5")),
                      ("count", "count", default))
    .build()
)
run = Run(graph, data={"n": 0}, store=MemoryStore())
state, result, data = run.run(halt_after=["report"])
assert state == "report" and result["said"] == "3" and data["n"] == 3
for step in Run(graph, data={"n": 2}).iterate():
    name: str = step.state
loaded = load("g.yaml", "initial: a\\nstates: {a: {type: terminal}}")
messages: list[str] = [found.message for found in lint(loaded)]


class Start(StateWorkflow):
    async def execute(self, state_machine: Any, state_machine_data: Any = None) -> str:
        return "end"


class Machine(StateMachine[dict[str, Any]]):
    async def terminal_condition(self) -> bool:
        return self.get_current_state() == "end"


async def main() -> None:
    states = [State(name="start", workflow=Start()), State(name="end", workflow=NoOpWorkflow())]
    machine = Machine("start", states, state_machine_data={})
    await machine.run()
    found = await aio.Run(graph, data={"n": 0}).run(halt_after=["report"])
    assert found.state == "report" and machine.get_current_state() == "end"


@action(reads=["n"], writes=["n"])
def add(state: BurrState) -> BurrState:
    return state.update(n=state["n"] + 1)


app = (
    ApplicationBuilder()
    .with_actions(add)
    .with_transitions(("add", "add"))
    .with_state(n=0)
    .with_entrypoint("add")
    .build()
)
app.run(halt_after=["add"])
assert app.state["n"] == 1
schema = generate_state_schema([("n", int, "increment")])
assert StateUpdater.registered("longest")
asyncio.run(main())
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment that has the wheel of this source, and nothing else of it."""
    pytest.importorskip("hatchling", reason="hatchling makes the wheel")
    folder = tmp_path_factory.mktemp("installed")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    venv.create(folder / "venv", with_pip=False, system_site_packages=False)
    python = folder / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    (packages,) = (folder / "venv").glob("**/site-packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
    others = Path(pytest.__file__).parents[1]  # what it depends on, behind it
    (packages / "others.pth").write_text(f"{others}\n", encoding="utf-8")
    return python


def test_the_wheel_says_that_it_is_typed(installed: Path) -> None:
    packages = next(installed.parents[1].glob("**/site-packages"))
    assert (packages / "statecli" / "py.typed").is_file()
    there = {path.relative_to(packages).as_posix() for path in packages.glob("statecli/**/*.py")}
    here = {path.relative_to(ROOT).as_posix() for path in (ROOT / "statecli").glob("**/*.py")}
    assert there == here


def clean() -> dict[str, str]:
    """The environment without this source."""
    return {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "MYPYPATH")}


def test_a_strict_program_type_checks_against_the_installed_package(
    installed: Path, tmp_path: Path
) -> None:
    """What a user writes passes `mypy --strict`, and it runs."""
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    words = ["--strict", "--python-executable", str(installed), "--config-file", os.devnull]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *words, "program.py"],
        cwd=tmp_path, env=clean(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout.startswith("Success"), done.stdout + done.stderr
    done = subprocess.run(
        [str(installed), "program.py"],
        cwd=tmp_path, env=clean(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_a_mistake_in_a_strict_program_is_seen(installed: Path, tmp_path: Path) -> None:
    """The types are there, and not `Any`."""
    text = "from statecli import Run, load\nload(5)\nRun(graph=1)\nRun.no_such_thing\n"
    (tmp_path / "wrong.py").write_text(text, encoding="utf-8")
    words = ["--strict", "--python-executable", str(installed), "--config-file", os.devnull]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *words, "wrong.py"],
        cwd=tmp_path, env=clean(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert [line.split(":")[1] for line in done.stdout.splitlines()[:-1]] == ["2", "3", "4"]


def test_a_synchronous_run_loads_no_event_loop() -> None:
    """Half of what importing `Run` would cost, and a quarter of the memory of a small program."""
    code = (
        "import sys; from pathlib import Path; from statecli import GraphBuilder, Run; "
        "from statecli.store.sqlite import SqliteStore; "
        "graph = GraphBuilder().with_states(a=lambda data: {'n': 1}).build(); "
        "run = Run(graph, store=SqliteStore(Path(sys.argv[1]))); run.run(); "
        "assert list(run.stream_result()) == []; "
        "print(run.data['n'], 'asyncio' in sys.modules)"
    )
    with tempfile.TemporaryDirectory() as folder:
        words = [sys.executable, "-c", code, f"{folder}/s.db"]
        done = subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["1", "False"]
