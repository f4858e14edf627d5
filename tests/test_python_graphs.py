"""Graphs built in Python, linted: each rule where it applies, in the person's own file."""

from __future__ import annotations

import dataclasses
import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from pydantic import BaseModel

from statecli import GraphBuilder, expr, load, when
from statecli.cli.targets import _graph
from statecli.lint.rule import rules
from statecli.model.diagnostic import Diagnostics

FOLDER = Path(__file__).parent / "python_graphs"
_EXPECT = re.compile(r'# expect: ([\w-]+) "([^"]*)"')
#: Rules that find nothing in a graph built in Python, and why. (Those about our own syntax and
#: style are not run at all.)
NEVER = {
    "undefined-initial": "build() refuses a state that is not there",
    "undefined-target": "build() refuses it",
    "missing-initial": "without with_initial the first state is the first, as documented",
    "on-invalid-not-a-target": "no builder has on_invalid",
    "dead-end-state": "a state without transitions ends the run",
    "endless-chat": "no function waits for a line; runaway-loop is about their loops",
    "terminal-with-transition": "no function is terminal and has transitions",
    "goal-condition-outside-goal": "when(...) refuses it",
    "guard-syntax": "expr(...) refuses it",
    "decision-single-target": "about states of the kind decision",
    "mixed-priority": "transitions have no priority in Python",
    "priority-tie-overlap": "transitions have no priority in Python",
    "messages-field-missing": "about kinds that talk by themselves",
    "unknown-template-variable": "functions have no templates",
    "tool-state-without-tools": "about states of the kind tool",
    "undefined-tool": "functions name no tools",
    "inline-secret": "the code of functions is not read",
    "missing-states": "a target without states is told as such",
    "parse-error": "Python reads its own files",
    "enum-without-values": "about the text of a declaration",
}
#: Rules about plan states, which no builder makes.
PLANS = {
    "implicit-fallthrough", "rescued-by-safety-net", "unbounded-hops", "turn-guard-preempts",
    "turn-guard-shadowed", "pass-through-state",
}  # fmt: skip
#: They fire in Python graphs too; their tests are among those below.
ELSEWHERE = {
    "field-written-later", "read-before-write", "field-maybe-missing", "numeric-overlap",
    "superfluous-composite", "open-model-loop",
    "target-description-missing", "duplicate-description",
}  # fmt: skip


def module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = found
    spec.loader.exec_module(found)
    return found


def linted(thing: Any, **more: Any) -> list[Any]:
    graph, given = _graph("it", thing)
    found = graph.lint(strict=True, config=False, inputs=given, **more)
    assert isinstance(found, Diagnostics)
    return found


def marks(path: Path) -> Iterator[tuple[int, str, str]]:
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        for match in _EXPECT.finditer(line):
            yield number, match.group(1), match.group(2)


MISTAKES = module(FOLDER / "mistakes.py")
GRAPHS = [name for name, value in vars(MISTAKES).items() if hasattr(value, "build")]


@pytest.fixture(scope="module")
def found() -> dict[str, list[Any]]:
    return {
        name: linted(vars(MISTAKES)[name])
        for name in GRAPHS
        if not isinstance(vars(MISTAKES)[name], type)
    }


def test_every_mistake_is_told_at_its_line_and_nothing_else(found: dict[str, list[Any]]) -> None:
    told = {(d.span.start.line, d.rule, d.message) for ds in found.values() for d in ds}
    expected = list(marks(FOLDER / "mistakes.py"))
    for line, rule, part in expected:
        assert any(at == line and r == rule and part in said for at, r, said in told), (
            line, rule, part, sorted(told),
        )  # fmt: skip
    places = {(line, rule) for line, rule, _ in expected}
    assert [item for item in sorted(told) if item[:2] not in places] == []


