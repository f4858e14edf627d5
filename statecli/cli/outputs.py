"""`--format` and `-o`: which reports are written, and where to."""

from __future__ import annotations

import argparse
from typing import NamedTuple

from statecli.cli.output import wants_color, width, write
from statecli.model.nearest import did_you_mean
from statecli.model.unable import Unable
from statecli.report.reporter import Report, Reporter, Style, names, reporter


class Output(NamedTuple):
    """One report: its format, and the file it goes to (None: standard output)."""

    format: str
    reporter: Reporter
    file: str | None


class Outputs:
    """The reports that were asked for. `counts`: one of them shows graphs in numbers."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        self.outputs = [_output(word) for word in args.format or ["text"]]
        printed = [output for output in self.outputs if output.file is None]
        if args.output is not None:
            if len(printed) != 1:
                hint = "write --format FORMAT=FILE for each"
                raise Unable("-o takes one report, and several go to it", hint)
            at = self.outputs.index(printed[0])
            self.outputs[at] = printed[0]._replace(file=args.output)
        elif len(printed) > 1 and any(output.reporter.WHOLE for output in printed):
            whole = next(output.format for output in printed if output.reporter.WHOLE)
            hint = f"write --format {whole}=FILE"
            raise Unable(f"a {whole} report cannot share standard output with another", hint)
        self.counts = any(output.reporter.COUNTS for output in self.outputs)

    def write(self, report: Report) -> None:
        """Write every report: the files first, so that they are there even if nobody reads on."""
        for output in sorted(self.outputs, key=lambda output: output.file is None):
            if output.file is None:
                write(output.reporter.pieces(report, self.style(True)))
            else:
                text = "".join(output.reporter.pieces(report, self.style(False)))
                from statecli.text.whole_file import write_file

                write_file(output.file, text.encode("utf-8", "replace"))

    def style(self, screen: bool) -> Style:
        args = self.args
        if not screen:
            return Style(False, args.verbose, args.all)
        return Style(wants_color(args.no_color), args.verbose, args.all, width())


def _output(word: str) -> Output:
    name, _, file = word.partition("=")
    known = names()
    if name not in known:
        hint = did_you_mean(name, known)
        raise Unable(f"--format: '{name}' is none of {', '.join(known)}", hint)
    if "=" in word and not file:
        raise Unable(f"--format {word}: the file is missing", f"write --format {name}=FILE")
    return Output(name, reporter(name), file or None)
