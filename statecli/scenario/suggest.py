"""The conversations that a search found, as files: turns put together, placeholders for what people
would say, each played before it is shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from statecli.model.data import shown
from statecli.model.graph import KINDS, Graph
from statecli.scenario.counts import Key
from statecli.scenario.exact import runs
from statecli.scenario.moves import NEUTRAL, typed
from statecli.scenario.runner import BAD, Case, Played, play, prepared
from statecli.scenario.search import BUDGET, Search, Step
from statecli.scenario.writing import expected_of
from statecli.text.conversation import read, write
from statecli.verify.verifier import verify

Turn = dict[str, Any]


class Suggestion(NamedTuple):
    """A conversation that takes a way, as the text of a file; empty where none was found. `also`
    are other ways that were wanted and that it takes. `never`: proved that nothing can take it."""

    key: Key
    text: str
    turns: int
    also: tuple[Key, ...] = ()
    never: bool = False


def suggestions(
    graph: Graph, wanted: Sequence[Key], *, name: str, digest: str, budget: int = BUDGET
) -> tuple[list[Suggestion], bool]:
    """A shortest conversation for each way that was not taken, and whether the search was
    complete: then the ways without one cannot be taken, as far as it can tell. The verifier knows
    of all values at once, and of what cannot be; what it does not follow (errors, answers that do
    not fit) is searched run by run."""
    texts: dict[Key, str] = {}
    for key, run in runs(graph, wanted).items():
        text = written(graph, run.turns, key, name=name, digest=digest, given=run.given)
        if text is not None:
            texts[key] = text
    never = _never(graph, [key for key in wanted if key not in texts])
    search = Search(graph, [k for k in wanted if k not in texts and k not in never], budget).run()
    for key, steps in search.found.items():
        text = written(graph, turns_of(steps), key, name=name, digest=digest)
        if text is not None:
            texts[key] = text
    found = [
        _suggestion(graph, key, texts[key], wanted)
        if key in texts
        else Suggestion(key, "", 0, never=key in never)
        for key in wanted
    ]
    return found, search.complete


def _suggestion(graph: Graph, key: Key, text: str, wanted: Sequence[Key]) -> Suggestion:
    played = played_text(graph, text)
    taken = keys_of(played) if played is not None else []
    also = tuple(k for k in wanted if k != key and k in taken)
    return Suggestion(key, text, played.whole.lines if played is not None else 0, also)


def _never(graph: Graph, wanted: Sequence[Key]) -> set[Key]:
    """The ways of which the verifier proves that no run takes them."""
    if not wanted or any(state.kind not in KINDS for state in graph.states.values()):
        return set()
    report = verify(graph, witnesses=False)
    if not report.exact:
        return set()
    dead, unreachable = report.lists["dead"], report.lists["unreachable"]
    return {
        key for key in wanted
        if key[0] in unreachable or (key[1] == "written" and (key[0], key[2]) in dead)
    }  # fmt: skip


def written(
    graph: Graph,
    turns: list[Turn],
    key: Key,
    *,
    name: str,
    digest: str,
    given: Mapping[str, Any] = MappingProxyType({}),
) -> str | None:
    """The file of a conversation that takes a way, as short as it can be made; None where it does
    not do so when it is played (a fault of ours, and nothing that should be shown)."""
    about = f"takes '{key[0]}' -> '{key[3]}'"

    def text_of(parts: list[Turn]) -> str:
        return write(parts, graph=name, digest=digest, about=about, compact=True, data=dict(given))

    def takes(parts: list[Turn]) -> bool:
        played = played_text(graph, text_of(parts))
        return played is not None and played.passed and key in keys_of(played)

    first = played_text(graph, text_of(turns))
    if first is not None and first.whole.after.status in BAD:
        turns[-1]["expect"] = {"status": first.whole.after.status}  # nothing else comes of it
    if not takes(turns):
        return None
    while len(turns) > 1 and not turns[0] and takes(turns[1:]):
        turns = turns[1:]
    while len(turns) > 1 and takes(turns[:-1]):
        turns = turns[:-1]
    at = 0
    while at + 1 < len(turns):
        joined = _joined(turns[at], turns[at + 1])
        shorter = [*turns[:at], *([joined] if joined is not None else []), *turns[at + 2 :]]
        if joined is not None and takes(shorter):
            turns = shorter
        else:
            at += 1
    spoken = [_spoken(turn) for turn in turns]
    turns = spoken if takes(spoken) else turns
    played = played_text(graph, text_of(turns))
    if played is not None:
        for turn, seen in zip(turns, played.seen, strict=False):
            turn["expect"] = expected_of(seen)
    return text_of(turns)


def turns_of(steps: Sequence[Step]) -> list[Turn]:
    """Steps as turns: a turn begins with a line of the person."""
    turns: list[Turn] = []
    for line, replies in steps:
        if line is not None or not turns:
            turns.append({} if line is None else {"say": line})
        if replies:
            turns[-1].setdefault("replies", []).extend(replies)
    return turns


def _joined(first: Turn, second: Turn) -> Turn | None:
    """Two turns as one, where the second only goes on with calls after the first's calls."""
    one, two = first.get("replies") or [], second.get("replies") or []
    if not (one and two and "say" in first and "say" in second):
        return None
    if "calls" not in one[0] or "calls" not in two[0]:
        return None
    rest = [reply for reply in one if "calls" in reply or "check" in reply]
    if not all("calls" in r or "check" in r or set(r) == {"reply"} for r in (*one, *two)):
        return None
    return {**second, "say": first["say"], "replies": [*rest, *two]}


def _spoken(turn: Turn) -> Turn:
    """The person says what the model notes down: a better placeholder than nothing in particular.
    The text of calls is said beside them."""
    if turn.get("say") != NEUTRAL:
        return turn
    values = [
        arguments
        for reply in turn.get("replies") or ()
        for call in reply.get("calls") or ()
        for name, arguments in call.items()
        if name == "set_deliverable"
    ]
    said = ", ".join(f"{given['key']}: {typed(given['value'])}" for given in values)
    return {**turn, "say": said or NEUTRAL}


def played_text(graph: Graph, text: str) -> Played | None:
    """The conversation of a text, played."""
    case = prepared(read("suggestion.yaml", text.encode()), graph)
    return play(case) if isinstance(case, Case) else None


def keys_of(played: Played | None) -> list[Key]:
    """The ways that a conversation takes."""
    found: list[Key] = []
    for way in played.whole.taken if played is not None else ():
        found.append((way.source, way.origin, way.number, way.target))
        if way.by == "on_invalid":
            found.append((way.source, "on_invalid", -1, way.target))
    return found


def in_words(key: Key) -> str:
    """A way as a title."""
    source, origin, _, target = key
    if not source:
        return f"begin in {shown(target)}"
    more = f" ({origin})" if origin != "written" else ""
    return f"{shown(source)} -> {shown(target)}{more}"
