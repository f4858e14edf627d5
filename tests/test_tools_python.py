"""Python functions as tools: their schemas, what they take and give back, how they fail."""

from __future__ import annotations

import asyncio
import enum
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired, Optional, TypedDict, Union

import jsonschema
import pytest
from toolservers import entry

from statecli.arkos import AuthRequiredError
from statecli.kinds.arguments import refusal
from statecli.model.ports import AuthRequired, ToolResult
from statecli.tools.hints import schema_of, signature_of
from statecli.tools.python import Functions
from statecli.tools.tool import Elicited, Unreachable


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Place:
    town: str
    zip: int = 0


class Item(TypedDict):
    name: str
    count: NotRequired[int]


@pytest.mark.parametrize(
    ("hint", "schema"),
    [
        (str, {"type": "string"}),
        (int, {"type": "integer"}),
        (float, {"type": "number"}),
        (bool, {"type": "boolean"}),
        (Any, {}),
        (list, {"type": "array", "items": {}}),
        (list[int], {"type": "array", "items": {"type": "integer"}}),
        (set[str], {"type": "array", "items": {"type": "string"}, "uniqueItems": True}),
        (tuple[int, ...], {"type": "array", "items": {"type": "integer"}}),
        (tuple[int, str], {"type": "array", "minItems": 2, "maxItems": 2,
                           "prefixItems": [{"type": "integer"}, {"type": "string"}]}),
        (dict, {"type": "object"}),
        (dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
        (Mapping[str, Any], {"type": "object"}),
        (str | None, {"type": ["string", "null"]}),
        (Optional[int],  # noqa: UP045 - as people write it
         {"type": ["integer", "null"]}),
        (Union[int, list[int]],  # noqa: UP007 - likewise
         {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "integer"}}]}),
        (Literal["a", 1], {"enum": ["a", 1]}),
        (Color, {"enum": ["red", "blue"]}),
        (Annotated[int, "How many"], {"type": "integer", "description": "How many"}),
        (Place, {"type": "object", "properties": {"town": {"type": "string"},
                 "zip": {"type": "integer"}}, "required": ["town"], "additionalProperties": False}),
        (Item, {"type": "object", "properties": {"name": {"type": "string"},
                "count": {"type": "integer"}}, "required": ["name"],
                "additionalProperties": False}),
    ],
)  # fmt: skip
def test_schemas_of_types(hint: Any, schema: dict[str, Any]) -> None:
    assert schema_of(hint) == schema
    jsonschema.Draft202012Validator.check_schema(schema)


def test_a_type_that_json_has_not() -> None:
    with pytest.raises(TypeError, match="there is no JSON for the type bytes"):
        schema_of(bytes)


def test_a_signature() -> None:
    def book(
        town: Annotated[str, "Where"], nights: int = 1, *, color: Color = Color.RED,
        user_id: str | None = None, **more: Any,
    ) -> None:  # fmt: skip
        """Book a room."""

    found = signature_of(book, "user_id")
    assert found.takes_user
    assert found.schema == {
        "type": "object",
        "properties": {
            "town": {"type": "string", "description": "Where"},
            "nights": {"type": "integer", "default": 1},
            "color": {"enum": ["red", "blue"]},
        },
        "required": ["town"],
    }
    assert found.values({"town": "Rome", "color": "blue"}) == {"town": "Rome", "color": Color.BLUE}


def test_a_parameter_that_only_its_place_names() -> None:
    def odd(a: int, /) -> None: ...

    with pytest.raises(TypeError, match="'a' can only be given by its place"):
        signature_of(odd, "user_id")


def test_values_come_as_their_types() -> None:
    def take(
        place: Place, items: list[Place], pair: tuple[int, Color], names: set[str],
        amount: float, either: Color | None, maybe: int | str,
    ) -> None: ...  # fmt: skip

    values = signature_of(take, "").values({
        "place": {"town": "Rome"}, "items": [{"town": "Bonn", "zip": 1}], "pair": [1, "red"],
        "names": ["a", "b"], "amount": 3, "either": None, "maybe": "x",
    })  # fmt: skip
    assert values == {
        "place": Place("Rome"), "items": [Place("Bonn", 1)], "pair": (1, Color.RED),
        "names": {"a", "b"}, "amount": 3.0, "either": None, "maybe": "x",
    }  # fmt: skip
    assert type(values["amount"]) is float


