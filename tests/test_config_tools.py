"""Tools that stand in a config: the person's own word, or a stranger's as much as the graph is."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from run_cli import command, validate
from tmux import TMUX, Terminal
from toolservers import gone, good, left

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")
GRAPH = """
initial: hear
states:
  hear: {type: user, transition: {next: [use]}}
  use: {type: tool, tool: s.add, arguments: {a: 1, b: 2}, transition: {next: [hear]}}
"""


@pytest.fixture
def mark() -> Iterator[str]:
    found = uuid.uuid4().hex
    yield found
    assert gone(found) == []


def toml(tools: dict[str, Any]) -> str:
    """Entries as a config has them."""
    rows = []
    for name, entry in tools.items():
        rows.append(f"[tools.{name}]")
        rows += [
            f"{key} = " + ("{" + ", ".join(f"{k} = {json.dumps(v)}" for k, v in item.items()) + "}"
                           if isinstance(item, dict) else json.dumps(item))
            for key, item in entry.items()
        ]  # fmt: skip
    return "\n".join(rows) + "\n"


def folders(tmp_path: Path, graph: str = GRAPH) -> tuple[Path, Path, dict[str, str]]:
    """The folder of a stranger's graph, that of the person's own settings, and the environment."""
    repo, own = tmp_path / "repo", tmp_path / "own"
    (repo / "graphs").mkdir(parents=True)
    own.mkdir()
    (repo / "graphs" / "g.yaml").write_text(graph)
    return repo, own, {**os.environ, "STATECLI_DATA": str(own), "STATECLI_MODEL": ""}


def test_a_config_of_the_repository_is_trusted_like_the_graph(mark: str, tmp_path: Path) -> None:
    repo, _, env = folders(tmp_path)
    (repo / "statecli.toml").write_text(toml({"s": good(mark)}))
    path = repo / "graphs" / "g.yaml"
    assert validate(path).code == 0
    ran = command("chat", path, "--model", "human", stdin=b"hi\n3\n", env=env)
    assert ran.returncode == 0, ran.stderr
    assert left(mark) == []
    assert b"You play s.add(a=1, b=2), which is not connected" in ran.stdout
    given = ("--allow-tools", "s", "--task-id", "t")
    done = command("chat", path, *given, stdin=b"hi\n", env=env)
    assert b"calls s.add(a=1, b=2)\ngot: {'result': 3}\n" in done.stderr, done.stderr


@pytest.mark.skipif(TMUX is None, reason="needs tmux")
def test_the_person_s_own_config_starts_without_a_question(mark: str, tmp_path: Path) -> None:
    """The start needs no yes; each call is asked about all the same."""
    repo, own, _ = folders(tmp_path)
    (own / "config.toml").write_text(toml({"s": good(mark)}))
    path = str(repo / "graphs" / "g.yaml")
    with Terminal(own, "chat", path, columns=160) as terminal:
        terminal.type("hi")
        terminal.wait("Call s.add(a=1, b=2)? (yes, no, always or never in this session)")
        terminal.type("yes")
        terminal.wait("got: {'result': 3}")
        assert not any("wants to start" in line for line in terminal.screen())
        terminal.press("C-d")
        assert terminal.code() == 0
    (repo / "statecli.toml").write_text(toml({"s": good(mark)}))
    with Terminal(own, "chat", path, columns=160) as terminal:
        terminal.type("hi")
        terminal.wait("The graph wants to start this program for its tool 's':")
        terminal.wait_for_prompt()
        terminal.press("C-c")
        terminal.wait("use>")
        terminal.press("C-d")
        assert terminal.code() == 0


def test_the_first_that_declares_a_tool_wins(mark: str, tmp_path: Path) -> None:
    """The graph, then the config beside it, then the person's own; each cwd is from its file."""
    mine = {"s": {**good(mark), "cwd": "."}}
    graph = GRAPH.replace("tool: s.add, arguments: {a: 1, b: 2}", "tool: s.here, arguments: {}")
    repo, own, env = folders(tmp_path, graph)
    path = repo / "graphs" / "g.yaml"
    for place, file in ((own, own / "config.toml"), (repo, repo / "statecli.toml"),
                        (repo / "graphs", path)):  # fmt: skip
        more = f"tools: {json.dumps(mine)}\n" if file == path else ""
        file.write_text(f"{more}{graph.lstrip()}" if file == path else toml(mine))
        done = command("chat", path, "--allow-tools", "s", stdin=b"hi\n", env=env)
        told = f"got: {os.path.realpath(place)}"
        assert told.encode() in done.stderr, done.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('tools = {s = "x"}', "statecli.toml:1: 's' must be a table, here it is the text 'x'"),
        ("[tools.s]\ncomand = []", "statecli.toml:2: a tool has no 'comand'\n  did you mean"),
        ("tools = 3", "statecli.toml:1: 'tools' must be a list of texts, here it is"),
    ],
)
def test_what_is_wrong_with_them(text: str, said: str, tmp_path: Path) -> None:
    repo, _, env = folders(tmp_path)
    (repo / "statecli.toml").write_text(text)
    done = command("chat", repo / "graphs" / "g.yaml", stdin=b"", env=env)
    assert done.returncode == 2
    assert said in done.stderr.decode()


def test_a_name_alone_is_known_and_played(tmp_path: Path) -> None:
    repo, own, env = folders(tmp_path)
    (own / "config.toml").write_text('tools = ["s"]\n')
    done = command("chat", repo / "graphs" / "g.yaml", stdin=b"hi\n3\n", env=env)
    assert done.returncode == 0, done.stderr
    assert b"You play s.add(a=1, b=2)" in done.stdout
