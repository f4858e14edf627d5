"""Random graphs to prove the verifier with: the same seed gives the same graph.

Even seeds are plans, odd ones `states` graphs. They are small but mean: keys that several states
share, tied priorities, routes back, constants of the wrong type, ranges the wrong way round, turn
guards, tasks without keys, states without tasks.

    python tests/verify_graphs.py SEED      prints a graph
"""

from __future__ import annotations

import json
import random
import sys
from typing import Any

TYPES = ("string", "number", "integer", "boolean", "enum")
FIELD_TYPES = {
    "string": "str", "number": "float", "integer": "int", "boolean": "bool", "enum": "enum",
    "any": "any",
}  # fmt: skip
MEMBERS = ("red", "Blue", "3")
WORDS = ("yes", "red")
NUMBERS = (2, 3, 2.5)


def graph(seed: int) -> dict[str, Any]:
    """The graph of a seed, as a JSON file would hold it."""
    rng = random.Random(seed)
    value = _Plan(rng).graph() if seed % 2 == 0 else _States(rng).graph()
    more = random.Random(f"{seed} hops")
    if seed % 2 == 0 and more.random() < 0.1:
        value["limits"]["max_hops"] = more.choice((1, 2, 3))
    if seed % 2 and more.random() < 0.15:
        _filter(more, value)
    return value


def _filter(rng: random.Random, value: dict[str, Any]) -> None:
    """Let some routes of a `states` graph pass on less than all data."""
    for state in value["states"].values():
        listed = (state.get("transition") or {}).get("next") or []
        for at, item in enumerate(listed):
            if rng.random() < 0.4:
                kept = {"state_filter": rng.sample(("a", "b", "c"), rng.randint(0, 2))}
                listed[at] = {"to": item, **kept} if isinstance(item, str) else {**item, **kept}


class _Draw:
    """What both forms draw from: keys with a type and a few constants each."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.keys = ["a", "b", "c"][: rng.choice((1, 2, 2, 3))]
        self.types = {key: rng.choice(TYPES) for key in self.keys}
        self.words = {key: rng.sample(WORDS, 1) for key in self.keys}
        self.numbers = {
            key: sorted(rng.sample(NUMBERS, rng.choice((1, 1, 2)))) for key in self.keys
        }

    def chance(self, percent: int) -> bool:
        return self.rng.random() * 100 < percent

    def constant(self, key: str) -> Any:
        """A value to compare with: of the key's type, written in another way, or of none."""
        kind, rng = self.types[key], self.rng
        if self.chance(8):
            return rng.choice(["true", 1, True, "nowhere", "3"])
        if kind == "boolean":
            return self.chance(50)
        if kind in ("number", "integer"):
            return rng.choice(self.numbers[key])
        word = rng.choice(MEMBERS if kind == "enum" else self.words[key])
        return f" {word.upper()}" if self.chance(20) else word

    def ordered(self, key: str) -> list[float]:
        """A range, now and then the wrong way round."""
        low, high = self.numbers[key][0], self.numbers[key][-1]
        return [high + 1, low] if self.chance(12) else [low, high]


