"""`graph.lint()`: what is wrong with a graph, for a test of the person's own."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

from statecli import __version__
from statecli.config import SEVERITIES, Config, nearest_file
from statecli.lint import python_graph
from statecli.lint.linter import check, facts_of
from statecli.lint.proofs import Proving
from statecli.lint.rule import FAMILIES, rule_ids, rules
from statecli.load.loader import FORMS, Loaded
from statecli.model.diagnostic import Diagnostic
from statecli.model.graph import Graph
from statecli.model.nearest import did_you_mean
from statecli.report.reporter import FAILING, Finished, Report, Style, reporter
from statecli.verify import DEFAULT_BUDGET

__all__ = ["Diagnostics", "lint_graph", "loaded"]


class Diagnostics(list[Diagnostic]):
    """What makes `statecli validate` fail, as a list; printed as `validate` prints it.

    `milder` are the other diagnostics: warnings and infos, unless they count as well.
    """

    def __init__(self, found: Iterable[Diagnostic] = (), milder: Iterable[Diagnostic] = ()) -> None:
        super().__init__(found)
        self.milder = list(milder)

    def __str__(self) -> str:
        found = tuple(Finished(item, True) for item in self)
        report = Report({}, (), found, rules(), __version__)
        lines = [piece.rstrip() for piece in list(reporter("text").pieces(report, Style()))[:-1]]
        return "\n\n".join(lines) or "no problems"

    def __repr__(self) -> str:
        if not self:
            return "[]"
        return f"{len(self)} of statecli's diagnostics:\n{self}\n"


def lint_graph(
    graph: Graph,
    *,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    extend_select: Sequence[str] = (),
    severity: Mapping[str, str],
    strict: bool = False,
    verify: bool = True,
    budget: int = DEFAULT_BUDGET,
    inputs: Sequence[str] = (),
    config: str | bool = True,
) -> Diagnostics:
    """See `Graph.lint`."""
    read = loaded(graph)
    found = _config(read.document.path, config)
    found = found._replace(
        select=_known("select", select) or found.select,
        ignore=(*found.ignore, *_known("ignore", ignore)),
        extend_select=(*found.extend_select, *_known("extend_select", extend_select)),
        severity={**found.severity, **_levels(severity)},
        inputs=(*found.inputs, *inputs),
    )
    named = set(rule_ids((*select, *extend_select)))
    found = found._replace(ignore=tuple(r for r in rule_ids(found.ignore) if r not in named))
    diagnostics = check(facts_of(read, found, Proving(budget) if verify else None))
    failing = FAILING["warning" if strict else found.fail_on or "error"]
    fails = [d.severity in failing and d.finding.verdict != "possible" for d in diagnostics]
    return Diagnostics(
        (item for item, bad in zip(diagnostics, fails, strict=True) if bad),
        (item for item, bad in zip(diagnostics, fails, strict=True) if not bad),
    )


def loaded(graph: Graph) -> Loaded:
    """A graph with the text that it comes from. ValueError where nobody knows that."""
    if isinstance(graph.origin, Loaded):
        return graph.origin._replace(graph=graph)
    return python_graph.read(graph)


def _config(path: str, wanted: str | bool) -> Config:
    """The settings of the nearest config file (or of the one that is named, or of none)."""
    file = wanted if isinstance(wanted, str) else None
    if wanted is True:
        file = nearest_file(os.path.dirname(path) or ".")
    if file is None:
        return Config()
    from statecli.config import file as config_file

    words = config_file.Words((*rules(), *FAMILIES, "all"), tuple(rules()), FORMS)
    return config_file.read(file, words).for_file(path)


def _known(what: str, words: Sequence[str]) -> tuple[str, ...]:
    words = (words,) if isinstance(words, str) else words
    for word in words:
        if word not in FAMILIES and word != "all" and word not in rules():
            hint = did_you_mean(word, (*rules(), *FAMILIES))
            raise ValueError(f"{what}: no rule or family is named '{word}' {hint}".rstrip())
    return tuple(words)


def _levels(severity: Mapping[str, str]) -> Mapping[str, str]:
    for rule, level in severity.items():
        _known("severity", (rule,))
        if level not in SEVERITIES:
            raise ValueError(f"severity: '{level}' is none of {', '.join(SEVERITIES)}")
    return severity
