"""What a session survives (model.md 9): a process that dies anywhere, a disk that is full, a file
that is damaged, a graph that was edited."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest
from walks import Chance, built, plain, talked

from statecli.kernel.apply import fold
from statecli.model.event import Answered, Chose, Ended, Said
from statecli.model.ports import Batch, Request
from statecli.model.unable import Unable
from statecli.session.open_step import effective
from statecli.session.session import Session
from statecli.store.sqlite import SqliteStore

#: What this platform must have: processes that can be killed and limited.
resource: Any = pytest.importorskip("resource")
ROOT = Path(__file__).parent.parent

GRAPH: dict[str, Any] = {
    "initial": "ask",
    "fields": {"k": {"type": "str"}, "n": {"type": "int", "reducer": "increment", "default": 0}},
    "states": {
        "ask": {"type": "user", "transition": {"next": ["answer"]}},
        "answer": {
            "type": "agent",
            "writes": ["k", "n"],
            "transition": {"next": [{"to": "collect", "when": {"n__gt": 9}}, "look", "ask"]},
        },
        "look": {"type": "tool", "tools": ["one"], "transition": {"next": ["answer", "ask"]}},
        "collect": {
            "type": "loose",
            "title": "Collect",
            "tasks": [
                {"id": "s0t0", "description": "d", "deliverables": [{"key": "k"}]},
                {"id": "s1t1", "description": "d", "deliverables": [{"key": "b"}]},
                {"id": "s2t2", "description": "d"},
            ],
            "transition": {
                "next": [{"to": "bye", "when": {"condition_type": "all_tasks_complete"}}]
            },
        },
        "bye": {"type": "terminal", "message": "Bye."},
    },
    "tools": {"one": {"python": "a:b"}},
}
LINES = ["hello there", "what?", "x", "yes", "no thanks", "5", "Y", "what?", "x", "yes"]


class Deadly:
    """Counts the moments at which a process may die, and dies at one of them."""

    def __init__(self, at: int | None) -> None:
        self.left = at
        self.passed = 0

    def moment(self) -> None:
        self.passed += 1
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                os.kill(os.getpid(), signal.SIGKILL)


class DeadlyStore(SqliteStore):
    def __init__(self, path: Path, deadly: Deadly) -> None:
        super().__init__(path)
        self.deadly = deadly

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self.deadly.moment()
        with super()._transaction():
            yield
            self.deadly.moment()
        self.deadly.moment()


class DeadlyWorld(Chance):
    def __init__(self, name: str, deadly: Deadly) -> None:
        super().__init__(7, name)
        self.deadly = deadly

    def answer(self, request: Request) -> Any:
        self.deadly.moment()
        return super().answer(request)

    async def call(self, tool: Any, arguments: Any, user: str = "") -> Any:
        self.deadly.moment()
        return await super().call(tool, arguments)


def life(path: Path, log: Path, name: str, deadly: Deadly) -> None:
    """One process: go on where the session is, and note what was shown."""
    graph, store = built(GRAPH), DeadlyStore(path, deadly)
    if store.get("r") is None:
        session = Session.start(graph, store, run="r")
    else:
        session = Session.open(graph, store, "r")
        if session.snapshot.status != "ended":
            session.recover()
    with log.open("ab", buffering=0) as file:
        real = session.record

        def record(bodies: Any, after: Any = None) -> Any:
            events = real(bodies, after)
            for event in events:
                file.write(f"{event.number} {event.name}\n".encode())
                deadly.moment()
            return events

        session.record = record  # type: ignore[method-assign]
        talked(session, DeadlyWorld(name, deadly), LINES)
    store.close()


def lived(path: Path, log: Path, name: str, at: int | None) -> int:
    """A life in a process of its own; its wait status."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            life(path, log, name, Deadly(at))
            code = 0
        finally:
            os._exit(code)
    return os.waitpid(child, 0)[1]


