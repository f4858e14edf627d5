"""The default store: one SQLite file in the person's data folder, append-only, in WAL mode.

A commit survives the death of the process at any moment. Nothing is updated but the run's summary
(status, state), which is written in the transaction of the events it sums up.
"""

from __future__ import annotations

import contextlib
import gc
import os
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from statecli.model.event import NAMES, Event
from statecli.model.ports import Batch, Stored
from statecli.model.unable import Unable
from statecli.store.rows import all_loaded, dumped, there_already

_SCHEMA = """
CREATE TABLE IF NOT EXISTS runs (
  run TEXT PRIMARY KEY, path TEXT NOT NULL, digest TEXT NOT NULL, text TEXT NOT NULL,
  created REAL NOT NULL, updated REAL NOT NULL, status TEXT NOT NULL, state TEXT NOT NULL,
  parent TEXT NOT NULL, fork_at INTEGER NOT NULL, title TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS events (
  run TEXT NOT NULL, number INTEGER NOT NULL, time REAL NOT NULL, name TEXT NOT NULL,
  body TEXT NOT NULL, PRIMARY KEY (run, number)) WITHOUT ROWID;
"""
VERSION = 1
#: How long another process may be writing before it is an error, in seconds.
PATIENCE = 10.0


class SqliteStore:
    """Sessions in one file. Raises Unable with the file and the way out where it cannot be used.

    Threads may share it, each with runs of its own; processes open the file anew.
    A file that may only be read can still be looked at. One that turns out to be damaged is put
    aside, and what can be read of it is kept in a new one.
    """

    def __init__(self, path: str | Path) -> None:
        if str(path) == ":memory:":
            raise Unable("':memory:' would be a file of that name",
                         "use MemoryStore, or --store memory")  # fmt: skip
        self.path = path = Path(path)
        self._lock = threading.RLock()  # threads share the connection, and its one transaction
        with self._telling():
            path.parent.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(FileExistsError):
                # Conversations are private; what SQLite puts beside the file has its permissions.
                os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            self._db = _opened(path)

    def create(self, stored: Stored, batch: Batch) -> None:
        """A run with its first events. ValueError where there is one of that name."""
        rows = _rows(stored.run, batch)
        columns = (*stored[:6], batch.status, batch.state, *stored[9:])
        with self._telling(), self._transaction():
            if self._db.execute("SELECT 1 FROM runs WHERE run=?", stored[:1]).fetchone():
                raise there_already(stored.run)
            self._db.execute("INSERT INTO runs VALUES (?,?,?,?,?,?,?,?,?,?,?)", columns)
            self._db.executemany("INSERT INTO events VALUES (?,?,?,?,?)", rows)

    def append(self, run: str, batch: Batch) -> None:
        """All of the events or none; a number that is already there is refused. Raises NotPlain
        for values that cannot be stored."""
        rows = _rows(run, batch)
        summary = (batch.times[-1], batch.status, batch.state, run)
        with self._telling(), self._transaction():
            self._db.executemany("INSERT INTO events VALUES (?,?,?,?,?)", rows)
            self._db.execute("UPDATE runs SET updated=?, status=?, state=? WHERE run=?", summary)

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise

    def events(self, run: str) -> list[Event]:
        """In order. Raises Unable where a row is no event that this version knows."""
        with self._telling():
            rows = self._db.execute(
                "SELECT number, time, name, body FROM events WHERE run=? ORDER BY number", (run,)
            ).fetchall()
        collecting = gc.isenabled()
        gc.disable()  # events hold no cycles, and looking for them takes a quarter of the time
        try:
            bodies = all_loaded([(name, text) for _, _, name, text in rows])
            return [
                Event(run, number, time, body)
                for (number, time, _, _), body in zip(rows, bodies, strict=True)
            ]
        except ValueError as error:
            raise Unable(f"{self.path}: session {run} cannot be read: {error}") from None
        finally:
            if collecting:
                gc.enable()

    def runs(self) -> list[Stored]:
        with self._telling():
            rows = self._db.execute(f"{_SELECT} ORDER BY updated DESC").fetchall()
        return [Stored(*row) for row in rows]

    def get(self, run: str) -> Stored | None:
        with self._telling():
            row = self._db.execute(f"{_SELECT} WHERE runs.run=?", (run,)).fetchone()
        return Stored(*row) if row is not None else None

    def remove(self, run: str) -> None:
        with self._telling(), self._transaction():
            self._db.execute("DELETE FROM events WHERE run=?", (run,))
            self._db.execute("DELETE FROM runs WHERE run=?", (run,))

    def close(self) -> None:
        self._db.close()

    @contextlib.contextmanager
    def _telling(self) -> Iterator[None]:
        """One thread at a time, and errors of the database in words."""
        try:
            with self._lock:
                yield
        except (sqlite3.Error, OSError) as error:
            if _is_damage(error):
                self._save_what_is_left(error)
            raise Unable(*_says(self.path, error)) from None

    def _save_what_is_left(self, error: BaseException) -> None:
        from statecli.store.rescue import rescued

        if not hasattr(self, "_db"):
            return
        kept = rescued(self._db, self.path)
        if kept is not None:
            raise Unable(
                f"{self.path} was damaged ({error}): {kept.runs} sessions with {kept.events} events"
                f" could be read and are kept, the damaged file is now {kept.damaged}",
                "give the command again",
            ) from None


