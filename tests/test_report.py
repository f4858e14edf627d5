"""The reports: what people read, and what services take."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import jsonschema
import pytest
from run_cli import FORMATS, REPOSITORY, validate

from statecli.lint.rule import rules
from statecli.model.diagnostic import Diagnostic, Edit, Finding, Fix, Related
from statecli.model.span import Place, Position, Span
from statecli.report.reporter import Finished, Numbers, Report, Style, names, reporter
from statecli.text.document import Document, offsets
from statecli.text.excerpt import harmless, marked
from statecli.text.reading import parse

SCHEMA = json.loads((Path(__file__).parent / "data" / "sarif-2.1.0.json").read_text("utf-8"))
ERRORS = """\
initial: ask
states:
  ask: {type: user, transition: {next: [agnt]}}
  agent: {type: agent, transition: {next: [ask]}}
  agent: {type: agent, transition: {next: [ask, ask]}}
"""


def found(
    document: Document, part: str, severity: str = "error", **more: Any
) -> tuple[Diagnostic, Document]:
    """A finding about a part of the text."""
    start = document.text.index(part)
    at = more.pop("at", offsets(start, start + len(part), ("states", "a")))
    finding = Finding(message=more.pop("message", f"about '{part}'"), at=at, **more)
    rule = more.pop("rule", "undefined-target")
    return Diagnostic(rule, "references", severity, finding, document), document


def shown(name: str, *items: Diagnostic, style: Style | None = None) -> str:
    """The report of a format over some diagnostics."""
    path = items[0].path if items else "g.yaml"
    finished = tuple(Finished(item, item.severity == "error") for item in items)
    whole = Report({path: Numbers()}, (), finished, rules(), "0.1.0")
    return "".join(reporter(name).pieces(whole, style or Style()))


def test_the_listing_is_the_registry() -> None:
    assert set(FORMATS) <= set(names())


# ---------------------------------------------------------------- excerpts


def line_and_marks(line: str, start: int, end: int, width: int = 100) -> tuple[str, str]:
    """The line and the marks below the characters from `start` up to `end` (from 0)."""
    result = marked(line, Span(Position(1, start + 1), Position(1, end + 1)), width)
    return result.text, result.marks


def test_marks_stand_below_what_they_mean() -> None:
    assert line_and_marks("a: [b, c]", 4, 5) == ("a: [b, c]", "    ^")
    assert line_and_marks("a: [b, c]", 3, 9) == ("a: [b, c]", "   ^^^^^^")


@pytest.mark.parametrize(
    ("before", "columns"),
    [("状態", 4), ("é", 1), ("e\u0301", 1), ("🏗️", 2), ("👨‍👩‍👧", 2), ("🇨🇭", 2), ("ｆ", 2)],
)
def test_marks_below_wide_letters(before: str, columns: int) -> None:
    line = f'd: "{before}", x: gone'
    at = line.index("gone")
    text, marks = line_and_marks(line, at, at + 4)
    assert text == line
    assert marks == " " * (at - len(before) + columns) + "^^^^"


def test_marks_below_tabs() -> None:
    assert line_and_marks("a:\tb", 3, 4) == ("a:    b", "      ^")
    assert line_and_marks("\ta: b", 0, 1) == ("→   a: b", "^^^^")


def test_a_long_line_is_cut_around_what_it_means() -> None:
    line = "d: " + "x" * 5000 + " gone " + "y" * 5000
    at = line.index("gone")
    text, marks = line_and_marks(line, at, at + 4, 60)
    assert len(text) < 70
    assert text.startswith("…")
    assert text.endswith("…")
    assert text[marks.index("^") : len(marks)] == "gone"
    text, marks = line_and_marks(line, 3, 5003, 60)
    assert len(text) < 70
    assert len(marks) <= len(text)


def test_nothing_in_a_graph_reaches_the_terminal() -> None:
    assert harmless("a\x1b[31mb\x07\r\n\x7f") == "a␛[31mb␇␍␊␡"
    assert harmless("a\u202eb\u2066\ufeff\x9b\ud800") == "a\\u202eb\\u2066\\ufeff\\u009b\\ud800"
    assert harmless("zażółć 👨‍👩‍👧 状態") == "zażółć 👨‍👩‍👧 状態"
    document = parse("g.yaml", 'a: "\\e[31m x" # \u202e\n')
    item, _ = found(document, "x", message="about '\x1b[31m'", hint="\x1b]0;t\x07")
    for name in ("text", "concise", "github"):
        assert not re.search("[\x00-\x09\x0b-\x1f\u202e]", shown(name, item))


def test_a_span_over_several_lines_shows_the_first() -> None:
    document = parse("g.yaml", "states:\n  a:\n    type: user\n")
    item, _ = found(document, "a:\n    type: user", message="about a")
    text = shown("text", item)
    assert "2 |   a:\n  |   ^^" in text
    assert "type: user" not in text
    assert "endLine=3" in shown("github", item)
    assert "col=" not in shown("github", item)


def test_other_places_are_named() -> None:
    document = parse("g.yaml", "\n" * 97 + "a: 1\nb: 2\nc: 3\n")
    item, _ = found(document, "c", related=(Related("first here", Place(("a",), "key")),))
    assert shown("text", item).splitlines() == [
        "error[undefined-target]: about 'c'",
        "   --> g.yaml:100:1",
        "    |",
        "100 | c: 3",
        "    | ^",
        "    |",
        " 98 | a: 1",
        "    | - first here",
        "",
        "1 error in 1 graph",
    ]


def test_a_file_without_text_has_no_excerpt() -> None:
    document = parse("g.yaml", "")
    finding = Finding(message="nothing here", at=Place(()))
    text = shown("text", Diagnostic("missing-states", "syntax", "error", finding, document))
    assert text.startswith("error[missing-states]: nothing here\n --> g.yaml:1:1\n\n")


# ---------------------------------------------------------------- order, grouping, counting


def test_errors_come_first_in_every_format() -> None:
    document = parse("g.yaml", "a: 1\nb: 2\nc: 3\n")
    items = [found(document, "a", "info")[0], found(document, "b", "warning")[0]]
    items.append(found(document, "c", "error")[0])
    for name in names():
        text = shown(name, *items, style=Style(verbose=True))
        places = [text.index(f"about '{part}'") for part in "cba"]
        assert places == sorted(places), name


def test_mild_ones_are_grouped_and_deciding_ones_are_not() -> None:
    text = "".join(f"k{n:02}: 1\n" for n in range(60))
    document = parse("g.yaml", text)
    mild = [found(document, f"k{n:02}", "warning")[0] for n in range(60)]
    grouped = shown("text", *mild)
    assert grouped.count("warning[undefined-target]: about") == 20
    assert "40 more like these (--all shows them)" in grouped
    assert "line 21, 22, 23" in grouped
    assert shown("text", *mild, style=Style(all=True)).count("about") == 60
    hard = [found(document, f"k{n:02}", "error")[0] for n in range(60)]
    assert shown("text", *hard).count("about") == 60


def test_possible_ones_never_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from statecli.lint.rules import undefined_target

    def check(facts: Any) -> Any:
        yield Finding(message="perhaps", at=Place(("initial",)), verdict="possible")

    rule = rules()["undefined-target"]._replace(check=check)
    monkeypatch.setitem(rules(), "undefined-target", rule)
    assert undefined_target.SEVERITY == "error"
    path = tmp_path / "g.yaml"
    path.write_text("initial: a\nstates: {a: {type: terminal}}\n", encoding="utf-8")
    result = validate("--fail-on", "info", path)
    assert result.code == 0
    assert result.diagnostics[0]["verdict"] == "possible"
    assert "perhaps (possible)" in validate("--format", "text", path).out


# ---------------------------------------------------------------- json

KEYS = [
    "rule", "family", "severity", "verdict", "message", "path", "start", "end", "where", "states",
    "related", "hint", "witness", "fix", "fingerprint",
]  # fmt: skip


def test_json_has_the_keys_of_the_contract_in_their_order(tmp_path: Path) -> None:
    path = tmp_path / "g.yaml"
    path.write_text(ERRORS, encoding="utf-8")
    data = validate(path).data
    assert list(data) == ["version", "statecli", "summary", "graphs", "diagnostics"]
    summary = ["graphs", "skipped", "error", "warning", "info", "fixable"]
    assert list(data["summary"]) == summary
    graph = ["path", "form", "states", "transitions", "reachable", "terminal"]
    assert list(data["graphs"][0]) == [*graph, "verified", "undecided"]
    for item in data["diagnostics"]:
        assert list(item) == KEYS
        assert list(item["start"]) == ["line", "column"]
        for other in item["related"]:
            assert list(other) == ["message", "path", "start", "end"]
        if item["fix"]:
            assert list(item["fix"]) == ["safe", "title", "edits"]
            assert list(item["fix"]["edits"][0]) == ["start", "end", "text"]
    (target,) = [item for item in data["diagnostics"] if item["rule"] == "undefined-target"]
    assert target["where"] == "states.ask.transition.next[0]"


def test_the_edits_of_the_json_report_are_those_that_fix_makes(tmp_path: Path) -> None:
    path = tmp_path / "g.yaml"
    path.write_text(ERRORS, encoding="utf-8")
    (item,) = validate("--select", "undefined-target", path).diagnostics
    lines = ERRORS.split("\n")
    for edit in reversed(item["fix"]["edits"]):
        line = edit["start"]["line"] - 1
        text = lines[line]
        begin, end = edit["start"]["column"] - 1, edit["end"]["column"] - 1
        lines[line] = text[:begin] + edit["text"] + text[end:]
    validate("--select", "undefined-target", "--fix", "--unsafe-fixes", path)
    assert path.read_text("utf-8") == "\n".join(lines)


def test_fingerprints_stay_when_lines_move(tmp_path: Path) -> None:
    path = tmp_path / "g.yaml"
    path.write_text(ERRORS, encoding="utf-8")
    before = [item["fingerprint"] for item in validate(path).diagnostics]
    path.write_text("# one\n\n# two\n" + ERRORS.replace("  agent", "\n  agent"), encoding="utf-8")
    after = [item["fingerprint"] for item in validate(path).diagnostics]
    assert before == after
    assert len(set(before)) == len(before)
    assert all(re.fullmatch("[0-9a-f]{32}", mark) for mark in before)


def test_lone_surrogates_do_not_break_a_report(tmp_path: Path) -> None:
    path = tmp_path / "g.json"
    path.write_text(
        '{"initial": "\\ud800", "states": {"a": {"type": "terminal"}}}', encoding="utf-8"
    )
    for name in FORMATS:
        result = validate("--format", name, path)
        assert result.code == 1
        assert "ud800" in result.out


# ---------------------------------------------------------------- SARIF


def sarif(*args: str | Path) -> dict[str, Any]:
    data = json.loads(validate("--format", "sarif", *args).out)
    jsonschema.Draft4Validator(SCHEMA).validate(data)
    required_by_github(data)
    run: dict[str, Any] = data["runs"][0]
    return run


def required_by_github(data: dict[str, Any]) -> None:
    """The fields that formats.md lists, none of them empty, and the limits."""
    assert data["$schema"]
    assert data["version"] == "2.1.0"
    assert len(data["runs"]) <= 20
    for run in data["runs"]:
        driver = run["tool"]["driver"]
        assert driver["name"]
        assert len(run["results"]) <= 25_000
        for rule in driver["rules"]:
            for key in ("shortDescription", "fullDescription"):
                assert 0 < len(rule[key]["text"]) <= 1024
            assert rule["help"]["text"]
            assert len(rule["id"]) <= 255
            assert len(rule["properties"]["tags"]) <= 20
            assert rule["properties"]["precision"] in {"very-high", "high", "medium", "low"}
            assert "security-severity" not in rule["properties"]
        for result in run["results"]:
            assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
            assert result["level"] in {"error", "warning", "note"}
            assert result["message"]["text"]
            assert re.fullmatch(
                "[0-9a-f]{16}:1", result["partialFingerprints"]["primaryLocationLineHash"]
            )
            for place in (*result["locations"], *result.get("relatedLocations", ())):
                physical = place["physicalLocation"]
                assert physical["artifactLocation"]["uri"]
                region = physical["region"]
                start = (region["startLine"], region["startColumn"])
                assert (1, 1) <= start <= (region["endLine"], region["endColumn"])
            for link in re.findall(r"(?<!\\)\[[^\]]*\]\((\d+)\)", result["message"]["text"]):
                assert int(link) in [place["id"] for place in result["relatedLocations"]]


def test_sarif(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    folder = tmp_path / "my graphs"
    folder.mkdir()
    (folder / "größe#1.yaml").write_text(ERRORS, encoding="utf-8")
    (folder / "warn.yaml").write_text("states: {a: {type: terminal}}\n", encoding="utf-8")
    run = sarif(tmp_path)
    assert run["columnKind"] == "unicodeCodePoints"
    assert run["automationDetails"]["id"] == "statecli/"
    uris = {
        result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        for result in run["results"]
    }
    assert {unquote(uri) for uri in uris} == {"my graphs/größe#1.yaml", "my graphs/warn.yaml"}
    assert all(re.fullmatch("[A-Za-z0-9%/._-]+", uri) for uri in uris), "relative, escaped"
    monkeypatch.chdir(folder)
    again = sarif(".")
    assert again["results"] == run["results"], "the top of the repository counts, not the folder"


def test_sarif_of_a_clean_run_closes_the_alerts(tmp_path: Path) -> None:
    path = tmp_path / "g.yaml"
    path.write_text("initial: a\nstates: {a: {type: terminal}}\n", encoding="utf-8")
    assert sarif(path)["results"] == []


def test_sarif_of_every_bad_example_of_the_rules(tmp_path: Path) -> None:
    from test_rules import examples

    for rule in rules():
        for number, text in enumerate(examples(rule, "Bad")):
            suffix = "json" if text.startswith('{"') else "yaml"
            path = tmp_path / "graphs" / f"{rule}-{number}.{suffix}"
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
    run = sarif("--verify", "--extend-select", "all", tmp_path)
    missing = set(rules()) - {result["ruleId"] for result in run["results"]}
    assert missing == set()


def test_sarif_brackets_make_no_links() -> None:
    document = parse("g.yaml", "a: 1\nb: 2\n")
    other = Related("see [x](2)", Place(("a",), "key"))
    item, _ = found(document, "b", message="write [a](1)", related=(other,))
    (result,) = json.loads(shown("sarif", item))["runs"][0]["results"]
    text = result["message"]["text"]
    assert text == r"write \[a\](1) (see [see \[x\](2)](1))"


def test_sarif_has_the_safe_fixes() -> None:
    document = parse("g.yaml", "next: a\n")
    cure = Fix("t", (Edit(Place(("next",)), "[a]"),), safe=True)
    item, _ = found(document, "a", at=Place(("next",)), fix=cure)
    data = json.loads(shown("sarif", item))
    jsonschema.Draft4Validator(SCHEMA).validate(data)
    (fix,) = data["runs"][0]["results"][0]["fixes"]
    (change,) = fix["artifactChanges"][0]["replacements"]
    assert change["deletedRegion"]["startColumn"] == 7
    assert change["insertedContent"]["text"] == "[a]"


# ---------------------------------------------------------------- GitHub


def test_github_lines_are_escaped() -> None:
    document = parse("dir/a,b:c.yaml", "a: 1\n")
    item, _ = found(document, "a", message="100% of\r\n'a', b: c")
    line = shown("github", item)
    assert line == (
        "::error file=dir/a%2Cb%3Ac.yaml,line=1,col=1,endLine=1,endColumn=2,"
        "title=statecli (undefined-target)::"
        "dir/a,b:c.yaml:1:1: undefined-target 100%25 of␍␊'a', b: c\n"
    )


def test_github_says_what_it_will_not_show() -> None:
    document = parse("g.yaml", "".join(f"k{n:02}: 1\n" for n in range(60)))
    items = [found(document, f"k{n:02}", "error")[0] for n in range(15)]
    items += [found(document, f"k{n:02}", "info")[0] for n in range(15, 30)]
    lines = shown("github", *items).splitlines()
    assert len(lines) == 31
    assert lines[15] == "::notice::10 more findings are in the log"


@pytest.mark.skipif(sys.platform == "win32", reason="no sed")
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_lines_are_those_of_sed(newline: str, tmp_path: Path) -> None:
    path = tmp_path / "g.yaml"
    text = "# é🏗️\u2028 x\n" + ERRORS
    path.write_bytes(text.replace("\n", newline).encode())
    out = validate("--format", "github", path).out
    checked = 0
    for line in out.splitlines():
        match = re.search(r"line=(\d+),col=(\d+),endLine=\d+,endColumn=(\d+)", line)
        assert match
        number, first, last = map(int, match.groups())
        sed = ["sed", "-n", f"{number}p", str(path)]
        said = subprocess.run(sed, capture_output=True, check=True).stdout.decode()
        part = said[first - 1 : last - 1]
        assert part in {"agnt", "agent", "ask", "initial"}, (line, said)
        checked += 1
    assert checked >= 3


# ---------------------------------------------------------------- secrets

SECRET = "sk-proj-Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4z"
LEAKY = f"""\
initial: a
model: {{api_key: {SECRET}, nmae: m}}
states:
  a: {{type: user, prompt: "{SECRET}", transition: {{next: [a, gone]}}}}
