"""Guards written in Python: ``when(x=1)``, ``expr("x > 1")``, ``default``, and ``~ & |`` on them.

They are the guards that files have too, so `validate`, `verify` and `explain` read them. One that
is a function of Python runs, but nobody can read it: it is *opaque* there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from statecli.model.guard import MAX_DEPTH, AllOf, AnyOf, Guard, Not, Opaque, invalid, plain
from statecli.model.words import in_words
from statecli.session.data import Data


class When:
    """A condition of a transition. ``a & b`` holds where both do, ``a | b`` where one does, ``~a``
    where `a` does not. ValueError where composites nest more than five deep."""

    __slots__ = ("guard",)

    def __init__(self, guard: Guard | None) -> None:
        self.guard = guard

    def __and__(self, other: When) -> When:
        if self.guard is None or other.guard is None:
            return other if self.guard is None else self
        return _composed(AllOf((*_parts(AllOf, self.guard), *_parts(AllOf, other.guard))))

    def __or__(self, other: When) -> When:
        if self.guard is None or other.guard is None:
            return default
        return _composed(AnyOf((*_parts(AnyOf, self.guard), *_parts(AnyOf, other.guard))))

    def __invert__(self) -> When:
        if self.guard is None:
            raise ValueError("~default never holds: leave the transition out")
        if isinstance(self.guard, Not):
            return When(self.guard.child)
        return _composed(Not(self.guard))

    def __bool__(self) -> bool:
        raise TypeError(f"{self!r} has no truth of its own: compose conditions with & | ~, where "
                        "Python says and, or, not")  # fmt: skip

    def __eq__(self, other: object) -> bool:
        return isinstance(other, When) and self.guard == other.guard

    def __hash__(self) -> int:
        return hash(self.guard)

    @property
    def name(self) -> str:
        """What it says, in words."""
        return "default" if self.guard is None else in_words(self.guard)

    def __repr__(self) -> str:
        return f"<{self.name}>"


#: No guard: the way that is taken when none before it was. ``default & x`` is `x`, ``default | x``
#: is `default`; ``~default`` is a ValueError, since a way that is never taken is a mistake.
default = When(None)


def when(**conditions: Any) -> When:
    """A guard from keyword arguments: all of them hold.

    ``when(tier="premium", amount__gte=5)``; the suffixes are ``eq ne lt lte gt gte in notin
    contains is isnot exists`` (model.md 2.1, Burr's and ``exists``). Equality is that of our
    guards, not Python's (model.md 4.2): text is compared trimmed and without case
    (``when(tier="Premium")`` holds for "premium "), nothing else is converted (5 is not "5", 1 is
    not True); numeric text counts as a number for ``lt`` and the like; a field that is not set
    makes a condition false, where Burr raises. `expr` compares as Python does. ValueError for a
    suffix that is none, or a value that does not fit its suffix.
    """
    return _read({key: _listed(key, value) for key, value in conditions.items()})


def expr(text: str) -> When:
    """A guard in the expression language, Python's comparisons and arithmetic over the fields
    (model.md 4.2): ``expr("amount > 5 and tier != 'free'")``. It is read, never evaluated as code;
    one that reads a field which is not set is false as a whole. ValueError where it is none."""
    return _read(text)


def decided_by(function: Callable[[Mapping[str, Any]], Any], name: str = "") -> When:
    """A guard that is a function of the data (which it cannot change). `name` is what it is called
    in messages and drawings; `validate` and `verify` cannot know when it holds."""
    found = name or getattr(function, "__name__", "")
    return When(Opaque(found, function=lambda data: function(Data(data))))


def _listed(key: str, value: Any) -> Any:
    """Python's other collections where a list of values is meant, and members of an Enum as their
    values, which is what `validate` compares with those of the field."""
    if key.endswith(("__in", "__notin")) and isinstance(value, tuple | set | frozenset | range):
        value = list(value)
    return [plain(item) for item in value] if isinstance(value, list) else plain(value)


def _read(value: Any) -> When:
    from statecli.load.guardtext import GuardReader

    guard = GuardReader([], in_goal=False).when(value, ())
    broken = invalid(guard) if guard is not None else None
    if broken is not None:
        raise ValueError(f"{value!r}: {broken.reason}")
    return When(guard)


def _parts(kind: type[AllOf] | type[AnyOf], guard: Guard) -> tuple[Guard, ...]:
    return guard.children if isinstance(guard, kind) else (guard,)


def _composed(guard: Guard) -> When:
    if _depth(guard) > MAX_DEPTH:
        raise ValueError(f"composites nest at most {MAX_DEPTH} deep")
    return When(guard)


def _depth(guard: Guard) -> int:
    if isinstance(guard, AllOf | AnyOf):
        return 1 + max(map(_depth, guard.children), default=0)
    return 1 + _depth(guard.child) if isinstance(guard, Not) else 0
