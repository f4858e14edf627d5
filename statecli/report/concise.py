"""One line per diagnostic: `path:line:col: error: message [rule]`."""

from __future__ import annotations

from collections.abc import Iterator

from statecli.report.reporter import Report, Style, shown_path
from statecli.text.excerpt import harmless
from statecli.text.veil import veils

WHOLE = False
COUNTS = False


def pieces(report: Report, _style: Style) -> Iterator[str]:
    """The lines, as editors and `grep` read them."""
    found = report.ordered()
    veil = veils(found)
    for item in found:
        line, column = item.span.start
        said = item.message + (f"; {item.finding.hint}" if item.finding.hint else "")
        said = harmless(veil[id(item.source)].text(said))
        path = shown_path(item.path)
        yield f"{path}:{line}:{column}: {item.severity}: {said} [{item.rule}]\n"