def test_every_rule_has_a_graph_or_a_reason(found: dict[str, list[Any]]) -> None:
    seen = {item.rule for items in found.values() for item in items}
    for rule in rules().values():
        if rule.own_form or rule.family == "tasks":
            assert rule.id not in seen
            continue
        places = [rule.id in seen, rule.id in NEVER, rule.id in PLANS, rule.id in ELSEWHERE]
        assert sum(places) == 1, (rule.id, places)


def test_each_diagnostic_is_in_the_file_of_the_graph(found: dict[str, list[Any]]) -> None:
    for items in found.values():
        for item in items:
            assert Path(item.path).name == "mistakes.py"
            assert item.finding.fix is None
            text = (FOLDER / "mistakes.py").read_text("utf-8").splitlines()
            start = item.span.start
            assert text[start.line - 1][start.column - 1 :].strip()


# --- what must be silent --------------------------------------------------------------------------


class Kind(Enum):
    SMALL = "small"
    LARGE = "large"


class Parcel(BaseModel):
    kind: Kind = Kind.SMALL
    weight: float = 0
    tags: set[str] = set()
    place: tuple[int, int] = (0, 0)
    note: str | None = None


@dataclasses.dataclass
class Ticket:
    urgent: bool = False
    lines: list[str] = dataclasses.field(default_factory=list)


def step(data: Any) -> dict[str, Any]:
    return {}


class Answers:
    """Agentex: the body says where it goes."""

    def execute(self, machine: Any, data: Any) -> str:
        return "b"


def silent() -> Iterator[tuple[str, Any]]:
    """Graphs that work, or may work: nobody knows what a function writes."""
    build = GraphBuilder
    yield (
        "a chat that is halted",
        build().with_states(a=step, b=step).with_transitions(("a", "b"), ("b", "a")),
    )
    yield (
        "a body that sees to it",
        build()
        .with_states(a=step, b=step, c=step)
        .with_transitions(("a", "b", when(mode="b")), ("a", "c", when(mode="c"))),
    )
    yield (
        "one guard alone",
        build().with_states(a=step, b=step).with_transitions(("a", "b", when(ready=True))),
    )
    yield (
        "counting",
        build()
        .with_states(a=step, b=step)
        .with_transitions(("a", "a", expr("n < 10")), ("a", "b")),
    )
    yield (
        "set by who runs it",
        build()
        .with_states(a=step, b=step, c=step)
        .with_transitions(("a", "b", when(given__exists=True)), ("a", "c")),
    )
    yield (
        "defaults of Python",
        build()
        .with_schema(Parcel)
        .with_states(a=step, b=step, c=step)
        .with_transitions(("a", "b", when(kind="small")), ("a", "c", when(kind="large"))),
    )
    yield (
        "a dataclass",
        build()
        .with_schema(Ticket)
        .with_states(a=step, b=step)
        .with_transitions(("a", "b", when(urgent=True)), ("a", "b", when(urgent=False))),
    )
    yield (
        "an end in the middle",
        build()
        .with_states(a=step, b=step, c=step)
        .with_transitions(("a", "b", when(x=1)), ("a", "c")),
    )
    yield "objects that answer", build().with_states(a=Answers(), b=Answers(), c=Answers())
    yield (
        "objects with ways",
        build()
        .with_states(a=Answers(), b=Answers(), c=Answers())
        .with_transitions(("a", "b"), ("a", "c"), ("b", "a")),
    )
    yield (
        "a join",
        build()
        .with_states(s=step, x=step, y=step, j=step)
        .with_transitions(("s", "x"), ("s", "y"), (["x", "y"], "j"))
        .with_fanout("s")
        .with_join("j"),
    )
    yield (
        "a join with its own function",
        build()
        .with_states(s=step, x=written("k"), y=written("k"), j=step)
        .with_transitions(("s", "x"), ("s", "y"), (["x", "y"], "j"))
        .with_fanout("s")
        .with_join("j", strategy=lambda branches: branches[0]),
    )
    yield (
        "composed",
        build()
        .with_states(a=step, b=step, c=step)
        .with_transitions(("a", "b", ~when(x=1) & (when(y=2) | expr("z > 1"))), ("a", "c")),
    )
    yield (
        "values of Python",
        build()
        .with_states(a=step, b=step, c=step)
        .with_transitions(("a", "b", when(x=Kind.SMALL)), ("a", "c")),
    )


