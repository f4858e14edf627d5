"""Workflow commands that GitHub shows as annotations on the lines of a pull request."""

from __future__ import annotations

from collections.abc import Iterator

from statecli.model.diagnostic import SEVERITIES, Diagnostic
from statecli.report.reporter import Report, Style, in_repository, shown_path
from statecli.text.excerpt import harmless
from statecli.text.veil import Veil, veils

WHOLE = False
COUNTS = False

_COMMANDS = {"error": "error", "warning": "warning", "info": "notice"}
#: So many annotations of one kind are shown in a step; the others are only in its log.
SHOWN = 10


def pieces(report: Report, _style: Style) -> Iterator[str]:
    """One line per diagnostic, errors first. Where GitHub shows only some of them, a notice says
    so; it stands before the other notices, as those are limited too."""
    found = report.ordered()
    veil = veils(found)
    hidden = sum(max(0, report.number(severity) - SHOWN) for severity in SEVERITIES)
    for item in found:
        if hidden and item.severity == "info":
            yield _notice(hidden)
            hidden = 0
        yield _line(item, veil[id(item.source)])
    if hidden:
        yield _notice(hidden)


def _notice(hidden: int) -> str:
    return f"::notice::{hidden:,} more findings are in the log\n"


def _line(item: Diagnostic, veil: Veil) -> str:
    span = item.span
    path = shown_path(in_repository(item.path))
    properties = [f"file={_property(path)}", f"line={span.start.line}"]
    if span.start.line == span.end.line:  # columns count on one line only
        properties.append(f"col={span.start.column}")
        properties.append(f"endLine={span.end.line}")
        properties.append(f"endColumn={span.end.column}")
    else:
        properties.append(f"endLine={span.end.line}")
    properties.append(f"title=statecli ({item.rule})")
    said = f"{path}:{span.start.line}:{span.start.column}: {item.rule} {item.message}"
    if item.finding.hint:
        said += f"; {item.finding.hint}"
    message = _message(harmless(veil.text(said)))
    return f"::{_COMMANDS[item.severity]} {','.join(properties)}::{message}\n"


def _message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")
