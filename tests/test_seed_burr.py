"""Every block of document 001 (Burr) does here what the document says it does."""

from __future__ import annotations

import ast
from typing import Any

import pytest
from seed_documents import Shown, all_blocks, blocks, ran, shows

from statecli import burr


@burr.action(reads=["chat_history"], writes=["chat_history", "prompt"])
def human_input(state: burr.State, prompt: str) -> burr.State:
    return state.append(chat_history=prompt).update(prompt=prompt)


@burr.action(reads=["chat_history", "prompt"], writes=["chat_history"])
def ai_response(state: burr.State) -> burr.State:
    return state.append(chat_history=state["prompt"].upper())


def chat() -> Any:
    """The application that the document begins with."""
    return ran(FIRST.text, human_input=human_input, ai_response=ai_response)["app"]


@burr.action(reads=["n"], writes=["n"])
def count(state: burr.State) -> tuple[dict[str, Any], burr.State]:
    result = {"n": state["n"] + 1}
    return result, state.update(**result)


@burr.action(reads=["n"], writes=["said"])
def ends(state: burr.State) -> tuple[dict[str, Any], burr.State]:
    result = {"said": state["n"]}
    return result, state.update(**result)


def application() -> Any:
    """One that counts to three and has the ends that the document halts after."""
    return (
        burr.ApplicationBuilder()
        .with_actions(count=count, final_action_1=ends, final_action_2=ends)
        .with_transitions(
            ("count", "final_action_1", burr.when(n=3)), ("count", "count", burr.default)
        )
        .with_state(n=0)
        .with_entrypoint("count")
        .build()
    )


FIRST = Shown("001", ").with_state(chat_history=[])")


@shows("001", ").with_state(chat_history=[])")
def test_001_an_application(shown: Shown) -> None:
    """Actions, transitions, state, entry point: "the minimum that is required"."""
    app = ran(shown.text, human_input=human_input, ai_response=ai_response)["app"]
    assert [action.name for action in app.graph.actions] == ["human_input", "ai_response"]
    assert app.state["chat_history"] == []
    for line in ("hi", "again"):
        app.run(halt_after=["ai_response"], inputs={"prompt": line})
    assert app.state["chat_history"] == ["hi", "HI", "again", "AGAIN"]


@shows("001", "action, result, state = application.step()\n")
def test_001_step(shown: Shown) -> None:
    """ "Returns the tuple of the action, the result of that action, and the new state"."""
    names = ran(shown.text, application=application())
    assert names["action"].name == "count"
    assert (names["result"], names["state"]["n"]) == ({"n": 1}, 1)


@shows("001", "await application.astep()")
def test_001_astep(shown: Shown) -> None:
    names = ran(shown.text, application=application())
    assert (names["action"].name, names["result"], names["state"]["n"]) == ("count", {"n": 1}, 1)


@shows("001", 'application.step(inputs={"prompt": input()})')
def test_001_inputs(shown: Shown) -> None:
    """Inputs are "passed to the action's run function as keyword arguments"."""
    names = ran(shown.text, application=chat(), input=lambda: "hi")
    assert names["action"].name == "human_input"
    assert names["state"]["chat_history"] == ["hi"]


STEPS = [f"count {{'n': {n}}}" for n in (1, 2, 3)] + ["final_action_1 {'said': 3}"]


@shows("001", "in application.iterate(")
def test_001_iterate(shown: Shown, capsys: pytest.CaptureFixture[str]) -> None:
    names = ran(shown.text, application=application())
    assert capsys.readouterr().out.splitlines() == STEPS
    assert names["state"]["said"] == 3


@shows("001", "async for action, result, state")
def test_001_aiterate(shown: Shown, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a halt it goes on until nothing leads on."""
    ran(shown.text, application=application())
    assert capsys.readouterr().out.splitlines() == STEPS


@shows("001", "action, result, state = application.run(")
def test_001_run(shown: Shown) -> None:
    names = ran(shown.text, application=application())
    assert (names["action"].name, names["result"]) == ("final_action_1", {"said": 3})
    assert names["state"]["n"] == 3


@shows("001", "await application.arun(")
def test_001_arun(shown: Shown) -> None:
    names = ran(shown.text, application=application())
    assert (names["action"].name, names["result"]) == ("final_action_1", {"said": 3})


@shows("001", "GraphBuilder()")
def test_001_graph_api(shown: Shown) -> None:
    """As published a dot is missing before `with_state`, and `GraphBuilder` is not imported. With
    both put right, one graph serves many applications."""
    with pytest.raises(SyntaxError):
        ast.parse(shown.text)
    text = shown.text.replace("\n    with_state(", "\n    .with_state(")
    names = ran(text, GraphBuilder=burr.GraphBuilder, human_input=human_input,
                ai_response=ai_response)  # fmt: skip
    graph, app = names["graph"], names["app"]
    assert app.graph.actions == graph.actions
    app.run(halt_after=["ai_response"], inputs={"prompt": "hi"})
    other = (
        burr.ApplicationBuilder()
        .with_graph(graph)
        .with_state(chat_history=["before"])
        .with_entrypoint("ai_response")
        .build()
    )
    assert app.state["chat_history"] == ["hi", "HI"]
    assert other.state["chat_history"] == ["before"]


def test_001_the_second_copy_says_the_same() -> None:
    """The document stands there twice, the second time without indentation: nothing new in it, and
    what has a body does not parse there."""
    assert len(all_blocks("001")) == 2 * len(blocks("001"))
    flat = all_blocks("001")[len(blocks("001")) :]
    broken = 0
    for block in flat:
        try:
            ast.parse(block.text)
        except SyntaxError:
            broken += 1
    assert broken == 3, "two loops, and the block that never parsed"
