"""A turn of a plan state (model.md 5): the model works through the plan calls until it answers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from statecli.kernel.calls import Outcome, Plan
from statecli.kernel.limits import limit
from statecli.kernel.settle import settle
from statecli.kernel.tasks import offered
from statecli.kinds.prompt import system_prompt
from statecli.kinds.schemas import check_schema
from statecli.kinds.step import Delta, Step
from statecli.llm.prompts import prompt
from statecli.model.event import Limited, Refused
from statecli.model.graph import State
from statecli.model.guard import fold
from statecli.model.ports import Call, Exchange, ToolSpec

_TEXT = {"type": "string"}
#: So many times may the second check refuse to close a goal in one turn.
REFUSALS = 2


def _tool(name: str, description: str, required: list[str], **properties: Any) -> ToolSpec:
    schema = {"type": "object", "properties": properties, "required": required}
    return ToolSpec(name, description, schema)


SET = _tool(
    "set_deliverable",
    "Record a value that the person gave.",
    ["key", "value"],
    key=_TEXT,
    value={"anyOf": [_TEXT, {"type": "number"}, {"type": "boolean"}]},
    reasoning=_TEXT,
)
COMPLETE = _tool("complete_task", "Mark a task as done.", ["id"], id=_TEXT, reasoning=_TEXT)
SKIP = _tool("skip_task", "Leave a task open for good.", ["id"], id=_TEXT, reason=_TEXT)
SKIP_STATE = _tool(
    "skip_state", "Skip every open task of this state.", [], reason=_TEXT, state=_TEXT
)
CLOSE = _tool(
    "close_goal",
    "Close the goal: achieved, or given_up when the person declines or wants to move on.",
    ["outcome", "quote"],
    outcome={"type": "string", "enum": ["achieved", "given_up"]},
    quote=_TEXT,
)


def plan_tools(state: State) -> tuple[ToolSpec, ...]:
    """The calls that a state of this kind offers."""
    if state.kind == "goal":
        return (SET, CLOSE)
    if state.kind == "strict":
        return (SET, COMPLETE)
    return (SET, COMPLETE, SKIP, SKIP_STATE)


async def run(step: Step) -> AsyncIterator[Delta | None]:
    """Model calls until one answers without a call. Each call is applied, settled and stored at
    once; when one moves the run into a state of another kind, that state goes on."""
    turn = _Turn(step)
    most = limit(step.graph, "max_calls")
    for _ in range(most):
        if step.over_budget():
            yield None
            return
        state = step.state
        request = step.request(
            "turn",
            system_prompt(step.graph, state, step.snapshot),
            tools=plan_tools(state),
            transcript=tuple(turn.transcript),
        )
        async for piece in step.ask(request):
            yield piece
        answer = step.answer
        if answer.text.strip():
            # Said even beside calls: the person has seen it on its way. Kept together with what
            # follows, the end of the turn or the first call, so that it is not said again.
            step.say(answer.text)
        for call in answer.calls:
            async for piece in turn.work(call):
                yield piece
            if turn.over():
                return
        if not answer.calls:
            return
    message = f"max_calls: {most} model calls in one turn of '{step.state.name}' without an answer"
    step.emit(Limited(step.number, step.state.name, "max_calls", message))
    yield None


class _Turn:
    """The calls of one turn: what they did goes back to the model."""

    def __init__(self, step: Step) -> None:
        self.step = step
        self.transcript: list[Exchange] = []
        self.declined = 0
        self.outcome = Outcome(False, "")

    def over(self) -> bool:
        """Whether the turn ends here: the run moved on to another kind of state, was stopped or
        ended, or the second check refused twice."""
        running = self.step.snapshot.status == "running"
        return not running or not self.step.state.is_plan or self.declined >= REFUSALS

    async def work(self, call: Call) -> AsyncIterator[Delta | None]:
        """One call: applied, settled, answered."""
        step = self.step
        before = step.token.state
        async for piece in self._applied(call):
            yield piece
        if self.outcome.ok:
            settle(step.to, step.number)
        yield None
        text = self.outcome.text + _moved(step, before)
        self.transcript.append(Exchange(call, self.outcome.ok, text))

    async def _applied(self, call: Call) -> AsyncIterator[Delta | None]:
        reason = unfit(call, plan_tools(self.step.state))
        if reason:
            self._refuse(call.name, reason)
            return
        plan = Plan(self.step.to, self.step.number)
        arguments: Mapping[str, Any] = call.arguments
        name, here = call.name, self.step.state
        text = {key: _text(arguments.get(key)) for key in ("key", "id", "state", "outcome")}
        if name == "skip_state" and here.kind == "goal" and text["state"] in ("", here.name):
            name, text["outcome"] = "close_goal", "given_up"
        if name == "set_deliverable" and plan.closes(text["key"], arguments.get("value")):
            name, text["outcome"] = "close_goal", "achieved"
        if name == "set_deliverable" and "value" in arguments:
            self.outcome = plan.set_deliverable(text["key"], arguments["value"])
        elif name == "complete_task":
            self.outcome = plan.complete_task(text["id"])
        elif name == "skip_task":
            self.outcome = plan.skip_task(text["id"])
        elif name == "skip_state":
            self.outcome = plan.skip_state(text["state"])
        elif name == "close_goal":
            quote = _text(arguments.get("quote"))
            async for piece in self._close(plan, text["outcome"], quote):
                yield piece
        else:
            self._refuse(call.name, f"there is no call '{call.name}' with these arguments")

    def _refuse(self, what: str, reason: str) -> None:
        step = self.step
        step.emit(Refused(step.number, step.token.state, what, reason))
        self.outcome = Outcome(False, reason)

    async def _close(self, plan: Plan, outcome: str, quote: str) -> AsyncIterator[Delta | None]:
        """Closing a goal needs a second, separate call that agrees and quotes the person (5.4)."""
        step = self.step
        if plan.goal_refusal(outcome) or step.token.closed:
            self.outcome = plan.close_goal(outcome)
            return
        said = _said_in_visit(step)
        text = _check_prompt(step, outcome, quote)
        note = f"{outcome}: {quote}"
        request = step.request("check", text, schema=check_schema(), note=note)
        async for piece in step.ask(request, shown=False):
            yield piece
        verdict = step.answer.value if isinstance(step.answer.value, dict) else {}
        given = _text(verdict.get("quote")) or quote
        if verdict.get("agree") is not True:
            reason = _text(verdict.get("reason")) or "the second check does not agree"
        elif not quoted(given, said):
            reason = f"'{given}' is not in what the person said in this visit"
        else:
            self.outcome = plan.close_goal(outcome)
            return
        self.declined += 1
        self._refuse("close_goal", f"not closed: {reason}")


def unfit(call: Call, tools: Sequence[ToolSpec]) -> str:
    """Why a call cannot even be looked at: its arguments are none, or one is missing."""
    if call.error:
        return call.error
    tool = next((tool for tool in tools if tool.name == call.name), None)
    required = (tool.schema or {}).get("required", ()) if tool is not None else ()
    missing = [f"'{key}'" for key in required if key not in call.arguments]
    return f"missing: {', '.join(missing)}" if missing else ""


def _text(value: object) -> str:
    return "" if value is None else str(value)


def _moved(step: Step, before: str) -> str:
    """What the model is told when its call moved the run on."""
    if step.snapshot.status == "ended":
        return "; the plan has ended"
    if step.token.state == before:
        return ""
    state = step.state
    tasks = ", ".join(offered(step.snapshot, state)) or "none" if state.is_plan else ""
    return f"; now in '{state.name}'" + (f" with the open tasks: {tasks}" if state.is_plan else "")


def _check_prompt(step: Step, outcome: str, quote: str) -> str:
    """All that the second look may know: the goal, what was said in this visit, and the claim."""
    goal = step.state.goal
    said = [f"{m.get('role')}: {m.get('content')}" for m in _messages_of_visit(step)]
    return prompt(
        step.graph,
        "check",
        step.snapshot.data,
        objective=goal.objective if goal else "",
        success_description=goal.success_description if goal else "",
        outcome=outcome,
        quote=quote,
        messages="\n".join(said),
    )


def _messages_of_visit(step: Step) -> list[Mapping[str, Any]]:
    messages = step.snapshot.data.get("messages") or ()
    return [m for m in messages[step.token.since :] if isinstance(m, Mapping)]


def _said_in_visit(step: Step) -> list[str]:
    return [str(m.get("content")) for m in _messages_of_visit(step) if m.get("role") == "user"]


def quoted(quote: str, said: list[str]) -> bool:
    """Whether a quote stands in one message: white space, case, quotes and trailing punctuation
    folded; at least two words, or the whole message."""
    wanted = _folded(quote)
    if not wanted:
        return False
    for message in map(_folded, said):
        if wanted == message or (wanted in message and len(wanted.split()) >= 2):
            return True
    return False


_QUOTES = str.maketrans({"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "«": '"', "»": '"'})


def _folded(text: str) -> str:
    plain = " ".join(fold(text.translate(_QUOTES)).split())
    return plain.strip("\"'").rstrip(".!?,;: ").strip("\"'")
