"""What an MCP tool gives back, as text for a model and as data."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from statecli.model.ports import ToolResult


def result_of(result: Any) -> ToolResult:
    """The text of all content blocks, what is no text named in brackets; and the structured
    content where it is an object."""
    text = "\n".join(_texts(result.content))
    structured = result.structured_content
    data = dict(structured) if isinstance(structured, Mapping) else None
    if data == {"result": text}:
        data = None  # how servers wrap a plain text
    if not text and structured is not None:
        text = json.dumps(structured, ensure_ascii=False)
    return ToolResult(not result.is_error, text, data if not result.is_error else None)


def _texts(blocks: Any) -> Iterator[str]:
    for block in blocks or ():
        kind = getattr(block, "type", "")
        if kind == "text":
            yield block.text
        elif kind in ("image", "audio"):
            yield f"[{kind}, {block.mime_type}, {len(block.data) * 3 // 4:,} bytes]"
        elif kind == "resource_link":
            yield f"[resource {block.uri}]"
        elif kind == "resource":
            inner = block.resource
            text = getattr(inner, "text", None)
            yield text if text is not None else f"[resource {inner.uri}]"
        else:
            yield f"[{kind or 'content'}]"
