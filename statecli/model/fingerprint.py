"""An identity for each diagnostic that stays when lines move: services match on it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable

from statecli.model.diagnostic import Diagnostic
from statecli.model.span import dotted

_QUOTED = re.compile(r"'([^']*)'")


def fingerprints(diagnostics: Iterable[Diagnostic], path: Callable[[str], str]) -> list[str]:
    """32 hex digits for each: of its rule, path, place in the document, states and what its
    message quotes; equal ones are told apart by their order. Never of a line number.

    `path` gives the path that is the same on every machine.
    """
    seen: dict[str, int] = {}
    paths: dict[str, str] = {}
    found: list[str] = []
    for item in diagnostics:
        if item.path not in paths:
            paths[item.path] = path(item.path)
        finding = item.finding
        parts = (
            item.rule,
            paths[item.path],
            dotted(finding.at.path),
            *finding.states,
            *_QUOTED.findall(finding.message),
        )
        text = "\0".join(parts)
        seen[text] = seen.get(text, 0) + 1
        whole = f"{text}\0{seen[text]}".encode("utf-8", "surrogatepass")
        found.append(hashlib.sha256(whole).hexdigest()[:32])
    return found
