"""Which Mermaid documents are checked, what their drawings must show, and a record of those that
did, for machines without npm and Chromium.

    PYTHONPATH=. python tests/render/mermaid_checks.py     check with the real package, and record
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hostile import document
from mermaid_real import HERE, VERSIONS, drawn, install

from statecli.load.loader import load
from statecli.render.draw import Wish, draw
from statecli.render.drawing import BAR, END_MARK, START, Arrow, Drawing, Look, Marks
from statecli.render.formats.mermaid import lines
from statecli.text.excerpt import harmless

ROOT = Path(__file__).parent.parent.parent
CASES = Path(os.environ.get("STATECLI_CASES", ROOT.parent / "shared" / "cases"))
RECORD = HERE / "recorded.json"
REFRESH = "PYTHONPATH=. python tests/render/mermaid_checks.py checks it with the real package"
#: Every look once; the colours are written only where a theme is asked for.
LOOKS = (Look(), Look(theme="light", rankdir="LR"), Look(theme="dark"))


def ours() -> dict[str, str | bytes]:
    """The graphs whose documents are recorded."""
    paths = (path for path in (ROOT / "graphs").iterdir() if path.suffix in (".yaml", ".json"))
    found: dict[str, str | bytes] = {path.name: path.read_bytes() for path in sorted(paths)}
    return found | {"hostile.json": document()}


def published() -> dict[str, str | bytes]:
    """Graphs of other people, where they are."""
    folders = (CASES / "plan-files", CASES / "states-files")
    paths = (path for folder in folders if folder.is_dir() for path in sorted(folder.iterdir()))
    return {path.name: path.read_bytes() for path in paths}


def drawings(texts: Mapping[str, str | bytes]) -> dict[str, Drawing]:
    """The graphs that load, as drawings of everything in them."""
    graphs = {name: load(name, text).graph for name, text in texts.items()}
    return {
        name: draw(graph, name, Wish(), Marks())
        for name, graph in graphs.items()
        if graph is not None
    }


def documents(pictures: Mapping[str, Drawing]) -> dict[str, str]:
    """Each as a Mermaid document, in turn in one of the looks."""
    return {
        name: "\n".join(lines(picture, LOOKS[at % len(LOOKS)])) + "\n"
        for at, (name, picture) in enumerate(pictures.items())
    }


def complaints(picture: Drawing, found: Mapping[str, Any]) -> Iterator[str]:
    """Where what the real package drew differs from the drawing."""
    if "error" in found:
        yield f"not drawn: {found['error']}"
        return
    if found["foreign"]:
        yield "a script, a picture or a link came out of a text"
    shown = {box["id"]: box["lines"] for box in found["boxes"]}
    ends = [box for box in picture.boxes if box.ends and box.role != END_MARK]
    over = any(box.ends for box in picture.boxes)
    parts = sum(box.role not in (START, END_MARK) for box in picture.boxes)
    marks = any(box.role == START for box in picture.boxes) + over
    if len(found["boxes"]) != parts + marks:
        yield f"{len(found['boxes'])} boxes for {parts} and {marks} marks"
    for box in picture.boxes:
        if box.role in (START, END_MARK):
            continue
        said = shown.get(box.id)
        if said is None:
            yield f"no box for {box.name!r}"
        elif box.role != BAR and _seen(said[0] if said else "") != _seen(_shown(box.name)):
            yield f"{box.name!r} is shown as {said}"
    if found["arrows"] != len(picture.arrows) + len(ends):
        yield f"{found['arrows']} arrows for {len(picture.arrows)} and {len(ends)} ends"
    wanted = Counter(filter(None, (_beside(arrow) for arrow in picture.arrows)))
    labels = Counter(map(_seen, found["labels"]))
    for text in (wanted - labels) | (labels - wanted):
        yield f"beside an arrow: {text!r}, {labels[text]} times instead of {wanted[text]}"


def _beside(arrow: Arrow) -> str:
    order = f"{arrow.order}. " if arrow.order else ""
    style = {"chosen": "(model) ", "implicit": "(implicit) "}.get(arrow.style, "")
    return _seen(_shown(f"{style}{order}{arrow.label}"))


def _shown(text: str) -> str:
    """A text on one line, control characters as pictures."""
    return harmless(" ".join(text.splitlines()))


def _seen(text: str) -> str:
    """A text as one sees it: an invisible sign is not there, white space is a space."""
    return " ".join(text.replace("\u2060", "").split())


def digests() -> dict[str, str]:
    """The documents of our graphs, each by its SHA-256."""
    texts = documents(drawings(ours()))
    return {name: hashlib.sha256(text.encode()).hexdigest() for name, text in texts.items()}


def check(version: str) -> list[str]:
    """All that is wrong with what this version draws of all the graphs there are."""
    pictures = drawings(ours()) | drawings(published())
    found = drawn(version, documents(pictures))
    assert [one["name"] for one in found] == list(pictures)
    return [
        f"{one['name']}: {text}" for one in found for text in complaints(pictures[one["name"]], one)
    ]


def main() -> int:
    """Record what every version draws right."""
    install()
    for version in VERSIONS:
        wrong = check(version)
        if wrong:
            print(f"mermaid {version}", *wrong, sep="\n")
            return 1
    recorded = {"mermaid": list(VERSIONS), "documents": digests()}
    RECORD.write_text(json.dumps(recorded, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
