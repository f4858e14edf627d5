"""Conversations as files: `/save` at the end of one, `--record` while it goes on."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from statecli.chat import views
from statecli.text.whole_file import write_file

if TYPE_CHECKING:
    from statecli.chat.talk import Talk


def conversation(talk: Talk, file: str) -> str:
    """The conversation so far as this file says it (model.md 10): JSONL if it is named so."""
    from statecli.text.conversation import write

    stored = talk.session.store.get(talk.session.run)
    return write(
        [_ordered(turn) for turn in talk.recording.turns if turn],
        graph=_seen_from(file, talk.session.path),
        digest=stored.digest if stored is not None else "",
        about=f"session {talk.session.run}",
        lines=file.endswith(".jsonl"),
        data=talk.recording.clean(views.given(talk.session)),
    )


def _seen_from(file: str, graph: str) -> str:
    """The graph's path as the file names it, so that a test finds it."""
    if not os.path.isabs(graph):
        return Path(graph).name
    try:
        found = os.path.relpath(graph, os.path.dirname(os.path.realpath(file)))
    except ValueError:  # another drive of Windows
        found = graph
    return found.replace(os.sep, "/")


def _ordered(turn: dict[str, Any]) -> dict[str, Any]:
    """A turn as one reads it: what was said, what was answered, where it went."""
    return {key: turn[key] for key in ("say", "replies", "chose") if key in turn}


class Record:
    """Writes the conversation to a file after each turn, with what every answer took. It ends
    where something happens that no file can say."""

    def __init__(self, talk: Talk, file: str) -> None:
        self.talk = talk
        self.file = file
        self._over = False
        talk.recording.detailed = True
        self.write()  # a file that cannot be written is told before anything is said

    def write(self) -> None:
        """The file as a whole."""
        if self._over:
            return
        if self.talk.recording.gap:
            self._over = True
            self.talk.screen.notes(f"{self.file} ends here: {self.talk.recording.gap}")
            return
        text = conversation(self.talk, self.file)
        write_file(self.file, text.encode("utf-8", "replace"))
