"""Whether what went wrong means that the person must first connect a service, and where."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from statecli.model.data import is_list, is_map

#: Keys under which servers put the link, as they are found in the wild; case and `_-` do not count.
_LINKS = frozenset({
    "connecturl", "connectlink", "authurl", "authlink", "authorizeurl", "authorizationurl",
    "authorizationuri", "authenticationurl", "oauthurl", "loginurl", "signinurl", "redirecturl",
    "verificationuri", "verificationurl", "verificationuricomplete",
})  # fmt: skip
_SERVICES = ("service_name", "service", "provider", "integration", "app", "toolkit")
_TEXTS = ("message", "error_description", "error", "detail", "text")
_URL = re.compile(r"https?://[^\s<>\"'`\])}]+")
#: Words that ask the person to do something about their account; an error that merely names an
#: address does not have them.
_ASKS = re.compile(
    r"\b(?:(?:re-?)?(?:connect|authori[sz]e|authenticate|link)\b[^.\n]{0,40}"
    r"\b(?:your|account|access|this app|first|by visiting|here|at https?)"
    r"|(?:log|sign)[ -]?in\b|\boauth\b|authori[sz]ation (?:is )?(?:required|needed)"
    r"|authentication (?:is )?(?:required|needed))",
    re.IGNORECASE,
)
#: How deep a link may stand in an error.
MAX_DEPTH = 6


class Link(NamedTuple):
    """Where a service is connected; `service` and `text` as the server says, or empty."""

    service: str
    url: str
    text: str


def parsed(text: str) -> Any:
    """A text as JSON where it is that, else the text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def link_in(error: Any, depth: int = 0) -> Link | None:
    """The link that an error asks the person to open; None where it is just an error."""
    if depth > MAX_DEPTH:
        return None
    if isinstance(error, str):
        inner = parsed(error) if error.lstrip()[:1] in ("{", "[") else error
        return link_in(inner, depth + 1) if not isinstance(inner, str) else _in_text(inner)
    if is_list(error):
        return next(filter(None, (link_in(item, depth + 1) for item in error[:20])), None)
    if not is_map(error):
        return None
    for key, value in error.items():
        if key.lower().replace("_", "").replace("-", "") in _LINKS and _is_link(value):
            return Link(_first(error, _SERVICES), str(value), _first(error, _TEXTS))
    return next(filter(None, (link_in(value, depth + 1) for value in error.values())), None)


def _in_text(text: str) -> Link | None:
    found = _URL.search(text)
    if found is None or _ASKS.search(text) is None:
        return None
    return Link("", found[0].rstrip(".,;:!?"), text)


def elicited(data: Any) -> Link | None:
    """The first link of the error with which a server asks for one (-32042)."""
    listed = data.get("elicitations") if is_map(data) else None
    for item in listed if is_list(listed) else ():
        if is_map(item) and _is_link(item.get("url")):
            return Link("", str(item["url"]), _first(item, ("message",)))
    return None


def _is_link(value: object) -> bool:
    return isinstance(value, str) and _URL.fullmatch(value.strip()) is not None


def _first(found: Mapping[str, object], keys: tuple[str, ...]) -> str:
    """The first of these keys that holds a text (a service may be an object with a name)."""
    for key in keys:
        value = found.get(key)
        if is_map(value):
            value = value.get("name")
        if isinstance(value, str) and value.strip():
            return value.strip()[:500]
    return ""
