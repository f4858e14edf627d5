"""Graphs in Python code: ``package.module:graph``. To get one its module is run, so only what the
person allowed (--allow-plugins) comes here."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import os
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any, NamedTuple, NoReturn

from statecli.lint.from_python import loaded
from statecli.load.loader import Loaded
from statecli.model.graph import Graph
from statecli.model.nearest import did_you_mean
from statecli.model.unable import Unable
from statecli.session.walk import Walk
from statecli.tools.python import beside

#: Longer messages of other people's errors are cut.
_LONGEST = 300
_KINDS = "a Graph, a builder, a run or machine with a graph, or a function without arguments"


def need(allowed: bool, word: str) -> None:
    """Raises Unable where the person did not allow it."""
    if not allowed:
        raise Unable(
            f"{word}: a graph in Python is there once its module was run; --allow-plugins runs it"
        )


class Target(NamedTuple):
    """A graph with the file that builds it, and the fields that are set where it is a run that has
    data already."""

    loaded: Loaded
    given: tuple[str, ...]


def load(word: str) -> Target:
    """The graph that ``module:name`` is. What its code prints goes to standard error. Raises
    Unable, with the place in the module, for all that goes wrong."""
    name, _, path = word.partition(":")
    if name.endswith(".py"):
        raise Unable(f"{word}: a graph in Python is named by its module", _rewritten(word))
    for part in (*name.split("."), *path.split(".")):
        if not part.isidentifier():
            raise Unable(f"{word}: '{part}' is no name in Python", "write package.module:graph")
    with _aside(), beside(os.getcwd()):
        try:
            found: Any = _module(word, name)
            for part in path.split("."):
                found = _attribute(word, found, part)
            graph, given = _graph(word, found)
        except (Unable, KeyboardInterrupt):
            raise
        except BaseException as error:
            _failed(word, error)
    if not graph.states:
        raise Unable(f"{word}: this graph has no states")
    return Target(loaded(graph), given)


def _rewritten(word: str) -> str:
    """What was probably meant by a path."""
    file, _, name = word.partition(":")
    module = ".".join(part for part in file[:-3].replace(os.sep, "/").split("/") if part != ".")
    return f"write it as a module: {module}:{name}"


def _module(word: str, name: str) -> ModuleType:
    """Import as ``python -m`` would: the current folder comes first."""
    folder = os.getcwd()
    importlib.invalidate_caches()
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        missing = error.name or ""
        if name != missing and not name.startswith(f"{missing}."):
            raise  # the module is there, something that it imports is not
        guess = did_you_mean(missing, [*_modules(folder), *sys.modules]) if missing else ""
        raise Unable(f"{word}: there is no module '{missing}' in {folder}", guess) from None


def _modules(folder: str) -> Iterator[str]:
    for entry in os.scandir(folder):
        if entry.name.endswith(".py"):
            yield entry.name.removesuffix(".py")
        elif entry.is_dir() and entry.name.isidentifier():
            yield entry.name


def _attribute(word: str, found: Any, name: str) -> Any:
    if hasattr(found, name):
        return getattr(found, name)
    own = getattr(found, "__name__", type(found).__name__)
    names = [known for known in dir(found) if not known.startswith("__")]
    raise Unable(f"{word}: '{own}' has no '{name}'", did_you_mean(name, names))


def _graph(word: str, found: Any) -> tuple[Graph, tuple[str, ...]]:
    """The graph that something is, has, builds or gives; and the data of a run."""
    given: tuple[str, ...] = ()
    for _ in range(5):
        if isinstance(found, Graph):
            return found, given
        if isinstance(found, Walk):
            given = tuple(found.data)
        if isinstance(found, Loaded):
            path = found.document.path
            raise Unable(f"{word}: {path} is no graph", f"statecli validate {path} says why")
        if not isinstance(found, type):
            inner = _inside(found)
            if inner is not None:
                found = inner
                continue
        build = None if isinstance(found, type) else getattr(found, "build", None)
        if not callable(build or found):
            break
        found = _called(word, build or found)
    raise Unable(f"{word}: this is a {type(found).__name__}, no graph", f"name {_KINDS}")


def _inside(found: Any) -> Any:
    """The graph of a run, of an application (its run is `inner`), of a machine (`get_graph`)."""
    for name in ("graph", "inner"):
        inner = getattr(found, name, None)
        if isinstance(inner, Graph) or isinstance(getattr(inner, "graph", None), Graph):
            return inner
    give = getattr(found, "get_graph", None)
    return give() if callable(give) else None


def _called(word: str, function: Any) -> Any:
    """What a function without arguments gives."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    needed = [p.name for p in parameters if p.default is p.empty and p.kind not in _REST]
    if needed:
        raise Unable(f"{word}: it needs {', '.join(needed)}", "name a function without arguments")
    result = function()
    if inspect.isawaitable(result) or inspect.isasyncgen(result) or inspect.isgenerator(result):
        if inspect.iscoroutine(result) or inspect.isgenerator(result):
            result.close()
        raise Unable(f"{word}: it gives a {type(result).__name__}", "let it return the graph")
    return result


_REST = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


# --- what goes wrong in code of others ------------------------------------------------------------


def _failed(word: str, error: BaseException) -> NoReturn:
    kind = type(error).__name__
    try:
        said = " ".join(str(error).split())
    except Exception:  # an error whose text is an error
        said = ""
    if isinstance(error, SyntaxError) and error.msg:
        said = error.msg
    if isinstance(error, SystemExit):
        kind, said = "it ends the program", f"sys.exit({said})"
    text = f"{kind}: {said}" if said else kind
    if len(text) > _LONGEST:
        text = f"{text[:_LONGEST]}…"
    where = _place(error)
    raise Unable(f"{where}: {text} (loading {word})" if where else f"{word}: {text}") from error


def _place(error: BaseException) -> str:
    """The last line of the person's own code that was at work; else the last one of anybody."""
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        return f"{_near(error.filename)}:{error.lineno}"
    ours = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    here = os.getcwd() + os.sep
    own = other = ""
    frame = error.__traceback__
    while frame is not None:
        file = frame.tb_frame.f_code.co_filename
        place = f"{_near(file)}:{frame.tb_lineno}"
        frame = frame.tb_next
        if file.startswith("<frozen") or os.path.abspath(file).startswith(ours + os.sep):
            continue
        other = place
        if os.path.abspath(file).startswith(here) and f"{os.sep}site-packages{os.sep}" not in file:
            own = place
    return own or other


def _near(file: str) -> str:
    here = os.getcwd() + os.sep
    return file.removeprefix(here)


@contextlib.contextmanager
def _aside() -> Iterator[None]:
    """What the code of others prints goes to standard error: reports stand on standard output.
    Also what is written past Python, by a child or a library."""
    out, kept = sys.stdout, -1
    try:
        out.flush()
        kept = os.dup(1)
        os.dup2(2, 1)
    except (OSError, ValueError, AttributeError):
        kept = -1
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        if kept >= 0:
            os.dup2(kept, 1)
            os.close(kept)