def test_kill_9_at_fifty_moments(tmp_path: Path) -> None:
    """Nothing that was shown is lost, nothing that was said is repeated, the end is the same."""
    deadly = Deadly(None)
    life(tmp_path / "whole.db", tmp_path / "whole.log", "w", deadly)
    graph = built(GRAPH)
    whole = Session.open(graph, SqliteStore(tmp_path / "whole.db"), "r")
    assert whole.snapshot.data["n"] > 9, "the conversation comes through every kind of state"
    chance = random.Random(9)
    for number in range(50):
        path, log = tmp_path / f"{number}.db", tmp_path / f"{number}.log"
        at = chance.randrange(deadly.passed)
        assert os.WIFSIGNALED(lived(path, log, "a", at))
        for again in range(chance.randrange(3)):
            lived(path, log, f"b{again}", chance.randrange(deadly.passed))
        assert lived(path, log, "z", None) == 0
        store = SqliteStore(path)
        session = Session.open(graph, store, "r")
        assert plain(session.snapshot) == plain(whole.snapshot), f"killed at {at}"
        stored = {f"{event.number} {event.name}" for event in store.events("r")}
        assert set(log.read_text().split("\n")) - {""} <= stored
        store.close()


# --- the command itself -----------------------------------------------------------------

FLOW = """
initial: ask
states:
  ask: {type: user, description: Wait, transition: {next: [answer]}}
  answer: {type: agent, description: Answer, transition: {next: [ask]}}
"""
TOOL = """
initial: ask
tools: {clock: {python: "a:b"}}
states:
  ask: {type: user, transition: {next: [look]}}
  look: {type: tool, tool: clock, transition: {next: [ask]}}
"""


class Chat:
    """`statecli chat` with a pipe to type into."""

    def __init__(self, data: Path, *args: str, **more: Any) -> None:
        environment = {**os.environ, "STATECLI_DATA": str(data), "STATECLI_MODEL": ""}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "statecli", "chat", *args],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            cwd=ROOT,
            text=True,
            **more,
        )

    @property
    def stdin(self) -> IO[str]:
        assert self.process.stdin is not None
        return self.process.stdin

    def type(self, line: str) -> None:
        self.stdin.write(f"{line}\n")
        self.stdin.flush()

    def wait_for(self, text: str) -> list[str]:
        """The lines up to one that has a text."""
        assert self.process.stdout is not None
        lines: list[str] = []
        for line in self.process.stdout:
            lines.append(line.rstrip("\n"))
            if text in line:
                return lines
        raise AssertionError(f"{text!r} never came: {lines}")

    def end(self) -> tuple[int, str, str]:
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out, err


def chatted(data: Path, *args: str, lines: str = "", **more: Any) -> tuple[int, str, str]:
    chat = Chat(data, *args, **more)
    out, err = chat.process.communicate(lines, timeout=60)
    return chat.process.returncode, out, err


def sessions(data: Path) -> SqliteStore:
    return SqliteStore(data / "sessions.db")


def heard(data: Path) -> list[str]:
    """What the person said, of the only session."""
    if not (data / "sessions.db").exists():
        return []
    store = sessions(data)
    runs = store.runs()
    events = effective(store.events(runs[0].run)) if runs else []
    store.close()
    return [event.body.text for event in events if isinstance(event.body, Said)]


@pytest.fixture
def graph(tmp_path: Path) -> str:
    path = tmp_path / "flow.yaml"
    path.write_text(FLOW, "utf-8")
    return str(path)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


