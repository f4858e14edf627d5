"""Graph algorithms on lists of ints: linear, and without recursion (chains of 100,000 states)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Edges = Sequence[Sequence[int]]


def reachable(edges: Edges, roots: Iterable[int]) -> bytearray:
    """1 for each node that a path from a root reaches, roots included."""
    seen = bytearray(len(edges))
    stack = list(roots)
    for root in stack:
        seen[root] = 1
    while stack:
        for target in edges[stack.pop()]:
            if not seen[target]:
                seen[target] = 1
                stack.append(target)
    return seen


def components(edges: Edges) -> list[list[int]]:
    """Strongly connected components (Tarjan, iterative), each sorted; sinks come first."""
    size = len(edges)
    order = [0] * size
    low = [0] * size
    on_stack = bytearray(size)
    stack: list[int] = []
    found: list[list[int]] = []
    count = 0
    for root in range(size):
        if order[root]:
            continue
        count += 1
        order[root] = low[root] = count
        stack.append(root)
        on_stack[root] = 1
        work = [(root, iter(edges[root]))]
        while work:
            node, targets = work[-1]
            for target in targets:
                if not order[target]:
                    count += 1
                    order[target] = low[target] = count
                    stack.append(target)
                    on_stack[target] = 1
                    work.append((target, iter(edges[target])))
                    break
                if on_stack[target] and order[target] < low[node]:
                    low[node] = order[target]
            else:
                work.pop()
                if work and low[node] < low[work[-1][0]]:
                    low[work[-1][0]] = low[node]
                if low[node] == order[node]:
                    members = []
                    while True:
                        member = stack.pop()
                        on_stack[member] = 0
                        members.append(member)
                        if member == node:
                            break
                    members.sort()
                    found.append(members)
    return found


def shortest_path(
    edges: Edges, roots: Iterable[int], goals: set[int], within: set[int] | None = None
) -> list[int]:
    """Breadth first from the roots to the first goal; `within` keeps to these nodes."""
    before: dict[int, int | None] = dict.fromkeys(roots)
    queue = list(before)
    for node in queue:
        if node in goals:
            path = [node]
            while (previous := before[path[-1]]) is not None:
                path.append(previous)
            return path[::-1]
        for target in edges[node]:
            if target not in before and (within is None or target in within):
                before[target] = node
                queue.append(target)
    return []


def breadth_first(edges: Edges, roots: Iterable[int]) -> tuple[list[int], list[int]]:
    """For each node the one before it on a shortest path from a root (-1 for a root), and the
    length of that path; both -1 where there is none."""
    before = [-1] * len(edges)
    depth = [-1] * len(edges)
    queue = list(roots)
    for root in queue:
        depth[root] = 0
    for node in queue:
        for target in edges[node]:
            if depth[target] < 0:
                depth[target] = depth[node] + 1
                before[target] = node
                queue.append(target)
    return before, depth


def reversed_edges(edges: Edges) -> list[list[int]]:
    """For each node the nodes with an edge to it."""
    sources: list[list[int]] = [[] for _ in edges]
    for node, targets in enumerate(edges):
        for target in targets:
            sources[target].append(node)
    return sources


def cycle_through(edges: Edges, members: Sequence[int]) -> list[int]:
    """A shortest cycle inside a component, beginning and ending with its first member that lies
    on one."""
    inside = set(members)
    for start in members:
        path = shortest_path(edges, [t for t in edges[start] if t in inside], {start}, inside)
        if path:
            return [start, *path]
    return list(members)


def dominators(edges: Edges, root: int) -> list[int]:
    """For each node the last one that every path from the root to it passes (-1 for the root and
    for nodes that no path reaches). Cooper, Harvey and Kennedy, "A Simple, Fast Dominance
    Algorithm"."""
    order = _postorder(edges, root)
    number = {node: at for at, node in enumerate(order)}
    sources = reversed_edges(edges)
    before = [-1] * len(edges)
    before[root] = root
    changed = True
    while changed:
        changed = False
        for node in reversed(order):
            if node == root:
                continue
            new = -1
            for source in sources[node]:
                if before[source] >= 0:
                    new = source if new < 0 else _meet(before, number, new, source)
            if new != before[node]:
                before[node] = new
                changed = True
    before[root] = -1
    return before


def _meet(before: list[int], number: dict[int, int], one: int, other: int) -> int:
    """The last node that the ways to both have in common."""
    while one != other:
        while number[one] < number[other]:
            one = before[one]
        while number[other] < number[one]:
            other = before[other]
    return one


def _postorder(edges: Edges, root: int) -> list[int]:
    """The nodes that the root reaches, each after those it leads to (back edges aside)."""
    seen = bytearray(len(edges))
    seen[root] = 1
    found: list[int] = []
    work = [(root, iter(edges[root]))]
    while work:
        node, targets = work[-1]
        for target in targets:
            if not seen[target]:
                seen[target] = 1
                work.append((target, iter(edges[target])))
                break
        else:
            work.pop()
            found.append(node)
    return found
