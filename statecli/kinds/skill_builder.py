"""`skill_builder`: the model writes a skill; it is kept only after the person approved it."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

from statecli.kernel.spoken import yes_or_no
from statecli.kinds.prompt import system_prompt
from statecli.kinds.schemas import skill_schema
from statecli.kinds.step import Delta, Step
from statecli.model.event import Approved
from statecli.model.ports import ModelError, Question

#: A skill is a page, not a book.
MAX_TEXT = 20_000


async def run(step: Step) -> AsyncIterator[Delta | None]:
    """One markdown file in the skills folder, named by the model, approved by the person."""
    prompt = system_prompt(step.graph, step.state, step.snapshot, step.world.known_skills())
    request = step.request("skill", prompt, schema=skill_schema())
    async for piece in step.ask(request, shown=False):
        yield piece
    value = step.answer.value
    name, text = (value.get("name"), value.get("text")) if isinstance(value, dict) else ("", "")
    if not isinstance(name, str) or not isinstance(text, str) or not text.strip():
        raise ModelError("the model gave no skill")
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:60]
    if not slug or len(text) > MAX_TEXT:
        raise ModelError(f"a skill needs a name and at most {MAX_TEXT} characters")
    question = Question(f"The skill '{slug}':\n{text}\nShall it be kept?", "yes_no")
    allowed = yes_or_no(await step.world.ask(question)) is True
    step.emit(Approved(f"skill {slug}", allowed))
    yield None
    if allowed:
        path = await step.world.keep_skill(slug, text)
        step.say(f"The skill '{slug}' is kept in {path}.")
    yield None