def test_kill_9_of_the_command(graph: str, data: Path) -> None:
    """Whenever it dies: the lines that it heard are kept, the others are said again."""
    lines = [f"line {number}" for number in range(12)]
    chance = random.Random(4)
    for life_number in range(8):
        kept = heard(data)
        assert kept == lines[: len(kept)]
        more = ["--resume"] if kept else []
        chat = Chat(data, graph, *more)
        chat.wait_for("model:")
        for line in lines[len(kept) : len(kept) + 1 + chance.randrange(3)]:
            chat.type(line)
        if life_number < 7:
            time.sleep(chance.random() * 0.05)
            chat.process.kill()
            chat.process.communicate()
    code, _, err = chat.end()
    assert code == 0, err
    kept = heard(data)
    code, _, err = chatted(data, graph, "--resume", lines="\n".join(lines[len(kept) :]) + "\n")
    assert code == 0, err
    assert heard(data) == lines
    store = sessions(data)
    found = [e.body for e in effective(store.events(store.runs()[0].run))]
    answers = [body for body in found if isinstance(body, Answered)]
    assert len(answers) == len(lines), "each line was answered once"
    store.close()


def test_sigterm_and_the_end_of_input(graph: str, data: Path) -> None:
    chat = Chat(data, graph)
    chat.type("hello")
    chat.wait_for("[answer]")
    chat.process.send_signal(signal.SIGTERM)
    code, _, err = chat.end()
    assert code == 130
    assert "--resume" in err
    code, out, err = chatted(data, graph, "--resume", lines="again\n")
    assert code == 0
    assert "hello" in out
    assert "Traceback" not in err
    assert heard(data) == ["hello", "again"]


def test_the_second_process_on_a_session_is_told(graph: str, data: Path) -> None:
    chat = Chat(data, graph, "--task-id", "mine")
    chat.type("hello")
    chat.wait_for("[answer]")
    before = heard(data)
    code, _, err = chatted(data, graph, "--resume", "mine", lines="intruder\n")
    assert code == 2
    assert "session mine is open in another process" in err
    assert heard(data) == before, "the session is as it was"
    chat.type("still here")
    chat.wait_for("[answer]")
    chat.process.kill()
    chat.process.communicate()
    code, _, _ = chatted(data, graph, "--resume", "mine", lines="now\n")
    assert code == 0, "the lock died with its process"
    assert heard(data) == ["hello", "still here", "now"]


def limited(size: int) -> Any:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

    return limit


def test_a_full_disk(graph: str, data: Path) -> None:
    """What was stored before stays, the person is told, and it goes on when there is room."""
    lines = [f"line {number} " + "x" * 400 for number in range(80)]
    text = "\n".join(lines) + "\n"
    code, out, err = chatted(data, graph, lines=text, preexec_fn=limited(150_000))
    assert code == 2
    assert "Traceback" not in err
    assert "cannot be written" in err
    assert "--store" in err
    kept = heard(data)
    assert 0 < len(kept) < 80
    assert kept == lines[: len(kept)]
    shown = out.count("[answer]")
    assert shown <= len(kept)
    code, _, err = chatted(data, graph, "--resume", lines="room again\n")
    assert code == 0, err
    assert heard(data) == [*kept, "room again"]
    store = sessions(data)
    events = store.events(store.runs()[0].run)
    assert sum(isinstance(event.body, Answered) for event in events) >= shown
    store.close()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 300 kB, where this process may mount one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", str(disk)]
    if (
        shutil.which("mount") is None
        or subprocess.run(words, check=False, capture_output=True).returncode
    ):
        pytest.skip("may not mount a disk")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_a_disk_that_fills_up(graph: str, small_disk: Path) -> None:
    data = small_disk / "data"
    text = "\n".join(f"line {number} " + "x" * 900 for number in range(200)) + "\n"
    code, _, err = chatted(data, graph, lines=text)
    assert code == 2
    assert "Traceback" not in err
    assert "cannot be written" in err
    kept = heard(data)
    assert 0 < len(kept) < 200
    code, _, err = chatted(data, graph, "--resume", "--store", "memory", lines="hi\n")
    assert code == 2
    assert "no unfinished session" in err
    assert heard(data) == kept


#: Root may write anywhere, unless it lets go of that.
WITHOUT_POWERS = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"]


