"""The slash commands of a chat. A command is a function named as it is typed, with its help."""

from __future__ import annotations

import shlex
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from statecli.chat import views
from statecli.kernel.values import Unfit, parsed
from statecli.model.nearest import did_you_mean
from statecli.session.session import digest, effective
from statecli.store.rows import line as row
from statecli.text.excerpt import plain

if TYPE_CHECKING:
    from statecli.chat.talk import Talk

Run = Callable[["Talk", list[str]], Awaitable[None]]


class Command(NamedTuple):
    """`usage` stands behind the name in the help; `about` says what it does."""

    name: str
    usage: str
    about: str
    run: Run


COMMANDS: dict[str, Command] = {}


def command(usage: str, about: str) -> Callable[[Run], Run]:
    """Register the function under its name, without the leading underscore."""

    def decorate(function: Run) -> Run:
        name = getattr(function, "__name__", "").strip("_")
        COMMANDS[name] = Command(name, usage, about, function)
        return function

    return decorate


async def run_command(talk: Talk, line: str) -> bool:
    """Run a line that begins with ``/``; False if it is something the person says ("/ hm")."""
    word = line[1:].split(" ", 1)[0]
    if not word.isalpha():
        return False
    found = COMMANDS.get(word)
    if found is None:
        hint = did_you_mean(word, COMMANDS)
        say(talk, [f"there is no /{word}; {hint or '/help shows them all'}"])
        return True
    try:
        words = shlex.split(line)[1:]
    except ValueError:
        words = line.split()[1:]
    await found.run(talk, words)
    return True


def say(talk: Talk, lines: Iterable[str]) -> None:
    for line in lines:
        talk.screen.notes(plain(line))


@command("", "show these commands")
async def _help(talk: Talk, words: list[str]) -> None:
    width = max(len(f"{c.name} {c.usage}") for c in COMMANDS.values())
    say(talk, (f"/{f'{c.name} {c.usage}'.ljust(width)}  {c.about}" for c in COMMANDS.values()))


@command("", "where the run is")
async def _state(talk: Talk, words: list[str]) -> None:
    say(talk, views.state(talk.session.graph, talk.snapshot))


@command("", "the fields that are set")
async def _data(talk: Talk, words: list[str]) -> None:
    say(talk, list(views.data(talk.snapshot)) or ["nothing is set yet"])


@command("", "the tasks of this state")
async def _tasks(talk: Talk, words: list[str]) -> None:
    say(talk, views.tasks(talk.session.graph, talk.snapshot))


@command("", "the states around this one")
async def _graph(talk: Talk, words: list[str]) -> None:
    say(talk, views.neighbourhood(talk.session.graph, talk.snapshot))


@command("", "the ways out in the order they are tried, with their value now")
async def _routes(talk: Talk, words: list[str]) -> None:
    say(talk, views.routes(talk.session.graph, talk.snapshot))


@command("", "the routes of the last choice, with the values they had")
async def _why(talk: Talk, words: list[str]) -> None:
    events = effective(talk.session.store.events(talk.session.run))
    say(talk, views.why(talk.session.graph, events))


@command("", "what a model would be told in this state")
async def _prompt(talk: Talk, words: list[str]) -> None:
    from statecli.kinds.prompt import system_prompt

    graph, snapshot = talk.session.graph, talk.snapshot
    text = system_prompt(graph, graph.states[snapshot.state])
    messages = len(snapshot.data.get("messages") or ())
    say(talk, [text or "(no prompt)", f"and {messages} messages"])


@command("", "the conversation so far")
async def _history(talk: Talk, words: list[str]) -> None:
    messages = talk.snapshot.data.get("messages") or ()
    say(talk, (f"{m.get('role')}: {m.get('content')}" for m in messages))


@command("STATE", "move the run into a state")
async def _goto(talk: Talk, words: list[str]) -> None:
    name = " ".join(words)
    states = talk.session.graph.states
    if name not in states:
        hint = did_you_mean(name, states)
        say(talk, [f"no state is named '{name}'; {hint or ', '.join(list(states)[:12])}"])
        return
    for event in talk.session.goto(name):
        talk.screen.show(event, talk.snapshot)
    say(talk, [f"now in '{name}'"])
    await talk.go(None)


