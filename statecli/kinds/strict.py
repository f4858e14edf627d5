"""`strict`: one task at a time, in order (model.md 5)."""

from statecli.kinds.turn import run

__all__ = ["run"]
