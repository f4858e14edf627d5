"""Large drawings made smaller: chains, groups that lead to one another, and phases become a box.

In this order, and only as far as needed: a chain (states with one way in and one way out), a group
in which every state leads to every other, a phase (what can only be reached through one state).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from statecli.model.diagnostic import SEVERITIES
from statecli.model.graphs import components, dominators, reversed_edges
from statecli.render.drawing import GROUP, NO_MARK, STATE, Arrow, Box, Drawing, Mark

#: A drawing with more boxes than this is hard to read (stack.md: 100 states make a ribbon).
MOST = 60


def collapsed(drawing: Drawing, most: int = MOST) -> Drawing:
    """The drawing with at most about `most` boxes; itself if it has no more."""
    if len(drawing.boxes) <= most:
        return drawing
    for step in (_chains, _circles, _phases, _neighbours):
        sets = step(_Net(drawing), most)
        drawing = _merged(drawing, sets)
        if len(drawing.boxes) <= most:
            break
    return drawing


class _Net:
    """The boxes as numbers, with the arrows between different ones."""

    def __init__(self, drawing: Drawing) -> None:
        self.boxes = drawing.boxes
        self.number = {box.id: at for at, box in enumerate(drawing.boxes)}
        out: list[dict[int, None]] = [{} for _ in drawing.boxes]
        for arrow in drawing.arrows:
            source, target = self.number[arrow.source], self.number[arrow.target]
            if source != target:
                out[source][target] = None
        self.out: list[list[int]] = [list(targets) for targets in out]
        self.into = reversed_edges(self.out)
        self.start = self.number.get("start", 0)

    def merges(self, at: int) -> bool:
        """Whether a box may become a part of another: the marks of start and end may not."""
        return self.boxes[at].role not in ("start", "end")


def _chains(net: _Net, most: int) -> list[list[int]]:  # noqa: ARG001 - every step takes the same
    """Three boxes or more, one after the other, with no other way in or out between them."""

    def follows(at: int) -> int:
        """The next box of the chain, or -1."""
        if len(net.out[at]) != 1 or not net.merges(at):
            return -1
        target = net.out[at][0]
        return target if len(net.into[target]) == 1 and net.merges(target) else -1

    after = [follows(at) for at in range(len(net.boxes))]
    begun = set(range(len(net.boxes))) - set(after)
    found = []
    for at in sorted(begun):
        chain = [at]
        while after[chain[-1]] >= 0:
            chain.append(after[chain[-1]])
        if len(chain) > 2:
            found.append(chain)
    return found


def _circles(net: _Net, most: int) -> list[list[int]]:  # noqa: ARG001
    """Boxes that lead to one another; not where that is most of the drawing."""
    half = len(net.boxes) / 2
    return [
        group
        for group in components(net.out)
        if 1 < len(group) < half and all(map(net.merges, group))
    ]


def _phases(net: _Net, most: int) -> list[list[int]]:
    """What lies behind one box: the largest such phases are opened as long as there is room."""
    before = dominators(net.out, net.start)
    below: list[list[int]] = [[] for _ in net.boxes]
    for at, last in enumerate(before):
        if last >= 0:
            below[last].append(at)
    size = _sizes(net.start, below)
    closed = {at: size[at] for at in below[net.start]}
    shown = 1 + len(closed)
    while closed:
        at = max(closed, key=lambda item: (closed[item], -item))
        if closed[at] < 2 or shown + len(below[at]) > most:
            break
        del closed[at]
        closed.update((child, size[child]) for child in below[at])
        shown += len(below[at])
    return [group for group in (_under(at, below) for at in closed) if _worth(net, group)]


def _worth(net: _Net, group: Sequence[int]) -> bool:
    return len(group) > 1 and all(map(net.merges, group))


def _sizes(root: int, below: Sequence[Sequence[int]]) -> list[int]:
    size = [1] * len(below)
    for at in reversed(_under(root, below)):
        size[at] += sum(size[child] for child in below[at])
    return size


def _under(root: int, below: Sequence[Sequence[int]]) -> list[int]:
    found = [root]
    for at in found:
        found += below[at]
    return found


def _neighbours(net: _Net, most: int) -> list[list[int]]:
    """Where nothing else helps: boxes that stand beside each other in the file."""
    able = [at for at in range(len(net.boxes)) if net.merges(at)]
    each = -(-len(able) // max(1, most - (len(net.boxes) - len(able))))
    return [able[at : at + each] for at in range(0, len(able), each)] if each > 1 else []


# --- the new drawing ------------------------------------------------------------------------------


def _merged(drawing: Drawing, sets: Iterable[Sequence[int]]) -> Drawing:
    """The drawing with each of these sets of boxes as one box."""
    into: dict[str, str] = {}
    boxes: dict[int, Box] = dict(enumerate(drawing.boxes))
    for members in sets:
        found = [drawing.boxes[at] for at in members]
        if sum(len(box.members) or box.role == STATE for box in found) < 2:
            continue
        group = _group(found)
        into.update(dict.fromkeys((box.id for box in found), group.id))
        for at in members[1:]:
            del boxes[at]
        boxes[members[0]] = group
    arrows: dict[tuple[str, str, str], Arrow] = {}
    for arrow in drawing.arrows:
        source, target = into.get(arrow.source, arrow.source), into.get(arrow.target, arrow.target)
        inside = arrow.source in into or arrow.target in into
        if source == target and inside:
            continue
        key = (source, target, "" if inside else arrow.id)
        new = arrow._replace(source=source, target=target)
        arrows[key] = _together(arrows[key], new) if key in arrows else new
    return drawing._replace(
        boxes=tuple(boxes[at] for at in sorted(boxes)), arrows=tuple(arrows.values())
    )


def _group(boxes: Sequence[Box]) -> Box:
    """One box for several; it is named by the first of them, which leads in."""
    members = tuple(name for box in boxes for name in (box.members or _named(box)))
    return Box(
        id=f"g{boxes[0].id}",
        name=f"{members[0]} … {members[-1]}",
        role=GROUP,
        waits=any(box.waits for box in boxes),
        ends=any(box.ends for box in boxes),
        members=members,
        hidden=sum(box.hidden for box in boxes),
        mark=joined_marks([(box.name, box.mark) for box in boxes]),
    )


def _named(box: Box) -> tuple[str, ...]:
    return (box.name,) if box.role == STATE else ()


def _together(one: Arrow, other: Arrow) -> Arrow:
    """Two routes between the same boxes as one arrow."""
    about = "\n".join(filter(None, dict.fromkeys([one.label, *one.about.split("\n"), other.label])))
    marks = [("", one.mark), ("", other.mark)]
    same = one.style if one.style == other.style else "guard"
    return one._replace(
        label="", about=about, order=0, ways=one.ways + other.ways, style=same,
        mark=joined_marks(marks),
    )  # fmt: skip


def joined_marks(marks: Sequence[tuple[str, Mark]]) -> Mark:
    """What several marks say together; messages begin with the name they are about."""
    if all(mark == NO_MARK for _, mark in marks):
        return NO_MARK
    severities = [mark.severity for _, mark in marks if mark.severity]
    counts = [mark.times for _, mark in marks if mark.times is not None]
    return Mark(
        severity=min(severities, key=SEVERITIES.index, default=""),
        messages=tuple(
            f"{name}: {text}" if name else text for name, mark in marks for text in mark.messages
        ),
        times=sum(counts) if counts else None,
        current=any(mark.current for _, mark in marks),
        steps=tuple(sorted(step for _, mark in marks for step in mark.steps)),
    )
