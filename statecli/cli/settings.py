"""The settings of each graph: those of the nearest config, then those of the options."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence

from statecli.config import SEVERITIES, Config, nearest_file
from statecli.lint.rule import FAMILIES, rule_ids, rules
from statecli.load.loader import FORMS
from statecli.model.nearest import did_you_mean
from statecli.model.unable import Unable


class Settings:
    """What the options say, over what the config of a graph says."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        self.select = _rules("--select", args.select)
        self.ignore = _rules("--ignore", args.ignore)
        self.extend_select = _rules("--extend-select", args.extend_select)
        self.severity = dict(_severity(word) for word in _words(args.severity))
        self._read: dict[str | None, Config] = {}
        self._nearest: dict[str, Config] = {}
        if args.config:
            self._config(args.config)  # a bad one is told even when there is nothing to check

    def of(self, path: str) -> Config:
        """The settings of one file."""
        return self.around(os.path.dirname(path)).for_file(path)

    def around(self, folder: str) -> Config:
        """The settings that hold for a folder."""
        config = self._nearest.get(folder)
        if config is None:
            file = self.args.config or nearest_file(folder or ".")
            config = self._nearest[folder] = self._config(file)
        return config

    def excludes(self, path: str) -> bool:
        """Whether `exclude` takes a file out, or a folder (with a slash at its end)."""
        return self.around(os.path.dirname(path.rstrip("/"))).excludes(path)

    def _config(self, file: str | None) -> Config:
        config = self._read.get(file)
        if config is None:
            read = Config()
            if file is not None:
                from statecli.config import file as config_file

                known = rules()
                selectors = (*known, *FAMILIES, "all")
                words = config_file.Words(selectors, tuple(known), FORMS)
                read = config_file.read(file, words)
            config = self._read[file] = self._over(read)
        return config

    def _over(self, config: Config) -> Config:
        """A rule that an option names is on again, whatever the config says of it."""
        chosen = set(rule_ids((*self.select, *self.extend_select)))
        ignore = config.ignore
        severity = dict(config.severity)
        if chosen:
            ignore = tuple(rule for rule in rule_ids(ignore) if rule not in chosen)
            severity = {
                rule: level
                for rule, level in severity.items()
                if (rule in chosen and level != "off") or (rule not in chosen and not self.select)
            }
        return config._replace(
            select=self.select or config.select,
            extend_select=self.extend_select if self.select else self._extended(config),
            ignore=(*ignore, *self.ignore),
            severity=severity | self.severity,
            fail_on=self.args.fail_on or config.fail_on or "error",
        )

    def _extended(self, config: Config) -> tuple[str, ...]:
        return (*config.extend_select, *self.extend_select)


def _words(values: Sequence[str] | None) -> list[str]:
    """The words of an option that may be given several times and hold several words each."""
    found = (word.strip() for value in values or () for word in value.split(","))
    return [word for word in found if word]


def _rules(option: str, values: Sequence[str] | None) -> tuple[str, ...]:
    words = _words(values)
    for word in words:
        if word not in FAMILIES and word != "all" and word not in rules():
            hint = did_you_mean(word, (*rules(), *FAMILIES))
            more = "statecli validate --list-rules shows them all"
            raise Unable(f"{option}: no rule or family is named '{word}'", hint or more)
    return tuple(words)


def _severity(word: str) -> tuple[str, str]:
    rule, _, severity = word.partition("=")
    if rule not in rules():
        raise Unable(f"--severity: no rule is named '{rule}'", did_you_mean(rule, rules()))
    if severity not in SEVERITIES:
        said = f"--severity {rule}: '{severity}' is none of {', '.join(SEVERITIES)}"
        raise Unable(said, did_you_mean(severity, SEVERITIES))
    return rule, severity
