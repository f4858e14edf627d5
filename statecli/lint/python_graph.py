"""A graph built in Python as the rules see one: every state, transition and guard with its place
in the person's file.

The rules know the paths of the `states` form, so a Python graph gets those. What stands where is
known from the calls that built it and from the code of its functions.
"""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Iterator, Mapping
from types import CodeType
from typing import Any, NamedTuple

from statecli.load.loader import Loaded
from statecli.model.calls import Built, Call
from statecli.model.diagnostic import Finding, Related
from statecli.model.graph import FUNCTION, Field, Graph, State, Transition
from statecli.model.guard import AllOf, AnyOf, Guard, Not
from statecli.model.span import Path, Place
from statecli.model.words import in_words
from statecli.text.document import Document, offsets
from statecli.text.python_text import Extent, PythonText, first_line

#: The length of the path of a transition.
_WAY = len(("states", "name", "transition", "next", 0))


class Spot(NamedTuple):
    """Where something stands. `inside`: where the text of an expression begins, -1 if the file
    does not have it word for word. `above`: so many lines above it belong to it."""

    text: PythonText
    extent: Extent
    inside: int = -1
    above: int = 0


class PythonSource(PythonText):
    """The file that builds a graph; its paths lead to spots, also to those in other files."""

    def __init__(self, file: str, value: object, spots: Mapping[Path, Spot]) -> None:
        super().__init__(file, value)
        self.spots = spots
        self._others: dict[str, PythonText] = {}

    def spot(self, place: Place) -> Spot | None:
        """Where the nearest thing around a place stands."""
        path = place.path
        for size in range(len(path), 0, -1):
            found = self.spots.get(path[:size])
            if found is not None:
                if place.within is not None and found.inside >= 0:
                    start, end = place.within
                    return found._replace(extent=(found.inside + start, found.inside + end))
                return found
        return next(iter(self.spots.values()), None)

    def offsets(self, place: Place) -> tuple[int, int]:
        if place.part == "offsets" and place.within:
            return place.within
        found = self.spot(place)
        return found.extent if found is not None and found.text.file == self.file else (0, 0)

    def within(self, place: Place) -> Document:
        found = self.spot(place)
        return self if found is None or found.text.file == self.file else found.text

    def lines(self, place: Place) -> list[tuple[str, int]]:
        """All lines of what stands there: a tuple may be written over several, a function has its
        decorators above it."""
        around = self.spots.get(place.path[:_WAY]) if len(place.path) > _WAY else None
        lines: list[tuple[str, int]] = []
        for found in (self.spot(place), around):
            if found is not None:
                text = found.text
                first, last = (text.position(at).line for at in found.extent)
                numbers = (0, *range(first - found.above, last + 1))
                lines += [(text.path, number) for number in numbers]
        return lines

    def files(self) -> list[Document]:
        found: dict[str, Document] = {self.file: self}
        for spot in self.spots.values():
            found.setdefault(spot.text.file, spot.text)
        return list(found.values())


def read(graph: Graph) -> Loaded:
    """The graph with places, and the file that they are in."""
    places = _Places(graph)
    states = {name: _state(state, ("states", name)) for name, state in graph.states.items()}
    fields = {
        name: field._replace(path=("fields", name)) if not field.path else field
        for name, field in graph.fields.items()
    }
    found = Graph(
        graph.form, graph.initial, ("initial",), states, fields, graph.entries,
        graph.declares_fields, graph.limits, graph.settings, graph.bare,
    )  # fmt: skip
    spots = dict(places.spots())
    value = _value(found)
    return Loaded(PythonSource(places.file, value, spots), found)


def in_its_file(source: Document, finding: Finding) -> Finding:
    """The finding with places in the file that it is about. What is in another file is named in
    words. Nothing is fixed: the code is the person's own."""
    document = source.within(finding.at)

    def fixed(place: Place) -> Place:
        spot = source.spot(place) if isinstance(source, PythonSource) else None
        return offsets(*spot.extent, place.path) if spot is not None else place

    at = fixed(finding.at)
    related: list[Related] = []
    for other in finding.related:
        there = source.within(other.at)
        if there is document:
            related.append(Related(other.message, fixed(other.at)))
        else:
            line = there.span(fixed(other.at)).start.line
            related.append(Related(f"{other.message}: {there.path}:{line}", at))
    return finding._replace(at=at, related=tuple(related), fix=None)


