"""The one graph file that a command is given: its bytes, its settings, what is found in it."""

from __future__ import annotations

import argparse
import os
import sys
from typing import NamedTuple

from statecli import __version__
from statecli.cli.output import tell, wants_color, width, write
from statecli.cli.settings import Settings
from statecli.config import Config
from statecli.discover import is_python, reason_of
from statecli.lint.facts import Facts
from statecli.lint.linter import check, facts_of
from statecli.lint.proofs import PROVING
from statecli.lint.rule import rules
from statecli.load.loader import build
from statecli.model.diagnostic import Diagnostic
from statecli.model.graph import Graph
from statecli.model.unable import Unable
from statecli.report.reporter import Finished, Numbers, Report, Style, reporter
from statecli.text import reading
from statecli.text.document import MAX_BYTES

#: The options for rules, which only validate has.
_OF_VALIDATE = ("select", "ignore", "extend_select", "severity", "fail_on")


def content(path: str) -> bytes:
    """What the file holds, a byte more than may be read at most. Raises Unable."""
    if os.path.isdir(path):
        raise Unable(f"{path}: this is a folder", "name one graph file")
    try:
        with open(path, "rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        name = path or "''"
        raise Unable(f"{name}: {reason_of(error)}") from error


def spare(option: str, written: str | None, kept: str | None) -> None:
    """Raises Unable where an option would write over a file that is read or written otherwise."""
    if not written or not kept:
        return
    if os.path.realpath(written) == os.path.realpath(kept) and "\0" not in written:
        raise Unable(f"{option} {written}: this would overwrite {kept}", "name another file")


def named(args: argparse.Namespace) -> None:
    """Raises Unable for a model or an address that is named and empty: nothing else takes its
    place unasked."""
    for option, name in (("--model", args.model), ("--base-url", args.base_url)):
        if name is not None and not name.strip():
            raise Unable(f"{option}: nothing is named", f"leave {option} out, or name one")


def config_of(args: argparse.Namespace, path: str) -> Config:
    """The settings of the graph's folder, without options for rules."""
    return settings_of(args).of(path)


def settings_of(args: argparse.Namespace) -> Settings:
    """The settings of each folder, for a command without options for rules."""
    return Settings(argparse.Namespace(**dict.fromkeys(_OF_VALIDATE), config=args.config))


class Examined(NamedTuple):
    """A graph that could be read, with everything that was found in it."""

    path: str
    graph: Graph
    facts: Facts
    diagnostics: list[Diagnostic]
    config: Config


def examined(
    args: argparse.Namespace, path: str, form: str = "text", *, proves: bool = True
) -> Examined | None:
    """The graph in a file. None where it cannot be read: what is wrong with it was then reported
    as `validate` does, on standard error (json, which a program reads, on standard output).
    `proves`: with what the verifier finds. Raises Unable for what is no graph at all."""
    if is_python(path):
        return _of_python(args, path, proves=proves)
    config = config_of(args, path)
    document = reading.document(path.removeprefix("./"), content(path))
    proving = PROVING if proves else None
    facts = facts_of(build(document, args.form or config.form(path)), config, proving)
    found = check(facts)
    broken = [item for item in found if _prevents(item)]
    if facts.graph is None or not facts.states or broken:
        if not found:
            raise Unable(f"{path}: this is no graph")
        _report(args, path, broken or found, form)
        return None
    return Examined(path, facts.graph, facts, found, config)


def _of_python(args: argparse.Namespace, word: str, *, proves: bool) -> Examined:
    """A graph that Python code builds."""
    from statecli.cli import targets

    targets.need(args.allow_plugins, word)
    loaded, given = targets.load(word)
    assert loaded.graph is not None
    config = config_of(args, loaded.document.path)
    config = config._replace(inputs=(*config.inputs, *given))
    facts = facts_of(loaded, config, PROVING if proves else None)
    return Examined(word, loaded.graph, facts, check(facts), config)


def _prevents(item: Diagnostic) -> bool:
    """Whether a diagnostic means that the graph could not be read."""
    return item.severity == "error" and rules()[item.rule].exclusive


def _report(args: argparse.Namespace, path: str, found: list[Diagnostic], form: str) -> None:
    finished = tuple(Finished(item, item.severity == "error") for item in found)
    report = Report({path: Numbers()}, (), finished, rules(), __version__)
    said = form == "text"  # no drawing and no explanation: nothing of it may end in their place
    color = wants_color(args.no_color, sys.stderr if said else None)
    style = Style(color, verbose=True, width=width())
    pieces = reporter(form).pieces(report, style)
    if said:
        tell("".join(pieces).removesuffix("\n"))
    else:
        write(pieces)
