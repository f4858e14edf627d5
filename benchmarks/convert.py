"""The generated graph in the languages of the peers; all guards read one field, `choice`.

    python benchmarks/convert.py asl|yamlgraph|lists COUNT FILE

No conversion has anything for its linter to find: the peer reads and checks, it does not print.
"""

import json
import sys
from pathlib import Path
from typing import Any

from generate import Sketch, branching


def asl(sketch: Sketch) -> str:
    """Amazon States Language, JSON: a choice of two and a default per state."""
    states = {name: _asl_state(sketch, here) for here, name in enumerate(sketch.names)}
    return json.dumps({"StartAt": sketch.names[0], "States": states}, indent=2)


def _asl_state(sketch: Sketch, here: int) -> dict[str, Any]:
    comment = {"Comment": sketch.descriptions[here]}
    targets = [sketch.names[target] for target in sketch.targets[here]]
    if not targets:
        return {"Type": "Succeed", **comment}
    choices = [
        {"Variable": "$.choice", "NumericEquals": number, "Next": target}
        for number, target in enumerate(targets[1:], 1)
    ]
    return {"Type": "Choice", **comment, "Choices": choices, "Default": targets[0]}


def yamlgraph(sketch: Sketch) -> str:
    """yamlgraph, YAML: pass-through nodes, two guarded edges and an open one per node.

    Nodes that call a model would each need a prompt file, which yamlgraph reads too; the limits
    keep it from a warning for every node of a loop.
    """
    lines = ["version: '1.0'", f"name: generated-{len(sketch.names)}", "state:", "  choice: int"]
    lines.append("nodes:")
    for name, description in zip(sketch.names, sketch.descriptions, strict=True):
        lines += [f"  {name}:", "    type: passthrough"]
        lines += ["    output:", f'      current: "{description}"']
    lines += ["edges:", f"  - {{from: START, to: {sketch.names[0]}}}"]
    for source, targets in zip(sketch.names, sketch.targets, strict=True):
        for number, target in enumerate(targets):
            guard = f', condition: "choice == {number}"' if number else ""
            lines.append(f"  - {{from: {source}, to: {sketch.names[target]}{guard}}}")
    lines += [f"  - {{from: {sketch.names[-1]}, to: END}}", "loop_limits:"]
    lines += [f"  {name}: 10" for name in sketch.names]
    return "\n".join(lines) + "\n"


def lists(sketch: Sketch) -> str:
    """JSON `{names: [str], targets: [[int]]}` for libraries that build the graph in Python."""
    return json.dumps({"names": sketch.names, "targets": sketch.targets})


CONVERSIONS = {"asl": asl, "yamlgraph": yamlgraph, "lists": lists}


def main() -> None:
    """Write one converted graph to a file."""
    language, count, path = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
    path.write_text(CONVERSIONS[language](branching(count)), encoding="utf-8")


if __name__ == "__main__":
    main()
