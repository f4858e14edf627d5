"""`statecli explain`: rules from their docstrings, and each state's ways out in the order of
model.md 4.1, written and implicit. The expectations are read off the documents by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from statecli.cli.app import main
from statecli.lint.rule import FAMILIES, rules

GRAPHS = Path(__file__).parent / "explain"


class Ran:
    """What a command line printed, and its exit code."""

    def __init__(self, capsys: pytest.CaptureFixture[str], *argv: object) -> None:
        self.code = main([str(word) for word in argv])
        self.out, self.err = capsys.readouterr()

    @property
    def data(self) -> dict[str, Any]:
        loaded: dict[str, Any] = json.loads(self.out)
        return loaded


def routes(state: dict[str, Any]) -> list[str]:
    """Each route as "target: needs (priority)", an implicit one with "+" in front."""
    return [
        f"{'+' if route['origin'] == 'implicit' else ''}{route['target']}: {route['needs']}"
        f" ({'last' if route['priority'] is None else route['priority']})"
        for route in state["routes"]
    ]


END = ["__end__: all tasks done (1)"]
#: For each graph its states in the order of the file, with their routes in the order of trial.
EXPECTED: dict[str, dict[str, list[str]]] = {
    # 5.3 rule 1 for tasks and for a goal; rule 3 in the last state.
    "in_order.yaml": {
        "hello": ["+talk: all tasks done (1)"],
        "talk": ["+list: goal closed (1)"],
        "list": ["+bye: all tasks done (1)"],
        "bye": ["+__end__: all tasks done (1)"],
    },
    # 5.3 rule 2 holds for the first state only: the others lead elsewhere, say it themselves,
    # have no tasks, or are the last one.
    "completion.json": {
        "only-next": [
            "fork: after 3 turns without progress (1)",
            "fork: k is set (5)",
            "+fork: all tasks done (1000)",
        ],
        "fork": [
            "written: after 1 turn in this state (1)",
            "last: after 9 turns in this state (1)",
        ],
        "written": [
            "no-tasks: all tasks done (1)",
            "no-tasks: after 3 turns in the session (2)",
        ],
        "no-tasks": ["last: k is x (1)"],
        "last": ["fork: k is again (1)"],
    },
    # 5.4: a closed goal whose routes match nothing goes on in order; one with a route on the
    # closed goal alone needs none.
    "goals.yaml": {
        "explore": ["doctor: pain ≥ 8 (1)", "rest: pain < 3 (2)", "+plan: goal closed (last)"],
        "plan": ["doctor: after 4 turns without progress (1)", "rest: goal closed (3)"],
        "doctor": ["explore: goal closed and pain is set (1)", "+rest: goal closed (last)"],
        "rest": ["explore: pain is 9 (1)", "+__end__: goal closed (last)"],
    },
    "priorities.yaml": {
        "sort": [
            "first: after 20 turns in this state (-1)",
            "urgent: n > 9.5 (0)",
            "a: s is a (1)",
            "soon: 5 ≤ n ≤ 9.5 (1.5)",
            "b: s is b (2)",
            "c: s is c (2)",
            "rest: all tasks done (10)",
        ],
        "a": END,
        "b": END,
        "c": END,
        "urgent": END,
        "soon": END,
        "first": END,
        "rest": ["+__end__: all tasks done (1)"],
    },
    "chat.yaml": {
        "ask": ["answer: always (1)"],
        "answer": [
            "look: the model chooses among: look, ask, bye (1)",
            "ask: the model chooses among: look, ask, bye (1)",
            "bye: the model chooses among: look, ask, bye (1)",
        ],
        "look": ["answer: always (1)"],
        "sorry": [],
        "stop": [],
        "bye": [],
    },
    "choice.yaml": {
        "triage": [
            "refund: intent is refund and amount > 0 (1)",
            "refund: amount is one of 1, 2 (1)",
            "ask: the model chooses among: ask, look (2)",
            "look: the model chooses among: ask, look (2)",
            "bug: intent == 'bug' or amount is None (2)",
            "later: otherwise (3)",
        ],
        "ask": ["triage: always (1)", "look: intent is other (1)"],
        "look": ["triage: always (1)"],
        "refund": [],
        "bug": [],
        "later": [],
    },
    "selves.yaml": {
        "again": ["again: left > 0 (1)", "wait: otherwise (1)"],
        "wait": [
            "wait: the model chooses among: wait, form (1)",
            "form: the model chooses among: wait, form (1)",
        ],
        "form": ["form: ok is false (1)", "bye: ok is false (2)", "again: all tasks done (3)"],
        "bye": [],
    },
    "branches.yaml": {
        "split": ["left: always (1)", "third: always (1)", "right: deep is true (2)"],
        "left": ["join: always (1)"],
        "right": ["join: always (1)"],
        "third": ["join: always (1)"],
        "join": ["done: always (1)"],
        "done": [],
    },
    # Implicit transitions belong to the plan form; a plan state without routes has none here.
    "mixed.yaml": {
        "intake": ["fresh: kind is new (1)", "known: all tasks done (1)"],
        "fresh": ["known: after 2 turns without progress (1)"],
        "known": ["bye: goal closed (1)"],
        "alone": [],
        "bye": [],
    },
    "undefined.json": {
        "a": [
            "gone: k ≥ 5 (1)",
            "b: k ≥ 7 (2)",
            "b: k ≥ 9 (3)",
            "__end__: all tasks done (4)",
        ],
        "b": [
            "a: never: 'goal_achieved' never holds outside a goal state (1)",
            "a: never: 'no_such_type' is not a condition type (2)",
        ],
    },
    "bare.yaml": {
        "router": [
            "状態: the model chooses among: 状態, 🏗️ (1)",
            "🏗️: the model chooses among: 状態, 🏗️ (1)",
        ],
        "状態": ["router: always (1)"],
        "🏗️": [],
    },
    "composites.json": {
        "ask": [
            "fast: consent is true and (age ≥ 18 or plan is 'family plan') (1)",
            "slow: after 5 turns in the session or plan is one of 'none', 'a b', 'c' (2)",
            "slow: 4 < age < 7 (3)",
            "fast: 7 ≤ age ≤ 4 (4)",
            "slow: all tasks done (5)",
        ],
        "fast": END,
        "slow": ["+__end__: all tasks done (1)"],
    },
}


def test_twelve_graphs() -> None:
    assert sorted(EXPECTED) == sorted(path.name for path in GRAPHS.iterdir())
    assert len(EXPECTED) == 12


@pytest.mark.parametrize("name", EXPECTED)
def test_routes_in_the_order_they_are_tried(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    ran = Ran(capsys, "explain", GRAPHS / name, "--format", "json")
    assert ran.code == 0
    assert {state["state"]: routes(state) for state in ran.data["states"]} == EXPECTED[name]
    assert [state["state"] for state in ran.data["states"]] == list(EXPECTED[name])
    for state in ran.data["states"]:
        assert [route["order"] for route in state["routes"]] == list(
            range(1, len(state["routes"]) + 1)
        )


@pytest.mark.parametrize("name", EXPECTED)
def test_the_text_says_the_same_at_the_right_lines(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = (GRAPHS / name).read_text("utf-8").splitlines()
    ran = Ran(capsys, "explain", GRAPHS / name)
    assert ran.code == 0
    for state, ways in EXPECTED[name].items():
        alone = Ran(capsys, "explain", GRAPHS / name, state)
        assert alone.code == 0
        assert alone.out in ran.out
        header = alone.out.splitlines()[0]
        assert header.startswith(f"{state} (")
        assert state in lines[int(header.rsplit(" ", 1)[1]) - 1]
        shown = [line for line in alone.out.splitlines() if line.startswith("    ")]
        for number, way in enumerate(ways, 1):
            said = f"    {number}. {way.removeprefix('+').rsplit(' (', 1)[0]}"
            origin = shown[shown.index(said) + 1].strip()
            if way.startswith("+"):
                assert origin.startswith("implicit (")
            else:
                line = int(origin.removeprefix("line ").split(",")[0])
                assert way.split(":")[0] in lines[line - 1]


def state(capsys: pytest.CaptureFixture[str], name: str, state: str) -> dict[str, Any]:
    ran = Ran(capsys, "explain", GRAPHS / name, state, "--format", "json")
    assert ran.code == 0
    [found] = ran.data["states"]
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize(
    ("name", "of", "wanted"),
    [
        ("undefined.json", "a", ["undefined-target", "", "shadowed-transition", ""]),
        ("undefined.json", "b", ["goal-condition-outside-goal", "unknown-condition-type"]),
        ("selves.yaml", "form", ["does not move to itself", "", ""]),
        ("selves.yaml", "again", ["", ""]),
        ("choice.yaml", "triage", ["", "", "", "", "default-not-last", "default-not-last"]),
        ("completion.json", "fork", ["", "turn-guard-shadowed"]),
        ("composites.json", "ask", ["", "", "", "guard-never-holds", ""]),
        ("branches.yaml", "split", ["", "", ""]),  # its default may be given otherwise
    ],
)
def test_what_is_never_taken_and_why(
    name: str, of: str, wanted: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    found = ["; ".join(route["never"]) for route in state(capsys, name, of)["routes"]]
    assert len(found) == len(wanted)
    for said, part in zip(found, wanted, strict=True):
        assert part in said
        assert bool(part) == bool(said)


@pytest.mark.parametrize(
    ("name", "of", "number", "wanted"),
    [
        ("priorities.yaml", "sort", 2, {"data": {"n": 10.5}, "holding": [], "turns": {}}),
        ("priorities.yaml", "sort", 3, {"data": {"s": "a"}, "holding": [], "turns": {}}),
        # Ten turns in which nothing is told would end it before the twentieth.
        ("priorities.yaml", "sort", 1, {"data": {"n": 4}, "holding": [], "turns": {"total": 20}}),
        ("undefined.json", "a", 2, {"data": {"k": 7}, "holding": [], "turns": {}}),
        ("undefined.json", "a", 4, {"data": {"k": 4}, "holding": ["all tasks done"], "turns": {}}),
        ("goals.yaml", "explore", 3, {"data": {}, "holding": ["goal closed"], "turns": {}}),
        ("selves.yaml", "again", 1, {"data": {"left": 1}, "holding": [], "turns": {}}),
        ("choice.yaml", "triage", 2, {"data": {"amount": 1}, "holding": [], "turns": {}}),
        ("choice.yaml", "triage", 3, {"data": {}, "holding": [], "turns": {}}),
        ("chat.yaml", "ask", 1, None),
        ("bare.yaml", "router", 2, None),
        ("undefined.json", "a", 1, None),
    ],
)
def test_an_example_of_when_it_is_the_first(
    name: str,
    of: str,
    number: int,
    wanted: dict[str, Any] | None,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert state(capsys, name, of)["routes"][number - 1]["example"] == wanted


@pytest.mark.parametrize(
    ("name", "of", "wanted"),
    [
        ("bare.yaml", "router", "the code of 'wizard' decides among these"),
        ("chat.yaml", "answer", None),
        ("chat.yaml", "stop", "no way out: the run stops here"),
        ("chat.yaml", "bye", "the run ends here"),
        ("mixed.yaml", "fresh", "if none holds: it waits"),
        ("mixed.yaml", "alone", "it waits"),
        (
            "in_order.yaml",
            "hello",
            "if none holds: it waits; after 10 turns without progress the run goes on to 'talk'",
        ),
        (
            "in_order.yaml",
            "bye",
            "if none holds: it waits; after 10 turns without progress the run ends",
        ),
    ],
)
def test_what_happens_else(
    name: str, of: str, wanted: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert state(capsys, name, of)["otherwise"] == wanted


def test_what_a_state_collects(capsys: pytest.CaptureFixture[str]) -> None:
    text = Ran(capsys, "explain", GRAPHS / "composites.json", "ask").out
    assert "t: d → consent (boolean), age (integer), plan" in text
    text = Ran(capsys, "explain", GRAPHS / "goals.yaml", "explore").out
    assert "goal: Learn what hurts → pain (integer)" in text
    text = Ran(capsys, "explain", GRAPHS / "choice.yaml", "triage").out
    assert "writes: intent, amount" in text
    text = Ran(capsys, "explain", GRAPHS / "chat.yaml", "answer").out
    assert "on_error: sorry, line 8" in text
    text = Ran(capsys, "explain", GRAPHS / "branches.yaml", "left").out
    assert "group g" in text


def test_several_states_in_the_order_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    ran = Ran(capsys, "explain", GRAPHS / "chat.yaml", "bye", "ask", "bye")
    assert [line for line in ran.out.splitlines() if line and line[0] != " "] == [
        "bye (terminal), line 13",
        "ask (user), line 4",
    ]


ORDER = """\
states:
  - id: a
    title: A
    type: KIND
    tasks:
      - {id: t, description: d, deliverables: [{key: k}, {key: o, required: false}]}
      - {id: u, description: d, deliverables: [{key: n, type: number}]}
    transitions:
      - {target_state_id: b, priority: 1}
      - {target_state_id: b, priority: 2, condition_type: deliverable_value,
         condition_config: {key: k, value: x}}
      - {target_state_id: b, priority: 3, condition_type: deliverable_value_numeric,
         condition_config: {key: n, operator: gt, value: 5}}
      - {target_state_id: b, priority: 4, condition_type: deliverable_exists,
         condition_config: {key: o}}
  - {id: b, title: B}
