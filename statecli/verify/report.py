"""What a verification says: lists of what can and cannot happen, and the findings with witnesses.

Two environments (verify.md 1): FULL may do all that the engine accepts, proofs are about it; COOP
does what it is asked for, witnesses are of it. The lists, with the shape of their elements:

- ``unreachable`` (name): some path of routes leads to the state, but no FULL run enters it. Paths
  are those of written and implicit routes, `on_error` and `on_invalid`, from the roots.
- ``dead`` (name, number): the state is entered in FULL, and its transition `number` (as in
  `Transition.number`, written ones only) is never the first that holds. Not counted: a plan state's
  transitions to itself, and those to states that do not exist. Unguarded transitions of the first
  unguarded one's priority are alive once one of them is reached.
- ``fallthrough`` (name): a closed goal takes the implicit route behind its written ones, in FULL.
- ``stuck`` (name), ``rescued`` (name): in COOP. A non-goal plan state at rest with every task
  addressed and nothing holding, also at the end of a turn, with all counters as far as idle turns
  take them: rescued where the idle net moves on (plan form, `stuck_turns` not 0), else stuck. Other
  kinds: a body after which nothing holds is stuck. A `user` state is stuck where nothing holds
  whatever is written by its body.
- ``tie`` (name, i, j), i < j: two guarded written transitions of one priority with different
  targets hold in one COOP evaluation in which no transition of a lower priority number holds. In
  the `states` form only where the state writes a priority. Left out are transitions that are never
  tried (to itself, to nothing).
- ``unset`` (name, key): in COOP an atom other than exists/absent (or an `expr` that requires the
  field) on `key` is evaluated while the field is absent, in a state that neither offers nor writes
  it. Composites stop at the first child that decides, as in the kernel.
- ``never_set`` (name, key): such a pair of ``unset``, where no FULL run evaluates such an atom with
  the field set.
- ``doomed`` (name): a COOP run enters the state with values from which no FULL run ends (a terminal
  state, or the plan's end).
- ``loops`` (names, sorted): the components, with an edge inside, of the moves that COOP runs make
  from such entries.
- ``settle_loops`` (name, target): in FULL a pass of settle ends in `name` because `target` was
  visited in it already, or because it has made `max_hops` moves.

What the environments do at rest in a plan state: set an offered key to any value of its type; in a
loose state skip any task (COOP: one that is not required, or has no required deliverables), skip
the whole state (FULL only: all tasks at once, then one evaluation); in a strict state complete the
current task if it has no required deliverables; close a goal (COOP: required keys are present, or a
route that reads data would hold, and the person has said something in this visit: not in the turn
in which a call led into it); end the turn. A non-plan state's body writes its `writes`: any
subset in FULL, all in COOP; a `user` body writes only if it names exactly one field (not messages),
and always does in COOP. `on_error` and `on_invalid` are followed in FULL only.
Context fields: any value; absent too if not required and without default. `inputs`: any value.
A field with a default that no state writes: FULL any value of its type (what else would change it
is given from outside, `--input`), COOP its default.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from statecli.model.diagnostic import Visit, Witness

if TYPE_CHECKING:
    from statecli.verify.ways import Ways

#: Expansions (boxes taken up) that a graph may cost. Never seconds: the same findings everywhere.
DEFAULT_BUDGET = 400_000
LISTS = (
    "unreachable", "dead", "fallthrough", "stuck", "rescued", "tie", "unset", "never_set",
    "doomed", "loops", "settle_loops",
)  # fmt: skip


class Finding(NamedTuple):
    """One thing that was found. `transition` is the number of a transition, -1 where it is about
    none. `values` are for the message. `verdict`: proved, witnessed, possible."""

    rule: str
    state: str
    transition: int = -1
    verdict: str = "proved"
    witness: Witness | None = None
    values: Mapping[str, object] = {}


class Report(NamedTuple):
    """The whole of it. `undecided`: where something is not known, and why; empty if `exact`.
    `ways`: with which values runs take each route, where all is known of one branch."""

    exact: bool
    undecided: tuple[str, ...]
    expansions: int
    lists: Mapping[str, frozenset[Any]]
    findings: tuple[Finding, ...]
    concurrent: bool = False
    ways: Ways | None = None

    @property
    def decided_by_data(self) -> bool:
        """Whether it was decided from where runs end, and guards or data had a say in it. With
        several branches at once (`concurrent`) only edges say so."""
        return self.exact and self is not NOTHING_TO_DECIDE and not self.concurrent

    def of(self, rule: str) -> list[Finding]:
        """The findings of one rule."""
        return [finding for finding in self.findings if finding.rule == rule]


#: The report on a graph in which guards and data decide nothing: all that its edges say is true.
NOTHING_TO_DECIDE = Report(True, (), 0, {name: frozenset() for name in LISTS}, ())

__all__ = ["DEFAULT_BUDGET", "LISTS", "NOTHING_TO_DECIDE", "Finding", "Report", "Visit", "Witness"]
