"""Whether arguments fit a tool's input schema: what does not fit is never sent."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeGuard

from statecli.kinds.patterns import matches
from statecli.model.data import shown

_OBJECT: Mapping[str, Any] = {"type": "object"}
#: Schemas that go into themselves are followed this deep.
MAX_DEPTH = 40
#: So many places of a schema are looked at: one that goes into itself twice has no end.
MAX_LOOKS = 20_000


def refusal(schema: Mapping[str, Any] | None, arguments: object) -> str:
    """Why arguments must not be sent, or an empty text. What a schema says by `format`, by patterns
    that may take forever, and by references to elsewhere is left to the tool."""
    if not isinstance(arguments, dict):
        return "the arguments are no object"
    check = _Check(schema or _OBJECT)
    return next(check.misfits(schema or _OBJECT, arguments, "", 0), "")


class _Check:
    def __init__(self, root: Mapping[str, Any]) -> None:
        self.root = root
        self.doubt = False  # something was left to the tool
        self.looks = 0

    def misfits(self, schema: object, value: Any, at: str, depth: int) -> Iterator[str]:
        """What is wrong with a value at a place (empty: the arguments as a whole)."""
        name = f"'{at}'" if at else "the value"
        if schema is False:
            yield f"{name} must not be there"
        self.looks += 1
        if not isinstance(schema, Mapping) or depth > MAX_DEPTH or self.looks > MAX_LOOKS:
            self.doubt |= isinstance(schema, Mapping)
            return
        if "$ref" in schema:
            target = self._target(schema["$ref"])
            self.doubt |= target is None
            yield from self.misfits(target, value, at, depth + 1)
        kinds = schema.get("type")
        allowed = [kinds] if isinstance(kinds, str) else kinds if isinstance(kinds, list) else []
        if allowed and not any(_is(kind, value) for kind in allowed):
            yield f"{name} is not {' or '.join(map(str, allowed))}: {shown(value)}"
            return
        values = schema.get("enum")
        if isinstance(values, list) and not any(_same(value, item) for item in values):
            yield f"{name} is none of {', '.join(map(shown, values))}: {shown(value)}"
        if "const" in schema and not _same(value, schema["const"]):
            yield f"{name} is not {shown(schema['const'])}: {shown(value)}"
        yield from _bounds(schema, value, name)
        pattern = schema.get("pattern")
        if isinstance(value, str) and isinstance(pattern, str):
            if self._matched(pattern, value) is False:
                yield f"{name} does not match {pattern}: {shown(value)}"
        if isinstance(value, dict):
            yield from self._object(schema, value, at, depth)
        if isinstance(value, list):
            yield from self._list(schema, value, at, depth)
        yield from self._combined(schema, value, at, depth)

    def _object(
        self, schema: Mapping[str, Any], value: dict[str, Any], at: str, depth: int
    ) -> Iterator[str]:
        missing = [key for key in _names(schema.get("required")) if key not in value]
        if missing:
            listed = ", ".join(f"'{_inner(at, key)}'" for key in missing)
            yield f"missing: {listed}"
        known = schema.get("properties")
        properties: Mapping[str, Any] = known if isinstance(known, Mapping) else {}
        for key, inner in properties.items():
            if key in value:
                yield from self.misfits(inner, value[key], _inner(at, key), depth + 1)
        yield from self._other_keys(schema, properties, value, at, depth)
        for key, needed in _pairs(schema, "dependentRequired"):
            for other in _names(needed) if key in value else ():
                if other not in value:
                    yield f"'{_inner(at, key)}' needs '{_inner(at, other)}' beside it"
        for key, inner in _pairs(schema, "dependentSchemas"):
            if key in value:
                yield from self.misfits(inner, value, at, depth + 1)
        for key in value if "propertyNames" in schema else ():
            if not self._fits(schema["propertyNames"], key, at, depth):
                yield f"'{_inner(at, key)}' is no name that may be there"

    def _other_keys(
        self,
        schema: Mapping[str, Any],
        properties: Mapping[str, Any],
        value: dict[str, Any],
        at: str,
        depth: int,
    ) -> Iterator[str]:
        """The keys that no property names: by the patterns of keys, else by what is said of all."""
        rest = schema.get("additionalProperties", True)
        for key, item in value.items():
            patterns = _pairs(schema, "patternProperties")
            found = [(self._matched(pattern, key), inner) for pattern, inner in patterns]
            for inner in (inner for matched, inner in found if matched):
                yield from self.misfits(inner, item, _inner(at, key), depth + 1)
            if key in properties or any(matched is not False for matched, _ in found):
                continue
            if rest is False:
                listed = ", ".join(properties) or "none"
                yield f"there is no '{_inner(at, key)}'; there are: {listed}"
            else:
                yield from self.misfits(rest, item, _inner(at, key), depth + 1)

    def _matched(self, pattern: str, text: str) -> bool | None:
        found = matches(pattern, text)
        self.doubt |= found is None
        return found

    def _list(
        self, schema: Mapping[str, Any], value: list[Any], at: str, depth: int
    ) -> Iterator[str]:
        first = schema.get("prefixItems")
        heads = first if isinstance(first, list) else []
        for number, item in enumerate(value):
            inner = heads[number] if number < len(heads) else schema.get("items", True)
            yield from self.misfits(inner, item, f"{at}[{number}]", depth + 1)
        if "contains" in schema:
            count = sum(self._fits(schema["contains"], item, at, depth) for item in value)
            least, most = schema.get("minContains", 1), schema.get("maxContains")
            if (_is_number(least) and count < least) or (_is_number(most) and count > most):
                yield f"'{at}' has {count} of the items that it must have"
        if schema.get("uniqueItems") is True:
            if any(_same(a, b) for n, a in enumerate(value) for b in value[:n]):
                yield f"'{at}' has an item twice"

    def _combined(
        self, schema: Mapping[str, Any], value: Any, at: str, depth: int
    ) -> Iterator[str]:
        for inner in _schemas(schema, "allOf"):
            yield from self.misfits(inner, value, at, depth + 1)
        some = _schemas(schema, "anyOf")
        if some and not any(self._fits(inner, value, at, depth) for inner in some):
            yield next(self.misfits(some[0], value, at, depth + 1), "")
        one = _schemas(schema, "oneOf")
        fits = [self._surely(inner, value, at, depth) for inner in one]
        if one and None not in fits and fits.count(True) != 1:
            first = next(self.misfits(one[0], value, at, depth + 1), "")
            yield first or f"'{at}' fits more than one of what it may be"
        if "not" in schema and self._surely(schema["not"], value, at, depth) is True:
            yield f"'{at}' is what it must not be: {shown(value)}"
        if "if" in schema:
            word = {True: "then", False: "else", None: ""}[
                self._surely(schema["if"], value, at, depth)
            ]
            yield from self.misfits(schema.get(word, True), value, at, depth + 1)

    def _surely(self, schema: object, value: Any, at: str, depth: int) -> bool | None:
        """Whether a value fits; None where something was left to the tool."""
        before, self.doubt = self.doubt, False
        fits = self._fits(schema, value, at, depth)
        unsure, self.doubt = self.doubt, self.doubt or before
        return None if unsure else fits

    def _fits(self, schema: object, value: Any, at: str, depth: int) -> bool:
        return next(self.misfits(schema, value, at, depth + 1), None) is None

    def _target(self, reference: object) -> object:
        """What a reference inside the schema means; others are left to the tool."""
        if not isinstance(reference, str) or not reference.startswith("#"):
            return None
        found: Any = self.root
        for part in reference[1:].split("/")[1:]:
            key = part.replace("~1", "/").replace("~0", "~")
            found = found.get(key) if isinstance(found, Mapping) else None
        return found


def _schemas(schema: Mapping[str, Any], key: str) -> Sequence[Any]:
    found = schema.get(key)
    return found if isinstance(found, list) else ()


def _names(value: object) -> list[str]:
    """A list of names; what a server writes instead says nothing."""
    return [name for name in value if isinstance(name, str)] if isinstance(value, list) else []


def _pairs(schema: Mapping[str, Any], key: str) -> Sequence[tuple[str, Any]]:
    found = schema.get(key)
    return list(found.items()) if isinstance(found, Mapping) else ()


def _inner(at: str, key: str) -> str:
    return f"{at}.{key}" if at else key


def _is(kind: object, value: Any) -> bool:
    test = _KINDS.get(kind) if isinstance(kind, str) else None
    return test is None or test(value)


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_integer(value: Any) -> bool:
    return _is_number(value) and (isinstance(value, int) or value.is_integer())


_KINDS: dict[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "number": _is_number,
    "integer": _is_integer,
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
    "null": lambda value: value is None,
}


def _same(left: Any, right: Any) -> bool:
    """Equal as JSON sees it: 1 is 1.0 and not true."""
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_same, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_same(left[key], right[key]) for key in left)
    return isinstance(left, bool) == isinstance(right, bool) and bool(left == right)


def _bounds(schema: Mapping[str, Any], value: Any, name: str) -> Iterator[str]:
    """Sizes and ranges."""
    if _is_number(value):
        if isinstance(value, float) and not math.isfinite(value):
            yield f"{name} is no finite number"
        step = schema.get("multipleOf")
        if _is_number(step) and step > 0 and not _multiple(value, step):
            yield f"{name} is no multiple of {shown(step)}: {shown(value)}"
        for key, sign, holds in _RANGES:
            limit = schema.get(key)
            if _is_number(limit) and not holds(value, limit):
                yield f"{name} is not {sign} {shown(limit)}: {shown(value)}"
    size = len(value) if isinstance(value, str | list | dict) else None
    for kind, least, most in _SIZES:
        if size is not None and isinstance(value, kind):
            low, high = schema.get(least), schema.get(most)
            if _is_number(low) and size < low:
                yield f"{name} is shorter than {low}"
            if _is_number(high) and size > high:
                yield f"{name} is longer than {high}"


def _multiple(value: float, step: float) -> bool:
    """Whether one number is a multiple of another; where that cannot be said, it is."""
    try:
        return abs(value / step - round(value / step)) <= 1e-9
    except (OverflowError, ValueError):
        return True


_RANGES: tuple[tuple[str, str, Callable[[float, float], bool]], ...] = (
    ("minimum", "at least", lambda value, limit: value >= limit),
    ("maximum", "at most", lambda value, limit: value <= limit),
    ("exclusiveMinimum", "more than", lambda value, limit: value > limit),
    ("exclusiveMaximum", "less than", lambda value, limit: value < limit),
)
_SIZES: tuple[tuple[type, str, str], ...] = (
    (str, "minLength", "maxLength"),
    (list, "minItems", "maxItems"),
    (dict, "minProperties", "maxProperties"),
)
