"""Values that a person, a model or a tool may give a field: one for each way in which the guards of
the graph can answer, so that a few of them stand for all."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from statecli.kernel.values import Unfit, fits
from statecli.model.classes import ABSENT, Test, candidates, classes, open_ended
from statecli.model.graph import Deliverable, Field, Graph
from statecli.model.guard import Atom, Expr, walk
from statecli.model.keys import FIELD_TYPE_OF
from statecli.model.parts import parts
from statecli.scenario.coverage import guarded

#: A field is given at most so many different values.
_MOST = 12
#: What a value looks like that no guard asks about, by type.
_PLAIN: dict[str, Any] = {
    "str": "something", "any": "something", "int": 1, "float": 1, "bool": True,
    "list": ["something"], "tuple": ["something"], "set": ["something"], "dict": {},
}  # fmt: skip


class Values:
    """The values of each field of one graph, worked out when they are asked for."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.asked: dict[str, list[Test]] = {}
        self._loose: dict[str, list[Any]] = {}
        for route in guarded(graph):
            assert route.guard is not None
            for part in walk(route.guard):
                if isinstance(part, Atom):
                    self.asked.setdefault(part.key, []).append(part)
                elif isinstance(part, Expr):
                    self._expression(part)
        self._known: dict[tuple[str, str], list[Any]] = {}

    def _expression(self, guard: Expr) -> None:
        """The tests of an expression, field by field; where they cannot be told apart the numbers
        and texts that stand in it are tried, and what lies beside them."""
        found = parts(guard.tree)
        if found is not None:
            for part in found.values():
                self.asked.setdefault(part.key, []).append(part)
            for name in guard.names:
                self.asked.setdefault(name, [])
            return
        constants = [node.value for node in ast.walk(guard.tree) if isinstance(node, ast.Constant)]
        near: list[Any] = []
        for value in constants:
            if type(value) in (int, float) and isinstance(value, int | float):
                near += [value - 1, value, value + 1]
            else:
                near.append(value)
        for name in guard.names:
            self.asked.setdefault(name, [])
            self._loose.setdefault(name, []).extend(near)

    def reads(self, name: str) -> bool:
        """Whether a guard asks about a field."""
        return name in self.asked

    def of(self, name: str, item: Deliverable | None = None) -> list[Any]:
        """Values for a field, or for a deliverable of a plan state, all different to the guards."""
        key = (name, item.type if item is not None else "")
        if key not in self._known:
            self._known[key] = list(self._of(name, item))[:_MOST]
        return self._known[key]

    def _of(self, name: str, item: Deliverable | None) -> Iterator[Any]:
        field = self._field(name, item)
        tests = self.asked.get(name, [])
        closed = [test for test in tests if not open_ended(field, test)]
        samples: list[Any] = []
        if tests:
            samples = [v for v in classes(field, closed).samples if v is not ABSENT]
            if len(closed) < len(tests):
                samples += candidates(field, tests)
        loose = self._loose.get(name, [])
        samples += loose
        if loose or not tests:  # nothing shows which values are alike
            samples += self._whole(field)
        if not tests or samples == [True]:
            samples = [self._plain(field), *samples]
        seen: set[str] = set()
        for value in samples:
            stored = fits(field, value)
            text = repr(value)
            if not isinstance(stored, Unfit) and value is not None and text not in seen:
                seen.add(text)
                yield value

    def _field(self, name: str, item: Deliverable | None) -> Field:
        known = self.graph.fields.get(name)
        if item is not None:
            kind = FIELD_TYPE_OF.get(item.type, "any")
            return Field(name, kind, item.values, "overwrite", False, None, "deliverable", ())
        if known is None:
            return Field(name, "any", (), "overwrite", False, None, "declared", ())
        if known.reducer in ("append", "append_messages"):
            return known._replace(type="any", values=())
        return known._replace(has_default=False)

    def _whole(self, field: Field) -> list[Any]:
        """All values of a type that has few, where a guard asks about it."""
        if not self.reads(field.name):
            return []
        return [True, False] if field.type == "bool" else list(field.values)

    def _plain(self, field: Field) -> Any:
        if field.type == "enum":
            return field.values[0] if field.values else "something"
        return _PLAIN.get(field.type, "something")
