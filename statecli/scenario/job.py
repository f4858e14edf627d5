"""One conversation file from its bytes to a result that can be shown, counted and sent between
processes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from statecli.config import Config
from statecli.engine.advance import Custom
from statecli.load.loader import Loaded
from statecli.model.ports import Provider
from statecli.model.span import Place
from statecli.model.unable import Unable
from statecli.scenario.compare import NOTHING
from statecli.scenario.counts import Counts, counted
from statecli.scenario.expect import Expected
from statecli.scenario.runner import Case, Played, Problem, Rehearsal, play, prepared
from statecli.scenario.writing import difference, rewritten, updates
from statecli.text.conversation import BadConversation, Conversation, read

#: What is compared when a real model plays, unless all is asked for: where the run goes.
_STATES = frozenset(
    {"state", "entered", "left", "takes", "status", "ended", "turns_at_most", "never"}
)


class Graph(NamedTuple):
    """A graph that conversations are played against, as it is named and as its text says."""

    path: str
    text: str
    loaded: Loaded
    config: Config
    custom: Custom


class Told(NamedTuple):
    """A problem to show: where it stands (``file:line:column``), the turn (0: the whole file) and
    what the person said in it."""

    where: str
    turn: int
    say: str
    message: str
    details: tuple[str, ...] = ()


class Result(NamedTuple):
    """What came of one file. `status`: passed, failed, or error (it could not be played).

    `text` is what `--update` or `--record` would write, `diff` shows it.
    """

    path: str
    about: str
    graph: str
    status: str
    problems: tuple[Told, ...] = ()
    turns: int = 0
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    counts: Counts | None = None
    text: str | None = None
    diff: tuple[str, ...] = ()
    tokens: int = 0
    cost: float = 0.0


class Order(NamedTuple):
    """What is to be done with each file. `model` finds who plays instead of the file;
    `everything`: compare all that is expected, also then."""

    graph_of: Callable[[str, Conversation], Graph]
    coverage: bool = False
    update: bool = False
    model: Callable[[Graph], Provider] | None = None
    everything: bool = False


def run(path: str, content: bytes, order: Order) -> Result:
    """Play one file."""
    return guarded(path, lambda: _run(path, content, order))


def guarded(path: str, work: Callable[[], Result]) -> Result:
    """The result of some work on a file; what is wrong with the file is a result too."""
    began = time.perf_counter()
    try:
        result = work()
    except BadConversation as error:
        split = (_split(path, message) for message in error.every)
        told = tuple(Told(where, 0, "", message) for where, message in split)
        result = Result(path, "", "", "error", told)
    except Unable as error:
        message = f"{error.message}; {error.hint}" if error.hint else error.message
        result = Result(path, "", "", "error", (Told(path, 0, "", message),))
    return result._replace(seconds=time.perf_counter() - began)


def _split(path: str, text: str) -> tuple[str, str]:
    """``file:line:column`` and the message behind it."""
    rest = text.removeprefix(f"{path}:")
    line, colon, more = rest.partition(":")
    column, _, message = more.partition(": ")
    if colon and line.isdigit() and column.isdigit():
        return f"{path}:{line}:{column}", message
    return path, text


def _run(path: str, content: bytes, order: Order) -> Result:
    conversation = read(path, content)
    graph = order.graph_of(path, conversation)
    assert graph.loaded.graph is not None
    case = prepared(conversation, graph.loaded.graph, graph.text)
    head = Result(path, conversation.about, graph.path, "error")
    if not isinstance(case, Case):
        told = tuple(
            Told(_where(conversation, Place(m.path, m.part)), 0, "", m.message) for m in case
        )
        return head._replace(problems=told)
    script = None
    if order.model is not None:
        script = Rehearsal(conversation, order.model(graph))
        if not order.everything:
            case = _states_only(case)
    played = play(case, script=script, custom=graph.custom, waits=script is not None)
    result = result_of(head, played)
    if order.coverage:
        result = result._replace(counts=counted(played.whole))
    if isinstance(script, Rehearsal):
        result = _spent(result, script)
    return _updated(result, played, graph) if order.update else result


def _states_only(case: Case) -> Case:
    def kept(expected: tuple[Expected, ...]) -> tuple[Expected, ...]:
        return tuple(one for one in expected if one.key in _STATES)

    return case._replace(turns=tuple(map(kept, case.turns)), whole=kept(case.whole))


def _where(conversation: Conversation, place: Place) -> str:
    start = conversation.document.span(place).start
    return f"{conversation.document.path}:{start.line}:{start.column}"


def result_of(head: Result, played: Played) -> Result:
    conversation = played.case.conversation
    told = tuple(told_of(conversation, problem) for problem in played.problems)
    notes: list[str] = []
    if played.case.changed:
        notes.append("the graph has changed since this was recorded")
    if not played.case.expects and played.passed:
        notes.append("nothing is expected of it: --update writes what it does now")
    return head._replace(
        status="passed" if played.passed else "failed",
        problems=told,
        turns=played.whole.lines,
        notes=tuple(notes),
    )


def told_of(conversation: Conversation, problem: Problem) -> Told:
    say = conversation.turns[problem.turn - 1].say if problem.turn else None
    where = conversation.where(problem.path, problem.part)
    return Told(where, problem.turn, say or "", problem.message, problem.details)


def _spent(result: Result, script: Rehearsal) -> Result:
    """What a model used."""
    tokens, cost = 0, 0.0
    for usage in script.spent:
        tokens += sum(n for n in (usage.get("input"), usage.get("output")) if type(n) is int)
        price = usage.get("cost")
        cost += float(price) if isinstance(price, int | float) else 0.0
    return result._replace(tokens=tokens, cost=cost)


def _updated(result: Result, played: Played, graph: Graph) -> Result:
    """With what `--update` writes: made, read again and played again, so that what is written is
    known to hold."""
    if any(problem.difference is None for problem in played.problems):
        note = "it is not rewritten: the conversation itself does not fit the graph any more"
        return result._replace(notes=(*result.notes, note))
    changes, left = updates(played, graph.text)
    if not changes:
        return result._replace(notes=(*result.notes, *left))
    document = played.case.conversation.document
    text = rewritten(document, changes)
    again = _again(played, graph, text) if text is not None else None
    if again is not None and (wrong := _still_wrong(again)):
        note = f"it is not rewritten: turns share what they expect by an alias, and differ; {wrong}"
        return result._replace(notes=(*result.notes, note))
    if text is None or again is None:
        note = "it cannot be rewritten as it is laid out; change it by hand"
        return result._replace(notes=(*result.notes, note))
    return result_of(result, again)._replace(
        notes=tuple(left),
        text=text,
        diff=tuple(difference(result.path, document.text, text)),
    )


def _still_wrong(again: Played) -> str:
    """What of a rewritten text does not hold although it was written to."""
    for problem in again.problems:
        if problem.difference is None or problem.difference.actual is not NOTHING:
            return f"then turn {problem.turn} would say: {problem.message}"
    return ""


def _again(played: Played, graph: Graph, text: str) -> Played | None:
    """The rewritten text, played; None where it does not read as it should."""
    path = played.case.conversation.document.path
    try:
        conversation = read(path, text.encode())
    except BadConversation:
        return None
    assert graph.loaded.graph is not None
    case = prepared(conversation, graph.loaded.graph, graph.text)
    return play(case, custom=graph.custom) if isinstance(case, Case) else None
