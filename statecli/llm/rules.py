"""`rules`: no model at all. What a rule cannot decide the person is asked, by type; never guessed.

In a plan state it asks for one deliverable after the other and reads the next line as the answer,
because its question was the last thing said: nothing has to be remembered between two lines.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

from statecli.kernel.tasks import addressed, current
from statecli.kernel.values import Unfit, parsed
from statecli.llm import asking
from statecli.model.graph import Deliverable, Field, State, Task
from statecli.model.guard import fold
from statecli.model.keys import FIELD_TYPE_OF
from statecli.model.ports import Ask, Call, Chunk, Option, Question, Request, ToolSpec, Unanswered

SKIP_WORDS = frozenset({"skip", "pass", "next", "-"})
GIVE_UP_WORDS = frozenset({"give up", "stop", "no thanks", "move on"})
_AGAIN = "I did not get that: "


class Open(NamedTuple):
    """Something a plan state still asks for, with the question that asks for it.

    `kind`: value (a deliverable), done (a task without deliverables), goal.
    """

    kind: str
    question: str
    item: Deliverable | None = None
    task: Task | None = None
    may_skip: bool = False


class RulesProvider:
    """Needs no network and no key."""

    label = "rules (no network, no key: you are asked where a rule cannot decide)"

    async def complete(self, request: Request, ask: Ask) -> AsyncIterator[Chunk]:
        """The answer to one request; may ask the person through `ask`."""
        if request.what == "turn":
            for chunk in await self._turn(request, ask):
                yield chunk
            return
        answer = getattr(self, f"_{request.what}")
        yield await answer(request, ask)

    async def _reply(self, request: Request, ask: Ask) -> Chunk:
        return Chunk(text=spoken(request.state))

    async def _delta(self, request: Request, ask: Ask) -> Chunk:
        fields = request.graph.fields
        value: dict[str, Any] = {}
        for key in request.state.writes:
            value[key] = await asking.value_of(ask, key, fields.get(key), optional=True)
        return Chunk(text=spoken(request.state), value=value)

    async def _choice(self, request: Request, ask: Ask) -> Chunk:
        title = f"Where does '{request.state.name}' go next?"
        return Chunk(value={"next_state": await asking.menu(ask, title, request.options)})

    async def _tool(self, request: Request, ask: Ask) -> Chunk:
        options = [Option(tool.name, tool.description) for tool in request.tools]
        title = f"Which tool does '{request.state.name}' use?"
        return Chunk(value={"tool": await asking.menu(ask, title, options)})

    async def _arguments(self, request: Request, ask: Ask) -> Chunk:
        return Chunk(value=await asking.arguments(ask, request.tools[0]))

    async def _structured(self, request: Request, ask: Ask) -> Chunk:
        """Whatever a custom state asks for, field by field."""
        asked = ToolSpec("the answer", request.note, request.schema)
        return Chunk(value=await asking.arguments(ask, asked))

    async def _plan(self, request: Request, ask: Ask) -> Chunk:
        steps: list[str] = []
        while True:
            number = len(steps) + 1
            line = await ask(Question(f"step {number}, or an empty line to end:", optional=True))
            if not line.strip():
                if steps:
                    break
                continue
            steps.append(line.strip())
        permission = await asking.yes_no(ask, "Does this plan need permission first?")
        return Chunk(value={"steps": steps, "needs_permission": permission})

    async def _step(self, request: Request, ask: Ask) -> Chunk:
        done = await asking.yes_no(ask, f"{request.note}: did it work?")
        return Chunk(text=request.note, value={"ok": done})

    async def _verdict(self, request: Request, ask: Ask) -> Chunk:
        done = await asking.yes_no(ask, f"'{request.state.name}': is the goal reached?")
        name = await asking.menu(ask, "Where does it go next?", request.options)
        return Chunk(value={"done": done, "reason": "", "next": name})

    async def _check(self, request: Request, ask: Ask) -> Chunk:
        """The person has just said so and quoted themselves."""
        quote = request.note.partition(": ")[2]
        return Chunk(value={"agree": True, "quote": quote, "reason": ""})

    async def _skill(self, request: Request, ask: Ask) -> Chunk:
        name = await ask(Question("name of the skill:"))
        text = await ask(Question("what it says, in one line:"))
        return Chunk(value={"name": name.strip(), "text": text.strip()})

    # --- plan states ----------------------------------------------------------------------------

    async def _turn(self, request: Request, ask: Ask) -> list[Chunk]:
        """Read the line as the answer to what was asked last; else ask for what is missing."""
        line = request.snapshot.line
        wanted = still_open(request)
        if line is not None and not request.transcript:
            asked = self._asked(request, wanted)
            if asked is not None:
                return await self._answered(request, ask, asked, wanted, line)
        return [Chunk(text=self._says(request, wanted))]

    def _says(self, request: Request, wanted: list[Open]) -> str:
        refused = [exchange.text for exchange in request.transcript if not exchange.ok]
        parts = [f"{text}." for text in refused[-1:]]
        if wanted:
            parts.append(wanted[0].question)
        else:
            parts.append(spoken(request.state))
        return " ".join(parts)

    def _asked(self, request: Request, wanted: list[Open]) -> Open | None:
        """The open item whose question ended the last thing that was said."""
        messages = request.snapshot.data.get("messages") or ()
        for at in range(len(messages) - 1, -1, -1):
            message = messages[at]
            if isinstance(message, Mapping) and message.get("role") == "assistant":
                said = str(message.get("content"))
                return next((open_ for open_ in wanted if said.endswith(open_.question)), None)
        return None

    async def _answered(
        self, request: Request, ask: Ask, asked: Open, wanted: list[Open], line: str
    ) -> list[Chunk]:
        if fold(line) in SKIP_WORDS and asked.may_skip and asked.task is not None:
            return [_call("skip_task", id=asked.task.id, reason=line)]
        if asked.kind == "goal":
            return await self._goal(request, ask, line)
        if asked.kind == "done":
            assert asked.task is not None
            answer = parsed(Field("it", "bool", (), "", False, None, "", ()), line)
            if answer is True:
                return [_call("complete_task", id=asked.task.id, reasoning=line)]
            if answer is False and asked.may_skip:
                return [_call("skip_task", id=asked.task.id, reason=line)]
            if answer is False:
                return [Chunk(text=asked.question)]
            return [self._again(request, ask, asked, answer.reason)]
        assert asked.item is not None
        value = parsed(_field(asked.item), line)
        if isinstance(value, Unfit):
            return [self._again(request, ask, asked, value.reason)]
        chunks = [_call("set_deliverable", key=asked.item.key, value=value, reasoning=line)]
        if request.state.kind != "strict":
            chunks.extend(_mentioned(line, asked, wanted))
        return chunks

    def _again(self, request: Request, ask: Ask, asked: Open, reason: str) -> Chunk:
        said = [
            str(m.get("content"))
            for m in request.snapshot.data.get("messages") or ()
            if isinstance(m, Mapping) and m.get("role") == "assistant"
        ]
        if not ask.patient and said and said[-1].startswith(_AGAIN):
            raise Unanswered(f"no line fitted: {reason}; {asking.WAY_OUT}")
        return Chunk(text=f"{_AGAIN}{reason}. {asked.question}")

    async def _goal(self, request: Request, ask: Ask, line: str) -> list[Chunk]:
        """Whether the goal is reached, and the words of the person that show it."""
        word = fold(line)
        answer = parsed(Field("it", "bool", (), "", False, None, "", ()), line)
        if word in GIVE_UP_WORDS | SKIP_WORDS:
            return [_call("close_goal", outcome="given_up", quote=line)]
        if answer is not True:
            goal = request.state.goal
            return [Chunk(text=f"Go on. {goal_question(goal.objective if goal else '')}")]
        quote = await ask(Question("Which of your words show it (quote at least two)?"))
        return [_call("close_goal", outcome="achieved", quote=quote)]


def still_open(request: Request) -> list[Open]:
    """What the state still asks for, in the order it is asked."""
    state, snapshot = request.state, request.snapshot
    if state.kind == "goal":
        found = [
            _value(item, None, may_skip=False)
            for item in state.deliverables()
            if item.key not in snapshot.data
            and (item.required or item.key not in _declined(request))
        ]
        goal = state.goal
        text = (goal.success_description or goal.objective) if goal is not None else ""
        return [*found, Open("goal", goal_question(text))]
    tasks = [task for task in state.tasks if not addressed(snapshot, state, task)]
    if state.kind == "strict":
        now = current(snapshot, state)
        tasks = [now] if now is not None else []
    found = []
    for task in tasks:
        loose = state.kind == "loose"
        if not task.deliverables:
            text = task.description or task.id
            found.append(Open("done", f"{text}: done? (yes or no)", None, task, loose))
        for item in task.needed:
            if item.key not in snapshot.data:
                found.append(_value(item, task, may_skip=loose))
    return found


def _declined(request: Request) -> set[str]:
    """Optional values of a goal that were asked for in this visit and left open."""
    messages = list(request.snapshot.data.get("messages") or ())[request.snapshot.token.since :]
    found: set[str] = set()
    for said, answer in pairwise(messages):
        if said.get("role") == "assistant" and answer.get("role") == "user":
            if fold(str(answer.get("content"))) in SKIP_WORDS:
                found.update(
                    item.key
                    for item in request.state.deliverables()
                    if str(said.get("content")).endswith(question_for(item))
                )
    return found


def question_for(item: Deliverable) -> str:
    """The question that asks for a deliverable."""
    about = item.description or item.key.replace("_", " ")
    return f"{about.rstrip('.?: ')}?{asking.hint(_field(item))}"


def goal_question(text: str) -> str:
    return f"Is this reached: {text.rstrip('. ')}? (yes, no, or give up)"


def spoken(state: State) -> str:
    """The placeholder for what a model would say in a state."""
    about = state.description or state.title
    return f"[{state.name}] {about}".rstrip()


def _value(item: Deliverable, task: Task | None, *, may_skip: bool) -> Open:
    return Open("value", question_for(item), item, task, may_skip)


def _field(item: Deliverable) -> Field:
    kind = FIELD_TYPE_OF.get(item.type, "any")
    return Field(item.key, kind, item.values, "overwrite", False, None, "deliverable", item.path)


def _mentioned(line: str, asked: Open, wanted: list[Open]) -> list[Chunk]:
    """Other open enum values that the line names as whole words, where just one fits."""
    words = {fold(word.strip(".,;:!?")) for word in line.split()}
    chunks: list[Chunk] = []
    for open_ in wanted:
        item = open_.item
        if item is None or item.type != "enum" or open_ is asked:
            continue
        named = [member for member in item.values if fold(str(member)) in words]
        if len(named) == 1:
            chunks.append(_call("set_deliverable", key=item.key, value=named[0], reasoning=line))
    return chunks


def _call(name: str, **arguments: Any) -> Chunk:
    return Chunk(
        call=Call(f"{name}-{arguments.get('key') or arguments.get('id') or ''}", name, arguments)
    )
