"""What a script says under a name that nobody reads there: a field, a tool, a call. It would be
dropped without a word, or refused far from where it stands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from statecli.model.graph import State
from statecli.model.nearest import did_you_mean, nearest
from statecli.model.ports import Request, ToolSpec
from statecli.model.span import Path
from statecli.model.wording import listed, shortened
from statecli.text.turns import Reply, calls_of

#: What went wrong before is told in so many characters.
_LONGEST = 200
#: Requests whose `note` says what was wrong with the last answer; others tell there what it is
#: about.
_NOTED = ("delta", "choice", "tool", "arguments", "plan", "verdict", "skill")


class Misfit(NamedTuple):
    """A place in the file (the value there, or its key), and what is wrong with it."""

    path: Path
    said: str
    part: str = "value"


def misfit(request: Request, reply: Reply) -> Misfit | None:
    """What an answer to a request says in vain."""
    what = request.what
    if what == "delta" and isinstance(reply.items.get("writes"), dict):
        return _of_writes(request.state, reply)
    if what == "arguments":
        return _of_arguments(request, reply)
    if what == "tool" and reply.fits("calls"):
        return _of_pick(request, reply)
    if request.tools and reply.fits("calls"):
        return _of_calls(request, reply)
    return None


def _of_writes(state: State, reply: Reply) -> Misfit | None:
    for key in reply.items["writes"]:
        if key == "reply":
            said = "'reply' stands beside 'writes', not in it"
            return Misfit((*reply.path, "writes", key), said, "key")
        if key not in state.writes:
            hint = did_you_mean(key, state.writes) or f"it writes {listed(state.writes, 'and')}"
            said = f"'{state.name}' writes no '{key}'; {hint}"
            return Misfit((*reply.path, "writes", key), said, "key")
    return None


def _of_pick(request: Request, reply: Reply) -> Misfit | None:
    """A state that first picks one of its tools, then fills its arguments."""
    found = calls_of(reply)
    names = [tool.name for tool in request.tools]
    if found and not _is_one_of(found[0][0], names):
        where = (*reply.path, "calls", 0)
        hint = did_you_mean(found[0][0], names) or f"it has {listed(names, 'and')}"
        return Misfit(where, f"'{request.state.name}' has no tool '{found[0][0]}'; {hint}")
    return _one_call(request.state, reply)


def _of_arguments(request: Request, reply: Reply) -> Misfit | None:
    found, tool = calls_of(reply), request.tools[0].name if request.tools else ""
    if found and not _is_one_of(found[0][0], [tool]):
        where = (*reply.path, "calls", 0)
        said = f"'{request.state.name}' calls '{tool}', and the file '{found[0][0]}'"
        return Misfit(where, said)
    return _one_call(request.state, reply)


def _one_call(state: State, reply: Reply) -> Misfit | None:
    count = len(calls_of(reply))
    if count == 1:
        return None
    where = (*reply.path, "calls", 1) if count else (*reply.path, "calls")
    return Misfit(where, f"'{state.name}' makes one call each time it runs; here are {count}")


def _of_calls(request: Request, reply: Reply) -> Misfit | None:
    """Calls that a model makes by itself. One that is not there at all is refused, which may be
    what is wanted; one that is nearly there is misspelt."""
    names = [tool.name for tool in request.tools]
    schemas = {tool.name: tool.schema for tool in request.tools}
    for number, (name, arguments) in enumerate(calls_of(reply)):
        where = (*reply.path, "calls", number)
        hint = did_you_mean(name, names) if name not in names else ""
        if hint:
            return Misfit(where, f"there is no call '{name}' in '{request.state.name}'; {hint}")
        known = (schemas.get(name) or {}).get("properties")
        if isinstance(known, Mapping):
            key = _nearly(arguments, known)
            if key is not None:
                said = f"'{name}' takes no '{key[0]}'; {key[1]}"
                return Misfit((*where, name, key[0]), said, "key")
    return None


def result_misfit(state: State | None, reply: Reply) -> Misfit | None:
    """What a tool gives back under a name that is nearly one that its state writes. Other names
    are in order: tools tell more than anybody keeps."""
    value = reply.items.get("result")
    if state is None or state.kind != "tool" or not isinstance(value, Mapping):
        return None
    found = _nearly(value, state.writes)
    if found is None:
        return None
    said = f"'{state.name}' writes no '{found[0]}'; {found[1]}"
    return Misfit((*reply.path, "result", found[0]), said, "key")


def _nearly(given: Mapping[str, Any], known: Iterable[str]) -> tuple[str, str] | None:
    """A key that is nearly one that is known and not given, with the hint."""
    names = list(known)
    for key in given:
        near = nearest(key, [name for name in names if name not in given])
        if key not in names and near is not None:
            return key, f"did you mean '{near}'?"
    return None


def _is_one_of(name: str, tools: Iterable[str]) -> bool:
    """Whether a call names one of the tools, in full or without its server."""
    return any(name in (tool, tool.rpartition(".")[2]) for tool in tools)


def in_full(name: str, tools: Iterable[ToolSpec]) -> str:
    """The whole name of a tool that is named without its server, if only one is called so."""
    found = [tool.name for tool in tools if _is_one_of(name, [tool.name])]
    return found[0] if len(found) == 1 else name


def asked_again(request: Request) -> str:
    """Why a model is asked once more: its last answer was refused. Empty where it was not."""
    done = request.transcript
    if done and not done[-1].ok:
        return f" ({done[-1].call.name} was refused: {shortened(done[-1].text, _LONGEST)})"
    if request.note and request.what in _NOTED:
        return f" once more ({shortened(request.note, _LONGEST)})"
    return ""
