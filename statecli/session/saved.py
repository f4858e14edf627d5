"""What `Run.dump` wrote (or Agentex itself), or a store keeps, checked before it is a run again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from statecli.engine.advance import Custom
from statecli.model.graph import Graph
from statecli.model.nearest import did_you_mean
from statecli.model.ports import Store
from statecli.session.session import Session

#: The form of the events in a dump.
VERSION = 1
#: What folding events raises that no run of this graph has made.
_DAMAGE = (LookupError, TypeError, AttributeError, AssertionError)


class OwnSession(Session):
    """What a program's own code writes is data that it goes on with: it stays as it is."""

    @staticmethod
    def secrets() -> list[str]:
        return []


def rows_of(saved: Any, graph: Graph) -> Sequence[Mapping[str, Any]]:
    """The events of a saved run; none where Agentex wrote it. ValueError where it is no saved run,
    or not one of this graph."""
    if not isinstance(saved, Mapping):
        raise ValueError(f"a saved run is a mapping, not a {type(saved).__name__}")
    for key in ("current_state", "initial_state"):
        name = saved.get(key)
        if not isinstance(name, str):
            raise ValueError(f"this is no saved run: '{key}' is no name of a state")
        if key == "current_state" and name not in graph.states:
            hint = did_you_mean(name, graph.states)
            message = f"the saved run stands at '{name}', which is no state of this graph"
            raise ValueError(f"{message} ({hint})" if hint else message)
    data, own = saved.get("state_machine_data"), saved.get("statecli")
    if data is not None and not isinstance(data, Mapping):
        raise ValueError("this is no saved run: 'state_machine_data' is no mapping")
    if own is None:
        return ()
    if not isinstance(own, Mapping) or own.get("version") != VERSION:
        raise ValueError("the saved events ('statecli') are of another version of statecli")
    rows = own.get("events")
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
        raise ValueError("the saved events are no list of events")
    return rows


def restored(
    graph: Graph, store: Store, rows: Sequence[Mapping[str, Any]], custom: Custom
) -> Session:
    """The session of saved events. ValueError where they are damaged, or lead nowhere here."""
    numbers = [row.get("number") for row in rows]
    if numbers != list(range(1, len(rows) + 1)):
        raise ValueError("the saved events are not numbered from 1 on")
    try:
        session = OwnSession.restored(graph, store, rows, custom=custom)
    except _DAMAGE as error:
        raise ValueError(f"the saved events cannot be read: {error!r}") from error
    return _standing(session)


def opened(graph: Graph, store: Store, run: str, custom: Custom) -> Session:
    """The session of a stored run. KeyError where there is none, ValueError where it leads nowhere
    in this graph."""
    if store.get(run) is None:
        hint = did_you_mean(run, [stored.run for stored in store.runs()])
        raise KeyError(f"the store has no run '{run}'" + (f" ({hint})" if hint else ""))
    try:
        return _standing(OwnSession.open(graph, store, run, custom=custom))
    except _DAMAGE as error:
        raise ValueError(f"the run '{run}' is none of this graph: {error!r}") from error


def _standing(session: Session) -> Session:
    """ValueError where one of its branches stands at no state of the graph."""
    now, known = session.snapshot, session.graph.states
    for state in (now.state, *(branch.token.state for branch in now.branches.values())):
        if state not in known and now.status != "ended":
            raise ValueError(f"the saved run stands at '{state}', no state of this graph")
    return session
