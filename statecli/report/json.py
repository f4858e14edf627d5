"""The stable, versioned report for programs (cli.md has its schema)."""

from __future__ import annotations

import json
from collections.abc import Iterator

from statecli.model.diagnostic import SEVERITIES, Diagnostic, Witness
from statecli.model.fingerprint import fingerprints
from statecli.model.span import Position, Span, dotted
from statecli.report.reporter import Report, Style, document_of, in_repository
from statecli.text.document import Document
from statecli.text.edits import changes
from statecli.text.veil import Veil, veils

WHOLE = True
COUNTS = True


def pieces(report: Report, _style: Style) -> Iterator[str]:
    """The whole report as one JSON object."""
    found = report.ordered()
    veil = veils(found)
    marks = fingerprints(found, in_repository)
    shown = [
        _diagnostic(item, veil[id(item.source)], mark)
        for item, mark in zip(found, marks, strict=True)
    ]
    whole = {
        "version": 1,
        "statecli": report.version,
        "summary": {
            "graphs": len(report.graphs),
            "skipped": len(report.skipped),
            **{severity: report.number(severity) for severity in SEVERITIES},
            "fixable": sum(item["fix"] is not None for item in shown),
        },
        "graphs": [{"path": path, **numbers._asdict()} for path, numbers in report.graphs.items()],
        "diagnostics": shown,
    }
    yield dumps(whole)
    yield "\n"


def dumps(value: object) -> str:
    """JSON that people can read too; escaped where UTF-8 has no way to write it."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, indent=2)
    return text


def _diagnostic(item: Diagnostic, veil: Veil, fingerprint: str) -> dict[str, object]:
    finding, document = item.finding, document_of(item)
    return {
        "rule": item.rule,
        "family": item.family,
        "severity": item.severity,
        "verdict": finding.verdict,
        "message": veil.text(finding.message),
        "path": item.path,
        **_span(item.span),
        "where": dotted(finding.at.path),
        "states": list(finding.states),
        "related": [
            {
                "message": veil.text(other.message),
                "path": item.path,
                **_span(document.span(other.at)),
            }
            for other in finding.related
        ],
        "hint": veil.text(finding.hint) or None,
        "witness": _witness(finding.witness),
        "fix": _fix(item, document, veil),
        "fingerprint": fingerprint,
    }


def _witness(witness: Witness | None) -> list[dict[str, object]]:
    """The states that a run goes through; the first with what was given before the start."""
    if witness is None:
        return []
    visits: list[dict[str, object]] = [
        {"state": visit.state, "turns": list(map(dict, visit.turns)), "takes": visit.takes}
        for visit in witness.visits
    ]
    if witness.given:
        visits[0]["given"] = dict(witness.given)
    return visits


def _fix(item: Diagnostic, document: Document, veil: Veil) -> dict[str, object] | None:
    fix = item.finding.fix
    resolved = changes(document, fix) if fix is not None else None
    if fix is None or resolved is None:
        return None
    edits = [
        {
            "start": _position(document.position(change.start)),
            "end": _position(document.position(change.end)),
            "text": veil.text(change.text),
        }
        for change in resolved
    ]
    return {"safe": fix.safe, "title": veil.text(fix.title), "edits": edits}


def _span(span: Span) -> dict[str, dict[str, int]]:
    return {"start": _position(span.start), "end": _position(span.end)}


def _position(at: Position) -> dict[str, int]:
    return {"line": at.line, "column": at.column}
