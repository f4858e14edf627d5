"""`statecli sessions`: every action has a transcript (tests/cli/sessions.txt); odd names."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from run_cli import run
from transcripts import transcripts

from statecli.cli.sessions import ACTIONS

GRAPH = (
    "initial: hear\nstates:\n  hear: {type: user, transition: {next: [bye]}}\n"
    "  bye: {type: terminal}\n"
)


@pytest.fixture(autouse=True)
def _at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STATECLI_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "g.yaml").write_text(GRAPH)


def test_every_action_has_a_transcript() -> None:
    words = {word for transcript in transcripts() for word in transcript.words()}
    assert [action for action in ACTIONS if action not in words] == []


def test_what_is_listed_cannot_do_anything_to_a_terminal(tmp_path: Path) -> None:
    odd = tmp_path / "a\x1b[2J.yaml"
    odd.write_text(GRAPH.replace("hear", '"he\\e[31mar"').replace("[bye]", "[bye]"))
    run("chat", odd, "--task-id", "t", "--force")
    for words in (("list",), ("show", "t"), ("list", "--json"), ("show", "t", "--json")):
        done = run("sessions", *words)
        assert done.code == 0
        assert "\x1b" not in done.out
    listed = json.loads(run("sessions", "list", "--json").out)
    assert listed[0]["path"] == str(odd)
    assert listed[0]["state"] == "he\x1b[31mar"


@pytest.mark.parametrize("word", ["", "%", "*", "../data", "t@1", "\x1b[2J", "x" * 5000])
def test_ids_that_are_none(word: str) -> None:
    run("chat", "g.yaml", "--task-id", "t")
    for action in ("show", "resume", "export", "rm"):
        done = run("sessions", action, word)
        assert done.code == 2
        assert "\x1b" not in done.err


def test_a_session_whose_graph_is_gone(tmp_path: Path) -> None:
    run("chat", "g.yaml", "--task-id", "t")
    (tmp_path / "g.yaml").unlink()
    done = run("sessions", "resume", "t")
    assert (done.code, "no such file" in done.err) == (2, True)
    assert run("sessions", "show", "t").code == 0
    assert run("sessions", "fork", "t").code == 0


def test_a_store_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "s.db").write_text("this is no database, only text that is long enough" * 50)
    done = run("sessions", "list", "--store", "s.db")
    assert done.code == 2
    assert "no database" in done.err or "damaged" in done.err
