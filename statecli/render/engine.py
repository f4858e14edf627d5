"""The program that works out where boxes and arrows stand.

`graphviz-pure`, a Graphviz in one wheel, comes with statecli where there is a wheel for the
machine; else a `dot` of the system does. Both are started as programs, with a limit on their time.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import NamedTuple

from statecli.model.unable import Unable

BUNDLED = "graphviz-pure"
#: Seconds after which one attempt is given up (see `layout.ATTEMPTS`).
PATIENCE = 15.0
_PIP, _APT = f"pip install {BUNDLED}", "apt install graphviz, brew install graphviz"
INSTALL = f"{_PIP}, or install Graphviz ({_APT})"


class Engine(NamedTuple):
    """The file of the program, and whether it is the bundled one."""

    command: str
    bundled: bool


class TooSlow(Exception):
    """The engine had not finished in time."""


def find(renderer: str = "", dot: str | None = None, *, pdf: bool = False) -> Engine:
    """The engine to use. `renderer` is bundled, system or empty (whichever is there, the bundled
    one first); `dot` the file of a `dot`. Raises Unable, which says what to install."""
    if renderer == "bundled" and (pdf or dot is not None):
        what = "--dot names another one" if dot is not None else f"{BUNDLED} writes no PDF"
        raise Unable(f"--renderer bundled: {what}", "leave --renderer out")
    if dot is not None:
        command = shutil.which(dot)
        if command is None:
            raise Unable(f"--dot {dot}: there is no such program")
        return Engine(command, bundled=False)
    if renderer != "system" and not pdf:
        beside = os.path.join(os.path.dirname(sys.executable), BUNDLED)
        command = shutil.which(beside) or shutil.which(BUNDLED)
        if command is not None:
            return Engine(command, bundled=True)
        if renderer == "bundled":
            raise Unable(f"{BUNDLED} is not installed", _PIP)
    command = shutil.which("dot")
    if command is not None:
        return Engine(command, bundled=False)
    if pdf:
        raise Unable("a PDF needs the program dot of Graphviz", "apt install graphviz, or -o X.svg")
    if renderer == "system":
        raise Unable("the program dot of Graphviz is not installed", _APT)
    raise Unable(
        "there is no layout engine", f"{INSTALL}; --to html, mermaid, text and dot need none"
    )


def run(
    engine: Engine, text: str, to: str, layout: str = "dot", patience: float = PATIENCE
) -> bytes:
    """What the engine makes of a DOT document. Raises TooSlow, or Unable where it fails."""
    words = [engine.command, f"-K{layout}", f"-T{to}"]
    try:
        done = subprocess.run(  # noqa: S603 - the engine; the drawing is its standard input
            words, input=text.encode("utf-8", "replace"), capture_output=True, timeout=patience,
            check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise TooSlow from None
    except OSError as error:
        raise Unable(f"{engine.command}: {error.strerror}", INSTALL) from None
    if done.returncode or not done.stdout:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise Unable(f"{engine.command} failed: {said[-1] if said else 'it says nothing'}")
    return done.stdout
