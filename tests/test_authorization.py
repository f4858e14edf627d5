"""Which errors ask the person to connect a service, and where."""

from __future__ import annotations

import json
from typing import Any

import pytest

from statecli.tools.authorization import Link, elicited, link_in

URL = "https://mail.example/connect?x=1&y=2"


@pytest.mark.parametrize(
    ("error", "link"),
    [
        ({"connect_url": URL}, Link("", URL, "")),
        ({"connectUrl": URL, "service": "Mail"}, Link("Mail", URL, "")),
        ({"error": "auth_required", "data": {"auth_url": URL, "provider": {"name": "Mail"}}},
         Link("Mail", URL, "")),
        ([{"type": "x"}, {"authorization-url": URL, "message": "connect it"}],
         Link("", URL, "connect it")),
        (json.dumps({"login_url": URL}), Link("", URL, "")),
        (f"Please connect your Mail account: {URL}.",
         Link("", URL, f"Please connect your Mail account: {URL}.")),
        (f"Sign in at <{URL}> first", Link("", URL, f"Sign in at <{URL}> first")),
        (f"Authorization required, see {URL}", Link("", URL, f"Authorization required, see {URL}")),
        (f"You must authorize access to your calendar ({URL})",
         Link("", URL, f"You must authorize access to your calendar ({URL})")),
    ],
)  # fmt: skip
def test_asks_to_connect(error: Any, link: Link) -> None:
    assert link_in(error) == link


@pytest.mark.parametrize(
    "error",
    [
        "",
        None,
        5,
        "no such file",
        "please connect your account",
        f"failed to connect to {URL}: timed out",
        f"could not fetch {URL}: 404",
        f"the link {URL} is dead",
        {"url": URL},
        {"connect_url": "javascript:alert(1)"},
        {"connect_url": "mail"},
        {"connect_url": None, "login_url": 5},
        {"a": {"b": {"c": {"d": {"e": {"f": {"g": {"connect_url": URL}}}}}}}},
        "[" * 100_000,
    ],
)
def test_is_just_an_error(error: Any) -> None:
    assert link_in(error) is None


def test_the_error_that_asks_for_a_link() -> None:
    asked = {"mode": "url", "url": URL, "message": "Mail wants you", "elicitationId": "1"}
    assert elicited({"elicitations": [{}, asked]}) == Link("", URL, "Mail wants you")
    for data in (None, {}, {"elicitations": 5}, {"elicitations": [{"url": "x"}]}):
        assert elicited(data) is None
