"""The exit codes of the contract, the same in every format."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from run_cli import FORMATS, REPOSITORY, command, validate

CLEAN = "{initial: a, states: {a: {type: terminal}}}\n"
INFOS = "{initial: a, states: {a: {type: user, transition: {next: a}}}}\n"
WARNINGS = "{states: {a: {type: terminal}}}\n"
ERRORS = "{initial: z, states: {a: {type: terminal}}}\n"
BROKEN = "{initial: a, states: {a: [\n"

Arguments = Callable[[Path], list[str]]


def written(*options: str, **texts: str) -> Arguments:
    """Arguments that name files with these texts."""

    def prepare(folder: Path) -> list[str]:
        for name, text in texts.items():
            (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
        return [*options, *(str(folder / f"{name}.yaml") for name in texts)]

    return prepare


def missing(folder: Path) -> list[str]:
    return [str(folder / "nobody.yaml")]


def missing_beside_good(folder: Path) -> list[str]:
    return [*written(good=CLEAN)(folder), str(folder / "nobody.yaml")]


def empty_folder(folder: Path) -> list[str]:
    (folder / "empty").mkdir()
    return [str(folder / "empty")]


def empty_folder_allowed(folder: Path) -> list[str]:
    return ["--allow-empty", *empty_folder(folder)]


def glob_without_match(folder: Path) -> list[str]:
    return [str(folder / "*.yaml")]


def folder_with_an_error(folder: Path) -> list[str]:
    written(good=CLEAN, bad=ERRORS)(folder)
    return [str(folder)]


def with_config(text: str) -> Arguments:
    """A clean graph beside this config."""

    def prepare(folder: Path) -> list[str]:
        (folder / "statecli.toml").write_text(text, encoding="utf-8")
        return written(good=CLEAN)(folder)

    return prepare


def config_that_is_missing(folder: Path) -> list[str]:
    return ["--config", str(folder / "nobody.toml"), *written(good=CLEAN)(folder)]


CODES: dict[str, tuple[int, Arguments]] = {
    "clean": (0, written(g=CLEAN)),
    "infos only": (0, written(g=INFOS)),
    "infos, strict": (0, written("--strict", g=INFOS)),
    "infos, fail on info": (1, written("--fail-on", "info", g=INFOS)),
    "warnings only": (0, written(g=WARNINGS)),
    "warnings, strict": (1, written("--strict", g=WARNINGS)),
    "warnings, fail on warning": (1, written("--fail-on", "warning", g=WARNINGS)),
    "warnings made errors": (1, written("--severity", "missing-initial=error", g=WARNINGS)),
    "errors": (1, written(g=ERRORS)),
    "errors, exit zero": (0, written("--exit-zero", g=ERRORS)),
    "errors, fail on never": (0, written("--fail-on", "never", g=ERRORS)),
    "errors, rule off": (0, written("--severity", "undefined-initial=off", g=ERRORS)),
    "errors, rule ignored": (0, written("--ignore", "undefined-initial", g=ERRORS)),
    "errors, other rule selected": (0, written("--select", "dead-end-state", g=ERRORS)),
    "broken": (1, written(g=BROKEN)),
    "broken beside good": (1, written(a=CLEAN, b=BROKEN, c=CLEAN)),
    "error beside good": (1, written(a=CLEAN, b=ERRORS)),
    "folder with an error": (1, folder_with_an_error),
    "missing": (2, missing),
    "missing beside good": (2, missing_beside_good),
    "empty folder": (2, empty_folder),
    "empty folder allowed": (0, empty_folder_allowed),
    "glob without match": (2, glob_without_match),
    "config: not toml": (2, with_config("fail-on = \n")),
    "config: no such value": (2, with_config('fail-on = "sometimes"\n')),
    "config: wrong type": (2, with_config("select = 3\n")),
    "config: no such key": (2, with_config('selct = ["syntax"]\n')),
    "config: no such rule": (2, with_config('ignore = ["dead-end-stat"]\n')),
    "config: strict": (0, with_config('fail-on = "warning"\n')),
    "config: missing": (2, config_that_is_missing),
    "no such rule": (2, written("--select", "dead-end-stat", g=CLEAN)),
    "no such severity": (2, written("--severity", "missing-initial=loud", g=CLEAN)),
    "no such option": (2, written("--frmat", g=CLEAN)),
}


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("case", CODES)
def test_exit_code(case: str, form: str, tmp_path: Path) -> None:
    code, prepare = CODES[case]
    result = validate("--format", form, *prepare(tmp_path))
    assert result.code == code, result.out + result.err
    if code == 2:
        assert result.err.strip(), "the reason goes to stderr"
    if form in {"json", "sarif"} and result.out:
        json.loads(result.out)


def test_no_such_format(tmp_path: Path) -> None:
    assert validate("--format", "nope", *written(g=CLEAN)(tmp_path)).code == 2


@pytest.mark.parametrize("case", ["no such rule", "config: no such rule"])
def test_the_nearest_rule_is_named(case: str, tmp_path: Path) -> None:
    result = validate("--format", "text", *CODES[case][1](tmp_path))
    assert "dead-end-state" in result.err


@pytest.mark.parametrize("form", FORMATS)
def test_what_decides_the_exit_code_is_printed(form: str, tmp_path: Path) -> None:
    result = validate("--format", form, "--strict", *written(a=WARNINGS, b=ERRORS)(tmp_path))
    assert result.code == 1
    assert "missing-initial" in result.out
    assert result.out.index("undefined-initial") < result.out.index("missing-initial") or (
        form == "sarif"
    )


def many_errors(folder: Path) -> Path:
    """A graph whose report is longer than a pipe holds."""
    states = "\n".join(
        f"  s{n}: {{type: agent, transition: {{next: [x{n}]}}}}" for n in range(3000)
    )
    path = folder / "many.yaml"
    path.write_text(f"initial: s0\nstates:\n{states}\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("form", FORMATS)
def test_a_closed_pipe(form: str, tmp_path: Path) -> None:
    """`statecli validate ... | head -1`"""
    words = ["validate", "--no-verify", "--all", "--format", form, str(many_errors(tmp_path))]
    with subprocess.Popen(
        [sys.executable, "-m", "statecli", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=REPOSITORY,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.read(1)
        process.stdout.close()
        complaints = process.stderr.read().decode()
        code = process.wait(timeout=60)
    assert "Traceback" not in complaints
    assert "BrokenPipe" not in complaints
    assert code == 1


UNICODE = """\
initial: 状態
states:
  状態:
    type: user
    description: café 🏗️ 状態
    transition: {next: [🏗️build, なし]}
  🏗️build: {type: terminal, description: fertig 🎉}
