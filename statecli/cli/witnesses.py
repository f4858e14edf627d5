"""`--witness-dir`: every witness as a conversation file that `chat` and `explain` replay."""

from __future__ import annotations

import os
import re

from statecli.lint.facts import Facts
from statecli.model.diagnostic import Diagnostic
from statecli.model.fingerprint import fingerprints
from statecli.model.unable import Unable
from statecli.report.reporter import in_repository
from statecli.text import conversation
from statecli.text.whole_file import write_file

_ODD = re.compile(r"[^\w-]+")


def write_all(folder: str, facts: Facts, found: list[Diagnostic]) -> int:
    """Write the witnesses of one graph; how many there were."""
    from statecli.session.session import digest
    from statecli.verify.scripted import turns

    graph = facts.graph
    marks = fingerprints(found, in_repository)
    written = 0
    for item, mark in zip(found, marks, strict=True):
        witness = item.finding.witness
        if witness is None or graph is None:
            continue
        text = conversation.write(
            turns(graph, witness),
            graph=os.path.relpath(item.path, folder) if os.path.isfile(item.path) else item.path,
            digest=digest(facts.document.text),
            about=f"{item.rule}: {item.message}",
            witness=True,
            data=dict(witness.given),
        )
        stem = os.path.splitext(os.path.basename(item.path))[0]
        state = _ODD.sub("_", item.finding.states[0]) if item.finding.states else "graph"
        name = f"{_ODD.sub('_', stem)}.{item.rule}.{state}.{mark[:8]}.yaml"
        try:
            os.makedirs(folder, exist_ok=True)
        except OSError as error:
            raise Unable(f"--witness-dir {folder}: {error.strerror}") from None
        write_file(os.path.join(folder, name), text.encode())
        written += 1
    return written
