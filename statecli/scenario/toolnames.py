"""Names of tools in what is expected: whether anything in a conversation could be called so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from statecli.model.data import is_list, is_map
from statecli.model.graph import KINDS, Graph
from statecli.model.nearest import did_you_mean
from statecli.text.conversation import Conversation, calls_of

#: Calls of a plan: what they do is told by other keys.
PLAN_CALLS = {
    "set_deliverable": "collected or data", "complete_task": "tasks", "skip_task": "tasks",
    "skip_state": "tasks", "close_goal": "takes",
}  # fmt: skip
#: What else is refused, by the name that stands before the reason.
_REFUSED = ("answer", "choice", "tool", "arguments")


class ToolNames:
    """The tools of a graph and what a conversation calls."""

    def __init__(self, graph: Graph, conversation: Conversation | None = None) -> None:
        declared = graph.settings.get("tools")
        self.servers: dict[str, object] = declared if is_map(declared) else {}
        self.known = {*self.servers, *_of_states(graph)}
        #: A server says itself what its tools are called; what a custom kind calls nobody knows.
        self.open = any(state.kind not in KINDS for state in graph.states.values()) or any(
            is_map(entry) and ("command" in entry or "url" in entry)
            for entry in self.servers.values()
        )
        #: Replies are still missing: a model may call what the file does not.
        self.unwritten = conversation is None
        if conversation is not None:
            self.unwritten = any(not turn.replies for turn in conversation.turns)
            self.known |= set(_said(conversation))

    def unknown(self, name: str) -> str:
        """Why nothing can be called so, or an empty text."""
        if any(name in (tool, tool.rpartition(".")[2]) for tool in self.known):
            return ""
        names = [*self.known, *(tool.rpartition(".")[2] for tool in self.known)]
        if self.open and self.unwritten:
            return ""
        hint = did_you_mean(name, names)
        if self.open and not hint:
            return ""
        known = f"there are: {', '.join(sorted(self.known))}" if self.known else "it has none"
        return f"the graph has no tool '{name}'; {hint or known}"

    def never_refused(self, text: str) -> str:
        """Why nothing of that name is ever refused: it is nearly one that may be."""
        names = [*PLAN_CALLS, *_REFUSED, *self.known]
        if not text or len(text.split()) != 1 or text in names:
            return ""
        hint = did_you_mean(text, names) if "_" in text or "." in text else ""
        return f"nothing that may be refused is called '{text}'; {hint}" if hint else ""


def _of_states(graph: Graph) -> Iterator[str]:
    for state in graph.states.values():
        fixed, several = state.settings.get("tool"), state.settings.get("tools")
        names: Iterable[object] = [fixed, *(several if is_list(several) else ())]
        yield from (name for name in names if isinstance(name, str))


def _said(conversation: Conversation) -> Iterator[str]:
    """What the replies of a file call, pick or offer."""
    for turn in conversation.turns:
        for reply in turn.replies:
            yield from (name for name, _ in calls_of(reply) if name not in PLAN_CALLS)
            if isinstance(reply.items.get("tool"), str):
                yield reply.items["tool"]
            for tool in reply.items.get("tools") or ():
                yield str(tool["name"])
