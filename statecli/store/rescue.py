"""What can still be read of a damaged file of sessions, in a new file."""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple


class Kept(NamedTuple):
    """How much could be read, and where the damaged file is now."""

    runs: int
    events: int
    damaged: Path


def rescued(damaged: sqlite3.Connection, path: Path) -> Kept | None:
    """Put a damaged file aside and what can be read of it in its place; None where nothing can.

    A session is kept up to the first of its events that cannot be read.
    """
    from statecli.store.sqlite import new_file

    made = path.with_name(f"{path.name}.rescued")
    _remove(made)
    new = new_file(made)
    try:
        runs, events = _copied(damaged, new)
        new.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        new.close()
        damaged.close()
    if not runs:
        _remove(made)
        return None
    aside = _free(path)
    for suffix in ("", "-wal", "-shm"):
        with suppress(FileNotFoundError):
            os.replace(f"{path}{suffix}", f"{aside}{suffix}")
    os.replace(made, path)
    os.chmod(path, 0o600)
    _remove(made)
    return Kept(runs, events, aside)


def _copied(old: sqlite3.Connection, new: sqlite3.Connection) -> tuple[int, int]:
    """Numbers of the sessions and the events that were copied."""
    runs = events = 0
    new.execute("BEGIN")
    for row in _readable(old, "SELECT * FROM runs ORDER BY created"):
        new.execute("INSERT OR IGNORE INTO runs VALUES (?,?,?,?,?,?,?,?,?,?,?)", row)
        runs += 1
        select = "SELECT * FROM events WHERE run=? ORDER BY number"
        for event in _readable(old, select, row[0]):
            new.execute("INSERT OR IGNORE INTO events VALUES (?,?,?,?,?)", event)
            events += 1
    new.execute("COMMIT")
    return runs, events


def _readable(db: sqlite3.Connection, select: str, *values: object) -> list[tuple[object, ...]]:
    """Rows up to the first one that cannot be read."""
    found: list[tuple[object, ...]] = []
    with suppress(sqlite3.DatabaseError):
        found.extend(iter(db.execute(select, values)))
    return found


def _free(path: Path) -> Path:
    """A name beside the file that nothing has yet."""
    number = 1
    while True:
        name = path.with_name(f"{path.name}.damaged-{number}")
        if not name.exists():
            return name
        number += 1


def _remove(path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        with suppress(FileNotFoundError):
            os.remove(f"{path}{suffix}")
