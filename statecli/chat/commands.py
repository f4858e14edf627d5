"""The slash commands of a chat. A command is a function named as it is typed, with its help."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from statecli.chat import views
from statecli.kernel.values import Unfit, parsed
from statecli.model.data import shown
from statecli.model.nearest import did_you_mean
from statecli.model.unable import Unable
from statecli.session.open_step import effective
from statecli.store.rows import line as row
from statecli.text.whole_file import write_file

if TYPE_CHECKING:
    from statecli.chat.talk import Talk

#: The chat, and what was typed behind the name.
Run = Callable[["Talk", str], Awaitable[None]]


class Command(NamedTuple):
    """`usage` stands behind the name in the help, `about` says what it does. `anytime`: it may
    also run while a question waits in the middle of a step."""

    name: str
    usage: str
    about: str
    run: Run
    anytime: bool


COMMANDS: dict[str, Command] = {}


def command(usage: str, about: str, *, anytime: bool = False) -> Callable[[Run], Run]:
    """Register the function under its name, without the leading underscore."""

    def decorate(function: Run) -> Run:
        name = getattr(function, "__name__", "").strip("_")
        COMMANDS[name] = Command(name, usage, about, function, anytime)
        return function

    return decorate


async def run_command(talk: Talk, line: str, *, asked: bool = False) -> bool:
    """Run a line that begins with ``/``; False if it is something the person says ("/ hm").

    `asked`: a question waits, so only what changes nothing may run.
    """
    word = line[1:].split(" ", 1)[0].strip()
    if not word.isalpha():
        return False
    found = COMMANDS.get(word)
    if found is None:
        hint = did_you_mean(word, COMMANDS).replace("'", "'/", 1)
        say(talk, [f"there is no /{word}; {hint or '/help shows what there is'}"])
    elif asked and not found.anytime:
        say(talk, [f"/{word} has to wait: answer first, or stop this step with Ctrl-C"])
    else:
        await found.run(talk, line.partition(word)[2].strip())
    return True


def say(talk: Talk, lines: Iterable[str]) -> None:
    for line in lines:
        talk.screen.notes(line)


@command("", "show these commands", anytime=True)
async def _help(talk: Talk, rest: str) -> None:
    width = max(len(f"{c.name} {c.usage}") for c in COMMANDS.values())
    say(talk, (f"/{f'{c.name} {c.usage}'.ljust(width)}  {c.about}" for c in COMMANDS.values()))
    say(talk, ["Everything else is said; begin with a space to say something that starts with /."])


@command("", "where the run is", anytime=True)
async def _state(talk: Talk, rest: str) -> None:
    say(talk, views.state(talk.session.graph, talk.snapshot))


@command("", "the fields that are set", anytime=True)
async def _data(talk: Talk, rest: str) -> None:
    say(talk, list(views.data(talk.snapshot)) or ["nothing is set yet"])


@command("", "the tasks of this state", anytime=True)
async def _tasks(talk: Talk, rest: str) -> None:
    say(talk, views.tasks(talk.session.graph, talk.snapshot))


@command("", "the states around this one", anytime=True)
async def _graph(talk: Talk, rest: str) -> None:
    say(talk, views.neighbourhood(talk.session.graph, talk.snapshot))


@command("", "the ways out in the order they are tried, with their value now", anytime=True)
async def _routes(talk: Talk, rest: str) -> None:
    say(talk, views.routes(talk.session.graph, talk.snapshot))


@command("", "the routes of the last choice, with the values they had", anytime=True)
async def _why(talk: Talk, rest: str) -> None:
    events = effective(talk.session.store.events(talk.session.run))
    say(talk, views.why(talk.session.graph, events))


@command("", "what a model would be sent next", anytime=True)
async def _prompt(talk: Talk, rest: str) -> None:
    from statecli.engine.peek import next_request
    from statecli.llm.messages import sheet

    if talk.snapshot.state not in talk.session.graph.states:
        say(talk, [views.OVER])
        return
    request = await next_request(talk.session.graph, talk.snapshot, talk.world)
    if request is None:
        say(talk, ["nothing before your next line, or it depends on what you say"])
        return
    say(talk, views.sent(request, sheet(request)))


@command("", "the conversation so far", anytime=True)
async def _history(talk: Talk, rest: str) -> None:
    messages = talk.snapshot.data.get("messages") or ()
    lines = [f"{message.get('role')}: {message.get('content')}" for message in messages]
    say(talk, lines or ["nothing was said yet"])


@command("STATE", "move the run into a state")
async def _goto(talk: Talk, rest: str) -> None:
    if not _is_state(talk, rest):
        return
    talk.recording.gap = "the run was moved with /goto"
    talk.session.goto(rest)
    say(talk, [f"now in '{rest}'"])
    await talk.go(None, more=True)


@command("", "back to before your last line")
async def _undo(talk: Talk, rest: str) -> None:
    if not talk.session.undo():
        say(talk, ["there is nothing to take back"])
        return
    talk.recording.undo()
    talk.halted = ""
    say(talk, [f"back in '{talk.snapshot.state}'"])
    last = views.last_said(talk.snapshot)
    if last:
        talk.screen.write(last)


@command("[N]", "a new session after event N; this one stays as it is")
async def _fork(talk: Talk, rest: str) -> None:
    if rest and not rest.isdecimal():
        say(talk, ["/fork [N]: N is the number of an event; /trace shows them"])
        return
    try:
        forked = talk.session.fork(int(rest) if rest else None)
    except ValueError as error:
        say(talk, [str(error)])
        return
    before = talk.session.run
    talk.change_session(forked)
    if rest:
        talk.recording.gap = "the session was forked in the middle"
        forked.recover()
    say(talk, [f"now in session {forked.run}; {before} stays as it is"])


@command("KEY VALUE", "set a field by hand")
async def _set(talk: Talk, rest: str) -> None:
    graph = talk.session.graph
    key, _, text = rest.partition(" ")
    if not text.strip():
        say(talk, ["/set KEY VALUE"])
    elif key == "messages":
        say(talk, ["the conversation cannot be set; /undo takes lines back"])
    elif key not in graph.fields and (graph.declares_fields or graph.is_plan):
        hint = did_you_mean(key, graph.fields) or f"there are: {', '.join(graph.fields) or 'none'}"
        say(talk, [f"the graph has no field '{key}'; {hint}"])
    else:
        value = parsed(graph.fields.get(key), text)
        if isinstance(value, Unfit):
            say(talk, [value.reason])
            return
        talk.recording.gap = "a field was set with /set"
        talk.session.edit(key, value)
        say(talk, [f"{key} is {shown(value, 200)}"])


@command("", "stop before every step (again: no more)")
async def _step(talk: Talk, rest: str) -> None:
    talk.stops.stepping = not talk.stops.stepping
    on = "stopping before every step; /continue takes one"
    say(talk, [on if talk.stops.stepping else "running freely again"])


@command("", "go on after a stop, a limit or a failure")
async def _continue(talk: Talk, rest: str) -> None:
    if talk.ended:
        say(talk, ["the run has ended; /undo goes back"])
        return
    if talk.snapshot.status == "waiting" and not talk.halted:
        say(talk, ["nothing is stopped; it is your turn"])
        return
    await talk.resume_step()


@command("[STATE]", "stop before a state (again: no more); without one, list the stops")
async def _break(talk: Talk, rest: str) -> None:
    if rest:
        if not _is_state(talk, rest):
            return
        talk.stops.before ^= {rest}
    stops = [f"before {state}" for state in sorted(talk.stops.before)]
    stops += [f"after {state}" for state in sorted(talk.stops.after)]
    say(talk, [f"stopping {', '.join(stops)}" if stops else "no breakpoints"])


@command("[N]", "the last N events (20)", anytime=True)
async def _trace(talk: Talk, rest: str) -> None:
    count = int(rest) if rest.isdecimal() else 20
    events = talk.session.store.events(talk.session.run)
    say(talk, (views.event(item) for item in events[max(len(events) - count, 0) :]))


@command("[NAME]", "which model plays, or another one: rules, human")
async def _model(talk: Talk, rest: str) -> None:
    if not rest:
        say(talk, [f"{talk.recording.inner.label} plays the model"])
        return
    say(talk, [talk.change_model(rest)])


@command("[NAME]", "the tools and how they stand; with a name, what they take", anytime=True)
async def _tools(talk: Talk, rest: str) -> None:
    box = talk.world.toolbox
    if box is None:
        tools = await talk.world.tools(None)
        about = "not connected: you play it"
        lines = [f"{t.name}  {t.description or '(no description)'}  ({about})" for t in tools]
        say(talk, lines or ["no tools are declared"])
        return
    if rest and rest not in box.declared:
        listed = ", ".join(box.declared) or "none"
        say(talk, [f"no tool is named '{rest}'; {did_you_mean(rest, box.declared) or listed}"])
        return
    say(talk, list(box.about(rest)) or ["no tools are declared"])


@command("FILE", "write the conversation as a file that a script or a test can play")
async def _save(talk: Talk, rest: str) -> None:
    from statecli.chat.record import conversation

    name = _file(rest)
    if not name:
        say(talk, ["/save FILE"])
        return
    if talk.recording.gap:
        reason = f"this conversation cannot be played from a file: {talk.recording.gap}"
        say(talk, [f"{reason}; /export writes every event"])
        return
    written(talk, name, conversation(talk, name))


@command("FILE", "write every event as one JSON line")
async def _export(talk: Talk, rest: str) -> None:
    name = _file(rest)
    if not name:
        say(talk, ["/export FILE"])
        return
    events = talk.session.store.events(talk.session.run)
    written(talk, name, "".join(row(event) + "\n" for event in events))


@command("FILE", "play a conversation file against this graph, in a session of its own")
async def _test(talk: Talk, rest: str) -> None:
    from statecli.chat.rehearsal import rehearse

    name = _file(rest)
    if not name:
        say(talk, ["/test FILE"])
        return
    say(talk, await rehearse(talk, name))


@command("", "leave; the session is kept", anytime=True)
async def _quit(talk: Talk, rest: str) -> None:
    talk.leaving = True


def _file(rest: str) -> str:
    """The name of a file, with or without quotes around it."""
    if len(rest) > 1 and rest[0] == rest[-1] and rest[0] in "'\"":
        return rest[1:-1]
    return rest


def _is_state(talk: Talk, name: str) -> bool:
    """Whether a state has this name; if not, the person is told which have."""
    states = talk.session.graph.states
    if name in states:
        return True
    listed = ", ".join(list(states)[:12]) + (", ..." if len(states) > 12 else "")
    hint = did_you_mean(name, states) or f"there are: {listed}"
    say(talk, [f"no state is named '{name}'; {hint}" if name else f"which state? {listed}"])
    return False


def written(talk: Talk, name: str, text: str) -> None:
    """Write a file the person named; one that is there is not overwritten."""
    try:
        if os.path.lexists(name):
            say(talk, [f"{name} is already there; it is not overwritten"])
            return
        write_file(name, text.encode("utf-8", "replace"))
    except (Unable, ValueError) as error:  # ValueError: a NUL in the name
        say(talk, [str(error) if isinstance(error, Unable) else f"{name}: {error}"])
    else:
        say(talk, [f"written to {name}"])
