"""Every block of document 004 (conversation plans) does here what the document says it does.

A fragment is put into the smallest plan that has what it names; then values arrive one after the
other, as a model would report them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from plan_driver import Driver
from run_cli import Say, check, compare
from seed_documents import Shown, document, shows

from statecli.kernel.tasks import GOAL
from statecli.load.loader import load

Told = tuple[tuple[str, Any], ...]


def item(key: str, **more: Any) -> dict[str, Any]:
    return {"key": key, "description": f"The {key.replace('_', ' ')}", **more}


def task(name: str, *deliverables: dict[str, Any]) -> dict[str, Any]:
    return {"id": name, "description": f"Ask for {name}", "deliverables": list(deliverables)}


def state(name: str, *tasks: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A state that nothing is wrong with."""
    there = list(tasks) or [{"id": f"{name}-said", "description": "Say it"}]
    return {"id": name, "title": name.title(), "type": "loose", "tasks": there, **more}


def plan(*states: dict[str, Any]) -> dict[str, Any]:
    return {"id": "plan", "title": "Plan", "initial_state_id": states[0]["id"],
            "states": list(states)}  # fmt: skip


def around(fragment: dict[str, Any], *items: dict[str, Any]) -> dict[str, Any]:
    """A plan with one transition from a state that asks for these."""
    target = fragment["target_state_id"]
    asks = [task(f"ask-{i['key'].replace('_', '-')}", i) for i in items]
    return plan(state("here", *asks, transitions=[fragment]), state(target))


def where(driver: Driver, told: Told) -> str:
    """The state in which these values leave the run; ("", n) are n turns in which nothing came."""
    for key, value in told:
        if key:
            assert driver.run("set_deliverable", {"key": key, "value": value})["ok"]
        else:
            for _ in range(value):
                driver.run("end_turn", {})
    return str(driver.where()["state"])


NUMBER = {"type": "number"}
BOOLEAN = {"type": "boolean"}
#: A piece of the block, what its state asks for, what leaves it there, what leads to its target.
TRANSITIONS: list[tuple[str, list[dict[str, Any]], list[Told], list[Told]]] = [
    ('"target_state_id": "review"', [item("name"), item("city")],
     [(), (("name", "Ann"),)], [(("name", "Ann"), ("city", "Bern"))]),
    ('"target_state_id": "has_referral"', [item("referral_code"), item("name")],
     [(("name", "Ann"),)], [(("referral_code", "X1"),)]),
    ('"target_state_id": "premium_support"', [item("membership_type"), item("name")],
     [(("membership_type", "free"),)],
     [(("membership_type", "premium"),), (("membership_type", " Premium "),)]),
    ('"scope": "without_progress"', [item("name"), item("city")],
     [(("", 2),), (("", 2), ("name", "Ann"), ("", 2))], [(("", 3),)]),
    ('"key": "issue_category"', [item("issue_category"), item("name")],
     [(("issue_category", "other"),)],
     [(("issue_category", v),) for v in ("billing_error", "payment_failed", "account_locked")]),
    ('"operator": "gte"', [item("risk_score", **NUMBER), item("name")],
     [(("risk_score", 7.9),), (("name", "8"),)], [(("risk_score", 8),), (("risk_score", "9"),)]),
    ('"operator": "between"', [item("risk_score", **NUMBER), item("name")],
     [(("risk_score", 3.9),), (("risk_score", 7.1),)],
     [(("risk_score", 4),), (("risk_score", 7),)]),
    ('"condition_type": "all_of"', [item("consent"), item("age_verified", **BOOLEAN), item("name")],
     [(("consent", "yes"),), (("age_verified", True),),
      (("consent", "yes"), ("age_verified", False))],
     [(("consent", "yes"), ("age_verified", True))]),
    ('"condition_type": "any_of"',
     [item("express_checkout"), item("saved_payment_method"), item("name")],
     [(("name", "Ann"),)], [(("express_checkout", "yes"),), (("saved_payment_method", "card"),)]),
    ('"condition_type": "compound"',
     [item("summary_confirmed"), item("approval_status"), item("name")],
     [(("summary_confirmed", "yes"),), (("approval_status", "approved"),),
      (("summary_confirmed", "yes"), ("approval_status", "denied"))],
     [(("summary_confirmed", "yes"), ("approval_status", "approved"))]),
]  # fmt: skip
IDS = [case[0].split(": ")[1].strip('"') for case in TRANSITIONS]
CASES = [pytest.param(Shown("004", piece), *more, id=name)
         for name, (piece, *more) in zip(IDS, TRANSITIONS, strict=True)]  # fmt: skip
