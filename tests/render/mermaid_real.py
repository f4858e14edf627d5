"""The real `mermaid` package in a headless Chromium: what stands in its drawings.

    python tests/render/mermaid_real.py     fetch the pinned versions from npm, once (40 MB)

They are kept in $STATECLI_MERMAID, else in ~/.cache/statecli-mermaid.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import tarfile
import tempfile
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "mermaid"
#: The newest one, and the last of those that most sites still use; each with its SHA-256.
VERSIONS: dict[str, str] = json.loads((HERE / "versions.json").read_text("utf-8"))
SCRIPT = "package/dist/mermaid.min.js"
PAGE = (
    b"<!doctype html><meta charset=utf-8>"
    b"<script src=mermaid.js></script><script src=check.js></script>"
)
QUIET = [
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-sync", "--disable-background-networking", "--disable-component-update",
    "--disable-dev-shm-usage",
]  # fmt: skip


def folder() -> Path:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(os.environ.get("STATECLI_MERMAID") or cache / "statecli-mermaid")


def script(version: str) -> Path:
    """The file of that version, which may not be there."""
    return folder() / f"mermaid-{version}.min.js"


def browser() -> str | None:
    """The Chromium of this machine."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return next(filter(None, map(shutil.which, names)), None)


def install() -> None:
    """Fetch what is missing; only the one script of each package, which needs nothing else."""
    folder().mkdir(parents=True, exist_ok=True)
    for version, digest in VERSIONS.items():
        if script(version).is_file():
            continue
        with tempfile.TemporaryDirectory() as name:
            pack = ["npm", "pack", "--silent", f"mermaid@{version}"]
            subprocess.run(pack, cwd=name, check=True, stdout=subprocess.DEVNULL)
            with tarfile.open(next(Path(name).glob("*.tgz"))) as archive:
                file = archive.extractfile(SCRIPT)
                assert file is not None
                content = file.read()
        found = hashlib.sha256(content).hexdigest()
        if found != digest:
            raise SystemExit(f"mermaid {version} is another one: {found}")
        script(version).write_bytes(content)


def drawn(version: str, documents: Mapping[str, str], patience: float = 200) -> list[Any]:
    """What `check.js` says of each document (name to text)."""
    came = threading.Event()
    answers: list[Any] = []
    files = {
        "/": (PAGE, "text/html"),
        "/mermaid.js": (script(version).read_bytes(), "text/javascript"),
        "/check.js": ((HERE / "check.js").read_bytes(), "text/javascript"),
        "/documents.json": (json.dumps(dict(documents)).encode(), "application/json"),
    }

    class Desk(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            content, kind = files.get(self.path, (b"", ""))
            self.send_response(200 if kind else 404)
            self.send_header("Content-Type", kind or "text/plain")
            self.end_headers()
            self.wfile.write(content)

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(204)
            self.end_headers()
            answers.append(json.loads(body))
            came.set()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the server's
            pass

    with (
        _server(Desk) as port,
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile,
        _browsing([f"--user-data-dir={profile}", f"http://127.0.0.1:{port}/"]),
    ):
        came.wait(patience)
    if not answers or isinstance(answers[0], str):
        raise RuntimeError(answers[0] if answers else "the browser gave no answer in time")
    found: list[Any] = answers[0]
    return found


@contextlib.contextmanager
def _server(desk: type[BaseHTTPRequestHandler]) -> Iterator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), desk) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


@contextlib.contextmanager
def _browsing(words: list[str]) -> Iterator[None]:
    program = browser()
    assert program is not None
    quiet = subprocess.DEVNULL
    with subprocess.Popen([program, *QUIET, *words], stdout=quiet, stderr=quiet) as process:
        try:
            yield
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


if __name__ == "__main__":
    install()
    print(folder())