@pytest.mark.skipif(
    os.getuid() == 0 and shutil.which("setpriv") is None, reason="root may write anywhere"
)
def test_a_store_that_may_only_be_read(graph: str, tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    folder.mkdir()
    shared = folder / "sessions.db"
    own = tmp_path / "own"
    assert chatted(own, graph, "--store", str(shared), lines="hi\n")[0] == 0
    shared.chmod(0o444)
    folder.chmod(0o555)
    words = [*(WITHOUT_POWERS if os.getuid() == 0 else []), sys.executable, "-m", "statecli"]

    def run(*args: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*words, *args, "--store", str(shared)], input="hi\n", capture_output=True, text=True,
            check=False, cwd=ROOT, env={**os.environ, "STATECLI_DATA": str(own)},
        )  # fmt: skip

    try:
        done = run("chat", graph)
        assert done.returncode == 2
        assert "cannot be written" in done.stderr
        assert "--store memory" in done.stderr
        assert "Traceback" not in done.stderr
        listed = run("sessions", "list")
        assert listed.returncode == 0, listed.stderr
        assert "waiting" in listed.stdout, "what is there can be looked at"
    finally:
        folder.chmod(0o755)


def test_a_damaged_last_page(graph: str, data: Path) -> None:
    """What can be read is kept in a new file, the damaged one is put aside."""
    for number in range(3):
        text = "\n".join(f"line {n}" for n in range(30)) + "\n"
        assert chatted(data, graph, "--task-id", f"s{number}", lines=text)[0] == 0
    path = data / "sessions.db"
    size = path.stat().st_size
    assert size % 4096 == 0
    with path.open("r+b") as file:
        file.seek(size - 4096)
        file.write(b"\xff" * 4096)
    code, _, err = chatted(data, graph, "--resume", "s2", lines="on\n")
    assert code == 2, err
    assert "was damaged" in err
    assert "give the command again" in err
    assert (data / "sessions.db.damaged-1").stat().st_size == size
    store = sessions(data)
    assert {stored.run for stored in store.runs()} == {"s0", "s1", "s2"}
    lost = 0
    for stored in store.runs():
        events = store.events(stored.run)
        lost += 30 - sum(isinstance(event.body, Said) for event in events)
        assert [event.number for event in events] == list(range(1, len(events) + 1))
    assert 0 < lost < 45, "one page was lost, not the rest"
    store.close()
    for run in ("s0", "s1", "s2"):
        assert chatted(data, graph, "--resume", run, lines="on\n")[0] == 0


def test_a_file_that_is_no_database(graph: str, data: Path) -> None:
    data.mkdir()
    (data / "sessions.db").write_bytes(b"this is a letter, not a database" * 400)
    code, _, err = chatted(data, graph, lines="hi\n")
    assert code == 2
    assert "is no database" in err
    assert (data / "sessions.db").read_bytes().startswith(b"this is a letter"), "it is not touched"


def test_an_event_of_another_version(graph: str, data: Path) -> None:
    assert chatted(data, graph, "--task-id", "s", lines="hi\n")[0] == 0
    with sqlite3.connect(data / "sessions.db") as db:
        db.execute("UPDATE events SET name='dreamt' WHERE number=2")
    db.close()
    code, _, err = chatted(data, graph, "--resume", "s", lines="on\n")
    assert code == 2
    assert "session s cannot be read: no event is named 'dreamt'" in err


def test_a_newer_store_is_not_touched(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "new.db") as db:
        db.execute("PRAGMA user_version=99")
    db.close()
    with pytest.raises(Unable, match="newer statecli"):
        SqliteStore(tmp_path / "new.db")


