"""A table that somebody wrote is a typed value, or one error that names the place, what was expected and what came."""

import enum
from typing import Annotated, Any, Literal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta

from arena.system.schema import Text, expected, structured
from arena.system.user_files import FileError


class Fruit(enum.Enum):
    APPLE = "apple"
    PEAR = "pear"


class Inner(msgspec.Struct, forbid_unknown_fields=True, rename={"two": "2"}):
    number: Annotated[int, Meta(ge=1, le=9)] | Literal["none"] | None = None
    two: Annotated[int, Meta(ge=0)] | None = None


class Outer(msgspec.Struct, forbid_unknown_fields=True):
    text: Text
    fruit: Fruit = Fruit.APPLE
    flag: bool | None = None
    count: int = 0
    names: Annotated[tuple[str, ...], Meta(extra=expected("a list of names"))] = ()
    plain: list[int] = []
    inner: Inner | None = None
    tables: dict[str, Annotated[Inner, Meta(extra=expected("a table of numbers"))]] = {}
    texts: dict[str, Text] | None = None


GOOD: dict[str, Any] = {"text": "a"}


def test_a_table_that_fits_is_a_value_with_defaults_for_what_it_leaves_out() -> None:
    table = {"text": "a", "fruit": "pear", "inner": {"number": "none", "2": 0}, "tables": {"x": {"number": 9}}}
    assert structured(table, Outer, "f") == Outer(
        text="a", fruit=Fruit.PEAR, inner=Inner(number="none", two=0), tables={"x": Inner(number=9)}
    )


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({}, "f: the key 'text' is missing; expected a string that is not empty"),
        ({"text": ""}, "f: text: expected a string that is not empty, got ''"),
        ({**GOOD, "txt": 1}, "f: unknown key 'txt'; did you mean text or texts?"),
        (
            {**GOOD, "zzz": 1},
            "f: unknown key 'zzz'; known are text, fruit, flag, count, names, plain, inner, tables, tex",
        ),
        ({**GOOD, "fruit": "Pear"}, """f: fruit: expected one of "apple", "pear", got 'Pear'"""),
        ({**GOOD, "flag": 1}, "f: flag: expected true or false, got 1"),
        ({**GOOD, "count": 3.0}, "f: count: expected a whole number, got 3.0"),
        ({**GOOD, "names": ["a", 1]}, "f: names: expected a list of names, got ['a', 1]"),
        ({**GOOD, "inner": 3}, "f: inner: expected a table, got 3"),
        ({**GOOD, "inner": {"number": 0}}, 'f: [inner]: number: expected a whole number from 1 to 9, or "none", got 0'),
        ({**GOOD, "tables": {"x": 1}}, "f: [tables]: x: expected a table of numbers, got 1"),
        ({**GOOD, "tables": {"x": {"nmber": 1}}}, "f: [tables]: [x]: unknown key 'nmber'; did you mean number?"),
        (
            {**GOOD, "texts": {"x": "ok", "y\x1b": ""}},
            r"f: [texts]: y\x1b: expected a string that is not empty, got ''",
        ),
        ([], "f: expected a table, got []"),
    ],
)
def test_what_does_not_fit_is_named_with_its_place_what_was_expected_and_what_came(table: Any, words: str) -> None:
    with pytest.raises(FileError) as caught:
        structured(table, Outer, "f")
    assert words in str(caught.value)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.dates(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["number", "2", "x"]) | st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from(Outer.__struct_fields__) | st.text(max_size=3), VALUES, max_size=4))
def test_any_table_is_a_value_or_one_error_that_can_be_printed(table: dict[str, Any]) -> None:
    said = "f: "
    try:
        value = structured(table, Outer, "f")
    except FileError as error:
        said = str(error)
    else:
        assert isinstance(value, Outer)
    assert said.startswith("f: ")
    assert said.isprintable()
