"""Results of conversations: lines for people, and JUnit XML for CI."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from statecli.model.data import shown
from statecli.model.wording import shortened
from statecli.scenario.job import Result, Told
from statecli.text.excerpt import harmless, plain

#: Characters that XML 1.0 cannot hold.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_WORDS = {"passed": "passed", "failed": "FAILED", "error": "ERROR "}


def lines(result: Result) -> Iterator[str]:
    """One file: how it went, and every problem at its place."""
    about = f" · {harmless(shortened(result.about, 100))}" if result.about else ""
    word = "changed" if result.text is not None else _WORDS[result.status]
    yield f"{word}  {harmless(result.path)}{about}"
    for told in result.problems:
        yield from problem(told)
    for note in result.notes:
        yield f"  note: {plain(note)}"
    for line in result.diff:
        yield harmless(line)


def problem(told: Told) -> Iterator[str]:
    """A problem with its place, the turn, and what explains it."""
    turn = f"turn {told.turn}: " if told.turn else ""
    yield f"  {harmless(told.where)}: {turn}{harmless(told.message)}"
    if told.say:
        yield f"    the person said: {harmless(shown(told.say, 100))}"
    for line in told.details:
        yield f"    {harmless(line)}"


def summary(results: Sequence[Result]) -> str:
    """The last line."""
    count = {status: sum(r.status == status for r in results) for status in _WORDS}
    parts = [f"{count['passed']} passed"]
    parts += [f"{count['failed']} failed"] if count["failed"] else []
    parts += [f"{count['error']} could not be played"] if count["error"] else []
    turns = sum(result.turns for result in results)
    files = len(results)
    text = f"{', '.join(parts)} · {_count(files, 'conversation')}, {_count(turns, 'turn')}"
    tokens = sum(result.tokens for result in results)
    cost = sum(result.cost for result in results)
    if tokens or cost:
        text += f" · {tokens:,} tokens" + (f", cost {cost:.4f}" if cost else "")
    return text


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def exit_code(results: Sequence[Result]) -> int:
    """0 all passed, 1 one failed, 2 one could not be played."""
    statuses = {result.status for result in results}
    return 2 if "error" in statuses else 1 if "failed" in statuses else 0


def junit(results: Sequence[Result]) -> str:
    """JUnit XML: one suite for each graph, one case for each conversation."""
    from xml.etree import ElementTree as Xml

    root = Xml.Element("testsuites", _numbers(results), name="statecli test")
    graphs = list(dict.fromkeys(result.graph for result in results))
    for graph in graphs:
        mine = [result for result in results if result.graph == graph]
        suite = Xml.SubElement(root, "testsuite", _numbers(mine), name=_xml(graph or "(no graph)"))
        for result in mine:
            case = Xml.SubElement(
                suite,
                "testcase",
                name=_xml(result.about or result.path),
                classname=_xml(graph or "(no graph)"),
                file=_xml(result.path),
                time=f"{result.seconds:.6f}",
            )
            if result.status != "passed":
                first = result.problems[0].message if result.problems else ""
                tag = "failure" if result.status == "failed" else "error"
                found = Xml.SubElement(case, tag, message=_xml(first))
                found.text = _xml("\n".join(line for t in result.problems for line in problem(t)))
    Xml.indent(root)
    text = Xml.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _numbers(results: Sequence[Result]) -> dict[str, str]:
    return {
        "tests": str(len(results)),
        "failures": str(sum(result.status == "failed" for result in results)),
        "errors": str(sum(result.status == "error" for result in results)),
        "time": f"{sum(result.seconds for result in results):.6f}",
    }


def _xml(text: str) -> str:
    return _NO_XML.sub("\ufffd", text)
