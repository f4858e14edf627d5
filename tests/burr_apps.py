"""Apps as people write them for Burr. Each gives back what it showed, as plain data.

Only the line below says whose names they use. What apache-burr 0.43 shows is kept in
``data/burr_0_43.json``; to record it anew, run this file with that package installed and
``statecli.burr`` replaced by ``burr.core`` (streaming_action and the like: ``burr.core.action``).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

from statecli.burr import (
    Action,
    ApplicationBuilder,
    GraphBuilder,
    Input,
    Result,
    State,
    StreamingAction,
    action,
    default,
    expr,
    streaming_action,
    when,
)  # fmt: skip

Facts = list[Any]


def plain(state: Any) -> dict[str, Any]:
    """A state without what the framework adds to it."""
    return {key: value for key, value in dict(state).items() if not key.startswith("__")}


def shown(step: Any) -> Any:
    if step is None:
        return None
    done, result, state = step
    return [done.name if done is not None else None, result, plain(state)]


def walked(steps: Any) -> Facts:
    """Every step of an iteration, and its value."""
    found: Facts = []
    while True:
        try:
            found.append(shown(next(steps)))
        except StopIteration as stop:
            return [*found, shown(stop.value)]


# --- counters ---------------------------------------------------------------------------


@action(reads=["counter"], writes=["counter"])
def counter(state: State, increment_by: int = 1) -> State:
    return state.update(counter=state["counter"] + increment_by)


def counting(builder: Any) -> Any:
    return (
        builder.with_actions(counter=counter, result=Result("counter"))
        .with_transitions(
            ("counter", "counter", expr("counter < 5")), ("counter", "result", default)
        )
        .with_state(counter=0)
        .with_entrypoint("counter")
        .build()
    )


def a_counter() -> Facts:
    app = counting(ApplicationBuilder())
    first = shown(app.step())
    rest = shown(app.run(halt_after=["result"]))
    return [first, rest, shown(app.step()), plain(app.state), app.has_next_action()]


def a_counter_iterated() -> Facts:
    one, two = counting(ApplicationBuilder()), counting(ApplicationBuilder())
    return [
        walked(one.iterate(halt_after=["result"])),
        walked(two.iterate(halt_before=["result"], halt_after=["result"])),
        walked(two.iterate(halt_after=[])),
    ]


class Counter(Action):
    """The same in two steps."""

    @property
    def reads(self) -> list[str]:
        return ["counter"]

    def run(self, state: State, increment_by: int) -> dict[str, Any]:
        return {"counter": state["counter"] + increment_by, "seen": sorted(plain(state))}

    @property
    def writes(self) -> list[str]:
        return ["counter"]

    def update(self, result: dict[str, Any], state: State) -> State:
        return state.update(counter=result["counter"])

    @property
    def inputs(self) -> list[str]:
        return ["increment_by"]


def a_counter_of_objects() -> Facts:
    app = (
        ApplicationBuilder()
        .with_actions(counter=Counter(), result=Result("counter"))
        .with_transitions(("counter", "counter", when(counter__lt=6)), ("counter", "result"))
        .with_state(counter=0, other=1)
        .with_entrypoint("counter")
        .build()
    )
    return walked(app.iterate(halt_after=["result"], inputs={"increment_by": 2}))


# --- chats ------------------------------------------------------------------------------


@action(reads=["chat_history", "prompt"], writes=["chat_history"])
def ai_response(state: State, style: str = "plain") -> tuple[dict[str, Any], State]:
    text = state["prompt"].upper() + ("!" if style == "loud" else "")
    item = {"role": "assistant", "content": text}
    return {"item": item, "style": style}, state.append(chat_history=item)


human = action(reads=["chat_history"], writes=["chat_history", "prompt"], tags=["human", "start"])(
    lambda state, prompt: (
        {"item": prompt},
        state.append(chat_history={"role": "user", "content": prompt}).update(prompt=prompt),
    )
)


def chatting() -> Any:
    return (
        ApplicationBuilder()
        .with_actions(human_input=human, ai_response=ai_response)
        .with_transitions(("human_input", "ai_response"), ("ai_response", "human_input"))
        .with_state(chat_history=[])
        .with_entrypoint("human_input")
        .build()
    )


def a_chat() -> Facts:
    app = chatting()
    first = shown(app.run(halt_after=["ai_response"], inputs={"prompt": "hi"}))
    second = walked(app.iterate(halt_before=["human_input"], inputs={"prompt": "and you?"}))
    return [first, second, app.get_next_action().name]


def a_chat_by_tags() -> Facts:
    app = chatting()
    first = walked(app.iterate(halt_before=["@tag:human"], inputs={"prompt": "a"}))
    second = walked(app.iterate(halt_after=["@tag:start"], inputs={"prompt": "b"}))
    return [first, second, [found.name for found in app.graph.get_actions_by_tag("start")]]


def bound_actions_and_modes() -> Facts:
    """The routing chat of Burr's examples: bound inputs, `when`, a wiped state."""

    @action(reads=[], writes=["history", "prompt"])
    def prompt(state: State, prompt: str) -> tuple[dict[str, Any], State]:
        kept = state.wipe(keep=["prompt", "history"])
        return {"item": prompt}, kept.append(history=prompt).update(prompt=prompt)

    @action(reads=["prompt"], writes=["safe", "mode"])
    def check(state: State) -> State:
        words = state["prompt"].split()
        return state.update(safe="bad" not in words, mode=words[0])

    @action(reads=["prompt"], writes=["response"])
    def answer(state: State, before: str, after: str = ".") -> tuple[dict[str, Any], State]:
        text = f"{before}{state['prompt']}{after}"
        return {"response": text}, state.update(response=text).append(history=text)

    app = (
        ApplicationBuilder()
        .with_actions(
            prompt, check, draw=answer.bind(before="[image] "),
            tell=answer.bind(before="", after="?"), refuse=answer.bind(before="no: "),
        )
        .with_transitions(
            ("prompt", "check"),
            ("check", "refuse", when(safe=False)),
            ("check", "draw",
             when(mode="draw") | when(mode="paint") & ~when(prompt="paint nothing")),
            ("check", "tell", default),
            (["draw", "tell", "refuse"], "prompt"),
        )
        .with_state(history=[])
        .with_entrypoint("prompt")
        .build()
    )  # fmt: skip
    said = ["draw a cat", "paint it", "paint nothing", "say something", "draw bad things"]
    halts = ["draw", "tell", "refuse"]
    return [shown(app.run(halt_after=halts, inputs={"prompt": text})) for text in said]


