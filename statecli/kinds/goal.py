"""`goal`: a conversation towards an objective, closed after a second check (model.md 5)."""

from statecli.kinds.turn import run

__all__ = ["run"]
