"""`statecli validate`: find what is wrong in graphs, and say it at the right place."""

from __future__ import annotations

import argparse
import gc
from collections.abc import Iterable

from statecli import __version__
from statecli.cli.output import tell, write
from statecli.cli.outputs import Outputs
from statecli.cli.settings import Settings
from statecli.cli.sources import Source, Sources
from statecli.config import LEVELS
from statecli.lint.facts import Facts
from statecli.lint.linter import check, facts_of
from statecli.lint.proofs import Proving
from statecli.lint.rule import rules
from statecli.load.loader import FORMS, build
from statecli.model.unable import Unable
from statecli.report.reporter import FAILING, Finished, Numbers, Report, names, shown_path
from statecli.verify import DEFAULT_BUDGET

NAME = "validate"
HELP = "find what is wrong in graphs, and say it at the right place"


def add(parser: argparse.ArgumentParser) -> None:
    """The options, in the order of `--help`."""
    parser.add_argument(
        "graphs",
        nargs="*",
        metavar="GRAPH",
        help="files, folders, patterns, - for standard input, or a graph in Python code, "
        "package.module:graph (default: graphs/, else .)",
    )
    _add_input(parser.add_argument_group("what is read"))
    _add_rules(parser.add_argument_group("what is looked for"))
    _add_exit(parser.add_argument_group("what makes it fail"))
    _add_report(parser.add_argument_group("what is shown"))
    _add_fixes(parser.add_argument_group("fixes"))


def _add_input(group: argparse._ArgumentGroup) -> None:
    flag = "store_true"
    group.add_argument("--form", choices=FORMS, help="read every file as a graph of this form")
    group.add_argument("--strict-input", action=flag, help="a named file that is no graph fails")
    group.add_argument("--allow-empty", action=flag, help="a folder without graphs is fine")
    group.add_argument(
        "--allow-plugins", action=flag, help="run the module of package.module:graph"
    )
    group.add_argument("--stdin-filename", metavar="FILE", help="what standard input is called")


def _add_rules(group: argparse._ArgumentGroup) -> None:
    for option, text in (
        ("--select", "only these rules and families"),
        ("--ignore", "all but these rules and families"),
        ("--extend-select", "these rules and families too"),
    ):
        group.add_argument(option, action="append", metavar="RULE,..", help=text)
    group.add_argument(
        "--severity", action="append", metavar="RULE=LEVEL", help="error, warning, info or off"
    )
    group.add_argument("--list-rules", action="store_true", help="show every rule and end")
    _add_proofs(group)


def _add_proofs(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--verify",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="explore which turns the guards and the data allow (default: on)",
    )
    group.add_argument(
        "--budget",
        type=_budget,
        metavar="N",
        help=f"so many steps of that for each graph (default: {DEFAULT_BUDGET:,})",
    )
    group.add_argument(
        "--timeout", type=_seconds, metavar="S", help="stop it after so many seconds in any case"
    )
    group.add_argument(
        "--witness-dir", metavar="DIR", help="write the run that shows a finding as a file there"
    )


def _budget(word: str) -> int:
    """A number of expansions."""
    if not word.isascii() or not word.isdigit() or not 0 < int(word) <= 10**12:
        raise argparse.ArgumentTypeError(f"'{word}' is no number of steps (1 or more)")
    return int(word)


def _seconds(word: str) -> float:
    try:
        seconds = float(word)
    except ValueError:
        seconds = 0
    if not 0 < seconds < 10**9:
        raise argparse.ArgumentTypeError(f"'{word}' is no number of seconds")
    return seconds


def _add_exit(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--fail-on", choices=LEVELS, help="end with 1 from this severity on (default: error)"
    )
    group.add_argument(
        "--strict",
        dest="fail_on",
        action="store_const",
        const="warning",
        help="the same as --fail-on warning",
    )
    group.add_argument("--exit-zero", action="store_true", help="end with 0 whatever is found")


def _add_report(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--format",
        action="append",
        metavar="FORMAT[=FILE]",
        help=f"{', '.join(names())} (default: text); may be given several times",
    )
    group.add_argument("-o", "--output", metavar="FILE", help="write the report to this file")
    group.add_argument("-v", "--verbose", action="store_true", help="show infos too")
    group.add_argument("--all", action="store_true", help="show all of a rule, however many")


