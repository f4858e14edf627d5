"""What the person allowed the graphs of others to do: asked once, remembered in their data folder.

A thing is allowed for one graph text (its digest) alone: when the graph changes it is asked again.
`hosts` are those that the person trusts whatever graph names them.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Awaitable, Callable, Collection
from pathlib import Path
from urllib.parse import urlsplit

from statecli.discover import reason_of
from statecli.model.unable import Unable
from statecli.text.whole_file import write_file

#: Asks the person a yes or no question. None: nobody can be asked (off a terminal).
Confirm = Callable[[str], Awaitable[bool]]
#: The file in the data folder.
NAME = "trust.json"
#: Machines that are this one.
_LOCAL = re.compile(r"localhost|127(\.\d{1,3}){3}|::1", re.IGNORECASE)


class Trust:
    """The answers of one person. `file` is made with the first answer."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def answered(self, digest: str, thing: str) -> bool | None:
        """What the person said about this thing in this graph; None if they were never asked."""
        answer = self._read().get(digest, {}).get(thing)
        return answer if isinstance(answer, bool) else None

    def remember(self, digest: str, thing: str, allowed: bool) -> None:
        """Keep an answer, beside those that another process may have kept meanwhile."""
        known = self._read()
        known[digest] = {**known.get(digest, {}), thing: allowed}
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Unable(f"{self.file.parent}: {reason_of(error)}") from None
        text = json.dumps(known, indent=1, ensure_ascii=False)
        write_file(str(self.file), f"{text}\n".encode("utf-8", "replace"))

    async def allows(
        self, digest: str, thing: str, question: str, confirm: Confirm | None, way: str
    ) -> bool:
        """Whether this thing may be done: as was answered before, else as the person says now.

        `question` is a whole sentence without its "(yes or no)"; `thing` is what is remembered, so
        it names all that matters (a command with its arguments). Raises Unable with `way` where
        nobody can be asked.
        """
        known = self.answered(digest, thing)
        if known is not None:
            return known
        if confirm is None:
            raise Unable(f"{question} Nobody can be asked here.", way)
        allowed = await confirm(question)
        self.remember(digest, thing, allowed)
        return allowed

    def refused(self, thing: str) -> str:
        """How a person changes their mind about something that they said no to."""
        return f"you said no to {thing} for this graph; {self.file} keeps that answer"

    def _read(self) -> dict[str, dict[str, object]]:
        """Everything that was answered. A file that cannot be understood counts as no answers, and
        nothing is written over it before it was moved away."""
        try:
            found = json.loads(self.file.read_bytes())
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise Unable(f"{self.file}: {reason_of(error)}") from None
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict) or not all(isinstance(v, dict) for v in found.values()):
            raise Unable(f"{self.file}: this is not what statecli wrote", "move it away")
        return found


def trusted_hosts(listed: Collection[str] = ()) -> frozenset[str]:
    """The hosts of STATECLI_TRUST (with commas or spaces between) and those that the person's own
    config lists; each is a name, or a name with a port."""
    words = re.split(r"[,\s]+", os.environ.get("STATECLI_TRUST", ""))
    return frozenset(word.casefold() for word in (*words, *listed) if word)


def is_trusted(url: str, hosts: Collection[str]) -> bool:
    """Whether an address is on a host that the person trusts: the host alone covers every port."""
    name, port = host_of(url)
    return bool(name) and not {name, f"{name}:{port}"}.isdisjoint(hosts)


def is_local(url: str) -> bool:
    """Whether an address is on this machine."""
    return _LOCAL.fullmatch(host_of(url)[0]) is not None


def host_of(url: str) -> tuple[str, int]:
    """The host of an address in lower case, and its port; empty and 0 where it has none."""
    try:
        parts = urlsplit(url)
        port = parts.port or {"https": 443, "http": 80}.get(parts.scheme, 0)
        return (parts.hostname or "").casefold(), port
    except ValueError:
        return "", 0
