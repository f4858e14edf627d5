"""`loose`: tasks in any order, skipping allowed (model.md 5)."""

from statecli.kinds.turn import run

__all__ = ["run"]
