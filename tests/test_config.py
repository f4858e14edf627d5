"""The config file: found, read, checked, and weighed against the options."""

from __future__ import annotations

from pathlib import Path

import pytest
from run_cli import Result, validate

from statecli.cli.settings import Settings
from statecli.config import nearest_file

WARNS = "states: {a: {type: user, transition: {next: [gone]}}}\n"


def check(folder: Path, config: str, *args: str, name: str = "statecli.toml") -> Result:
    """Validate one graph below a config."""
    (folder / name).write_text(config, encoding="utf-8")
    graph = folder / "sub" / "g.yaml"
    graph.parent.mkdir(exist_ok=True)
    graph.write_text(WARNS, encoding="utf-8")
    return validate(*args, graph)


def severities(result: Result) -> dict[str, str]:
    return {item["rule"]: item["severity"] for item in result.diagnostics}


DEFAULT = {"undefined-target": "error", "missing-initial": "warning"}


def test_without_config(tmp_path: Path) -> None:
    assert severities(check(tmp_path, "")) | DEFAULT == severities(check(tmp_path, ""))


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ('select = ["undefined-target"]', {"undefined-target": "error"}),
        ('select = ["references"]', DEFAULT),
        (
            'select = ["all"]\nignore = ["style", "termination", "undefined-target"]',
            {"missing-initial": "warning"},
        ),
        (
            'select = ["syntax"]\nextend-select = ["missing-initial"]',
            {"missing-initial": "warning"},
        ),
        (
            'select = ["references"]\nseverity = {missing-initial = "error"}',
            {**DEFAULT, "missing-initial": "error"},
        ),
        (
            'select = ["references"]\n[severity]\nmissing-initial = "off"',
            {"undefined-target": "error"},
        ),
        (
            'select = ["references"]\n[per-file-ignores]\n"sub/*.yaml" = ["missing-initial"]',
            {"undefined-target": "error"},
        ),
        ('select = ["references"]\n[per-file-ignores]\n"*.json" = ["missing-initial"]', DEFAULT),
        ('select = ["references"]\nper-file-ignores."sub/" = ["references"]', {}),
    ],
)
def test_rules(config: str, expected: dict[str, str], tmp_path: Path) -> None:
    assert severities(check(tmp_path, config)) == expected


@pytest.mark.parametrize(
    ("config", "options", "expected"),
    [
        ('ignore = ["undefined-target"]', "--select references", DEFAULT),
        ('ignore = ["references"]', "--select undefined-target", {"undefined-target": "error"}),
        (
            'select = ["style"]',
            "--extend-select undefined-target --ignore style",
            {"undefined-target": "error"},
        ),
        (
            'severity = {undefined-target = "off"}',
            "--select undefined-target",
            {"undefined-target": "error"},
        ),
        (
            'severity = {undefined-target = "info"}',
            "--select undefined-target",
            {"undefined-target": "info"},
        ),
        (
            'severity = {missing-initial = "error"}',
            "--select undefined-target",
            {"undefined-target": "error"},
        ),
        (
            'severity = {undefined-target = "info"}',
            "--select references --severity undefined-target=warning",
            {**DEFAULT, "undefined-target": "warning"},
        ),
        ('select = ["references"]', "--ignore missing-initial", {"undefined-target": "error"}),
        (
            '[per-file-ignores]\n"*" = ["missing-initial"]',
            "--select references",
            {"undefined-target": "error"},
        ),
    ],
)
def test_options_come_after_the_config(
    config: str, options: str, expected: dict[str, str], tmp_path: Path
) -> None:
    assert severities(check(tmp_path, config, *options.split())) == expected


def test_fail_on(tmp_path: Path) -> None:
    config = 'select = ["missing-initial"]\nfail-on = "{}"'
    assert check(tmp_path, config.format("error")).code == 0
    assert check(tmp_path, config.format("warning")).code == 1
    assert check(tmp_path, config.format("warning"), "--fail-on", "error").code == 0
    assert check(tmp_path, config.format("never"), "--strict").code == 1


def test_the_nearest_config_counts(tmp_path: Path) -> None:
    check(tmp_path, 'select = ["undefined-target"]')
    (tmp_path / "sub" / "statecli.toml").write_text('select = ["missing-initial"]')
    graph = tmp_path / "sub" / "g.yaml"
    assert severities(validate(graph)) == {"missing-initial": "warning"}
    other = tmp_path / "other" / "g.yaml"
    other.parent.mkdir()
    other.write_text(WARNS)
    both = {(Path(d["path"]).parent.name, d["rule"]) for d in validate(tmp_path).diagnostics}
    assert both == {("sub", "missing-initial"), ("other", "undefined-target")}


def test_pyproject(tmp_path: Path) -> None:
    config = '[project]\nname = "x"\n[tool.statecli]\nselect = ["missing-initial"]\n'
    result = check(tmp_path, config, name="pyproject.toml")
    assert severities(result) == {"missing-initial": "warning"}
    (tmp_path / "sub" / "pyproject.toml").write_text('[project]\nname = "statecli-user"\n')
    assert severities(validate(tmp_path / "sub" / "g.yaml")) == {"missing-initial": "warning"}
    (tmp_path / "statecli.toml").write_text('select = ["undefined-target"]\n')
    assert severities(validate(tmp_path / "sub" / "g.yaml")) == {"undefined-target": "error"}


