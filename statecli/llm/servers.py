"""Servers with the API of OpenAI: their addresses, and the variables that hold their keys."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlsplit, urlunsplit


class Server(NamedTuple):
    """A server that a name can begin with. Without a `variable` it needs no key."""

    url: str
    variable: str = ""


#: Known prefixes of a model's name: `ollama:llama3.2:3b`.
SERVERS = {
    "openai": Server("https://api.openai.com/v1", "OPENAI_API_KEY"),
    "ollama": Server("http://localhost:11434/v1"),
    "llamacpp": Server("http://localhost:8080/v1"),
    "lmstudio": Server("http://localhost:1234/v1"),
    "vllm": Server("http://localhost:8000/v1"),
    "deepseek": Server("https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
    "gemini": Server("https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY"),
    "groq": Server("https://api.groq.com/openai/v1", "GROQ_API_KEY"),
    "mistral": Server("https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
    "openrouter": Server("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    "together": Server("https://api.together.xyz/v1", "TOGETHER_API_KEY"),
}
#: Where a name without a prefix is meant, and the key of servers that are not known.
DEFAULT = SERVERS["openai"]


class Level(NamedTuple):
    """One place where a model may be configured. `own`: the person's own words, no stranger's;
    `url_origin`: where the address stands, if not where the name does."""

    origin: str
    settings: Mapping[str, Any]
    own: bool = True
    url_origin: str = ""


class Wanted(NamedTuple):
    """A model as it was asked for: its name without prefix and where the name stands; the address,
    where that stands and whether the person chose it; the variable of its key, and whether a
    stranger named that (`key_named`); its settings."""

    name: str
    origin: str
    url: str
    url_origin: str
    own: bool
    variable: str
    key_named: bool
    settings: Mapping[str, Any]


def split(name: str) -> tuple[Server | None, str]:
    """The server that a name begins with, and the rest. Only a known prefix is split off."""
    prefix, colon, rest = name.partition(":")
    server = SERVERS.get(prefix.casefold()) if colon else None
    return (server, rest) if server is not None else (None, name)


def wanted(levels: Sequence[Level]) -> Wanted | None:
    """The model that the levels mean, first hit wins; None where none names one.

    An address is looked for in the same order. The prefix of the name counts as one at the place
    of the name: what stands further down belongs to another model.
    """
    at = next((n for n, level in enumerate(levels) if _text(level, "name")), None)
    if at is None:
        return None
    server, name = split(_text(levels[at], "name"))
    for number, level in enumerate(levels):
        url = _text(level, "base_url")
        if url:
            own, origin = level.own, level.url_origin or level.origin
            break
        if number == at and server is not None:
            url, own, origin = server.url, True, level.origin
            break
    else:
        url, own, origin = DEFAULT.url, True, levels[at].origin
    url = url.rstrip("/")
    variable = _variable(url, server)
    settings = _settings(levels, _text(levels[at], "name"))
    named, stranger = re.fullmatch(r"\$\{(\w+)\}", str(settings.get("api_key") or "")), False
    if named is not None and named[1] != variable:
        # Which secret goes to which server is for the person to say, not for a graph.
        variable, stranger = named[1], not _owns(levels, "api_key")
    own = own and not stranger
    return Wanted(name, levels[at].origin, url, origin, own, variable, stranger, settings)


def _owns(levels: Sequence[Level], key: str) -> bool:
    return next((level.own for level in levels if key in level.settings), True)


def _settings(levels: Sequence[Level], name: str) -> dict[str, Any]:
    """All settings, the first that says something wins. Prices are those of the model that is
    named beside them."""
    found: dict[str, Any] = {}
    for level in reversed(levels):
        other = _text(level, "name") not in ("", name)
        found.update(
            (key, value) for key, value in level.settings.items() if not (other and key == "prices")
        )
    return found


def _text(level: Level, key: str) -> str:
    value = level.settings.get(key)
    return value.strip() if isinstance(value, str) else ""


def _variable(url: str, server: Server | None) -> str:
    """The variable that holds the key for an address."""
    if server is not None and server.url == url:
        return server.variable
    hosts = {_host(item.url): item.variable for item in SERVERS.values() if item.variable}
    return hosts.get(_host(url), DEFAULT.variable)


def _host(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").casefold()
    except ValueError:
        return ""


def is_known(url: str) -> bool:
    """Whether an address is on one of the servers that are known to want a key."""
    return _host(url) in {_host(server.url) for server in SERVERS.values() if server.variable}


def table(value: object) -> Mapping[str, Any]:
    """A `model` as it may be written: a mapping, or nothing but its name."""
    if isinstance(value, str):
        return {"name": value}
    return value if isinstance(value, Mapping) else {}


def shown(url: str) -> str:
    """An address without the user, password and query that may stand in it."""
    try:
        parts = urlsplit(url)
        netloc = parts.netloc.rpartition("@")[2]
        return urlunsplit((parts.scheme, netloc, parts.path, "", ""))
    except ValueError:
        return "?"


class Key:
    """A key from the environment. It shows itself nowhere: not in a message, not in a traceback."""

    __slots__ = ("value",)

    def __init__(self, variable: str) -> None:
        self.value = os.environ.get(variable, "").strip() if variable else ""

    def __bool__(self) -> bool:
        return bool(self.value)

    def __repr__(self) -> str:
        return "Key(***)" if self.value else "Key()"