"""


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [
        # One task after the other: with a number the state is complete, so 'b' came before. An 'x'
        # and an 'o' lead on at once, so nobody who gives them comes to the number.
        ("strict", ["k = 'other', n = 4, all tasks done", "k = 'x'", "", "o = 'other'"]),
        (
            "loose",
            ["k = 'x', n = 4, all tasks done", "k = 'x'", "n = 6", "o = 'other'"],
        ),
    ],
)
def test_examples_can_happen(
    kind: str, wanted: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "g.yaml"
    path.write_text(ORDER.replace("KIND", kind), "utf-8")
    found = Ran(capsys, "explain", path, "a").out
    shown = [part.split("with ")[1].split("\n")[0] for part in found.split("taken first, ")[1:]]
    assert shown == [text for text in wanted if text]
    routes = Ran(capsys, "explain", path, "a", "--format", "json").data["states"][0]["routes"]
    assert [bool(route["example"]) for route in routes] == list(map(bool, wanted))
    assert [bool(route["never"]) for route in routes] == [not text for text in wanted]


PAST = """\
initial: a
fields: {n: FIELD}
states:
  a:
    type: user
    writes: [n]
    transition: {next: [{to: x, when: FIRST}, b]}
  b: {type: agent, transition: {next: [{to: c, when: SECOND}, d]}}
  c: {type: terminal, description: c}
  d: {type: terminal, description: d}
  x: {type: terminal, description: x}