def a_field_named_messages() -> Facts:
    """In our own graphs it is the conversation; here it is a list like any other."""

    @action(reads=["messages"], writes=["messages"])
    def say(state: State, text: str = "") -> State:
        return state.append(messages={"role": "user", "content": text})

    @action(reads=["messages"], writes=["messages", "last"])
    def trim(state: State) -> State:
        kept = state["messages"][-2:]
        return state.update(messages=kept, last=kept[-1])

    app = (
        ApplicationBuilder()
        .with_actions(say, trim)
        .with_transitions(("say", "trim"), ("trim", "say"))
        .with_state(messages=[{"id": "1", "content": "old"}, {"id": "1", "content": "same id"}])
        .with_entrypoint("say")
        .build()
    )
    return [shown(app.run(halt_after=["trim"], inputs={"text": text})) for text in ("a", "b")]


def inputs_written_as_they_are() -> Facts:
    app = (
        ApplicationBuilder()
        .with_actions(ask=Input("name", "age"), greet=Result("name", "age", "nothing"))
        .with_transitions(("ask", "greet"))
        .with_entrypoint("ask")
        .build()
    )
    return walked(app.iterate(halt_after=["greet"], inputs={"name": "Ann", "age": 7, "more": 1}))


# --- one graph, many applications -------------------------------------------------------


def a_graph_made_once() -> Facts:
    graph = (
        GraphBuilder()
        .with_actions(counter=counter, result=Result("counter"))
        .with_transitions(("counter", "counter", when(counter__lt=3)), ("counter", "result"))
        .build()
    )
    apps = [
        ApplicationBuilder().with_graph(graph).with_state(counter=n).with_entrypoint("counter")
        .build() for n in range(3)
    ]  # fmt: skip
    ends = [shown(app.run(halt_after=["result"])) for app in apps]
    ways = [[t.from_.name, t.to.name] for t in graph.transitions]
    return [ends, ways, [a.name for a in apps[0].graph.actions], apps[0].graph.entrypoint.name]


# --- streams ----------------------------------------------------------------------------


@streaming_action(reads=["prompt"], writes=["response"])
def speak(state: State, words: int = 3) -> Any:
    """Yields (result, None), and at last (result, state)."""
    said = state["prompt"].split()[:words]
    for word in said:
        yield {"delta": word}, None
    yield {"response": said}, state.update(response=said)


