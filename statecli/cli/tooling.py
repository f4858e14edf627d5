"""The tools of a chat: what `--allow-tools` allows, and what the person said before."""

from __future__ import annotations

import argparse
import os
from importlib.util import find_spec
from typing import TYPE_CHECKING

from statecli.cli.running import Opened, data_folder
from statecli.config.trust import NAME, Trust
from statecli.model.nearest import did_you_mean
from statecli.model.unable import Unable
from statecli.session.allowance import Allowance
from statecli.session.session import digest
from statecli.session.toolbox import Toolbox, Trusted
from statecli.text.excerpt import plain

if TYPE_CHECKING:
    from statecli.chat.screen import Screen
    from statecli.model.ports import Ask


def toolbox(args: argparse.Namespace, opened: Opened, ask: Ask, screen: Screen) -> Toolbox:
    """The tools that the graph and the configs declare; none of them is connected yet. What the
    person's own config says is their word; another is no more trusted than the graph."""

    def connecting(text: str) -> None:
        screen.calls = True
        tell(text)

    def tell(text: str) -> None:
        screen.close()
        screen.notes(text)
        screen.busy()

    box = Toolbox(
        opened.graph,
        ask,
        Allowance(),
        folder=os.path.dirname(os.path.realpath(opened.path)),
        trusted=Trusted(Trust(data_folder() / NAME), digest(opened.text)),
        plugins=args.allow_plugins,
        tell=tell,
        connecting=connecting,
        folders={name: config.directory or "" for name, config in opened.lent.items()},
        own=frozenset(n for n, c in opened.lent.items() if not c.beside(opened.path)),
    )
    box.allowance = _allowed(args.allow_tools, box)
    return box


def _allowed(words: list[str], box: Toolbox) -> Allowance:
    """`ask`, `all`, or the names of servers and of their tools (server.tool)."""
    names = [name for word in words for name in word.split(",") if name != "ask"]
    for name in names:
        server = name.partition(".")[0]
        if name != "all" and not {server, name} & box.declared.keys():
            listed = ", ".join(box.declared) or "none"
            way = did_you_mean(server, box.declared) or f"there are: {listed}; or ask, or all"
            raise Unable(f"--allow-tools {plain(name)}: no such tool is declared", plain(way))
    allowance = Allowance([n for n in names if n != "all"], everything="all" in names)
    for entry in box.entries.values():
        if not entry.python and allowance.starts(entry.name) and find_spec("mcp") is None:
            way = "pip install 'statecli[mcp]'"
            raise Unable(f"the tool '{plain(entry.name)}' needs the MCP client", way)
    return allowance
