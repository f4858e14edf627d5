"""A state names a tool or a tool server that is not declared.

Why: the call cannot be made; the conversation fails when it gets there.

Bad:
    tools:
      search: {python: "shop.tools:search"}
    initial: look_up
    states:
      look_up:
        type: tool
        tool: serach
        transition: {next: [done]}
      done:
        type: terminal

Good:
    tools:
      search: {python: "shop.tools:search"}
      files: {command: [mcp-server-files, --root, .]}
    initial: look_up
    states:
      look_up:
        type: tool
        tool: search
        transition: {next: [read]}
      read:
        type: tool
        tool: files.read_file
        transition: {next: [done]}
      done:
        type: terminal

Fix: declare the tool under `tools`, or write its name as it stands there. What a server offers is
not known before it runs, so of `server.tool` only the part before the dot is checked. Where no
tools are declared, nothing is checked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from statecli.lint.facts import Facts
from statecli.model.data import is_list, is_map
from statecli.model.diagnostic import Edit, Finding, Fix
from statecli.model.graph import State
from statecli.model.nearest import nearest
from statecli.model.span import Path, Place
from statecli.model.wording import listed

FAMILY = "model"
SEVERITY = "error"
FIX = "unsafe"
#: Kinds that have the key `tools`, or `tool` and `tools`.
_KINDS = frozenset({"agent", "decision", "planner", "executor", "verifier", "tool"})


def check(facts: Facts) -> Iterator[Finding]:
    """Names in `tool` and `tools` that neither the graph nor the config declares."""
    if facts.graph is None or "tools" not in facts.graph.settings:
        declared: Mapping[str, object] = {}
    else:
        tools = facts.graph.settings["tools"]
        if not is_map(tools):
            return
        declared = tools
    known = dict.fromkeys((*declared, *facts.config.tools))
    if not known:
        return
    servers = any(map(_is_server, (*declared.values(), *facts.config.tools.values())))
    for state in facts.states:
        if state.kind in _KINDS:
            for name, path in _names(state):
                finding = _finding(name, path, known, servers=servers)
                if finding is not None:
                    message, at, guess = finding
                    yield Finding(
                        message=message,
                        at=at,
                        states=(state.name,),
                        hint=f"did you mean '{guess}'?" if guess else "declare it under 'tools'",
                        fix=Fix(f"write '{guess}'", (Edit(at, guess, "text"),)) if guess else None,
                    )


def _is_server(entry: object) -> bool:
    """What is neither a Python function nor readable may be one."""
    return not is_map(entry) or "python" not in entry


def _names(state: State) -> Iterator[tuple[str, Path]]:
    """The tools a state names; `tool` is the fixed one of a tool state."""
    tool = state.settings.get("tool")
    if isinstance(tool, str) and state.kind == "tool":
        yield tool, (*state.path, "tool")
    subset = state.settings.get("tools")
    for index, name in enumerate(subset if is_list(subset) else ()):
        if isinstance(name, str):
            yield name, (*state.path, "tools", index)


def _finding(
    name: str, path: Path, known: Mapping[str, object], *, servers: bool
) -> tuple[str, Place, str | None] | None:
    """Message, place and near match for a name that is not declared.

    While a server is declared, a name without a dot may be one of its tools. In `tools`, where
    servers are listed, a near match of a declared name is still a typing error.
    """
    server, dot, _ = name.partition(".")
    if name in known or server in known:
        return None
    guess = nearest(server, known)
    if servers and not dot and (path[-1] == "tool" or guess is None):
        return None
    place = Place(path, within=(0, len(server))) if dot else Place(path)
    what = "tool server" if dot else "tool"
    return f"no {what} is named '{server}'; declared: {listed(list(known))}", place, guess
