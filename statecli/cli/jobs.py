"""Conversations in several processes: each takes a part of the files and sends results back."""

from __future__ import annotations

import argparse
import concurrent.futures
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.context import BaseContext

from statecli.cli.conversations import Found, Graphs
from statecli.cli.output import flush
from statecli.cli.test import played
from statecli.scenario.job import Result, Told

#: So many parts for each process: whoever is done early takes another.
_PARTS = 4
_Pool = concurrent.futures.ProcessPoolExecutor
_Options = dict[str, object]
_GONE = "the process that played it ended before it was done; code beside the graph may do that"


def in_processes(args: argparse.Namespace, found: Sequence[Found], jobs: int) -> Iterator[Result]:
    """The results, in the order of the files."""
    from statecli.text import yaml_text  # noqa: F401  # once here instead of once in each process

    size = max(1, -(-len(found) // (jobs * _PARTS)))
    parts = [found[at : at + size] for at in range(0, len(found), size)]
    options = {key: value for key, value in vars(args).items() if key != "run"}
    context = _context()
    with _pool(context, options, min(jobs, len(parts))) as pool:
        waiting = [pool.submit(_part, part) for part in parts]
        try:
            for part, future in zip(parts, waiting, strict=True):
                try:
                    results = future.result()
                except BrokenProcessPool:
                    results = _again(options, part)
                yield from results
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _again(options: _Options, part: Sequence[Found]) -> list[Result]:
    """A part that was at work when a process died: the others of it are still played, and the one
    that ends its process is told."""
    try:
        with _pool(_context(), options, 1) as pool:
            return pool.submit(_part, part).result()
    except BrokenProcessPool:
        if len(part) == 1:
            path = part[0].path
            return [Result(path, "", "", "error", (Told(path, 0, "", _GONE),))]
    half = len(part) // 2
    return _again(options, part[:half]) + _again(options, part[half:])


def _context() -> BaseContext:
    """Copies of this process where that is safe: they need not import everything again, which
    costs more than a hundred turns. Else a new interpreter each."""
    methods = multiprocessing.get_all_start_methods()
    alone = threading.active_count() == 1  # a lock that another thread holds is never let go of
    safe = sys.platform == "linux" and alone and "fork" in methods
    return multiprocessing.get_context("fork" if safe else "spawn")


def _pool(context: BaseContext, options: _Options, workers: int) -> _Pool:
    flush()  # what is not yet written would be written by each copy
    return _Pool(workers, context, _begin, (options, os.getcwd()))


#: In a process that plays: the options, and the graphs that it has read.
_work: tuple[argparse.Namespace, Graphs] | None = None


def _begin(options: _Options, folder: str) -> None:
    """Ctrl-C is for the process that the person started: it ends the others."""
    global _work  # noqa: PLW0603  # a process of a pool has no other place for what it keeps
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.chdir(folder)
    args = argparse.Namespace(**options)
    _work = args, Graphs(args)


def _part(found: Sequence[Found]) -> list[Result]:
    assert _work is not None
    args, graphs = _work
    return list(played(args, found, graphs))
