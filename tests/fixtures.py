"""Reads the rule fixtures under tests/lint: graphs with `expect:` comments.

A file `tests/lint/<rule>.yaml` holds several cases, each begun by a line ``# --- case: name``
(``# --- case: name (json)`` for JSON). A line that must fire ends in ``# expect: rule "part of the
message"`` (``// expect:`` in JSON, taken off before reading); every other line must be silent for
that rule. A case may set config with ``# config: {custom-kinds: [plan]}`` (snake_case names of
Config fields are accepted too).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from statecli.config import Config

LINT = Path(__file__).parent / "lint"
_EXPECT = re.compile(r'\s*(?:#|//)\s*expect:\s*(?P<all>(?:[a-z0-9-]+(?:\s+"[^"]*")?[,\s]*)+)$')
_ONE = re.compile(r'([a-z0-9-]+)(?:\s+"([^"]*)")?')


class Expected(NamedTuple):
    line: int
    rule: str
    part: str


class Case(NamedTuple):
    rule: str
    name: str
    text: str
    suffix: str
    expected: tuple[Expected, ...]
    config: Config


def cases() -> list[Case]:
    found: list[Case] = []
    for path in sorted(LINT.glob("*.yaml")):
        found.extend(_cases(path))
    return found


def _cases(path: Path) -> list[Case]:
    parts = re.split(r"^# --- case: (.*)\n", path.read_text("utf-8"), flags=re.MULTILINE)
    return [_case(path.stem, parts[at], parts[at + 1]) for at in range(1, len(parts), 2)]


def _case(rule: str, name: str, text: str) -> Case:
    json = name.endswith("(json)")
    lines: list[str] = []
    expected: list[Expected] = []
    config = Config()
    for number, written in enumerate(text.split("\n"), 1):
        line = written
        setting = re.match(r"# config: (.*)", line)
        if setting:
            config = make_config(yaml.safe_load(setting.group(1)))
            line = "" if json else line
        match = _EXPECT.search(line)
        if match:
            for word, part in _ONE.findall(match.group("all")):
                expected.append(Expected(number, word, part))
            if json:
                line = line[: match.start()]
        lines.append(line)
    suffix = ".json" if json else ".yaml"
    return Case(rule, name, "\n".join(lines), suffix, tuple(expected), config)


def make_config(settings: dict[str, Any]) -> Config:
    values = {key.replace("-", "_"): value for key, value in settings.items()}
    for key, value in values.items():
        if isinstance(value, list):
            values[key] = tuple(value)
    return Config()._replace(**values)
