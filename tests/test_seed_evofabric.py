"""Every block of document 002 (EvoFabric) does here what the document says it does."""

from __future__ import annotations

from typing import Any

import pytest
from seed_documents import Shown, ran, shows

from statecli import GraphBuilder, Run
from statecli.evofabric import MISSING, StateUpdater, safe_get_attr
from statecli.kernel.reducers import known_reducer
from statecli.session.schema import fields_from

pytest.importorskip("pydantic")


@shows("002", "class StateSchemaBaseModelType")
def test_002_state_declaration(shown: Shown) -> None:
    """Both schemas declare the same; bodies get the one as a model, the other as keys."""
    names = ran(shown.text)
    for name, seen in (("StateSchemaBaseModelType", "model"), ("StateSchemaTypedDictType", "keys")):
        schema = names[name]
        fields = fields_from(schema)
        assert [(f.name, f.type, f.reducer) for f in fields.values()] == [
            ("messages", "list", "append_messages"), ("user_name", "str", "overwrite")]  # fmt: skip

        def body(state: Any, schema: Any = schema, seen: str = seen) -> dict[str, Any]:
            user = state.user_name if seen == "model" else state["user_name"]
            assert safe_get_attr(state, "user_name") == user
            assert isinstance(state, schema if seen == "model" else dict)
            return {"messages": [{"role": "assistant", "content": f"Hi {user}"}],
                    "user_name": user.upper()}  # fmt: skip

        run = Run(GraphBuilder().with_schema(schema).with_states(say=body).build(),
                  data={"messages": [], "user_name": "Ann"})  # fmt: skip
        run.run()
        assert run.data["user_name"] == "ANN", "overwritten"
        assert [message["content"] for message in run.data["messages"]] == ["Hi Ann"]
    defaults = fields_from(names["StateSchemaBaseModelType"])["user_name"]
    assert (defaults.has_default, defaults.default) == (True, "Unknown")


@shows("002", '@StateUpdater.register("append_list")')
def test_002_custom_update(shown: Shown) -> None:
    """The registered update merges; what the block misspells (`append_message`) is named."""
    names = ran(shown.text)
    assert StateUpdater.registered("append_list")
    merge = names["_append_list"]
    assert [merge(), merge(MISSING, [1]), merge([1]), merge([1], [2])] == [[], [1], [1], [1, 2]]
    schema = names["StateSchemaWithListAppend"]
    assert not known_reducer("append_message")
    with pytest.raises(ValueError, match="append_message"):
        Run(GraphBuilder().with_schema(schema).with_states(a=lambda state: None).build())

    def step(number: int) -> Any:
        return lambda state: {"trajectories": [number, *state.trajectories][:1]}

    fixed = ran(shown.text.replace('"append_message"]', '"append_messages"]'))
    graph = (
        GraphBuilder()
        .with_schema(fixed["StateSchemaWithListAppend"])
        .with_states(a=step(1), b=step(2))
        .with_transitions(("a", "b"))
        .build()
    )
    run = Run(graph, data={"messages": [], "trajectories": [0]})
    run.run()
    assert run.data["trajectories"] == [0, 1, 2]


@shows("002", "DynamicStateSchema = generate_state_schema()")
def test_002_dynamic_schema(shown: Shown) -> None:
    """ "This method by default creates a messages field"."""
    fields = fields_from(ran(shown.text)["DynamicStateSchema"])
    assert [(f.name, f.type, f.reducer) for f in fields.values()] == [
        ("messages", "list", "append_messages")]  # fmt: skip
