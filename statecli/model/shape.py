"""What a document's shape gets wrong, as facts: the loaders note them, rules put them in words."""

from __future__ import annotations

from typing import NamedTuple

from statecli.model.span import Path


class UnknownKey(NamedTuple):
    """A key that the object does not have; `known` are those it has."""

    path: Path
    key: str
    object: str
    known: tuple[str, ...]


class WrongType(NamedTuple):
    """A value of another type than its key takes; `expected` in words."""

    path: Path
    key: str
    expected: str
    value: object


class WrongChoice(NamedTuple):
    """Text that is none of the words a key takes; `rule` says who reports it."""

    path: Path
    key: str
    value: str
    choices: tuple[str, ...]
    rule: str
    object: str


class MissingKey(NamedTuple):
    """A required key that is not there; `path` is the object."""

    path: Path
    key: str
    object: str
    severity: str


class OldSpelling(NamedTuple):
    """A spelling that is read but is not the document's; `key`: it is the key that is old."""

    path: Path
    old: str
    new: str
    is_key: bool


class BadCondition(NamedTuple):
    """A guard that cannot be read. `rule` reports it; `within` narrows to characters."""

    rule: str
    path: Path
    message: str
    word: str = ""
    choices: tuple[str, ...] = ()
    within: tuple[int, int] | None = None
    part: str = "value"


class OddName(NamedTuple):
    """A state name, id or target that is not text (404, null, true); `text` as it stands."""

    path: Path
    text: str
    is_key: bool


class ScalarNext(NamedTuple):
    """`next` written as one name."""

    path: Path
    name: str


Issue = (
    UnknownKey | WrongType | WrongChoice | MissingKey | OldSpelling | BadCondition | OddName
    | ScalarNext
)  # fmt: skip
