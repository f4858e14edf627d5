"""Conversations in several processes: each takes a part of the files and sends results back."""

from __future__ import annotations

import argparse
import concurrent.futures
import multiprocessing
import os
import signal
from collections.abc import Iterator, Sequence

from statecli.cli.conversations import Found
from statecli.cli.test import played
from statecli.scenario.job import Result

#: So many parts for each process: whoever is done early takes another.
_PARTS = 4


def in_processes(args: argparse.Namespace, found: Sequence[Found], jobs: int) -> Iterator[Result]:
    """The results, in the order of the files."""
    size = max(1, -(-len(found) // (jobs * _PARTS)))
    parts = [found[at : at + size] for at in range(0, len(found), size)]
    options = {key: value for key, value in vars(args).items() if key != "run"}
    # A new interpreter each: what this one holds (threads, open files) is not copied.
    context = multiprocessing.get_context("spawn")
    workers = min(jobs, len(parts))
    pool = concurrent.futures.ProcessPoolExecutor(workers, context, _deaf)
    with pool:
        waiting = [pool.submit(_part, options, os.getcwd(), part) for part in parts]
        try:
            for future in waiting:
                yield from future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _deaf() -> None:
    """Ctrl-C is for the process that the person started: it ends the others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _part(options: dict[str, object], folder: str, found: Sequence[Found]) -> list[Result]:
    os.chdir(folder)
    return list(played(argparse.Namespace(**options), found))
