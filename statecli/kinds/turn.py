"""A turn of a plan state (model.md 5): the model works through the plan calls until it answers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

from statecli.kernel.calls import Outcome, Plan
from statecli.kernel.settle import limit, settle
from statecli.kernel.tasks import offered
from statecli.kinds.prompt import system_prompt
from statecli.kinds.schemas import check_schema
from statecli.kinds.step import Delta, Step
from statecli.model.event import Limited, Refused
from statecli.model.graph import State
from statecli.model.guard import fold
from statecli.model.ports import Call, Exchange, ToolSpec

_TEXT = {"type": "string"}


def _tool(name: str, description: str, required: list[str], **properties: Any) -> ToolSpec:
    schema = {"type": "object", "properties": properties, "required": required}
    return ToolSpec(name, description, schema)


SET = _tool(
    "set_deliverable",
    "Record a value that the person gave.",
    ["key", "value"],
    key=_TEXT,
    value={},
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
    outcome={"enum": ["achieved", "given_up"]},
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
    """Model calls until one answers with text and no call. Each call is applied, settled and
    stored at once; when one moves the run into a state of another kind, that state goes on."""
    transcript: list[Exchange] = []
    declined = 0
    most = limit(step.graph, "max_calls")
    for _ in range(most):
        state = step.state
        request = step.request(
            "turn",
            system_prompt(step.graph, state),
            tools=plan_tools(state),
            transcript=tuple(transcript),
        )
        async for piece in step.ask(request):
            yield piece
        answer = step.answer
        for call in answer.calls:
            outcome = await _worked(step, call)
            if outcome is None:
                declined += 1
                outcome = Outcome(False, step.note)
            before = step.token.state
            settle(step.to, step.number)
            yield None
            text = outcome.text + _moved(step, before)
            transcript.append(Exchange(call, outcome.ok, text))
            if step.snapshot.status == "ended" or not step.state.is_plan:
                return
        if not answer.calls or declined >= 2:
            if answer.text:
                step.say(answer.text)
            yield None
            return
    message = f"{most} model calls in one turn of '{step.state.name}' without an answer"
    step.emit(Limited(step.number, step.state.name, "max_calls", message))
    yield None


def _moved(step: Step, before: str) -> str:
    """What the model is told when its call moved the run on."""
    if step.snapshot.status == "ended":
        return "; the plan has ended"
    if step.token.state == before:
        return ""
    state = step.state
    tasks = ", ".join(offered(step.snapshot, state)) or "none" if state.is_plan else ""
    return f"; now in '{state.name}'" + (f" with the open tasks: {tasks}" if state.is_plan else "")


async def _worked(step: Step, call: Call) -> Outcome | None:
    """One call of the model on the plan; None: the second check of a goal refused it."""
    plan = Plan(step.to, step.number)
    arguments: Mapping[str, Any] = call.arguments
    name = call.name
    text = {key: str(arguments.get(key) or "") for key in ("key", "id", "state", "quote")}
    if name == "set_deliverable" and "value" in arguments:
        return plan.set_deliverable(text["key"], arguments["value"])
    if name == "complete_task":
        return plan.complete_task(text["id"])
    if name == "skip_task":
        return plan.skip_task(text["id"])
    outcome = str(arguments.get("outcome") or "")
    if name == "skip_state":
        if step.state.kind != "goal" or (text["state"] not in ("", step.state.name)):
            return plan.skip_state(text["state"])
        name, outcome = "close_goal", "given_up"
    if name == "close_goal":
        return await _closed(step, plan, outcome, text["quote"])
    reason = f"there is no call '{name}' with these arguments"
    step.emit(Refused(step.number, step.state.name, name, reason))
    return Outcome(False, reason)


async def _closed(step: Step, plan: Plan, outcome: str, quote: str) -> Outcome | None:
    """Closing a goal needs a second, separate call that agrees and quotes the person (5.4)."""
    refusal = plan.goal_refusal(outcome)
    if refusal or step.token.closed:
        return plan.close_goal(outcome)
    said = _said_in_visit(step)
    note = f"{outcome}: {quote}"
    request = step.request("check", schema=check_schema(), note=note)
    async for _ in step.ask(request):
        pass
    verdict = step.answer.value if isinstance(step.answer.value, dict) else {}
    agreed = verdict.get("agree") is True
    given = str(verdict.get("quote") or quote)
    if agreed and not quoted(given, said):
        agreed = False
        reason = f"'{given}' is not in what the person said in this visit"
    else:
        reason = str(verdict.get("reason") or "the second check does not agree")
    if agreed:
        return plan.close_goal(outcome)
    step.note = f"not closed: {reason}"
    step.emit(Refused(step.number, step.state.name, "close_goal", reason))
    return None


def _said_in_visit(step: Step) -> list[str]:
    messages = step.snapshot.data.get("messages") or ()
    return [
        str(message.get("content"))
        for message in messages[step.token.since :]
        if isinstance(message, Mapping) and message.get("role") == "user"
    ]


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
