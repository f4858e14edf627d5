"""The one place through which the black-box tests call statecli: change it here if it changes."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from statecli.cli.app import main

REPOSITORY = Path(__file__).resolve().parent.parent
CASES = Path(os.environ.get("STATECLI_CASES") or REPOSITORY.parent / "shared" / "cases")
FORMATS = ("text", "concise", "json", "github", "sarif")


@dataclass(frozen=True)
class Result:
    """What one call gave: exit code, both streams as text, and the parsed JSON report if any."""

    code: int
    out: str
    err: str
    data: Any = None

    @property
    def diagnostics(self) -> list[dict[str, Any]]:
        """All diagnostics of the JSON report."""
        assert self.data is not None, f"no JSON on stdout (exit {self.code}): {self.err}"
        found: list[dict[str, Any]] = self.data["diagnostics"]
        return found

    def of(self, rule: str) -> list[dict[str, Any]]:
        """The diagnostics of one rule, in order of position."""
        return sorted((d for d in self.diagnostics if d["rule"] == rule), key=start)

    def rules(self) -> list[str]:
        """The rule of every diagnostic, sorted."""
        return sorted(d["rule"] for d in self.diagnostics)


def start(place: Mapping[str, Any]) -> tuple[int, int]:
    """Line and column at which a diagnostic or a related place starts."""
    return place["start"]["line"], place["start"]["column"]


def end(place: Mapping[str, Any]) -> tuple[int, int]:
    """Line and column right after a diagnostic."""
    return place["end"]["line"], place["end"]["column"]


def words(diagnostic: Mapping[str, Any]) -> str:
    """Message and hint together, lower case: what the person reads."""
    return f"{diagnostic['message']} {diagnostic.get('hint') or ''}".lower()


class _Kept(io.BytesIO):
    """Bytes that can still be read after the stream over them was closed."""

    def close(self) -> None:
        pass


@contextmanager
def _streams(stdin: bytes) -> Iterator[tuple[_Kept, _Kept]]:
    before = sys.stdin, sys.stdout, sys.stderr
    out, err = _Kept(), _Kept()
    sys.stdin = io.TextIOWrapper(_Kept(stdin), encoding="utf-8")
    sys.stdout = io.TextIOWrapper(out, encoding="utf-8", newline="", write_through=True)
    sys.stderr = io.TextIOWrapper(err, encoding="utf-8", newline="", write_through=True)
    try:
        yield out, err
        for stream in (sys.stdout, sys.stderr):
            if not stream.closed:
                stream.flush()
    finally:
        sys.stdin, sys.stdout, sys.stderr = before


def _result(code: int, out: str, err: str, wants_json: bool) -> Result:
    for stream in (out, err):
        assert "Traceback (most recent call last)" not in stream, stream
    assert "fault of statecli" not in err, err
    data = json.loads(out) if wants_json and out.strip() else None
    return Result(code, out, err, data)


def run(*args: str | Path, stdin: str | bytes = b"", wants_json: bool = False) -> Result:
    """Run `statecli ARGS` inside this process."""
    given = stdin.encode() if isinstance(stdin, str) else stdin
    with _streams(given) as (out, err):
        try:
            code = main([str(a) for a in args])
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 0 if stop.code is None else 1
    return _result(code, out.getvalue().decode(), err.getvalue().decode(), wants_json)


def validate(*args: str | Path, stdin: str | bytes = b"") -> Result:
    """`statecli validate --no-verify ARGS`, as JSON unless ARGS name a format."""
    shown = "--format" in args
    head = () if shown else ("--format", "json")
    return run("validate", "--no-verify", *head, *args, stdin=stdin, wants_json=not shown)


def check(folder: Path, name: str, text: str | bytes, *args: str | Path) -> Result:
    """Write TEXT to FOLDER/NAME exactly as given and validate that file."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return validate(*args, path)


def command(
    *args: str | Path, env: Mapping[str, str] | None = None, stdin: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    """Run `python -m statecli ARGS` as its own process."""
    words_: Sequence[str] = [sys.executable, "-m", "statecli", *(str(a) for a in args)]
    return subprocess.run(
        words_,
        input=stdin,
        capture_output=True,
        check=False,
        timeout=120,
        cwd=REPOSITORY,
        env=None if env is None else {**os.environ, **env},
    )


def files(folder: str) -> list[Path]:
    """Every file of one folder of the cases; empty when the cases are not there."""
    place = CASES / folder
    return sorted(p for p in place.iterdir() if p.is_file()) if place.is_dir() else []


@dataclass(frozen=True)
class Say:
    """One finding that a careful person would give: line 0 means any line."""

    rule: str
    severity: str
    line: int = 0
    state: str = ""
    says: str = ""

    def fits(self, found: Mapping[str, Any]) -> bool:
        """Whether FOUND is this finding."""
        return (
            (found["rule"], found["severity"]) == (self.rule, self.severity)
            and self.line in (0, start(found)[0])
            and (not self.state or self.state in found["states"])
            and self.says.lower() in words(found)
        )


def compare(result: Result, expected: Sequence[Say], also_fine: Sequence[Say] = ()) -> None:
    """RESULT has each of EXPECTED once and nothing else, save perhaps ALSO_FINE."""
    left = list(result.diagnostics)
    missing = []
    for say in expected:
        hit = next((d for d in left if say.fits(d)), None)
        if hit is None:
            missing.append(say)
        else:
            left.remove(hit)
    extra = [
        f"{d['rule']} {d['severity']} {start(d)} {d['states']}: {d['message']}"
        for d in left
        if not any(say.fits(d) for say in also_fine)
    ]
    assert (missing, extra) == ([], [])
