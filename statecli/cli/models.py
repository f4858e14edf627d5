"""Who answers when a model is asked: `--model`, the graph, the environment, the config."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from statecli.cli.running import Opened
from statecli.discover import reason_of
from statecli.model.nearest import did_you_mean
from statecli.model.unable import Unable
from statecli.text.document import MAX_BYTES
from statecli.text.excerpt import plain

if TYPE_CHECKING:
    from statecli.model.ports import Provider

MODELS = ("rules", "human", "script:FILE")
_ABOUT = {
    "rules": "no network, no key; you are asked what a rule cannot decide",
    "human": "you type what the model would say and choose",
}


def chosen_model(name: str | None, opened: Opened) -> tuple[Provider, str]:
    """The provider, and the first line of a chat: which model plays and where that came from.

    Raises Unable for a model that was asked for and cannot be used: nothing else takes its place
    without being asked.
    """
    name, origin = _asked(name, opened)
    provider = named(name, origin)
    about = _ABOUT.get(provider.label)
    return provider, f"model: {provider.label}, {origin}" + (f" ({about})" if about else "")


def named(name: str, origin: str = "from --model") -> Provider:
    """The provider of a name."""
    if name == "rules":
        from statecli.llm.rules import RulesProvider

        return RulesProvider()
    if name == "human":
        from statecli.llm.human import HumanProvider

        return HumanProvider()
    if name.startswith("script:"):
        return _script(name.removeprefix("script:"))
    way = did_you_mean(name, ("rules", "human"))
    if not way:
        way = f"--model rules plays without one; built in are {', '.join(MODELS)}"
    raise Unable(f"the model '{plain(name)}', {origin}, cannot be used here yet", way)


def _asked(name: str | None, opened: Opened) -> tuple[str, str]:
    """The model that is wanted, first hit wins, and where the name stands."""
    if name is not None:
        return name, "from --model"
    model = opened.graph.settings.get("model")
    listed = model.get("name") if isinstance(model, dict) else model
    if isinstance(listed, str) and listed:
        return listed, "from the graph"
    asked = os.environ.get("STATECLI_MODEL")
    if asked:
        return asked, "from STATECLI_MODEL"
    if opened.config.model:
        return opened.config.model, f"from {opened.config.file}"
    return "rules", "since no model is named"


def _script(file: str) -> Provider:
    from statecli.llm.script import ScriptProvider
    from statecli.text.conversation import BadConversation, read

    try:
        with open(file, "rb") as source:
            return ScriptProvider(read(file, source.read(MAX_BYTES + 1)))
    except (OSError, ValueError) as error:
        reason = reason_of(error) if isinstance(error, OSError) else str(error).lower()
        raise Unable(f"{file or 'script:'}: {reason}") from None
    except BadConversation as error:
        raise Unable(plain(str(error))) from None
