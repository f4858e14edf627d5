"""`rules`: no model at all. What a rule cannot decide the person is asked, by type; never guessed.

In a plan state it asks for one deliverable after the other and reads the next line as the answer,
because its question was the last thing said: nothing has to be remembered between two lines.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from statecli.kernel.spoken import yes_or_no
from statecli.kernel.tasks import addressed, current
from statecli.kernel.values import Unfit, parsed, spaced
from statecli.llm import asking
from statecli.llm.by_hand import ByHand
from statecli.llm.mentions import field_for, found_in
from statecli.model.data import shown
from statecli.model.graph import Deliverable, Graph, State, Task
from statecli.model.guard import fold
from statecli.model.ports import Ask, Call, Chunk, Question, Request, Unanswered
from statecli.model.snapshot import Snapshot

SKIP_WORDS = frozenset({"skip", "pass", "-"})
GIVE_UP_WORDS = frozenset({"give up", "stop", "no thanks", "move on", "skip"})
_SORRY = "Sorry, "
#: The reasons that calls give: what was not simply typed is said to the person.
TYPED = "typed as the answer"
READ = "read from the answer"
NAMED = "named in the line"


class Open(NamedTuple):
    """Something a plan state still asks for, with the question that asks for it.

    `kind`: value (a deliverable), done (a task without deliverables), goal.
    """

    kind: str
    question: str
    item: Deliverable | None = None
    task: Task | None = None
    may_skip: bool = False


class RulesProvider(ByHand):
    """Needs no network and no key."""

    label = "rules"

    async def complete(self, request: Request, ask: Ask) -> AsyncIterator[Chunk]:
        """The answer to one request; may ask the person through `ask`."""
        if request.what == "turn":
            for chunk in await _turn(request, ask):
                yield chunk
            return
        answer = getattr(self, f"_{request.what}")
        yield await answer(request, ask)

    def opening(self, graph: Graph, snapshot: Snapshot) -> str:
        """What the next line answers where a plan state waits before anything was said in it (it
        was entered behind a state that had the last word); empty where nothing has to be shown."""
        state = graph.states.get(snapshot.state)
        if state is None or not state.is_plan:
            return ""
        request = Request("turn", graph, state, snapshot)
        return _says(request, still_open(request)) if _is_new(request) else ""

    async def _reply(self, request: Request, ask: Ask) -> Chunk:
        if request.snapshot.status == "ended":  # the summary that a plan may ask for
            return Chunk(text=f"[{request.state.name}] {request.prompt}")
        return Chunk(text=spoken(request.state))

    async def _delta(self, request: Request, ask: Ask) -> Chunk:
        state = request.state
        value = await asking.written(ask, request.graph, state.name, state.writes)
        return Chunk(text=spoken(state), value=value)

    async def _choice(self, request: Request, ask: Ask) -> Chunk:
        title = f"[{request.state.name}] Where next?"
        if request.snapshot.entries:
            title = "Where does it begin?"
        return Chunk(value={"next_state": await asking.menu(ask, title, request.options)})

    async def _arguments(self, request: Request, ask: Ask) -> Chunk:
        return Chunk(value=await asking.arguments(ask, request.tools[0], request.state.name))

    async def _plan(self, request: Request, ask: Ask) -> Chunk:
        where = f"[{request.state.name}]"
        steps = [await asking.text_of(ask, f"{where} Step 1 of the plan:")]
        while True:
            text = f"{where} Step {len(steps) + 1} (empty ends the plan):"
            line = (await ask(Question(text, optional=True))).strip()
            if not line:
                break
            steps.append(line)
        permission = await asking.yes_no(ask, f"{where} Must the person agree to it first?")
        return Chunk(value={"steps": steps, "needs_permission": permission})

    async def _step(self, request: Request, ask: Ask) -> Chunk:
        done = await asking.yes_no(ask, f"[{request.state.name}] {request.note}: did it work?")
        return Chunk(text=request.note, value={"ok": done})

    async def _verdict(self, request: Request, ask: Ask) -> Chunk:
        where = f"[{request.state.name}]"
        done = await asking.yes_no(ask, f"{where} Is it done?")
        name = await asking.menu(ask, f"{where} Where next?", request.options)
        return Chunk(value={"done": done, "reason": spoken(request.state), "next": name})

    async def _check(self, request: Request, ask: Ask) -> Chunk:
        """The person has just said so and quoted themselves."""
        quote = request.note.partition(": ")[2]
        return Chunk(value={"agree": True, "quote": quote, "reason": ""})


# --- plan states ----------------------------------------------------------------------------------


async def _turn(request: Request, ask: Ask) -> list[Chunk]:
    """Read the line as the answer to what was asked last; else ask for what is missing."""
    line = request.snapshot.line
    wanted = still_open(request)
    if line is not None and not request.transcript:
        asked = _asked(request, wanted)
        if asked is not None:
            return await _answered(request, ask, asked, wanted, line)
        if request.state.kind != "strict":
            found = found_in(line, _items(request, wanted), None).values
            if found:
                return [_set(key, value, NAMED) for key, value in found.items()]
    return [Chunk(text=_says(request, wanted))]


def _says(request: Request, wanted: Sequence[Open], first: str = "") -> str:
    """The next question, after what a call brought, and the name of a state that is new."""
    parts = [first, *_told(request)]
    if not _messages(request)[request.snapshot.token.since :]:
        parts.append(spoken(request.state))
    elif not wanted:
        parts.append(f"[{request.state.name}] All is done here.")
    if wanted:
        parts.append(wanted[0].question)
    return "\n".join(filter(None, parts))


def _told(request: Request) -> list[str]:
    """The values of this turn that were not simply typed, and what was refused."""
    noted: list[str] = []
    refused: list[str] = []
    for exchange in request.transcript:
        given = exchange.call.arguments
        if not exchange.ok:
            refused.append(f"{exchange.text[:1].upper()}{exchange.text[1:]}.")
        elif exchange.call.name == "set_deliverable" and given.get("reasoning") != TYPED:
            noted.append(f"{given['key']} is {shown(given['value'])}")
    return [*([f"Noted: {', '.join(noted)}."] if noted else []), *refused]


def _messages(request: Request) -> list[Mapping[str, Any]]:
    messages = request.snapshot.data.get("messages") or ()
    return [message for message in messages if isinstance(message, Mapping)]


def _last_said(request: Request) -> str:
    """What was said to the person last."""
    for message in reversed(_messages(request)):
        if message.get("role") == "assistant":
            return str(message.get("content"))
    return ""


def _is_new(request: Request) -> bool:
    """Whether nothing was said to the person in this visit."""
    visit = _messages(request)[request.snapshot.token.since :]
    return not any(message.get("role") == "assistant" for message in visit)


def _asked(request: Request, wanted: Sequence[Open]) -> Open | None:
    """The open item whose question ended the last thing that was said, or that `opening` shows."""
    visit = _messages(request)[request.snapshot.token.since :]
    if _is_new(request) and len(visit) == 1:
        return wanted[0] if wanted else None
    said = _last_said(request)
    return next((open_ for open_ in wanted if said.endswith(open_.question)), None)


async def _answered(
    request: Request, ask: Ask, asked: Open, wanted: Sequence[Open], line: str
) -> list[Chunk]:
    if spaced(line) in SKIP_WORDS and asked.task is not None:
        if asked.may_skip:
            return [_call("skip_task", id=asked.task.id, reason=line)]
        return [_again(request, ask, asked, "nothing can be skipped here")]
    if asked.kind == "goal":
        return await _goal(request, ask, asked, line)
    if request.state.kind == "goal" and spaced(line) in ("give up", *SKIP_WORDS):
        if spaced(line) == "give up":
            return [_call("close_goal", outcome="given_up", quote=line)]
        return [_again(request, ask, asked, "this is needed here; 'give up' ends the goal")]
    if asked.kind == "done":
        assert asked.task is not None
        answer = yes_or_no(line)
        if answer is None:
            found = found_in(line, _items(request, wanted), None).values
            if found:
                return [_set(key, value, NAMED) for key, value in found.items()]
            return [_again(request, ask, asked, f"{shown(line.strip())} is neither yes nor no")]
        if answer:
            return [_call("complete_task", id=asked.task.id, reasoning=line)]
        return [Chunk(text=f"Then it stays open. {asked.question}")]
    return _value_answered(request, ask, asked, wanted, line)


def _value_answered(
    request: Request, ask: Ask, asked: Open, wanted: Sequence[Open], line: str
) -> list[Chunk]:
    """The value that was asked for; outside strict states also others that the line names."""
    assert asked.item is not None
    field = field_for(asked.item)
    value = parsed(field, line)
    if request.state.kind == "strict":
        found: dict[str, Any] = {}
    else:
        found, rest = found_in(line, _items(request, wanted), asked.item)
        if asked.item.type == "string":
            value = parsed(field, rest)
        if asked.item.key in found and (isinstance(value, Unfit) or asked.item.type == "string"):
            value = Unfit("")  # it was found inside the line, and is noted as such
        else:
            found.pop(asked.item.key, None)
    chunks = [_set(key, item, NAMED) for key, item in found.items()]
    if not isinstance(value, Unfit):
        simple = field.type in ("str", "bool", "enum", "any") or fold(line) == str(value)
        return [_set(asked.item.key, value, TYPED if simple else READ), *chunks]
    if chunks:
        return chunks
    return [_again(request, ask, asked, asking.unfit(field, line, value.reason))]


def _items(request: Request, wanted: Sequence[Open]) -> list[Deliverable]:
    """Every value that the state still collects, also the optional ones that are not asked for."""
    held = request.snapshot.data
    asked = [open_.item for open_ in wanted if open_.item is not None]
    more = [item for item in request.state.deliverables() if item.key not in held]
    return list({item.key: item for item in [*asked, *more]}.values())


def _again(request: Request, ask: Ask, asked: Open, reason: str) -> Chunk:
    """The same question with the reason; off a terminal not more than once in a row."""
    if not ask.patient and _last_said(request).startswith(_SORRY):
        raise Unanswered(asking.unanswered(asked.question, reason))
    if asked.may_skip:
        reason = f"{reason}; 'skip' leaves it out"
    return Chunk(text=asking.again(reason, asked.question))


async def _goal(request: Request, ask: Ask, asked: Open, line: str) -> list[Chunk]:
    """Whether the goal is reached, and the words of the person that show it."""
    answer = yes_or_no(line)
    if spaced(line) in GIVE_UP_WORDS:
        return [_call("close_goal", outcome="given_up", quote=line)]
    if answer:
        text = f"[{request.state.name}] Which of your own words show it? (two words or more)"
        quote = await asking.text_of(ask, text)
        return [_call("close_goal", outcome="achieved", quote=quote)]
    found = found_in(line, _items(request, ()), None).values
    if found:
        return [_set(key, value, NAMED) for key, value in found.items()]
    return [
        Chunk(text=f"{'Not yet, then' if answer is False else 'I see'}; go on. {asked.question}")
    ]


def still_open(request: Request) -> list[Open]:
    """What the state still asks for, in the order it is asked."""
    state, snapshot = request.state, request.snapshot
    if state.kind == "goal":
        declined = _declined(request)
        found = [
            Open("value", question_for(item, may_skip=not item.required), item)
            for item in state.deliverables()
            if item.key not in snapshot.data and (item.required or item.key not in declined)
        ]
        return [*found, Open("goal", goal_question(state))]
    tasks = [task for task in state.tasks if not addressed(snapshot, state, task)]
    if state.kind == "strict":
        now = current(snapshot, state)
        tasks = [now] if now is not None else []
    loose = state.kind == "loose"
    found = []
    for task in tasks:
        if not task.deliverables:
            found.append(Open("done", task_question(task, may_skip=loose), None, task, loose))
        for item in task.needed:
            if item.key not in snapshot.data:
                found.append(Open("value", question_for(item), item, task, loose))
    return found


def _declined(request: Request) -> set[str]:
    """Optional values of a goal that were asked for in this visit and left open."""
    visit = _messages(request)[request.snapshot.token.since :]
    found: set[str] = set()
    for said, answer in pairwise(visit):
        if said.get("role") == "assistant" and answer.get("role") == "user":
            if spaced(str(answer.get("content"))) in SKIP_WORDS:
                found.update(
                    item.key
                    for item in request.state.deliverables()
                    if not item.required
                    and str(said.get("content")).endswith(question_for(item, may_skip=True))
                )
    return found


def question_for(item: Deliverable, *, may_skip: bool = False) -> str:
    """The question that asks for a deliverable."""
    about = item.description or item.key.replace("_", " ").capitalize()
    hints = [asking.hint(field_for(item)), "'skip' leaves it open" if may_skip else ""]
    return asking.worded(about, *hints)


def task_question(task: Task, *, may_skip: bool) -> str:
    """The question whether something was done that collects no value."""
    about = " ".join((task.description or task.id).split()).rstrip(" .:")
    return f"{about}: is that done? ({'yes, no or skip' if may_skip else 'yes or no'})"


def goal_question(state: State) -> str:
    goal = state.goal
    text = (goal.success_description or goal.objective) if goal is not None else state.name
    return f"Is this reached: {' '.join(text.split()).rstrip(' .?')}? (yes, no or give up)"


def spoken(state: State) -> str:
    """The placeholder for what a model would say in a state."""
    about = " ".join((state.description or state.title).split())
    return f"[{state.name}] {about}".rstrip()


def _set(key: str, value: Any, reason: str) -> Chunk:
    return _call("set_deliverable", key=key, value=value, reasoning=reason)


def _call(name: str, **arguments: Any) -> Chunk:
    return Chunk(
        call=Call(f"{name}-{arguments.get('key') or arguments.get('id') or ''}", name, arguments)
    )
