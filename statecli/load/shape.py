"""One walk over a document by the key table: unknown keys, wrong types, missing keys."""

from __future__ import annotations

from collections.abc import Mapping

from statecli.model.data import is_list, is_map
from statecli.model.graph import PLAN_KINDS
from statecli.model.keys import OBJECTS, OLD_MODES, Key, state_object
from statecli.model.shape import Issue, MissingKey, UnknownKey, WrongChoice, WrongType
from statecli.model.span import Path

_WORDS = {
    "text": "text",
    "name": "text",
    "bool": "true or false",
    "int": "a whole number",
    "count": "a whole number from 0 up",
    "number": "a number",
    "map": "a mapping",
    "state": "the name of a state",
    "any": "anything",
}
_TYPES: dict[str, tuple[type, ...]] = {
    "text": (str,),
    "name": (str, int, float, bool),
    "bool": (bool,),
    "int": (int,),
    "count": (int,),
    "number": (int, float),
    "map": (dict,),
    "state": (str, int, float, bool, type(None)),
    "any": (dict, list, str, int, float, bool, type(None)),
}


class Kind:
    """A compiled type of the key table. `op`: simple object list map or."""

    __slots__ = ("op", "parts", "text", "types")

    def __init__(self, text: str) -> None:
        parts = _alternatives(text)
        self.text = text
        self.types: tuple[type, ...] = ()
        self.parts: list[Kind] = []
        if len(parts) > 1:
            self.op = "or"
            self.parts = [compiled(part) for part in parts]
            self.types = tuple(t for part in self.parts if part.op == "simple" for t in part.types)
        elif text[0] == "@":
            self.op, self.text = "object", text[1:]
        elif text[0] in "[{":
            self.op = "list" if text[0] == "[" else "map"
            self.parts = [compiled(text[1:-1])]
        else:
            self.op, self.types = "simple", _TYPES[text]

    def words(self) -> str:
        """What a key takes, as a message says it."""
        if self.op == "or":
            return " or ".join(dict.fromkeys(part.words() for part in self.parts))
        if self.op == "simple":
            return _WORDS[self.text]
        return "a list" if self.op == "list" else "a mapping"


#: A key whose value needs a closer look, and what it takes.
_Closer = tuple[str, Key, Kind]
_COMPILED: dict[str, Kind] = {}


def compiled(text: str) -> Kind:
    kind = _COMPILED.get(text)
    if kind is None:
        kind = _COMPILED[text] = Kind(text)
    return kind


def _alternatives(text: str) -> list[str]:
    """Split at the `|` that stand in no bracket."""
    parts, depth = [""], 0
    for word in text.split(" "):
        if word == "|" and depth == 0:
            parts.append("")
            continue
        depth += word.count("[") + word.count("{") - word.count("]") - word.count("}")
        parts[-1] += f" {word}" if parts[-1] else word
    return parts


#: So many different shapes of objects are remembered.
MOST_SHAPES = 1000


