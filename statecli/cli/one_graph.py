"""The one graph file that a command is given: its bytes and the settings of its folder."""

from __future__ import annotations

import argparse
import os

from statecli.cli.settings import Settings
from statecli.config import Config
from statecli.discover import reason_of
from statecli.model.unable import Unable
from statecli.text.document import MAX_BYTES

#: The options for rules, which only validate has.
_OF_VALIDATE = ("select", "ignore", "extend_select", "severity", "fail_on")


def content(path: str) -> bytes:
    """What the file holds, a byte more than may be read at most. Raises Unable."""
    if os.path.isdir(path):
        raise Unable(f"{path}: this is a folder", "name one graph file")
    try:
        with open(path, "rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        name = path or "''"
        raise Unable(f"{name}: {reason_of(error)}") from error


def config_of(args: argparse.Namespace, path: str) -> Config:
    """The settings of the graph's folder, without options for rules."""
    options = argparse.Namespace(**dict.fromkeys(_OF_VALIDATE), config=args.config)
    return Settings(options).of(path)