for piece, *_ in TRANSITIONS:
    shows("004", piece)


@pytest.mark.parametrize(("shown", "items", "stays", "goes"), CASES)
def test_004_transition(
    shown: Shown,
    items: list[dict[str, Any]],
    stays: list[Told],
    goes: list[Told],
    tmp_path: Path,
) -> None:
    """It is valid where its keys are collected, and it leads on exactly when it says so."""
    fragment = json.loads(shown.text)
    given = around(fragment, *items)
    kinds = {d["severity"] for d in check(tmp_path, "p.json", json.dumps(given)).diagnostics}
    assert kinds <= {"info"}
    assert [where(Driver(given), told) for told in stays] == ["here"] * len(stays)
    assert [where(Driver(given), told) for told in goes] == [fragment["target_state_id"]] * len(
        goes
    )
    assert driver_target(fragment) == "error", "by itself it is no graph"


def driver_target(fragment: dict[str, Any]) -> str:
    """What becomes of a fragment that is loaded as if it were a graph."""
    loaded = load("p.json", json.dumps(fragment))
    return "graph" if loaded.graph is not None and loaded.graph.states else "error"


# --- states ------------------------------------------------------------------------------------


def embedded(shown: Shown, *more: dict[str, Any]) -> dict[str, Any]:
    """The state of a block in a plan that has the states it leads to."""
    return plan(json.loads(shown.text), *more)


@shows("004", '"id": "medical-intake"')
def test_004_strict(shown: Shown, tmp_path: Path) -> None:
    """ "Tasks execute in array order", and the person cannot skip ahead."""
    given = embedded(shown, state("end"))
    compare(check(tmp_path, "p.json", json.dumps(given)), [
        Say("implicit-fallthrough", "info", 0, "medical-intake")])  # fmt: skip
    driver = Driver(given)
    names = ["symptoms", "duration", "medications"]
    assert not driver.run("complete_task", {"task": "medications"})["ok"]
    assert not driver.run("skip_task", {"task": "symptoms"})["ok"]
    assert not driver.run("skip_state", {})["ok"]
    for number, name in enumerate(names):
        assert driver.run("pending", {})["tasks"] == [names[number]]
        assert driver.where()["state"] == "medical-intake"
        assert driver.run("complete_task", {"task": name})["ok"]
    assert driver.where()["state"] == "end"


@shows("004", '"id": "general-inquiry"')
def test_004_loose(shown: Shown, tmp_path: Path) -> None:
    """ "Agent can address tasks in any order", and decides what is skipped."""
    given = embedded(shown, state("end"))
    compare(check(tmp_path, "p.json", json.dumps(given)), [
        Say("implicit-fallthrough", "info", 0, "general-inquiry")])  # fmt: skip
    driver = Driver(given)
    assert driver.run("pending", {})["tasks"] == ["topic", "preferences", "budget"]
    assert driver.run("complete_task", {"task": "budget"})["ok"]
    assert driver.run("skip_task", {"task": "topic"})["ok"]
    assert driver.where()["state"] == "general-inquiry"
    assert driver.run("complete_task", {"task": "preferences"})["ok"]
    assert driver.where()["state"] == "end"


