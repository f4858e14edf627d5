"""The same conversations with Google's ADK: an agent whose model is a script, sessions in memory.

PYTHON benchmarks/adk_loop.py COUNT TURNS
"""

import asyncio
import logging
import sys
from collections.abc import AsyncIterator
from importlib import import_module
from typing import Any

logging.disable(logging.CRITICAL)


async def main(count: int, turns: int) -> None:
    types = import_module("google.genai.types")
    models = import_module("google.adk.models")

    def said(role: str, text: str) -> Any:
        return types.Content(role=role, parts=[types.Part(text=text)])

    class Script(models.BaseLlm):  # type: ignore[misc, name-defined]  # installed with the peers only
        async def generate_content_async(self, *_: Any, **__: Any) -> AsyncIterator[Any]:
            yield models.LlmResponse(content=said("model", "It is on its way."))

    agents = import_module("google.adk.agents")
    agent = agents.LlmAgent(name="desk", model=Script(model="script"), instruction="Help.")
    runner = import_module("google.adk.runners").InMemoryRunner(agent=agent, app_name="bench")
    for number in range(count):
        session = await runner.session_service.create_session(
            app_name="bench", user_id="u", session_id=f"s{number}"
        )
        for turn in range(turns):
            line = said("user", f"Where is my order {turn}?")
            async for _ in runner.run_async(user_id="u", session_id=session.id, new_message=line):
                pass


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), int(sys.argv[2])))
