"""The shortest run of branches that shows something: breadth first, in the order of the engine.

The bodies take their turns as in `engine/branches.py`: one piece of each in routing order, what
comes of one at the end of the queue; a person is asked once nothing else can go on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from statecli.model.data import is_list, is_map
from statecli.verify.branch_replay import Act
from statecli.verify.branches import placed
from statecli.verify.site import Site
from statecli.verify.sites import Budget, Sites
from statecli.verify.steps import Step, Steps
from statecli.verify.tokens import Configuration, Joins, Token, tidied, together
from statecli.verify.witness import Goal, given_at

#: So many bodies at most are told of the branches that a finding is not about.
MOST_MORE = 90
#: So many places of the branches are looked at.
MOST_NODES = 20_000
#: And of so many for a run that shows a finding better than one that is known.
MOST_FOR_BETTER = 2_000


Turns = tuple[tuple[int, int], ...]


class Node(NamedTuple):
    """The branches in routing order with a name each, and those that are to run, in turn, each
    with how many pieces of its body are done; and how a run comes to be there."""

    tokens: Configuration
    names: tuple[int, ...]
    queue: Turns
    before: int = -1
    acts: tuple[Act, ...] = ()

    def key(self) -> tuple[Configuration, Turns]:
        at = {name: number for number, name in enumerate(self.names)}
        return self.tokens, tuple((at[name], done) for name, done in self.queue)


class Run(NamedTuple):
    """Where a run begins, with which values, and what the bodies do. `other`: where a branch still
    is when it shows something. `lacking`: from where none comes to a join that waits in vain."""

    root: str
    given: Mapping[str, Any]
    acts: tuple[Act, ...]
    other: str
    lacking: tuple[str, ...]


class BranchSearch:
    """Looks for several goals at once. Their kinds are those of `Goal`, and waits, open, twice."""

    def __init__(self, sites: Sites, budget: Budget, goals: Sequence[Goal]) -> None:
        self.sites = sites
        self.layout = sites.layout
        self.budget = budget
        self.joins = Joins(sites, seen=True)
        self.steps = Steps(self.joins, coop=True, single=True)
        self.left = dict.fromkeys(goals)
        self.found: dict[Goal, Run] = {}
        #: Ends that are reached where no branch is open any more, as it goes when every body takes
        #: one turn: whether one was depends on how long they take.
        self.close: dict[Goal, Run] = {}
        self.nodes: list[Node] = []
        self._known: set[object] = set()
        self._queue: deque[int] = deque()

    def run(self) -> dict[Goal, Run]:
        for name in self.layout.graph.roots():
            number = self.layout.index[name]
            for box in self.steps.values(self.sites[number], self.layout.start(number, coop=True)):
                token = Token(number, -1, "", box)
                self._add(Node((token,), (0,), ((0, 0),)))
        while self._queue and self.left and self.budget.spend():
            most = MOST_NODES if self.left.keys() - self.close.keys() else MOST_FOR_BETTER
            if len(self.nodes) > most:
                break
            at = self._queue.popleft()
            for node in self._after(at, self.nodes[at]):
                self._add(node)
        return self.close | self.found

    def _add(self, node: Node) -> None:
        key = node.key()
        if key not in self._known:
            self._known.add(key)
            self.nodes.append(node)
            self._queue.append(len(self.nodes) - 1)
            self._judge(len(self.nodes) - 1, node)

    # --- what a place shows ---------------------------------------------------------------------

    def _reach(self, goal: Goal, at: int, last: Node | None = None) -> None:
        """A run shows something in a node, or with what leads from there to the `last` one."""
        if goal not in self.left:
            return
        node = last if last is not None else self.nodes[at]
        found = self.found
        if goal.kind == "open" and self.joins.still_open(node.tokens) is None:
            if goal in self.close:
                return
            found = self.close
        else:
            del self.left[goal]
        acts = self._rest_of(node)
        left = self.joins.still_open(node.tokens)
        other = self.layout.states[left.site].name if left is not None else ""
        vain = self.joins.in_vain(node.tokens) if goal.kind == "waits" else {}
        lacking = tuple(self.layout.states[n].name for n in vain.get(goal.site, ()))
        while True:
            acts = [*node.acts, *acts]
            if node.before < 0:
                break
            node = self.nodes[node.before]
        first = node.tokens[0]
        given = given_at(self.sites, first.site, first.box)
        root = self.layout.states[first.site].name
        found[goal] = Run(root, given, tuple(acts), other, lacking)

    def _rest_of(self, node: Node) -> list[Act]:
        """What the other branches do until all of them rest: so nobody who plays the run has to
        know which of them is the faster."""
        acts: list[Act] = []
        while node.queue and len(acts) < MOST_MORE:
            left, self.left = self.left, {}
            after = next(iter(self._after(-1, node)), None)
            self.left = left
            if after is None:
                break
            acts += after.acts
            node = after
        return acts

    def _judge(self, at: int, node: Node) -> None:
        joins = self.joins
        for goal in list(self.left):
            here = [token for token in node.tokens if token.site == goal.site]
            if goal.kind == "open":
                over = any(joins.ended(token) for token in here)
                if over and len(node.tokens) > 1:
                    self._reach(goal, at)
            elif goal.kind == "twice" and self._meet(node.tokens, goal.site):
                self._reach(goal, at)

    def _meet(self, tokens: Configuration, site: int) -> bool:
        return any(
            one.splits and other.splits and together(one, other) >> site & 1
            for at, one in enumerate(tokens)
            for other in tokens[at + 1 :]
        )

    # --- what comes next ------------------------------------------------------------------------

    def _after(self, at: int, node: Node) -> Iterator[Node]:
        """Where one body leads: the first that comes to an end when those in the queue take their
        turns, or else the person is asked in the first that waits."""
        queue = deque(node.queue)
        parts: list[Act] = []
        while queue:
            name, done = queue.popleft()
            token = node.tokens[node.names.index(name)]
            here = self.sites[token.site]
            if self.joins.rests(token) or here.state.kind == "user":
                continue
            fewest = min((pieces(here, step) for step in self.steps.of(token)), default=0)
            if done + 1 >= fewest:
                yield from self._body(at, node, name, done + 1, tuple(queue), parts)
                return
            queue.append((name, done + 1))
            parts.append(Act(here.state.name, {}, part=True))
        vain = self.joins.in_vain(node.tokens)
        due = self.joins.following(vain) if vain else set()
        for site in vain:
            self._reach(Goal("waits", site, site in due), at, node)
        if self.joins.failed(node.tokens):
            return
        for name, token in zip(node.names, node.tokens, strict=True):
            if not self.joins.rests(token):
                yield from self._body(at, node, name, ALL, (), [])
                return

    def _body(
        self, at: int, node: Node, name: int, done: int, queue: Turns, parts: list[Act]
    ) -> Iterator[Node]:
        """What a body leads to that has done so many pieces; it may go on as well."""
        place = node.names.index(name)
        token = node.tokens[place]
        site = self.sites[token.site]
        for key in site.state.reads:
            if site.lacks(key, token.box):
                self._reach(Goal("lacking", token.site, key), at, node)
        steps = self.steps.of(token)
        helps = any(step.branches for step in steps)
        for step in steps:
            if pieces(site, step) > done:
                continue
            act = Act(site.state.name, self._writes(site, step), self._way(site, step))
            after = self._placed(at, node, place, queue, step, (*parts, act))
            if after is None:
                continue
            for key in self.steps.asked(site, step.box, set_=False):
                self._reach(Goal("unset", token.site, key), at, after)
            if (step.branches and step.branches[0].stuck) or not helps:
                self._reach(Goal("stuck", token.site), at, after)
            if step.branches:
                yield after
        if any(pieces(site, step) > done for step in steps):
            acts = (*parts, Act(site.state.name, {}, part=True))
            yield Node(node.tokens, node.names, (*queue, (name, done)), at, acts)

    def _placed(
        self, at: int, node: Node, place: int, queue: Turns, step: Step, acts: tuple[Act, ...]
    ) -> Node | None:
        """The branches after a step, each that goes on at the end of the queue. None where what
        branches that come together know does not fit together."""
        if not step.branches:  # a line that leads nowhere
            return Node(node.tokens, node.names, queue, at, acts)
        fresh = max(node.names) + 1
        made = tuple(range(fresh, fresh + len(step.branches)))
        names = (*node.names[:place], *made, *node.names[place + 1 :])
        tokens = placed(self.joins, node.tokens, place, step)
        ready = [
            name
            for name, token in zip(names, tokens, strict=True)
            if name in made and not (token.stuck or self.joins.waits(token))
        ]
        while parts := self.joins.complete(tokens):
            joined = self.joins.folded([tokens[part] for part in parts])
            if joined is None:
                return None
            kept = [n for n in range(len(tokens)) if n not in parts[1:]]
            ready.append(max(*names, fresh) + 1)
            tokens = tuple(joined if n == parts[0] else tokens[n] for n in kept)
            names = tuple(ready[-1] if n == parts[0] else names[n] for n in kept)
        live = tuple(turn for turn in (*queue, *((name, 0) for name in ready)) if turn[0] in names)
        return Node(tidied(tokens), names, live, at, acts)

    # --- in words of the kernel -----------------------------------------------------------------

    def _way(self, site: Site, step: Step) -> int:
        return site.routes[step.way].number if step.way >= 0 else -1

    def _writes(self, site: Site, step: Step) -> dict[str, Any]:
        """What the body writes, with a value of each class."""
        typed, found = site.state.kind == "user", dict[str, Any]()
        for effect in step.effects:
            axis = effect.axis
            number = (step.box >> axis.at & axis.all).bit_length() - 1
            found[axis.name] = axis.line(number) if typed else axis.sample(number)
        return site.written(found)


#: More pieces than any body has.
ALL = 99
#: How often the body of a kind asks somebody, or waits, before it is known where the run goes.
_ASKS = {"decision": 0, "user": 0, "tool": 2}


def pieces(site: Site, step: Step) -> int:
    """In how many turns the engine runs a body that makes a step: one up to each question (the
    model's choice of the way is one), and one that moves on."""
    asks = _ASKS.get(site.state.kind, 1)
    if site.state.kind == "tool":  # which one, and with which arguments
        asks += _several_tools(site) + (not is_map(site.state.settings.get("arguments")))
    if step.way >= 0 and not site.state.fans_out and site.state.kind != "verifier":
        asks += site.is_chosen(step.way)
    return asks + 1


def _several_tools(site: Site) -> bool:
    settings = site.state.settings
    tools = settings.get("tools", site.graph.settings.get("tools"))
    return "tool" not in settings and (is_list(tools) or is_map(tools)) and len(tools) > 1
