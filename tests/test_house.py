"""The house rules that a machine can keep: floors, lazy imports, no dangerous calls."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "statecli"
#: Rooms from the ground up; a room may import from lower floors and from itself.
FLOORS: tuple[tuple[str, ...], ...] = (
    ("model", "discover"),
    ("kernel", "text"),
    ("config", "load", "store", "llm", "tools", "render", "report", "verify"),
    ("kinds", "lint"),
    ("engine",),
    ("session", "lsp"),
    ("aio", "burr", "evofabric", "scenario"),
    ("agentex", "arkos"),
    ("chat",),
    ("cli",),
    ("__main__",),
)
FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
FILES = sorted(PACKAGE.rglob("*.py"))


def room(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(tree: ast.AST) -> list[str]:
    """The statecli modules that a file imports, inside functions too."""
    found: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("statecli"):
            found.extend(
                f"{node.module}.{alias.name}" if node.module == "statecli" else str(node.module)
                for alias in node.names
            )
        elif isinstance(node, ast.Import):
            found.extend(a.name for a in node.names if a.name.startswith("statecli"))
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_strictly_down(path: Path) -> None:
    own = room(path)
    if own == "__init__":
        return
    assert own in FLOOR, f"{own} stands on no floor; add it to FLOORS"
    for module in imports(ast.parse(path.read_text("utf-8"))):
        other = module.split(".")[1] if "." in module else "__init__"
        if other in (own, "__version__", "__init__"):
            continue
        assert FLOOR[other] < FLOOR[own], f"{own} may not import {module}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_dangerous_calls(path: Path) -> None:
    """No eval, exec, pickle or shell: a graph may come from a stranger."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in {"eval", "exec", "compile", "__import__"}
        if isinstance(node, ast.Import):
            assert not {a.name for a in node.names} & {"pickle", "marshal", "shelve"}
        if isinstance(node, ast.keyword) and node.arg == "shell":
            raise AssertionError("shell=True")


def test_a_clean_validation_loads_nothing_heavy() -> None:
    code = (
        "import sys; from statecli.cli.app import main; "
        f"code = main(['validate', {str(next((ROOT / 'graphs').glob('*.yaml')))!r}]); "
        "print(sorted({m.split('.')[0] for m in sys.modules}), code)"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout
    heavy = (
        "openai", "mcp", "prompt_toolkit", "rich", "pydantic", "graphviz", "typer", "click",
        "asyncio", "ruamel", "tomllib", "difflib", "pathspec", "wcwidth", "httpx", "sqlite3",
    )  # fmt: skip
    assert [name for name in heavy if f"'{name}'" in out] == []


def test_posix_only_calls_stand_in_one_file() -> None:
    """os.fork, fcntl, termios, signal.SIGALRM and friends: at most one file may know them."""
    posix = {"fcntl", "termios", "tty", "pwd", "grp", "resource"}
    users = set()
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import) and {a.name for a in node.names} & posix:
                users.add(path.name)
            if isinstance(node, ast.ImportFrom) and node.module in posix:
                users.add(path.name)
    assert len(users) <= 1, users
