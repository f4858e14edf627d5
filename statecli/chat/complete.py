"""What Tab completes at the prompt: commands, and what stands behind them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from statecli.chat.commands import COMMANDS
from statecli.model.graph import Graph
from statecli.text.excerpt import harmless

#: What may stand behind a command.
_BEHIND: dict[str, Callable[[Graph], Iterable[str]]] = {
    "goto": lambda graph: graph.states,
    "break": lambda graph: graph.states,
    "set": lambda graph: graph.fields,
    "model": lambda graph: ("rules", "human"),
}


class CommandWords(Completer):
    """Commands after ``/``; states, fields or models after those that take one."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def get_completions(self, document: Document, event: CompleteEvent) -> Iterable[Completion]:
        text = document.text_before_cursor
        if not text.startswith("/"):
            return
        word, space, rest = text[1:].partition(" ")
        if not space:
            for found in COMMANDS.values():
                if found.name.startswith(word):
                    yield Completion(found.name, -len(word), display_meta=found.about)
        elif word in _BEHIND:
            for name in _BEHIND[word](self.graph):
                if name.startswith(rest) and harmless(name) == name:
                    yield Completion(name, -len(rest))


class Answers(Completer):
    """The names that answer a question, while one is open."""

    def __init__(self) -> None:
        self.names: tuple[str, ...] = ()

    def get_completions(self, document: Document, event: CompleteEvent) -> Iterable[Completion]:
        text = document.text_before_cursor
        for name in self.names:
            if text and name.startswith(text) and harmless(name) == name:
                yield Completion(name, -len(text))
