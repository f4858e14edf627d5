"""What a model is told: text files in `prompts/` beside this file; a graph may bring its own.

`{{name}}` stands for a value that a prompt is given, else for a field of the data. A paragraph in
which every given value is empty is left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from statecli.kernel.template import filled
from statecli.model.data import is_map
from statecli.model.graph import Graph

_FOLDER = Path(__file__).parent / "prompts"
_NAMES = re.compile(r"\{\{\s*(\w+)\s*\}\}")


def prompt(graph: Graph, name: str, data: Mapping[str, Any], **values: str) -> str:
    """The prompt of this name (see `PROMPTS` in `model/keys.py`), with its values."""
    known = {**data, **values}
    parts: list[str] = []
    for part in re.split(r"\n[ \t]*\n+", template(graph, name).strip()):
        given = [key for key in _NAMES.findall(part) if key in values]
        if not given or any(values[key] for key in given):
            parts.append(filled(part, known))
    return "\n\n".join(parts)


def template(graph: Graph, name: str) -> str:
    """The text as the graph has it, else as it is here."""
    own = graph.settings.get("prompts")
    text = own.get(name) if is_map(own) else None
    return text if isinstance(text, str) and text.strip() else built_in(name)


@cache
def built_in(name: str) -> str:
    """The text of a file."""
    return (_FOLDER / f"{name}.txt").read_text(encoding="utf-8")
