"""Chats on a real terminal, from the first line to the exit code."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from conversations import Conversation, conversations, words_of
from run_cli import command
from tmux import TMUX, Terminal

pytestmark = pytest.mark.skipif(TMUX is None, reason="needs tmux")
#: One conversation for each graph; the piped tests play them all.
ALL = [c for c in conversations() if c.path.stem.isidentifier()]
GREETING = "graphs/greeting.yaml"


@pytest.fixture
def greeting(tmp_path: Path) -> Iterator[Terminal]:
    with Terminal(tmp_path, "chat", GREETING, "--task-id", "here") as terminal:
        terminal.wait_for_prompt()
        yield terminal


def resumed(data: Path, *lines: str) -> list[str]:
    """What a session shows that is gone on with through a pipe."""
    done = command(
        "chat", GREETING, "--resume", "here", env={"STATECLI_DATA": str(data)},
        stdin="".join(f"{line}\n" for line in lines).encode(),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.decode().splitlines()


@pytest.mark.parametrize("conversation", ALL, ids=lambda c: c.path.stem)
def test_every_graph_is_talked_through(conversation: Conversation, tmp_path: Path) -> None:
    """The same lines as piped, and everything that is said comes on the screen."""
    with Terminal(tmp_path, *words_of(conversation), columns=300) as terminal:
        if not conversation.lines:
            assert terminal.code() == 2
            return
        terminal.wait_for_prompt()
        for line in conversation.lines:
            terminal.type(line)
            while terminal.asks_to_start():  # only on a terminal; the person plays the tools
                terminal.type("no")
        shown = terminal.screen()
        if "! the end" in conversation.seen:
            assert any(line.startswith("the end; Enter leaves") for line in shown)
            terminal.press("Enter")
            assert terminal.code() == 0
        said = [line for line in conversation.seen if not line.startswith(("> ", "! "))]
        missing = [line for line in said if line not in shown and "[..]" not in line]
        assert missing == [], "\n".join(shown)


def test_ctrl_c_at_an_empty_prompt(greeting: Terminal, tmp_path: Path) -> None:
    greeting.type("Ann")
    greeting.press("C-c")
    greeting.wait("Ctrl-C again leaves, as does Ctrl-D or /quit; the session is kept")
    greeting.press("C-c")
    assert greeting.code() == 130
    way = f"session here; go on with: statecli chat {GREETING} --resume here"
    assert way in greeting.screen()
    assert resumed(tmp_path, "cats")[1:5] == [
        "[welcome] Say hello and learn who is there", "First name:", "> Ann",
        "Favourite animals (1 dogs, 2 cats, 3 small_animals or 4 any):",
    ]  # fmt: skip


def test_ctrl_c_in_a_step_stops_it(tmp_path: Path) -> None:
    with Terminal(tmp_path, "chat", "graphs/planner.yaml") as terminal:
        terminal.wait_for_prompt()
        terminal.type("We want a band")
        terminal.press("C-c")
        terminal.wait("stopped; what was said is kept (Ctrl-C again leaves)")
        terminal.wait("talk_it_over>")
        terminal.type("/history")
        assert "user: We want a band" in terminal.screen()
        terminal.type("And food")
        terminal.type("5")
        terminal.wait("the end>")
        terminal.type("/undo")
        terminal.wait("back in 'talk_it_over'")
        terminal.press("C-d")
        assert terminal.code() == 0


SLOW = """
initial: hear
states:
  hear: {type: user, transition: {next: [slow]}}
  slow: {type: slow, transition: {next: [hear]}}
