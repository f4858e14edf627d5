"""Facts over a graph, the rules, and the linter that runs them. Called as a function it is
`linter.lint`."""

from statecli.model.room import callable_room

callable_room(__name__, "statecli.lint.linter:lint")
