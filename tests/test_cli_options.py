"""Every option of every command does what it says: transcripts under tests/cli."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

import pytest
from run_cli import REPOSITORY
from transcripts import Transcript, fits, replay, transcripts, update, without_end

from statecli.cli import app

ALL = transcripts()
#: Options whose effect no transcript can show, with the test that does.
ELSEWHERE = {"--debug": "test_a_fault_of_our_own"}


@pytest.mark.parametrize("transcript", ALL, ids=lambda t: t.path.stem)
def test_transcript(
    transcript: Transcript, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    printed = replay(transcript, tmp_path)
    if os.environ.get("STATECLI_UPDATE"):
        update(transcript, printed)
        return
    for step, lines in zip(transcript.steps, printed, strict=True):
        shown = "\n".join(lines)
        expected = without_end(step.expected)
        assert fits(expected, without_end(lines)), f"$ {step.command}\n{shown}"


def options(name: str) -> list[str]:
    """The options of a command, each by its longest name; global ones included."""
    parser = argparse.ArgumentParser(add_help=False)
    app.add_global(parser)
    app.load(name).add(parser)
    found: list[str] = []
    for action in parser._actions:
        if isinstance(action, argparse.BooleanOptionalAction):
            found += action.option_strings
        elif action.option_strings:
            found.append(max(action.option_strings, key=len))
    return found


@pytest.mark.parametrize("name", ["validate", "explain", "render", "chat", "sessions", "test"])
def test_every_option_has_a_transcript(name: str) -> None:
    seen: set[str] = set()
    for transcript in ALL:
        for step in transcript.steps:
            words = step.command.split()
            if name in words or step.command.split()[0] == "cat":
                seen |= {word.split("=", 1)[0] for word in words}
    short = {"-o": "--output", "-v": "--verbose", "-h": "--help", "-k": "--keyword",
             "-q": "--quiet"}  # fmt: skip
    seen |= {long for word, long in short.items() if word in seen}
    assert [option for option in options(name) if option not in {*seen, *ELSEWHERE}] == []
    assert all(test in globals() for test in ELSEWHERE.values())


def test_help_lists_every_option(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("validate", "explain", "chat", "sessions", "test"):
        with pytest.raises(SystemExit):
            app.main([name, "--help"])
        shown = capsys.readouterr().out
        assert [option for option in options(name) if option not in shown] == []


def test_a_fault_of_our_own(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No traceback unless it is asked for."""
    from statecli.cli import validate

    def broken(_: object) -> int:
        raise ZeroDivisionError("for the test")

    monkeypatch.setattr(validate, "run", broken)
    assert app.main(["validate", "x.yaml"]) == 2
    said = capsys.readouterr().err
    assert "ZeroDivisionError" in said
    assert "--debug" in said
    assert "Traceback" not in said
    assert app.main(["validate", "--debug", "x.yaml"]) == 2
    said = capsys.readouterr().err
    assert "Traceback (most recent call last)" in said
    assert 'raise ZeroDivisionError("for the test")' in said


def test_interrupted(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from statecli.cli import validate

    def stopped(_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(validate, "run", stopped)
    assert app.main(["validate", "x.yaml"]) == 130
    assert "Traceback" not in capsys.readouterr().err


def test_the_fixes_that_rules_announce_are_those_they_offer() -> None:
    from fixtures import cases
    from test_rules import diagnostics, examples

    from statecli.lint.rule import rules

    offered: dict[str, set[bool]] = {rule: set() for rule in rules()}
    graphs = [
        (text, rule, ".json" if text.startswith('{"') else ".yaml", None)
        for rule in rules()
        for text in examples(rule, "Bad")
    ]
    for text, rule, suffix, config in [
        *graphs,
        *((c.text, c.rule, c.suffix, c.config) for c in cases()),
    ]:
        for item in diagnostics(text, rule, suffix, config):
            if item.finding.fix is not None:
                offered[item.rule].add(item.finding.fix.safe)
    best = {
        rule: "safe" if True in kinds else "unsafe" if kinds else ""
        for rule, kinds in offered.items()
    }
    assert {rule.id: rule.fix for rule in rules().values()} == best


@pytest.mark.skipif(os.name == "nt", reason="a POSIX shell")
@pytest.mark.parametrize(
    ("ends", "code"), [(">&-", 1), ("2>&-", 1), ("</dev/null >/dev/null", 1), (">/dev/full", 2)]
)
def test_closed_and_full_streams(ends: str, code: int, tmp_path: Path) -> None:
    if "full" in ends and not Path("/dev/full").exists():
        pytest.skip("no /dev/full")
    (tmp_path / "g.yaml").write_text("initial: z\nstates: {a: {type: terminal}}\n")
    command = f"'{sys.executable}' -m statecli validate '{tmp_path}/g.yaml' {ends}"
    done = subprocess.run(
        ["sh", "-c", command], check=False, capture_output=True, text=True, cwd=REPOSITORY
    )
    assert done.returncode == code
    assert "Traceback" not in done.stdout + done.stderr
    assert "fault of statecli" not in done.stderr
