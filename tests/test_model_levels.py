"""Which model is meant: the order of the places that may say so (cli.md)."""

from __future__ import annotations

from typing import Any

import pytest

from statecli.llm.servers import Key, Level, shown, split, wanted

OPTION, GRAPH, ENV, CONFIG = "option", "graph", "env", "config"


def meant(**levels: dict[str, Any]) -> tuple[str, str] | None:
    found = wanted(
        [Level(name, levels.get(name, {}), name != GRAPH) for name in (OPTION, GRAPH, ENV, CONFIG)]
    )
    return None if found is None else (found.name, found.url)


LOCAL, OPENAI = "http://localhost:11434/v1", "https://api.openai.com/v1"


@pytest.mark.parametrize(
    ("levels", "expected"),
    [
        ({}, None),
        ({OPTION: {"base_url": "http://a/v1"}}, None),
        ({OPTION: {"name": "m"}}, ("m", OPENAI)),
        ({OPTION: {"name": "openai:m"}}, ("m", OPENAI)),
        ({OPTION: {"name": "ollama:llama3.2:3b"}}, ("llama3.2:3b", LOCAL)),
        ({OPTION: {"name": "hf:org/model:free"}}, ("hf:org/model:free", OPENAI)),
        ({OPTION: {"name": "openai:m", "base_url": "http://a/v1/"}}, ("m", "http://a/v1")),
        ({OPTION: {"name": "m"}, GRAPH: {"name": "g"}, ENV: {"name": "e"}}, ("m", OPENAI)),
        ({GRAPH: {"name": "g"}, ENV: {"name": "e"}, CONFIG: {"name": "c"}}, ("g", OPENAI)),
        ({ENV: {"name": "e"}, CONFIG: {"name": "c"}}, ("e", OPENAI)),
        ({CONFIG: {"name": "c"}}, ("c", OPENAI)),
        # an address further up or down goes with a plain name
        ({GRAPH: {"name": "g"}, ENV: {"base_url": "http://e/v1"}}, ("g", "http://e/v1")),
        ({OPTION: {"base_url": "http://o/v1"}, GRAPH: {"name": "g", "base_url": "http://g/v1"}},
         ("g", "http://o/v1")),
        # one with a prefix has its own
        ({OPTION: {"name": "ollama:m"}, GRAPH: {"name": "g", "base_url": "http://g/v1"}},
         ("m", LOCAL)),
        ({OPTION: {"name": "m"}, CONFIG: {"name": "ollama:c"}}, ("m", OPENAI)),
        ({OPTION: {"name": "", "base_url": None}, ENV: {"name": " e "}}, ("e", OPENAI)),
    ],
)  # fmt: skip
def test_the_first_hit_wins(
    levels: dict[str, dict[str, Any]], expected: tuple[str, str] | None
) -> None:
    assert meant(**levels) == expected


def test_only_a_known_prefix_is_split_off() -> None:
    assert split("llama3.2:3b") == (None, "llama3.2:3b")
    server, name = split("OpenAI:x")
    assert (server is not None, name) == (True, "x")


def test_settings_go_key_by_key_and_prices_with_their_model() -> None:
    graph = {"name": "g", "temperature": 0, "prices": {"input": 1, "output": 2}}
    state = {"temperature": 1, "seed": 3}
    found = wanted([Level("o", {}), Level("s", state, False), Level("g", graph, False)])
    assert found is not None
    assert (found.settings["temperature"], found.settings["seed"]) == (1, 3)
    assert found.settings["prices"] == {"input": 1, "output": 2}
    other = wanted([Level("o", {"name": "m"}), Level("g", graph, False)])
    assert other is not None
    assert "prices" not in other.settings


def test_the_key_of_each_server(monkeypatch: pytest.MonkeyPatch) -> None:
    def variable(name: str, **more: Any) -> str:
        found = wanted([Level("o", {"name": name, **more})])
        assert found is not None
        return found.variable

    assert variable("openai:x") == "OPENAI_API_KEY"
    assert variable("ollama:x") == ""
    assert variable("groq:x") == "GROQ_API_KEY"
    assert variable("x", base_url="https://api.groq.com/openai/v1") == "GROQ_API_KEY"
    assert variable("ollama:x", base_url="https://mine.example/v1") == "OPENAI_API_KEY"
    assert variable("x", api_key="${MY_KEY}") == "MY_KEY"
    assert variable("x", api_key="sk-literal") == "OPENAI_API_KEY"
    monkeypatch.setenv("MY_KEY", " k ")
    assert Key("MY_KEY").value == "k"
    assert not Key("")


def test_whose_word_an_address_is() -> None:
    def own(*levels: Level) -> bool:
        found = wanted(levels)
        assert found is not None
        return found.own

    theirs = Level("graph", {"name": "g", "base_url": "http://g/v1"}, False)
    assert not own(theirs)
    assert own(Level("o", {"base_url": "http://o/v1"}), theirs)
    assert not own(Level("o", {"name": "m"}), theirs)
    assert own(Level("graph", {"name": "openai:g"}, False)), "a known server is nobody's trick"
    sly = Level("graph", {"name": "openai:g", "api_key": "${AWS_SECRET}"}, False)
    assert not own(sly)
    assert own(Level("o", {"api_key": "${AWS_SECRET}"}), sly)


def test_an_address_is_shown_without_what_is_secret_in_it() -> None:
    assert shown("https://me:pass@h.example:8/v1?key=x#y") == "https://h.example:8/v1"
    assert shown("http://[") == "?"
