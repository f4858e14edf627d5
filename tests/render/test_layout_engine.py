"""Which layout engine is used, and what is said where there is none."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from pictures import GRAPHS, engine
from run_cli import run as run_cli

from statecli.model.unable import Unable
from statecli.render.engine import Engine, find, run

GRAPH = str(GRAPHS[0])


@pytest.fixture
def nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without any engine."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))


@pytest.mark.usefixtures("nothing")
@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("-o", "a.svg"), "pip install graphviz-pure"),
        (("-o", "a.png"), "pip install graphviz-pure"),
        (("-o", "a.pdf"), "apt install graphviz"),
        (("-o", "a.svg", "--renderer", "bundled"), "pip install graphviz-pure"),
        (("-o", "a.svg", "--renderer", "system"), "apt install graphviz"),
    ],
)
def test_without_an_engine_it_says_what_to_install(
    words: tuple[str, ...], told: str, tmp_path: Path
) -> None:
    done = run_cli("render", GRAPH, words[0], str(tmp_path / words[1]), *words[2:])
    assert done.code == 2
    assert told in done.err
    assert not (tmp_path / words[1]).exists()


@pytest.mark.usefixtures("nothing")
@pytest.mark.parametrize("to", ["dot", "mermaid", "text", "json"])
def test_some_formats_need_none(to: str) -> None:
    assert run_cli("render", GRAPH, "--to", to).code == 0


def test_the_bundled_one_comes_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("dot", "graphviz-pure"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    assert find() == Engine(str(tmp_path / "graphviz-pure"), bundled=True)
    assert find("system") == Engine(str(tmp_path / "dot"), bundled=False)
    assert find(pdf=True) == Engine(str(tmp_path / "dot"), bundled=False)
    assert find(dot=str(tmp_path / "dot")).command.endswith("dot")


def test_an_engine_that_fails_is_quoted(tmp_path: Path) -> None:
    broken = tmp_path / "dot"
    broken.write_text("#!/bin/sh\necho 'some\nlast words' >&2\nexit 3\n")
    broken.chmod(0o755)
    with pytest.raises(Unable, match="failed: last words"):
        run(Engine(str(broken), bundled=False), "digraph {}", "svg")


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed here")
def test_the_system_engine_draws_too(tmp_path: Path) -> None:
    for suffix in ("pdf", "svg", "png"):
        file = tmp_path / f"a.{suffix}"
        done = run_cli("render", GRAPH, "-o", str(file), "--renderer", "system")
        assert (done.code, done.err) == (0, "")
        assert file.read_bytes()[:4] in (b"%PDF", b"<svg", b"\x89PNG")


def test_png_of_the_bundled_engine(tmp_path: Path) -> None:
    engine()
    file = tmp_path / "a.png"
    assert run_cli("render", GRAPH, "-o", str(file)).code == 0
    assert file.read_bytes()[:4] == b"\x89PNG"