_SELECT = (
    "SELECT runs.run, path, digest, text, created, updated, status, state, "
    "(SELECT COALESCE(MAX(number), 0) FROM events WHERE events.run = runs.run), parent, fork_at, "
    "title FROM runs"
)


def _rows(run: str, batch: Batch) -> list[tuple[str, int, float, str, str]]:
    return [
        (run, number, time, NAMES[type(body)], dumped(body))
        for number, (time, body) in enumerate(
            zip(batch.times, batch.bodies, strict=True), batch.first
        )
    ]


def new_file(path: Path) -> sqlite3.Connection:
    """A database with our tables; those that are there stay as they are."""
    db = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("PRAGMA synchronous=NORMAL")
    db.execute("PRAGMA cache_size=-256")  # KiB: what is written at the end and read once needs none
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if version > VERSION:
        raise Unable(f"{path} was written by a newer statecli (format {version})")
    if version < VERSION:
        db.executescript(_SCHEMA)
        db.execute(f"PRAGMA user_version={VERSION}")
    return db


def _opened(path: Path) -> sqlite3.Connection:
    """The file to write into, else to read only."""
    try:
        return new_file(path)
    except sqlite3.OperationalError as error:
        if not path.is_file() or not ("readonly" in str(error) or "unable to open" in str(error)):
            raise
    for way in ("mode=ro", "immutable=1"):
        db = sqlite3.connect(f"file:{quote(str(path))}?{way}", uri=True, isolation_level=None,
                             check_same_thread=False)  # fmt: skip
        try:
            db.execute("SELECT 1 FROM runs LIMIT 1").fetchall()
        except sqlite3.OperationalError:
            db.close()
        else:
            return db
    return new_file(path)  # raises again


def _is_damage(error: BaseException) -> bool:
    return isinstance(error, sqlite3.DatabaseError) and "malformed" in str(error)


def _says(path: Path, error: BaseException) -> tuple[str, str]:
    """The error, and the way out."""
    text = str(error)
    elsewhere = "give another file with --store, or --store memory"
    if "readonly" in text or "unable to open" in text or isinstance(error, OSError):
        why = error.strerror.lower() if isinstance(error, OSError) and error.strerror else text
        return f"{path} cannot be written: {why}", elsewhere
    if "full" in text or "I/O" in text:
        return f"{path} cannot be written: {text}; what was stored before is safe", elsewhere
    if "malformed" in text or "not a database" in text:
        return f"{path} is no database: {text}", f"move it away, or {elsewhere}"
    if isinstance(error, sqlite3.IntegrityError):
        return f"{path}: another process has written to this session meanwhile", "resume it again"
    if "locked" in text:
        return f"{path} is in use by another process for {PATIENCE:.0f} seconds", elsewhere
    return f"{path}: {text}", elsewhere
