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
#: So many are aimed at then; fewer where they have more than so many arrows each.
_GOAL, _FEWEST, _CROWDED = 36, 12, 3


def collapsed(drawing: Drawing, most: int = MOST) -> Drawing:
    """The drawing with at most about `most` boxes; itself if it has no more."""
    if sum(box.role == STATE for box in drawing.boxes) <= most:
        return drawing
    for step in (_chains, _circles, _phases):
        drawing = _merged(drawing, step(_Net(drawing), _GOAL))
        if len(drawing.boxes) <= most:
            break
    # Few boxes with arrows between nearly all of them show nothing: then fewer boxes do.
    goal = _GOAL
    while goal > _FEWEST and len(drawing.arrows) > _CROWDED * goal:
        goal = max(_FEWEST, goal * 2 // 3)
        drawing = _merged(drawing, _phases(_Net(drawing), goal))
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


def _chains(net: _Net, most: int) -> list[list[int]]:
    """Three boxes or more, one after the other, with no other way in or out between them. A long
    chain becomes several boxes, so that it still shows how it goes."""
    longest = max(3, -(-len(net.boxes) // most))

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
            found += [chain[at : at + longest] for at in range(0, len(chain), longest)]
    return found


def _circles(net: _Net, _most: int) -> list[list[int]]:
    """Boxes that lead to one another; not where that is a large part of the drawing."""
    most = len(net.boxes) // 4
    return [
        group
        for group in components(net.out)
        if 1 < len(group) <= most and all(map(net.merges, group))
    ]


def _phases(net: _Net, most: int) -> list[list[int]]:
    """What lies behind a box belongs to it, as far as phases of about equal size allow: the tree
    of dominators is cut into parts, small ones beside each other together."""
    before = dominators(net.out, net.start)
    below: list[list[int]] = [[] for _ in net.boxes]
    for at, last in enumerate(before):
        if at != net.start:
            below[last if last >= 0 else net.start].append(at)
    fixed = sum(not net.merges(at) for at in range(len(net.boxes)))
    size = max(2, len(net.boxes) // most)
    while True:
        found = _cut(net, below, size)
        if len(found) + fixed <= most or size > len(net.boxes):
            return found
        size += max(1, size // 6)


def _cut(net: _Net, below: Sequence[Sequence[int]], size: int) -> list[list[int]]:
    """The tree in parts of about this size, from the leaves up. `below` are the children."""
    found: list[list[int]] = []
    parts: list[list[int]] = [[] for _ in below]
    for at in reversed(_under(net.start, below)):
        bundle: list[int] = []
        for child in below[at]:
            if len(bundle) + len(parts[child]) > size:
                found.append(bundle)
                bundle = []
            bundle = bundle + parts[child]
        own = [at] if net.merges(at) else []
        if len(bundle) + len(own) > size or not own:
            found.append(bundle)
            bundle = []
        parts[at] = own + bundle
    return [sorted(part) for part in (*found, parts[net.start]) if part]


def _under(root: int, below: Sequence[Sequence[int]]) -> list[int]:
    found = [root]
    for at in found:
        found += below[at]
    return found


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
    kept: dict[str, Mark] = {}  # of arrows inside a group
    for arrow in drawing.arrows:
        source, target = into.get(arrow.source, arrow.source), into.get(arrow.target, arrow.target)
        inside = arrow.source in into or arrow.target in into
        if source == target and inside:
            kept[source] = joined_marks([("", kept.get(source, NO_MARK)), ("", arrow.mark)])
            continue
        key = (source, target, "" if inside else arrow.id)
        new = arrow._replace(source=source, target=target)
        arrows[key] = _together(arrows[key], new) if key in arrows else new
    for at, box in boxes.items():
        if kept.get(box.id, NO_MARK) != NO_MARK:
            own = kept[box.id]._replace(times=None)  # a visit of the group is counted already
            boxes[at] = box._replace(mark=joined_marks([("", box.mark), ("", own)]))
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
    """What several marks say together; texts begin with the name they are about."""
    if all(mark == NO_MARK for _, mark in marks):
        return NO_MARK
    severities = [mark.severity for _, mark in marks if mark.severity]
    counts = [mark.times for _, mark in marks if mark.times is not None]
    return Mark(
        severity=min(severities, key=SEVERITIES.index, default=""),
        messages=tuple(
            message._replace(text=f"{name}: {message.text}") if name else message
            for name, mark in marks
            for message in mark.messages
        ),
        times=sum(counts) if counts else None,
        current=any(mark.current for _, mark in marks),
        steps=tuple(sorted(step for _, mark in marks for step in mark.steps)),
    )