def written(*names: str) -> Any:
    def body(data: Any) -> dict[str, Any]:
        return {}

    body.__dict__["writes"] = list(names)
    return body


@pytest.mark.parametrize(("name", "builder"), list(silent()), ids=[n for n, _ in silent()])
def test_no_false_alarm(name: str, builder: Any) -> None:
    for verify in (True, False):
        assert builder.build().lint(strict=True, config=False, verify=verify) == [], name


# --- what runs know -------------------------------------------------------------------------------


def test_with_inputs_it_is_known_what_a_run_begins_with() -> None:
    """Without them anything may be given; then reading what nobody wrote is a mistake."""

    def reads(data: Any) -> dict[str, Any]:
        return {}

    reads.__dict__.update(reads=["size"], writes=[])
    graph = (
        GraphBuilder()
        .with_states(a=written(), reads=reads, late=written("size"), end=written())
        .with_transitions(("a", "reads"), ("reads", "late"), ("late", "end"))
        .build()
    )
    assert graph.lint(strict=True) == []
    assert [d.rule for d in graph.lint(inputs=["other"])] == ["field-written-later"]
    assert graph.lint(inputs=["size"], strict=True) == []


def test_a_field_that_only_some_ways_set() -> None:
    graph = (
        GraphBuilder()
        .with_states(a=written(), b=written("x"), c=written(), end=step, other=step)
        .with_transitions(
            ("a", "b", when(go=True)), ("a", "c"), ("b", "c"), ("c", "end", when(x=1)),
            ("c", "other"),
        )
        .build()
    )  # fmt: skip
    found = graph.lint(strict=True, inputs=["go"])
    assert [d.rule for d in found] == ["read-before-write"]
    assert "field-maybe-missing" in {
        d.rule for d in graph.lint(inputs=["go"], extend_select=["field-maybe-missing"]).milder
    }


def test_where_a_model_chooses_it_has_to_be_told_what() -> None:
    build = GraphBuilder().with_states(a=step, b=step, c=step)
    graph = build.with_transitions(("a", "b"), ("a", "c")).build()
    assert {d.rule for d in graph.lint(strict=True)} == {"target-description-missing"}


# --- graph.lint() ---------------------------------------------------------------------------------


def bad() -> Any:
    build = GraphBuilder().with_states(a=step, b=step, lonely=step)
    return build.with_transitions(("a", "b"), ("a", "b", when(x=1)), ("a", "a")).build()


def test_select_ignore_and_severity() -> None:
    graph = bad()
    assert [d.rule for d in graph.lint()] == ["unreachable-state"]
    assert graph.lint(ignore=["unreachable-state"]) == []
    assert [d.rule for d in graph.lint(select=["reachability"])] == ["unreachable-state"]
    assert graph.lint(severity={"unreachable-state": "info"}) == []
    assert graph.lint(severity={"unreachable-state": "off"}).milder != [None]
    with pytest.raises(ValueError, match="did you mean 'unreachable-state'"):
        graph.lint(ignore=["unreachable-stat"])
    with pytest.raises(ValueError, match="'fatal' is none of"):
        graph.lint(severity={"unreachable-state": "fatal"})


def test_a_failed_assertion_shows_the_diagnostics(tmp_path: Path) -> None:
    text = """from statecli import GraphBuilder

def a(data): ...
def lonely(data): ...

graph = GraphBuilder().with_states(a, lonely).build()

def test_graph():
    assert not graph.lint()
"""
    (tmp_path / "test_mine.py").write_text(text)
    told = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", "-q"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(FOLDER.parent.parent)},
    )  # fmt: skip
    assert "error[unreachable-state]: no path from 'a' leads to 'lonely'" in told.stdout
    assert "test_mine.py:4:5" in told.stdout


