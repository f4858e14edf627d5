"""`statecli test`: conversations as tests, offline, and their coverage of the graphs."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from statecli.cli.combined import checked, spared
from statecli.cli.output import tell, write
from statecli.model.unable import Unable
from statecli.text.excerpt import plain

if TYPE_CHECKING:
    from statecli.cli.conversations import Conversations, Found, Graphs
    from statecli.scenario.job import Result

NAME = "test"
HELP = "run conversations as tests, offline, and measure their coverage"
EXAMPLE = """\
A conversation is a YAML or JSON file with `turns`, best in graphs/tests/. For a graph like this,

  initial: ask                           # graphs/desk.yaml
  fields: {intent: {type: enum, values: [refund, other]}}
  states:
    ask: {type: user, transition: {next: [sort]}}
    sort:
      type: agent
      writes: [intent]
      transition: {next: [{to: pay, when: {intent: refund}}, ask]}
    pay: {type: terminal}

write what the person says, what the model answers, and what must come of it:

  graph: ../desk.yaml                    # graphs/tests/desk.refund.yaml
  about: who wants a refund gets it
  turns:
    - say: My rake is broken.            # left out where the graph speaks first
      replies:                           # every answer that the model is asked for, in order
        - {writes: {intent: refund}, reply: I am sorry to hear that!}
      expect: {takes: [sort, pay], state: pay, data: {intent: refund}, ended: true}

replies, by what is asked for (every answer of the model, in order; a tool state has two lines):
  - reply: a text                        a state speaks (a bare text is a reply too)
  - {writes: {field: value}, reply: ..}  an agent with `writes`
  - choice: STATE                        where the model chooses the way
  - calls: [{TOOL: {argument: value}}]   a tool state: first what the model fills in (not where
                                         `arguments` stand in the graph; `tool: NAME` to pick one)
  - result: {key: value}                 then what the tool gives back; {error: why} if it fails
  - {plan: {steps: [..], needs_permission: false}}   {ok: true, reply: ..}   a planner, its steps
  - {verdict: {done: true, next: STATE}}  answer: yes   {skill: {name: .., text: ..}}
