"""Who answers when a model is asked: `--model`, the graph, the environment, the config."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from statecli.cli.running import Opened, data_folder, own_config
from statecli.config.trust import NAME, Trust, host_of, is_local, is_trusted, trusted_hosts
from statecli.discover import reason_of
from statecli.llm.openai_compatible import OpenAICompatible, Target, Targets
from statecli.llm.servers import DEFAULT, Key, Level, Wanted, is_known, shown, table, wanted
from statecli.model.nearest import did_you_mean
from statecli.model.unable import Unable
from statecli.session.session import digest
from statecli.text.document import MAX_BYTES
from statecli.text.excerpt import plain

if TYPE_CHECKING:
    from statecli.config import Config
    from statecli.config.trust import Confirm
    from statecli.model.graph import State
    from statecli.model.ports import Provider

#: What plays without a server.
_BUILT_IN = ("rules", "human")
_FILES = ("script:", "replay:")
_ABOUT = {
    "rules": "no network, no key; you are asked what a rule cannot decide",
    "human": "you type what the model would say and choose",
}
#: The first line of a chat names so many states that have a model of their own.
_MOST = 3


class Models:
    """Finds the models that the options (`model`, `base_url`), a graph (if there is one), the
    environment and the config mean. `streams`: answers come as they are written."""

    def __init__(
        self,
        opened: Opened | None = None,
        *,
        model: str = "",
        base_url: str = "",
        streams: bool = True,
    ) -> None:
        self.opened = opened
        self.model = model
        self.base_url = base_url
        self.streams = streams
        self.states = list(opened.graph.states.values()) if opened is not None else []
        self.own: Config = own_config()

    async def chosen(self, confirm: Confirm | None) -> tuple[Provider, str]:
        """The provider, and the first line of a chat: which model plays and where that came from.

        Raises Unable for a model that was asked for and cannot be used: nothing else takes its
        place without being asked. `confirm` asks the person whether a graph's address may be used.
        """
        found = wanted(self._levels(None, "from --model"))
        if found is None:
            self._nowhere_else()
            return self._built_in("rules", "since no model is named")
        if _plays_itself(found.name):
            return self._built_in(found.name, found.origin)
        targets = await self._targets("from --model", confirm)
        return self._served(targets, found.origin)

    def warning(self, provider: Provider) -> str:
        """What the person should know of a limit that cannot be kept; else an empty text."""
        limits = self.opened.graph.limits if self.opened is not None else {}
        if not limits.get("max_cost") or not isinstance(provider, OpenAICompatible):
            return ""
        targets = (t.wanted for t in provider.targets.all() if not t.wanted.settings.get("prices"))
        names = ", ".join(dict.fromkeys(wanted.name for wanted in targets))
        if not names:
            return ""
        told = f"no price of {names} is known, so max_cost counts only what the server says itself"
        return plain(f"{told}; prices: {{input: X, output: Y}} in 'model' are for a million tokens")

    def named(self, name: str, origin: str = "from /model") -> Provider:
        """The provider of a name alone, as it is given while a chat runs. Nobody is asked: an
        address that is not allowed yet is not used."""
        if _plays_itself(name):
            return _plays(name)
        found = self._wanted(None, origin, name)
        if self._asks(found) and self._answered(found) is not True:
            url = plain(shown(found.url))
            raise Unable(f"{url}, {found.url_origin}, has not been allowed", "begin with --model")
        targets: dict[tuple[str, str] | None, Target] = {None: self._target(found)}
        return self._served(targets, origin)[0]

    def _built_in(self, name: str, origin: str) -> tuple[Provider, str]:
        provider = _plays(name)
        about = _ABOUT.get(provider.label)
        return provider, f"model: {provider.label}, {origin}" + (f" ({about})" if about else "")

    # --- what is wanted ---------------------------------------------------------------------------

    def _levels(self, state: State | None, origin: str, name: str = "") -> list[Level]:
        """The places where a model may be configured, those that win first."""
        options = {"name": name or self.model, "base_url": self.base_url}
        environment = {
            "name": os.environ.get("STATECLI_MODEL"),
            "base_url": os.environ.get("STATECLI_BASE_URL"),
        }
        levels = [Level(origin, options, url_origin="from --base-url")]
        if state is not None and table(state.settings.get("model")):
            of_state = table(state.settings["model"])
            levels.append(Level(f"from '{state.name}' in the graph", of_state, own=False))
        if self.opened is not None:
            of_graph = table(self.opened.graph.settings.get("model"))
            levels.append(Level("from the graph", of_graph, own=False))
        levels.append(
            Level("from STATECLI_MODEL", environment, url_origin="from STATECLI_BASE_URL")
        )
        if self.opened is not None:
            config = self.opened.config
            own = not config.beside(self.opened.path)
            levels.append(Level(f"from {config.file}", config.model, own))
        return [*levels, Level(f"from {self.own.file}", self.own.model)]

    def _nowhere_else(self) -> None:
        """Raises Unable where single states name a model and nothing names one for the others."""
        names = [s.name for s in self.states if table(s.settings.get("model")).get("name")]
        if names:
            listed = ", ".join(f"'{plain(name)}'" for name in names[:_MOST])
            way = "name one in the graph's 'model', or with --model"
            told = f"nothing names a model for the states besides {listed}"
            raise Unable(told, way)

    def _wanted(self, state: State | None, origin: str, name: str = "", check: str = "") -> Wanted:
        """The model of a state. Raises Unable for a name that can be none."""
        levels = self._levels(state, origin, name)
        if check:
            levels.insert(0, Level("from 'check' in the graph", {"name": check}, own=False))
        found = wanted(levels)
        assert found is not None, "a name was found before"
        if not found.name:
            raise Unable(f"the model {found.origin} has no name behind its prefix")
        if _plays_itself(found.name):
            what = f"'{plain(found.name)}', {found.origin}"
            raise Unable(f"{what}, plays whole graphs, not one state", "--model chooses it")
        hint = did_you_mean(found.name, _BUILT_IN)
        if hint and found.url == DEFAULT.url:
            raise Unable(f"no model is named '{plain(found.name)}', {found.origin}", hint)
        if not found.url.startswith(("http://", "https://")):
            url = plain(found.url)
            raise Unable(f"'{url}', {found.url_origin}, is no address of a server", "http://...")
        return found

    # --- whether it may be used -------------------------------------------------------------------

    async def _targets(
        self, origin: str, confirm: Confirm | None
    ) -> dict[tuple[str, str] | None, Target]:
        """The model of the graph (None), and those of states and of their second looks."""
        found: dict[tuple[str, str] | None, Target] = {}
        for key, model in self._all(origin):
            await self._allowed(model, confirm)
            found[key] = self._target(model)
        return found

    def _all(self, origin: str) -> Iterator[tuple[tuple[str, str] | None, Wanted]]:
        yield None, self._wanted(None, origin)
        settings = self.opened.graph.settings if self.opened is not None else {}
        general = table(settings.get("model")).get("check")
        for state in self.states:
            own = table(state.settings.get("model"))
            if own:
                yield ("state", state.name), self._wanted(state, origin)
            check = own.get("check") or general
            if state.kind == "goal" and isinstance(check, str) and check.strip():
                yield ("check", state.name), self._wanted(state, origin, check=check)

    def _asks(self, wanted: Wanted) -> bool:
        """Whether an address (or a key for it) is a stranger's choice that nobody allowed yet."""
        if wanted.own:
            return False
        if is_local(wanted.url):  # it gets no key
            return False
        return wanted.key_named or not is_trusted(wanted.url, trusted_hosts(self.own.trust))

    def _digest(self) -> str:
        return digest(self.opened.text) if self.opened is not None else ""

    def _answered(self, wanted: Wanted) -> bool | None:
        return Trust(data_folder() / NAME).answered(self._digest(), _thing(wanted))

    async def _allowed(self, wanted: Wanted, confirm: Confirm | None) -> None:
        """Ask once whether the conversation, and a key, may go to a stranger's address."""
        if not self._asks(wanted):
            return
        key = f" and your {wanted.variable}" if Key(wanted.variable) else ""
        question = (
            f"This conversation{key} would be sent to {plain(shown(wanted.url))}, an address "
            f"{wanted.url_origin}. Is that all right?"
        )
        trust, thing = Trust(data_folder() / NAME), _thing(wanted)
        way = f"STATECLI_TRUST={plain(host_of(wanted.url)[0])} allows it; --base-url goes elsewhere"
        if not await trust.allows(self._digest(), thing, question, confirm, way):
            raise Unable(trust.refused(plain(shown(wanted.url))), way)

    def _target(self, wanted: Wanted) -> Target:
        """The model with its key. Raises Unable where one is needed and not set."""
        local = is_local(wanted.url)
        key = Key("" if local and not wanted.own else wanted.variable)
        if not key and not local and is_known(wanted.url):
            told = f"the model '{plain(wanted.name)}', {wanted.origin}, needs a key"
            raise Unable(told, f"set {wanted.variable}; --model rules plays without one")
        return Target(wanted, key)

    def _served(
        self, targets: dict[tuple[str, str] | None, Target], origin: str
    ) -> tuple[Provider, str]:
        """The provider of models on servers, and the first line of a chat."""
        default = targets[None]
        if importlib.util.find_spec("openai") is None:
            told = f"the model '{plain(default.wanted.name)}', {origin}, needs the package openai"
            raise Unable(told, "pip install 'statecli[llm]'; --model rules plays without it")
        of = {key: target for key, target in targets.items() if key is not None}
        states = {name: target for (what, name), target in of.items() if what == "state"}
        checks = {name: target for (what, name), target in of.items() if what == "check"}
        provider = OpenAICompatible(Targets(default, states, checks), streams=self.streams)
        others = [
            f"{target.wanted.name} in '{name}'"
            for name, target in states.items()
            if (target.wanted.name, target.where) != (default.wanted.name, default.where)
        ]
        more = f", {', '.join(others[:_MOST])}" if others else ""
        return provider, plain(f"model: {provider.label}, {origin}{more}")


