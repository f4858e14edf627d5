"""Writes `completions/` from the options themselves: python tests/write_completions.py"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import shtab

from statecli.cli.app import full_parser
from statecli.lint.rule import FAMILIES, rules
from statecli.report.reporter import names

FOLDER = Path(__file__).resolve().parent.parent / "completions"
#: The file that each shell looks for.
FILES = {"bash": "statecli.bash", "zsh": "_statecli", "fish": "statecli.fish"}


def written(shell: str) -> str:
    """The completion script of a shell."""
    parser = full_parser()
    for action in _actions(parser):
        if action.metavar in ("FILE", "GRAPH", "FOLDER") and not action.choices:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
        elif "--format" in action.option_strings and not action.choices:
            action.choices = names()
        elif action.metavar == "RULE,..":
            action.choices = [*rules(), *FAMILIES]
    return shtab.complete(parser, shell)


def _actions(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """Every argument of a parser and of its commands."""
    found: list[argparse.Action] = []
    for action in parser._actions:
        found.append(action)
        if isinstance(action, argparse._SubParsersAction):
            for sub in action.choices.values():
                found += _actions(sub)
    return found


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for shell, name in FILES.items():
        (FOLDER / name).write_text(written(shell), encoding="utf-8", newline="\n")
    sys.exit(0)
