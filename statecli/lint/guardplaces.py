"""Where the parts of a guard stand in the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from statecli.model.data import is_map
from statecli.model.diagnostic import Edit, Fix, Related
from statecli.model.graph import Field, State
from statecli.model.guard import Atom
from statecli.model.keys import OLD_CONFIG_KEYS
from statecli.model.span import Path, Place

if TYPE_CHECKING:
    from statecli.lint.facts import Facts
    from statecli.lint.misfits import Misfit

#: The key that names a field where its declaration is an item of a list.
_NAMED_BY = {"deliverable": "key", "context": "id"}


def setting(facts: Facts, atom: Atom, name: str) -> Path | None:
    """The path of a key of a plan condition's config, under its older name too; None for an atom
    of `when`, whose path is that of its value."""
    config = facts.value(atom.path)
    if not is_map(config) or isinstance(atom.operand, dict):
        return None
    if name in config:
        return (*atom.path, name)
    names = [name, *(old for old, new in OLD_CONFIG_KEYS.items() if new == name)]
    return (*atom.path, next((key for key in names if key in config), name))


def operand(facts: Facts, atom: Atom, item: int | None = None) -> Place:
    """The value that an atom compares with, or one item of a list of values."""
    name = {"in": "values", "between": "min"}.get(atom.op, "value")
    path = setting(facts, atom, name) or atom.path
    return Place(path if item is None else (*path, item))


def operator(facts: Facts, atom: Atom) -> Place:
    """What says how an atom compares: `operator`, or the key with its suffix."""
    path = setting(facts, atom, "operator")
    return Place(path) if path is not None else Place(atom.path, "key")


def ways_out(state: State) -> Place:
    """Where a state's routes are listed: the key in front of them."""
    settings = state.settings
    if settings.get("transitions"):
        return Place((*state.path, "transitions"), "key")
    if is_map(settings.get("transition")):
        return Place((*state.path, "transition", "next"), "key")
    return Place(state.path, "key")


def declared(field: Field) -> Related:
    """Where a field is declared, for a message that needs its type."""
    if field.origin in _NAMED_BY:
        place = Place((*field.path, _NAMED_BY[field.origin]))
    else:
        place = Place(field.path, "key")
    return Related(f"'{field.name}' is declared here", place)


def compared(facts: Facts, misfit: Misfit) -> Place:
    """What a comparison that does not fit compares with."""
    if misfit.expression is not None and misfit.node is not None:
        from statecli.model.expression import characters

        guard = misfit.expression
        return Place(guard.path, within=characters(guard.text, misfit.node))
    assert isinstance(misfit.test, Atom)
    return operand(facts, misfit.test, misfit.item)


def spelled(value: object) -> str:
    """A value as YAML and JSON both read it."""
    import json

    return json.dumps(value, ensure_ascii=False)


def rewritten(at: Place, value: object, meant: object) -> Fix | None:
    """Writes another value there; inside an expression as Python spells it."""
    title = f"write {spelled(meant)}"
    if at.within is not None:
        if isinstance(meant, str) and set(meant) & set("'\"\\\n"):
            return None
        return Fix(title, (Edit(at, repr(meant), "text"),))
    if isinstance(value, str) and isinstance(meant, str):
        return Fix(title, (Edit(at, meant, "text"),))
    return Fix(title, (Edit(at, spelled(meant)),))
