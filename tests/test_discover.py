"""Which files are graphs: named ones, folders, patterns, links, and what only looks like one."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from run_cli import CASES, Result, run, validate

GRAPH = "initial: a\nstates: {a: {type: terminal}}\n"


def folder(root: Path, *names: str, **texts: str) -> Path:
    """Files of a folder: graphs, or texts by name (`__` for a slash, `_` for a dot)."""
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(GRAPH, encoding="utf-8")
    for name, text in texts.items():
        path = root / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def checked(*args: str | Path) -> list[str]:
    """The graphs that were checked, with `/`."""
    return [graph["path"].replace(os.sep, "/") for graph in validate(*args).data["graphs"]]


def skipped(result: Result) -> dict[str, str]:
    """The skipped files by name, with the reason."""
    found = {}
    for line in result.err.splitlines():
        if line.startswith("skipped "):
            path, _, reason = line.removeprefix("skipped ").partition(": ")
            found[Path(path).name] = reason
    return found


@pytest.fixture(autouse=True)
def _inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_folder_is_searched_in_order(tmp_path: Path) -> None:
    folder(tmp_path, "b.yml", "a.yaml", "sub/z.json", "sub/deep/y.yaml", "c.txt", "d.YAML")
    assert checked(".") == ["a.yaml", "b.yml", "sub/z.json", "sub/deep/y.yaml"]


def test_without_arguments(tmp_path: Path) -> None:
    folder(tmp_path, "a.yaml")
    assert checked() == ["a.yaml"]
    folder(tmp_path, "graphs/b.yaml")
    assert checked() == ["graphs/b.yaml"]


@pytest.mark.parametrize(
    ("text", "is_graph"),
    [
        ("states: {}\n", True),
        ("initial: a\n", True),
        ('{"initial_state_id": "a"}', True),
        ("ask: {type: user, transition: {next: [ask]}}\n", True),
        ("ask: {type: strict, tasks: []}\n", True),
        ("ask: {type: user}\n", False),
        ("ask: {transition: {next: [ask]}}\n", False),
        ("services: {web: {image: nginx}}\n", False),
        ("on: push\njobs: {a: {steps: []}}\n", False),
        ("states: {a: [\n", True),
        ('{"transition": {"next": [}', True),
        ("status: [\n", False),
        ("my-states: [\n", False),
        ("[a, b]\n", False),
        ("", False),
        ('{"StartAt": "a", "States": {}}', False),
        ('{"nodes": [], "edges": []}', False),
        ("initial: a\nstates: {a: {on: {GO: b}}, b: {}}\n", False),
        ("type: parallel\nstates: {a: {states: {b: {on: {GO: b}}}}}\n", False),
        ("initial: a\nstates: {on: {type: user, transition: {next: [on]}}}\n", True),
    ],
)
def test_what_looks_like_a_graph(text: str, is_graph: bool, tmp_path: Path) -> None:
    folder(tmp_path, x_yaml=text)
    assert (validate("--allow-empty", ".").data["summary"]["graphs"] == 1) == is_graph
    named = validate("x.yaml")
    assert (named.data["summary"]["skipped"] == 0) == is_graph
    assert named.code != 2
    assert bool(skipped(named)) != is_graph


def test_utf_16_in_a_folder(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_bytes(("\ufeff" + GRAPH).encode("utf-16-le"))
    assert checked(".") == ["x.yaml"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a: 1\n", "it has neither 'states' nor 'initial'"),
        ("", "there is nothing in it"),
        ("# moved\n", "there are only comments in it"),
        ("[a]\n", "a list, not a graph"),
        ("hello\n", "a single value, not a graph"),
        ("a: [\n", "it cannot be read, and nothing in it looks like a graph"),
        ('{"StartAt": "a", "States": {}}', "this looks like an Amazon States Language machine"),
        ('{"nodes": [], "edges": []}', "a drawing of nodes and edges, as LangGraph writes it"),
        ("states: {a: {on: {GO: b}}}\n", "this looks like an XState chart"),
    ],
)
def test_why_a_file_is_skipped(text: str, reason: str, tmp_path: Path) -> None:
    folder(tmp_path, x_yaml=text)
    assert reason in skipped(validate("x.yaml"))["x.yaml"]


def test_states_with_events_and_our_kinds_are_no_chart(tmp_path: Path) -> None:
    folder(tmp_path, x_yaml="initial: a\nstates: {a: {type: user, on: {GO: a}}}\n")
    assert not skipped(validate("x.yaml"))


@pytest.mark.skipif(not CASES.is_dir(), reason="no case files")
def test_the_config_among_the_cases_is_skipped() -> None:
    result = validate(CASES / "plan-files" / "plan_config__3d002a6.json")
    assert (result.code, result.data["summary"]["skipped"]) == (0, 1)
    assert skipped(result)


def test_strict_input_and_form_take_every_named_file(tmp_path: Path) -> None:
    folder(tmp_path, a_yaml="services: {}\n", b_yaml=GRAPH)
    for options in (("--strict-input",), ("--form", "states")):
        result = validate(*options, "a.yaml", "b.yaml")
        assert result.code == 1
        assert result.diagnostics[0]["rule"] == "missing-states"
        assert result.data["summary"]["graphs"] == 2


# ---------------------------------------------------------------- .gitignore


def test_gitignore_is_honoured(tmp_path: Path) -> None:
    folder(
        tmp_path,
        *("keep.yaml", "build/a.yaml", "x.gen.yaml", "sub/y.gen.yaml", "sub/only.yaml"),
        *("sub/deep/only.yaml", "sub/kept.gen.yaml", ".venv/a.yaml", "node/a.yaml"),
        _gitignore="# generated\nbuild/\n*.gen.yaml\n/node\n\n",
        sub___gitignore="/only.yaml\n!kept.gen.yaml\n",
    )
    assert checked(".") == ["keep.yaml", "sub/kept.gen.yaml", "sub/deep/only.yaml"]
    assert checked("build/a.yaml") == ["build/a.yaml"], "named all the same"
    assert checked("build") == ["build/a.yaml"], "asked for all the same"


def test_a_gitignore_above_counts_up_to_the_top_of_the_repository(tmp_path: Path) -> None:
    folder(tmp_path, "repo/sub/a.yaml", "repo/sub/b.yaml", _gitignore="a.yaml\n")
    folder(tmp_path, repo___gitignore="b.yaml\n")
    assert len(checked("repo/sub")) == 2
    (tmp_path / "repo" / ".git").mkdir()
    assert checked("repo/sub") == ["repo/sub/a.yaml"]


def test_no_pathspec_without_patterns(tmp_path: Path) -> None:
    folder(tmp_path, "a.yaml", _gitignore="# nothing\n\n")
    assert checked(".") == ["a.yaml"]


# ---------------------------------------------------------------- patterns


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*.yaml", ["a.yaml"]),
        ("**/*.yaml", ["a.yaml", "sub/b.yaml", "sub/deep/c.yaml"]),
        ("sub/*.yaml", ["sub/b.yaml"]),
        ("sub/**", ["sub/b.yaml", "sub/d.yml", "sub/deep/c.yaml"]),
        ("sub/?.y*ml", ["sub/b.yaml", "sub/d.yml"]),
        ("sub/[a-c].yaml", ["sub/b.yaml"]),
        ("sub/[!a-c].y*", ["sub/d.yml"]),
        ("s*/**/c.yaml", ["sub/deep/c.yaml"]),
    ],
)
def test_patterns(pattern: str, found: list[str], tmp_path: Path) -> None:
    folder(tmp_path, "a.yaml", "sub/b.yaml", "sub/deep/c.yaml", "sub/d.yml")
    assert checked(pattern) == found
    absolute = [
        path.removeprefix(f"{tmp_path.as_posix()}/") for path in checked(tmp_path / pattern)
    ]
    assert absolute == found


@pytest.mark.parametrize(
    ("pattern", "found"),
    [("[a!].yaml", "!a"), ("[!a].yaml", "!^b"), ("[^a].yaml", "^a"), ("[z-a].yaml", "")],
)
def test_sets_in_brackets(pattern: str, found: str, tmp_path: Path) -> None:
    folder(tmp_path, *(f"{name}.yaml" for name in "ab!^"))
    result = validate(pattern)
    assert (result.code == 2) is (found == "")
    if found:
        assert "".join(graph["path"][0] for graph in result.data["graphs"]) == found


def test_a_file_whose_name_is_a_pattern(tmp_path: Path) -> None:
    folder(tmp_path, "[draft].yaml", "d.yaml")
    assert checked("[draft].yaml") == ["[draft].yaml"]


# ---------------------------------------------------------------- once, links


def test_a_file_is_checked_once(tmp_path: Path) -> None:
    folder(tmp_path, "graphs/a.yaml", "graphs/b.yaml")
    (tmp_path / "link.yaml").symlink_to("graphs/a.yaml")
    assert checked("graphs/b.yaml", "graphs", "./graphs/a.yaml", "link.yaml", "graphs/*.yaml") == [
        "graphs/b.yaml",
        "graphs/a.yaml",
    ]


def test_linked_folders_are_not_entered_but_may_be_named(tmp_path: Path) -> None:
    folder(tmp_path, "real/a.yaml", "here/b.yaml")
    (tmp_path / "here" / "link").symlink_to(tmp_path / "real")
    (tmp_path / "here" / "up").symlink_to(tmp_path)
    assert checked("here") == ["here/b.yaml"]
    assert checked("here/link") == ["here/link/a.yaml"]


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything"
)
def test_a_folder_that_may_not_be_read(tmp_path: Path) -> None:
    folder(tmp_path, "a.yaml", "shut/b.yaml")
    (tmp_path / "shut").chmod(0)
    try:
        result = validate(".")
    finally:
        (tmp_path / "shut").chmod(0o700)
    assert result.code == 2
    assert "shut: permission denied" in result.err
    assert result.data["summary"]["graphs"] == 1


def test_no_path_at_all(tmp_path: Path) -> None:
    result = validate("nobody.yaml")
    assert (result.code, result.out) == (2, "")
    assert "nobody.yaml: no such file" in result.err


def test_a_folder_with_only_graphs_that_were_named_before_is_not_empty(tmp_path: Path) -> None:
    folder(tmp_path, "graphs/a.yaml")
    assert validate("graphs/a.yaml", "graphs").code == 0


def test_standard_input(tmp_path: Path) -> None:
    assert [g["path"] for g in validate("-", stdin=GRAPH).data["graphs"]] == ["<stdin>"]
    named = validate("-", "--stdin-filename", "graphs/x.yaml", stdin="").diagnostics
    assert [item["path"] for item in named] == ["graphs/x.yaml"]
    folder(tmp_path, "a.yaml")
    both = validate("-", "a.yaml", "-", stdin=GRAPH).data["graphs"]
    assert [graph["path"] for graph in both] == ["<stdin>", "a.yaml"]


def test_a_name_that_is_no_text(tmp_path: Path) -> None:
    name = b"caf\xe9.yaml"
    try:
        (tmp_path / os.fsdecode(name)).write_text("initial: z\nstates: {a: {type: terminal}}\n")
    except OSError:
        pytest.skip("this file system knows no such names")
    for form in ("text", "concise", "json", "sarif", "github"):
        result = run("validate", "--format", form, ".")
        assert result.code == 1
        assert json.loads(result.out) if form in {"json", "sarif"} else "caf�.yaml" in result.out


def test_a_misspelt_states_is_still_a_graph(tmp_path: Path) -> None:
    """A file whose only slip is the name of `states` must not pass as one that is no graph."""
    (tmp_path / "plan.yaml").write_text(
        "id: p\nstate:\n  - {id: a, type: loose, tasks: [{id: t, description: d}]}\n"
    )
    result = run("validate", str(tmp_path / "plan.yaml"))
    assert result.code == 1
    assert "did you mean 'states'" in result.out
