"""Every example graph is talked through with `rules`, as a new user would, piped."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conversations import Conversation, conversations, play, update, words_of
from transcripts import fits

ROOT = Path(__file__).parent.parent
ALL = conversations()
GRAPHS = sorted(p.name for p in (ROOT / "graphs").iterdir() if p.suffix in (".yaml", ".json"))
#: Graphs without a reachable end are talked to for ten turns; what is said in each.
ENDLESS = {"chat_with_tools.yaml": "[answer] Answer from the conversation so far"}


@pytest.fixture(autouse=True)
def _at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("STATECLI_DATA", str(tmp_path))
    monkeypatch.delenv("STATECLI_MODEL", raising=False)


@pytest.mark.parametrize("conversation", ALL, ids=lambda c: c.path.stem)
def test_conversation(conversation: Conversation) -> None:
    printed = play(words_of(conversation), conversation.lines)
    if fits(conversation.seen, printed):
        return
    if os.environ.get("STATECLI_UPDATE"):
        update(conversation, printed)
        return
    raise AssertionError("\n".join(printed))


@pytest.mark.parametrize("conversation", ALL, ids=lambda c: c.path.stem)
def test_the_same_through_a_pipe(conversation: Conversation) -> None:
    """As its own process, all lines at once."""
    done = subprocess.run(
        [sys.executable, "-m", "statecli", *words_of(conversation)],
        input="".join(f"{line}\n" for line in conversation.lines).encode(),
        capture_output=True,
        check=False,
        timeout=60,
        cwd=ROOT,
    )
    seen = [line for line in conversation.seen if not line.startswith(("> ", "! "))]
    code = f"[{done.returncode}]"
    printed = done.stdout.decode().splitlines() + ([code] if done.returncode else [])
    assert fits(seen, printed), done.stdout.decode() + done.stderr.decode()


@pytest.mark.parametrize("graph", GRAPHS)
def test_every_graph_is_talked_through(graph: str) -> None:
    """To an end where there is one, ten turns where there is none."""
    mine = [c for c in ALL if f"graphs/{graph}" in words_of(c)]
    assert mine
    if graph in ENDLESS:
        assert any(c.seen.count(ENDLESS[graph]) >= 10 for c in mine)
    else:
        assert any("! the end" in c.seen for c in mine)
