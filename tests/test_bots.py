"""The bots that come with the arena play every ruleset and every variant, legally and without a fault of their own."""

from pathlib import Path
from typing import Any

import pytest
from kit_bots import bot_class, play_kit_bots

from arena.bots.samples import SAMPLES
from arena.stratego.rules.rulesets import ruleset_names, switch_names

BOTS = sorted((Path(__file__).parent.parent / "bots").glob("*.py"))
PLIES = 24
RICH = ("vintage/lightning", "jumbo-81320/infiltrator")
"""Rulesets with special pieces, to which every switch that fits is applied as well."""

VARIANTS = [
    *ruleset_names(),
    *(f"isf+{switch}" for switch in switch_names() if switch not in ("infiltration",)),
    *(f"{name}+mobile-bombs+mobile-flag+rescue+silent-defence+attackers-advantage" for name in RICH),
    "vintage/duel+rescue+exploding-bombs",
]
RICHEST = [variant for variant in VARIANTS if variant.startswith(RICH) and "+" in variant]


@pytest.mark.parametrize(
    ("variant", "red", "blue"),
    [
        *((variant, BOTS[at % len(BOTS)], BOTS[(at + 1) % len(BOTS)]) for at, variant in enumerate(VARIANTS)),
        *((variant, BOTS[at - 1], BOTS[at]) for variant in RICHEST for at in range(len(BOTS))),
    ],
    ids=lambda value: value.stem if isinstance(value, Path) else value,
)
def test_bots_play_legally_under_every_ruleset_and_each_bot_with_every_form_of_action(
    variant: str, red: Path, blue: Path
) -> None:
    referee = play_kit_bots(variant, bot_class(red), bot_class(blue), seed=len(variant), plies=PLIES)
    assert referee.verdict is not None
    assert not referee.verdict.reason.is_forfeit, referee.verdict


@pytest.mark.parametrize(("name", "known"), [("tactician", "seen"), ("strategist", "exposure")])
def test_a_search_leaves_the_position_as_it_was(name: str, known: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else what is searched first decides what is thought of what comes later."""
    searched = 0
    bot = bot_class(next(path for path in BOTS if path.stem == name))
    position_class = bot.move.__globals__["Position"]
    search = position_class.prospects

    def prospects(position: Any, *action: Any) -> Any:
        nonlocal searched
        before = [list(position.mine), list(position.kind)]
        own = [square for square, rank in enumerate(position.mine) if rank]
        seen = [getattr(position, known)[square] for square in own]
        value = search(position, *action)
        assert [position.mine, position.kind] == before
        assert [getattr(position, known)[square] for square in own] == seen
        searched += 1
        return value

    monkeypatch.setattr(position_class, "prospects", prospects)
    play_kit_bots("barrage", bot, bot, seed=3, plies=120)
    play_kit_bots("isf", bot, bot, seed=3, plies=120)
    assert searched > 20  # how many depends on the time that a busy machine leaves


def test_the_folder_has_the_sample_bots_and_nothing_else() -> None:
    """And the compiled one, which is built where it lies and so does not travel in the wheel."""
    folder = Path(__file__).parent.parent / "bots"
    assert {entry.name for entry in folder.iterdir() if entry.name != "__pycache__"} == {
        "veteran",
        *(f"{name}.py" for name in SAMPLES),
    }
