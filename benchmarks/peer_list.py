"""The peers: where each comes from, how it is called, and how it is installed, once."""

import json
import os
import sys
from pathlib import Path
from typing import NamedTuple

from measure import run
from statecli_side import HERE

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "statecli-bench"
PYTHON = CACHE / "python" / "bin" / "python"
NPM = CACHE / "npm"


class Peer(NamedTuple):
    """One peer; `language` is what convert.py writes for it, `call` goes before the file."""

    package: str
    linter: bool
    language: str
    suffix: str
    call: tuple[str, ...]
    extra: str = ""

    @property
    def from_npm(self) -> bool:
        """Whether it is a node program."""
        return self.call[0].startswith(str(NPM))


def _linter(package: str, language: str, suffix: str, *call: str, extra: str = "") -> Peer:
    return Peer(package, True, language, suffix, call, extra)


def _library(package: str, module: str) -> Peer:
    call = (str(PYTHON), str(HERE / "build_peer.py"), module)
    return Peer(package, False, "lists", ".json", call)


PEERS = (
    _linter(
        "yamlgraph",
        "yamlgraph",
        ".yaml",
        str(PYTHON.with_name("yamlgraph")),
        "graph",
        "lint",
        extra="[verify]",  # z3, with which it proves its guards
    ),
    _linter("statelint", "asl", ".json", str(PYTHON.with_name("statelint"))),
    _linter(
        "asl-validator",
        "asl",
        ".json",
        str(NPM / "node_modules" / ".bin" / "asl-validator"),
        "--json-path",
    ),
    _library("python-statemachine", "statemachine"),
    _library("transitions", "transitions"),
    _library("apache-burr", "burr"),
    _library("langgraph", "langgraph"),
    _library("pydantic-graph", "pydantic_graph"),
)

#: Where langgraph keeps its steps; a package of its own.
SAVER = _library("langgraph-checkpoint-sqlite", "langgraph")
#: What its runs cost with a scripted model (`adk_loop.py`).
ADK = _library("google-adk", "google.adk")


def install() -> None:
    """Install every peer from its registry; one that cannot be installed is named, and left out."""
    if not PYTHON.exists():
        run([sys.executable, "-m", "venv", str(PYTHON.parent.parent)])
    for peer in (*PEERS, SAVER, ADK):
        print(f"{peer.package}: {_install_one(peer)}", flush=True)


def _install_one(peer: Peer) -> str:
    if peer.from_npm:
        command = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts"]
        command += ["--prefix", str(NPM), peer.package]
    else:
        command = [str(PYTHON), "-m", "pip", "install", "--quiet", peer.package + peer.extra]
    try:
        usage = run(command)
    except OSError as error:
        return f"cannot be installed: {error}"
    if usage.code == 0:
        return f"installed {version(peer)}"
    said = [line for line in usage.errors.splitlines() if "error" in line.lower()]
    return f"cannot be installed: {(said or [usage.last_line])[0][:120]}"


def version(peer: Peer) -> str:
    """The installed version; empty when the peer is not there."""
    if peer.from_npm:
        package = NPM / "node_modules" / peer.package / "package.json"
        return str(json.loads(package.read_text("utf-8"))["version"]) if package.exists() else ""
    if not PYTHON.exists():
        return ""
    code = "import sys, importlib.metadata as m; print(m.version(sys.argv[1]))"
    usage = run([str(PYTHON), "-c", code, peer.package])
    return usage.last_line if usage.code == 0 else ""
