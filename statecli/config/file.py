"""Reads `statecli.toml` and `[tool.statecli]` of a `pyproject.toml`; a mistake in it is `Unable`
with file and line."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Collection
from typing import NamedTuple

from statecli.config import LEVELS, SEVERITIES, Config
from statecli.discover import reason_of
from statecli.model.data import described
from statecli.model.keys import OBJECTS
from statecli.model.nearest import did_you_mean
from statecli.model.unable import Unable

#: What the values of a model's keys are, and how that is called.
_MODEL_TYPES: dict[str, tuple[type | tuple[type, ...], str]] = {
    "text": (str, "a text"),
    "number": ((int, float), "a number"),
    "count": (int, "a whole number"),
    "int": (int, "a whole number"),
    "@prices": (dict, "a table with 'input' and 'output'"),
}
CASES = ("snake_case", "kebab-case", "camelCase", "PascalCase")


class Words(NamedTuple):
    """The names that a config may use: rules and families, rules alone, forms."""

    selectors: Collection[str]
    rules: Collection[str]
    forms: Collection[str]


def read(path: str, words: Words, *, own: bool = False) -> Config:
    """The settings of a config file. `own`: it is the person's own, which alone may trust."""
    try:
        with open(path, "rb") as file:
            content = file.read()
    except OSError as error:
        raise Unable(f"{path}: {reason_of(error)}") from error
    shown = _shown(path)
    try:
        text = content.decode("utf-8-sig")
        table: object = tomllib.loads(text)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise Unable(f"{shown}:{line}: this is not UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise Unable(_syntax(shown, str(error))) from error
    at: tuple[str, ...] = ()
    if os.path.basename(path) == "pyproject.toml":
        at = ("tool", "statecli")
        for key in at:
            table = table.get(key, {}) if isinstance(table, dict) else {}
    return _Reader(shown, text, at, words, own=own).config(table, path)


def _shown(path: str) -> str:
    try:
        near = os.path.relpath(path)
    except ValueError:  # another drive of Windows
        return path
    return path if near.startswith("..") else near


def _syntax(shown: str, message: str) -> str:
    place = re.search(r" \(at (?:line (\d+), column (\d+)|end of document)\)$", message)
    where = f":{place.group(1)}:{place.group(2)}" if place and place.group(1) else ""
    said = message[: place.start()] if place else message
    end = " at the end of the file" if place and not place.group(1) else ""
    said = said.replace("Invalid", "unexpected", 1)
    return f"{shown}{where}: this is not TOML: {said[:1].lower()}{said[1:]}{end}"


class _Reader:
    """Checks each value and says where the wrong ones stand."""

    def __init__(
        self, shown: str, text: str, at: tuple[str, ...], words: Words, *, own: bool
    ) -> None:
        self.shown = shown
        self.text = text
        self.at = at
        self.words = words
        self.keys: dict[str, Callable[[str, object], object]] = {
            "select": self.selectors,
            "ignore": self.selectors,
            "extend-select": self.selectors,
            "severity": self.severities,
            "per-file-ignores": self.ignores,
            "fail-on": self.level,
            "exclude": self.texts,
            "forms": self.forms,
            "custom-kinds": self.texts,
            "waiting-kinds": self.texts,
            "inputs": self.names,
            "plugins": self.texts,
            "tools": self.tools,
            "name-case": self.case,
            "model": self.model,
            "store": self.word,
            "trust": self.texts if own else self.not_here,
        }

    def config(self, table: object, path: str) -> Config:
        values: dict[str, object] = {}
        if not isinstance(table, dict):
            raise self.wrong((), f"'tool.statecli' must be a table, here it is {described(table)}")
        for key, value in table.items():
            check = self.keys.get(key)
            if check is None:
                hint = did_you_mean(key, self.keys)
                raise self.wrong((key,), f"no setting is named '{key}'", hint)
            values[key.replace("-", "_")] = check(key, value)
        folder = os.path.dirname(os.path.abspath(path))
        return Config(**values, directory=folder, file=self.shown)  # type: ignore[arg-type]

    # --- one kind of value each -----------------------------------------------------------------

    def texts(self, key: str, value: object) -> tuple[str, ...]:
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return tuple(value)
        hint = f'write {key} = ["{value}"]' if isinstance(value, str) else ""
        raise self.wrong(
            (key,), f"'{key}' must be a list of texts, here it is {described(value)}", hint
        )

    def word(self, key: str, value: object) -> str:
        if isinstance(value, str):
            return value
        raise self.wrong((key,), f"'{key}' must be a text, here it is {described(value)}")

    def model(self, key: str, value: object) -> dict[str, object]:
        """The name of a model, or a table with the keys that `model` has in a graph."""
        if not isinstance(value, dict):
            return {"name": self.word(key, value)}
        for name, item in value.items():
            known = OBJECTS["model"].get(name)
            if known is None:
                hint = did_you_mean(name, OBJECTS["model"])
                raise self.wrong((key, name), f"'{key}' has no '{name}'", hint)
            kinds, words = _MODEL_TYPES[known.type]
            if not isinstance(item, kinds) or isinstance(item, bool):
                said = f"'{name}' must be {words}, here it is {described(item)}"
                raise self.wrong((key, name), said)
        secret = value.get("api_key")
        if secret and not re.fullmatch(r"\$\{\w+\}", str(secret).strip()):
            hint = 'write api_key = "${OPENAI_API_KEY}" and set that in the environment'
            raise self.wrong((key, "api_key"), "a key does not belong into a file", hint)
        return value

    def not_here(self, key: str, value: object) -> tuple[str, ...]:
        """Whom to trust is not for the folder of a graph to say."""
        hint = "put it into your own config.toml, or set STATECLI_TRUST"
        raise self.wrong((key,), f"'{key}' counts only in your own config", hint)

    def tools(self, key: str, value: object) -> dict[str, dict[str, object]]:
        """Tools as a graph declares them, a table by name; or a list of names alone."""
        if not isinstance(value, dict):
            return {name: {} for name in self.texts(key, value)}
        for name, entry in value.items():
            if not isinstance(entry, dict):
                said = f"'{name}' must be a table, here it is {described(entry)}"
                raise self.wrong((key, name), said, f'{name} = {{command = ["..."]}}, or a url')
            for item in entry:
                if item not in OBJECTS["tool"]:
                    hint = did_you_mean(item, OBJECTS["tool"])
                    raise self.wrong((key, name, item), f"a tool has no '{item}'", hint)
        return value

    def names(self, key: str, value: object) -> tuple[str, ...]:
        """A list of names, or a table by name."""
        return tuple(value) if isinstance(value, dict) else self.texts(key, value)

    def selectors(self, key: str, value: object) -> tuple[str, ...]:
        found = self.texts(key, value)
        for word in found:
            self.known(word, self.words.selectors, "rule or family", (key, word))
        return found

    def table(self, key: str, value: object, what: str) -> dict[str, object]:
        if isinstance(value, dict):
            return value
        raise self.wrong(
            (key,), f"'{key}' must be a table of {what}, here it is {described(value)}"
        )

    def severities(self, key: str, value: object) -> dict[str, str]:
        found: dict[str, str] = {}
        for rule, severity in self.table(key, value, "rules with severities").items():
            self.known(rule, self.words.rules, "rule", (key, rule))
            found[rule] = self.choice((key, rule), severity, SEVERITIES)
        return found

    def ignores(self, key: str, value: object) -> dict[str, tuple[str, ...]]:
        table = self.table(key, value, "file patterns with rules")
        for pattern, listed in table.items():
            for word in self.texts(pattern, listed):
                self.known(word, self.words.selectors, "rule or family", (key, pattern, word))
        return {pattern: self.texts(pattern, listed) for pattern, listed in table.items()}

    def forms(self, key: str, value: object) -> dict[str, str]:
        table = self.table(key, value, "file patterns with forms")
        return {
            pattern: self.choice((key, pattern), form, tuple(self.words.forms))
            for pattern, form in table.items()
        }

    def level(self, key: str, value: object) -> str:
        return self.choice((key,), value, LEVELS)

    def case(self, key: str, value: object) -> str:
        return self.choice((key,), value, CASES)

    def choice(self, keys: tuple[str, ...], value: object, choices: tuple[str, ...]) -> str:
        if isinstance(value, str) and value in choices:
            return value
        said = f"'{keys[-1]}' must be one of {', '.join(choices)}; here it is {described(value)}"
        raise self.wrong(keys, said, did_you_mean(str(value), choices))

    def known(self, word: str, names: Collection[str], what: str, keys: tuple[str, ...]) -> None:
        if word not in names:
            raise self.wrong(keys, f"no {what} is named '{word}'", did_you_mean(word, names))

    # --- where it stands ------------------------------------------------------------------------

    def wrong(self, keys: tuple[str, ...], message: str, hint: str = "") -> Unable:
        return Unable(f"{self.shown}:{self.line((*self.at, *keys))}: {message}", hint)

    def line(self, keys: tuple[str, ...]) -> int:
        """The line where a key is set; tomllib gives no places, so this follows the headers."""
        lines = self.text.splitlines()
        best, length = 1, 0
        table: tuple[str, ...] = ()
        for number, line in enumerate(lines, 1):
            header = re.match(r"\s*\[\[?([^\]]+)\]", line)
            setting = re.match(r"""\s*((?:[\w.\s-]|"[^"]*"|'[^']*')+?)\s*=""", line)
            if header:
                found = table = _parts(header.group(1))
            elif setting:
                found = (*table, *_parts(setting.group(1)))
            else:
                continue
            if len(found) > length and found == keys[: len(found)]:
                best, length = number, len(found)
        if length < len(keys):
            for number in range(best, min(best + 200, len(lines)) + 1):
                if keys[-1] in lines[number - 1]:
                    return number
        return best


def _parts(dotted: str) -> tuple[str, ...]:
    found = re.findall(r""""([^"]*)"|'([^']*)'|([\w-]+)""", dotted)
    return tuple("".join(part) for part in found)