@command("", "back to before your last line")
async def _undo(talk: Talk, words: list[str]) -> None:
    if talk.session.undo():
        say(talk, [f"back in '{talk.snapshot.state}'"])
    else:
        say(talk, ["there is nothing to take back"])


@command("[N]", "a new session after event N; this one stays as it is")
async def _fork(talk: Talk, words: list[str]) -> None:
    if words and not words[0].isdigit():
        say(talk, ["/fork [N]: N is the number of an event (/trace shows them)"])
        return
    try:
        forked = talk.session.fork(int(words[0]) if words else None)
    except ValueError as error:
        say(talk, [str(error)])
        return
    say(talk, [f"session {forked.run}; this one was {talk.session.run}"])
    talk.change_session(forked)


@command("KEY VALUE", "set a field by hand")
async def _set(talk: Talk, words: list[str]) -> None:
    if len(words) < 2:
        say(talk, ["/set KEY VALUE"])
        return
    value = parsed(talk.session.graph.fields.get(words[0]), " ".join(words[1:]))
    if isinstance(value, Unfit):
        say(talk, [value.reason])
        return
    talk.session.edit(words[0], value)
    say(talk, [f"{words[0]} is set"])


@command("", "stop before every step (again: no more)")
async def _step(talk: Talk, words: list[str]) -> None:
    talk.stops.stepping = not talk.stops.stepping
    say(talk, ["stopping before every step" if talk.stops.stepping else "running freely"])


@command("", "go on after a stop or a limit")
async def _continue(talk: Talk, words: list[str]) -> None:
    await talk.resume_step()


@command("[STATE]", "stop before this state (again: no more); without one, list them")
async def _break(talk: Talk, words: list[str]) -> None:
    name = " ".join(words)
    if name and name not in talk.session.graph.states:
        hint = did_you_mean(name, talk.session.graph.states)
        say(talk, [f"no state is named '{name}'" + (f"; {hint}" if hint else "")])
        return
    if name:
        talk.stops.before ^= {name}
    stops = ", ".join(sorted(talk.stops.before))
    say(talk, [f"stopping before: {stops}" if stops else "no breakpoints"])


@command("[N]", "the last N events (20)")
async def _trace(talk: Talk, words: list[str]) -> None:
    count = int(words[0]) if words and words[0].isdigit() else 20
    events = talk.session.store.events(talk.session.run)[-count:]
    say(talk, (row(event) for event in events))


@command("NAME", "another model: rules, human or script:FILE")
async def _model(talk: Talk, words: list[str]) -> None:
    if not words:
        say(talk, [talk.world.provider.label])
        return
    say(talk, [talk.change_model(words[0])])


@command("", "the tools that the graph declares")
async def _tools(talk: Talk, words: list[str]) -> None:
    tools = await talk.world.tools(None)
    say(talk, [f"{t.name}  {t.description}" for t in tools] or ["no tools are declared"])


@command("FILE", "write the conversation as a file that a script or a test can run")
async def _save(talk: Talk, words: list[str]) -> None:
    from statecli.text.conversation import write

    if not words or talk.recording is None:
        say(talk, ["/save FILE"])
        return
    stored = talk.session.store.get(talk.session.run)
    text = write(
        talk.recording.turns,
        graph=talk.session.path,
        digest=digest(stored.text) if stored is not None else "",
        about=f"session {talk.session.run}",
    )
    written(talk, words[0], text)


@command("FILE", "write every event as one JSON line")
async def _export(talk: Talk, words: list[str]) -> None:
    if not words:
        say(talk, ["/export FILE"])
        return
    events = talk.session.store.events(talk.session.run)
    written(talk, words[0], "".join(row(event) + "\n" for event in events))


@command("FILE", "run a conversation file against this graph")
async def _test(talk: Talk, words: list[str]) -> None:
    if not words:
        say(talk, ["/test FILE"])
        return
    say(talk, [await talk.rehearse(words[0])])


@command("", "leave; the session is kept")
async def _quit(talk: Talk, words: list[str]) -> None:
    talk.leaving = True


def written(talk: Talk, name: str, text: str) -> None:
    """Write a file the person named; one that is there is not overwritten."""
    path = Path(name)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        say(talk, [f"{name} is already there"])
    except OSError as error:
        say(talk, [f"{name}: {(error.strerror or str(error)).lower()}"])
    else:
        say(talk, [f"written to {name}"])