class _Plan(_Draw):
    """A plan of two to seven states."""

    def __init__(self, rng: random.Random) -> None:
        super().__init__(rng)
        self.names = [f"s{n}" for n in range(rng.choice((2, 3, 3, 4, 4, 5, 6, 7)))]
        self.chained = self.chance(50)
        self.timed = self.chance(35)
        self.resets = self.chance(15)

    def graph(self) -> dict[str, Any]:
        states = [self.state(n) for n in range(len(self.names))]
        limits: dict[str, Any] = {}
        if self.chance(20):
            limits = {"stuck_turns": 0}
        elif self.timed or self.chance(30):
            limits = {"stuck_turns": self.rng.choice((1, 2, 3))}
        return {"id": "p", "title": "P", "limits": limits, "states": states}

    def state(self, at: int) -> dict[str, Any]:
        kind = self.rng.choice(("loose", "loose", "strict", "goal"))
        name = self.names[at]
        state: dict[str, Any] = {"id": name, "title": name, "type": kind}
        if kind == "goal":
            state["goal"] = {
                "objective": "o", "success_description": "s",
                "deliverables": [self.deliverable(key) for key in self.some_keys()],
            }  # fmt: skip
        else:
            state["tasks"] = self.tasks(name)
        state["transitions"] = self.transitions(at, kind)
        if self.resets and self.chance(50):
            state["on_reenter"] = "reset"
        return state

    def some_keys(self) -> list[str]:
        most = min(2, len(self.keys))
        return self.rng.sample(self.keys, self.rng.randint(0, most))

    def deliverable(self, key: str) -> dict[str, Any]:
        kind = self.types[key]
        found: dict[str, Any] = {"key": key, "type": kind, "description": "d"}
        if kind == "enum":
            found["enum_values"] = list(MEMBERS)
        if self.chance(25):
            found["required"] = False
        return found

    def tasks(self, state: str) -> list[dict[str, Any]]:
        found = []
        for n in range(self.rng.choice((0, 1, 1, 1, 2))):
            keys = [] if self.chance(25) else self.some_keys()
            task: dict[str, Any] = {
                "id": f"{state}t{n}", "description": "d",
                "deliverables": [self.deliverable(key) for key in keys],
            }  # fmt: skip
            if self.chance(25):
                task["required"] = False
            found.append(task)
        return found

    def transitions(self, at: int, kind: str) -> list[dict[str, Any]]:
        if self.chance(12):
            return []
        count = self.rng.choice((1, 2, 2, 3))
        found = [self.transition(self.target(at), kind) for _ in range(count)]
        if self.chained and at + 1 < len(self.names):
            done = {"target_state_id": self.names[at + 1], "priority": self.rng.choice((1, 3, 9))}
            found.append(done | ({} if self.chance(50) else self.condition(kind)))
        return found

    def target(self, at: int) -> str:
        if self.chained:
            back = self.names[: at + 1]
            ahead = self.names[at + 1 : at + 3]
            return self.rng.choice([*back, *ahead, *ahead, "__end__"])
        return self.rng.choice([*self.names, "__end__"])

    def transition(self, target: str, kind: str) -> dict[str, Any]:
        route = {"target_state_id": target, "priority": self.rng.choice((1, 1, 2, 3))}
        return route | self.condition(kind)

    def condition(self, kind: str, depth: int = 0) -> dict[str, Any]:
        """Any condition; composites nest up to two deep."""
        kinds = ["deliverable_exists", "deliverable_value", "deliverable_value",
                 "deliverable_value_in", "deliverable_value_numeric", "deliverable_value_numeric",
                 "all_tasks_complete"]  # fmt: skip
        kinds += ["turn_count_exceeded"] * (2 if self.timed else 0)
        kinds += ["goal_achieved"] if kind == "goal" or self.chance(4) else []
        kinds += ["all_of", "any_of", "compound"] if depth < 2 else []
        word = self.rng.choice(kinds)
        return {"condition_type": word, "condition_config": self.config(word, kind, depth)}

    def config(self, word: str, kind: str, depth: int) -> dict[str, Any]:
        key = self.rng.choice(self.keys)
        if word == "deliverable_exists":
            return {"key": key}
        if word == "deliverable_value":
            return {"key": key, "value": self.constant(key)}
        if word == "deliverable_value_in":
            return {
                "key": key,
                "values": [self.constant(key) for _ in range(self.rng.choice((1, 2)))],
            }
        if word == "deliverable_value_numeric":
            return {"key": key, **self.numeric(key)}
        if word == "turn_count_exceeded":
            scope = self.rng.choice(("total", "without_progress"))
            return {"turns": self.rng.choice((1, 1, 2, 3)), "scope": scope}
        if word in ("all_of", "any_of", "compound"):
            children = [self.condition(kind, depth + 1) for _ in range(2)]
            found: dict[str, Any] = {"conditions": children}
            if word == "compound":
                found["operator"] = self.rng.choice(("and", "or"))
            return found
        return {}

    def numeric(self, key: str) -> dict[str, Any]:
        word = self.rng.choice(("gt", "gte", "lt", "lte", "eq", "neq", "between"))
        if word == "between":
            low, high = self.ordered(key)
            return {"operator": word, "min": low, "max": high, "inclusive": self.chance(60)}
        value: Any = self.rng.choice(self.numbers[key])
        return {"operator": word, "value": f" {value}" if self.chance(10) else value}


