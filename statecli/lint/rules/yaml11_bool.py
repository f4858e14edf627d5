"""A name is a word that other YAML readers take for true or false.

Why: `yes`, `no`, `on` and `off` without quotes are text in YAML 1.2, and here; a YAML 1.1 reader
such as PyYAML makes True and False of them, and then no state has that name.

Bad:
    initial: ask
    states:
      ask:
        type: decision
        transition: {next: [yes, no]}
      yes:
        type: terminal
        description: The person agreed
      no:
        type: terminal
        description: The person declined

Good:
    initial: ask
    states:
      ask:
        type: decision
        transition: {next: ["yes", "no"]}
      "yes":
        type: terminal
        description: The person agreed
      "no":
        type: terminal
        description: The person declined

Fix: put the name into quotes; the safe fix does.
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint.facts import Facts
from statecli.model.diagnostic import Edit, Finding, Fix
from statecli.model.span import Place

FAMILY = "syntax"
SEVERITY = "warning"
FIX = "safe"
#: As PyYAML reads them (measured): in these three spellings, and not `y` or `n`.
YAML11_WORDS = frozenset(
    ("yes", "Yes", "YES", "no", "No", "NO", "on", "On", "ON", "off", "Off", "OFF")
)


def check(facts: Facts) -> Iterator[Finding]:
    """State names, targets and ids that stand without quotes."""
    if facts.document.language != "yaml" or facts.graph is None:
        return
    for name, word, at in _names(facts):
        if facts.document.is_plain(at.path, key=at.part == "key"):
            value = "true" if word.lower() in ("yes", "on") else "false"
            edits = (Edit(at, '"', "before"), Edit(at, '"', "after"))
            yield Finding(
                message=f"'{word}' without quotes is {value} to a YAML 1.1 reader such as PyYAML",
                at=at,
                states=(name,) if name else (),
                hint=f'write "{word}"',
                fix=Fix("put it into quotes", edits, safe=True),
            )


def _names(facts: Facts) -> Iterator[tuple[str, str, Place]]:
    """The names that are such a word: the state they belong to, the word, its place."""
    assert facts.graph is not None
    if not YAML11_WORDS.isdisjoint(facts.targets):
        if facts.graph.initial in YAML11_WORDS and facts.graph.initial_path is not None:
            yield "", facts.graph.initial, Place(facts.graph.initial_path)
        for name, path in facts.graph.entries:
            if name in YAML11_WORDS:
                yield "", name, Place(path)
        for state in facts.states:
            for way in state.transitions:
                if way.target in YAML11_WORDS:
                    yield state.name, way.target, Place(way.at)
            for key, target in state.jumps:
                if target in YAML11_WORDS:
                    yield state.name, target, Place((*state.path, key))
    for word in sorted(YAML11_WORDS & facts.index.keys()):
        yield word, word, facts.place(word)
    for state in facts.collecting:
        for task in state.tasks:
            if task.id in YAML11_WORDS:
                yield state.name, task.id, Place((*task.path, "id"))
