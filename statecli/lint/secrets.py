"""Finds keys, tokens and passwords among the values of a document."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from statecli.model.data import is_list, is_map
from statecli.model.span import Path
from statecli.text.document import Document
from statecli.text.secret_looks import LOOKS


class Secret(NamedTuple):
    """The characters `within` a text value. `what` it looks like, the public `prefix` that all
    of its sort have, and an environment `variable` to put it in."""

    path: Path
    within: tuple[int, int]
    what: str
    prefix: str
    variable: str


_KINDS = {
    "key": "an API key",
    "github": "a GitHub token",
    "github2": "a GitHub token",
    "gitlab": "a GitLab token",
    "slack": "a Slack token",
    "aws": "an AWS access key",
    "google": "a Google API key",
    "face": "a Hugging Face token",
    "jwt": "a signed token",
    "bearer": "a bearer token",
    "pem": "a private key",
}
#: Words in a key that say its value is secret; `key` alone is the name of a deliverable.
_NAMES = re.compile(
    r"(?:^|_)(?:[a-z]*(?:api|access|auth|secret|private|signing)_?key|subscription_key"
    r"|token|secret|password|passwd|credentials?|authorization)$",
    re.MULTILINE,
)
#: A key that may say so; there the value must look random too.
_MAYBE = re.compile(r"[a-z]_key$", re.MULTILINE)
#: What those names end in, for a first look at all of them.
_ENDINGS = ("key", "token", "secret", "passw", "credential", "authoriz")
#: A value that stands for one: a variable, a template, a word that people write instead.
_PLACEHOLDER = re.compile(
    r"\$\{|\$[A-Za-z_]|^\s*env[:.(]|\{\{|<[^>]*>|\*{3}|\.{3}|…|x{4,}|your|example|placeholder"
    r"|changeme|change[-_ ]me|replace|dummy|redacted|insert",
    re.IGNORECASE,
)
#: What local servers are given, because their clients insist on a key.
_NO_KEYS = frozenset({"", "none", "null", "empty", "no-key", "nokey", "no_key", "not-needed",
                      "not_needed", "unused", "ollama", "lm-studio", "local", "test", "fake",
                      "sk-no-key-required", "n/a", "-", "x"})  # fmt: skip
#: An address with a user and a password, and one more argument of an address.
_LOGIN = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s/:@?#]*:(?P<value>[^\s/@?#]+)@")
_ARGUMENT = re.compile(r"[?&](?P<name>[A-Za-z][\w.-]*)=(?P<value>[^\s&#\"'<>]+)")
#: An option of a command, with its value or in front of it.
_OPTION = re.compile(r"(?:^|(?<=\s))(?P<name>--[A-Za-z][\w-]*)(?:=|\s+)(?P<value>[^\s\"']+)")
#: Options that say so, for a first look at the text of the whole file.
_ANY_OPTION = re.compile(r"--[\w-]*(?:key|token|secret|passw|credential|authorization)")
#: How they begin, for a first look at the text of the whole file.
_BEGINNINGS = (
    "sk-", "ghp_", "gho_", "ghs_", "github_pat_", "glpat-", "xox", "AKIA", "AIza", "hf_", "eyJ",
    "Bearer", "-----BEGIN",
)  # fmt: skip


def secrets(document: Document) -> Iterator[Secret]:
    """Each text value that holds a secret, once for each secret in it."""
    if not _is_suspect(document):
        return
    stack: list[tuple[object, Path]] = [(document.value, ())]
    seen: set[int] = set()
    while stack:
        value, path = stack.pop()
        if isinstance(value, str):
            yield from _in_text(value, path)
        elif (is_map(value) or is_list(value)) and id(value) not in seen:
            seen.add(id(value))
            if is_list(value) and _is_command(path):
                yield from _behind_options(value, path)
            pairs = value.items() if is_map(value) else enumerate(value)
            stack.extend([(item, (*path, step)) for step, item in pairs][::-1])


def _is_suspect(document: Document) -> bool:
    """Whether it is worth looking at every value: nearly no graph holds a secret."""
    found = document.survey
    names = _folded("\n".join(found.names))
    told = any(word in names for word in _ENDINGS)
    if told and (_NAMES.search(names) or _MAYBE.search(names)):
        return True
    if "command" in found.names and _ANY_OPTION.search(document.text):
        return True
    texts = "\n".join(found.texts)
    if "://" in texts and (_LOGIN.search(texts) or _ARGUMENT.search(texts)):
        return True
    return any(_follows(texts, mark, LOOKS) for mark in _BEGINNINGS)


def _folded(name: str) -> str:
    """A name, or several lines of them, in snake_case."""
    name = name.replace("-", "_")
    if name.isascii() and name.islower():
        return name
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).casefold()


def _follows(text: str, mark: str, pattern: re.Pattern[str]) -> bool:
    """Whether the pattern matches where a mark stands."""
    at = text.find(mark)
    while at >= 0:
        if pattern.match(text, at):
            return True
        at = text.find(mark, at + 1)
    return False


def _in_text(value: str, path: Path) -> Iterator[Secret]:
    found: list[tuple[int, int]] = []
    for match in LOOKS.finditer(value):
        kind = match.lastgroup or ""
        if _PLACEHOLDER.search(match.group()):
            continue
        start = match.end(kind) if kind == "bearer" else match.start()
        found.append((start, match.end()))
        prefix = "" if kind in ("bearer", "pem") else match.group(kind)
        yield Secret(path, (start, match.end()), _KINDS[kind], prefix, _variable(path))
    for what, (start, end) in _by_form(value, path):
        if not any(start < stop and begin < end for begin, stop in found):
            found.append((start, end))
            yield Secret(path, (start, end), what, "", _variable(path))
    if not found and (within := _by_name(value, path)) is not None:
        yield Secret(path, within, f"the value of '{_last(path)}'", "", _variable(path))


def _by_form(value: str, path: Path) -> Iterator[tuple[str, tuple[int, int]]]:
    """What stands where an address or a command has its secrets."""
    if "://" in value:
        for match in _LOGIN.finditer(value):
            if _is_key(match["value"]):
                yield "the password in an address", match.span("value")
        for match in _ARGUMENT.finditer(value):
            if _NAMES.search(_folded(match["name"])) and _is_key(match["value"]):
                yield f"the value of '{match['name']}' in an address", match.span("value")
    if _is_command(path) or _is_command(path[:-1]):
        for match in _OPTION.finditer(value):
            if _NAMES.search(_option(match["name"])) and _is_key(match["value"]):
                yield f"the value of '{match['name']}'", match.span("value")


def _behind_options(command: list[object], path: Path) -> Iterator[Secret]:
    """The items of a command that stand behind an option like `--password`."""
    for number, (option, value) in enumerate(pairwise(command), 1):
        if isinstance(option, str) and isinstance(value, str) and option.startswith("--"):
            at = (*path, number)
            secret = _NAMES.search(_option(option)) and _is_key(value)
            if secret and not any(_in_text(value, at)):
                yield Secret(at, (0, len(value)), f"the value of '{option}'", "", _variable(at))


def _is_command(path: Path) -> bool:
    return path[:1] == ("tools",) and path[-1:] == ("command",)


def _option(name: str) -> str:
    return _folded(name.lstrip("-"))


def _is_key(word: str) -> bool:
    """Whether a word is no placeholder, and letters with digits: other words are written in
    examples."""
    if len(word) < 6 or _PLACEHOLDER.search(word) or word.casefold() in _NO_KEYS:
        return False
    if word.startswith(("/", "~", "./", "-", "$", "{", "%")):
        return False
    return any(map(str.isdigit, word)) and any(map(str.isalpha, word))


def _by_name(value: str, path: Path) -> tuple[int, int] | None:
    """The secret in the value of a key that is named like one."""
    folded = _folded(_last(path))
    certain = _NAMES.search(folded)
    if _PLACEHOLDER.search(value) or not (certain or _MAYBE.search(folded)):
        return None
    start = len(value) - len(value.lstrip())
    word = value.strip()
    if certain and (path[:1] == ("tools",) or path[-2:] == ("model", "api_key")):
        scheme = re.match(r"(?:Bearer|Basic|Token|ApiKey)\s+", word, re.IGNORECASE)
        if scheme is not None:
            start, word = start + scheme.end(), word[scheme.end() :]
        if word.casefold() in _NO_KEYS or (len(word) < 6 and path[-1] != "api_key"):
            return None
        if word.startswith(("/", "~", "./")) or " " in word:
            return None
        return start, start + len(word)
    return (start, start + len(word)) if _is_random(word) else None


def _is_random(word: str) -> bool:
    """Long text that nobody reads as words: letters and several digits mixed, few separators."""
    if not re.fullmatch(r"[A-Za-z0-9+/=_.~-]{20,}", word):
        return False
    digits = sum(char.isdigit() for char in word)
    longest = max(map(len, re.split(r"[_.~-]", word)))
    return digits >= 3 and digits < len(word) and longest >= 12


def _last(path: Path) -> str:
    """The innermost key; the items of a list have that of the list."""
    return next((step for step in reversed(path) if isinstance(step, str)), "")


def _variable(path: Path) -> str:
    """An environment variable's name for the value at a path."""
    name = re.sub(r"[^A-Za-z0-9]+", "_", _last(path)).strip("_").upper()
    if path[:1] == ("tools",) and len(path) > 2 and "env" not in path:
        return re.sub(r"[^A-Za-z0-9]+", "_", str(path[1])).strip("_").upper() + "_TOKEN"
    if name in ("API_KEY", "KEY", "") or not re.search("KEY|TOKEN|SECRET|PASS|PWD|CRED", name):
        return "OPENAI_API_KEY" if "model" in path else "API_KEY"
    return name
