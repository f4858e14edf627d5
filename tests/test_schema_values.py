"""Values of a schema: a body gets what the one before it gave, whatever class it is of."""

from __future__ import annotations

import json
from dataclasses import InitVar, dataclass, field
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import pytest
from pydantic import AliasChoices, BaseModel, Field

from statecli import GraphBuilder, Run
from statecli.model.graph import Graph
from statecli.session.walk import RunError
from statecli.store.sqlite import SqliteStore


def _nothing(data: Any) -> dict[str, Any]:
    return {}


def _two(body: Any, schema: Any = None) -> Graph:
    built = GraphBuilder().with_states(a=body, b=_nothing).with_transitions(("a", "b"))
    return (built.with_schema(schema) if schema else built).build()


@dataclass
class _Inner:
    x: int = 1


class _Alias(BaseModel):
    zip: int = Field(0, alias="postalCode")


class _Point(NamedTuple):
    x: int
    inner: _Inner | None = None


class _Aliases(BaseModel):
    """Other names at the top, within, in lists and mappings."""

    name: str = Field("n", alias="theName")
    other: str = Field("o", validation_alias="in", serialization_alias="out")
    choice: int = Field(0, validation_alias=AliasChoices("a", "b"))
    one: _Alias = _Alias(postalCode=0)
    many: list[_Alias] = []
    named: dict[str, _Alias | None] = {}


class _AliasesWanted(_Aliases):
    wanted: int


@dataclass
class _AliasesIn:
    one: _Alias = field(default_factory=lambda: _Alias(postalCode=0))
    many: list[_Alias] = field(default_factory=list)
    point: _Point | None = None
    points: list[_Point] = field(default_factory=list)


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize(
    ("schema", "delta"),
    [
        (_Aliases, {"name": "a", "other": "b", "choice": 3}),
        (_Aliases, {"one": _Alias(postalCode=1), "many": [_Alias(postalCode=2)]}),
        (_Aliases, {"named": {"x": _Alias(postalCode=3), "y": None}}),
        (_AliasesWanted, {"name": "a", "one": _Alias(postalCode=1)}),
        (_AliasesIn, {"one": _Alias(postalCode=1), "many": [_Alias(postalCode=2)]}),
        (_AliasesIn, {"point": _Point(1, _Inner(2)), "points": [_Point(3)]}),
    ],
)
def test_what_a_body_gives_is_what_the_next_one_gets(
    tmp_path: Path, schema: Any, delta: Any, stored: bool
) -> None:
    """Also where a model, or one within another, has other names for its fields."""
    seen: list[Any] = []
    graph = (
        GraphBuilder()
        .with_schema(schema)
        .with_states(gives=lambda data: delta, gets=seen.append)
        .with_transitions(("gives", "gets"))
        .build()
    )
    run = Run(graph, store=SqliteStore(tmp_path / "s.db"), task_id="r")
    run.step()
    if stored:
        run = Run.resume(graph, SqliteStore(tmp_path / "s.db"), "r")
    run.run()
    assert {name: getattr(seen[0], name) for name in delta} == delta
    again = Run.load(json.loads(json.dumps(run.dump())), graph)
    assert again.data == run.data


@dataclass(frozen=True)
class _Made:
    """What a constructor takes and a field is not, and the other way round."""

    shared: ClassVar[int] = 5
    n: int = 1
    scale: InitVar[int] = 2
    double: int = field(init=False, default=0)
    log: list[str] = field(init=False, default_factory=list)

    def __post_init__(self, scale: int) -> None:
        object.__setattr__(self, "double", self.n * scale)


def test_a_dataclass_whose_fields_are_not_those_of_its_constructor() -> None:
    seen: list[_Made] = []

    def body(data: _Made) -> dict[str, Any]:
        seen.append(data)
        return {"n": data.n + 1, "log": [*data.log, "x"]}

    run = Run(_three(body, _Made))
    run.run()
    assert [(made.n, made.double, made.log) for made in seen] == [
        (1, 2, []), (2, 4, ["x"]), (3, 6, ["x", "x"])
    ]  # fmt: skip


def _three(body: Any, schema: Any) -> Graph:
    names = dict.fromkeys("abc", body)
    built = GraphBuilder().with_schema(schema).with_states(**names)
    return built.with_transitions(("a", "b"), ("b", "c")).build()


@dataclass
class _Needy:
    name: str
    age: int = 3


def test_a_field_of_a_dataclass_that_nothing_has_set() -> None:
    with pytest.raises(RunError, match=r"_Needy needs 'name', and nothing has set it yet: give"):
        Run(_two(_nothing, _Needy)).step()
    Run(_two(_nothing, _Needy), data={"name": "x"}).step()


def _endless() -> list[Any]:
    found: list[Any] = []
    found.append(found)
    return found


def test_what_contains_itself_is_refused_by_its_name() -> None:
    with pytest.raises(RunError, match=r"ValueError: 'x' contains itself"):
        Run(_two(lambda data: {"x": _endless()})).step()
    with pytest.raises(ValueError, match=r"^'x' contains itself"):
        Run(_two(_nothing), data={"x": _endless()})
    with pytest.raises(ValueError, match=r"^'x' contains itself"):
        Run(_two(_nothing)).edit({"x": _endless()})


def test_a_body_that_gives_all_of_a_dataclass_back_is_told_what_to_give() -> None:
    with pytest.raises(RunError, match=r"gives back a _Needy: .*mapping of what changes"):
        Run(_two(lambda data: data, _Needy), data={"name": "x"}).step()


def test_an_input_with_a_typing_error_is_named() -> None:
    run = Run(GraphBuilder().with_states(a=lambda data, prompt: {}).build())
    with pytest.raises(ValueError, match="'a' needs the input 'prompt', not 'promt'"):
        run.step({"promt": 1})