@shows("004", '"id": "explore-routine"')
def test_004_goal(shown: Shown, tmp_path: Path) -> None:
    """No task list; it cannot be closed while what is required is missing; then it goes on."""
    given = embedded(shown, state("wrap-up"))
    compare(check(tmp_path, "p.json", json.dumps(given)), [])
    driver = Driver(given)
    assert driver.run("pending", {})["tasks"] == [GOAL], "the goal is the one task"
    assert not driver.run("close_goal", {"outcome": "achieved"})["ok"]
    assert where(driver, (("morning_routine", "coffee, then the dog"),)) == "explore-routine"
    assert driver.run("close_goal", {"outcome": "achieved"})["ok"]
    assert driver.where()["state"] == "wrap-up"


ROUTES = ("billing-support", "technical-support", "general-support")


@shows("004", '"id": "customer-intake"')
def test_004_complete_state(shown: Shown, tmp_path: Path) -> None:
    """The complete example: two answers, then the way of the issue. `general` has no route of its
    own: it goes where everything goes once all is collected."""
    given = embedded(shown, *(state(name) for name in ROUTES))
    found = check(tmp_path, "p.json", json.dumps(given))
    assert {d["severity"] for d in found.diagnostics} <= {"info"}
    before = (("customer_name", "Ann"), ("account_number", "17"))
    for issue, target in zip(("billing", "technical", "general"), ROUTES, strict=True):
        assert where(Driver(given), (*before, ("issue_type", issue))) == target
    refused = Driver(given)
    where(refused, before)
    assert not refused.run("set_deliverable", {"key": "issue_type", "value": "legal"})["ok"]
    assert where(refused, (("issue_type", "Billing"),)) == "billing-support"


@shows("004", '"target_state_id": "emergency"')
def test_004_priority(shown: Shown) -> None:
    """Both conditions hold at once: "the transition with the lowest priority value wins"."""
    ways = json.loads(shown.text)
    for order in (1, -1):
        routes = ways["transitions"][::order]
        given = plan(state("here", task("ask", item("urgency")), transitions=routes),
                     state("emergency"), state("standard-flow"))  # fmt: skip
        assert where(Driver(given), (("urgency", "emergency"),)) == "emergency"
        assert where(Driver(given), (("urgency", "low"),)) == "standard-flow"


@shows("004", "all_tasks_complete\n")
def test_004_flow_diagram(shown: Shown, tmp_path: Path) -> None:
    """The conversation that the diagram draws: greeting, intake, one of three, farewell."""
    support = {"condition_type": "deliverable_value", "priority": 1}
    end = {"transitions": [{"target_state_id": "farewell"}]}
    given = plan(
        state("greeting", task("ask-name", item("name"))),
        state("intake", task("ask-issue", item("issue_type")), type="strict", transitions=[
            {"target_state_id": name, **support,
             "condition_config": {"key": "issue_type", "value": name}}
            for name in ("billing", "technical", "general")]),
        *(state(name, task(f"do-{name}", item(f"{name}_done")), **end)
          for name in ("billing", "technical", "general")),
        state("farewell", type="strict"),
    )  # fmt: skip
    found = check(tmp_path, "p.json", json.dumps(given))
    assert {d["severity"] for d in found.diagnostics} <= {"info"}
    for box in ("Greeting", "Intake", "Billing", "Technical", "General", "Farewell"):
        assert box in shown.text
    for issue in ("billing", "technical", "general"):
        driver = Driver(given)
        assert where(driver, (("name", "Ann"),)) == "intake"
        assert where(driver, (("issue_type", issue),)) == issue
        assert where(driver, ((f"{issue}_done", "yes"),)) == "farewell"
        driver.run("complete_task", {"task": "farewell-said"})
        assert driver.run("finish_turn", {})["ended"]


def test_004_every_condition_type_of_the_table_is_shown() -> None:
    """Each name in the table of condition types has a block, and is read."""
    text = document("004")
    table = text[text.index("Condition Type\tPurpose") : text.index("Existing Conditions\n")]
    names = [line.split("`")[1] for line in table.splitlines() if line.startswith("`")]
    assert len(names) == 10
    blocks = "".join(Shown("004", piece).text for piece, *_ in TRANSITIONS)
    blocks += Shown("004", '"id": "explore-routine"').text
    assert [name for name in names if f'"{name}"' not in blocks] == []
