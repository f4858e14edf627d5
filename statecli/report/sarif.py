"""SARIF 2.1.0 as GitHub code scanning and other services read it (formats.md)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from urllib.parse import quote

from statecli.model.diagnostic import Diagnostic
from statecli.model.fingerprint import fingerprints
from statecli.model.span import Place, Span, dotted
from statecli.report.json import dumps
from statecli.report.reporter import Report, RuleText, Style, document_of, in_repository
from statecli.text.document import Document
from statecli.text.edits import changes
from statecli.text.veil import Veil, veils

WHOLE = True
COUNTS = False

_LEVELS = {"error": "error", "warning": "warning", "info": "note"}
_PROBLEMS = {"error": "error", "warning": "warning", "info": "recommendation"}
#: GitHub refuses a run with more results, and a text that is longer.
MOST_RESULTS = 25_000
MOST_TEXT = 1024
#: GitHub shows so many places of a result.
MOST_PLACES = 100


def pieces(report: Report, _style: Style) -> Iterator[str]:
    """One run. A clean one has empty results: that closes the alerts of an earlier one."""
    found = report.ordered()
    marks = fingerprints(found, in_repository)
    veil = veils(found)
    reported = sorted({item.rule for item in found})
    numbers = {rule: number for number, rule in enumerate(reported)}
    run: dict[str, object] = {
        "tool": {
            "driver": {
                "name": "statecli",
                "semanticVersion": report.version,
                "rules": [_rule(report.rules[rule]) for rule in reported],
            }
        },
        "columnKind": "unicodeCodePoints",
        "automationDetails": {"id": "statecli/"},
        "results": [
            _result(item, numbers[item.rule], mark, veil[id(item.source)])
            for item, mark in zip(found[:MOST_RESULTS], marks, strict=False)
        ],
    }
    left = len(found) - MOST_RESULTS
    if left > 0:
        said = f"{left:,} more findings are left out: a run may have {MOST_RESULTS:,}"
        note = {"level": "warning", "message": {"text": said}}
        run["invocations"] = [{"executionSuccessful": True, "toolExecutionNotifications": [note]}]
    yield dumps(
        {
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [run],
        }
    )
    yield "\n"


def _rule(rule: RuleText) -> dict[str, object]:
    first, _, rest = rule.doc.strip().partition("\n")
    why = re.search(r"^Why: (.*?)(?:\n\n|\Z)", rest, re.DOTALL | re.MULTILINE)
    full = " ".join(why.group(1).split()) if why else first
    return {
        "id": rule.id,
        "shortDescription": {"text": first[:MOST_TEXT]},
        "fullDescription": {"text": full[:MOST_TEXT]},
        "help": {"text": rule.doc.strip(), "markdown": _markdown(rule.doc.strip())},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": {
            "tags": [rule.family],
            "precision": "very-high",
            "problem.severity": _PROBLEMS[rule.severity],
        },
    }


def _markdown(doc: str) -> str:
    """The headings bold; the indented examples are code already."""
    return re.sub(r"^(\w+(?: \([^)\n]*\))?:)", r"**\1**\n", doc, flags=re.MULTILINE)


def _result(item: Diagnostic, number: int, fingerprint: str, veil: Veil) -> dict[str, object]:
    finding, document = item.finding, document_of(item)
    uri = _uri(item.path)
    related = finding.related[:MOST_PLACES]
    said = _escaped(veil.text(finding.message))
    if finding.hint:
        said += f"; {_escaped(veil.text(finding.hint))}"
    if related:
        links = (
            f"[{_escaped(veil.text(other.message)) or 'here'}]({at})"
            for at, other in enumerate(related, 1)
        )
        said += f" (see {', '.join(links)})"
    result: dict[str, object] = {
        "ruleId": item.rule,
        "ruleIndex": number,
        "level": _LEVELS[item.severity],
        "message": {"text": said},
        "locations": [_location(document, finding.at, uri)],
        "partialFingerprints": {
            "primaryLocationLineHash": f"{fingerprint[:16]}:1",
            "statecli/v1": fingerprint,
        },
    }
    if related:
        result["relatedLocations"] = [
            {
                "id": at,
                "message": {"text": veil.text(other.message) or "here"},
                **_location(document, other.at, uri),
            }
            for at, other in enumerate(related, 1)
        ]
    fix = _fix(item, document, uri, veil)
    if fix is not None:
        result["fixes"] = [fix]
    return result


def _escaped(text: str) -> str:
    """A text in which brackets make no link."""
    return re.sub(r"([\\\[\]])", r"\\\1", text)


def _location(document: Document, at: Place, uri: str) -> dict[str, object]:
    location: dict[str, object] = {
        "physicalLocation": {
            "artifactLocation": {"uri": uri},
            "region": _region(document.span(at)),
        }
    }
    if at.path:
        location["logicalLocations"] = [{"fullyQualifiedName": dotted(at.path), "kind": "object"}]
    return location


def _region(span: Span) -> dict[str, int]:
    return {
        "startLine": span.start.line,
        "startColumn": span.start.column,
        "endLine": span.end.line,
        "endColumn": span.end.column,
    }


def _fix(item: Diagnostic, document: Document, uri: str, veil: Veil) -> dict[str, object] | None:
    fix = item.finding.fix
    resolved = changes(document, fix) if fix is not None and fix.safe else None
    if fix is None or resolved is None:
        return None

    def region(start: int, end: int) -> dict[str, int]:
        return _region(Span(document.position(start), document.position(end)))

    replacements = [
        {
            "deletedRegion": region(change.start, change.end),
            "insertedContent": {"text": veil.text(change.text)},
        }
        for change in resolved
    ]
    return {
        "description": {"text": veil.text(fix.title)},
        "artifactChanges": [{"artifactLocation": {"uri": uri}, "replacements": replacements}],
    }


def _uri(path: str) -> str:
    """Relative to the top of the repository; a file outside gets a `file` URI."""
    inside = in_repository(path)
    if os.path.isabs(inside):
        from pathlib import Path

        return Path(inside).as_uri()  # three slashes on Windows too
    return quote(os.fsencode(inside))
