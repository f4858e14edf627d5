"""What every command that runs a graph needs: the graph, its custom kinds, the store."""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from statecli.cli.output import tell
from statecli.config import Config
from statecli.model.data import is_map
from statecli.model.unable import Unable
from statecli.text.excerpt import plain

if TYPE_CHECKING:
    from statecli.engine.advance import Custom
    from statecli.model.diagnostic import Diagnostic
    from statecli.model.graph import Graph
    from statecli.model.ports import Store

#: Of a graph that is refused so many errors are shown.
_MOST = 10


def data_folder() -> Path:
    """The person's data folder for statecli (STATECLI_DATA, XDG_DATA_HOME, APPDATA)."""
    named = os.environ.get("STATECLI_DATA")
    if named:
        return Path(named)
    if sys.platform == "win32":  # pragma: no cover
        return Path(os.environ.get("APPDATA", Path.home())) / "statecli"
    base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base) / "statecli"


def own_config() -> Config:
    """The person's own settings, which hold for every graph: `config.toml` in the folder that
    STATECLI_DATA names, else in `statecli` below XDG_CONFIG_HOME (or APPDATA)."""
    if os.environ.get("STATECLI_DATA") or sys.platform == "win32":
        folder = data_folder()
    else:
        folder = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "statecli"
    path = folder / "config.toml"
    if not path.is_file():
        return Config()
    from statecli.config import file
    from statecli.lint.rule import FAMILIES, rules
    from statecli.load.loader import FORMS

    words = file.Words((*rules(), *FAMILIES, "all"), tuple(rules()), FORMS)
    return file.read(str(path), words, own=True)


class Opened(NamedTuple):
    """A graph that may be run, as it was named and as its text says, with its settings. Its tools
    are also those of the configs: `lent` says where each of them comes from."""

    path: str
    text: str
    graph: Graph
    config: Config
    lent: Mapping[str, Config] = {}


def open_graph(args: argparse.Namespace) -> Opened | None:
    """Read and check a graph. One with errors is not run (unless --force): None, after they were
    shown."""
    from statecli.cli.one_graph import config_of, content
    from statecli.lint.linter import lint
    from statecli.load.loader import load

    path: str = args.graph
    data = content(path)
    config = config_of(args, path)
    mine = own_config()
    lent = {name: one for one in (mine, config) for name in one.tools}
    config = config._replace(tools={**mine.tools, **config.tools})
    loaded = load(path.removeprefix("./"), data, config.form(path))
    errors = [d for d in lint(loaded, config) if d.severity == "error"]
    graph = loaded.graph
    if graph is not None and not graph.states and not errors:
        graph = None
    if graph is None or (errors and not args.force):
        _refuse(path, errors, forced=graph is not None)
        return None
    if not graph.states:
        raise Unable(f"{path}: there is no state to begin with")
    declared = graph.settings.get("tools")
    if config.tools and (declared is None or is_map(declared)):
        graph = graph.with_settings(tools={**config.tools, **(declared or {})})
        lent = {name: one for name, one in lent.items() if name not in (declared or {})}
    return Opened(path, loaded.document.text, _limited(graph, args), config, lent)


def _limited(graph: Graph, args: argparse.Namespace) -> Graph:
    """The graph with the limits that the options set."""
    for option, name, value, unit in (
        ("--max-steps", "max_steps", args.max_steps, ""),
        ("--budget-tokens", "max_tokens", args.budget_tokens, ""),
        ("--budget-cost", "max_cost", args.budget_cost, ""),
        ("--timeout", "timeout", args.timeout, " seconds"),
    ):
        if value is None:
            continue
        if not 0 < value < math.inf:
            least = "at least 1" if isinstance(value, int) else f"more than 0{unit}"
            raise Unable(f"{option}: {least}")
        graph = graph.with_limits(**{name: value})
    return graph


def near(path: str) -> str:
    """A path as it is named from here, where it lies below."""
    try:
        return str(Path(path).resolve().relative_to(Path.cwd().resolve()))
    except (OSError, ValueError):
        return path


def _refuse(path: str, errors: list[Diagnostic], *, forced: bool) -> None:
    for diagnostic in errors[:_MOST]:
        start = diagnostic.span.start
        told = f"{path}:{start.line}:{start.column}: {diagnostic.message} [{diagnostic.rule}]"
        tell(plain(told))
    if not errors:
        tell(f"{path}: this is no graph")
        return
    more = f"{len(errors) - _MOST} more; " if len(errors) > _MOST else ""
    way = ", --force runs it all the same" if forced else ""
    tell(f"{more}{path} has errors and is not run; statecli validate {path} explains them{way}")


def open_store(args: argparse.Namespace, config: Config | None = None) -> Store:
    """Where sessions are kept: `--store`, the config, else one file in the person's data folder."""
    named: str = args.store or ""
    if not named and config is not None and config.store:
        named = config.store
        if "://" not in named and named != "memory":
            named = os.path.join(config.directory or ".", named)
    if named == "memory":
        from statecli.store.memory import MemoryStore

        return MemoryStore()
    from statecli.store.sqlite import SqliteStore

    if "://" in named and not named.startswith("sqlite://"):
        raise Unable(f"--store {named}: only files, sqlite:///FILE and memory are built in")
    file = named.removeprefix("sqlite:///").removeprefix("sqlite://")
    return SqliteStore(Path(file) if file else data_folder() / "sessions.db")


def _code(opened: Opened, *, allowed: bool) -> None:
    """Load the functions that the graph's file names, if the person allows it."""
    from statecli.model.code import codes

    for where, code in codes(opened.graph):
        if allowed:
            from statecli.kinds.code import load_code

            load_code(opened.graph, os.path.dirname(opened.path))
            return
        name = plain(code.name)
        raise Unable(f"{plain(where)} is Python code", f"--allow-plugins runs the code of {name}")


def custom_kinds(opened: Opened, args: argparse.Namespace) -> Custom:
    """The bodies of kinds that are not built in. Their code runs only with --allow-plugins."""
    from statecli.engine.advance import Custom
    from statecli.model.graph import KINDS

    graph, config = opened.graph, opened.config
    unknown = [state for state in graph.states.values() if state.kind not in KINDS]
    waiting = frozenset(config.waiting_kinds)
    _code(opened, allowed=args.allow_plugins)
    if not args.allow_plugins:
        if unknown:
            kind = plain(unknown[0].kind) or "(none)"
            way = f"--allow-plugins runs the code of state_{kind}.py beside the graph"
            raise Unable(f"nothing here runs states of the kind '{kind}'", way)
        return Custom({}, waiting)
    from statecli.kinds import custom

    base = Path(config.directory or ".")
    plugins = [base / name for name in config.plugins]
    return Custom(custom.load(graph, Path(opened.path).parent, plugins), waiting)
