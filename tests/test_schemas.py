"""Document 002 (EvoFabric): schemas of the data in Python, reducers by name (model.md 7 and 8)."""

# mypy: allow-subclassing-any, allow-any-generics
from __future__ import annotations

import dataclasses
import importlib
import re
import subprocess
import sys
from enum import Enum
from typing import Annotated, Any, Literal, NotRequired, Optional, TypedDict

import pytest

from statecli import GraphBuilder, Run, register_reducer
from statecli.evofabric import MISSING, StateMessage, StateUpdater, generate_state_schema
from statecli.session.run import RunError
from statecli.session.schema import fields_from, safe_get_attr
from statecli.store.sqlite import SqliteStore

try:
    pydantic: Any = importlib.import_module("pydantic")
except ImportError:  # those who only use files never need it
    pydantic = None
BaseModel: Any = pydantic.BaseModel if pydantic else object
needs_pydantic = pytest.mark.skipif(BaseModel is object, reason="pydantic is not installed")


class AsModel(BaseModel):
    messages: Annotated[list[StateMessage], "append_messages"]
    user_name: Annotated[str, "overwrite"] = "Unknown"


class AsTypedDict(TypedDict):
    messages: Annotated[list[StateMessage], "append_messages"]
    user_name: Annotated[str, "overwrite"]


@dataclasses.dataclass
class AsDataclass:
    messages: Annotated[list[StateMessage], "append_messages"] = dataclasses.field(
        default_factory=list
    )
    user_name: Annotated[str, "overwrite"] = "Unknown"


@pytest.mark.parametrize(
    "schema", [pytest.param(AsModel, marks=needs_pydantic), AsTypedDict, AsDataclass]
)
def test_002_annotated_declares_type_and_reducer(schema: Any) -> None:
    fields = fields_from(schema)
    assert [(f.name, f.type, f.reducer) for f in fields.values()] == [
        ("messages", "list", "append_messages"), ("user_name", "str", "overwrite"),
    ]  # fmt: skip
    assert fields["user_name"].has_default == (schema is not AsTypedDict)


def graph_with(schema: Any, body: Any) -> Any:
    return GraphBuilder().with_schema(schema).with_states(body=body).build()


@needs_pydantic
def test_002_a_model_is_given_to_bodies_as_a_model() -> None:
    def body(state: AsModel) -> dict[str, Any]:
        assert isinstance(state, AsModel)
        assert state.user_name == "Unknown"
        return {"user_name": state.user_name.upper(), "messages": [{"role": "user"}]}

    run = Run(graph_with(AsModel, body))
    run.run()
    assert run.data["user_name"] == "UNKNOWN"
    assert [m["role"] for m in run.data["messages"]] == ["user"]


def test_002_a_typed_dict_is_given_as_keys() -> None:
    def body(state: AsTypedDict) -> dict[str, Any]:
        assert type(state) is dict
        return {"user_name": state["user_name"] + "!"}

    run = Run(graph_with(AsTypedDict, body), data={"user_name": "ann"})
    run.run()
    assert run.data["user_name"] == "ann!"


def test_002_a_dataclass() -> None:
    def body(state: AsDataclass) -> dict[str, Any]:
        return {"user_name": state.user_name + "!"}

    run = Run(graph_with(AsDataclass, body))
    run.run()
    assert run.data["user_name"] == "Unknown!"


@needs_pydantic
def test_002_the_input_is_a_deep_copy() -> None:
    """Modifications to the input state by nodes will not affect the state tree."""

    class State(BaseModel):
        items: Annotated[list[int], "extend"] = [1]  # noqa: RUF012 - the model copies it

    def body(state: State) -> dict[str, Any]:
        state.items.append(99)
        return {"items": [2]}

    run = Run(graph_with(State, body))
    run.run()
    assert run.data["items"] == [1, 2]


@needs_pydantic
def test_002_safe_get_attr_adapts_both() -> None:
    assert safe_get_attr({"a": 1}, "a") == 1
    assert safe_get_attr(AsModel(messages=[]), "user_name") == "Unknown"
    assert safe_get_attr({}, "a", 5) == 5


@needs_pydantic
def test_a_body_may_give_back_a_model() -> None:
    class Item(BaseModel):
        n: int

    class State(BaseModel):
        name: str = "x"
        items: Annotated[list[Item], "extend"] = []  # noqa: RUF012

    def first(state: State) -> Any:
        return State(name="y")

    def second(state: State) -> Any:
        return {"items": [Item(n=1)]}

    def third(state: State) -> Any:
        assert state.items[0].n == 1
        return {}

    graph = (
        GraphBuilder()
        .with_schema(State)
        .with_states(first=first, second=second, third=third)
        .with_transitions(("first", "second"), ("second", "third"))
        .build()
    )
    run = Run(graph)
    run.run()
    assert dict(run.data) == {"name": "y", "items": [{"n": 1}]}


def test_002_results_are_checked_against_the_type() -> None:
    run = Run(graph_with(AsTypedDict, lambda data: {"user_name": 5}))
    with pytest.raises(RunError, match="'user_name' is a str, not 5"):
        run.run()


