"""`statecli explain`: a rule, or the ways out of a graph's states."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Iterator

from statecli.cli.one_graph import examined
from statecli.cli.output import write
from statecli.lint.facts import Facts
from statecli.lint.rule import FAMILIES, Rule, rules
from statecli.load.loader import FORMS
from statecli.model.nearest import MOST, nearest
from statecli.model.unable import Unable

NAME = "explain"
HELP = "explain a rule, or where each state of a graph may go and when"


def add(parser: argparse.ArgumentParser) -> None:
    """The options, in the order of `--help`."""
    parser.add_argument(
        "words",
        nargs="*",
        metavar="RULE|GRAPH [STATE]",
        help="rules (default: all), or a graph file (or a graph in Python code, "
        "package.module:graph) and its states (default: all)",
    )
    parser.add_argument(
        "--format", choices=("text", "json"), default="text", help="for people or for programs"
    )
    parser.add_argument(
        "--allow-plugins", action="store_true", help="run the module of package.module:graph"
    )
    parser.add_argument("--form", choices=FORMS, help="read the file as a graph of this form")
    parser.add_argument(
        "--with",
        dest="conversation",
        metavar="FILE",
        help="play a witness or conversation, with the value of every guard on the way",
    )


def run(args: argparse.Namespace) -> int:
    """Print what was asked for."""
    words: list[str] = args.words
    if args.conversation is not None and not (words and is_graph(words[0])):
        raise Unable("--with plays a file on a graph", "name the graph first")
    if words and is_graph(words[0]):
        return _graph(args, words[0], words[1:])
    write(_rules(words, args.format))
    return 0


def is_graph(word: str) -> bool:
    """Whether a word means a file: it is one, or looks like the path of one."""
    return os.path.isfile(word) or any(sign in word for sign in "/\\.:")


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
    found = examined(args, path, args.format)
    if found is None:
        return 1
    facts = found.facts
    for name in names:
        if name not in facts.index:
            hint = _nearest(name, facts.index, f"statecli explain {path}")
            raise Unable(f"{path}: no state is named '{name}'", hint)
    if args.conversation is not None:
        return _replay(facts, args.conversation, names)
    from statecli.cli import graph_text

    numbers = [facts.index[name] for name in dict.fromkeys(names)] or range(len(facts.states))
    write(graph_text.pieces(facts, found.diagnostics, numbers, args.format, whole=not names))
    return 0


def _replay(facts: Facts, file: str, names: list[str]) -> int:
    """Play a conversation file; 1 if it cannot be played to its end."""
    from statecli.cli.output import tell
    from statecli.cli.replayed import Replayed, script

    assert facts.graph is not None
    played = Replayed(facts.graph, script(file), names)
    write(played.lines())
    if played.failed:
        tell(played.failed)
    return 1 if played.failed else 0