"""


@pytest.mark.parametrize(
    ("field", "first", "second", "wanted"),
    [
        ("{type: int}", "n in (5, 6)", "n >= 5", ["n = 7"]),
        ("{type: int}", "n > 3", "n >= 2", ["n = 2"]),
        ("{type: enum, values: [p, q, r]}", "{n: p}", "n in ('p', 'q')", ["n = 'q'"]),
        ("{type: enum, values: [p, q]}", "{n: p}", "n in ('p', 'q')", ["n = 'q'"]),
    ],
)
def test_examples_happen_after_what_came_before(
    field: str, first: str, second: str, wanted: list[str],
    tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    text = PAST.replace("FIELD", field)
    text = text.replace("FIRST", first if first[0] == "{" else f'"{first}"')
    path = tmp_path / "g.yaml"
    path.write_text(text.replace("SECOND", f'"{second}"'), "utf-8")
    found = Ran(capsys, "explain", path, "b").out
    shown = [part.split("with ")[1].split("\n")[0] for part in found.split("taken first, ")[1:]]
    assert shown[:1] == wanted


PARTS = """\
states:
  - id: a
    title: A
    tasks: [{id: t, description: d, deliverables: [{key: e, type: enum, enum_values: [x, y]}]}]
    transitions:
      - target_state_id: b
        condition_type: any_of
        condition_config:
          conditions:
            - {condition_type: turn_count_exceeded, condition_config: {turns: 4}}
            - {condition_type: all_of, condition_config: {conditions: [
                {condition_type: deliverable_value, condition_config: {key: e, value: x}},
                {condition_type: deliverable_value, condition_config: {key: e, value: y}}]}}
      - {target_state_id: b, priority: 2, condition_type: deliverable_value_in,
         condition_config: {key: e, values: [x, z]}}
      - {target_state_id: b, priority: 3, condition_type: deliverable_value,
         condition_config: {key: e, value: z}}
  - {id: b, title: B}
