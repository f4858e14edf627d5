"""What document 004 says in words: properties and their defaults, the modes, goals, conditions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from plan_driver import Driver
from run_cli import check
from scripted import graph_of
from seed_documents import document
from test_seed_plans import item, plan, state, task, where

from statecli.kernel.tasks import addressed
from statecli.model.snapshot import Snapshot


def rules(folder: Path, given: dict[str, Any]) -> list[str]:
    """The errors and warnings about a plan, by rule."""
    found = check(folder, "p.json", json.dumps(given)).diagnostics
    return [d["rule"] for d in found if d["severity"] != "info"]


def table(title: str) -> list[list[str]]:
    """The rows of a table of the document, which came as text with tabs."""
    lines = document("004").splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith(title))
    rows = []
    for line in lines[start + 1 :]:
        if "\t" not in line:
            break
        rows.append([cell.strip("`") for cell in line.split("\t")])
    return rows


# --- properties --------------------------------------------------------------------------------


def test_004_properties_of_a_state(tmp_path: Path) -> None:
    rows = table("Property\tType\tRequired\tDefault")
    assert [row[0] for row in rows] == [
        "id", "title", "type", "description", "tasks", "transitions"]  # fmt: skip
    given = plan(state("end"))
    for name in (row[0] for row in rows if row[2] == "Yes"):
        broken = plan(state("end"))
        del broken["states"][0][name]
        assert "missing-key" in rules(tmp_path, broken), name
    graph = graph_of(json.dumps({"id": "p", "title": "P", "states": [{"id": "a", "title": "A"}]}))
    found = graph.states["a"]
    assert (found.kind, found.description, found.tasks, found.transitions) == ("loose", "", (), ())
    assert rules(tmp_path, given) == []


@pytest.mark.parametrize(
    ("name", "value"),
    [("title", ["A"]), ("description", {"a": 1}), ("tasks", "ask"), ("transitions", 5),
     ("type", 3)],
)  # fmt: skip
def test_004_properties_of_another_type(name: str, value: Any, tmp_path: Path) -> None:
    found = rules(tmp_path, plan({**state("end"), name: value}))
    assert {"wrong-value-type", "unknown-state-type"} & set(found), found


def test_004_properties_of_a_transition(tmp_path: Path) -> None:
    lines = [line.split("\t") for line in document("004").splitlines()]
    rows = {line[0].strip("`"): line for line in lines if len(line) == 5 and line[0][:1] == "`"}
    assert rows["condition_type"][3] == '`"all_tasks_complete"`'
    assert rows["priority"][3] == "`1`"
    broken = plan(state("a", transitions=[{"priority": 1}]), state("b"))
    assert "missing-key" in rules(tmp_path, broken)
    given = plan(state("a", transitions=[{"target_state_id": "b"}]), state("x"), state("b"))
    (way,) = graph_of(json.dumps(given)).states["a"].transitions
    assert (way.target, way.priority) == ("b", 1)
    driver = Driver(given)
    assert driver.run("settle", {})["state"] == "a", "it has a condition: all tasks complete"
    driver.run("complete_task", {"task": "a-said"})
    assert driver.where()["state"] == "b"


def goal(*items: dict[str, Any], transitions: Any = (), **more: Any) -> dict[str, Any]:
    about = {"objective": "Understand the day", "success_description": "We know it",
             "deliverables": list(items)}  # fmt: skip
    return state("talk", type="goal", goal=about, transitions=list(transitions), **more) | {
        "tasks": more.get("tasks", [])}  # fmt: skip


def closed(driver: Driver, outcome: str = "achieved") -> bool:
    return bool(driver.run("close_goal", {"outcome": outcome})["ok"])


def test_004_default_condition_of_a_goal() -> None:
    driver = Driver(plan(goal(transitions=[{"target_state_id": "b"}]), state("x"), state("b")))
    assert driver.run("settle", {})["state"] == "talk", "not complete by itself"
    assert closed(driver)
    assert driver.where()["state"] == "b"


# --- modes -------------------------------------------------------------------------------------


def two(kind: str) -> Driver:
    tasks = [task("first", item("name")), task("second", item("city"))]
    return Driver(plan(state("here", *tasks, type=kind), state("end")))


def test_004_strict_keeps_what_comes_early_until_its_turn() -> None:
    """ "User cannot skip ahead": what comes early is no answer until its task is at hand."""
    driver = two("strict")
    assert driver.run("set_deliverable", {"key": "city", "value": "Bern"})["ok"]
    assert "city" not in driver.to.snapshot.data
    assert driver.run("pending", {})["tasks"] == ["first"]
    where(driver, (("name", "Ann"),))
    assert driver.where()["state"] == "here"
    assert where(driver, (("city", "Bern"),)) == "end"


def test_004_loose_takes_what_is_told_unasked() -> None:
    driver = two("loose")
    where(driver, (("city", "Bern"),))
    assert driver.to.snapshot.data["city"] == "Bern"
    assert driver.run("pending", {})["tasks"] == ["first"]


def test_004_comparison_table() -> None:
    """Order and skipping, as the table compares the three."""
    rows = {row[0]: row[1:] for row in table("Aspect\tSTRICT\tLOOSE\tGOAL")}
    assert rows["Task Order"][:2] == ["Sequential", "Flexible"]
    assert rows["Skip Tasks"][:2] == ["Not allowed", "Agent decides"]
    tasks = [{"id": name, "description": name} for name in ("first", "second")]
    for kind, allowed in (("strict", False), ("loose", True)):
        given = plan(state("here", *tasks, type=kind), state("end"))
        assert len(Driver(given).run("pending", {})["tasks"]) == (2 if allowed else 1)
        for call, args in (("complete_task", {"task": "second"}), ("skip_task", {"task": "first"}),
                           ("skip_state", {})):  # fmt: skip
            assert Driver(given).run(call, args)["ok"] is allowed, call
    driver = Driver(plan(goal(item("morning")), state("end")))
    assert closed(driver, "given_up"), "a goal can be given up"


# --- goals -------------------------------------------------------------------------------------


def test_004_a_goal_is_given_up_without_its_answers() -> None:
    driver = Driver(plan(goal(item("morning")), state("end")))
    assert not closed(driver)
    assert closed(driver, "given_up")
    assert driver.where()["state"] == "end"


def test_004_the_outcome_of_a_goal_is_that_of_its_state() -> None:
    again = {**goal(item("evening")), "id": "again", "title": "Again"}
    driver = Driver(plan(goal(item("morning")), again, state("end")))
    assert closed(driver, "given_up")
    assert driver.where()["state"] == "again"
    assert driver.run("settle", {})["state"] == "again", "this one's goal is open"


@pytest.mark.parametrize("matches", [False, True], ids=["no route", "a route that matches"])
def test_004_an_unconfirmed_answer_reaches_no_goal(matches: bool) -> None:
    """A required answer that came too early, in a strict state, is unconfirmed. That is more than
    missing: a route that matches does not make up for it."""
    before = state("before", task("first", item("name")), task("second", item("morning")),
                   type="strict", transitions=[
                       {"target_state_id": "talk", "condition_type": "deliverable_exists",
                        "condition_config": {"key": "name"}}])  # fmt: skip
    done = {"condition_type": "goal_achieved", "condition_config": {}}
    ways = [{"target_state_id": "end", "condition_type": "all_of",
             "condition_config": {"conditions": [done, exists("name")]}}]  # fmt: skip
    talk = goal(item("morning"), transitions=ways if matches else [])
    driver = Driver(plan(before, talk, state("end")))
    where(driver, (("morning", "coffee"), ("name", "Ann")))
    assert driver.where()["state"] == "talk"
    assert "morning" in driver.to.snapshot.early
    outcome = driver.plan.close_goal("achieved")
    assert (outcome.ok, outcome.text) == (False, "still to be confirmed: morning")
    where(driver, (("morning", "coffee"),))
    assert closed(driver)
    assert driver.where()["state"] == "end"


def reading(key: str, target: str) -> dict[str, Any]:
    return {"target_state_id": target, "condition_type": "deliverable_exists",
            "condition_config": {"key": key}}  # fmt: skip


def test_004_one_matching_route_closes_a_goal() -> None:
    items = [item("morning"), item("evening")]
    done = {"condition_type": "goal_achieved", "condition_config": {}}
    ways = [
        {"target_state_id": target, "condition_type": "all_of",
         "condition_config": {"conditions": [done, exists(key)]}}
        for key, target in (("morning", "a"), ("evening", "b"))
    ]  # fmt: skip
    given = plan(goal(*items, transitions=ways), state("a"), state("b"))
    driver = Driver(given)
    outcome = driver.plan.close_goal("achieved")
    assert not outcome.ok
    assert "morning" in outcome.text
    assert "evening" in outcome.text
    where(driver, (("evening", "tea"),))
    assert closed(driver), "one route matches"
    assert driver.where()["state"] == "b"


@pytest.mark.parametrize("outcome", ["achieved", "given_up"])
def test_004_a_closed_goal_without_a_route_goes_on_in_order(outcome: str) -> None:
    ways = [reading("evening", "far")]
    given = plan(goal(item("evening", required=False), item("morning"), transitions=ways),
                 state("next"), state("far"))  # fmt: skip
    driver = Driver(given)
    where(driver, (("morning", "coffee"),))
    assert driver.run("settle", {})["state"] == "talk", "it is open still"
    assert closed(driver, outcome)
    assert driver.where()["state"] == "next"


def test_004_the_net_releases_a_goal_as_skipped() -> None:
    driver = Driver({**plan(goal(item("morning")), state("end")), "limits": {"stuck_turns": 3}})
    assert where(driver, (("", 2),)) == "talk"
    assert where(driver, (("", 1),)) == "end"
    assert driver.to.snapshot.goals["talk"] == "skipped"


def test_004_the_net_is_there_unless_it_is_turned_off() -> None:
    given = plan(goal(item("morning")), state("end"))
    assert where(Driver(given), (("", 10),)) == "end"
    assert where(Driver({**given, "limits": {"stuck_turns": 0}}), (("", 50),)) == "talk"
    told = (("", 9), ("morning", "coffee"), ("", 9))
    assert where(Driver(given), told) == "talk", "what was told is progress"


def test_004_insights_are_kept_up_to_25() -> None:
    """ "Insights the agent notices beyond the declared deliverables": kept, and no progress."""
    driver = Driver(plan(goal(item("morning")), state("end")))
    before = driver.where()["progress"]
    told = [driver.run("set_deliverable", {"key": f"insight_{n}", "value": "x"})["ok"]
            for n in range(26)]  # fmt: skip
    assert told == [True] * 25 + [False]
    assert len(driver.to.snapshot.insights) == 25, "they are kept"
    assert driver.where()["progress"] == before
    assert not any(key.startswith("insight") for key in driver.to.snapshot.data)
    driver.run("finish_turn", {})
    assert driver.where()["idle_turns"] == 1, "the turn of the insights was without progress"


def test_004_left_over_tasks_of_a_goal_block_nothing() -> None:
    driver = Driver(plan(goal(tasks=[task("old", item("x"))]), state("end")))
    assert "old" not in driver.run("pending", {})["tasks"]
    assert closed(driver)
    assert driver.where()["state"] == "end"


# --- all_tasks_complete ------------------------------------------------------------------------


def test_004_every_task_required_or_not() -> None:
    tasks = [task("ask", item("name")), {"id": "say", "description": "Say it", "required": False}]
    given = plan(state("here", *tasks), state("end"))
    for way in ("complete_task", "skip_task"):
        driver = Driver(given)
        assert where(driver, (("name", "Ann"),)) == "here", "the optional one is open"
        assert driver.run(way, {"task": "say"})["state"] == "end"


def is_addressed(deliverables: list[dict[str, Any]], **data: Any) -> bool:
    graph = graph_of(json.dumps(plan(state("a", task("t", *deliverables)))))
    found = graph.states["a"]
    return addressed(Snapshot(data=data), found, found.tasks[0])


def test_004_a_task_is_addressed_by_its_required_deliverables() -> None:
    asked = [item("name"), item("nickname", required=False)]
    assert is_addressed(asked, name="Ann")
    assert not is_addressed(asked, nickname="A")


def test_004_an_optional_task_is_addressed_by_all_of_them() -> None:
    asked = [item("a", required=False), item("b", required=False)]
    assert not is_addressed(asked, a=1)
    assert is_addressed(asked, a=1, b=2)


def test_004_a_new_state_is_not_complete() -> None:
    driver = Driver(plan(state("a"), state("b"), state("c")))
    assert driver.run("complete_task", {"task": "a-said"})["state"] == "b"
    assert driver.run("settle", {})["state"] == "b"


# --- conditions --------------------------------------------------------------------------------


def routed(kind: str, config: dict[str, Any], *items: dict[str, Any]) -> Driver:
    """From `here` to `there` by one condition; an open task keeps it here."""
    way = {"target_state_id": "there", "condition_type": kind, "condition_config": config}
    asks = [task(f"ask-{i['key']}", i) for i in (*items, item("open"))]
    return Driver(plan(state("here", *asks, transitions=[way]), state("x"), state("there")))


def test_004_turns_in_total() -> None:
    """ "`total` tracks total turns in the current state", with progress or without."""
    told = (("name", "Ann"), ("", 1), ("city", "Bern"), ("", 1))
    for scope, state_there in (("total", "there"), ("without_progress", "here")):
        driver = routed("turn_count_exceeded", {"turns": 2, "scope": scope}, item("name"),
                        item("city"))  # fmt: skip
        for key, value in told:
            if key:
                driver.run("set_deliverable", {"key": key, "value": value})
            else:
                driver.run("finish_turn", {})
        assert driver.where()["state"] == state_there, scope


@pytest.mark.parametrize("told", ["a value", "a task"])
def test_004_a_turn_with_progress_is_not_idle(told: str) -> None:
    """ "Consecutive turns without completing work": not the one in which some was completed."""
    driver = routed("turn_count_exceeded", {"turns": 1, "scope": "without_progress"}, item("name"))
    if told == "a value":
        assert where(driver, (("name", "Ann"),)) == "here"
    else:
        assert driver.run("skip_task", {"task": "ask-name"})["ok"]
    assert driver.run("finish_turn", {})["state"] == "here"
    assert driver.where()["idle_turns"] == 0
    assert driver.run("finish_turn", {})["state"] == "there"


@pytest.mark.parametrize(
    ("config", "holding", "other"),
    [
        ({"operator": "gt", "value": 8}, [8.1], [8]),
        ({"operator": "gte", "value": 8}, [8, 9], [7.9]),
        ({"operator": "lt", "value": 8}, [7.9], [8]),
        ({"operator": "lte", "value": 8}, [8], [8.1]),
        ({"operator": "eq", "value": 8}, [8, 8.0, "8"], [9]),
        ({"operator": "neq", "value": 8}, [9], [8]),
        ({"operator": "between", "min": 4, "max": 7, "inclusive": False}, [5, 6.9], [4, 7]),
        ({"operator": "between", "min": 4, "max": 7}, [4, 7], [3.9, 7.1]),
    ],
    ids=lambda value: value["operator"] if isinstance(value, dict) else "",
)
def test_004_numeric_operators(config: dict[str, Any], holding: Any, other: Any) -> None:
    for values, state_there in ((holding, "there"), (other, "here")):
        for value in values:
            driver = routed("deliverable_value_numeric", {"key": "n", **config},
                            item("n", type="number"))  # fmt: skip
            assert where(driver, (("n", value),)) == state_there


def exists(key: str) -> dict[str, Any]:
    return {"condition_type": "deliverable_exists", "condition_config": {"key": key}}


def test_004_compound_or() -> None:
    config = {"operator": "or", "conditions": [exists("a"), exists("b")]}
    for key in ("a", "b"):
        driver = routed("compound", config, item("a"), item("b"), item("c"))
        assert where(driver, (("c", "1"),)) == "here"
        assert where(driver, ((key, "1"),)) == "there"


def test_004_composites_nest() -> None:
    both = {"condition_type": "all_of",
            "condition_config": {"conditions": [exists("a"), exists("b")]}}  # fmt: skip
    config = {"conditions": [both, exists("c")]}
    asked = (item("a"), item("b"), item("c"))
    assert where(routed("any_of", config, *asked), (("a", "1"),)) == "here"
    assert where(routed("any_of", config, *asked), (("a", "1"), ("b", "1"))) == "there"
    assert where(routed("any_of", config, *asked), (("c", "1"),)) == "there"


@pytest.mark.parametrize(
    ("kind", "value"),
    [("string", "X1"), ("string", "no"), ("boolean", False), ("number", 0), ("integer", 0)],
)
def test_004_any_collected_value_exists(kind: str, value: Any) -> None:
    """ "Transitions when a deliverable key has any collected value": also false, also zero."""
    driver = routed("deliverable_exists", {"key": "k"}, item("k", type=kind))
    assert driver.run("settle", {})["state"] == "here"
    assert where(driver, (("k", value),)) == "there"


@pytest.mark.parametrize(
    ("kind", "kept", "refused"),
    [
        ("string", [("Ann", "Ann"), (5, "5")], [["Ann"], None]),
        ("number", [(1.5, 1.5), ("2", 2)], ["many", True]),
        ("integer", [(3, 3), ("4", 4)], [1.5, "many"]),
        ("boolean", [(True, True), ("no", False)], ["perhaps", 2]),
    ],
)
def test_004_a_value_has_the_type_of_its_deliverable(
    kind: str, kept: list[tuple[Any, Any]], refused: list[Any]
) -> None:
    given = plan(state("here", task("ask", item("k", type=kind)), task("more", item("open"))))
    for value, stored in kept:
        driver = Driver(given)
        assert where(driver, (("k", value),)) == "here"
        assert driver.to.snapshot.data["k"] == stored
        assert type(driver.to.snapshot.data["k"]) is type(stored)
    for value in refused:
        driver = Driver(given)
        assert not driver.run("set_deliverable", {"key": "k", "value": value})["ok"]
        assert "k" not in driver.to.snapshot.data