"""


@pytest.mark.parametrize("name", names())
def test_a_secret_is_in_no_report(name: str, tmp_path: Path) -> None:
    path = tmp_path / "g.yaml"
    path.write_text(LEAKY, encoding="utf-8")
    for options in ((), ("-v", "--all"), ("--extend-select", "all")):
        result = validate("--format", name, *options, path)
        assert result.code == 1
        assert "inline-secret" in result.out
        assert SECRET not in result.out + result.err
        assert SECRET[8:] not in result.out + result.err


def test_a_secret_is_in_no_patch(tmp_path: Path) -> None:
    path = tmp_path / "g.yaml"
    path.write_text(LEAKY.replace("initial: a\n", ""), encoding="utf-8")
    result = validate("--format", "text", "--diff", "--unsafe-fixes", path)
    assert result.code == 1
    assert "+initial: a" in result.out
    assert SECRET not in result.out
    validate("--fix", path)
    assert path.read_text("utf-8") == LEAKY, "the file keeps it"


# ---------------------------------------------------------------- what a clean run loads

HEAVY = {
    "openai", "mcp", "prompt_toolkit", "rich", "pydantic", "graphviz", "typer", "click", "asyncio",
    "ruamel", "tomllib", "difflib", "pathspec", "wcwidth", "shutil", "tempfile", "urllib.parse",
    "hashlib", "subprocess", "threading", "socket", "inspect", "tokenize", "dataclasses", "copy",
}  # fmt: skip


@pytest.mark.parametrize("text", ["initial: a\nstates: {a: {type: terminal}}\n", None])
def test_a_clean_run_loads_nothing_heavy(text: str | None, tmp_path: Path) -> None:
    path = tmp_path / ("g.yaml" if text else "g.json")
    clean = text or '{"initial": "a", "states": {"a": {"type": "terminal"}}}'
    path.write_text(clean, encoding="utf-8")
    program = (
        "import sys; from statecli.cli.app import main; code = main(sys.argv[1:]);"
        "print(code, *sorted(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "validate", str(path)],
        capture_output=True,
        check=True,
        text=True,
        cwd=REPOSITORY,
    )
    code, *loaded = done.stderr.split()
    assert code == "0"
    assert HEAVY & set(loaded) == set()
    if text is None:
        assert "yaml" not in loaded


def test_the_version_loads_next_to_nothing() -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "statecli", "--version"],
        capture_output=True,
        check=True,
        text=True,
        cwd=REPOSITORY,
    )
    assert done.stdout.startswith("statecli ")
    loaded = {line.rsplit("|", 1)[-1].strip() for line in done.stderr.splitlines()}
    assert {"argparse", "typing", "yaml", "dataclasses"} & loaded == set()
