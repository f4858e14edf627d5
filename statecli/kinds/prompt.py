"""The system text of a state: the graph's, the state's, and what it may read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from statecli.model.data import shown
from statecli.model.graph import Graph, State

_VARIABLE = re.compile(r"\{\{\s*([A-Za-z_]\w*)\s*\}\}")


def system_prompt(graph: Graph, state: State) -> str:
    """`system_prompt` of the graph and `prompt` (else the description) of the state."""
    parts = [graph.settings.get("system_prompt"), state.settings.get("prompt") or state.description]
    return "\n\n".join(part.strip() for part in parts if isinstance(part, str) and part.strip())


def filled(text: str, data: Mapping[str, Any]) -> str:
    """`{{name}}` replaced by the value of the field; what is not set stays as it is."""

    def value(match: re.Match[str]) -> str:
        name = match.group(1)
        if name not in data:
            return match.group()
        found = data[name]
        return found if isinstance(found, str) else shown(found)

    return _VARIABLE.sub(value, text)