def _add_fixes(group: argparse._ArgumentGroup) -> None:
    flag = "store_true"
    group.add_argument("--fix", action=flag, help="change the files where that is safe")
    group.add_argument("--unsafe-fixes", action=flag, help="and where it is only likely right")
    group.add_argument("--diff", action=flag, help="print the changes as a patch, make none")


def run(args: argparse.Namespace) -> int:
    """Check every graph, print the report, and say by the exit code how it went."""
    if args.list_rules:
        from statecli.cli.rule_list import lines

        write(lines())
        return 0
    fixes = args.fix or args.diff
    if args.unsafe_fixes and not fixes:
        raise Unable("--unsafe-fixes alone does nothing", "add --fix or --diff")
    if fixes and not args.diff and "-" in args.graphs:
        raise Unable("--fix cannot change standard input", "--diff shows the changes")
    if args.witness_dir is not None and not args.verify:
        raise Unable("--witness-dir needs the verifier", "leave --no-verify out")
    outputs = Outputs(args)
    sources = Sources(args, Settings(args))
    collecting = gc.isenabled()
    gc.disable()  # graphs hold no cycles, and looking for them takes longer than all rules
    try:
        fails = _show_patch(args, sources) if args.diff else _show(args, sources, outputs)
    finally:
        if collecting:
            gc.enable()
    if sources.trouble:
        return 2
    return 1 if fails and not args.exit_zero else 0


def _show_patch(args: argparse.Namespace, sources: Sources) -> bool:
    """Print what `--fix` would change; true if that is anything."""
    from statecli.cli.fixing import Fixing

    fixing = Fixing(args)
    for source in sources:
        fixing.fixed(source)
    _complain(sources)
    write(fixing.patch)
    return bool(fixing.patch)


def _show(args: argparse.Namespace, sources: Sources, outputs: Outputs) -> bool:
    """Check, report; true if something found makes the call fail."""
    graphs: Iterable[Source] = sources
    if args.fix:
        from statecli.cli.fixing import Fixing

        graphs = map(Fixing(args).fixed, sources)
    numbers: dict[str, Numbers] = {}
    found: list[Finished] = []
    proving = Proving(args.budget or DEFAULT_BUDGET, args.timeout) if args.verify else None
    for source in graphs:
        loaded = source.python or build(source.document, source.form)
        facts = facts_of(loaded, source.config, proving)
        failing = FAILING[source.config.fail_on]
        diagnostics = check(facts)
        found += (
            Finished(item, item.severity in failing and item.finding.verdict != "possible")
            for item in diagnostics
        )
        numbers[source.path] = _proved(facts, _numbers(facts) if outputs.counts else Numbers())
        if args.witness_dir is not None and args.verify and not facts.is_python:
            from statecli.cli.witnesses import write_all

            write_all(args.witness_dir, facts, diagnostics)
    _complain(sources)
    if numbers or not sources.trouble:
        skipped = tuple(sources.skipped)
        outputs.write(Report(numbers, skipped, tuple(found), rules(), __version__))
    return any(item.fails for item in found)


def _numbers(facts: Facts) -> Numbers:
    if facts.graph is None:
        return Numbers()
    written = sum(len(state.transitions) for state in facts.states)
    reached = sum(facts.reachable[: facts.end])
    terminal = tuple(facts.terminals)
    return Numbers(facts.graph.form, len(facts.states), written, reached, terminal)


def _proved(facts: Facts, numbers: Numbers) -> Numbers:
    """With what the verifier decided."""
    report = facts.verified
    if report is None:
        return numbers
    state = "exact" if report.exact else "partial"
    return numbers._replace(verified=state, undecided=report.undecided)


def _complain(sources: Sources) -> None:
    """What was not checked, and why."""
    for path, reason in sources.skipped:
        tell(f"skipped {shown_path(path)}: {reason}")
    for trouble in sources.trouble:
        tell(f"statecli: {shown_path(trouble)}")