def test_002_a_registered_reducer_that_changes_what_it_gets(tmp_path: Any) -> None:
    """The example of the document extends the old list in place."""

    @StateUpdater.register("append_list")
    def _append_list(old: Any = MISSING, new: Any = MISSING) -> Any:
        result = [] if old is MISSING else old
        if new is MISSING:
            return result
        result.extend(new)
        return result

    class State(TypedDict):
        messages: Annotated[list, "append_messages"]
        trajectories: Annotated[list, "append_list"]

    graph = (
        GraphBuilder()
        .with_schema(State)
        .with_states(a=lambda data: {"trajectories": ["a"]}, b=lambda data: {"trajectories": ["b"]})
        .with_transitions(("a", "b"))
        .build()
    )
    store = SqliteStore(tmp_path / "s.db")
    run = Run(graph, store=store)
    run.run()
    assert run.data["trajectories"] == ["a", "b"]
    history = run.history()
    numbers = list(history)
    assert [history.at(n).get("trajectories") for n in numbers] == [None, ["a"], ["a", "b"]]
    store.close()


@needs_pydantic
def test_002_an_unknown_reducer_is_named() -> None:
    class State(BaseModel):
        messages: Annotated[list, "append_message"]

    with pytest.raises(ValueError, match=r"'append_message', which nobody registered.*did you"):
        GraphBuilder().with_schema(State)


def test_002_generate_state_schema() -> None:
    schema = generate_state_schema(
        [("count", int, "increment"), ("name", "str", "overwrite"), ("tags", list[str], "extend")]
    )
    fields = fields_from(schema)
    assert [(f.name, f.type, f.reducer) for f in fields.values()] == [
        ("messages", "list", "append_messages"), ("count", "int", "increment"),
        ("name", "str", "overwrite"), ("tags", "list", "extend"),
    ]  # fmt: skip
    assert list(fields_from(generate_state_schema())) == ["messages"]
    listed = [str, int, float, list, tuple, dict]
    every = generate_state_schema([(f"a_{t.__name__}", t, "overwrite") for t in listed])
    assert [f.type for f in fields_from(every).values()] == ["list", *(t.__name__ for t in listed)]


@pytest.mark.parametrize(
    ("variables", "told"),
    [
        ([("2x", int, "overwrite")], "no name of a variable"),
        ([("class", int, "overwrite")], "no name of a variable"),
        ([("a", int, "overwrite"), ("a", int, "overwrite")], "comes twice"),
        ([("messages", list, "extend")], "there already"),
        ([("a", complex, "overwrite")], "there are: str, int, float"),
        ([("a", "__import__('os')", "overwrite")], "there are: str, int, float"),
        ([("a", int, "overwrit")], "did you mean 'overwrite'"),
    ],
)
def test_002_generate_state_schema_says_what_is_wrong(variables: Any, told: str) -> None:
    with pytest.raises(ValueError, match=re.escape(told)):
        generate_state_schema(variables)


class Tier(Enum):
    FREE = "free"
    PAID = "paid"


def test_types_of_fields() -> None:
    class State(TypedDict):
        tier: Tier
        kind: Literal["a", "b"]
        maybe: Optional[int]  # noqa: UP045 - people write it so
        either: int | str
        pair: tuple[int, int]
        bag: set[str]
        map: dict[str, int]
        yes: bool
        later: NotRequired[float]
        own: AsModel

    found = {f.name: (f.type, f.values) for f in fields_from(State).values()}
    assert found == {
        "tier": ("enum", ("free", "paid")),
        "kind": ("enum", ("a", "b")),
        "maybe": ("any", ()),
        "either": ("any", ()),
        "pair": ("tuple", ()),
        "bag": ("set", ()),
        "map": ("dict", ()),
        "yes": ("bool", ()),
        "later": ("float", ()),
        "own": ("any", ()),
    }


@needs_pydantic
def test_enums_and_defaults_of_a_model(tmp_path: Any) -> None:
    class State(BaseModel):
        tier: Tier = Tier.FREE
        log: Annotated[list[str], "append"] = pydantic.Field(default_factory=list)

    def body(state: State) -> dict[str, Any]:
        assert state.tier is Tier.FREE
        return {"tier": Tier.PAID, "log": "x"}

    store = SqliteStore(tmp_path / "s.db")
    run = Run(graph_with(State, body), store=store)
    assert dict(run.data) == {"tier": "free", "log": []}
    run.run()
    assert dict(run.data) == {"tier": "paid", "log": ["x"]}
    store.close()


def test_what_is_no_schema() -> None:
    with pytest.raises(TypeError, match="is no schema"):
        GraphBuilder().with_schema({"a": int})


@needs_pydantic
def test_schemas_join_branches_by_their_reducers() -> None:
    class State(BaseModel):
        seen: Annotated[list[str], "extend"] = []  # noqa: RUF012
        best: Annotated[int, "keep_best"] = 0

    @register_reducer("keep_best")
    def _(old: Any, new: Any) -> Any:
        return max(old, new)

    def body(name: str, n: int) -> Any:
        return lambda state: {"seen": [name], "best": n}

    graph = (
        GraphBuilder()
        .with_schema(State)
        .with_states(s=body("s", 1), a=body("a", 9), b=body("b", 3), j=body("j", 2))
        .with_transitions(("s", "a"), ("s", "b"), (["a", "b"], "j"))
        .with_fanout("s")
        .with_join("j", strategy=lambda states: State(seen=states[0].seen, best=states[1].best))
        .build()
    )
    run = Run(graph)
    run.run()
    assert dict(run.data) == {"seen": ["s", "a", "j"], "best": 3}


def test_pydantic_is_not_imported_for_other_schemas() -> None:
    code = (
        "import sys; from statecli import GraphBuilder, Run; "
        "from statecli.evofabric import generate_state_schema as g; "
        "b = GraphBuilder().with_schema(g([('n', int, 'increment')])); "
        "Run(b.with_states(a=lambda d: {'n': 1}).build()).run(); "
        "print('pydantic' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
