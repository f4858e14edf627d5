"""A graph as a drawing: a box for every state, an arrow for every route, written and implicit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from statecli.kernel.order import options, routes_of
from statecli.model.graph import END, WAITING_KINDS, Graph, State, Transition
from statecli.model.words import deliverable_words
from statecli.render.drawing import (
    BAR,
    CHOSEN,
    END_MARK,
    GUARD,
    IMPLICIT,
    JUMP,
    LINK,
    NO_MARK,
    START,
    Arrow,
    Box,
    Drawing,
    Mark,
    Marks,
)
from statecli.render.labels import described, label, order_matters

_JUMPS = {"on_error": "on error", "on_invalid": "no valid choice"}


class Wish(NamedTuple):
    """What is to be shown. `waiting`: further kinds that wait for the person (config)."""

    labels: str = "guard"
    tasks: bool = False
    implicit: bool = True
    waiting: frozenset[str] = frozenset()


def draw(graph: Graph, title: str, wish: Wish, marks: Marks) -> Drawing:
    """Everything that the graph says. The order of boxes and arrows is that of the file."""
    return _Pen(graph, wish, marks).drawing(title)


class _Pen:
    """Draws one graph; ids are handed out in order."""

    def __init__(self, graph: Graph, wish: Wish, marks: Marks) -> None:
        self.graph, self.wish, self.marks = graph, wish, marks
        self.boxes: dict[str, Box] = {}
        self.arrows: list[Arrow] = []
        self.bars: dict[tuple[str, str], Box] = {}

    def drawing(self, title: str) -> Drawing:
        graph = self.graph
        for number, state in enumerate(graph.states.values()):
            self.boxes[state.name] = self._box(state, f"s{number}")
        start = Box("start", "", START)
        for name in dict.fromkeys([n for n, _ in graph.entries] or [graph.initial]):
            self._arrow(start.id, self._target(name), LINK)
        for state in graph.states.values():
            self._ways(state)
        several = len(graph.entries) > 1
        arrows = tuple(
            arrow._replace(style=CHOSEN) if several and arrow.source == start.id else arrow
            for arrow in self.arrows
        )
        begins = (start,) if graph.states else ()
        boxes = (*begins, *self.boxes.values(), *self.bars.values())
        return Drawing(title, boxes, arrows, self.marks.counts)

    # --- boxes ------------------------------------------------------------------------------------

    def _box(self, state: State, id_: str) -> Box:
        wish = self.wish
        about = [" ".join(text.split()) for text in (state.title, state.description)]
        if _bare(about[0]) == _bare(state.name):
            del about[0]
        return Box(
            id=id_,
            name=state.name,
            kind=state.kind,
            about=": ".join(dict.fromkeys(filter(None, about))),
            waits=state.kind in WAITING_KINDS or state.kind in wish.waiting,
            ends=state.ends,
            tasks=tuple(_tasks(state)) if wish.tasks else (),
            mark=self.marks.states.get(state.name, NO_MARK),
        )

    def _target(self, name: str) -> str:
        """The id of the box a route leads to; one is made for the end, and for a state that the
        file does not have."""
        box = self.boxes.get(name)
        if box is None:
            if name == END and self.graph.is_plan:
                mark = self.marks.states.get(END, NO_MARK)
                box = Box("end", name, END_MARK, ends=True, mark=mark)
            else:
                box = Box(f"m{len(self.boxes)}", name, missing=True)
            self.boxes[name] = box
        return box.id

    def _bar(self, state: State, group: str) -> str:
        """The bar where branches part ("<" as its group) or meet before a state."""
        known = self.bars.get((state.name, group))
        if known is None:
            known = self.bars[state.name, group] = Box(f"b{len(self.bars)}", "", BAR)
            own = self.boxes[state.name].id
            ends = (own, known.id) if group == "<" else (known.id, own)
            self._arrow(*ends, LINK)
        return known.id

    # --- arrows -----------------------------------------------------------------------------------

    def _ways(self, state: State) -> None:
        """The routes of a state in the order they are tried, then where errors lead."""
        ways = routes_of(self.graph, state.name)
        ordered = order_matters(self.graph, state, ways)
        chosen = options(ways)
        for place, route in enumerate(ways, 1):
            if route.origin != "written" and not self.wish.implicit:
                continue
            several = len(chosen) > 1 and route in chosen and not state.fans_out
            style = IMPLICIT if route.origin != "written" else CHOSEN if several else GUARD
            self._route(state, ways, route, style, place if ordered else 0)
        for key, target in state.jumps:
            words = _JUMPS.get(key, key)
            self._arrow(self.boxes[state.name].id, self._target(target), JUMP, words, key)

    def _route(
        self,
        state: State,
        ways: tuple[Transition, ...],
        route: Transition,
        style: str,
        order: int,
    ) -> None:
        graph = self.graph
        source = self._bar(state, "<") if state.fans_out else self.boxes[state.name].id
        target = self._target(route.target)
        met = graph.states.get(route.target)
        if met is not None and met.settings.get("join") == "all" and met.name != state.name:
            target = self._bar(met, f">{route.group}")
        text = label(route, ways, self.wish.labels)
        mark = self.marks.routes.get((state.name, route.number), NO_MARK)
        about = route.why or described(graph, route)
        self._arrow(source, target, style, text, about, order, state.name, route.number, mark)

    def _arrow(
        self,
        source: str,
        target: str,
        style: str,
        text: str = "",
        about: str = "",
        order: int = 0,
        state: str = "",
        number: int = -1,
        mark: Mark = NO_MARK,
    ) -> None:
        self.arrows.append(
            Arrow(
                id=f"a{len(self.arrows)}",
                source=source,
                target=target,
                label=text,
                about=about,
                style=style,
                order=order,
                state=state,
                number=number,
                mark=mark,
            )
        )


def _bare(text: str) -> str:
    """A title without what tells it from a name: "Customer Intake" is customer_intake."""
    return "".join(sign for sign in text.casefold() if sign.isalnum())


def _tasks(state: State) -> Iterator[str]:
    """One line for each task: what it is, and what it collects."""
    if state.kind == "goal":
        if state.goal is not None and state.goal.objective.strip():
            yield f"goal: {' '.join(state.goal.objective.split())}"
        for item in state.deliverables():
            yield f"→ {deliverable_words(item)}"
        return
    for task in state.tasks:
        text = " ".join(task.description.split()) or task.id
        collects = (
            f" → {', '.join(map(deliverable_words, task.deliverables))}"
            if task.deliverables
            else ""
        )
        yield f"{text}{collects}{'' if task.required else ' (optional)'}"
