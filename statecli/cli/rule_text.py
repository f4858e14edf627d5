"""Rules as `explain` prints them, from their docstrings."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from statecli import __version__
from statecli.lint.rule import FAMILIES, Rule
from statecli.report.json import dumps

#: What the sections of a docstring are for people.
_HEADING = re.compile(r"^(Why|Bad|Good|Fix)(?: \(([^)]*)\))?:[ \n]?", re.MULTILINE)


class Section(NamedTuple):
    """A part of a rule's docstring: its heading, the words in brackets behind it, its text."""

    heading: str
    about: str
    text: str


def sections(rule: Rule) -> list[Section]:
    """The sections below the first sentence."""
    doc = textwrap.dedent(rule.doc)
    found = list(_HEADING.finditer(doc))
    ends = [match.start() for match in found[1:]] + [len(doc)]
    return [
        Section(match.group(1), match.group(2) or "", doc[match.end() : end].rstrip())
        for match, end in zip(found, ends, strict=True)
    ]


def overview(rules: Iterable[Rule]) -> Iterator[str]:
    """Every rule on one line, by family."""
    known = sorted(rules, key=lambda rule: rule.id)
    wide = max(len(rule.id) for rule in known)
    for family in FAMILIES:
        yield f"{family}\n"
        for rule in known:
            if rule.family == family:
                yield f"  {rule.id:<{wide}}  {rule.standing:<9}  {rule.finds}\n"
        yield "\n"
    yield "statecli explain RULE tells why each matters and how to fix it.\n"


def whole(rules: Iterable[Rule]) -> Iterator[str]:
    """Each rule in full."""
    for number, rule in enumerate(rules):
        yield "\n\n" if number else ""
        off = "" if rule.on else " unless selected"
        yield f"{rule.id} ({rule.family}, {rule.standing}{off})\n{rule.finds}\n"
        for section in sections(rule):
            if section.heading in ("Bad", "Good"):
                about = f" ({section.about})" if section.about else ""
                body = textwrap.indent(textwrap.dedent(section.text.strip("\n")), "    ")
                yield f"\n{section.heading}{about}:\n{body}\n"
            else:
                text = " ".join(section.text.split())
                yield f"\n{textwrap.fill(f'{section.heading}: {text}', 88)}\n"


def as_json(rules: Iterable[Rule]) -> Iterator[str]:
    """Each rule as one object."""
    yield dumps({"version": 1, "statecli": __version__, "rules": [_object(r) for r in rules]})
    yield "\n"


def _object(rule: Rule) -> dict[str, object]:
    parts = sections(rule)
    return {
        "rule": rule.id,
        "family": rule.family,
        "severity": rule.severity,
        "on": rule.on,
        "finds": rule.finds,
        "why": _said(parts, "Why"),
        "bad": _examples(parts, "Bad"),
        "good": _examples(parts, "Good"),
        "fix": _said(parts, "Fix"),
    }


def _said(parts: list[Section], heading: str) -> str:
    return " ".join(" ".join(p.text.split()) for p in parts if p.heading == heading)


def _examples(parts: list[Section], heading: str) -> list[dict[str, str]]:
    return [
        {"about": part.about, "graph": textwrap.dedent(part.text.strip("\n")) + "\n"}
        for part in parts
        if part.heading == heading
    ]
