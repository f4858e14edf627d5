"""Graphs built in Python: states are functions, transitions are tuples (documents 001 to 003)."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from statecli.kernel.joins import groups_of, joining
from statecli.kernel.typed import made_by
from statecli.model.calls import Built, Call, calling
from statecli.model.graph import FUNCTION, Field, Graph, State, Transition
from statecli.model.nearest import did_you_mean
from statecli.session.function import is_plain
from statecli.session.guards import When, default
from statecli.session.schema import declared, fields_from, is_plain_dict

#: The option with which another builder of ours says where it was called.
_PLACE = "place of the call"


def placed(call: Call, number: int) -> Mapping[str, Any]:
    """The options of a transition that stands somewhere else than in the call at work."""
    return {_PLACE: (call, number)}


class _Way(NamedTuple):
    """A transition as it was given, from each of the sources. `place`: by which call, and as which
    of its arguments."""

    sources: list[str]
    target: str
    guard: When
    options: Mapping[str, Any]
    place: tuple[Call, int]


class GraphBuilder:
    """Collects states and transitions; `build` makes the graph.

    A state is a function ``(data) -> delta`` (sync, async, or a generator that streams), or an
    object with ``execute(machine, data) -> next state``. What else a function takes are its
    inputs.
    """

    def __init__(self) -> None:
        self._states: dict[str, Any] = {}
        self._transitions: list[_Way] = []
        self._settings: dict[str, dict[str, Any]] = {}
        self._initial = ""
        self._fields: dict[str, Field] = {}
        self._tags: dict[str, tuple[str, ...]] = {}
        self._type: Any = None
        self._named: dict[str, Call] = {}
        self._specified: dict[str, Call] = {}
        self._schemas: list[Any] = []

    def with_schema(self, schema: Any) -> GraphBuilder:
        """Fields from a pydantic model, a dataclass or a TypedDict; ``Annotated[type, "reducer"]``
        names the reducer. Bodies get the data as an instance of it."""
        self._fields.update(fields_from(schema))
        self._schemas.append(schema)
        self._type = None if is_plain_dict(schema) and not made_by(schema) else schema
        return self

    def with_fanout(self, *names: str, on_failure: str = "wait") -> GraphBuilder:
        """These states take every transition that holds, side by side. Where one branch fails the
        others go on until they rest (``wait``), or are stopped (``cancel``)."""
        if on_failure not in ("wait", "cancel"):
            raise ValueError(f"on_failure is 'wait' or 'cancel', not {on_failure!r}")
        for name in names:
            transition = {"fanout": "all", "on_failure": on_failure}
            self._settings.setdefault(name, {})["transition"] = transition
        return self

    def with_join(
        self, name: str, *, merge: Mapping[str, str] | None = None, strategy: Any = None
    ) -> GraphBuilder:
        """A state that waits for one branch from every source of a group. What they did is folded
        by the reducers; `merge` names another one for a group, `strategy` is a function of the
        list of their data that gives all of the data (or a mapping of group to function).
        TypeError for what is no name of a reducer, and for what is no function."""
        if not all(isinstance(reducer, str) for reducer in (merge or {}).values()):
            raise TypeError(f"merge names a reducer for each group, not {merge!r}")
        for made in strategy.values() if isinstance(strategy, Mapping) else [strategy]:
            if made is not None and not callable(made):
                raise TypeError(f"a strategy is a function, not {made!r}")
        found = self._settings.setdefault(name, {})
        found["join"] = "all"
        if merge:
            found["merge"] = dict(merge)
        if strategy is not None:
            found["multi_input_merge_strategy"] = strategy
        return self

    def with_states(self, *functions: Callable[..., Any], **states: Any) -> GraphBuilder:
        """States by name; a function without one is called as itself. TypeError for what is no
        body, ValueError for two functions of one name."""
        named: dict[str, Any] = {}
        for name, body in (*((_name_of(function), function) for function in functions),
                           *states.items()):  # fmt: skip
            if name in named:
                raise ValueError(
                    f"two of the states are named '{name}': give them as name=function"
                )
            if not callable(getattr(body, "execute", body)):
                raise TypeError(f"the state '{name}' is a {type(body).__name__}: a function of the "
                                "data, or an object with 'execute'")  # fmt: skip
            named[name] = body
        self._states.update(named)
        self._named.update(dict.fromkeys(named, calling()))
        return self

    def with_transitions(self, *transitions: Sequence[Any]) -> GraphBuilder:
        """``(from, to)`` or ``(from, to, when)``; `from` may be a list. The order is the order in
        which they are tried. A mapping at the end has the keys `group` and `state_filter` (names
        of fields, or a function of the data that gives what goes on)."""
        call = calling(len(transitions))
        for number, way in enumerate(transitions):
            if isinstance(way, str) or not isinstance(way, Sequence) or len(way) < 2:
                raise ValueError(f"a transition is (from, to, when, ...), not {way!r}")
            source, target, *more = way
            sources = list(source) if isinstance(source, list | tuple | set) else [source]
            for name in (*sources, target):
                if not isinstance(name, str):
                    raise ValueError(f"{name!r} is no name of a state, in {tuple(way)!r}")
            guard = next((item for item in more if isinstance(item, When)), default)
            options = next((item for item in more if isinstance(item, Mapping)), {})
            unknown = options.keys() - {"group", "state_filter", _PLACE}
            if unknown or any(not isinstance(item, When | Mapping) for item in more):
                raise ValueError(f"a transition is (from, to, when, {{group, state_filter}}), not "
                                 f"{(source, target, *more)!r}{_meant(more)}")  # fmt: skip
            self._transitions.append(_Way(sources, target, guard, options,
                                          options.get(_PLACE, (call, number))))  # fmt: skip
        return self

    def with_fields(self, **fields: Any) -> GraphBuilder:
        """Declared fields: name to a mapping as under `fields` in a file (`type`, `values`,
        `reducer`, `default`, `description`). ValueError for a key, a type or a reducer that is
        none, TypeError for what is no mapping. `lint` finds a default of another type."""
        self._fields.update({name: declared(name, spec) for name, spec in fields.items()})
        self._specified.update(dict.fromkeys(fields, calling()))
        return self

    def with_tags(self, **tags: Sequence[str]) -> GraphBuilder:
        """Tags of states, for ``halt_before=["@tag:name"]``."""
        self._tags.update({name: tuple(found) for name, found in tags.items()})
        return self

    def with_data_type(self, kind: Any) -> GraphBuilder:
        """The type whose instances bodies get (a pydantic model or dataclass); else a dict."""
        self._type = kind
        return self

    def with_initial(self, name: str) -> GraphBuilder:
        """Where a run begins; the first state unless said."""
        self._initial = name
        return self

    def build(self) -> Graph:
        """The graph. ValueError for what is said of states that are not there, and for groups of
        branches that no transition has, or that nothing joins."""
        if not self._states:
            raise ValueError("a graph has at least one state: with_states(name=function)")
        routes: dict[str, list[Transition]] = {name: [] for name in self._states}
        for name in (*self._settings, *self._tags):
            self._known(name)
        places: dict[tuple[str, int], tuple[Call, int]] = {}
        for sources, target, guard, options, place in self._transitions:
            wanted = options.get("state_filter")
            keeps = (wanted,) if isinstance(wanted, str) else wanted
            for source in sources:
                self._known(source)
                self._known(target)
                number = len(routes[source])
                places[source, number] = place
                found = Transition(
                    source, target, guard.guard, 1, number, (), (),
                    group=str(options.get("group", "")),
                    state_filter=keeps if keeps is None or callable(keeps) else tuple(keeps),
                )  # fmt: skip
                routes[source].append(found)
        initial = self._initial or next(iter(self._states), "")
        self._known(initial)
        states = {
            name: State(name, FUNCTION, (), tuple(routes[name]),
                        description=inspect.getdoc(body) or "",
                        reads=_declared(body, "reads"), writes=_declared(body, "writes"),
                        settings={"body": body, "tags": self._tags.get(name, ()),
                                  "plain": is_plain(body), **self._settings.get(name, {})})
            for name, body in self._states.items()
        }  # fmt: skip
        settings: Mapping[str, Any] = {"data_type": self._type} if self._type else {}
        graph = Graph("states", initial, None, states, self._fields, settings=settings,
                      declares_fields=bool(self._fields), limits={"max_steps": 10**9})  # fmt: skip
        graph.origin = Built(self._named, places, self._specified, tuple(self._schemas))
        _check_groups(graph)
        return graph

    def _known(self, name: str) -> None:
        if name not in self._states:
            hint = did_you_mean(name, self._states)
            raise ValueError(f"no state is named '{name}'" + (f" ({hint})" if hint else ""))


def _check_groups(graph: Graph) -> None:
    """ValueError for a group that `merge` or `strategy` names and no transition into the join has,
    and for one of a transition into a state that joins nothing."""
    for state in graph.states.values():
        for key in ("merge", "multi_input_merge_strategy"):
            named = state.settings.get(key)
            known = groups_of(graph, state.name)
            for group in named if isinstance(named, Mapping) else ():
                if group not in known:
                    hint = did_you_mean(str(group), known) or f"there are: {', '.join(known)}"
                    what = "merge" if key == "merge" else "strategy"
                    raise ValueError(f"the {what} of '{state.name}' names the group '{group}', "
                                     f"which no transition into it has ({hint})")  # fmt: skip
        for route in state.transitions:
            if route.group and route.target not in joining(graph):
                raise ValueError(f"the transition from '{state.name}' to '{route.target}' is of "
                                 f"the group '{route.group}', and '{route.target}' joins nothing "
                                 f"(with_join('{route.target}'))")  # fmt: skip


def _meant(more: Sequence[Any]) -> str:
    """What to write in place of a condition that is none of ours."""
    for item in more:
        if isinstance(item, str):
            return f": a condition in words is expr({item!r})"
        if callable(item):
            return ": a condition is when(field=value) or expr('...'), no function"
    return ""


def _name_of(function: Any) -> str:
    """How a function that was given without a name is called. TypeError where it has none."""
    name = getattr(function, "__name__", None)
    if not isinstance(name, str):
        raise TypeError(f"a {type(function).__name__} has no name: give it as name=...")
    return name


def _declared(body: Any, name: str) -> tuple[str, ...]:
    """The fields that a function says it reads or writes, by an attribute of this name."""
    found = getattr(body, name, ()) if inspect.isfunction(body) else ()
    return tuple(found) if isinstance(found, list | tuple) else ()
