"""Which files a command line means: conversations in folders, those of a graph, and where the
graph of each is."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from run_cli import run

GRAPH = """
initial: ask
states:
  ask: {type: user, transition: {next: [bye]}}
  bye: {type: terminal}
"""
TALK = "graph: GRAPH\nturns:\n  - {say: hi, expect: {ended: true}}\n"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "graphs" / "tests").mkdir(parents=True)
    (tmp_path / "graphs" / "desk.yaml").write_text(GRAPH)
    (tmp_path / "graphs" / "other.yaml").write_text(GRAPH)
    return tmp_path


@pytest.mark.parametrize(
    ("file", "graph"),
    [
        ("graphs/desk.a.yaml", "desk.yaml"),
        ("graphs/tests/a.yaml", "../desk.yaml"),
        ("graphs/tests/a.yaml", "desk.yaml"),
        ("graphs/tests/a.yml", "graphs/desk.yaml"),
        ("a.yaml", "graphs/desk.yaml"),
        ("a.yaml", "./graphs/desk.yaml"),
        ("a.yaml", "desk.yaml"),  # as /save writes it, in the folder above `graphs`
    ],
)
def test_the_graph_is_found(file: str, graph: str, place: Path) -> None:
    (place / file).write_text(TALK.replace("GRAPH", graph))
    done = run("test", file)
    assert (done.code, done.out.splitlines()[0]) == (0, f"passed  {file}")
    assert run("test", place / file).code == 0
    assert run("test", "graphs/desk.yaml").code == (0 if file.startswith("graphs") else 2)


def test_a_graph_stands_for_its_conversations(place: Path) -> None:
    for number, graph in enumerate(["desk", "desk", "other"]):
        text = TALK.replace("GRAPH", f"../{graph}.yaml")
        (place / "graphs" / "tests" / f"{number}.yaml").write_text(text)
    shown = run("test", "graphs/desk.yaml").out.splitlines()
    assert shown[:2] == ["passed  graphs/tests/0.yaml", "passed  graphs/tests/1.yaml"]
    assert len(run("test").out.splitlines()) == 4
    assert (
        len(run("test", "graphs", "graphs/tests/0.yaml", "graphs/desk.yaml").out.splitlines()) == 4
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("turns: []", "x.yaml:1:1: it names no graph; write 'graph: FILE' or give --graph"),
        ("graph: desc.yaml\nturns: []", ("x.yaml:1:8: there is no graph 'desc.yaml'; did you mean "
         "'desk.yaml'?")),
        ("graph: zzz\nturns: []", "x.yaml:1:8: there is no graph 'zzz' beside it or one folder up"),
        ("graph: x.yaml\nturns: []", ("graphs/x.yaml: this is no graph that could be run; statecli "
         "validate graphs/x.yaml says what is wrong")),
        ("graph: desk.yaml\nturn:\n  - say: hi", ("x.yaml:2:1: a conversation has no 'turn'; did "
         "you mean 'turns'?")),
        ("graph: desk.yaml\nturns:\n  - say: hi\n   replies: []", "x.yaml:4:4: "),
    ],
)  # fmt: skip
def test_what_is_wrong_with_one_file_does_not_stop_the_others(
    text: str, message: str, place: Path
) -> None:
    (place / "graphs" / "x.yaml").write_text(text)
    (place / "graphs" / "y.yaml").write_text(TALK.replace("GRAPH", "desk.yaml"))
    done = run("test", "graphs")
    lines = done.out.splitlines()
    assert lines[0].startswith("ERROR   graphs/x.yaml")
    assert message in lines[1]
    assert "passed  graphs/y.yaml" in lines
    assert done.code == 2
    assert not done.err


def test_a_graph_that_has_errors_is_still_tested(place: Path) -> None:
    (place / "graphs" / "desk.yaml").write_text(GRAPH.replace("[bye]", "[bye, nowhere]"))
    (place / "graphs" / "a.yaml").write_text(TALK.replace("GRAPH", "desk.yaml"))
    assert run("test", "graphs/a.yaml").code == 0


def test_files_that_are_neither_are_left_alone(place: Path) -> None:
    (place / "graphs" / "compose.yaml").write_text("services: {web: {image: x}}\n")
    (place / "graphs" / "a.yaml").write_text(TALK.replace("GRAPH", "desk.yaml"))
    done = run("test", "--coverage", "graphs")
    assert done.code == 0
    assert "compose" not in done.out + done.err
    assert "graphs/other.yaml" in done.out  # a graph without any conversation
    assert run("validate", "graphs").code == 0


def test_a_named_file_that_is_neither(place: Path) -> None:
    (place / "compose.yaml").write_text("services: {web: {image: x}}\n")
    done = run("test", "compose.yaml")
    assert done.code == 2
    assert "  compose.yaml: this is neither a conversation nor a graph" in done.out.splitlines()


def test_ignored_and_excluded_files_are_left_out(place: Path) -> None:
    (place / ".git").mkdir()
    (place / ".gitignore").write_text("old/\n")
    (place / "graphs" / "old").mkdir()
    for name in ("graphs/a.yaml", "graphs/old/b.yaml", "graphs/draft.yaml"):
        (place / name).write_text(TALK.replace("GRAPH", "graphs/desk.yaml"))
    (place / "statecli.toml").write_text('exclude = ["draft*"]\n')
    assert run("test", "graphs").out.splitlines()[0] == "passed  graphs/a.yaml"
    assert "1 conversation" in run("test", "graphs").out


def test_nothing_is_half_written(place: Path) -> None:
    file = place / "graphs" / "a.yaml"
    file.write_text(TALK.replace("GRAPH", "desk.yaml").replace("true", "false"))
    before = file.read_text()
    shutil.copy(file, place / "graphs" / "b.yaml")
    file.chmod(0o640)
    assert run("test", "--update", "graphs/a.yaml").code == 0
    assert file.stat().st_mode & 0o777 == 0o640
    assert file.read_text() == before.replace("false", "true")
    assert run("test", "--junit", place / "none" / "x.xml", "graphs").code == 2
    assert run("test", "--coverage-file", place / "none" / "x.json", "graphs").code == 2
