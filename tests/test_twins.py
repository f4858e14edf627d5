"""A graph in JSON and the same graph in YAML give the same rules, states and messages."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from run_cli import REPOSITORY, Result, check
from test_rules_examples import EXAMPLES, label, prepare

# Only YAML can say these: words without quotes, and comments.
ASIDE = {"yaml11-bool", "non-string-name", "unused-suppression"}
WORDS = {"null": None, "~": None, "": None, "true": True, "false": False}
NUMBER = re.compile(r"[-+]?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")


class NoTwin(Exception):
    """The graph holds something that JSON cannot."""


def plain(node: yaml.Node) -> Any:
    """NODE as data by the core schema of YAML 1.2: names such as `on` stay text."""
    if isinstance(node, yaml.MappingNode):
        pairs = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.value in pairs:
                raise NoTwin
            pairs[key.value] = plain(value)
        return pairs
    if isinstance(node, yaml.SequenceNode):
        return [plain(item) for item in node.value]
    assert isinstance(node, yaml.ScalarNode)
    text = str(node.value)
    if node.style is not None:
        return text
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    if NUMBER.fullmatch(text):
        return int(text) if text.lstrip("+-").isdigit() else float(text)
    return text


def twin(text: str) -> str:
    """TEXT as JSON."""
    try:
        node = yaml.compose(text, Loader=yaml.BaseLoader)
    except yaml.YAMLError as error:
        raise NoTwin from error
    if not isinstance(node, yaml.MappingNode):
        raise NoTwin
    return json.dumps(plain(node), ensure_ascii=False, indent=2)


def has_twin(text: str) -> bool:
    """Whether TEXT can be said in JSON, with all that is checked in it."""
    try:
        twin(text)
    except NoTwin:
        return False
    return "statecli:" not in text


def findings(result: Result) -> list[tuple[str, str, tuple[str, ...], str, str]]:
    """What is said, without where."""
    return sorted(
        (d["rule"], d["severity"], tuple(d["states"]), d["message"], d.get("hint") or "")
        for d in result.diagnostics
        if d["rule"] not in ASIDE
    )


def in_yaml(example: dict[str, Any]) -> str:
    """The text of an example without its marks."""
    return re.sub("[«»⟦⟧§]", "", example["input"])


TWINS = [e for e in EXAMPLES if e.get("name", "").endswith(".json") or has_twin(in_yaml(e))]


@pytest.mark.parametrize("example", [e for e in TWINS if "name" not in e], ids=label)
def test_example(example: dict[str, Any], tmp_path: Path) -> None:
    _, marked, args = prepare(example, tmp_path)
    first = check(tmp_path, "graph.yaml", marked.text, *args)
    second = check(tmp_path, "graph.json", twin(marked.text), *args)
    assert findings(first) == findings(second)
    assert [g["form"] for g in first.data["graphs"]] == [g["form"] for g in second.data["graphs"]]


@pytest.mark.parametrize("example", [e for e in TWINS if "name" not in e], ids=label)
def test_json_read_as_yaml(example: dict[str, Any], tmp_path: Path) -> None:
    """JSON is YAML too, so the same text under both names says the same, at the same place."""
    _, marked, args = prepare(example, tmp_path)
    text = twin(marked.text)
    first = check(tmp_path, "graph.yaml", text, *args).diagnostics
    second = check(tmp_path, "graph.json", text, *args).diagnostics
    keys = ("rule", "severity", "message", "start", "end", "where", "states")
    assert [[d[k] for k in keys] for d in first] == [[d[k] for k in keys] for d in second]


GRAPHS = sorted((REPOSITORY / "graphs").glob("*.yaml"))


@pytest.mark.parametrize("path", GRAPHS, ids=lambda p: p.name)
def test_own_graph(path: Path, tmp_path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    first = check(tmp_path, "graph.yaml", text)
    second = check(tmp_path, "graph.json", twin(text))
    assert findings(first) == findings(second)


def test_names_stay_text(tmp_path: Path) -> None:
    user = "{type: user, transition: {next: [off]}}"
    text = f"{{initial: on, states: {{on: {user}, off: {{type: terminal}}}}}}"
    result = check(tmp_path, "graph.yaml", text)
    assert {d["rule"] for d in result.diagnostics} == {"yaml11-bool"}
    assert result.data["graphs"][0]["terminal"] == ["off"]
    assert check(tmp_path, "graph.json", twin(text)).diagnostics == []