def test_an_edited_graph(graph: str, data: Path) -> None:
    """It says what changed, and goes on where the state is still there."""
    assert chatted(data, graph, "--task-id", "s", lines="hi\n")[0] == 0
    Path(graph).write_text(FLOW.replace("answer", "reply"), "utf-8")
    code, out, err = chatted(data, graph, "--resume", "s", lines="again\n")
    assert code == 0, err
    assert "the graph changed since: without answer; with reply; different in ask" in err
    assert "[reply]" in out
    Path(graph).write_text(FLOW.replace("ask", "listen"), "utf-8")
    code, _, err = chatted(data, graph, "--resume", "s", lines="again\n")
    assert code == 2
    assert "'ask' is no state any more" in err


# --- calls that were open ---------------------------------------------------------------


@pytest.fixture
def open_call(tmp_path: Path, data: Path) -> str:
    """A graph, and a session that died while its tool was at work."""
    path = tmp_path / "tool.yaml"
    path.write_text(TOOL, "utf-8")
    chat = Chat(data, str(path), "--task-id", "s")
    chat.type("what time is it")
    chat.wait_for("is not connected")
    chat.process.kill()
    chat.process.communicate()
    return str(path)


def test_off_a_terminal_an_open_call_is_not_repeated(open_call: str, data: Path) -> None:
    before = sessions(data).events("s")
    code, out, err = chatted(data, open_call, "--resume", "s", lines="ten\n")
    assert code == 2
    assert "clock was being called when this session stopped" in err
    assert sessions(data).events("s") == before, "nothing happened to the session"
    way = next(word for word in err.split() if word.startswith("s@"))
    code, out, err = chatted(data, open_call, "--fork", way, lines="ten\n")
    assert code == 0, err
    assert "is not connected" in out


@pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux")
def test_on_a_terminal_it_is_asked_about(open_call: str, data: Path) -> None:
    from tmux import Terminal

    with Terminal(data, "chat", open_call, "--resume", "s") as terminal:
        terminal.wait("Repeat it?")
        terminal.type("no")
        terminal.wait("'look' waits")
        terminal.type("/quit")
        assert terminal.code() == 0
    with Terminal(data, "chat", open_call, "--resume", "s") as terminal:
        terminal.wait("Repeat it?")
        terminal.type("yes")
        terminal.wait("is not connected")
        terminal.type("ten")
        terminal.type("/quit")
        assert terminal.code() == 0


# --- the end of a plan, cut off in its summary -------------------------------------------


def test_a_plan_that_died_in_its_summary_has_ended(tmp_path: Path) -> None:
    plan = {
        "id": "p",
        "states": [{"id": "a", "title": "A", "tasks": [
            {"id": "t", "description": "d", "deliverables": [{"key": "k"}]}]}],
        "metadata": {"plan_builder": {"canvas": {"end_node_config": {
            "farewell_message": "Bye.", "summary_behavior": "brief"}}}},
    }  # fmt: skip
    from scripted import call, play

    graph = built(plan)
    store = SqliteStore(tmp_path / "s.db")
    answers = ["?", call("set_deliverable", key="k", value="1"), "Fine.", "In short."]
    played = play(graph, "1", answers=answers, store=store)
    events = store.events(played.session.run)
    ends = next(n for n, e in enumerate(events) if isinstance(e.body, Chose))
    asked = next(n for n, e in enumerate(events) if n > ends and e.name == "asked")
    again = SqliteStore(tmp_path / "again.db")
    stored = store.get(played.session.run)
    assert stored is not None
    kept = events[: asked + 1]
    batch = Batch(1, [e.time for e in kept], [e.body for e in kept], "running", "a")
    again.create(stored, batch)
    session = Session.open(graph, again, stored.run)
    assert session.snapshot.status == "running"
    session.recover()
    assert session.snapshot.status == "ended"
    found = [event.body for event in effective(again.events(stored.run))]
    assert [body.text for body in found if isinstance(body, Answered)] == ["?", "Fine.", "Bye."]
    assert sum(isinstance(body, Ended) for body in found) == 1
    assert fold(graph, found).status == "ended"
    assert json.dumps([type(body).__name__ for body in found[-2:]]) == '["Ended", "Resumed"]'
