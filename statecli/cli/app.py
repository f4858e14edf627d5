"""The command line: which command, its options, and what ends it.

A command is one module of this folder with NAME, HELP, `add(parser)` and `run(args) -> int`; only
the wanted one is imported. Global options may stand before or after it.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import os
from collections.abc import Callable, Sequence
from typing import NoReturn, Protocol, cast

from statecli import __version__
from statecli.cli.output import hush, streams, tell, write
from statecli.model.nearest import did_you_mean
from statecli.model.unable import Unable
from statecli.text.excerpt import plain

COMMANDS = ("validate", "explain", "render", "chat", "sessions", "test")


class Command(Protocol):
    """A module of `statecli/cli/`."""

    NAME: str
    HELP: str
    add: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]


def main(argv: Sequence[str]) -> int:
    """Run one command line and give its exit code; nothing is raised for what users do."""
    streams()
    try:
        return _main(list(argv))
    except Unable as problem:
        # It may quote a file from a stranger: a setting, the name of a state.
        _tell(f"statecli: {problem.message}")
        if problem.hint:
            _tell(f"  {problem.hint}")
        return 2
    except KeyboardInterrupt:
        tell("interrupted")
        return 130
    except BrokenPipeError:
        hush()
        return 0
    except Exception as error:
        kind = type(error).__name__
        _tell(f"statecli: this is a fault of statecli itself: {kind}: {error}")
        if "--debug" in argv:
            import traceback

            _tell(traceback.format_exc().rstrip())
        else:
            tell("  --debug shows where; please report it")
        return 2


def _tell(text: str) -> None:
    """Say what went wrong, without the secrets that it may quote."""
    from statecli.llm.scrub import Veil, known_secrets

    tell(plain(Veil(known_secrets()).text(text)))


def _main(argv: list[str]) -> int:
    at = _command_at(argv)
    if at is None:
        if "--version" in argv:
            write([f"statecli {__version__}\n"])
            return 0
        if "--help" in argv or "-h" in argv:
            write([full_parser().format_help()])
            return 0
        parser = Parser(prog="statecli")
        add_global(parser)
        parser.read(argv)
        raise Unable("which command?", f"one of {', '.join(COMMANDS)}; statecli --help says more")
    name = argv[at]
    if name not in COMMANDS:
        hint = did_you_mean(name, COMMANDS) or f"the commands are: {', '.join(COMMANDS)}"
        if os.path.exists(name):
            hint = f"statecli validate {name} checks it"
        raise Unable(f"no command is named '{name}'", hint)
    command = load(name)
    parser = Parser(prog=f"statecli {name}", description=command.HELP)
    add_global(parser)
    command.add(parser)
    args = parser.read(argv[:at] + argv[at + 1 :])
    gc.enable()
    return command.run(args)


def load(name: str) -> Command:
    return cast(Command, importlib.import_module(f"statecli.cli.{name}"))


def _command_at(argv: list[str]) -> int | None:
    """Where the command stands: the first word that is no option nor the value of one."""
    skip = False
    for at, word in enumerate(argv):
        if skip:
            skip = False
        elif word == "--config":
            skip = True
        elif not word.startswith("-"):
            return at
    return None


def full_parser() -> argparse.ArgumentParser:
    """Every command in one parser: for `--help` and for the completions."""
    about = "author, prove, draw, run and test state graphs of conversations and agents"
    parser = Parser(prog="statecli", description=about)
    add_global(parser)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", parser_class=Parser)
    for name in COMMANDS:
        command = load(name)
        sub = commands.add_parser(name, help=command.HELP, description=command.HELP)
        add_global(sub)
        command.add(sub)
    return parser


def add_global(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("global options")
    group.add_argument("-h", "--help", action="help", help="show this and end")
    version = f"statecli {__version__}"
    group.add_argument("--version", action="version", version=version, help="show the version")
    group.add_argument("--no-color", action="store_true", help="plain text (also: NO_COLOR)")
    group.add_argument("--debug", action="store_true", help="show where statecli itself failed")
    group.add_argument("--config", metavar="FILE", help="read this config instead of looking")


class _Formatter(argparse.HelpFormatter):
    """argparse asks for the terminal's width whenever an option is added; that loads shutil and
    five compressors with it. So the width is known here, from COLUMNS alone."""

    def __init__(self, prog: str, **_: object) -> None:
        width = os.environ.get("COLUMNS", "")
        super().__init__(prog, max_help_position=30, width=int(width) if width.isdigit() else 100)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        """A text of several lines (an example) stays as it is."""
        return text if "\n" in text else super()._fill_text(text, width, indent)


class Parser(argparse.ArgumentParser):
    """argparse with our words: no abbreviations, and the nearest option for an unknown one."""

    def __init__(self, **kwargs: object) -> None:
        super().__init__(
            add_help=False,
            allow_abbrev=False,
            formatter_class=_Formatter,
            **kwargs,  # type: ignore[arg-type]
        )

    def read(self, argv: list[str]) -> argparse.Namespace:
        """The options; `Unable` for an unknown one, with the nearest that exists."""
        args, rest = self.parse_known_intermixed_args(argv)
        if rest:
            word = rest[0].split("=", 1)[0]
            if not word.startswith("-"):
                raise Unable(f"'{rest[0]}' is one too many", f"see {self.prog} --help")
            hint = did_you_mean(word, list(self._option_string_actions))
            raise Unable(f"no option is named '{word}'", hint or f"see {self.prog} --help")
        return args

    def format_usage(self) -> str:
        return f"usage: {self.usage or self._short()}\n"

    def format_help(self) -> str:
        self.usage = self.usage or self._short().replace("%", "%%")
        return super().format_help()

    def _short(self) -> str:
        """The command with its arguments; the options are listed below it anyway."""
        words = [self.prog, "[OPTIONS]"]
        for action in self._actions:
            if not action.option_strings:
                word = str(action.metavar or action.dest)
                many = {"*": f"[{word}]...", "+": f"{word}...", "?": f"[{word}]"}
                words.append(many.get(str(action.nargs), word))
        return " ".join(words)

    def _check_value(self, action: argparse.Action, value: object) -> None:
        """As argparse does, in our words and with the nearest choice."""
        choices = [str(choice) for choice in action.choices or ()]
        if choices and value not in choices:
            name = "/".join(action.option_strings) or str(action.metavar or action.dest)
            guess = did_you_mean(str(value), choices)
            raise Unable(f"{name}: '{value}' is none of {', '.join(choices)}", guess)

    def error(self, message: str) -> NoReturn:
        raise Unable(message.removeprefix("argument "), f"see {self.prog} --help")