"""


@pytest.mark.parametrize(
    ("code", "presses"), [("await asyncio.sleep(60)", 1), ("time.sleep(60)", 2)]
)
def test_ctrl_c_out_of_a_slow_state(code: str, presses: int, tmp_path: Path) -> None:
    """Once where the state waits for something, twice where it does not let go."""
    (tmp_path / "slow.yaml").write_text(SLOW)
    (tmp_path / "state_slow.py").write_text(
        f"import asyncio, time\n@register_state('slow')\nasync def slow(c, a):\n    {code}\n"
    )
    with Terminal(tmp_path, "chat", str(tmp_path / "slow.yaml"), "--allow-plugins") as terminal:
        terminal.wait_for_prompt()
        terminal.press("-l", "hello")
        terminal.press("Enter")
        terminal.wait("-> slow")
        if presses == 1:
            terminal.wait_until(lambda: terminal.screen()[-1] in ("|", "/", "-", "\\"), "a bar")
            terminal.press("C-c")
            terminal.wait("stopped; what was said is kept (Ctrl-C again leaves)")
            terminal.wait("slow>")
            assert not {"|", "/", "-", "\\"} & set(terminal.screen())
            terminal.press("C-c")
        else:
            time.sleep(0.5)
            terminal.press("C-c")
            time.sleep(0.5)
            terminal.press("C-c")
        assert terminal.code() == 130
        assert any(line.startswith("session ") for line in terminal.screen())


def test_context_is_asked_before_the_first_turn(tmp_path: Path) -> None:
    graph = tmp_path / "context.yaml"
    graph.write_text(
        "id: p\ntitle: P\nsession_context:\n  fields:\n"
        "    - {id: tone, label: Tone of voice, type: select, options: [warm, cool], "
        "required: true}\n"
        "states:\n  - {id: a, title: A, tasks: [{id: t, description: Wave}]}\n"
    )
    with Terminal(tmp_path, "chat", str(graph)) as terminal:
        terminal.wait("Tone of voice (1 warm or 2 cool):")
        terminal.type("hot")
        assert (
            "Sorry, 'hot' is none of these. Tone of voice (1 warm or 2 cool):" in terminal.screen()
        )
        terminal.type("2")
        terminal.type("/data")
        assert "tone: 'cool'" in terminal.screen()


def test_a_dumb_terminal(tmp_path: Path) -> None:
    with Terminal(tmp_path, "chat", GREETING, TERM="dumb") as terminal:
        terminal.wait_for_prompt()
        terminal.type("Ann")
        terminal.wait("Favourite animals")


def test_ctrl_d_leaves(greeting: Terminal) -> None:
    greeting.press("C-d")
    assert greeting.code() == 0


def test_several_lines_search_and_completion(greeting: Terminal) -> None:
    greeting.press("-l", "Ann")
    greeting.press("M-Enter")
    greeting.press("-l", "Miller")
    greeting.press("Enter")
    greeting.wait("Favourite animals")
    greeting.type("/data")
    assert "first_name: 'Ann Miller'" in greeting.screen()
    greeting.press("C-r")
    greeting.press("-l", "/da")
    greeting.wait("I-search backward: /da")
    greeting.press("Enter", "Enter")
    greeting.wait_for_prompt()
    greeting.press("-l", "/go")
    greeting.wait("move the run into a state")
    greeting.press("Tab")
    greeting.press("-l", " see")
    greeting.wait("see-you")
    greeting.press("Tab", "Enter")
    greeting.wait("now in 'see-you'")


def test_the_status_line(greeting: Terminal) -> None:
    greeting.wait("welcome  turn 0  0/2 tasks")
    greeting.type("Ann")
    greeting.wait("welcome  turn 1  1/2 tasks")


def test_the_terminal_is_resized(greeting: Terminal) -> None:
    for size in ("30", "200", "10", "80"):
        greeting.tmux("resize-window", "-x", size, "-y", "8")
        greeting.wait_for_prompt()
    greeting.type("Ann")
    greeting.wait("Favourite animals")


def test_the_terminal_is_gone(greeting: Terminal, tmp_path: Path) -> None:
    greeting.type("Ann")
    pid = greeting.pid()
    greeting.tmux("kill-server")
    for _ in range(200):
        if not Path(f"/proc/{pid}").exists():
            break
        subprocess.run(["sleep", "0.05"], check=True)
    assert "> Ann" in resumed(tmp_path, "cats")


def test_sigterm_ends_in_order(greeting: Terminal, tmp_path: Path) -> None:
    greeting.type("Ann")
    os.kill(greeting.pid(), signal.SIGTERM)
    assert greeting.code() == 130
    assert any(line.startswith("session here; go on with") for line in greeting.screen())
    assert "> Ann" in resumed(tmp_path, "cats")


def test_a_megabyte_is_pasted(greeting: Terminal) -> None:
    greeting.tmux("load-buffer", "-", text="a" * 1_000_000)
    greeting.tmux("paste-buffer", "-p", "-r")
    greeting.press("Enter")
    greeting.wait("only the first 200,000 characters of the line are taken")
    greeting.wait("Favourite animals")


def test_control_characters_do_nothing(tmp_path: Path) -> None:
    graph = tmp_path / "graph.yaml"
    graph.write_text(
        'initial: hear\nstates:\n  hear: {type: user, transition: {next: ["st\\e[2Jate"]}}\n'
        '  "st\\e[2Jate": {type: agent, description: "x\\e]0;title\\a\\x9b31m y", '
        "transition: {next: [hear]}}\n"
    )
    with Terminal(tmp_path, "chat", str(graph), "--force") as terminal:
        terminal.wait_for_prompt()
        terminal.tmux("load-buffer", "-", text="a \x1b[2J\x07 b")
        terminal.tmux("paste-buffer", "-r")
        terminal.press("Enter")
        terminal.wait("[st␛[2Jate] x␛]0;title␇\\u009b31m y")
        assert terminal.screen()[0].startswith("model: rules")
        assert terminal.tmux("display-message", "-p", "#{pane_title}").strip() != "title"


def test_colors_and_none(tmp_path: Path) -> None:
    for no_color, dim in (("", True), ("1", False)):
        with Terminal(tmp_path, "chat", GREETING, NO_COLOR=no_color) as terminal:
            terminal.wait_for_prompt()
            terminal.type("/data")
            shown = "\n".join(terminal.screen(colors=True))
            assert ("\x1b[2m" in shown) is dim
            assert re.search(r"\x1b\[(3[0-8]|9[0-7])", shown) is None


def test_nothing_heavy_is_imported_for_a_pipe(tmp_path: Path) -> None:
    code = (
        "import sys; from statecli.cli.app import main; "
        f"main(['chat', {GREETING!r}]); print(sorted(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input=b"Ann\n", capture_output=True, check=True,
        env={**os.environ, "STATECLI_DATA": str(tmp_path)},
    )  # fmt: skip
    for heavy in ("prompt_toolkit", "openai", "mcp", "rich", "httpx", "pydantic"):
        assert f"'{heavy}'" not in done.stdout.decode()
