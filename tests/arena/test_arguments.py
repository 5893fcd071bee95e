"""The arguments that a store keeps of its bots, as they are and as somebody may have written them."""

from pathlib import Path

import pytest

from arena.league.store import Store
from arena.league.store.arguments import arguments_in


def test_a_store_keeps_the_arguments_of_those_who_play_or_have_played(tmp_path: Path) -> None:
    with Store(tmp_path / "l.sqlite", create=True) as store:
        assert store.arguments() == {}
        store.set_arguments({"a": ("-x", "é"), "b": ()}, ())
        assert store.arguments() == {"a": ("-x", "é")}
        store.set_arguments({"c": ("1",)}, ("a",))
        assert store.arguments() == {"a": ("-x", "é"), "c": ("1",)}
        store.set_arguments({"d": ("x" * 100_000,)}, ("a",))
        assert store.arguments() == {"a": ("-x", "é"), "c": ("1",)}, "there is no room for more"
        store.set_arguments({}, ())
        assert store.arguments() == {}


@pytest.mark.parametrize("value", ["x", "3", "[]", '{"a":"b"}', '{"a":[1]}', "[" * 100_000])
def test_arguments_that_a_forged_store_has_in_another_form_are_none(value: str) -> None:
    assert arguments_in({"arguments": value}) == {}


def test_arguments_with_nul_are_none() -> None:
    assert arguments_in({"arguments": '{"a":["\\u0000"],"b":["x"]}'}) == {"b": ("x",)}
