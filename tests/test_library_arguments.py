"""What the library is given that it cannot use: said by the call that gets it, with the cure."""

from __future__ import annotations

import copy
import pickle
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from statecli import GraphBuilder, Hooks, Run, aio, load
from statecli.model.graph import Graph
from statecli.model.ports import Ask, Chunk, Request
from statecli.session.walk import RunError

TEXT = """
initial: ask
states:
  ask: {type: user, transition: {next: [reply]}}
  reply: {type: agent, transition: {next: [ask]}}
"""


def _nothing(data: Any) -> dict[str, Any]:
    return {}


def _graph() -> Graph:
    return GraphBuilder().with_states(a=_nothing, b=_nothing).with_transitions(("a", "b")).build()


@pytest.mark.parametrize("face", [Run, aio.Run])
@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"graph": GraphBuilder().with_states(a=_nothing)}, r"of a GraphBuilder: call its build"),
        ({"graph": load("g.yaml", TEXT)}, r"of a Loaded: it has a graph, write \.graph"),
        ({"graph": {"a": _nothing}}, "a run is of a graph, not of a dict$"),
        ({"store": "runs.db"}, r"like SqliteStore\(path\), not 'runs.db'"),
        ({"provider": "openai:gpt"}, r"object with 'complete', not 'openai:gpt': .*model\("),
        ({"hooks": Hooks()}, r"hooks are a list: hooks=\[Hooks"),
        ({"hooks": [5]}, "5 is no hook"),
        ({"hooks": [Hooks]}, "is no hook: an object"),
        ({"data": [1]}, "data are a mapping of fields, .*not a list"),
        ({"data": 5}, "data are a mapping of fields, .*not a int"),
    ],
)
def test_what_a_run_is_given(face: Any, given: dict[str, Any], said: str) -> None:
    with pytest.raises(TypeError, match=said):
        face(**{"graph": _graph(), **given})


@pytest.mark.parametrize(
    ("spec", "kind", "said"),
    [
        (int, TypeError, r"the field 'n' is a mapping, such as \{'type': 'int'\}, not <class"),
        ("int", TypeError, "the field 'n' is a mapping"),
        ({"typ": "int"}, ValueError, r"key 'typ' of the field 'n' is none \(did you mean 'type"),
        ({"type": "integer"}, ValueError, r"the type 'integer' of the field 'n' is none"),
        ({"type": int}, ValueError, "there are: str, int"),
        ({"reducer": "apend"}, ValueError, r"the reducer 'apend', .*did you mean 'append'"),
    ],
)
def test_what_a_field_is_declared_as(spec: Any, kind: type[Exception], said: str) -> None:
    with pytest.raises(kind, match=said):
        GraphBuilder().with_fields(n=spec)


def test_other_mistakes() -> None:
    with pytest.raises(ValueError, match=r"at least one state: with_states\("):
        GraphBuilder().build()
    with pytest.raises(KeyError, match=r"no state is named 'bb'"):
        Run(_graph()).transition("bb")
    with pytest.raises(TypeError, match="inputs are a mapping of their names to values, not a lis"):
        Run(_graph()).step(["q"])  # type: ignore[arg-type]


@pytest.mark.parametrize("copies", [copy.copy, copy.deepcopy, pickle.dumps])
@pytest.mark.parametrize("face", [Run, aio.Run])
def test_a_run_is_no_value(face: Any, copies: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError, match=r"neither copied nor pickled: fork\(\) .* dump\(\)"):
        copies(face(_graph()))


# --- providers of a program's own --------------------------------------------------------------


class _Own(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


class _Provider:
    label = "mine"

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    async def complete(self, request: Request, ask: Ask) -> AsyncIterator[Chunk]:
        if isinstance(self.answer, Exception):
            raise self.answer
        yield self.answer


class _Coroutine(_Provider):
    async def complete(self, request: Request, ask: Ask) -> Any:  # type: ignore[override]
        return "text"


class _Plain(_Provider):
    def complete(self, request: Request, ask: Ask) -> Any:
        return "text"


@pytest.mark.parametrize(
    ("provider", "got"),
    [(_Provider("text"), "str"), (_Coroutine(""), "coroutine"), (_Plain(""), "str")],
)
def test_a_provider_that_gives_no_chunks_is_told_what_to_give(provider: Any, got: str) -> None:
    graph = load("g.yaml", TEXT).graph
    assert graph is not None
    with pytest.raises(RunError, match=rf"an async generator .*yield Chunk.*, it gave a {got}$"):
        Run(graph, provider=provider).run(inputs={"line": "hi"})


@pytest.mark.parametrize("error", [KeyError("x"), OSError("no network"), _Own()])
def test_what_a_provider_raises_is_the_cause(error: Exception) -> None:
    graph = load("g.yaml", TEXT).graph
    assert graph is not None
    with pytest.raises(RunError, match=rf"^reply: {type(error).__name__}") as found:
        Run(graph, provider=_Provider(error)).run(inputs={"line": "hi"})
    assert found.value.__cause__ is error


@pytest.mark.parametrize("place", ["body", "filter", "strategy", "inputs"])
def test_what_a_function_of_a_graph_raises_is_the_cause(place: str) -> None:
    """Also one whose own text fails."""
    error = _Own()

    def raises(*given: Any, **more: Any) -> Any:
        raise error

    def one(data: Any, word: str = "") -> Any:
        return raises() if place in ("body", "inputs") else {}

    graph = (
        GraphBuilder()
        .with_states(s=one, a=_nothing, b=_nothing, j=_nothing)
        .with_transitions(("s", "a", {"state_filter": raises} if place == "filter" else {}))
        .with_transitions(("s", "b"), (["a", "b"], "j"))
        .with_fanout("s")
        .with_join("j", strategy=raises if place == "strategy" else None)
        .build()
    )
    run = Run(graph)
    with pytest.raises(RunError, match="_Own") as found:
        run.run(inputs={"word": "x"} if place == "inputs" else None)
    assert found.value.__cause__ is error
    assert run.status == "failed"