def _plays_itself(name: str) -> bool:
    return name in _BUILT_IN or name.startswith(_FILES)


def named(name: str, origin: str = "from --model") -> Provider:
    """The provider of a name, for a command that has no graph to look at."""
    return _plays(name) if _plays_itself(name) else Models().named(name, origin)


def _thing(wanted: Wanted) -> str:
    """What is remembered of an answer: the address, and which key would go there."""
    key = f" with {wanted.variable}" if Key(wanted.variable) else ""
    return f"model {shown(wanted.url)}{key}"


def _plays(name: str) -> Provider:
    """The provider of a name that needs no server."""
    if name == "rules":
        from statecli.llm.rules import RulesProvider

        return RulesProvider()
    if name == "human":
        from statecli.llm.human import HumanProvider

        return HumanProvider()
    return _played(name)


def _played(name: str) -> Provider:
    """What a conversation file answers."""
    from statecli.llm.replay import ReplayProvider
    from statecli.llm.script import ScriptProvider
    from statecli.text.conversation import BadConversation, read

    word, _, file = name.partition(":")
    kind = ReplayProvider if word == "replay" else ScriptProvider
    try:
        with open(file, "rb") as source:
            return kind(read(file, source.read(MAX_BYTES + 1)))
    except (OSError, ValueError) as error:
        reason = reason_of(error) if isinstance(error, OSError) else str(error).lower()
        raise Unable(f"{file or f'{word}:'}: {reason}") from None
    except BadConversation as error:
        raise Unable(plain(str(error))) from None
