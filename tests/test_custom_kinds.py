"""Custom kinds: the examples of the ARKOS document run with no line changed, and what else a state
in Python may be."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from chatting import Chat, graph_of
from run_cli import run

from statecli.engine.advance import Custom
from statecli.kinds import custom
from statecli.model.unable import Unable
from statecli.store.memory import MemoryStore
from statecli.store.traced import TracedStore

SEEDS = Path(__file__).parents[2] / "shared" / "seeds"


def document() -> str:
    """The page of the ARKOS documentation that shows custom states."""
    found = sorted(SEEDS.glob("000*.txt"))
    if not found:
        pytest.skip("the seeds are not here")
    return found[0].read_text(encoding="utf-8")


def block_with(name: str) -> str:
    """The Python block of the document that defines a class."""
    blocks: list[str] = re.findall(r"```python[^\n]*\n(.*?)```", document(), re.DOTALL)
    return next(block for block in blocks if f"class {name}(" in block)


def loaded(folder: Path, graph: str, **files: str) -> Custom:
    for name, text in files.items():
        (folder / f"state_{name}.py").write_text(text, encoding="utf-8")
    return Custom(custom.load(graph_of(graph), folder))


GREETING = """
initial: hello
states:
  hello: {type: greeting, speaks_first: true, greeting: Welcome aboard!, transition: {next: [hear]}}
  plain: {type: greeting, transition: {next: [hear]}}
  hear: {type: user, transition: {next: [plain]}}
"""


def test_the_greeting_state_of_the_document(tmp_path: Path) -> None:
    """`class GreetingState(State)`: no `type`, so the file name gives the kind."""
    kinds = loaded(tmp_path, GREETING, greeting=block_with("GreetingState"))
    seen = Chat(GREETING, "hi", custom=kinds).seen
    assert seen == ["Welcome aboard!", "-> hear", "hear> hi", "-> plain", "Hello!", "-> hear"]


TOOL = """
initial: hear
tools: {files: {command: [f], description: Files}, crm: {command: [c]}}
states:
  hear: {type: user, transition: {next: [use_tool]}}
  use_tool: {type: tool, transition: {next: [hear]}}
"""


PLAYED = (
    "You play crm(), which is not connected. What does it give back? (text or JSON; "
    "'error: why' if it fails)"
)


def test_the_tool_state_of_the_document(tmp_path: Path) -> None:
    """`class StateTool(State)` with `type = "tool"`: it stands for the built-in kind."""
    kinds = loaded(tmp_path, TOOL, tool=block_with("StateTool"))
    chat = Chat(TOOL, "look it up", "crm", '{"name": "Ann"}', custom=kinds, user_id="u1")
    assert chat.seen[2:] == [
        "[use_tool] tool_name (1 files or 2 crm):",
        "? crm",
        PLAYED,
        '? {"name": "Ann"}',
        "{'name': 'Ann'}",
        "-> hear",
    ]
    names = [event.name for event in chat.store.events(chat.talk.session.run)]
    assert names.index("called") < names.index("returned")


def test_a_tool_that_fails_in_the_document_s_state(tmp_path: Path) -> None:
    kinds = loaded(tmp_path, TOOL, tool=block_with("StateTool"))
    chat = Chat(TOOL, "x", "files", "error: gone", custom=kinds)
    assert chat.seen[-1] == "failed in 'use_tool': files: gone"
    assert chat.code == 1


AUTH = """
from tool_module.tool_call import AuthRequiredError
from state_module.state import State
from state_module.state_registry import register_state

@register_state
class StateTool(State):
    async def run(self, context, agent=None):
        try:
            raise AuthRequiredError("mail", "https://example.org", {"name": "Mail"})
        except AuthRequiredError as e:
            return f"connect your {e.service_info.get('name', e.service)}: {e.connect_url}"
"""


def test_the_auth_error_of_the_document(tmp_path: Path) -> None:
    kinds = loaded(tmp_path, TOOL, tool=AUTH)
    assert "connect your Mail: https://example.org" in Chat(TOOL, "x", custom=kinds).seen


def graph(kind: str, more: str = "") -> str:
    return f"""
initial: hear
states:
  hear: {{type: user, transition: {{next: [it]}}}}
  it: {{type: {kind}, {more} transition: {{next: [hear]}}}}
"""


SHAPES = """
import asyncio
from dataclasses import dataclass

@dataclass
class Held:
    text: str

@register_state("shout")
def shout(context, agent):
    return Held(context[-1].content.upper()).text

@register_state("later")
async def later(context, agent=None):
    await asyncio.sleep(0)
    return f"{agent.current_user_id} said {context[-1].content}"

@register_state("quiet")
class Quiet:
    def __init__(self, name, config):
        self.name, self.config = name, config

    def run(self, context, agent):
        return None

@register_state("ask")
async def ask(context, agent):
    answer = await agent.call_llm(context)
    return f"the model said: {answer.content}"

