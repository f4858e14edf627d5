"""Every rule against its docstring (Bad fires, Good is silent) and its fixture file."""

from __future__ import annotations

import re
import textwrap

import pytest
from fixtures import LINT, Case, cases

from statecli.config import Config
from statecli.lint.linter import lint
from statecli.lint.rule import FAMILIES, rules
from statecli.load.loader import load
from statecli.model.diagnostic import SEVERITIES, Diagnostic

ALL = list(rules())


def diagnostics(
    text: str, rule: str, suffix: str = ".yaml", config: Config | None = None
) -> list[Diagnostic]:
    config = config or Config()
    config = config._replace(extend_select=(*config.extend_select, rule))
    return lint(load(f"graph{suffix}", text), config)


def examples(rule: str, heading: str) -> list[str]:
    """The indented graphs under `Bad:` or `Good:` in a rule's docstring. Several may follow each
    other, begun by `Bad (words):`."""
    doc = rules()[rule].doc
    pattern = rf"^{heading}(?: \([^)]*\))?:\n((?:    .*\n|\n)+)"
    return [textwrap.dedent(block) for block in re.findall(pattern, doc + "\n", re.MULTILINE)]


@pytest.mark.parametrize("rule", ALL)
def test_docstring(rule: str) -> None:
    assert rules()[rule].family in FAMILIES
    assert rules()[rule].severity in SEVERITIES
    doc = rules()[rule].doc
    assert re.search(r"^Why: ", doc, re.MULTILINE), "says why it matters"
    assert re.search(r"^Fix: ", doc, re.MULTILINE), "says how to fix it"
    bad, good = examples(rule, "Bad"), examples(rule, "Good")
    assert bad
    assert good
    for text in bad:
        found = [d.rule for d in diagnostics(text, rule, _suffix(text))]
        assert rule in found, f"not found in:\n{text}"
    for text in good:
        found = [d.rule for d in diagnostics(text, rule, _suffix(text))]
        assert rule not in found, f"found in:\n{text}"


def _suffix(text: str) -> str:
    return ".json" if text.lstrip().startswith('{"') else ".yaml"


@pytest.mark.parametrize("case", cases(), ids=lambda case: f"{case.rule}: {case.name}")
def test_fixture(case: Case) -> None:
    named = {case.rule, *(expected.rule for expected in case.expected)}
    found = [
        d for d in diagnostics(case.text, case.rule, case.suffix, case.config) if d.rule in named
    ]
    at = sorted((d.span.start.line, d.rule) for d in found)
    wanted = sorted((expected.line, expected.rule) for expected in case.expected)
    shown = "\n".join(f"{d.span.start.line}: {d.rule} {d.message}" for d in found)
    assert at == wanted, f"found:\n{shown}"
    for expected in case.expected:
        here = [d for d in found if (d.span.start.line, d.rule) == (expected.line, expected.rule)]
        texts = [f"{d.message} {d.finding.hint}" for d in here]
        assert any(expected.part in text for text in texts), f"{expected} not in {texts}"


def test_every_rule_has_a_fixture_with_both_sides() -> None:
    """A rule comes with lines that must fire and with graphs that must stay silent."""
    fires: set[str] = set()
    silent: set[str] = set()
    for case in cases():
        own = [expected for expected in case.expected if expected.rule == case.rule]
        (fires if own else silent).add(case.rule)
    assert {path.stem for path in LINT.glob("*.yaml")} <= set(ALL)
    assert sorted(set(ALL) - fires) == []
    assert sorted(set(ALL) - silent) == []


def test_a_mistake_behind_an_alias_is_about_all_who_hold_it() -> None:
    text = """\
initial: a
states:
  a: {type: agent, transition: &t {next: [aa, bbb]}}
  b: {type: user, transition: *t}
  c: {type: agent, transition: *t}
"""
    found = diagnostics(text, "undefined-target")
    about = [(d.message, d.finding.states) for d in found if d.rule == "undefined-target"]
    assert about == [(f"no state is named '{name}'", ("a", "b", "c")) for name in ("aa", "bbb")]
