"""The same questions about guards for statecli, for z3 and for yamlgraph: at each node, is there a
state of the data that no guard takes (gap), that two take (overlap), and is some guard never the
first (shadow)?

    python benchmarks/guard_questions.py statecli|yamlgraph|neutral SEED NODES FILE

Each node writes all its fields, then goes to one of four ends by comparisons joined with `and` and
`or`: all that yamlgraph's conditions can say. Nothing is remembered from node to node, so what can
be known at one node is all there is to know.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

TYPES = ("int", "float", "str", "bool")
WORDS = ("red", "blue", "green")
ENDS = ("end_a", "end_b", "end_c", "end_d")
#: A comparison: key, operator, constant. A guard: "and" or "or", and comparisons.
Comparison = list[Any]


def nodes(seed: int, count: int) -> list[dict[str, Any]]:
    """Nodes with fields of their own (name to type), guards and, in a third, a way without one."""
    rng = random.Random(seed)
    found = []
    for at in range(count):
        fields = {f"k{at}_{n}": rng.choice(TYPES) for n in range(rng.choice((1, 1, 2)))}
        guards = [_guard(rng, fields) for _ in range(rng.choice((2, 3, 4)))]
        default = rng.random() < 0.33
        found.append({"name": f"n{at}", "fields": fields, "guards": guards, "default": default})
    return found


def _guard(rng: random.Random, fields: dict[str, str]) -> list[Any]:
    count = rng.choice((1, 1, 2))
    return [rng.choice(("and", "or")), *[_comparison(rng, fields) for _ in range(count)]]


def _comparison(rng: random.Random, fields: dict[str, str]) -> Comparison:
    key = rng.choice(list(fields))
    kind = fields[key]
    if kind == "bool":
        return [key, "==", rng.random() < 0.5]
    if kind == "str":
        return [key, rng.choice(("==", "==", "!=")), rng.choice(WORDS)]
    return [key, rng.choice(("<", "<=", ">", ">=", "==", "!=")), rng.choice((2, 5, 8))]


def _text(guard: list[Any], quote: str, words: dict[bool, str]) -> str:
    word, *comparisons = guard
    parts = []
    for key, operator, value in comparisons:
        shown = words[value] if isinstance(value, bool) else value
        shown = f"{quote}{value}{quote}" if isinstance(value, str) else shown
        parts.append(f"{key} {operator} {shown}")
    return f" {word} ".join(parts)


def statecli(listed: list[dict[str, Any]]) -> str:
    """A `states` graph, JSON: priorities are written, so ties are asked about."""
    states: dict[str, Any] = {}
    for at, node in enumerate(listed):
        texts = [_text(guard, "'", {True: "True", False: "False"}) for guard in node["guards"]]
        routes = [{"to": ENDS[n], "priority": 1, "when": text} for n, text in enumerate(texts)]
        if node["default"]:
            routes.append({"to": ENDS[-1], "priority": 2})
        states[node["name"]] = {
            "type": "agent", "description": f"node {at}", "writes": list(node["fields"]),
            "transition": {"next": routes},
        }  # fmt: skip
    states |= {name: {"type": "terminal", "description": name} for name in ENDS}
    names = [node["name"] for node in listed]
    fields = {key: {"type": kind} for node in listed for key, kind in node["fields"].items()}
    return json.dumps({"entry_transitions": names, "fields": fields, "states": states}, indent=1)


def yamlgraph(listed: list[dict[str, Any]]) -> str:
    """yamlgraph, JSON that YAML reads: pass-through nodes, guarded edges."""
    types = {"int": "int", "float": "float", "str": "str", "bool": "bool"}
    state = {key: types[kind] for node in listed for key, kind in node["fields"].items()}
    edges: list[dict[str, str]] = [{"from": "START", "to": listed[0]["name"]}]
    made = {
        node["name"]: {"type": "passthrough", "output": {"at": node["name"]}} for node in listed
    }
    made |= {name: {"type": "passthrough", "output": {"at": name}} for name in ENDS}
    for node in listed:
        for n, guard in enumerate(node["guards"]):
            text = _text(guard, "'", {True: "true", False: "false"})
            edges.append({"from": node["name"], "to": ENDS[n], "condition": text})
        if node["default"]:
            edges.append({"from": node["name"], "to": ENDS[-1]})
    edges += [{"from": name, "to": "END"} for name in ENDS]
    return json.dumps({"version": "1.0", "name": "questions", "state": state, "nodes": made,
                       "edges": edges}, indent=1)  # fmt: skip


def main() -> None:
    """Write one file."""
    form, seed, count, path = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4])
    listed = nodes(seed, count)
    forms: dict[str, Callable[[list[dict[str, Any]]], str]]
    forms = {"statecli": statecli, "yamlgraph": yamlgraph, "neutral": json.dumps}
    path.write_text(forms[form](listed), encoding="utf-8")


if __name__ == "__main__":
    main()
