"""A graph in Python with mistakes: `statecli validate --allow-plugins docs.broken:graph`."""

from typing import Any

from statecli import GraphBuilder, when

Data = dict[str, Any]


def ask(data: Data) -> Data:
    return {"amount": 120}


def refund(data: Data) -> Data:
    return {"paid": True}


def review(data: Data) -> Data:
    return {}


def archive(data: Data) -> Data:
    return {}


graph = (
    GraphBuilder()
    .with_states(ask, refund, review, archive)
    .with_transitions(
        ("ask", "refund"),
        ("ask", "review", when(amount__gt=100)),
        ("review", "refund"),
    )
    .build()
)