"""


def test_only_what_is_wrong_with_all_of_a_condition_makes_its_route_dead(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "g.yaml"
    path.write_text(PARTS, "utf-8")
    found = Ran(capsys, "explain", path, "a", "--format", "json").data["states"][0]["routes"]
    assert [bool(route["never"]) for route in found] == [False, False, True, False]
    rules = [
        [item["rule"] for item in route["diagnostics"] if item["rule"] != "mixed-priority"]
        for route in found[:3]
    ]
    assert rules == [["guard-never-holds"], ["value-not-in-enum"], ["value-not-in-enum"]]


WORK = """\
initial: plan
states:
  plan: {type: planner, transition: {next: [work, ask, chat, stop]}}
  work: {type: executor, transition: {next: [work, ask, stop]}}
  last: {type: executor, transition: {next: [{to: ask, when: {k: 1}}, last, stop]}}
  once: {type: executor, transition: {next: [ask]}}
  ask: {type: user, transition: {next: [plan]}}
  chat: {type: user, transition: {next: [plan, last, once]}}
  stop: {type: terminal}
"""
PLANNED = "the model chooses among: work, ask, chat, stop; with needs_permission only: ask, chat"
WORKED = "after the last step or a failed one, the model chooses among: ask, stop"


@pytest.mark.parametrize(
    ("of", "wanted"),
    [
        ("plan", [PLANNED] * 4),
        ("work", ["while steps remain", WORKED, WORKED]),
        ("last", ["k is 1", "while steps remain", "after the last step or a failed one"]),
        ("once", ["always"]),
    ],
)
def test_what_an_executor_and_a_planner_offer(
    of: str, wanted: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "g.yaml"
    path.write_text(WORK, "utf-8")
    [found] = Ran(capsys, "explain", path, of, "--format", "json").data["states"]
    assert [route["needs"] for route in found["routes"]] == wanted
    assert all(
        route["target"] in route["choice"] or not route["choice"] for route in found["routes"]
    )


# --- rules ----------------------------------------------------------------------------------------


def test_all_rules_by_family(capsys: pytest.CaptureFixture[str]) -> None:
    ran = Ran(capsys, "explain")
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert [line for line in lines if line in FAMILIES] == list(FAMILIES)
    for rule in rules().values():
        at = next(n for n, line in enumerate(lines) if line.startswith(f"  {rule.id} "))
        family = next(line for line in reversed(lines[:at]) if line and line[0] != " ")
        assert family == rule.family
        standing = lines[at].removeprefix(f"  {rule.id}").strip()
        assert standing.startswith(rule.severity if rule.on else f"{rule.severity}, off")


@pytest.mark.parametrize("rule", list(rules()))
def test_a_rule_in_full(rule: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = Ran(capsys, "explain", rule)
    assert text.code == 0
    assert text.out.startswith(f"{rule} ({rules()[rule].family}, {rules()[rule].severity}")
    for heading in ("Why: ", "Bad", "Good", "Fix: "):
        assert f"\n{heading}" in text.out
    [found] = Ran(capsys, "explain", rule, "--format", "json").data["rules"]
    assert found["rule"] == rule
    for key in ("finds", "why", "fix"):
        assert found[key]
        assert found[key].split()[0] in text.out
    for example in (*found["bad"], *found["good"]):
        assert example["graph"].strip()
        assert not example["graph"].startswith(" ")


def test_several_rules_and_all_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    ran = Ran(capsys, "explain", "parse-error", "bad-field")
    assert ran.out.index("parse-error (") < ran.out.index("bad-field (")
    found = Ran(capsys, "explain", "--format", "json").data
    assert found["version"] == 1
    assert {entry["rule"] for entry in found["rules"]} == set(rules())


# --- what it cannot do ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("undefined-taget", "'undefined-target'"),
        ("unreachable", "'unreachable-state' or 'unreachable-terminal'"),
        ("parse_error", "'parse-error'"),
        ("zzzz", "statecli explain shows them all"),
    ],
)
def test_unknown_rule(word: str, hint: str, capsys: pytest.CaptureFixture[str]) -> None:
    ran = Ran(capsys, "explain", "parse-error", word)
    assert ran.code == 2
    assert ran.out == ""
    assert f"no rule is named '{word}'" in ran.err
    assert hint in ran.err


def test_unknown_state(capsys: pytest.CaptureFixture[str]) -> None:
    ran = Ran(capsys, "explain", GRAPHS / "chat.yaml", "anser")
    assert ran.code == 2
    assert "no state is named 'anser'" in ran.err
    assert "'answer'" in ran.err
    ran = Ran(capsys, "explain", GRAPHS / "chat.yaml", "ask", "qqq")
    assert ran.code == 2
    assert "shows them all" in ran.err


@pytest.mark.parametrize("word", ["gone.yaml", "some/graph", "a\\b", "."])
def test_what_looks_like_a_file_is_one(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    ran = Ran(capsys, "explain", word)
    assert ran.code == 2
    assert word in ran.err
    assert "no rule" not in ran.err


def test_a_file_without_suffix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "parse-error").write_text("initial: a\nstates: {a: {type: terminal}}\n")
    monkeypatch.chdir(tmp_path)
    ran = Ran(capsys, "explain", "parse-error")
    assert ran.code == 0
    assert ran.out.startswith("parse-error: states form, 1 state, begins in 'a'")


OLD = """\
initial: a
states:
  a: {is_terminal: false, transitions: {user_input: b}}
  b: {is_terminal: true}