"""


@pytest.mark.parametrize("form", FORMATS)
def test_an_old_locale(form: str, tmp_path: Path) -> None:
    path = tmp_path / "graph.yaml"
    path.write_text(UNICODE, encoding="utf-8")
    env = {"PYTHONUTF8": "0", "PYTHONIOENCODING": "cp1252", "LANG": "C", "LC_ALL": ""}
    done = command("validate", "--no-verify", "--format", form, path, env=env)
    out = done.stdout.decode("utf-8")
    assert done.returncode == 1, done.stderr
    assert done.stderr.decode("utf-8").count("Traceback") == 0
    if form in {"json", "sarif"}:
        out = json.dumps(json.loads(out), ensure_ascii=False)
    assert "undefined-target" in out
    assert "'なし'" in out
    if form == "text":
        assert "🏗️build" in out, "the excerpt shows the line as it is"


@pytest.mark.parametrize("form", FORMATS)
def test_a_name_of_a_file_in_an_old_locale(form: str, tmp_path: Path) -> None:
    path = tmp_path / "café 状態.yaml"
    path.write_text(UNICODE, encoding="utf-8")
    env = {"PYTHONUTF8": "0", "PYTHONIOENCODING": "cp1252", "LANG": "C", "LC_ALL": "C"}
    done = command("validate", "--no-verify", "--format", form, path, env=env)
    assert done.returncode == 1, done.stderr
    assert b"Traceback" not in done.stderr
    assert b"undefined-target" in done.stdout


def test_as_its_own_process(tmp_path: Path) -> None:
    (tmp_path / "g.yaml").write_text(ERRORS, encoding="utf-8")
    done = command("validate", "--no-verify", "--format", "json", tmp_path / "g.yaml")
    inside = validate(tmp_path / "g.yaml")
    assert (done.returncode, json.loads(done.stdout)) == (inside.code, inside.data)


def test_stdin_as_its_own_process() -> None:
    args = ("validate", "--no-verify", "--format", "concise", "-", "--stdin-filename", "my.yaml")
    done = command(*args, stdin=UNICODE.encode())
    assert done.returncode == 1
    assert "my.yaml:6:" in done.stdout.decode("utf-8")


def test_results_do_not_depend_on_how_files_are_split(tmp_path: Path) -> None:
    paths = written(a=ERRORS, b=WARNINGS, c=BROKEN)(tmp_path)
    together = validate(*paths).diagnostics
    apart = [d for p in paths for d in validate(p).diagnostics]
    folder = validate(tmp_path).diagnostics

    def key(found: list[dict[str, object]]) -> list[str]:
        return sorted(json.dumps(d, sort_keys=True) for d in found)

    assert key(together) == key(apart) == key(folder)
