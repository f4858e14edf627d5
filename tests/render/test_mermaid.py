"""Mermaid documents: drawn by the real package where it is, else compared with a record of those
that were."""

from __future__ import annotations

import json

import pytest
from hostile import NAMES
from mermaid_checks import LOOKS, RECORD, REFRESH, check, digests
from mermaid_real import VERSIONS, browser, script

from statecli.render.drawing import Box, Drawing
from statecli.render.formats.mermaid import lines


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("version", VERSIONS)
def test_the_real_package_draws_every_graph_as_it_is(version: str) -> None:
    if browser() is None:
        pytest.skip("no Chromium")
    if not script(version).is_file():
        pytest.skip(f"no mermaid {version}: python tests/render/mermaid_real.py fetches it")
    assert not check(version)


def test_every_document_is_one_that_the_real_package_was_seen_to_draw() -> None:
    recorded = json.loads(RECORD.read_text("utf-8"))
    assert recorded["mermaid"] == list(VERSIONS), REFRESH
    now = digests()
    changed = {name for name in now if recorded["documents"].get(name) != now[name]}
    assert not changed, f"changed, or new: {REFRESH} and records it"


def test_a_document_is_one_line_for_each_thing() -> None:
    """No text leaves its line or its quotes, whatever it is."""
    boxes = tuple(Box(f"s{at}", name, kind=name) for at, name in enumerate(NAMES))
    for look in LOOKS:
        found = list(lines(Drawing("hostile", boxes, ()), look))
        stated = [line for line in found if line.startswith("  state ")]
        assert len(stated) == len(boxes)
        assert all(line.count('"') == 2 and "\n" not in line for line in stated)
        assert len(found) == len("\n".join(found).splitlines())