def is_python(graph: Graph) -> bool:
    """Whether a graph was built by Python code rather than read from a document."""
    return isinstance(graph.origin, Built) or any(
        state.kind == FUNCTION for state in graph.states.values()
    )


# --- the graph ------------------------------------------------------------------------------------


def _state(state: State, path: Path) -> State:
    ways = tuple(
        _way(way, (*path, "transition", "next", at)) for at, way in enumerate(state.transitions)
    )
    body = state.settings.get("body")
    settings = dict(state.settings)
    told: dict[str, tuple[str, ...]] = {"reads": state.reads, "writes": state.writes}
    for key, known in told.items():
        listed = known or settings.get(key, getattr(body, key, None))
        if isinstance(listed, list | tuple) and all(isinstance(item, str) for item in listed):
            told[key] = tuple(listed)
            settings[key] = list(listed)
    return state._replace(
        path=path, transitions=ways, settings=settings,
        reads=told["reads"], writes=told["writes"],
    )  # fmt: skip


def _way(way: Transition, path: Path) -> Transition:
    guard = _moved(way.guard, (*path, "when")) if way.guard is not None else None
    return way._replace(path=path, at=(*path, "to"), guard=guard)


def _moved(guard: Guard, path: Path) -> Guard:
    """A guard that stands at a path."""
    if isinstance(guard, AllOf | AnyOf):
        children = tuple(_moved(child, path) for child in guard.children)
        return guard._replace(children=children, path=(*path, *guard.path))
    if isinstance(guard, Not):
        return guard._replace(child=_moved(guard.child, path), path=(*path, *guard.path))
    return guard._replace(path=(*path, *guard.path))


def _value(graph: Graph) -> dict[str, object]:
    """What a document with this graph would hold, as far as rules look there."""
    states: dict[str, object] = {}
    for name, state in graph.states.items():
        listed = [_item(way) for way in state.transitions]
        found: dict[str, object] = {"transition": {"next": listed}}
        found |= {key: state.settings[key] for key in _PLAIN if key in state.settings}
        states[name] = found
    fields = {name: _field(field) for name, field in graph.fields.items()}
    return {"initial": graph.initial, "fields": fields, "states": states}


def _item(way: Transition) -> dict[str, object]:
    found: dict[str, object] = {"to": way.target}
    return found if way.guard is None else found | {"when": in_words(way.guard)}


#: Settings of a state that a document could hold as they are.
_PLAIN = ("reads", "writes", "join", "merge", "tags")


def _field(field: Field) -> dict[str, object]:
    return {"type": field.type, "reducer": field.reducer}


# --- the places -----------------------------------------------------------------------------------