class Walker:
    """Collects the issues of one document."""

    def __init__(self, meant: Mapping[str, str]) -> None:
        self.meant = meant
        self.issues: list[Issue] = []
        self.shapes: dict[tuple[object, ...], list[_Closer]] = {}

    def check(self, name: str, value: dict[str, object], path: Path) -> None:
        """Check a mapping against the keys of the object `name`."""
        self.keys(name, OBJECTS[name], value, path)

    def keys(
        self, name: str, table: Mapping[str, Key], value: dict[str, object], path: Path
    ) -> None:
        shape = (name, *value, *map(type, value.values()))
        inner = self.shapes.get(shape)
        if inner is None:
            inner = self._first(name, table, value, path, shape)
        for key, spec, kind in inner:
            item = value[key]
            if kind.op == "list" and is_list(item):
                self._items(kind.parts[0], item, (*path, key))
            elif spec.type != "text" or item not in spec.choices:
                self.value(spec, key, item, (*path, key), name)

    def _first(
        self,
        name: str,
        table: Mapping[str, Key],
        value: dict[str, object],
        path: Path,
        shape: tuple[object, ...],
    ) -> list[_Closer]:
        """The keys whose values need a closer look. Objects of one shape (the same keys with the
        same types) need it for the same keys, and most shapes stand in a graph many times."""
        plain = _PLAIN.get(name) or _plain_types(name, table)
        inner: list[_Closer] = []
        before = len(self.issues)
        for key, item in value.items():
            if type(item) in plain.get(key, _NONE):
                continue
            spec = table.get(key)
            if spec is None:
                if not key.startswith("x-"):
                    self.issues.append(UnknownKey((*path, key), key, name, tuple(table)))
            elif item is not None:
                inner.append((key, spec, compiled(spec.type)))
        for key, spec in _REQUIRED.get(name, ()):
            if value.get(key) is None:
                self.issues.append(MissingKey(path, key, name, spec.required))
        if len(self.issues) == before and len(self.shapes) < MOST_SHAPES:
            self.shapes[shape] = inner
        return inner

    def value(self, spec: Key, key: str, value: object, path: Path, owner: str) -> None:
        if spec.type == "text" and type(value) is str:
            if spec.choices and value not in spec.choices:
                issue = WrongChoice(path, key, value, spec.choices, spec.rule, owner)
                self.issues.append(issue)
            return
        kind = compiled(spec.type)
        if not self.fits(kind, value, path):
            listed = spec.choices[:3] == spec.choices
            words = " or ".join(spec.choices) if spec.choices and listed else kind.words()
            self.issues.append(WrongType(path, key, words, value))

    def fits(self, kind: Kind, value: object, path: Path) -> bool:
        """Whether the value is of this sort; what is wrong further inside is noted on the way."""
        op = kind.op
        if op == "simple":
            if type(value) not in kind.types:
                return False
            return kind.text != "count" or (isinstance(value, int) and value >= 0)
        if op == "object":
            if is_map(value):
                self.named(kind.text, value, path)
            return type(value) is dict
        if op == "list":
            return is_list(value) and self._items(kind.parts[0], value, path)
        if op == "map":
            return is_map(value) and self._entries(kind.parts[0], value, path)
        return any(self.fits(part, value, path) for part in kind.parts)

    def named(self, name: str, value: dict[str, object], path: Path) -> None:
        """Check a nested object; a state's keys depend on its kind."""
        if name == "plan_state":
            self._plan_state(value, path)
            return
        if name != "state":
            self.keys(name, OBJECTS[name], value, path)
            return
        kind = value.get("type")
        if isinstance(kind, str):
            kind = self.meant.get(kind, kind)
        table = OBJECTS.get(state_object(kind)) if isinstance(kind, str) else None
        if table is not None:
            self.keys(state_object(str(kind)), table, value, path)
        elif kind is None:
            self.keys("state", STATE_KEYS, value, path)
        else:
            self._custom(value, path)

    def _plan_state(self, value: dict[str, object], path: Path) -> None:
        table = OBJECTS["plan_state"]
        kind = value.get("type")
        if kind in _PLAN_TYPES or (isinstance(kind, str) and kind in self.meant):
            self.keys("plan_state", table, value, path)
            return
        rest = {key: item for key, item in value.items() if key in table}
        self.keys("plan_state", table, rest, path)

    def _custom(self, value: dict[str, object], path: Path) -> None:
        """A custom kind may have keys of its own; those that every kind has keep their types."""
        table = OBJECTS["user state"]
        for key, item in value.items():
            spec = table.get(key)
            if spec is not None and item is not None:
                self.value(spec, key, item, (*path, key), "state")

    def _items(self, kind: Kind, value: list[object], path: Path) -> bool:
        objects, types = kind.op == "object", kind.types
        for at, item in enumerate(value):
            if objects and isinstance(item, dict):
                self.named(kind.text, item, (*path, at))
            elif type(item) not in types and not self.fits(kind, item, (*path, at)):
                self.issues.append(WrongType((*path, at), "", kind.words(), item))
        return True

    def _entries(self, kind: Kind, value: dict[str, object], path: Path) -> bool:
        for name, item in value.items():
            if item is not None and not self.fits(kind, item, (*path, name)):
                self.issues.append(WrongType((*path, name), name, kind.words(), item))
        return True


#: A plan state of another kind than these is a custom one, which may have keys of its own.
_PLAN_TYPES = (None, *PLAN_KINDS, *OLD_MODES)
#: For each object the types with which the value of a key needs no closer look.
_PLAIN: dict[str, dict[str, tuple[type, ...]]] = {}
_NONE: tuple[type, ...] = ()


def _plain_types(name: str, table: Mapping[str, Key]) -> dict[str, tuple[type, ...]]:
    found: dict[str, tuple[type, ...]] = {}
    for key, spec in table.items():
        kind = compiled(spec.type)
        if kind.op == "simple" and kind.text != "count" and not spec.choices:
            found[key] = kind.types
    _PLAIN[name] = found
    return found


_REQUIRED: dict[str, list[tuple[str, Key]]] = {
    name: [(key, spec) for key, spec in table.items() if spec.required]
    for name, table in OBJECTS.items()
}
#: A state whose kind nobody knows may have any key that some kind has.
STATE_KEYS: dict[str, Key] = {}
for _name, _table in OBJECTS.items():
    if _name.endswith(" state"):
        STATE_KEYS.update(_table)