a plan (strict, loose, goal) speaks first, so its first turn has no `say`; then it calls:
  turns:
    - replies: [How old are you?]
    - say: I am 30, that is all.
      replies:
        - calls: [{set_deliverable: {key: age, value: 30}}, {complete_task: {id: TASK}}]
          reply: Thanks!                 # said after the calls; a text alone is `- reply: ..`
      expect: {collected: age, tasks: {TASK: completed}, takes: NEXT}
  other calls: {skip_task: {id: TASK}}  {skip_state: {}}  in a goal state
  {close_goal: {outcome: achieved or given_up, quote: the person's words}}, and behind these calls
  the second look at it: - {check: {agree: true, quote: the person's words}}

expect, in a turn, or beside `turns` for the whole conversation:
  state: S     entered: S or [S, ..]   left: S   ended: true or S   status: limited, stuck, failed
  takes: S or [S, ..], 'A -> B', a place in quotes ('transitions[1]', 'next[0]'), {from: A, to: B}
  data: {field: value, other: {matches: '^A'}, third: {unset: true}}    collected: [key, ..]
  said: a part of it, or {matches: regex}     not_said: ..     refused: complete_task
  called: TOOL or [{TOOL: {argument: value}}]     tasks: {id: completed}     guards: {S: false}
  of the whole only: turns_at_most: N     never: [S, ..]
A file without `expect` gets them from how it runs now: statecli test --update FILE. The first
conversations of a graph can be found: statecli test --suggest --write graphs/tests GRAPH.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """The options, in the order of `--help`."""
    flag = "store_true"
    parser.epilog = EXAMPLE
    parser.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="conversations, folders of them, or graphs: for what names them beside them or in "
        "tests/ (default: graphs)",
    )
    group = parser.add_argument_group("which conversations")
    group.add_argument("-k", "--keyword", metavar="WORDS", help="only with these in name or about: "
                       "'refund and not vip'")  # fmt: skip
    group.add_argument("--graph", metavar="GRAPH", help="play them against this graph")
    group = parser.add_argument_group("how they are played")
    group.add_argument("--jobs", type=int, default=1, metavar="N", help="in N processes (0: one "
                       "for each core)")  # fmt: skip
    group.add_argument("--model", metavar="NAME", help="ask this model instead of the file")
    group.add_argument("--base-url", metavar="URL", help="where the model is served")
    group.add_argument(
        "--expect",
        choices=["states", "all"],
        help="with --model: compare only where the run goes (the default), or everything",
    )
    group = parser.add_argument_group("files that are written")
    group.add_argument("--update", action=flag, help="rewrite the expectations that do not hold, "
                       "or give a file its first ones; shows the difference")  # fmt: skip
    group.add_argument("--record", action=flag, help="ask the model (--model) once for the "
                       "replies that a file lacks, and write them into it")  # fmt: skip
    group = parser.add_argument_group("coverage")
    group.add_argument("--coverage", action=flag, help="show what of the graphs was seen")
    group.add_argument("--coverage-file", metavar="FILE", help="write it as JSON")
    group.add_argument("--fail-under", type=float, metavar="N", help="fail below N percent")
    group.add_argument("--suggest", action=flag, help="show a shortest conversation for each "
                       "transition that was not taken")  # fmt: skip
    group = parser.add_argument_group("people who are played (FILE: the graphs)")
    group.add_argument("--random", type=int, metavar="N", help="walk each graph N times by chance")
    group.add_argument("--seed", type=int, metavar="S", help="the same walks again")
    group.add_argument("--persona", action="append", default=[], metavar="TEXT",
                       help="a model (--model) plays this person")  # fmt: skip
    group.add_argument("--max-turns", type=int, metavar="N", help="turns of each walk (30)")
    group.add_argument("--budget-cost", type=float, metavar="X", help="end once models cost X")
    group.add_argument("--write", metavar="DIR", help="write the conversations of --suggest, "
                       "--persona and of walks that went wrong into this folder")  # fmt: skip
    group = parser.add_argument_group("output")
    group.add_argument("--junit", metavar="FILE", help="also write JUnit XML")
    group.add_argument("-q", "--quiet", action=flag, help="do not list what passed")
    group = parser.add_argument_group("trust")
    group.add_argument(
        "--allow-plugins", action=flag, help="run code beside the graph (state_*.py)"
    )


def run(args: argparse.Namespace) -> int:
    """Play the conversations; what else was asked for builds on what they have seen."""
    checked(args)
    from statecli.cli.conversations import Conversations, Graphs
    from statecli.cli.one_graph import settings_of

    words = args.files or ["graphs" if os.path.isdir("graphs") else "."]
    excludes = settings_of(args).excludes
    if args.random is not None or args.persona:
        from statecli.cli.walking import walk

        return walk(args, Conversations(words, excludes))
    files = Conversations(words, excludes)
    spared(args, files.found)
    if args.graph is not None:
        Graphs(args).open(args.graph)  # told once, and not of each conversation
    found = [one for one in files.found.values() if _wanted(args, one)]
    if not found and not args.suggest:
        named = f" with {args.keyword!r}" if args.keyword else ""
        way = "statecli test --help shows how one is written; /save FILE in a chat writes one"
        raise Unable(f"there is no conversation{named} in {', '.join(words)}", way)
    if args.record:
        from statecli.cli.completing import completed

        return completed(args, found)
    results = list(_results(args, found))
    return _told(args, files, results)


def _results(args: argparse.Namespace, found: Sequence[Found]) -> Iterator[Result]:
    """The results, in the order of the files, each shown as it comes."""
    jobs = args.jobs or os.cpu_count() or 1
    if jobs > 1 and len(found) > 1 and args.model is None:
        from statecli.cli.jobs import in_processes

        results = in_processes(args, found, jobs)
    else:
        results = played(args, found)
    from statecli.scenario.report import lines

    for result in results:
        if not (args.quiet and result.status == "passed" and not result.diff):
            write(f"{line}\n" for line in lines(result))
        yield result


def played(
    args: argparse.Namespace, found: Sequence[Found], graphs: Graphs | None = None
) -> Iterator[Result]:
    """The results of files that are played in this process. `graphs`: what was read before."""
    from statecli.cli.conversations import Graphs
    from statecli.scenario.job import Order, Result, Told, run

    graphs = graphs or Graphs(args)
    order = Order(
        graphs.of,
        coverage=bool(args.coverage or args.coverage_file or args.suggest
                      or args.fail_under is not None),
        update=args.update,
        everything=args.expect == "all",
    )  # fmt: skip
    asked = None
    if args.model is not None:
        from statecli.cli.asked import Asked

        asked = Asked(args)
        order = order._replace(model=asked.of)
    for path, content, trouble in found:
        if content is None:
            yield Result(path, "", "", "error", (Told(path, 0, "", trouble),))
        else:
            yield run(path, content, order)
    if asked is not None:
        asked.close()


def _told(args: argparse.Namespace, files: Conversations, results: Sequence[Result]) -> int:
    """What comes after the conversations: files, coverage, suggestions, the last line."""
    from statecli.scenario.report import exit_code, junit, summary
    from statecli.text.whole_file import write_file

    code = exit_code(results)
    if args.update:
        written = [rewrite(result, files.found) for result in results]
        code = code if all(written) else 2
    if args.junit:
        write_file(args.junit, junit(results).encode("utf-8", "replace"))
    if args.coverage or args.coverage_file or args.fail_under is not None or args.suggest:
        from statecli.cli.covering import covered

        code = max(code, covered(args, files, results))
    if results:
        write([f"{summary(results)}\n"])
    return code


def rewrite(result: Result, found: Mapping[str, Found]) -> bool:
    """Rewrite a conversation that has to be, encoded as it was; False where that cannot be. The
    others are still written."""
    from statecli.discover import identity, reason_of
    from statecli.text import reading
    from statecli.text.whole_file import write_file

    path, text = result.path, result.text
    if text is None:
        return True
    before = found[identity(path)].content
    assert before is not None
    try:
        with open(path, "rb") as file:
            if file.read() != before:
                raise Unable(f"{path}: somebody else changed it meanwhile; nothing was written")
        write_file(path, reading.encode(text, before))
    except (OSError, Unable) as error:
        tell(plain(f"{path}: {reason_of(error)}" if isinstance(error, OSError) else error.message))
        return False
    tell(f"{plain(path)}: updated")
    return True


def _wanted(args: argparse.Namespace, found: Found) -> bool:
    """Whether `-k` wants a file: words in its name or about, with `and`, `or`, `not` between."""
    if not args.keyword:
        return True
    text = f"{found.path} {_about(found.content or b'')}".casefold()
    return any(
        all(_holds(word.strip(), text) for word in part.split(" and "))
        for part in args.keyword.casefold().split(" or ")
    )


def _holds(word: str, text: str) -> bool:
    wanted = True
    while word.startswith("not "):
        wanted, word = not wanted, word[4:].strip()
    return (word in text) is wanted


def _about(content: bytes) -> str:
    import re

    text = content.decode("utf-8", "replace")
    match = re.search(
        r"""^[\s{]*["']?about["']?\s*:(.*)$|["']about["']\s*:\s*("[^"]*")""", text, re.MULTILINE
    )
    return match.group(1) or match.group(2) or "" if match else ""