class _States(_Draw):
    """A `states` graph of two to seven states, whose last one is terminal."""

    def __init__(self, rng: random.Random) -> None:
        super().__init__(rng)
        self.names = [f"s{n}" for n in range(rng.choice((3, 3, 4, 4, 5, 6, 7)))]
        self.priorities = self.chance(40)
        self.declared = self.chance(85)
        for key in self.keys:
            if self.chance(10):
                self.types[key] = "any"

    def graph(self) -> dict[str, Any]:
        states = {name: self.state(name) for name in self.names[:-1]}
        states[self.names[-1]] = {"type": "terminal", "description": "the end"}
        found = {"initial": self.names[0], "fields": self.fields(), "states": states}
        return found if self.declared else {k: v for k, v in found.items() if k != "fields"}

    def fields(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key in self.keys:
            kind = FIELD_TYPES[self.types[key]]
            field: dict[str, Any] = {"type": kind}
            if field["type"] == "enum":
                field["values"] = list(MEMBERS)
            if self.chance(20):
                field["default"] = self.default(key)
            found[key] = field
        return found

    def default(self, key: str) -> Any:
        kind = self.types[key]
        if kind == "boolean":
            return self.chance(50)
        return self.rng.choice({"enum": MEMBERS, "string": self.words[key]}.get(kind, (2, 3)))

    def state(self, name: str) -> dict[str, Any]:
        kind = self.rng.choice(("agent", "agent", "user", "tool", "decision"))
        state: dict[str, Any] = {"type": kind, "description": f"state {name}"}
        if kind == "user" and self.chance(50):
            state["writes"] = [self.rng.choice(self.keys)]
        elif kind in ("agent", "tool") and self.chance(65):
            state["writes"] = self.rng.sample(
                self.keys, self.rng.randint(1, min(2, len(self.keys)))
            )
        routes: list[Any] = [self.guarded() for _ in range(self.rng.choice((0, 1, 2, 2, 3)))]
        plain = self.rng.sample(self.names, self.rng.choice((0, 1, 1, 2)))
        if not routes and not plain:
            plain = [self.names[-1]]
        routes += [self.plain(target) for target in plain]
        if self.chance(8):
            self.rng.shuffle(routes)
        state["transition"] = {"next": routes}
        if self.chance(4):
            state["on_error"] = self.rng.choice(self.names)
        return state

    def plain(self, target: str) -> Any:
        if self.priorities and self.chance(40):
            return {"to": target, "priority": self.rng.choice((1, 2, 3))}
        return target

    def guarded(self) -> dict[str, Any]:
        route: dict[str, Any] = {"to": self.rng.choice(self.names), "when": self.when()}
        if self.priorities:
            route["priority"] = self.rng.choice((1, 1, 2))
        return route

    def when(self) -> Any:
        if self.chance(45):
            return self.expression()
        if self.chance(10):
            plan = _Plan(random.Random(self.rng.random()))
            plan.keys, plan.types, plan.timed = self.keys, self.types, False
            plan.words, plan.numbers = self.words, self.numbers
            return plan.condition("agent", depth=1)
        found: dict[str, Any] = {}
        for key in self.rng.sample(self.keys, self.rng.randint(1, min(2, len(self.keys)))):
            word, value = self.suffixed(key)
            found[f"{key}__{word}" if word else key] = value
        return found

    def suffixed(self, key: str) -> tuple[str, Any]:
        words = [
            "",
            "",
            "eq",
            "ne",
            "lt",
            "lte",
            "gt",
            "gte",
            "in",
            "notin",
            "exists",
            "is",
            "isnot",
        ]
        if self.declared and self.types[key] != "any":
            words.append("contains")  # what a field of any type contains cannot be known
        word = self.rng.choice(words)
        if word == "exists":
            return word, self.chance(50)
        if word in ("lt", "lte", "gt", "gte"):
            return word, self.rng.choice(self.numbers[key])
        if word in ("in", "notin"):
            return word, [self.constant(key) for _ in range(self.rng.choice((1, 2)))]
        return word, self.constant(key)

    def expression(self, depth: int = 0) -> str:
        key = self.rng.choice(self.keys)
        if depth < 2 and self.chance(40):
            word = self.rng.choice(("and", "or", "not"))
            if word == "not":
                return f"not ({self.expression(depth + 1)})"
            return f"({self.expression(depth + 1)}) {word} ({self.expression(depth + 1)})"
        if self.chance(12):
            return f"has('{key}')"
        if self.types[key] == "boolean" and self.chance(50):
            return key
        if self.types[key] in ("number", "integer"):
            low, high = self.ordered(key)
            return self.rng.choice((
                f"{key} > {low}", f"{key} <= {high}", f"{low} <= {key} < {high}", f"{key} == {low}",
                f"{key} != {high}", f"{key} in ({low}, {high})", f"{high} > {key}",
            ))  # fmt: skip
        value = repr(self.constant(key))
        more = repr(self.constant(key))
        return self.rng.choice((
            f"{key} == {value}", f"{key} != {value}", f"{key} in ({value}, {more})",
            f"{key} not in [{value}]",
        ))  # fmt: skip


if __name__ == "__main__":
    print(json.dumps(graph(int(sys.argv[1])), indent=1))
