"""The oracle's own truth of conditions (model.md 4.2): from the text of a file to true or false.

A condition is a tuple that begins with a word: ("always",) ("never",) ("complete",) ("closed",)
("turns", scope, number) ("exists", key) ("absent", key) ("test", key, operator, constant)
("all", conditions) ("any", conditions) ("python", text, required names, compiled).
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

Condition = tuple[Any, ...]
NEVER: Condition = ("never",)
_NUMERIC = {"gt", "gte", "lt", "lte", "num_eq", "num_ne", "between"}
_OLD = {">": "gt", ">=": "gte", "<": "lt", "<=": "lte", "==": "eq", "!=": "neq", "range": "between"}


class Scene:
    """What a condition may look at. `asked` collects the keys whose values were looked at and were
    not there, `found` those that were."""

    def __init__(
        self, data: Mapping[str, Any], complete: bool, closed: bool, total: int, idle: int
    ) -> None:
        self.data = data
        self.complete = complete
        self.closed = closed
        self.counts = {"total": total, "without_progress": idle}
        self.asked: list[str] = []
        self.found: list[str] = []


def plan_condition(kind: Any, config: Any, in_goal: bool) -> Condition:
    """A condition of the plan form; ("never",) where anything in it is wrong."""
    found = _plan(kind, config or {}, in_goal, 1)
    return NEVER if broken(found) else found


def broken(condition: Condition) -> bool:
    """One wrong part makes the whole wrong."""
    return any(part[0] == "never" for part in parts(condition))


def parts(condition: Condition) -> Iterator[Condition]:
    yield condition
    if condition[0] in ("all", "any"):
        for child in condition[1]:
            yield from parts(child)


def _plan(kind: Any, config: Any, in_goal: bool, depth: int) -> Condition:
    if kind in (None, "all_tasks_complete"):
        return ("closed",) if in_goal else ("complete",)
    if kind == "goal_achieved":
        return ("closed",) if in_goal else NEVER
    if kind == "turn_count_exceeded":
        turns = config.get("turns", config.get("value"))
        scope = config.get("scope", "without_progress")
        return ("turns", scope, math.floor(turns)) if number(turns) is not None else NEVER
    if kind in ("all_of", "any_of", "compound"):
        if depth > 5 or not isinstance(config.get("conditions"), list):
            return NEVER
        word = {"all_of": "and", "any_of": "or"}.get(kind) or config.get("operator")
        children = tuple(
            _plan(child.get("condition_type", child.get("type")),
                  child.get("condition_config", child.get("config")) or {}, in_goal, depth + 1)
            for child in config["conditions"]
        )  # fmt: skip
        return ({"and": "all", "or": "any"}[word], children) if word in ("and", "or") else NEVER
    key = config.get("key", config.get("deliverable_key"))
    if not isinstance(key, str):
        return NEVER
    if kind == "deliverable_exists":
        return ("exists", key)
    if kind == "deliverable_value":
        name = "value" if "value" in config else "expected_value"
        return ("test", key, "eq", config[name]) if name in config else NEVER
    if kind == "deliverable_value_in":
        listed = config.get("values")
        return ("test", key, "in", listed) if isinstance(listed, list) else NEVER
    return _plan_number(key, config) if kind == "deliverable_value_numeric" else NEVER


def _plan_number(key: str, config: Mapping[str, Any]) -> Condition:
    word = config.get("operator")
    word = _OLD.get(word, word) if isinstance(word, str) else None
    if word == "between":
        low, high = number(config.get("min")), number(config.get("max"))
        if low is None or high is None or low > high:
            return NEVER
        return ("test", key, "between", (low, high, config.get("inclusive", True)))
    if word not in ("gt", "gte", "lt", "lte", "eq", "neq") or number(config.get("value")) is None:
        return NEVER
    word = {"eq": "num_eq", "neq": "num_ne"}.get(word, word)
    return ("test", key, word, number(config["value"]))


def when_condition(value: Any, in_goal: bool = False) -> Condition | None:
    """The `when` of the states form; None for no condition."""
    if value is None or value == "default" or value == {}:
        return None
    if isinstance(value, str):
        return _python(value)
    if "condition_type" in value:
        return plan_condition(value["condition_type"], value.get("condition_config"), in_goal)
    tests = tuple(_when(name, constant) for name, constant in value.items())
    found = tests[0] if len(tests) == 1 else ("all", tests)
    return NEVER if broken(found) else found


def _when(name: str, constant: Any) -> Condition:
    key, cut, word = name.rpartition("__")
    words = ("eq", "ne", "lt", "lte", "gt", "gte", "in", "notin", "contains", "is", "isnot")
    if not cut or word not in (*words, "exists"):
        key, word = name, "eq"
    if word == "exists":
        return ("exists" if constant else "absent", key)
    if word in _NUMERIC:
        constant = number(constant)
        return NEVER if constant is None else ("test", key, word, constant)
    return ("test", key, word, constant)


def _python(text: str) -> Condition:
    """An expression, run by Python itself over the data: these graphs are our own."""
    tree = ast.parse(text.strip(), mode="eval")
    inside = {
        id(node.func) for node in ast.walk(tree)
        if isinstance(node, ast.Call)
    }  # fmt: skip
    names = [
        node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in inside
    ]
    return ("python", text, tuple(dict.fromkeys(names)), compile(tree, "when", "eval"))


def keys(condition: Condition) -> set[str]:
    """The keys that a condition looks at."""
    found: set[str] = set()
    for part in parts(condition):
        if part[0] in ("exists", "absent", "test"):
            found.add(part[1])
        elif part[0] == "python":
            tree = ast.parse(part[1].strip(), mode="eval")
            found.update(part[2])
            found.update(
                str(node.args[0].value) for node in ast.walk(tree)
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
                and node.func.id == "has" and isinstance(node.args[0], ast.Constant)
            )  # fmt: skip
    return found


def constants(condition: Condition) -> Iterator[tuple[str, Any]]:
    """Every (key, constant) that it compares."""
    for part in parts(condition):
        if part[0] == "test":
            listed = part[3] if isinstance(part[3], list | tuple) else [part[3]]
            yield from ((part[1], value) for value in listed if not isinstance(value, bool))
        elif part[0] == "python":
            tree = ast.parse(part[1].strip(), mode="eval")
            found = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
            found += [-node.operand.value for node in ast.walk(tree)
                      if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
                      and isinstance(node.operand, ast.Constant)
                      and isinstance(node.operand.value, int | float)]  # fmt: skip
            found += [int(value) for value in found if isinstance(value, bool)]  # 1 == True
            found += [0, ""]  # false by themselves
            yield from ((key, value) for key in keys(part) for value in found)


def holds(condition: Condition, scene: Scene) -> bool:
    """Whether it holds; parts are read from left to right and no further than needed."""
    word = condition[0]
    if word == "complete":
        return scene.complete
    if word == "closed":
        return scene.closed
    if word == "turns":
        return bool(scene.counts[condition[1]] >= condition[2])
    if word == "all":
        return all(holds(child, scene) for child in condition[1])
    if word == "any":
        return any(holds(child, scene) for child in condition[1])
    if word == "exists":
        return condition[1] in scene.data
    if word == "absent":
        return condition[1] not in scene.data
    if word == "test":
        if condition[1] not in scene.data:
            scene.asked.append(condition[1])
            return False
        scene.found.append(condition[1])
        return test(condition[2], scene.data[condition[1]], condition[3])
    if word == "python":
        lacking = [name for name in condition[2] if name not in scene.data]
        scene.asked.extend(lacking)
        scene.found.extend(name for name in condition[2] if name in scene.data)
        return not lacking and _run(condition[3], scene.data)
    return False


def _run(code: Any, data: Mapping[str, Any]) -> bool:
    calls = {"has": lambda key: key in data, "len": len, "abs": abs, "min": min, "max": max}
    names = {"__builtins__": {**calls, "str": str, "int": int, "float": float, "bool": bool}}
    try:
        return bool(eval(code, names, dict(data)))
    except Exception:  # what Python would raise on is false
        return False


def test(word: str, value: Any, constant: Any) -> bool:
    """One comparison of a value that is there."""
    if word in _NUMERIC:
        n = number(value)
        return n is not None and _compare(word, n, constant)
    if word == "eq":
        return alike(value, constant)
    if word == "ne":
        return not alike(value, constant)
    if word in ("in", "notin"):
        found = any(alike(value, each) for each in constant)
        return found is (word == "in")
    if word == "contains":
        if isinstance(value, str):
            return isinstance(constant, str) and _plain(constant) in _plain(value)
        return isinstance(value, list) and any(alike(each, constant) for each in value)
    same = value is constant if isinstance(constant, bool | None) else alike(value, constant)
    return same is (word == "is")


def _compare(word: str, n: float, constant: Any) -> bool:
    if word == "between":
        low, high, inclusive = constant
        return bool(low <= n <= high if inclusive else low < n < high)
    if word == "gt":
        return bool(n > constant)
    if word == "gte":
        return bool(n >= constant)
    if word == "lt":
        return bool(n < constant)
    if word == "lte":
        return bool(n <= constant)
    return bool((n == constant) is (word == "num_eq"))


def alike(one: Any, other: Any) -> bool:
    """Text is compared trimmed and without case; nothing is converted."""
    if isinstance(one, str) and isinstance(other, str):
        return _plain(one) == _plain(other)
    if isinstance(one, bool) != isinstance(other, bool):
        return False
    return bool(one == other)


def _plain(text: str) -> str:
    return text.strip().casefold()


_DIGITS = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*", re.ASCII | re.IGNORECASE)


def number(value: Any) -> float | None:
    """Finite numbers, and text that is one."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return value if math.isfinite(value) else None
    if isinstance(value, str) and _DIGITS.fullmatch(value):
        return number(float(value))
    return None
