"""A model that works plans as it is told: reads the open tasks in its prompt, makes one call for
each line of the person, then answers."""

from __future__ import annotations

import re
from typing import Any

from openai_server import Answer, calls, text, value

#: `- name (one of a, b, optional) - what it is`, as the prompts list what a state collects.
_ITEM = re.compile(r"^ *- (?P<key>[\w-]+) \((?P<kind>[^)]*)\)", re.MULTILINE)
_TASK = re.compile(r"^- (?P<id>[\w-]+): ", re.MULTILINE)


def plan_brain(body: dict[str, Any]) -> Answer:
    """The answer to any request of a plan."""
    messages = body["messages"]
    system = messages[0]["content"] if messages[0]["role"] == "system" else ""
    if not body.get("tools"):
        form = body.get("response_format")
        return _second_look(messages[-1]["content"]) if form else text("In short: it went well.")
    said = [m["content"] for m in messages if m["role"] == "user" and "[Instruction]" not in
            m["content"]]  # fmt: skip
    if messages[-1]["role"] == "tool" or not said:
        return text("Thank you. ", "What else?")
    names = [tool["function"]["name"] for tool in body["tools"]]
    return _call(system, said[-1], goal="close_goal" in names)


def _call(system: str, said: str, *, goal: bool) -> Answer:
    _, _, listed = system.partition("Your goal:" if goal else "Open tasks:")
    item = _ITEM.search(listed.partition("\n\n")[0])
    task = _TASK.search(listed)
    if item is not None and (goal or task is None or _belongs(listed, item, task)):
        given = {"key": item["key"], "value": _value(item["kind"], said), "reasoning": "said so"}
        return calls(("set_deliverable", given))
    if goal:
        return calls(("close_goal", {"outcome": "achieved", "quote": said}))
    if task is not None:
        return calls(("complete_task", {"id": task["id"], "reasoning": "done"}), say="Good.")
    return text("All done.")


def _belongs(listed: str, item: re.Match[str], task: re.Match[str]) -> bool:
    """Whether the first item to collect is of the first task."""
    later = _TASK.search(listed, task.end())
    return later is None or item.start() < later.start()


def _value(kind: str, said: str) -> Any:
    kind = kind.removesuffix(", optional")
    if kind.startswith("one of "):
        return kind.removeprefix("one of ").split(", ")[0]
    return {"number": 3.5, "integer": 3, "boolean": True}.get(kind, said)


def _second_look(asked: str) -> Answer:
    quote = re.search(r"because the person said: (.*)", asked)
    assert quote is not None, asked
    return value({"agree": True, "quote": quote[1], "reason": "they said so"})
