"""Filters and merge strategies that a file names as Python functions (model.md 7)."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from run_cli import REPOSITORY, validate

from statecli import Run, load
from statecli.cli.app import main
from statecli.kinds.code import load_code
from statecli.model import event as model_events
from statecli.model.code import STRATEGY
from statecli.model.event import Filtered, Joined
from statecli.model.graph import Graph
from statecli.model.keys import OBJECTS
from statecli.model.unable import Unable
from statecli.session.run import RunError

GRAPH = """initial: s
states:
  s: {type: decision, transition: {fanout: all, next: [x, y]}}
  x: {type: decision, transition: {next: [{to: j, state_filter: {python: "NAME:narrow"}}]}}
  y: {type: decision, transition: {next: [j]}}
  j:
    type: decision
    join: all
    multi_input_merge_strategy: {python: "NAME:merged"}
    transition: {next: [end]}
  end: {type: terminal}
"""
CODE = """
from pathlib import Path

LOG = Path(__file__).with_suffix(".log")

def note(word):
    with LOG.open("a") as file:
        file.write(word)

note("imported ")

def narrow(data):
    note("narrow ")
    return {"n": int(data["n"]) + 1}

def merged(branches):
    note("merged ")
    return {"sum": sum(int(branch["n"]) for branch in branches)}

async def slow(data):
    return data
"""


def folder(tmp_path: Path, name: str, graph: str = GRAPH, code: str = CODE) -> Path:
    (tmp_path / f"{name}.py").write_text(code)
    (tmp_path / "g.yaml").write_text(graph.replace("NAME", name))
    return tmp_path / "g.yaml"


def graph_of(path: Path) -> Graph:
    graph = load(str(path)).graph
    assert graph is not None
    return graph


def test_they_run_once_and_are_never_called_again(tmp_path: Path) -> None:
    path = folder(tmp_path, "code_that_runs")
    graph = graph_of(path)
    load_code(graph, str(tmp_path))
    run = Run(graph, data={"n": 1, "secret": 2})
    run.run()
    assert dict(run.data) == {"sum": 3}
    told = (tmp_path / "code_that_runs.log").read_text()
    assert told == "imported narrow merged "
    kinds = [type(event.body) for event in run.events]
    assert Filtered in kinds
    assert Joined in kinds

    again = Run.load(run.dump(), graph_of(path))  # nothing is loaded there
    assert dict(again.data) == {"sum": 3}
    assert again.status == "ended"
    points = [event.number for event in run.events if isinstance(event.body, Filtered | Joined)]
    for number in points:
        fork = run.fork(number)
        assert fork.state
        again.history()
    assert (tmp_path / "code_that_runs.log").read_text() == told


def test_without_permission_nothing_is_imported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = folder(tmp_path, "code_of_a_stranger")
    assert main(["validate", str(path)]) == 0
    assert main(["explain", str(path)]) == 0
    assert main(["render", str(path), "--to", "mermaid"]) == 0
    capsys.readouterr()
    assert main(["chat", str(path), "--store", "memory"]) == 2
    told = capsys.readouterr().err
    assert "'state_filter' of the way from 'x' to 'j' is Python code" in told
    assert "--allow-plugins runs the code of code_of_a_stranger:narrow" in told
    with pytest.raises(RunError, match="not loaded"):
        Run(graph_of(path), data={"n": 1}).run()
    assert "code_of_a_stranger" not in sys.modules
    assert not (tmp_path / "code_of_a_stranger.log").exists()


def test_chat_loads_them_with_permission(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = folder(tmp_path, "code_allowed")
    words = ["--allow-plugins", "--store", str(tmp_path / "s.db"), "--input", "n=4"]
    assert main(["chat", str(path), *words]) == 0, capsys.readouterr().err
    assert "narrow merged" in (tmp_path / "code_allowed.log").read_text()


@pytest.mark.parametrize(
    ("function", "why"),
    [
        ("NAME:nothing", "there is no such function"),
        ("NAME:slow", "may not be async"),
        ("not_a_module_at_all:f", "does not load: ModuleNotFoundError"),
    ],
)
def test_what_does_not_load_is_told(tmp_path: Path, function: str, why: str) -> None:
    name = f"code_bad_{abs(hash(why))}"
    path = folder(tmp_path, name, GRAPH.replace("NAME:narrow", function))
    with pytest.raises(Unable, match=why):
        load_code(graph_of(path), str(tmp_path))


def test_validate_says_what_is_no_function_and_takes_nothing_for_known(tmp_path: Path) -> None:
    bad = GRAPH.replace("NAME:narrow", "no colon").replace('{python: "NAME:merged"}', "{pyhton: f}")
    path = tmp_path / "g.yaml"
    path.write_text(bad)
    found = validate(str(path))
    assert {"wrong-value-type", "unknown-key"} <= set(found.rules())
    path.write_text(GRAPH)
    assert set(validate(str(path), "-v").rules()) <= {"decision-single-target"}


def test_the_page_about_branches_is_true(tmp_path: Path) -> None:
    """Its graph has nothing wrong, and it names every key and event there is."""
    text = (REPOSITORY / "docs" / "branches.md").read_text("utf-8")
    [block] = re.findall(r"^```yaml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    path = tmp_path / "g.yaml"
    path.write_text(block)
    assert {item["severity"] for item in validate(str(path)).diagnostics} <= {"info"}
    keys = {"join", "merge", STRATEGY, "fanout", "on_failure", "group", "state_filter"}
    assert (
        set(re.findall(r"^\| `(\w+)` \| (?:state|`transition`|item)", text, re.MULTILINE)) == keys
    )
    known = {*OBJECTS["user state"], *OBJECTS["transition"], *OBJECTS["next"]}
    assert keys <= known
    for event in ("split", "joined", "filtered", "interrupted"):
        assert f"| `{event}` |" in text
        assert event in {name.lower() for name in vars(model_events)}


def test_a_misspelt_key_about_branches_is_told(tmp_path: Path) -> None:
    text = GRAPH.replace("{fanout: all,", "{fanout: all, on_failur: cancel,")
    path = tmp_path / "g.yaml"
    path.write_text(text)
    [found] = validate(str(path)).of("unknown-key")
    assert "on_failure" in found["hint"]
