"""What goes wrong with a server: what to tell the person in one line, and whether to ask again."""

from __future__ import annotations

import email.utils
import math
import random
import time
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

from statecli.llm.scrub import scrubbed
from statecli.llm.servers import shown

#: A request is sent this often at most.
ATTEMPTS = 4
#: Statuses of a server that may do better the next time; so may all above 500.
AGAIN = (408, 409, 425, 429)
#: A server that wants to be left alone for longer (seconds) is not waited for.
LONGEST_WAIT = 60.0
_MOST = 300


class GivenUp(Exception):
    """An answer that is not read any further; the text says what the server did."""


class Trouble(NamedTuple):
    """What went wrong. `again`: it may go away by itself; `wait`: how long the server asks to be
    left alone, None if it does not say; `status`: of HTTP, 0 where there was no answer; `cut`: how
    to say it in the middle of an answer."""

    message: str
    again: bool = False
    wait: float | None = None
    status: int = 0
    param: str = ""
    cut: str = ""


def trouble(error: Exception, where: str, seconds: float, secrets: Collection[str]) -> Trouble:
    """What an error of the SDK means. `where`: the server's address, without anything secret."""
    import openai

    for one in (error, *_causes(error)):
        if isinstance(one, GivenUp):
            return Trouble(f"{where} {one}")
        if type(one).__name__ == "DecodingError":
            return Trouble(f"{where} packed its answer in a way that cannot be undone")
    # In the middle of a stream older versions of the SDK let the errors of its client through.
    names = {kind.__name__ for kind in type(error).__mro__}
    if isinstance(error, openai.APITimeoutError) or "TimeoutException" in names:
        way = "a longer 'timeout' in 'model' gives it more"
        return Trouble(f"{where} sent nothing for {seconds:g} seconds; {way}")
    if isinstance(error, openai.APIStatusError):
        return _status(error, where, secrets)
    if isinstance(error, openai.APIConnectionError) or "TransportError" in names:
        told = f"no answer from {where} ({_cause(error, secrets)}); does the server run?"
        return Trouble(told, again=True, cut=f"{where} broke the connection")
    if isinstance(error, openai.APIError):
        said = _short(error.message, secrets)
        return Trouble(f"{where} stopped with an error: {said}", again=True)
    if isinstance(error, ValueError | RecursionError):
        return Trouble(f"{where} sent something that is no JSON")
    return Trouble(f"{where}: {type(error).__name__}: {_short(str(error), secrets)}")


def _status(error: Any, where: str, secrets: Collection[str]) -> Trouble:
    status: int = error.status_code
    said = _short(_said(error), secrets)
    wait = _retry_after(error.response.headers)
    again = status in AGAIN or status >= 500
    spent = error.code == "insufficient_quota"
    if error.response.headers.get("x-should-retry") == "false" or spent:
        again = False
    param = error.param if isinstance(error.param, str) else ""
    if 300 <= status < 400:
        there = shown(error.response.headers.get("location", "")) or "nowhere"
        to = _short(str(error.response.url.join(there)), secrets)
        message = (
            f"{where} sends on to {to} ({status}), which is not followed; is the address right?"
        )
    elif status == 401:
        # What the server says of a key may quote it.
        message = f"{where} does not take the key (401); is the right one set?"
    elif status == 403:
        message = f"{where} does not allow this (403): {said}"
    elif status == 404:
        message = f"{where} knows no such model or address (404): {said}"
    elif status == 429:
        busy = "the account has nothing left to spend" if spent else "too many requests"
        message = f"{where}: {busy} (429): {said}"
        if wait is not None and wait > LONGEST_WAIT:
            message = f"{where}: {busy} (429); it wants to be asked again in {wait:.0f} seconds"
    else:
        message = f"{where} answered {status}: {said}"
    return Trouble(message, again and (wait or 0) <= LONGEST_WAIT, wait, status, param)


def _said(error: Any) -> str:
    """What a server wrote about its error: the message in its JSON, else the beginning of it."""
    body = error.body
    if isinstance(body, dict):
        for key in ("message", "detail", "error"):
            if isinstance(body.get(key), str):
                return str(body[key])
    if isinstance(body, str) and body.strip():
        return "a web page" if body.lstrip().startswith("<") else body
    return error.response.reason_phrase or "no reason given"


def _cause(error: BaseException, secrets: Collection[str]) -> str:
    """The innermost reason of a connection that failed, in few words."""
    words = [str(inner) for inner in _causes(error) if str(inner)]
    return _short(words[-1], secrets) if words else "no connection"


def _causes(error: BaseException) -> Iterator[BaseException]:
    """What led to an error, the innermost last."""
    inner, seen = error.__cause__ or error.__context__, 0
    while inner is not None and seen < 10:
        yield inner
        inner, seen = inner.__cause__ or inner.__context__, seen + 1


def _short(text: str, secrets: Collection[str]) -> str:
    """A text of a server on one line, without secrets."""
    plain = " ".join(str(scrubbed(text, secrets)).split()).rstrip(".")
    return plain if len(plain) <= _MOST else f"{plain[: _MOST - 1]}…"


def _retry_after(headers: Any) -> float | None:
    """How long a server wants to be left alone: in seconds, or until a date."""
    given = headers.get("retry-after-ms")
    value, unit = (given, 1000.0) if given is not None else (headers.get("retry-after"), 1.0)
    if not value:
        return None
    try:
        seconds = float(value) / unit
    except ValueError:
        seconds = _until(value)
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def _until(date: str) -> float:
    """Seconds until a date; no number where it is none."""
    try:
        found = email.utils.parsedate_tz(date)
        return email.utils.mktime_tz(found) - time.time() if found is not None else math.nan
    except (ValueError, OverflowError):
        return math.nan


def pause(attempt: int, wait: float | None) -> float:
    """Seconds to wait before a request is sent again: what the server says, else longer each time;
    a little more or less, so that many who wait do not come back at once."""
    if wait is not None:
        return wait + random.uniform(0, min(1.0, wait / 4))  # noqa: S311 - no secret
    return min(8.0, 0.5 * 2.0 ** (attempt - 1)) * random.uniform(0.75, 1.25)  # noqa: S311
