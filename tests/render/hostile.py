"""A graph whose every name and text is one that breaks careless drawings.

python tests/render/hostile.py > /tmp/hostile.json
"""

from __future__ import annotations

import json

import pictures

#: What Mermaid, Markdown and web pages take for their own, and some scripts.
_MORE = (
    "<b>",
    "a&b",
    'say "hi"',
    "it's",
    "back\\slash",
    "a:b",
    "{x|y}",
    "a;b",
    "#1;",
    "&lt;",
    "%%{init}%%",
    "%% a remark",
    "<br>",
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "two\nlines",
    "\\n \\l \\N",
    "`code` **bold** _it_",
    "* item",
    "1. first",
    "# head",
    "$$x^2$$",
    "fa:fa-car",
    "状態の名前",
    "상태",
    "🚀 rocket 👩‍👩‍👧",
    "مرحبا بالعالم",
    "שלום",
    "naïve café Ω ≤ ≠",
    "node",
    "graph",
    "end",
    "state",
    "note",
    "class",
    "classDef",
    "default",
    "style",
    "click",
    "direction",
    "start",
    "root",
    "subgraph",
    "strict",
    "[*]",
    "-->",
    "<<fork>>",
    "s0",
    "__proto__",
    "constructor",
    "w" * 300,
    "many words " * 27 + "end",
)
NAMES = tuple(dict.fromkeys([*pictures.NAMES, *_MORE]))


def document() -> str:
    """The graph in the `states` form: each state leads on where a field has the next one's name."""
    states: dict[str, object] = {}
    for name, following in zip(NAMES, [*NAMES[1:], "__end__"], strict=True):
        ways = [{"to": following, "when": {"said": following}, "description": name}]
        back = [{"to": NAMES[0], "description": ""}]
        states[name] = {
            "type": "agent",
            "description": "" if name == "node" else f"about {name}",
            "transition": {"next": ways if name == NAMES[0] else ways + back},
        }
    fields = {"said": {"type": "str", "description": "what was said"}}
    return json.dumps({"initial": NAMES[0], "fields": fields, "states": states}, indent=1)


if __name__ == "__main__":
    print(document())