@register_state("broken")
def broken(context, agent):
    raise ValueError("no luck")
"""


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("shout", ["HELLO"]),
        ("later", ["ann said hello"]),
        ("quiet", []),
        ("ask", ["the model said: [it]"]),
        ("broken", ["failed in 'it': ValueError: no luck"]),
    ],
)
def test_functions_and_classes(kind: str, said: list[str], tmp_path: Path) -> None:
    text = graph(kind)
    kinds = loaded(tmp_path, text, **{kind: SHAPES})
    seen = Chat(text, "hello", custom=kinds, user_id="ann").seen
    assert [line for line in seen[2:] if not line.startswith("->")] == said


WAITS = """
from state_module.state import State

@register_state
class Waits(State):
    asked = 0

    def check_transition_ready(self, context):
        return context[-1].content == "done" or context[-2].content == "done"

    def run(self, context, agent=None):
        self.asked += 1
        return f"asked {self.asked}"
"""


def test_not_ready_waits_for_a_line_and_runs_again(tmp_path: Path) -> None:
    text = graph("waits")
    kinds = loaded(tmp_path, text, waits=WAITS)
    seen = Chat(text, "hello", "not yet", "done", "bye", custom=kinds).seen
    assert seen[:7] == [
        "hear> hello", "-> it", "asked 1", "it> not yet", "asked 2", "it> done", "asked 3",
    ]  # fmt: skip
    assert seen[7] == "-> hear"


ENDS = """
from state_module.state import State

@register_state
class Ends(State):
    def run(self, context, agent=None):
        self.is_terminal = len(context) > 2
        return "once more" if not self.is_terminal else "that is all"
"""


def test_is_terminal_ends(tmp_path: Path) -> None:
    text = graph("ends")
    kinds = loaded(tmp_path, text, ends=ENDS)
    seen = Chat(text, "a", "b", custom=kinds).seen
    assert seen[-2] == "that is all"
    assert seen[-1].startswith("the end")


def test_a_kind_of_the_config_waits(tmp_path: Path) -> None:
    """`waiting-kinds`: the state runs with the line of the person, and waits when it is entered."""
    (tmp_path / "statecli.toml").write_text('waiting-kinds = ["shout"]\n')
    (tmp_path / "state_shout.py").write_text(SHAPES)
    (tmp_path / "g.yaml").write_text(
        "initial: it\nstates:\n  it: {type: shout, transition: {next: [bye]}}\n"
        "  bye: {type: terminal, message: Bye.}\n"
    )
    done = run("chat", tmp_path / "g.yaml", "--allow-plugins", "--store", "memory", stdin="hello\n")
    assert done.out.splitlines()[1:] == ["HELLO", "Bye."]


def test_plugins_of_the_config(tmp_path: Path) -> None:
    (tmp_path / "statecli.toml").write_text('plugins = ["kinds/mine.py"]\n')
    (tmp_path / "kinds").mkdir()
    (tmp_path / "kinds" / "mine.py").write_text(SHAPES)
    (tmp_path / "g.yaml").write_text(graph("shout"))
    done = run("chat", tmp_path / "g.yaml", "--allow-plugins", "--store", "memory", stdin="hello\n")
    assert "HELLO" in done.out
    refused = run("chat", tmp_path / "g.yaml", "--store", "memory", stdin="hello\n")
    assert refused.code == 2
    assert "--allow-plugins" in refused.err


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("one", "", "registers no state of the kind 'one'"),
        ("two", "raise SystemExit(3)", "does not load: SystemExit: 3"),
        ("three", "def", "does not load: SyntaxError"),
        ("four", "import nothing_here", "does not load: ModuleNotFoundError"),
    ],
)
def test_files_that_do_not_load(name: str, text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(Unable, match=re.escape(message)):
        loaded(tmp_path, graph(name), **{name: text})


@pytest.mark.parametrize("kind", ["nothing", "../up", "a/b"])
def test_kinds_without_a_file(kind: str, tmp_path: Path) -> None:
    with pytest.raises(Unable, match="nothing runs states of the kind"):
        loaded(tmp_path, graph(f'"{kind}"'))


def test_the_documents_modules_are_gone_after_loading(tmp_path: Path) -> None:
    loaded(tmp_path, GREETING, greeting=block_with("GreetingState"))
    assert not {"state_module", "state_module.state", "tool_module"} & sys.modules.keys()


def test_a_call_is_stored_before_it_leaves(tmp_path: Path) -> None:
    """Each event is kept before the tool is called: a crash there loses nothing."""
    kinds = loaded(tmp_path, TOOL, tool=block_with("StateTool"))
    seen: list[str] = []
    store = TracedStore(MemoryStore(), lambda line: seen.append(json.loads(line)["event"]))
    Chat(TOOL, "x", "crm", "ok", custom=kinds, store=store, seen=seen)
    at = next(n for n, line in enumerate(seen) if line.startswith("You play crm()"))
    assert seen[at - 1] == "called"
