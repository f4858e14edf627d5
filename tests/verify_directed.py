"""Graphs that each fall to one mistake of a verifier that random graphs may let through."""

from __future__ import annotations

from typing import Any

Parts = dict[str, Any]
DONE: Parts = {"condition_type": "all_tasks_complete"}
CLOSED: Parts = {"condition_type": "goal_achieved"}


def has(key: str) -> Parts:
    return {"condition_type": "deliverable_exists", "condition_config": {"key": key}}


def equals(key: str, value: object) -> Parts:
    config = {"key": key, "value": value}
    return {"condition_type": "deliverable_value", "condition_config": config}


def number(key: str, operator: str, value: object) -> Parts:
    config = {"key": key, "operator": operator, "value": value}
    return {"condition_type": "deliverable_value_numeric", "condition_config": config}


def turns(count: int, scope: str) -> Parts:
    config = {"turns": count, "scope": scope}
    return {"condition_type": "turn_count_exceeded", "condition_config": config}


def both(*conditions: Parts) -> Parts:
    return {"condition_type": "all_of", "condition_config": {"conditions": list(conditions)}}


def go(target: str, condition: Parts, priority: int = 1) -> Parts:
    return {"target_state_id": target, "priority": priority, **condition}


def ask(key: str, kind: str = "boolean", **more: object) -> Parts:
    """A task that collects one key; `values`: the members of an enum."""
    item: Parts = {"key": key, "type": kind, "description": "d"}
    if "values" in more:
        item["enum_values"] = more.pop("values")
    return {"id": f"ask_{key}", "description": "d", "deliverables": [item], **more}


def talk(name: str) -> Parts:
    """A task that collects nothing."""
    return {"id": name, "description": "d"}


def state(name: str, tasks: list[Parts], *routes: Parts, kind: str = "loose", **more: Any) -> Parts:
    found: Parts = {"id": name, "title": name, "type": kind, "transitions": list(routes), **more}
    if kind == "goal":
        keys = [item for task in tasks for item in task["deliverables"]]
        found["goal"] = {"objective": "o", "success_description": "s", "deliverables": keys}
    else:
        found["tasks"] = tasks
    return found


def plan(*states: Parts, **limits: int) -> Parts:
    return {"id": "p", "title": "P", "limits": limits, "states": list(states)}


def end(name: str) -> Parts:
    return state(name, [talk("bye")], go("__end__", DONE))


COLOURS = ["red", "blue"]
OPTIONAL: Parts = {"key": "o", "type": "integer", "description": "d", "required": False}

