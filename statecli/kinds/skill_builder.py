"""`skill_builder`: the model writes a skill; it is kept only after the person approved it."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Any

from statecli.kernel.spoken import yes_or_no
from statecli.kinds.prompt import system_prompt
from statecli.kinds.schemas import skill_schema
from statecli.kinds.step import Delta, Step, asked_twice
from statecli.model.event import Approved
from statecli.model.ports import Question

#: A skill is a page, not a book.
MAX_TEXT = 20_000


async def run(step: Step) -> AsyncIterator[Delta | None]:
    """One markdown file in the skills folder, named by the model, approved by the person."""
    prompt = system_prompt(step.graph, step.state, step.snapshot, step.world.known_skills())
    request = step.request("skill", prompt, schema=skill_schema())
    async for piece in asked_twice(step, request, _misfit):
        yield piece
    text: str = step.answer.value["text"]
    slug = _slug(step.answer.value["name"])
    question = Question(f"The skill '{slug}':\n{text}\nShall it be kept?", "yes_no")
    allowed = yes_or_no(await step.world.ask(question)) is True
    step.emit(Approved(f"skill {slug}", allowed))
    yield None
    if allowed:
        path = await step.world.keep_skill(slug, text)
        step.say(f"The skill '{slug}' is kept in {path}.")
    yield None


def _misfit(value: Any) -> str:
    """Why an answer is no skill, or an empty text."""
    name, text = (value.get("name"), value.get("text")) if isinstance(value, dict) else ("", "")
    if not isinstance(name, str) or not isinstance(text, str) or not text.strip():
        return "the model gave no skill"
    if not _slug(name) or len(text) > MAX_TEXT:
        return f"a skill needs a name and at most {MAX_TEXT} characters"
    return ""


def _slug(name: str) -> str:
    """A name as a file has it."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:60]
