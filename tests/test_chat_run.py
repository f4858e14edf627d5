"""How a chat begins, goes wrong and ends, off a terminal: exit codes, signals, odd input."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from run_cli import REPOSITORY, command, run

LOOP = """
initial: hear
fields: {messages: {type: list, reducer: append_messages}, size: {type: int}}
states:
  hear: {type: user, writes: [size], transition: {next: [pick]}}
  pick:
    type: decision
    transition:
      next:
        - {to: stuck, when: {size: 1}}
        - {to: turn, when: {size: 2}}
        - {to: fail, when: {size: 3}}
        - {to: hear, description: Again}
        - {to: bye, description: Done}
  stuck: {type: decision, transition: {next: [{to: bye, when: {size: 9}}]}}
  turn: {type: decision, transition: {next: [turn]}}
  fail: {type: tool, tools: [], transition: {next: [hear]}}
  bye: {type: terminal, message: Bye.}
"""


@pytest.fixture
def loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("STATECLI_DATA", str(tmp_path / "data"))
    path = tmp_path / "loop.yaml"
    path.write_text(LOOP)
    return path


@pytest.mark.parametrize(
    ("lines", "code", "told"),
    [
        ("", 0, "session"),
        ("4\n", 0, "session"),
        ("4\n2\n", 0, "the end"),
        ("4\n1\n", 0, "session"),
        ("1\n", 1, "failed in 'stuck': nothing holds"),
        ("2\n", 1, "stopped by a limit, max_steps"),
        ("3\n", 1, "failed in 'fail'"),
        ("1\n\n\n", 1, "failed in 'stuck'"),
        ("x\n", 0, "session"),
        ("x\ny\n", 2, "'hear' got no line that fits"),
        ("x\n4\n1\nx\n", 0, "session"),
        ("4\nx\ny\n", 2, "nothing answered '[pick] Where next?': 'y' is none of these"),
    ],
)
def test_exit_codes(lines: str, code: int, told: str, loop: Path) -> None:
    done = run("chat", loop, "--force", stdin=lines)
    assert (done.code, told in done.err) == (code, True), done.err
    if "the end" not in done.err:
        assert "go on with: statecli chat" in done.err
        assert "--resume" in done.err


def test_input_that_is_no_text(loop: Path) -> None:
    """A byte order mark, CRLF, bytes that are no UTF-8, no line end at the end, NUL, a megabyte."""
    done = run("chat", loop, "--force", stdin=b"\xef\xbb\xbf4\r\n1\r\n\xff\xfe\n" + b"4")
    assert done.code == 0
    assert "Sorry, '\ufffd\ufffd' is not a number." in done.out
    big = b"a" * 1_000_000
    done = run("chat", loop, "--force", stdin=big + b"\n\0\n")
    assert done.code == 2
    assert len(done.out) < 2000


def test_a_megabyte_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STATECLI_DATA", str(tmp_path))
    done = run("chat", REPOSITORY / "graphs" / "greeting.yaml", "--json",
               stdin="b" * 1_000_000 + "\n")  # fmt: skip
    assert done.code == 0
    said = [json.loads(line) for line in done.out.splitlines() if '"said"' in line]
    assert len(said[0]["body"]["text"]) == 1_000_000


def test_the_reader_is_gone(loop: Path) -> None:
    """A closed pipe is no error."""
    words = [sys.executable, "-m", "statecli", "chat", str(loop), "--force"]
    chat = subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        cwd=REPOSITORY,
    )  # fmt: skip
    assert chat.stdout is not None
    chat.stdout.close()
    chat.stdout = None
    _, err = chat.communicate(b"4\n1\n4\n1\n", timeout=30)
    assert b"Traceback" not in err
    assert chat.returncode == 0


def test_there_is_no_standard_input(loop: Path) -> None:
    words = f"exec '{sys.executable}' -m statecli chat '{loop}' --force <&-"
    done = subprocess.run(
        ["sh", "-c", words], capture_output=True, check=False, timeout=60, cwd=REPOSITORY
    )
    assert done.returncode == 0, done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("lines", ["", "4\n"])
def test_signals_end_in_order(number: int, lines: str, loop: Path) -> None:
    """At once, whether a turn or the answer to a question is waited for; the session is kept."""
    words = [sys.executable, "-m", "statecli", "chat", str(loop), "--force", "--task-id", "here"]
    chat = subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        cwd=REPOSITORY,
    )  # fmt: skip
    assert chat.stdin is not None
    assert chat.stdout is not None
    chat.stdin.write(lines.encode())
    chat.stdin.flush()
    last = b"2 bye" if lines else b"model:"
    while last not in chat.stdout.readline():
        pass
    time.sleep(0.3)
    os.kill(chat.pid, number)
    _, err = chat.communicate(timeout=30)
    assert chat.returncode == 130
    assert b"session here; go on with" in err
    assert b"Traceback" not in err
    rest = b"2\n" if lines else b"4\n2\n"
    again = command("chat", str(loop), "--force", "--resume", "here", stdin=rest)
    assert again.returncode == 0, again.stderr
    assert b"the end" in again.stderr


def test_two_processes_on_one_session(loop: Path) -> None:
    words = [sys.executable, "-m", "statecli", "chat", str(loop), "--force", "--task-id", "here"]
    chat = subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        cwd=REPOSITORY,
    )  # fmt: skip
    assert chat.stdin is not None
    assert chat.stdout is not None
    chat.stdin.write(b"4\n")
    chat.stdin.flush()
    while b"2 bye" not in chat.stdout.readline():
        pass
    second = command("chat", str(loop), "--force", "--resume", "here")
    assert (second.returncode, b"open in another process" in second.stderr) == (2, True)
    removed = command("sessions", "rm", "here")
    assert (removed.returncode, b"open in another process" in removed.stderr) == (2, True)
    pruned = command("sessions", "prune", "--days", "0")
    assert b"0 sessions removed" in pruned.stderr
    chat.communicate(timeout=30)
    assert command("chat", str(loop), "--force", "--resume", "here").returncode == 0


def test_json_is_harmless_and_complete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every event of the store, in order, each a line that a terminal obeys nothing of."""
    monkeypatch.setenv("STATECLI_DATA", str(tmp_path))
    graph = tmp_path / "g.yaml"
    graph.write_text(
        "initial: hear\nstates:\n  hear: {type: user, transition: {next: [bye]}}\n"
        '  bye: {type: terminal, message: "\\x9b2J \\u202e \\e[m \\u2028 ü"}\n'
    )
    done = run("chat", graph, "--json", "--task-id", "j", stdin="\x1b[2J\n")
    assert all(line.isprintable() for line in done.out.splitlines())
    rows = [json.loads(line) for line in done.out.splitlines()]
    assert [row["number"] for row in rows] == list(range(1, len(rows) + 1))
    assert rows[-2]["body"]["text"] == "\x9b2J \u202e \x1b[m \u2028 ü"
    exported = run("sessions", "export", "j")
    assert exported.out == done.out


def test_a_read_only_data_folder(loop: Path, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.touch()
    done = command("chat", str(loop), "--force", env={"STATECLI_DATA": str(blocked / "x")})
    assert done.returncode == 2
    assert b"--store" in done.stderr or b"STATECLI_DATA" in done.stderr


def test_a_tool_that_nobody_played_is_asked_about_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The input ended at the question what it gives back, so it was never called."""
    monkeypatch.setenv("STATECLI_DATA", str(tmp_path))
    graph = REPOSITORY / "graphs" / "support_router.yaml"
    run("chat", graph, "--task-id", "here", stdin="ann@example.org\n")
    done = run("chat", graph, "--resume", "here", stdin="premium\nrefund\n600\n")
    assert done.code == 0
    assert done.out.endswith("Your personal adviser will call you within the hour.\n")


def test_the_graph_is_changed_between_two_runs(loop: Path) -> None:
    run("chat", loop, "--force", "--task-id", "here", stdin="4\n1\n")
    loop.write_text(LOOP.replace("stuck", "blocked"))
    done = run("chat", loop, "--force", "--resume", "here", stdin="4\n2\n")
    assert "the graph changed since: without stuck; with blocked" in done.err
    assert done.out.endswith("Bye.\n")