GRAPHS: dict[str, Parts] = {
    "priority before the order of the file": plan(
        state("a", [ask("k")], go("b", has("k"), 2), go("c", equals("k", True), 1)),
        end("b"), end("c"),
    ),
    "an entry is evaluated at once": plan(
        state("a", [ask("k")], go("b", equals("k", True)), go("d", equals("k", False)),
              kind="strict"),
        state("b", [ask("k")], go("c", equals("k", True)), go("d", equals("k", False), 2)),
        end("c"), end("d"),
    ),
    "a way to itself is passed over": plan(
        state("a", [ask("k")], go("a", has("k")), go("b", has("k"), 2)), end("b"),
    ),
    "completion leads on where all ways do": plan(
        state("a", [ask("k", "enum", values=COLOURS)], go("b", equals("k", "red"))), end("b"),
    ),
    "a strict state asks in order": plan(
        state("a", [ask("x"), ask("y")], go("c", has("x")), go("b", has("y"), 2), kind="strict"),
        end("b"), end("c"),
    ),
    "an early answer counts when its turn has come": plan(
        state("a", [ask("x"), ask("y")], go("b", both(equals("x", False), equals("y", True))),
              go("c", DONE, 2), kind="strict"),
        end("b"), end("c"),
    ),
    "whatever is asked may be skipped": plan(
        state("a", [ask("k", "string")], go("b", has("k")), go("c", DONE, 2)), end("b"), end("c"),
    ),
    "what is skipped is not there": plan(
        state("a", [ask("k", "string")], go("b", DONE)),
        state("b", [talk("t")], go("c", has("k")), go("d", DONE, 2)),
        end("c"), end("d"),
    ),
    "answers that always agree": plan(
        state("a", [ask("x")], go("b", equals("x", True)), go("c", equals("x", False))),
        state("b", [ask("y")], go("d", equals("y", True)), go("e", equals("y", False))),
        state("c", [ask("y")], go("e", equals("y", True)), go("d", equals("y", False))),
        state("d", [talk("t")], go("e", both(equals("x", True), equals("y", False))),
              go("e", both(equals("x", False), equals("y", True)), 2), go("__end__", DONE, 3)),
        end("e"),
    ),
    "the turn of entry is not counted": plan(
        state("a", [ask("j")], go("b", has("j"))),
        state("b", [ask("k"), ask("l", required=False)], go("c", turns(2, "total")),
              go("d", both(turns(1, "without_progress"), has("k")), 2), go("c", DONE, 9)),
        end("c"), end("d"),
    ),
    "a call clears the idle turns": plan(
        state("a", [ask("k"), talk("t")],
              go("b", both(has("k"), turns(1, "without_progress"))), go("c", has("k"), 2)),
        end("b"), end("c"),
    ),
    "only turns without progress are idle": plan(
        state("a", [talk("t"), talk("u")], go("b", turns(1, "without_progress")),
              go("c", turns(2, "total"), 2)),
        end("b"), end("c"),
    ),
    "the net waits for what is asked": plan(
        state("a", [ask("k", "enum", values=COLOURS)], go("b", equals("k", "red")),
              go("c", DONE, 2)),
        state("b", [ask("l")], go("c", equals("l", True))),
        end("c"),
    ),
    "the net comes before a later turn guard": plan(
        state("a", [talk("t")], go("c", turns(5, "without_progress"))), end("b"), end("c"),
        stuck_turns=3,
    ),
    "nothing gets on without the net": plan(
        state("a", [ask("k")], go("c", equals("k", True))), end("b"), end("c"), stuck_turns=0,
    ),
    "a value that nobody reads any more is progress": plan(
        state("z", [ask("o", "integer")], go("a", number("o", "gt", 2)), go("a", DONE, 2)),
        state("a", [{"id": "t", "description": "d", "deliverables": [
            {"key": "k", "description": "d"}, OPTIONAL]}],
              go("b", turns(2, "total")), go("c", turns(1, "without_progress"), 2),
              go("c", DONE, 3), kind="strict"),
        end("b"), end("c"),
    ),
    "a value of a goal that nobody reads any more is progress": plan(
        state("z", [ask("o", "integer")], go("a", number("o", "gt", 2)), go("a", DONE, 2)),
        state("a", [{"deliverables": [OPTIONAL]}], go("b", turns(2, "total")),
              go("c", turns(1, "without_progress"), 2), kind="goal"),
        end("b"), end("c"),
    ),
    "the net gets the run to its end": plan(
        state("a", [talk("t")], go("c", both(turns(3, "total"), equals("k", True)))),
        state("b", [], go("c", equals("k", True)), go("__end__", DONE, 2)),
        state("c", [ask("k")], go("__end__", DONE)), stuck_turns=2,
    ),
    "what is not there is not unequal": plan(
        state("a", [talk("t")], go("b", number("k", "neq", 3)), go("c", DONE, 2)),
        end("b"), end("c"),
    ),
    "text is folded, and may be a number": plan(
        state("a", [ask("k", "string"), ask("c", "enum", values=["Red", "3"])],
              go("b", both(equals("k", " YES "), equals("c", "red"))),
              go("c", both(number("k", "gt", 2), number("c", "eq", " 3 ")), 2)),
        end("b"), end("c"),
    ),
    "what was done stays done": plan(
        state("a", [talk("t")], go("b", DONE)),
        state("b", [ask("k")], go("a", equals("k", True)), go("c", equals("k", False))),
        end("c"),
    ),
    "a state that begins anew forgets": plan(
        state("a", [ask("k", "enum", values=COLOURS)], go("b", has("k")), on_reenter="reset"),
        state("b", [ask("x")], go("a", equals("x", True)), go("c", equals("x", False)),
              on_reenter="reset"),
        state("c", [talk("t")], go("d", equals("k", "red")), go("__end__", DONE, 2)),
        end("d"),
    ),
    # `a` is left at once for `z` where k or m is there; who comes back has forgotten k.
    "what is forgotten cannot trap": plan(
        state("r", [ask("p")], go("a", equals("p", True)), go("s", equals("p", False)),
              kind="strict"),
        state("s", [ask("k")], go("a", has("k")), kind="strict"),
        state("a", [ask("n"), ask("k")], go("z", has("k")), go("z", equals("m", True)),
              go("e", equals("n", True), 2), go("b", equals("n", False), 3),
              kind="strict", on_reenter="reset"),
        state("b", [ask("k"), ask("m")], go("d", both(DONE, equals("m", False))), go("c", DONE, 2),
              kind="strict"),
        state("c", [talk("t")], go("f", DONE), kind="strict"),
        state("d", [talk("t")], go("f", DONE), kind="strict"),
        state("f", [talk("t")], go("a", DONE), kind="strict"),
        state("z", [], go("e", has("nothing"))),
        end("e"), stuck_turns=0,
    ),
    "a retry that nobody asks again": plan(
        state("login", [ask("locked")], go("wait", equals("locked", True)),
              go("home", equals("locked", False))),
        state("wait", [], go("check", DONE)),
        state("check", [], go("wait", equals("locked", True)), go("home", equals("locked", False))),
        end("home"),
    ),
    "a trap that a correction opens": plan(
        state("a", [ask("k")], go("b", equals("k", True)), go("d", equals("k", False))),
        state("b", [ask("j")], go("c", has("j"))),
        state("c", [ask("k")], go("b", both(equals("k", True), equals("j", True))),
              go("d", both(equals("k", False), equals("j", True)))),
        end("d"), stuck_turns=0,
    ),
    "values that share a place": plan(
        state("a", [ask("x")], go("b", DONE)),
        state("b", [talk("t")], go("c", equals("x", True)), go("d", DONE, 2)),
        state("c", [ask("y", required=False)], go("d", DONE)),
        state("d", [talk("t")], go("e", equals("y", True)), go("f", DONE, 2)),
        state("e", [ask("z", required=False)], go("f", DONE)),
        state("f", [talk("t")], go("g", equals("z", False)), go("__end__", DONE, 2)),
        end("g"),
    ),
    "a goal is closed when something is known": plan(
        state("g", [ask("k")], go("c", both(CLOSED, number("n", "gt", 1))), go("d", CLOSED),
              go("c", has("k"), 2), kind="goal"),
        end("c"), end("d"),
    ),
    "what nobody asked is not missed": plan(
        state("g", [ask("k")], go("h", CLOSED), kind="goal"),
        state("h", [talk("t")], go("c", equals("k", True)), go("c", DONE, 2)),
        end("c"),
    ),
    "a closed goal moves on in order": plan(
        state("g", [ask("k")], go("c", has("k")), kind="goal"),
        state("h", [ask("k"), ask("l")], go("c", both(has("l"), has("k"))), kind="goal"),
        end("c"),
    ),
    "the last state ends with its turn": plan(
        state("a", [ask("k")], go("b", has("k"))),
        state("b", [ask("l", required=False)]),
    ),
    "a pass does not go round": plan(
        state("a", [ask("k")], go("b", has("k"))),
        state("b", [], go("c", turns(1, "total")), go("a", has("k"), 2)),
        end("c"),
    ),
    "two hold at once": plan(
        state("a", [ask("n", "number")], go("b", number("n", "gte", 5)),
              go("c", number("n", "lte", 8)), go("d", has("n"), 1)),
        end("b"), end("c"), end("d"),
    ),
    "tasks that need two answers": plan(
        state("a", [{"id": "t", "description": "d", "deliverables": [
            {"key": "x", "type": "boolean"}, {"key": "y", "type": "boolean", "required": False}]}],
              go("b", both(DONE, equals("y", True))), go("c", DONE, 2)),
        state("b", [{"id": "t", "description": "d", "deliverables": [
            {"key": "x", "type": "boolean"}, {"key": "z", "type": "boolean"}]}],
              go("c", DONE), go("d", equals("z", False), 2), kind="strict"),
        end("c"), end("d"),
    ),
    "a body may write nothing": {
        "initial": "a",
        "fields": {"x": {"type": "bool"}, "y": {"type": "int", "default": 1}},
        "states": {
            "a": {"type": "agent", "writes": ["x", "y"], "transition": {"next": [
                {"to": "b", "when": "x == False"}, {"to": "c", "when": {"x__exists": False}},
                {"to": "d", "when": {"y__ne": 1}}, "e"]}},
            "b": {"type": "user", "writes": ["y"], "transition": {"next": [
                {"to": "e", "when": "y > 3"}, {"to": "a", "when": "0 < y <= 3"}]}},
            "c": {"type": "decision", "transition": {"next": [{"to": "e", "when": "not x"}, "e"]}},
            "d": {"type": "tool", "transition": {"next": [{"to": "e", "when": {"y__gt": 2}}]}},
            "e": {"type": "terminal"},
        },
    },
    "typed in capitals: equal when folded, not exactly": {
        "initial": "a",
        "fields": {"x": {"type": "str"}},
        "states": {
            "a": {"type": "user", "writes": ["x"], "transition": {"next": [
                {"to": "b", "when": {"x": "red"}}, {"to": "b", "when": "x == 'blue '"}, "d"]}},
            "b": {"type": "agent", "transition": {"next": [
                {"to": "c", "when": "x != 'red'"}, "d"]}},
            "c": {"type": "agent", "transition": {"next": [
                {"to": "d", "when": {"y": 1}}, {"to": "d", "when": "x == 'red'"}]}},
            "d": {"type": "terminal"},
        },
    },
    "asked before the model chooses": {
        "initial": "a",
        "fields": {"x": {"type": "bool"}},
        "states": {
            "a": {"type": "agent", "transition": {"next": [
                {"to": "c", "when": {"x": True}}, "b", "c"]}},
            "b": {"type": "agent", "writes": ["x"], "transition": {"next": ["c"]}},
            "c": {"type": "terminal"},
        },
    },
    "only the net leads there": plan(
        state("a", [talk("t")], go("d", equals("k", True))),
        state("b", [talk("t")], go("d", equals("k", True))),
        state("c", [ask("k")], go("d", equals("k", True)), go("e", has("k"))),
        end("d"), end("e"), stuck_turns=2,
    ),
    # `g` is only entered by a call, through `a`: it stops there, and is left at the turn's end.
    "a goal is not closed before anybody spoke": plan(
        state("a", [ask("k")], go("h", has("k")), on_reenter="reset"),
        state("h", [], go("g", DONE)),
        state("g", [], go("b", CLOSED), go("c", both(CLOSED, has("k"))), go("a", has("k"), 2),
              kind="goal"),
        end("b"), end("c"),
    ),
    # Six states that are left at once, and four moves at most.
    "a pass is not longer than it may be": plan(
        state("a", [ask("k")], go("s0", has("k"))),
        *[state(f"s{n}", [], go(f"s{n + 1}", has("k"))) for n in range(5)],
        state("s5", [ask("l")], go("__end__", has("k")), go("z", has("l"), 2)),
        end("z"), max_hops=4,
    ),
    "a pass as long as it may be": plan(
        state("a", [ask("k")], go("s0", has("k"))),
        *[state(f"s{n}", [], go(f"s{n + 1}", has("k"))) for n in range(3)],
        state("s3", [ask("l")], go("__end__", has("k")), go("z", has("l"), 2)),
        end("z"), max_hops=4,
    ),
    "what is not passed on is gone": {
        "initial": "a",
        "fields": {"x": {"type": "bool"}, "y": {"type": "int", "default": 1}},
        "states": {
            "a": {"type": "agent", "writes": ["x"], "transition": {"next": [
                {"to": "b", "when": {"x": True}, "state_filter": ["y"]}, "c"]}},
            "b": {"type": "decision", "transition": {"next": [
                {"to": "d", "when": {"x__exists": True}},
                {"to": "c", "when": {"y": 1}, "state_filter": []}]}},
            "c": {"type": "decision", "transition": {"next": [
                {"to": "d", "when": {"y": 1}}, {"to": "e", "when": {"x__exists": True}},
                {"to": "d", "when": {"y__exists": False}}]}},
            "d": {"type": "terminal"}, "e": {"type": "terminal"},
        },
    },
    "what is dropped lets a run end": {
        "initial": "a",
        "fields": {"x": {"type": "bool"}},
        "states": {
            "a": {"type": "agent", "writes": ["x"], "transition": {"next": ["b", "c"]}},
            "b": {"type": "decision", "transition": {"next": [{"to": "c", "state_filter": []}]}},
            "c": {"type": "decision", "transition": {"next": [
                {"to": "d", "when": {"x__exists": False}}, {"to": "c", "when": {"x": True}}]}},
            "d": {"type": "terminal"},
        },
    },
    "a default that nothing writes may be given": {
        "initial": "a",
        "fields": {"x": {"type": "enum", "values": ["one", "two"], "default": "one"},
                   "y": {"type": "int", "default": 0}},
        "states": {
            "a": {"type": "agent", "writes": ["y"], "transition": {"next": ["b"]}},
            "b": {"type": "decision", "transition": {"next": [
                {"to": "c", "when": {"x": "two"}}, {"to": "d", "when": {"x": "one"}}]}},
            "c": {"type": "decision", "transition": {"next": [{"to": "d", "when": {"y": 7}}]}},
            "d": {"type": "terminal"},
        },
    },
    "two hold where the run begins": plan(
        state("a", [], go("b", DONE), go("c", DONE)), end("b"), end("c"),
    ),
}  # fmt: skip