@pytest.mark.parametrize(
    "text",
    [
        "[tool.statecli]\n",
        '[ "tool" . statecli ]\n',
        "[tool.statecli.severity]\n",
        "[tool]\nstatecli = {}\n",
        "tool.statecli.select = []\n",
    ],
)
def test_a_table_is_seen_however_it_is_written(text: str, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(text)
    assert nearest_file(str(tmp_path)) == str(tmp_path / "pyproject.toml")


def test_a_pyproject_without_the_table_is_not_parsed(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\ndependencies = ["statecli"]\nbroken = \n')
    assert check(tmp_path, 'select = ["syntax"]').code == 0


@pytest.mark.parametrize(
    ("config", "place", "said", "hint"),
    [
        ("select = [", "", "this is not TOML", ""),
        ("# c\nselect == []", ":2:9", "this is not TOML", ""),
        ('\nselct = ["syntax"]', ":2", "no setting is named 'selct'", "did you mean 'select'?"),
        ('select = "syntax"', ":1", "must be a list of texts", 'write select = ["syntax"]'),
        (
            'ignore = [\n  "style",\n  "dead-end-stat",\n]',
            ":3",
            "no rule or family is named 'dead-end-stat'",
            "did you mean 'dead-end-state'?",
        ),
        (
            "[severity]\nundefined-target = 1",
            ":2",
            "must be one of error, warning, info, off; here it is the number 1",
            "",
        ),
        (
            '[severity]\nvague-name = "off"\nundefined-targt = "off"',
            ":3",
            "no rule is named 'undefined-targt'",
            "did you mean 'undefined-target'?",
        ),
        ('severity = {style = "off"}', ":1", "no rule is named 'style'", ""),
        (
            'fail-on = "warnings"',
            ":1",
            "must be one of error, warning, info, never",
            "did you mean 'warning'?",
        ),
        (
            '[per-file-ignores]\n"a/*" = ["syntax"]\n"b/*" = ["sintax"]',
            ":3",
            "no rule or family is named 'sintax'",
            "did you mean 'syntax'?",
        ),
        ('[forms]\n"a/*" = "plans"', ":2", "must be one of states, plan", "did you mean 'plan'?"),
        ("exclude = {}", ":1", "must be a list of texts, here it is a mapping", ""),
        ("per-file-ignores = []", ":1", "must be a table of file patterns with rules", ""),
    ],
)
def test_a_mistake_is_told_with_its_line(
    config: str, place: str, said: str, hint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = check(tmp_path, config)
    assert (result.code, result.out) == (2, "")
    assert f"statecli.toml{place}: " in result.err
    assert said in result.err
    assert hint in result.err
    if "TOML" not in said:
        table = f"[project]\nname = 'x'\n\n[tool.statecli]\n{config}".replace(
            "\n[", "\n[tool.statecli."
        )
        table = table.replace("[tool.statecli.tool.statecli]", "[tool.statecli]")
        (tmp_path / "statecli.toml").unlink()
        result = check(tmp_path, table, name="pyproject.toml")
        line = int(place[1:]) + 4
        assert f"pyproject.toml:{line}: " in result.err


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    check(tmp_path, "")
    (tmp_path / "statecli.toml").write_bytes(b"# ok\n# caf\xe9\n")
    result = validate(tmp_path / "sub")
    assert result.code == 2
    assert "statecli.toml:2: this is not UTF-8" in result.err


def test_exclude_and_forms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "statecli.toml").write_text(
        'exclude = ["old/", "*.gen.yaml"]\nforms = {"plans/*.yaml" = "plan"}\n'
    )
    for name in ("a.yaml", "old/b.yaml", "c.gen.yaml", "plans/d.yaml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("title: T\nstates: []\n" if "plans" in name else WARNS)
    graphs = {g["path"]: g["form"] for g in validate(".").data["graphs"]}
    assert graphs == {"a.yaml": "states", "plans/d.yaml": "plan"}
    named = validate("old/b.yaml", "c.gen.yaml")
    assert named.code == 0
    assert named.data["summary"]["skipped"] == 2
    assert "excluded in statecli.toml" in named.err


def test_what_rules_are_told(tmp_path: Path) -> None:
    import argparse

    (tmp_path / "statecli.toml").write_text(
        'custom-kinds = ["plan"]\nwaiting-kinds = ["form"]\nplugins = ["p.py"]\n'
        'inputs = ["name"]\nname-case = "camelCase"\nmodel = {name = "m"}\nstore = "s.db"\n'
        '[tools]\ncrm = {url = "https://crm.example"}\n'
    )
    args = argparse.Namespace(
        select=None, ignore=None, extend_select=None, severity=None, config=None, fail_on=None
    )
    config = Settings(args).of(str(tmp_path / "g.yaml"))
    assert config.custom_kinds == ("plan",)
    assert config.waiting_kinds == ("form",)
    assert config.plugins == ("p.py",)
    assert config.inputs == ("name",)
    assert config.tools == {"crm": {"url": "https://crm.example"}}
    assert config.name_case == "camelCase"
    assert config.fail_on == "error"
    assert config.directory == str(tmp_path)


def test_a_custom_kind_of_the_config(tmp_path: Path) -> None:
    text = "initial: a\nstates: {a: {type: plan, transition: {next: [a]}}}\n"
    (tmp_path / "g.yaml").write_text(text)
    assert "unknown-state-type" in validate(tmp_path / "g.yaml").rules()
    (tmp_path / "statecli.toml").write_text('custom-kinds = ["plan"]\n')
    assert "unknown-state-type" not in validate(tmp_path / "g.yaml").rules()


def test_a_config_cannot_move_the_cursor(tmp_path: Path) -> None:
    """A config may come with a stranger's repository."""
    result = check(tmp_path, '"\\u001b]0;mine\\u0007" = 1\n')
    assert result.code == 2
    assert "\x1b" not in result.err
    assert "no setting is named '␛]0;mine␇'" in result.err
