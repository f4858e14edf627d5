"""Options of `test` that say nothing beside others, or without them: told before anything runs."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Collection

from statecli.discover import identity
from statecli.model.unable import Unable
from statecli.text.whole_file import check_place

#: Options that say something only beside one of others.
_BESIDE = {
    "write": ("suggest", "random", "persona"),
    "seed": ("random",),
    "max_turns": ("random", "persona"),
    "budget_cost": ("persona", "record", "model"),
    "expect": ("model",),
    "base_url": ("model",),
}
#: What plays no conversation files, or does not judge them, and the options that are about that.
_ALONE = {
    "random": ("keyword", "update", "record", "coverage", "coverage_file", "fail_under", "suggest",
               "junit", "quiet", "expect"),
    "persona": ("keyword", "update", "record", "coverage", "coverage_file", "fail_under", "suggest",
                "junit", "quiet", "expect"),
    "record": ("update", "coverage", "coverage_file", "fail_under", "suggest", "junit", "quiet",
               "expect"),
}  # fmt: skip
_SEED = 0
_TURNS = 30


def checked(args: argparse.Namespace) -> None:
    """Refuse what cannot be meant. Raises Unable; fills in what is not said."""
    from statecli.cli.one_graph import named

    named(args)
    for name, others in _BESIDE.items():
        if _given(args, name) and not any(_given(args, other) for other in others):
            words = " or ".join(map(_option, others))
            raise Unable(f"{_option(name)} says nothing without {words}")
    for name, others in _ALONE.items():
        other = next((o for o in others if _given(args, name) and _given(args, o)), None)
        if other is not None:
            raise Unable(f"{_option(other)} says nothing beside {_option(name)}")
    _numbers(args)
    _models(args)
    _keywords(args.keyword)
    args.seed = _SEED if args.seed is None else args.seed
    args.max_turns = _TURNS if args.max_turns is None else args.max_turns
    if args.write is not None and os.path.exists(args.write) and not os.path.isdir(args.write):
        raise Unable(f"--write {args.write}: this is no folder")
    for file in (args.junit, args.coverage_file):
        if file is not None:
            check_place(file)


def spared(args: argparse.Namespace, conversations: Collection[str]) -> None:
    """Refuse to write a report over a conversation, or over the other report: an option that lacks
    its file takes the next word for it."""
    written: set[str] = set()
    for name in ("junit", "coverage_file"):
        file = getattr(args, name)
        if file is None or not (os.path.isfile(file) or not os.path.exists(file)):
            continue
        key = identity(file)
        if key in conversations:
            raise Unable(f"{_option(name)} {file}: this is a conversation, it would be lost")
        if key in written:
            raise Unable(f"{_option(name)} {file}: another report is written there")
        written.add(key)


def _given(args: argparse.Namespace, name: str) -> bool:
    return getattr(args, name) not in (None, False, [])


def _option(name: str) -> str:
    return "-k" if name == "keyword" else f"--{name.replace('_', '-')}"


def _numbers(args: argparse.Namespace) -> None:
    if args.jobs < 0:
        raise Unable("--jobs: at least 1, or 0 for one for each core")
    if args.random is not None and args.random < 1:
        raise Unable("--random: at least 1")
    if args.max_turns is not None and args.max_turns < 1:
        raise Unable("--max-turns: at least 1")
    if args.budget_cost is not None and not args.budget_cost >= 0:
        raise Unable("--budget-cost: at least 0")
    if args.fail_under is not None and not 0 <= args.fail_under <= 100:
        raise Unable("--fail-under: a number from 0 to 100")


def _models(args: argparse.Namespace) -> None:
    if args.record and args.model is None:
        raise Unable("--record asks a model", "name it: --model NAME")
    if args.persona and args.model is None:
        raise Unable("--persona needs a model that plays the person", "name it: --model NAME")
    if args.update and args.model is not None:
        raise Unable("--update writes what the file itself does, not what a model does",
                     "--record writes what a model says")  # fmt: skip


def _keywords(text: str | None) -> None:
    """`-k` has words with `and`, `or`, `not` between them, and nothing else."""
    if text is None:
        return
    parts = re.split(r"\b(?:and|or)\b", text.casefold())
    empty = any(re.fullmatch(r"\s*(not\s*)*", part) for part in parts)
    if empty or re.search(r"[()]", text):
        raise Unable(
            f"-k {text!r}: words are wanted here, with 'and', 'or' and 'not' between them, and no"
            " brackets",
            "-k 'refund and not vip'",
        )
