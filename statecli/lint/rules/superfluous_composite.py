"""A composite condition adds nothing: it has one part or none, or repeats the one around it.

Why: `all_of` with one condition is that condition. Fewer brackets are easier to read, and
composites nest at most five deep. One without any condition always holds (a warning).

Bad:
    states:
      - id: ask
        title: Ask
        tasks:
          - id: name
            description: Ask for the name
            deliverables: [{key: name, type: string}]
        transitions:
          - target_state_id: done
            condition_type: all_of
            condition_config:
              conditions:
                - {condition_type: deliverable_exists, condition_config: {key: name}}
      - id: done
        title: Done

Good:
    states:
      - id: ask
        title: Ask
        tasks:
          - id: name
            description: Ask for the name
            deliverables: [{key: name, type: string}]
        transitions:
          - target_state_id: done
            condition_type: deliverable_exists
            condition_config: {key: name}
      - id: done
        title: Done

Fix: write the parts without the composite; the safe fix does where everything stands in brackets.
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint.facts import Facts
from statecli.model.data import is_list, is_map
from statecli.model.diagnostic import Edit, Finding, Fix
from statecli.model.guard import AllOf, AnyOf, invalid, walk
from statecli.model.span import Path, Place

FAMILY = "guards"
SEVERITY = "info"
FIX = "safe"
_TYPE_KEYS = {"condition_config": "condition_type", "config": "type"}


def check(facts: Facts) -> Iterator[Finding]:
    """Each plan composite with one part, or inside one of the same operator."""
    if facts.guard_types.isdisjoint((AllOf, AnyOf)):
        return
    for state in facts.states:
        for way in state.transitions:
            if isinstance(way.guard, AllOf | AnyOf) and invalid(way.guard) is None:
                for part in walk(way.guard):
                    if isinstance(part, AllOf | AnyOf) and part.path[-1] in _TYPE_KEYS:
                        yield from _composite(facts, state.name, part)


def _composite(facts: Facts, state: str, part: AllOf | AnyOf) -> Iterator[Finding]:
    kind = Place((*part.path[:-1], _TYPE_KEYS[str(part.path[-1])]))
    word = facts.value(kind.path)
    if not part.children:
        if isinstance(part, AllOf):  # an `any` of nothing never holds: guard-never-holds
            yield Finding(
                message=f"'{word}' lists no condition: it always holds",
                at=Place((*part.path, "conditions")),
                states=(state,),
                hint="list the conditions that must hold",
                severity="warning",
            )
        return
    if len(part.children) == 1:
        yield Finding(
            message=f"'{word}' with one condition is that condition",
            at=kind,
            states=(state,),
            hint="write the condition itself",
            fix=_unwrapped(facts, kind.path, part.path),
        )
        return
    for child in part.children:
        # An inner one with a single part is its own finding.
        if type(child) is type(part) and len(child.children) > 1:
            inner = Place((*child.path[:-1], _TYPE_KEYS[str(child.path[-1])]))
            yield Finding(
                message=f"'{facts.value(inner.path)}' inside '{word}' adds nothing",
                at=inner,
                states=(state,),
                hint="list its conditions in the outer one",
                fix=_spilled(facts, child.path),
            )


def _unwrapped(facts: Facts, kind: Path, config: Path) -> Fix | None:
    """The type and config of the only part in place of those of the composite."""
    only = (*config, "conditions", 0)
    names = _names(facts.value(only))
    if names is None or not _in_brackets(facts, config[:-1]):
        return None
    type_text = _source(facts, (*only, names[0]))
    config_text = _source(facts, (*only, names[1])) if names[1] else "{}"
    edits = (Edit(Place(kind), type_text), Edit(Place(config), config_text))
    return Fix("write the condition itself", edits, safe=True)


def _spilled(facts: Facts, config: Path) -> Fix | None:
    """The parts of an inner composite in its place in the list of the outer one."""
    listed = facts.value((*config, "conditions"))
    if _names(facts.value(config[:-1])) is None or not is_list(listed):
        return None
    if not _in_brackets(facts, config[:-2]):
        return None
    parts = [_source(facts, (*config, "conditions", at)) for at in range(len(listed))]
    edit = Edit(Place(config[:-1]), ", ".join(parts))
    return Fix("list its conditions in the outer one", (edit,), safe=True)


def _names(condition: object) -> tuple[str, str] | None:
    """The keys of a condition's type and config ("" without); None if it says anything else that
    would be lost."""
    if not is_map(condition):
        return None
    kind = next((key for key in ("condition_type", "type") if key in condition), "")
    config = next((key for key in ("condition_config", "config") if key in condition), "")
    return (kind, config) if kind and set(condition) == {kind, config} - {""} else None


def _in_brackets(facts: Facts, path: Path) -> bool:
    """Whether a condition is written in brackets, without a comment among them."""
    node = facts.document.node(path)
    return node is not None and node.style == "flow" and "#" not in _source(facts, path)


def _source(facts: Facts, path: Path) -> str:
    node = facts.document.node(path)
    assert node is not None
    return facts.document.text[node.start : node.end]
