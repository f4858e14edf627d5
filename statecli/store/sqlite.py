"""The default store: one SQLite file in the person's data folder, append-only, in WAL mode.

A commit survives the death of the process at any moment. Nothing is updated but the run's summary
(status, state), which is written in the transaction of the events it sums up.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from statecli.model.event import Event
from statecli.model.ports import Stored
from statecli.model.unable import Unable
from statecli.store.rows import dumped, loaded

_SCHEMA = """
CREATE TABLE IF NOT EXISTS runs (
  run TEXT PRIMARY KEY, path TEXT NOT NULL, digest TEXT NOT NULL, text TEXT NOT NULL,
  created REAL NOT NULL, updated REAL NOT NULL, status TEXT NOT NULL, state TEXT NOT NULL,
  parent TEXT NOT NULL, fork_at INTEGER NOT NULL, title TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS events (
  run TEXT NOT NULL, number INTEGER NOT NULL, time REAL NOT NULL, name TEXT NOT NULL,
  body TEXT NOT NULL, PRIMARY KEY (run, number)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS runs_by_path ON runs (path, updated);
"""
VERSION = 1
_COLUMNS = "run, path, digest, text, created, updated, status, state"


class SqliteStore:
    """Sessions in one file. Raises Unable with the file and the way out where it cannot be used."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            fresh = not path.exists()
            self._db = sqlite3.connect(path, timeout=10, isolation_level=None)
            if fresh:
                os.chmod(path, 0o600)  # conversations are private
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
            version = self._db.execute("PRAGMA user_version").fetchone()[0]
            if version > VERSION:
                raise Unable(f"{path} was written by a newer statecli (format {version})")
            self._db.executescript(_SCHEMA)
            self._db.execute(f"PRAGMA user_version={VERSION}")
        except (sqlite3.Error, OSError) as error:
            raise Unable(_says(path, error)) from None

    def create(self, stored: Stored) -> None:
        with _telling(self.path):
            self._db.execute(
                "INSERT INTO runs VALUES (?,?,?,?,?,?,?,?,?,?,?)",
                (
                    stored.run, stored.path, stored.digest, stored.text, stored.created,
                    stored.updated, stored.status, stored.state, stored.parent, stored.fork_at,
                    stored.title,
                ),
            )  # fmt: skip

    def append(self, run: str, events: Sequence[Event], status: str, state: str) -> None:
        """All of the events or none; a number that is already there is refused."""
        if not events:
            return
        rows = [(run, e.number, e.time, e.name, dumped(e.body)) for e in events]
        db = self._db
        with _telling(self.path):
            db.execute("BEGIN IMMEDIATE")
            try:
                db.executemany("INSERT INTO events VALUES (?,?,?,?,?)", rows)
                db.execute(
                    "UPDATE runs SET updated=?, status=?, state=? WHERE run=?",
                    (events[-1].time, status, state, run),
                )
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise

    def events(self, run: str) -> list[Event]:
        """In order. Rows that cannot be read (a damaged page) end the list, as if never written."""
        found: list[Event] = []
        try:
            rows = self._db.execute(
                "SELECT number, time, name, body FROM events WHERE run=? ORDER BY number", (run,)
            )
            for number, time, name, body in rows:
                found.append(Event(run, number, time, loaded(name, body)))
        except (sqlite3.DatabaseError, ValueError) as error:
            if not found:
                raise Unable(_says(self.path, error)) from None
        return found

    def runs(self) -> list[Stored]:
        with _telling(self.path):
            rows = self._db.execute(f"{_SELECT} GROUP BY runs.run ORDER BY updated DESC").fetchall()
        return [Stored(*row) for row in rows]

    def get(self, run: str) -> Stored | None:
        with _telling(self.path):
            row = self._db.execute(
                f"{_SELECT} WHERE runs.run=? GROUP BY runs.run", (run,)
            ).fetchone()
        return Stored(*row) if row is not None else None

    def remove(self, run: str) -> None:
        with _telling(self.path):
            self._db.execute("BEGIN IMMEDIATE")
            self._db.execute("DELETE FROM events WHERE run=?", (run,))
            self._db.execute("DELETE FROM runs WHERE run=?", (run,))
            self._db.execute("COMMIT")

    def close(self) -> None:
        self._db.close()


_SELECT = (
    "SELECT runs.run, path, digest, text, created, updated, status, state, "
    "(SELECT COALESCE(MAX(number), 0) FROM events WHERE events.run = runs.run), parent, fork_at, "
    "title FROM runs"
)


class _telling:  # noqa: N801 - reads as a word in a with statement
    """Errors of the database in words."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type | None, error: BaseException | None, _: object) -> None:
        if isinstance(error, sqlite3.Error):
            raise Unable(_says(self.path, error)) from None


def _says(path: Path, error: BaseException) -> str:
    text = str(error)
    if "readonly" in text or isinstance(error, PermissionError):
        return f"{path} cannot be written; give another file with --store, or --store memory"
    if "full" in text or "No space" in text:
        return f"the disk of {path} is full; nothing of what was stored is lost"
    if "malformed" in text or "not a database" in text:
        return f"{path} is damaged or no database ({text}); move it away or give --store"
    return f"{path}: {text}"
