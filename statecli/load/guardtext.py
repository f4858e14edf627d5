"""Conditions as people write them, to guards: plan conditions, `when` mappings, expressions.

What cannot be read becomes `Invalid` (it never holds) and an issue that a rule reports.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from statecli.model.data import is_list, is_map
from statecli.model.guard import (
    MAX_DEPTH,
    NUMERIC,
    SCOPES,
    AllOf,
    AnyOf,
    Atom,
    Bounds,
    Closed,
    Complete,
    Expr,
    Guard,
    Invalid,
    Turns,
    as_number,
)
from statecli.model.keys import (
    COMPOSITES,
    CONDITIONS,
    CONFIG_KEYS,
    OLD_CHILD_KEYS,
    OLD_CONFIG_KEYS,
    OLD_OPERATORS,
    OLD_TURNS_KEYS,
    OPERATOR_SLIPS,
    OPERATORS,
)
from statecli.model.nearest import nearest
from statecli.model.shape import BadCondition, Issue, OldSpelling, UnknownKey, WrongType
from statecli.model.span import Path

#: Suffixes of a `when` key (Burr), to the operator of an atom.
SUFFIXES = {
    "eq": "eq", "ne": "ne", "lt": "lt", "lte": "lte", "gt": "gt", "gte": "gte", "in": "in",
    "notin": "notin", "contains": "contains", "is": "is", "isnot": "isnot", "exists": "exists",
}  # fmt: skip
_NUMERIC_OF = {"eq": "eq#", "neq": "neq#"}
#: The keys of a numeric condition whose values are numbers, whatever its operator.
_NUMBERS = ("value", "min", "max")


#: The keys of each condition's config.
_KNOWN = {kind: frozenset(keys) for kind, keys in CONFIG_KEYS.items()}


_AS_NAMED: Mapping[str, str] = {}


class Settings:
    """A `condition_config`: its `values` under their new names, and where each stands."""

    __slots__ = ("path", "values", "written")

    def __init__(
        self, values: dict[str, object], path: Path, written: Mapping[str, str] = _AS_NAMED
    ) -> None:
        self.values = values
        self.path = path
        self.written = written

    def at(self, key: str) -> Path:
        return (*self.path, self.written.get(key, key))


class GuardReader:
    """Reads the guards of one state; `in_goal`: `all_tasks_complete` there means the goal."""

    def __init__(self, issues: list[Issue], *, in_goal: bool) -> None:
        self.issues = issues
        self.in_goal = in_goal

    def default(self, path: Path) -> Guard:
        """The condition of a plan transition that states none."""
        return Closed(path) if self.in_goal else Complete(path)

    def condition(
        self,
        kind: object,
        config: object,
        path: Path,
        depth: int = 1,
        type_key: str = "condition_type",
        config_key: str = "condition_config",
    ) -> Guard:
        """A plan condition. `path` is the mapping that holds `condition_type`."""
        if kind is None:
            return self.default(path)
        at = (*path, type_key)
        if kind == "all_tasks_complete" and config is None:
            return self.default(at)
        if not isinstance(kind, str):
            return self._wrong(at, "condition_type", "text", kind)
        known = _KNOWN.get(kind)
        if known is None:
            message = f"'{kind}' is not a condition type"
            return self._bad("unknown-condition-type", at, message, kind, CONDITIONS)
        if depth > MAX_DEPTH and kind in COMPOSITES:
            message = f"composites nest at most {MAX_DEPTH} deep"
            return self._bad("guard-syntax", at, message)
        config_path = (*path, config_key)
        if config is None:
            config = {}
        if not is_map(config):
            return self._wrong(config_path, config_key, "a mapping", config)
        if config.keys() <= known:
            settings = Settings(config, config_path)
        else:
            settings = self._renamed(kind, config, config_path)
            self._unknown(kind, settings)
        return self._configured(kind, settings, config_path, at, depth)

    def _unknown(self, kind: str, config: Settings) -> None:
        known = CONFIG_KEYS[kind]
        for key in config.values:
            if key not in known and not key.startswith("x-"):
                self.issues.append(UnknownKey(config.at(key), key, kind, known))

    def _configured(
        self, kind: str, config: Settings, at: Path, type_at: Path, depth: int
    ) -> Guard:
        if kind == "goal_achieved" and not self.in_goal:
            message = "'goal_achieved' never holds outside a goal state"
            return self._bad("goal-condition-outside-goal", type_at, message)
        if not _KNOWN[kind]:
            return self.default(type_at)
        reader: Callable[[str, Settings, Path, int], Guard]
        if kind.startswith("deliverable"):
            reader = self._deliverable
        elif kind == "turn_count_exceeded":
            reader = self._turns
        else:
            reader = self._composite
        return reader(kind, config, at, depth)

    def _renamed(self, kind: str, config: dict[str, object], path: Path) -> Settings:
        """The config with older keys under their new names."""
        older = OLD_TURNS_KEYS if kind == "turn_count_exceeded" else OLD_CONFIG_KEYS
        values: dict[str, object] = {}
        written: dict[str, str] = {}
        for key, value in config.items():
            new = older.get(key)
            if new is not None and new not in config:
                self.issues.append(OldSpelling((*path, key), key, new, True))
                written[new] = key
                values[new] = value
            else:
                values[key] = value
        return Settings(values, path, written)

    def _deliverable(self, kind: str, config: Settings, at: Path, depth: int) -> Guard:
        """One mistake does not hide another: what is there is read even if something is missing."""
        values = config.values
        wrong = self._missing(kind, CONFIG_KEYS[kind][:2], config, at)
        name = values.get("key", "")
        if not isinstance(name, str):
            wrong, name = (
                self._wrong(config.at("key"), "key", "the name of a deliverable", name),
                "",
            )
        guard: Guard = Atom(name, "exists", None, at)
        if kind == "deliverable_value":
            guard = Atom(name, "eq", values.get("value"), at)
        elif kind == "deliverable_value_in":
            listed = values.get("values", [])
            if not is_list(listed):
                return self._wrong(config.at("values"), "values", "a list", listed)
            guard = Atom(name, "in", tuple(listed), at)
        elif kind == "deliverable_value_numeric" and "operator" in values:
            guard = self._numeric(name, config, at)
        return wrong or guard

    def _numeric(self, name: str, config: Settings, at: Path) -> Guard:
        operator = self._operator(config, OPERATORS)
        wrong: Guard | None = Invalid("no such operator", at) if operator is None else None
        needed = ("min", "max") if operator == "between" else ("value",)
        if operator is not None:
            wrong = self._missing(f"the operator '{operator}'", needed, config, at)
        values = config.values
        for key in needed if operator is not None else _NUMBERS:
            if key in values and as_number(values[key]) is None:
                wrong = self._wrong(config.at(key), key, "a number", values[key])
        inclusive = values.get("inclusive", True) if operator in (None, "between") else True
        if not isinstance(inclusive, bool):
            wrong = self._wrong(config.at("inclusive"), "inclusive", "true or false", inclusive)
        if wrong is not None or operator is None:
            return wrong or Invalid("no such operator", at)
        if operator != "between":
            return Atom(name, _NUMERIC_OF.get(operator, operator), values["value"], at)
        low, high = as_number(values["min"]), as_number(values["max"])
        assert low is not None
        assert high is not None
        return Atom(name, "between", Bounds(low, high, bool(inclusive)), at)

    def _operator(self, config: Settings, choices: tuple[str, ...]) -> str | None:
        word = config.values["operator"]
        if isinstance(word, str) and word in choices:
            return word
        path = config.at("operator")
        if isinstance(word, str) and word in OLD_OPERATORS and OLD_OPERATORS[word] in choices:
            self.issues.append(OldSpelling(path, word, OLD_OPERATORS[word], False))
            return OLD_OPERATORS[word]
        if isinstance(word, str):
            self._bad("unknown-operator", path, f"'{word}' is not an operator", word, choices)
        else:
            self._wrong(path, "operator", "text", word)
        return None

    def _turns(self, kind: str, config: Settings, at: Path, depth: int) -> Guard:
        wrong = self._missing(kind, ("turns",), config, at)
        turns = config.values.get("turns", 0)
        number = as_number(turns)
        if number is None or isinstance(turns, str):
            wrong = self._wrong(config.at("turns"), "turns", "a number", turns)
        scope, scope_path = config.values.get("scope", "without_progress"), config.at("scope")
        if not isinstance(scope, str):
            wrong = self._wrong(scope_path, "scope", "text", scope)
        elif scope not in SCOPES:
            message = f"'{scope}' is not a scope of turns"
            wrong = self._bad("unknown-operator", scope_path, message, scope, SCOPES)
        if wrong is not None or number is None:
            return wrong or Invalid("turns is not a number", at)
        return Turns(int(number // 1), str(scope), at)

    def _composite(self, kind: str, config: Settings, at: Path, depth: int) -> Guard:
        wrong = self._missing(kind, CONFIG_KEYS[kind], config, at)
        both = kind == "all_of"
        if kind == "compound" and "operator" in config.values:
            word = self._operator(config, ("and", "or"))
            if word is None:
                wrong = Invalid("no such operator", at)
            both = word == "and"
        conditions, path = config.values.get("conditions", []), config.at("conditions")
        if not is_list(conditions):
            return self._wrong(path, "conditions", "a list", conditions)
        children = tuple(
            self._child(child, (*path, number), depth) for number, child in enumerate(conditions)
        )
        return wrong or (AllOf(children, at) if both else AnyOf(children, at))

    def _child(self, child: object, path: Path, depth: int) -> Guard:
        if not is_map(child):
            return self._wrong(path, "conditions", "a mapping", child)
        names = {new: new for new in OLD_CHILD_KEYS.values()}
        for old, new in OLD_CHILD_KEYS.items():
            if old in child and new not in child:
                self.issues.append(OldSpelling((*path, old), old, new, True))
                names[new] = old
        known = ("condition_type", "condition_config", "description")
        for key in child:
            if key not in known and key not in OLD_CHILD_KEYS and not key.startswith("x-"):
                self.issues.append(UnknownKey((*path, key), key, "condition", known))
        type_key, config_key = names["condition_type"], names["condition_config"]
        kind, config = child.get(type_key), child.get(config_key)
        if kind is None:
            message = "a condition needs 'condition_type'"
            needed = ("condition_type",)
            return self._bad("condition-config-missing", path, message, needed[0], needed)
        return self.condition(kind, config, path, depth + 1, type_key, config_key)

    def when(self, value: object, path: Path) -> Guard | None:
        """The guard of a `when`: a mapping (all hold), an expression, or a plan condition."""
        if value is None or value == "default":
            return None
        if isinstance(value, str):
            return self.expression(value, path)
        if not is_map(value):
            return self._wrong(path, "when", "a mapping or an expression", value)
        if "condition_type" in value:
            for key in value:
                if key not in ("condition_type", "condition_config", "description"):
                    known = ("condition_type", "condition_config", "description")
                    self.issues.append(UnknownKey((*path, key), key, "condition", known))
            return self.condition(value["condition_type"], value.get("condition_config"), path)
        if not value:
            return None
        atoms = tuple(self._when_atom(key, item, (*path, key)) for key, item in value.items())
        return atoms[0] if len(atoms) == 1 else AllOf(atoms, path)

    def _when_atom(self, key: str, value: object, path: Path) -> Guard:
        name, cut, suffix = key.rpartition("__")
        if not cut or not name or suffix not in SUFFIXES:
            if cut and name and (suffix in OPERATOR_SLIPS or nearest(suffix, SUFFIXES)):
                message = f"'{suffix}' is not an operator of 'when'"
                choices = tuple(SUFFIXES)
                return self._bad("unknown-operator", path, message, suffix, choices, part="key")
            name, suffix = key, "eq"
        op = SUFFIXES[suffix]
        if op == "exists":
            if not isinstance(value, bool):
                return self._wrong(path, key, "true or false", value)
            return Atom(name, "exists" if value else "absent", None, path)
        if op in ("in", "notin"):
            if not is_list(value):
                return self._wrong(path, key, "a list", value)
            return Atom(name, op, tuple(value), path)
        if op in NUMERIC and as_number(value) is None:
            return self._wrong(path, key, "a number", value)
        if is_map(value) and op in ("eq", "ne"):
            return self._wrong(path, key, "a value", value)
        return Atom(name, op, tuple(value) if is_list(value) else value, path)

    def expression(self, text: str, path: Path) -> Guard:
        """A guard in the expression language."""
        from statecli.model.expression import Problem, names, parse

        if not text.strip():
            return self._bad("guard-syntax", path, "an empty condition")
        tree = parse(text)
        if isinstance(tree, Problem):
            within = (tree.start, tree.end)
            return self._bad("guard-syntax", path, tree.message, within=within)
        found, required = names(tree)
        return Expr(text, tree, found, required, path)

    def _missing(
        self, what: str, needed: tuple[str, ...], config: Settings, at: Path
    ) -> Guard | None:
        values = config.values
        lacking = [key for key in needed if key not in values]
        if not lacking:
            return None
        listed = " and ".join(f"'{key}'" for key in lacking)
        message = f"{what} needs {listed}"
        choices = tuple(lacking)
        return self._bad("condition-config-missing", at, message, lacking[0], choices)

    def _bad(
        self,
        rule: str,
        path: Path,
        message: str,
        word: str = "",
        choices: tuple[str, ...] = (),
        within: tuple[int, int] | None = None,
        part: str = "value",
    ) -> Invalid:
        self.issues.append(BadCondition(rule, path, message, word, choices, within, part))
        return Invalid(message, path)

    def _wrong(self, path: Path, key: str | int, expected: str, value: object) -> Invalid:
        self.issues.append(WrongType(path, str(key), expected, value))
        return Invalid(f"{key} is not {expected}", path)
