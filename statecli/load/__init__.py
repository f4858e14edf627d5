"""Documents to graphs. Called as a function it is `loader.load`."""

from statecli.model.room import callable_room

callable_room(__name__, "statecli.load.loader:load")