CODE = '''
import asyncio, time
from dataclasses import dataclass
from statecli.arkos import AuthRequiredError

LOADED = []
calls = 0

def add(a: int, b: int = 2) -> int:
    """Add two numbers."""
    return a + b

def greet(name: str, user_id: str | None = None) -> str:
    return f"hello {name}, from {user_id}"

async def later(x: str) -> dict:
    await asyncio.sleep(0)
    return {"x": x}

def count() -> int:
    global calls
    calls += 1
    return calls

def broken():
    raise KeyError("ink")

def hangs():
    time.sleep(60)

async def hangs_too():
    await asyncio.sleep(60)

def stops():
    raise SystemExit(3)

def locked():
    raise AuthRequiredError("Mail", "https://mail.example/connect")

def nothing():
    return None

def listed():
    return [1, "two"]

@dataclass
class Found:
    name: str

def found():
    return Found("Bo")

def circle():
    x = []
    x.append(x)
    return x

class Box:
    def open(self) -> str:
        return "open"

box = Box()
number = 5
'''


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[str]:
    (tmp_path / "shop_for_tests.py").write_text(CODE)
    (tmp_path / "torn_for_tests.py").write_text("import nothing_like_this")
    yield str(tmp_path)
    sys.modules.pop("shop_for_tests", None)
    sys.modules.pop("torn_for_tests", None)


async def nobody(asked: Elicited) -> Mapping[str, Any] | None:
    raise AssertionError(asked)


def call(name: str, folder: str, *given: dict[str, Any], timeout: float = 5) -> list[ToolResult]:
    async def run() -> list[ToolResult]:
        found = entry("t", {"python": f"shop_for_tests:{name}", "timeout": timeout})
        functions = Functions(found._replace(folder=folder))
        return [await functions.call("t", item, "ann", nobody) for item in given]

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("name", "given", "result"),
    [
        ("add", {"a": 1}, ToolResult(True, "3")),
        ("greet", {"name": "Bo"}, ToolResult(True, "hello Bo, from ann")),
        ("later", {"x": "y"}, ToolResult(True, '{"x": "y"}', {"x": "y"})),
        ("nothing", {}, ToolResult(True, "")),
        ("listed", {}, ToolResult(True, '[1, "two"]')),
        ("found", {}, ToolResult(True, '{"name": "Bo"}', {"name": "Bo"})),
        ("box.open", {}, ToolResult(True, "open")),
        ("broken", {}, ToolResult(False, "KeyError: 'ink'")),
        ("stops", {}, ToolResult(False, "RuntimeError: SystemExit(3)")),
        ("add", {"a": "x"}, None),
        ("circle", {}, None),
    ],
)
def test_calls(name: str, given: dict[str, Any], result: ToolResult | None, folder: str) -> None:
    (found,) = call(name, folder, given)
    if result is None:
        assert not found.ok
    else:
        assert found == result


def test_a_module_keeps_what_it_knows(folder: str) -> None:
    assert [r.text for r in call("count", folder, {}, {}, {})] == ["1", "2", "3"]


@pytest.mark.parametrize("name", ["hangs", "hangs_too"])
def test_one_that_does_not_come_back(name: str, folder: str) -> None:
    begun = time.monotonic()
    (found,) = call(name, folder, {}, timeout=0.3)
    assert found == ToolResult(False, "t did not answer within 0.3 s")
    assert time.monotonic() - begun < 20


def test_one_that_must_be_connected_first(folder: str) -> None:
    with pytest.raises(AuthRequired) as caught:
        call("locked", folder, {})
    assert isinstance(caught.value, AuthRequiredError)
    assert (caught.value.service, caught.value.url) == ("Mail", "https://mail.example/connect")


def listed(python: str, folder: str, **more: Any) -> Any:
    found = entry("calc", {"python": python, **more})
    return asyncio.run(Functions(found._replace(folder=folder)).list())


def test_what_it_lists(folder: str) -> None:
    (tool,) = listed("shop_for_tests:add", folder)
    assert (tool.name, tool.description, tool.server) == ("calc", "Add two numbers.", "calc")
    assert refusal(tool.schema, {"a": 1}) == ""
    assert refusal(tool.schema, {"b": 1}) == "missing: 'a'"
    assert refusal(tool.schema, {"a": 1, "c": 1}) == "there is no 'c'; there are: a, b"
    (told,) = listed("shop_for_tests:add", folder, description="Sums up")
    assert told.description == "Sums up"
    assert folder not in sys.path


@pytest.mark.parametrize(
    ("python", "reason"),
    [
        ("shop_for_tests", "write 'module:function'"),
        ("shop_for_tests:nobody", "there is no such function"),
        ("shop_for_tests:number", "there is no such function"),
        ("torn_for_tests:x", "does not load: ModuleNotFoundError: No module named"),
        ("no_such_module_at_all:x", "does not load: ModuleNotFoundError"),
        (":x", "write 'module:function'"),
    ],
)
def test_what_cannot_be_loaded(python: str, reason: str, folder: str) -> None:
    with pytest.raises(Unreachable, match="calc: ") as caught:
        listed(python, folder)
    assert reason in str(caught.value)
