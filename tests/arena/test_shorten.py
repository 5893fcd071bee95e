"""Names that are too long for a table are shortened so that no two bots look alike."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from arena.report.terminal import LEAST, short_names

NAMES = st.lists(st.text(alphabet="ab漢…1@", min_size=1, max_size=20), max_size=12)


@given(NAMES, st.integers(LEAST, 15))
def test_no_two_names_are_alike_and_none_is_too_long(names: list[str], width: int) -> None:
    short = short_names(names, width)
    assert short.keys() == set(names)
    assert len(set(short.values())) == len(short)
    assert all(cell_len(text) <= width for text in short.values())


@given(NAMES, st.integers(LEAST, 15))
def test_a_name_that_has_room_stays_as_it_is(names: list[str], width: int) -> None:
    short = short_names(names, width)
    assert all(short[name] == name for name in names if cell_len(name) <= width)


@pytest.mark.parametrize(
    ("names", "short"),
    [
        (["an-engine-of-mine", "other"], ["an-engine-…", "other"]),
        (["an-engine-of-mine", "an-engine-of-hers"], ["an-eng…mine", "an-eng…hers"]),
        (["hunter-of-flags@3f9a12", "hunter-of-flags@771c00"], ["hunter…9a12", "hunter…1c00"]),
        (["the-same-bot-a-to-the-end", "the-same-bot-b-to-the-end"], ["th…a-to-the", "th…b-to-the"]),
    ],
)
def test_what_is_left_is_what_tells_names_apart(names: list[str], short: list[str]) -> None:
    assert list(short_names(names, 11).values()) == short


def test_what_nothing_else_tells_apart_is_numbered() -> None:
    head, end = "z" * 5, "w" * 20
    names = ["y" * 30, f"{head}k{end}", f"{head}n{end}", f"{head}mvvvvk{end}", f"{head}mvvvvl{end}"]
    assert list(short_names(names, 6).values()) == ["yyyyy…", "zzzz…1", "zz…nww", "zzzz…2", "zz…lww"]
