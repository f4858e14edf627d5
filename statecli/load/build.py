"""What the builders of both forms share: names, lists of names, priorities."""

from __future__ import annotations

from collections.abc import Container, Mapping

from statecli.load.shape import Walker
from statecli.model.code import STRATEGY, Code
from statecli.model.data import is_list, is_map
from statecli.model.graph import Deliverable, Field
from statecli.model.keys import FIELD_TYPE_OF
from statecli.model.shape import Issue, OddName, WrongType
from statecli.model.span import Path
from statecli.text.document import Document

#: How a function is named.
_FUNCTION = "a function, 'package.module:function'"


class Builder:
    """The document being built from, and what was noted on the way. `meant` are misspelt kinds
    of states, each with the one that is to be read instead."""

    def __init__(
        self, document: Document, top: dict[str, object], meant: Mapping[str, str]
    ) -> None:
        self.document = document
        self.top = top
        self.meant = meant
        self.walker = Walker(meant)
        self.issues: list[Issue] = self.walker.issues

    def name(self, value: object, path: Path) -> str:
        """A state name or id. One that is not text is used as it stands, and noted."""
        if type(value) is str:
            return value
        text = self.document.raw(path) or "null"
        self.issues.append(OddName(path, text, False))
        return text

    def is_empty(self, value: object, path: Path, names: Container[str]) -> bool:
        """Whether an item of a list of names is nothing, rather than a name that is not text."""
        return value is None and self.document.raw(path) not in names

    def odd_keys(self, names: dict[str, object], at: Path) -> None:
        """Note the state names that another reader would not take for text (404, null, true)."""
        if self.document.language != "yaml":
            return
        from statecli.text.core_value import core_value

        for name in names:
            if type(core_value(name)) is not str and self.document.is_plain((*at, name), key=True):
                self.issues.append(OddName((*at, name), name, True))

    def names(self, value: object) -> tuple[str, ...]:
        if isinstance(value, str):
            return (value,)
        return tuple(x for x in value if isinstance(x, str)) if is_list(value) else ()

    def priority(self, value: object) -> float:
        """The priority of a transition; 1 unless a number is given (model.md 2.4)."""
        return value if isinstance(value, int | float) and not isinstance(value, bool) else 1

    def jumps(self, value: dict[str, object], path: Path) -> tuple[tuple[str, str], ...]:
        """Targets that are keys of the state: `on_error`, `on_invalid`."""
        return tuple(
            (key, self.name(value[key], (*path, key)))
            for key in ("on_error", "on_invalid")
            if value.get(key) is not None and not is_map(value[key]) and not is_list(value[key])
        )

    def initial(self, key: str, names: list[str]) -> tuple[str, Path | None]:
        """The initial state: as named, else the first one."""
        value = self.top.get(key)
        if value is None or is_map(value) or is_list(value):
            return (names[0] if names else ""), None
        return self.name(value, (key,)), (key,)

    def code(self, value: object, path: Path) -> Code | None:
        """The Python function that ``{python: "module:function"}`` names; it is not loaded."""
        name = value.get("python") if is_map(value) else None
        if not isinstance(name, str):
            return None
        module, _, function = name.partition(":")
        if not all(part.isidentifier() for part in (*module.split("."), *function.split("."))):
            self.issues.append(WrongType((*path, "python"), "python", _FUNCTION, name))
        return Code(name)

    def settings(self, value: dict[str, object], path: Path) -> dict[str, object]:
        """The settings of a state: as written, but the function that merges is a function."""
        if STRATEGY not in value:
            return value
        return {**value, STRATEGY: self.code(value[STRATEGY], (*path, STRATEGY))}

    def mapping(self, key: str) -> dict[str, object]:
        value = self.top.get(key)
        return value if is_map(value) else {}

    @staticmethod
    def field_of(item: Deliverable) -> Field:
        """The field of the data that a deliverable is."""
        kind = FIELD_TYPE_OF.get(item.type, "any")
        return Field(
            item.key, kind, item.values, "overwrite", False, None, "deliverable", item.path
        )
