"""Random graphs that split and join: the same seed gives the same graph.

    python tests/verify_splits.py SEED      prints a graph

One or two splits of two or three branches; a branch reads and writes, may end by itself, go round,
come to the join or pass it by; joins wait for all (in groups) or for any, or are none.
"""

from __future__ import annotations

import json
import random
import sys
from typing import Any

TESTS = ("{k}", "not {k}", "{k} == True", "has('{k}')", "not has('{k}')", "not has('{k}') or {k}")


def split_graph(seed: int) -> dict[str, Any]:
    """The graph of a seed."""
    return _Draw(random.Random(f"{seed} split")).graph()


class _Draw:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.keys = ["a", "b"][: rng.choice((1, 2, 2))]
        self.width = rng.choice((2, 2, 3))
        self.nested = rng.random() < 0.25
        self.chains = [self._names(n) for n in range(self.width)]
        self.states: dict[str, Any] = {}

    def _names(self, number: int) -> list[str]:
        return [f"{'pqr'[number]}{n}" for n in range(self.rng.choice((1, 1, 2)))]

    def graph(self) -> dict[str, Any]:
        rng = self.rng
        self.states["s"] = self._body(self._heads([chain[0] for chain in self.chains]), split=True)
        for chain in self.chains:
            for at, name in enumerate(chain):
                following = chain[at + 1] if at + 1 < len(chain) else "j"
                self.states[name] = self._body(self._routes(following))
        if self.nested:
            self._nest()
        join = rng.choice(({"join": "all"}, {"join": "all"}, {"join": "any"}, {}))
        # Only what is joined goes round: else there are more branches in each round.
        back = join.get("join") == "all" and rng.random() < 0.2
        after = [{"to": "s", "when": self._test()}, "e"] if back else ["e"]
        self.states["j"] = {**self._body(after), **join}
        self.states["e"] = {"type": "terminal", "description": "e",
                            **({"join": "all"} if rng.random() < 0.15 else {})}  # fmt: skip
        self.states["f"] = {"type": "terminal", "description": "f"}
        fields = {key: {"type": "bool"} for key in self.keys}
        for key in self.keys:
            if rng.random() < 0.25:
                fields[key] = {"type": "bool", "default": rng.random() < 0.5}  # type: ignore[dict-item]
        return {"initial": "s", "fields": fields, "states": self.states}

    def _heads(self, names: list[str]) -> list[Any]:
        return [self._guarded(name, 25) for name in names]

    def _nest(self) -> None:
        """One branch splits again, into two that come to a join of their own, or to the outer."""
        first = self.chains[0][0]
        self.states[first] = self._body(self._heads(["x", "y"]), split=True)
        target = self.rng.choice(("k", "k", "j"))
        for name in ("x", "y"):
            self.states[name] = self._body(self._routes(target))
        self.states["k"] = {**self._body(self._routes("j")), "join": "all"}

    def _body(self, routes: list[Any], *, split: bool = False) -> dict[str, Any]:
        rng = self.rng
        kind = rng.choice(("agent", "agent", "decision", "user"))
        state: dict[str, Any] = {"type": kind, "description": "d", "transition": {"next": routes}}
        if split:
            state["transition"]["fanout"] = "all"
        if kind != "decision" and rng.random() < 0.6:
            most = 1 if kind == "user" else len(self.keys)
            state["writes"] = rng.sample(self.keys, rng.randint(1, most))
        if rng.random() < 0.05:
            state["on_error"] = "f"
        return state

    def _routes(self, following: str) -> list[Any]:
        """The way on, and now and then one that leads past it."""
        rng = self.rng
        found: list[Any] = []
        if rng.random() < 0.35:
            away = rng.choice(("f", "f", "e", "j"))
            found.append({"to": away, "when": self._test()})
        found.append(self._guarded(following, 20))
        if rng.random() < 0.1:
            found.append("f")
        if rng.random() < 0.2:
            found = [{"to": item} if isinstance(item, str) else item for item in found]
            for item in found:
                item["group"] = rng.choice(("one", "two", "one"))
        return found

    def _guarded(self, target: str, percent: int) -> Any:
        if self.rng.random() * 100 < percent:
            return {"to": target, "when": self._test()}
        return target

    def _test(self) -> str:
        return self.rng.choice(TESTS).format(k=self.rng.choice(self.keys))


if __name__ == "__main__":
    print(json.dumps(split_graph(int(sys.argv[1])), indent=1))
