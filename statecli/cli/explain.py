"""`statecli explain`: a rule, or the ways out of a graph's states."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Iterator

from statecli import __version__
from statecli.cli.one_graph import config_of, content
from statecli.cli.output import wants_color, width, write
from statecli.lint.linter import check, facts_of
from statecli.lint.rule import FAMILIES, Rule, rules
from statecli.load.loader import FORMS, build
from statecli.model.diagnostic import Diagnostic
from statecli.model.nearest import MOST, nearest
from statecli.model.unable import Unable
from statecli.report.reporter import Finished, Numbers, Report, Style, reporter
from statecli.text import reading

NAME = "explain"
HELP = "explain a rule, or where each state of a graph may go and when"


def add(parser: argparse.ArgumentParser) -> None:
    """The options, in the order of `--help`."""
    parser.add_argument(
        "words",
        nargs="*",
        metavar="RULE|GRAPH [STATE]",
        help="rules (default: all), or a graph file and its states (default: all)",
    )
    parser.add_argument(
        "--format", choices=("text", "json"), default="text", help="for people or for programs"
    )
    parser.add_argument("--form", choices=FORMS, help="read the file as a graph of this form")


def run(args: argparse.Namespace) -> int:
    """Print what was asked for."""
    words: list[str] = args.words
    if words and is_graph(words[0]):
        return _graph(args, words[0], words[1:])
    write(_rules(words, args.format))
    return 0


def is_graph(word: str) -> bool:
    """Whether a word means a file: it is one, or looks like the path of one."""
    return os.path.isfile(word) or any(sign in word for sign in "/\\.")


def _rules(words: list[str], form: str) -> Iterator[str]:
    known = rules()
    for word in words:
        if word not in known:
            raise Unable(f"no rule is named '{word}'", _nearest(word, known, "statecli explain"))
    from statecli.cli import rule_text

    if words or form == "json":
        by_family = sorted(known.values(), key=lambda rule: (FAMILIES.index(rule.family), rule.id))
        chosen: list[Rule] = [known[word] for word in dict.fromkeys(words)] or by_family
        return rule_text.as_json(chosen) if form == "json" else rule_text.whole(chosen)
    return rule_text.overview(known.values())


def _nearest(word: str, known: Iterable[str], all_of_them: str) -> str:
    """The names that a wrong one may have been meant to be, or where they all are."""
    names = list(known)
    found = [name for name in [nearest(word, names)] if name is not None]
    if len(word) > 2:
        found += [name for name in names if word.casefold() in name.casefold()]
    if not found and len(word) <= 100:
        import difflib

        found = difflib.get_close_matches(word, names[:MOST], n=3)
    listed = list(dict.fromkeys(found))[:5]
    if listed:
        return f"did you mean {' or '.join(repr(name) for name in listed)}?"
    return f"{all_of_them} shows them all"


def _graph(args: argparse.Namespace, path: str, names: list[str]) -> int:
    config = config_of(args, path)
    document = reading.document(path.removeprefix("./"), content(path))
    facts = facts_of(build(document, args.form or config.form(path)), config)
    found = check(facts)
    broken = [item for item in found if _prevents(item)]
    if not facts.states or broken:
        if not found:
            raise Unable(f"{path}: this is no graph")
        _report(args, path, broken or found)
        return 1
    for name in names:
        if name not in facts.index:
            hint = _nearest(name, facts.index, f"statecli explain {path}")
            raise Unable(f"{path}: no state is named '{name}'", hint)
    from statecli.cli import graph_text

    numbers = [facts.index[name] for name in dict.fromkeys(names)] or range(len(facts.states))
    write(graph_text.pieces(facts, found, numbers, args.format, whole=not names))
    return 0


def _prevents(item: Diagnostic) -> bool:
    """Whether a diagnostic means that the graph could not be read."""
    return item.severity == "error" and rules()[item.rule].exclusive


def _report(args: argparse.Namespace, path: str, found: list[Diagnostic]) -> None:
    """The diagnostics as `validate` prints them."""
    finished = tuple(Finished(item, item.severity == "error") for item in found)
    report = Report({path: Numbers()}, (), finished, rules(), __version__)
    style = Style(wants_color(args.no_color), verbose=True, width=width())
    write(reporter(args.format).pieces(report, style))
