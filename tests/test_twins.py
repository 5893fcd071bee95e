"""`strategist` is the readable twin of `veteran`: both believe the same of pieces, and value them alike."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

BOTS = Path(__file__).parent.parent / "bots"
SOURCE = "".join((BOTS / "veteran" / name).read_text() for name in ("weights.h", "belief.c"))
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?=F?\b)")
SINGLE = {
    "SPY_WITHOUT_MARSHAL": "LATE_SPY",
    "EAGERNESS": "EAGER",
    "EAGER_BELOW": "EAGER_UP_TO",
    "MOVING_TARGET": "MOVING",
    "RECAPTURE": "AFTER_WIN",
} | {
    name: name
    for name in (
        *("CURIOSITY", "HIDING", "DECAY", "IN_THE_WAY", "FIRST_MOVE", "CAUTION", "EXPOSED", "RELIEF", "PATIENCE"),
        *("GUARD", "GUARD_DECAY", "TRUST", "UNANSWERED"),
        *("FLAG_BY_BOMB", "FLAG_BY_OTHER", "BOMB_BY_BOMB", "BOMB_BY_OTHER"),
    )
}


@pytest.fixture(scope="module")
def strategist() -> ModuleType:
    spec = importlib.util.spec_from_file_location("strategist_of_the_samples", BOTS / "strategist.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def numbers_of(name: str) -> list[float]:
    """The numbers that C gives to a constant, in order, whatever they are called within it."""
    found = re.search(rf"\b{name}(?:\[\w+\])* = (\{{.*?\}};|[^;,]+)", SOURCE, re.DOTALL)
    assert found, name
    return [float(number) for number in NUMBER.findall(found[1])]


@pytest.mark.parametrize("name", SINGLE)
def test_a_number_is_the_same_in_both(strategist: ModuleType, name: str) -> None:
    assert numbers_of(name) == [getattr(strategist, SINGLE[name])]


def test_what_ranks_are_worth_is_the_same(strategist: ModuleType) -> None:
    assert numbers_of("VALUE") == list(strategist.VALUE)
    assert numbers_of("LAST_MINERS") == list(strategist.LAST_MINERS)


def test_what_is_believed_of_a_set_up_is_the_same(strategist: ModuleType) -> None:
    assert numbers_of("PLACED") == [chance for rows in strategist.STOOD.values() for chance in rows]
    assert numbers_of("STARTS") == list(strategist.STARTS)[3:]
    assert numbers_of("FLAG_ROWS") == list(strategist.FLAG_ROWS)


def test_what_conduct_says_is_the_same(strategist: ModuleType) -> None:
    signs = (strategist.CAME_NEAR, strategist.LET_STAND, strategist.FLED)
    assert numbers_of("BEATS") == [beats for beats, _ in signs]
    assert numbers_of("LOSES") == [loses for _, loses in signs]
