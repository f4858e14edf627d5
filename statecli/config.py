"""What a person may set: in a config file, or by options, which come after it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Config:
    """Settings for one graph. Empty means the default; see `cli.md` for the keys' meaning.

    `severity` maps a rule to error, warning, info or off. `directory` is the folder of the file
    the settings came from (patterns are relative to it), None without a file.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    severity: Mapping[str, str] = field(default_factory=dict)
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    fail_on: str = ""
    exclude: tuple[str, ...] = ()
    forms: Mapping[str, str] = field(default_factory=dict)
    custom_kinds: tuple[str, ...] = ()
    waiting_kinds: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    plugins: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    name_case: str = ""
    directory: str | None = None
