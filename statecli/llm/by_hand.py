"""What `rules` and `human` ask in the same words: only a person can answer it."""

from __future__ import annotations

from statecli.llm import asking
from statecli.model.ports import Ask, Chunk, Option, Request, ToolSpec
from statecli.model.wording import shortened

#: So much is said of each tool in a menu.
MAX_ABOUT = 100


class ByHand:
    """The requests that the person answers whoever plays the model."""

    async def _tool(self, request: Request, ask: Ask) -> Chunk:
        options = [Option(tool.name, _first(tool.description)) for tool in request.tools]
        title = f"[{request.state.name}] Which tool?"
        return Chunk(value={"tool": await asking.menu(ask, title, options)})

    async def _structured(self, request: Request, ask: Ask) -> Chunk:
        """Whatever a custom state asks for, field by field."""
        asked = ToolSpec("", request.note, request.schema)
        return Chunk(value=await asking.arguments(ask, asked, request.state.name))

    async def _skill(self, request: Request, ask: Ask) -> Chunk:
        where = f"[{request.state.name}]"
        name = await asking.text_of(ask, f"{where} Name of the skill:")
        return Chunk(value={"name": name, "text": await asking.text_of(ask, f"{where} Its text:")})


def _first(description: str) -> str:
    """The first sentence of what a server says of a tool, for a menu."""
    text = " ".join(description.split())
    sentence, stop, _ = text.partition(". ")
    return shortened(f"{sentence}{stop.strip()}", MAX_ABOUT)
