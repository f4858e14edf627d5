"""What the options of `chat` do where they are given wrongly, or together."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from openai_server import Server, cut, echo, text, value
from run_cli import command
from test_served_runs import TALK, chat, run_sessions, written

FILE = "turns:\n  - {say: hi, replies: [reply: Hello, choice: hear]}\n"


@pytest.mark.parametrize("option", ["--model", "--base-url"])
@pytest.mark.parametrize("name", ["", "  "])
def test_an_empty_name_is_no_name(option: str, name: str, tmp_path: Path) -> None:
    """Nothing else takes its place: an unset variable of a script must not play by rules."""
    path = written(tmp_path, TALK)
    result = chat(tmp_path, path, option, name, stdin="hi\n")
    assert (result.code, result.out) == (2, "")
    assert (
        result.err == f"statecli: {option}: nothing is named\n  leave {option} out, or name one\n"
    )
    file = written(tmp_path, FILE, "c.yaml")
    done = command("test", option, name, file)
    assert done.returncode == 2
    assert f"{option}: nothing is named".encode() in done.stderr


@pytest.mark.parametrize("where", ["no/r.yaml", ".", "locked/r.yaml"])
def test_a_record_that_cannot_be_written_begins_no_session(where: str, tmp_path: Path) -> None:
    path = written(tmp_path, TALK)
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    if where.startswith("locked") and os.geteuid() == 0:
        pytest.skip("root may write anywhere")
    result = chat(tmp_path, path, "--record", str(tmp_path / where), stdin="hi\n")
    assert result.code == 2
    assert not (tmp_path / "data" / "sessions.db").exists()
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


@pytest.mark.parametrize("word", ["script", "replay"])
def test_lines_beside_a_file_are_told(word: str, tmp_path: Path) -> None:
    path, file = written(tmp_path, TALK), written(tmp_path, FILE, "c.yaml")
    env = {"STATECLI_DATA": str(tmp_path / "data")}
    given = ("chat", path, "--model", f"{word}:{file}", "--store", "memory")
    told = f"{word} {file}: its lines come from there, not from standard input".encode()
    assert told in command(*given, env=env, stdin=b"one\ntwo\n").stderr
    assert told not in command(*given, env=env, stdin=b"").stderr


def test_the_way_to_go_on_after_a_file_names_a_model(tmp_path: Path) -> None:
    path, file = written(tmp_path, TALK), written(tmp_path, FILE, "c.yaml")
    result = chat(tmp_path, path, "--model", f"replay:{file}", "--task-id", "t")
    assert result.err.splitlines()[-1].endswith("--resume t --model NAME")


def test_what_was_cut_off_is_marked_when_it_is_shown_again(tmp_path: Path) -> None:
    path = written(tmp_path, TALK)
    answers = [text("Good day."), value({"next_state": "hear"}), cut("Well, ")]
    with Server(*answers, brain=echo) as server:
        where = ("--model", "m", "--base-url", server.url)
        assert chat(tmp_path, path, *where, "--task-id", "t", stdin="a\nb\n").code == 1
        again = chat(tmp_path, path, *where, "--resume", "t", stdin="")
        assert "Good day.\n> b\nWell,  [cut off]\n" in again.out
    shown = json.loads(run_sessions(tmp_path, "show", "t", "--json").out)
    assert shown