def test_the_config_beside_the_code_counts(tmp_path: Path) -> None:
    source = "from statecli import GraphBuilder\nclass S:\n    def __call__(self, d): ...\n"
    source += "g = GraphBuilder().with_states(a=S(), lonely=S()).build()\n"
    (tmp_path / "flow_with_config.py").write_text(source)
    (tmp_path / "statecli.toml").write_text('ignore = ["unreachable-state"]\n')
    graph = module(tmp_path / "flow_with_config.py").g
    assert graph.lint() == []
    assert [d.rule for d in graph.lint(config=False)] == ["unreachable-state"]


def test_a_file_is_linted_with_its_own_places(tmp_path: Path) -> None:
    path = tmp_path / "g.yaml"
    path.write_text("initial: a\nstates:\n  a: {type: terminal}\n  b: {type: terminal}\n")
    graph = load(str(path)).graph
    assert graph is not None
    found = graph.lint()
    assert [(d.rule, d.span.start.line) for d in found] == [("unreachable-state", 4)]
    assert found[0].finding.fix is not None
    assert graph.with_limits(max_steps=3).lint() == found


def test_a_suppression_in_the_code(tmp_path: Path) -> None:
    source = """
from statecli import GraphBuilder, when
import functools

def plain(f):
    return f

# statecli: ignore[unreachable-state] a signal leads here
@plain
def lonely(data): ...

def other(data): ...  # statecli: ignore[unreachable-state]

def third(data): "# statecli: ignore[unreachable-state]"

def a(data): ...
def b(data): ...

graph = GraphBuilder().with_states(a, b, lonely, other, third).with_transitions(
    ("a", "b"),
    (
        "a",
        "b",
        when(x=1),
    ),  # statecli: ignore[default-not-last]
).build()
"""
    (tmp_path / "flow_with_comments.py").write_text(source)
    graph = module(tmp_path / "flow_with_comments.py").graph
    found = graph.lint(strict=True, config=False)
    assert [d.finding.states for d in found] == [("third",)]
    assert [d.rule for d in found.milder] == []


def test_a_graph_whose_code_has_no_file() -> None:
    space: dict[str, Any] = {}
    code = "from statecli import GraphBuilder\ndef a(d): ...\ndef b(d): ...\n"
    code += "g = GraphBuilder().with_states(a, b).build()\n"
    run = getattr(importlib.import_module("builtins"), "exec")  # noqa: B009 - as a notebook does
    run(code, space)
    found = space["g"].lint()
    assert [d.rule for d in found] == ["unreachable-state"]
    assert "unreachable-state" in str(found)


def test_states_in_another_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each diagnostic is in its own file; what is in the other one is named."""
    (tmp_path / "parts_of_it.py").write_text("def a(d): ...\n\n\ndef b(d): ...\n")
    source = "from statecli import GraphBuilder\nfrom parts_of_it import a, b\n"
    source += "g = GraphBuilder().with_states(a, b).with_transitions(('a', 'a')).build()\n"
    (tmp_path / "whole_of_it.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    graph = module(tmp_path / "whole_of_it.py").g
    found = graph.lint(strict=True, config=False)
    assert {(Path(d.path).name, d.span.start.line) for d in found} == {("parts_of_it.py", 4)}


def test_a_thousand_states() -> None:
    build = GraphBuilder().with_states(**{f"s{n}": step for n in range(1000)})
    build.with_transitions(*[(f"s{n}", f"s{n + 1}", when(x=n)) for n in range(999)])
    build.with_transitions(*[(f"s{n}", "s999") for n in range(998)])
    assert build.build().lint(strict=True, config=False) == []
    machine = GraphBuilder().with_states(**{f"s{n}": Answers() for n in range(1000)}).build()
    assert machine.lint(strict=True, config=False) == []