class _Places:
    """Finds where the parts of a graph stand; a file is read once."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        origin = graph.origin
        self.built = origin if isinstance(origin, Built) else Built({}, {}, {})
        self._texts: dict[str, PythonText] = {}
        self._nodes: dict[tuple[CodeType, int], tuple[PythonText, ast.Call | None]] = {}
        self.file = self._main()

    def _main(self) -> str:
        """The file that builds the graph: where its transitions are, else its states."""
        for call, _ in self.built.transitions.values():
            return call.code.co_filename
        for call in self.built.states.values():
            return call.code.co_filename
        codes = (_code(_body(state)) for state in self.graph.states.values())
        return next((code.co_filename for code in codes if code is not None), "<python>")

    def text(self, file: str) -> PythonText:
        if file not in self._texts:
            self._texts[file] = PythonText(file)
        return self._texts[file]

    def spots(self) -> Iterator[tuple[Path, Spot]]:
        for name, state in self.graph.states.items():
            path: Path = ("states", name)
            found = self._of_code(_body(state)) or self._of_name(self.built.states.get(name), name)
            if found is not None:
                yield path, found
            for at, way in enumerate(state.transitions):
                place = self.built.transitions.get((name, way.number))
                if place is not None:
                    yield from self._of_way((*path, "transition", "next", at), *place)
        for name in self.graph.fields:
            field = self._of_name(self.built.fields.get(name), name) or self._of_annotation(name)
            if field is not None:
                yield ("fields", name), field

    def _of_code(self, body: Any) -> Spot | None:
        """Where a function, or the class of an object, is defined."""
        code = _code(body)
        body = getattr(body, "source", body) if inspect.isfunction(body) else body
        kind = body if isinstance(body, type) else type(body)
        if code is None:
            return None
        text = self.text(code.co_filename)
        plain = inspect.isroutine(body)
        node = text.function(code) if plain else text.class_(kind) or text.function(code)
        if node is not None:
            return Spot(text, text.name_of(node), above=node.lineno - first_line(node))
        return Spot(text, text.line_of(code.co_firstlineno)) if text.text else None

    def _of_name(self, call: Call | None, name: str) -> Spot | None:
        """Where a call names something by a keyword; else the call itself."""
        if call is None:
            return None
        text, node = self._call(call)
        for keyword in node.keywords if node is not None else ():
            if keyword.arg == name:
                return Spot(text, text.extent(keyword))
        return Spot(text, text.line_of(call.line))

    def _of_way(self, path: Path, call: Call, number: int) -> Iterator[tuple[Path, Spot]]:
        """A transition: its tuple, the target and the guard in it; else the line of the call."""
        text, node = self._call(call)
        item = text.argument(node, number, call.given) if node is not None else None
        if item is None:
            yield path, Spot(text, text.line_of(call.line))
            return
        yield path, Spot(text, text.extent(item))
        if not isinstance(item, ast.Tuple | ast.List) or len(item.elts) < 2:
            return
        yield (*path, "to"), Spot(text, text.extent(item.elts[1]))
        for part in item.elts[2:3]:
            yield (*path, "when"), Spot(text, text.extent(part), _inside(text, part))
            for inner in ast.walk(part):
                if isinstance(inner, ast.keyword) and inner.arg is not None:
                    yield (*path, "when", inner.arg), Spot(text, text.extent(inner))

    def _of_annotation(self, name: str) -> Spot | None:
        """Where a schema annotates a field."""
        for schema in self.built.schemas:
            for kind in getattr(schema, "__mro__", ()):
                file = _file(kind)
                if file is None or name not in inspect.get_annotations(kind):
                    continue
                text = self.text(file)
                node = text.class_(kind)
                for line in node.body if node is not None else ():
                    if isinstance(line, ast.AnnAssign) and ast.unparse(line.target) == name:
                        return Spot(text, text.extent(line))
        return None

    def _call(self, call: Call) -> tuple[PythonText, ast.Call | None]:
        key = (call.code, call.instruction)
        if key not in self._nodes:
            text = self.text(call.code.co_filename)
            self._nodes[key] = text, text.call(call)
        return self._nodes[key]


def _body(state: State) -> Any:
    return state.settings.get("body")


def _code(body: Any) -> CodeType | None:
    """The code that runs when a body does: of a function behind decorators and partials, of the
    method of an object."""
    for _ in range(20):
        if isinstance(body, functools.partial):
            body = body.func
        elif inspect.isfunction(body) and hasattr(body, "source"):
            body = body.source  # a body of ours around the person's own
        elif inspect.isroutine(body) and hasattr(body, "__wrapped__"):
            body = body.__wrapped__
        else:
            break
    if not inspect.isroutine(body):
        kind = body if isinstance(body, type) else type(body)
        methods = (getattr(kind, name, None) for name in ("execute", "run", "__call__"))
        body = next((method for method in methods if method is not None), None)
    code = getattr(body, "__code__", None)
    return code if isinstance(code, CodeType) else None


def _file(kind: type) -> str | None:
    try:
        return inspect.getsourcefile(kind)
    except (TypeError, OSError):
        return None


def _inside(text: PythonText, part: ast.expr) -> int:
    """Where the words of ``expr("...")`` begin."""
    if (
        isinstance(part, ast.Call)
        and len(part.args) == 1
        and isinstance(part.args[0], ast.Constant)
    ):
        start, end = text.extent(part.args[0])
        word = part.args[0].value
        return text.text.find(word, start, end) if isinstance(word, str) and word else -1
    return -1