def agent(*routes: Any, **more: Any) -> Parts:
    return {"type": "agent", "description": "d", "transition": {"next": list(routes)}, **more}


def split(*routes: Any, **more: Any) -> Parts:
    way = {"fanout": "all", "next": list(routes)}
    return {"type": "agent", "description": "d", **more, "transition": way}


ENDS: Parts = {"e": {"type": "terminal"}, "f": {"type": "terminal"}}


def several(**states: Parts) -> Parts:
    """A `states` graph that begins in `s`, with two ends."""
    fields = {"a": {"type": "bool"}, "b": {"type": "bool"}}
    return {"initial": "s", "fields": fields, "states": {**states, **ENDS}}


#: The same for graphs that split.
SPLITS: dict[str, Parts] = {
    "the last of two values wins": several(
        s=split("p", "q"),
        p=agent({"to": "j", "when": "a"}, "f", writes=["a"]),
        q=agent({"to": "j", "when": "not a"}, "f", writes=["a"]),
        j=agent({"to": "e", "when": "a"}, "f", join="all"),
    ),
    "a value from before an inner split": several(
        s=split("p", "q"),
        p=split("x", "y", writes=["a"]),
        q=agent("j"),
        x=agent({"to": "j", "when": "a"}, "f"),
        y=agent("f"),
        j=agent({"to": "e", "when": "a"}, "f", join="all"),
    ),
    "an outer join that waits since an inner one does": several(
        s=split("p", "q", writes=["a"]),
        p=agent({"to": "x", "when": "a"}, {"to": "y", "when": "True"}, fanout="all"),
        q=agent("j"),
        x=agent("k"),
        y=agent("k"),
        k=agent("j", join="all"),
        j=agent("e", join="all"),
    ),
    "an outer join that lacks a branch of its own, or an inner one": several(
        s=split("p", "q", writes=["a"]),
        p=split("x", "y"),
        q=agent("j"),
        x=agent("k"),
        y=agent({"to": "k", "when": "a"}, "j"),
        k=agent("j", join="all"),
        j=agent("e", join="all"),
    ),
    "two joins that wait for each other": several(
        s=split("p", "q"),
        p=agent("j"),
        q=agent("k"),
        j=agent("k", join="all"),
        k=agent({"to": "j", "when": "a"}, "e", join="all", writes=["a"]),
    ),
    "an end that comes last where every body takes one turn": several(
        s=split("p", "q", {"to": "r", "when": "a"}, writes=["a"]),
        p=agent("f"),
        q=agent("j"),
        r=agent("j"),
        j=agent("e", join="all"),
    ),
    "an outer join after an inner one": several(
        s=split("p", "q", writes=["a"]),
        p=split("x", "y", writes=["b"]),
        q=agent({"to": "j", "when": "a"}, "f", writes=["a"]),
        x=agent("k"),
        y=agent({"to": "k", "when": "b"}, "f", writes=["b"]),
        k=agent("j", join="all"),
        j=agent({"to": "e", "when": "a and b"}, "f", join="all"),
    ),
    "what is shared agrees": several(
        s=split("p", "q", writes=["a"]),
        p=agent({"to": "j", "when": "a"}, "f"),
        q=agent({"to": "j", "when": "not a"}, "f"),
        j=agent("e", join="all"),
    ),
    "groups wait apart": several(
        s=split("p", "q", "r"),
        p=agent({"to": "j", "group": "one"}),
        q=agent({"to": "j", "group": "one"}),
        r=agent({"to": "j", "group": "two"}),
        j=agent("e", join="all"),
    ),
    "three are waited for": several(
        s=split("p", "q", {"to": "r", "when": "has('a')"}, writes=["a"]),
        p=agent("j"), q=agent("j"), r=agent("j"),
        j=agent("e", join="all"),
    ),
    "a guard behind one that holds": several(
        s=split({"to": "p", "when": "not has('b')"}, {"to": "q", "when": "b"}, "q2"),
        p=agent("j"), q=agent("e"), q2=agent("j"),
        j=agent("e", join="all"),
    ),
    "an error brings one alone": several(
        s=split("p", "q"),
        p=agent("j", on_error="k"), q=agent("j"),
        k=agent("f"),
        j=agent("e", join="all"),
    ),
    "one walks on before another one comes": several(
        s=split("p", "q"),
        p=agent("j"), q=agent("x"), x=agent("j"),
        j=agent("k"), k=agent("m"), m=agent("e"),
    ),
    "one goes round, another one ends": several(
        s=split("p", "q"),
        p=agent({"to": "p", "when": "a"}, "p2", writes=["a"]), p2=agent("p"),
        q=agent("x"), x=agent({"to": "e", "when": "a"}, "f", writes=["a"]),
    ),
    "one ends while three walk on to be joined": several(
        s=split("p", "q", "r", "t"),
        p=agent("p2"), p2=agent("j"), q=agent("q2"), q2=agent("j"), r=agent("j"),
        t=agent({"to": "e", "when": "a"}, "f", writes=["a"]),
        j=agent("e", join="all"),
    ),
    "a body that writes nothing of what it may": several(
        s=split("p", "q", writes=["a"]),
        p=agent({"to": "j", "when": "not has('a')"}, "j"), q=agent("j"),
        j=agent({"to": "e", "when": "a"}, {"to": "f", "when": {"a__exists": False}}, "f",
                join="all"),
    ),
}  # fmt: skip