"""


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("initial: a\nstates: {a: [\n", "parse-error"),
        ("initial: a\n", "missing-states"),
        (OLD, "old-form"),
    ],
)
def test_a_graph_that_cannot_be_read(
    text: str, rule: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "g.yaml"
    path.write_text(text)
    ran = Ran(capsys, "explain", path)
    assert ran.code == 1
    assert f"error[{rule}]" in ran.err  # standard output is for explanations
    as_json = Ran(capsys, "explain", path, "--format", "json")
    assert as_json.code == 1
    assert [item["rule"] for item in as_json.data["diagnostics"]] == [rule]


def test_a_form_that_is_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "g.yaml"
    path.write_text("states: []\n")
    assert Ran(capsys, "explain", path).code == 1
    assert Ran(capsys, "explain", path, "--form", "plan").code == 1
    path.write_text("x: {type: user, transition: {next: [x]}}\n")
    assert Ran(capsys, "explain", path).code == 0


def test_settings_of_the_folder_hold(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "statecli.toml").write_text('ignore = ["default-not-last"]\n')
    path = tmp_path / "g.yaml"
    path.write_text((GRAPHS / "choice.yaml").read_text("utf-8"), "utf-8")
    ran = Ran(capsys, "explain", path, "ask")
    assert "default-not-last" not in ran.out
    assert "never taken: whenever it holds, another way is taken first" in ran.out


def test_control_characters_do_nothing_to_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "g.json"
    path.write_text(
        json.dumps(
            {"initial": "a", "states": {"a": {"type": "terminal", "description": "\x1b[2Jx"}}}
        )
    )
    ran = Ran(capsys, "explain", path)
    assert ran.code == 0
    assert "\x1b" not in ran.out
