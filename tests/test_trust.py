"""What the person allowed the graphs of others to do."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from statecli.config.trust import Trust, is_local, is_trusted, trusted_hosts
from statecli.model.unable import Unable


def ask(trust: Trust, digest: str, thing: str, answer: bool | None) -> bool:
    asked: list[str] = []

    async def confirm(question: str) -> bool:
        asked.append(question)
        assert answer is not None, "nobody should be asked"
        return answer

    return asyncio.run(trust.allows(digest, thing, f"May it do {thing}?", confirm, "--allow"))


@pytest.mark.parametrize("answer", [True, False])
def test_a_thing_is_asked_once_for_one_graph(tmp_path: Path, answer: bool) -> None:
    trust = Trust(tmp_path / "data" / "trust.json")
    assert trust.answered("d1", "run") is None
    assert ask(trust, "d1", "run", answer) is answer
    again = Trust(trust.file)
    assert again.answered("d1", "run") is answer
    assert ask(again, "d1", "run", None) is answer
    assert again.answered("d2", "run") is None
    assert again.answered("d1", "walk") is None


def test_answers_of_another_process_are_kept(tmp_path: Path) -> None:
    one, two = Trust(tmp_path / "t.json"), Trust(tmp_path / "t.json")
    one.remember("d", "a", True)
    two.remember("d", "b", False)
    assert json.loads(one.file.read_text()) == {"d": {"a": True, "b": False}}


def test_off_a_terminal_nobody_is_asked(tmp_path: Path) -> None:
    trust = Trust(tmp_path / "t.json")
    with pytest.raises(Unable) as caught:
        asyncio.run(trust.allows("d", "run", "May it run?", None, "--allow-tools x"))
    assert caught.value.hint == "--allow-tools x"
    assert not trust.file.exists()
    trust.remember("d", "run", True)
    assert asyncio.run(trust.allows("d", "run", "May it run?", None, ""))


@pytest.mark.parametrize("content", ["", "[]", '{"d": 1}', "{", "[" * 10_000])
def test_a_broken_file_is_never_taken_for_a_yes(tmp_path: Path, content: str) -> None:
    file = tmp_path / "t.json"
    file.write_text(content)
    with pytest.raises(Unable, match="not what statecli wrote"):
        Trust(file).answered("d", "run")
    with pytest.raises(Unable):
        Trust(file).remember("d", "run", True)
    assert file.read_text() == content


def test_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STATECLI_TRUST", "api.Example.com, other:8080")
    hosts = trusted_hosts(["third.example"])
    assert is_trusted("https://API.example.com/v1", hosts)
    assert is_trusted("http://other:8080/v1", hosts)
    assert not is_trusted("http://other/v1", hosts)
    assert is_trusted("https://third.example:9/v1", hosts)
    for url in (
        "https://api.example.com.evil.net/v1", "https://api.example.com@evil.net/v1",
        "https://xapi.example.com/v1", "", "http://[", "api.example.com",
    ):  # fmt: skip
        assert not is_trusted(url, hosts), url


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://localhost:11434/v1", True), ("http://127.0.0.1:1/v1", True),
        ("http://[::1]:1/v1", True), ("http://a.localhost/v1", False),
        ("http://localhost.evil.net/v1", False), ("http://localhost@evil.net/v1", False),
        ("http://127.0.0.1.evil.net/", False), ("http://10.0.0.1/", False), ("nonsense", False),
    ],
)  # fmt: skip
def test_this_machine(url: str, local: bool) -> None:
    assert is_local(url) is local