class Speak(StreamingAction):
    """In two steps: what it yields last is the result."""

    @property
    def reads(self) -> list[str]:
        return ["prompt"]

    @property
    def writes(self) -> list[str]:
        return ["response"]

    def stream_run(self, state: State, **more: Any) -> Any:
        said = state["prompt"].split()
        for word in said:
            yield {"response": [word]}
        yield {"response": said}

    def update(self, result: dict[str, Any], state: State) -> State:
        return state.update(**result)


def streaming(spoken: Any) -> Any:
    return (
        ApplicationBuilder()
        .with_actions(human_input=human, speak=spoken, after=Result("response"))
        .with_transitions(("human_input", "speak"), ("speak", "after"), ("after", "human_input"))
        .with_state(chat_history=[])
        .with_entrypoint("human_input")
        .build()
    )


def streamed(app: Any, **halts: Any) -> Facts:
    done, items = app.stream_result(**halts)
    pieces = list(items)
    result, state = items.get()
    return [done.name, pieces, result, plain(state)]


def streams() -> Facts:
    return [
        [
            streamed(app, halt_after=["speak"], inputs={"prompt": "one two three four"}),
            streamed(app, halt_after=["after"]),
            streamed(app, halt_after=["speak"], halt_before=["human_input"],
                     inputs={"prompt": "x y"}),
            streamed(app, halt_after=["human_input"], halt_before=["after"],
                     inputs={"prompt": "later"}),
            app.get_next_action().name,
        ]
        for app in (streaming(speak), streaming(Speak()))
    ]  # fmt: skip


def streams_run_as_steps() -> Facts:
    return [
        walked(streaming(found).iterate(halt_after=["after"], inputs={"prompt": "a b c d"}))
        for found in (speak, Speak())
    ]


def async_ones() -> Facts:
    @action(reads=["counter"], writes=["counter"])
    async def slowly(state: State) -> State:
        await asyncio.sleep(0)
        return state.update(counter=state["counter"] + 1)

    @streaming_action(reads=["counter"], writes=["said"])
    async def tell(state: State) -> Any:
        for number in range(state["counter"]):
            await asyncio.sleep(0)
            yield {"number": number}, None
        yield {"said": True}, state.update(said=True)

    def build() -> Any:
        return (
            ApplicationBuilder()
            .with_actions(slowly, tell)
            .with_transitions(("slowly", "slowly", when(counter__lt=3)), ("slowly", "tell"))
            .with_state(counter=0)
            .with_entrypoint("slowly")
            .build()
        )

    async def main() -> Facts:
        one, two, three = build(), build(), build()
        steps = [shown(step) async for step in one.aiterate(halt_after=["tell"])]
        ended = shown(await two.arun(halt_before=["tell"]))
        done, items = await three.astream_result(halt_after=["tell"])
        pieces = [item async for item in items]
        result, state = await items.get()
        return [steps, ended, shown(await two.astep()), done.name, pieces, result, plain(state)]

    return asyncio.run(main())


# --- states -----------------------------------------------------------------------------


def states() -> Facts:
    state = State({"a": 1, "l": [1], "t": "x"})
    return [
        plain(state.update(a=2, b=3)), plain(state.append(l=2, m=1)), plain(state.extend(l=[2, 3])),
        plain(state.increment(a=2, n=1)), plain(state.wipe(delete=["a"])),
        plain(state.wipe(keep=["a"])), plain(state.merge(State({"a": 5, "z": 1}))),
        plain(state.subset("a", "nothing")), sorted(state.keys()), state.get("nope", 7),
        "a" in state, len(state), plain(state),
    ]  # fmt: skip


def hooks() -> Facts:
    heard: Facts = []

    from statecli.burr import PostRunStepHook, PreRunStepHook

    class Heard(PreRunStepHook, PostRunStepHook):
        def pre_run_step(self, *, state: Any, action: Any, inputs: Any, **more: Any) -> None:
            heard.append(["pre", action.name, plain(state), inputs, more["sequence_id"]])

        def post_run_step(
            self, *, state: Any, action: Any, result: Any, exception: Any, **more: Any
        ) -> None:
            heard.append(["post", action.name, plain(state), result, repr(exception)])

    app = counting(ApplicationBuilder().with_hooks(Heard()).with_identifiers(app_id="me"))
    app.step(inputs={"increment_by": 4})
    app.run(halt_after=["result"])
    return [heard, app.uid]


APPS: dict[str, Callable[[], Facts]] = {
    name: found
    for name, found in list(globals().items())
    if getattr(found, "__annotations__", {}) == {"return": "Facts"}
}

if __name__ == "__main__":
    print(json.dumps({name: app() for name, app in APPS.items()}, indent=1, sort_keys=True))
