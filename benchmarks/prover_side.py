"""Asks one prover its questions about a file and prints the answers as JSON:
``{"gap": [node], "overlap": [[node, i, j]], "shadow": [[node, i]], "said": messages}``.

    python benchmarks/prover_side.py statecli|yamlgraph|z3|nothing FILE
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any


def statecli(path: Path) -> dict[str, Any]:
    """Ours, over all that a run can bring to a node."""
    from statecli.load.loader import load
    from statecli.verify.verifier import verify

    graph = load(path.name, path.read_text(encoding="utf-8")).graph
    assert graph is not None
    report = verify(graph)
    return {
        "gap": sorted(report.lists["stuck"]), "overlap": sorted(report.lists["tie"]),
        "shadow": sorted(report.lists["dead"]), "said": len(report.findings),
    }  # fmt: skip


def yamlgraph(path: Path) -> dict[str, Any]:
    """The three checks of yamlgraph's linter; `unset`: gaps where a field is not there."""
    from yamlgraph.linter.patterns.conditions_smt import check_condition_smt  # type: ignore[import-not-found]

    found: dict[str, Any] = {"gap": [], "unset": [], "overlap": [], "shadow": [], "said": 0}
    for issue in check_condition_smt(path):
        node = re.search(r"at '(\w+)'", issue.message)
        name = node.group(1) if node else ""
        found["said"] += 1
        numbers = [int(n) - 1 for n in re.findall(r"\b(\d+)\b", issue.message.split(" at ")[0])]
        if issue.code == "W803":
            found["unset" if "when unset" in issue.message else "gap"].append(name)
        elif issue.code == "W804":
            found["overlap"].append([name, *numbers])
        elif issue.code == "W805":
            found["shadow"].append([name, *numbers])
        else:
            found.setdefault("notices", []).append(issue.message)
    return found


def z3(path: Path) -> dict[str, Any]:
    """z3 on the same questions, with our meaning: a comparison with what is not there is false,
    whole numbers are whole. Gaps and overlaps where all is there, shadows over everything."""
    import z3 as solver  # type: ignore[import-not-found]

    sorts = {"int": solver.Int, "float": solver.Real, "str": solver.String, "bool": solver.Bool}
    found: dict[str, Any] = {"gap": [], "overlap": [], "shadow": [], "said": 0}

    def sat(*formulas: Any) -> bool:
        one = solver.Solver()
        one.add(*formulas)
        return str(one.check()) == "sat"

    for node in json.loads(path.read_text(encoding="utf-8")):
        values = {key: sorts[kind](key) for key, kind in node["fields"].items()}
        there = {key: solver.Bool(f"has_{key}") for key in values}

        def guard(parts: list[Any], values: Any = values, there: Any = there) -> Any:
            word, *comparisons = parts
            keys = {key for key, _, _ in comparisons}
            tests = [_compared(values[key], *rest) for key, *rest in comparisons]
            joined = solver.And(*tests) if word == "and" else solver.Or(*tests)
            return solver.And(joined, *(there[key] for key in keys))

        guards = [guard(parts) for parts in node["guards"]]
        all_there = list(there.values())
        if not node["default"] and sat(solver.Not(solver.Or(*guards)), *all_there):
            found["gap"].append(node["name"])
        for i, one in enumerate(guards):
            if not sat(one, *(solver.Not(other) for other in guards[:i])):
                found["shadow"].append([node["name"], i])
            for j in range(i + 1, len(guards)):
                if sat(one, guards[j], *all_there):
                    found["overlap"].append([node["name"], i, j])
    found["said"] = len(found["gap"]) + len(found["overlap"]) + len(found["shadow"])
    return found


def _compared(left: Any, operator: str, right: Any) -> Any:
    if operator == "==":
        return left == right
    if operator == "!=":
        return left != right
    if operator == "<":
        return left < right
    if operator == "<=":
        return left <= right
    return left > right if operator == ">" else left >= right


def nothing(path: Path) -> dict[str, Any]:
    """The start of Python and the reading of a file: what is in all of them."""
    path.read_text(encoding="utf-8")
    return {}


def main() -> None:
    """Ask one of them."""
    ask = {"statecli": statecli, "yamlgraph": yamlgraph, "z3": z3, "nothing": nothing}[sys.argv[1]]
    print(json.dumps(ask(Path(sys.argv[2]))))


if __name__ == "__main__":
    main()
