"""For people: the source with carets, the other places, and the way out."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from statecli.model.diagnostic import SEVERITIES, Diagnostic
from statecli.model.span import Span
from statecli.report.reporter import (
    Finished,
    Report,
    Style,
    counted,
    document_of,
    in_order,
    shown_path,
)
from statecli.text.excerpt import harmless, marked
from statecli.text.veil import Veil, veils

WHOLE = False
COUNTS = False

#: So many of one rule are shown in full when they do not make the call fail.
MOST = 20
#: So many other places of one diagnostic are shown.
MOST_PLACES = 4
_COLORS = {"error": "1;31", "warning": "1;33", "info": "1;36", "frame": "34", "fix": "32"}


def pieces(report: Report, style: Style) -> Iterator[str]:
    """Each diagnostic, the milder ones of a rule grouped, and a last line that counts them."""
    shown = [
        item
        for item in report.found
        if style.verbose or item.fails or item.diagnostic.severity != "info"
    ]
    veil = veils([item.diagnostic for item in shown])
    ordered = in_order(shown, report.graphs)
    for _, of_severity in groupby(ordered, key=lambda item: item.diagnostic.severity):
        whole, rest = _grouped(list(of_severity), style)
        for item in whole:
            yield _Block(item, veil[id(item.source)], style).text()
        for others in rest:
            yield _more(others, style)
    yield _summary(report, shown, style)


def _grouped(
    found: list[Finished], style: Style
) -> tuple[list[Diagnostic], list[list[Diagnostic]]]:
    """What is shown in full, and for each rule what is only counted."""
    whole: list[Diagnostic] = []
    seen: dict[str, int] = {}
    rest: dict[str, list[Diagnostic]] = {}
    for item, fails in found:
        seen[item.rule] = seen.get(item.rule, 0) + 1
        if fails or style.all or seen[item.rule] <= MOST:
            whole.append(item)
        else:
            rest.setdefault(item.rule, []).append(item)
    return whole, list(rest.values())


class _Block:
    """One diagnostic as a block of lines."""

    def __init__(self, item: Diagnostic, veil: Veil, style: Style) -> None:
        self.item = item
        self.veil = veil
        self.style = style
        self.document = document_of(item)
        related = item.finding.related
        self.others = [(other.message, self.document.span(other.at)) for other in related]
        lines = [item.span.start.line, *(span.start.line for _, span in self.others[:MOST_PLACES])]
        self.gutter = len(str(max(lines)))

    def text(self) -> str:
        item, finding = self.item, self.item.finding
        line, column = item.span.start
        possible = " (possible)" if finding.verdict == "possible" else ""
        label = self.paint(f"{item.severity}[{item.rule}]", item.severity)
        message = self.paint(harmless(self.veil.text(finding.message)), "1")
        edge = self.paint("-->", "frame")
        found = [f"{label}: {message}{possible}"]
        found.append(f"{' ' * self.gutter}{edge} {shown_path(item.path)}:{line}:{column}")
        found += self.excerpt(item.span, "^", item.severity)
        for said, span in self.others[:MOST_PLACES]:
            found += self.excerpt(span, "-", "frame", harmless(self.veil.text(said)))
        if len(self.others) > MOST_PLACES:
            lines = ", ".join(str(span.start.line) for _, span in self.others[MOST_PLACES:][:20])
            found.append(f"{self.bar('=')} and: line {lines}")
        if finding.hint:
            hint = harmless(self.veil.text(finding.hint))
            found.append(f"{self.bar('=')} {self.paint('fix:', 'fix')} {hint}")
        return "\n".join(found) + "\n\n"

    def excerpt(self, span: Span, mark: str, color: str, label: str = "") -> list[str]:
        """The line of a span and its marks; nothing for an empty file."""
        source = self.veil.line(span.start.line)
        if not source.strip():
            return []
        room = max(20, self.style.width - self.gutter - 3)
        line = marked(source, span, room, mark)
        marks = self.paint(line.marks + (f" {label}" if label else ""), color)
        number = self.paint(f"{span.start.line:>{self.gutter}} |", "frame")
        return [self.bar("|"), f"{number} {line.text}", f"{self.bar('|')} {marks}"]

    def bar(self, sign: str) -> str:
        return self.paint(f"{' ' * self.gutter} {sign}", "frame")

    def paint(self, text: str, color: str) -> str:
        return paint(text, color, self.style)


def _more(others: list[Diagnostic], style: Style) -> str:
    """The rest of one rule, as places."""
    first = others[0]
    label = paint(f"{first.severity}[{first.rule}]", first.severity, style)
    found = [f"{label}: {len(others):,} more like these (--all shows them)"]
    for path, items in groupby(others, key=lambda item: item.path):
        lines = [str(item.span.start.line) for item in items]
        shown = ", ".join(lines[:12]) + (", …" if len(lines) > 12 else "")
        found.append(f"  {paint('-->', 'frame', style)} {shown_path(path)}: line {shown}")
        if len(found) > MOST_PLACES:
            break
    return "\n".join(found) + "\n\n"


def _summary(report: Report, shown: list[Finished], style: Style) -> str:
    counts = [(severity, report.number(severity)) for severity in SEVERITIES]
    visible = {item.diagnostic.severity for item in shown}
    said = [
        paint(counted(number, severity), severity, style)
        for severity, number in counts
        if severity in visible
    ]
    graphs = counted(len(report.graphs), "graph")
    text = f"{', '.join(said) or 'no problems'} in {graphs}"
    fixes = [item.diagnostic.finding.fix for item in shown]
    safe = sum(fix is not None and fix.safe for fix in fixes)
    unsafe = sum(fix is not None and not fix.safe for fix in fixes)
    if safe:
        text += f" · {safe:,} fixable with --fix"
    if unsafe:
        text += f" · {unsafe:,} {'more ' if safe else 'fixable '}with --fix --unsafe-fixes"
    hidden = report.number("info") if "info" not in visible else 0
    if hidden:
        text += f" · {counted(hidden, 'info')} with -v"
    return f"{text}{_verified(report)}\n"


def _verified(report: Report) -> str:
    """Whether all that the guards and the data allow is known."""
    graphs = list(report.graphs.values())
    undecided = [said for numbers in graphs for said in numbers.undecided]
    if undecided:
        more = f" (and {len(undecided) - 1} more)" if len(undecided) > 1 else ""
        return f" · not decided: {harmless(undecided[0])}{more}"
    if graphs and all(numbers.verified == "exact" for numbers in graphs):
        return " · verified exactly"
    return ""


def paint(text: str, color: str, style: Style) -> str:
    """A text in colour, where colours are wanted."""
    return f"\x1b[{_COLORS.get(color, color)}m{text}\x1b[0m" if style.color else text
