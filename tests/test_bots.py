"""The bots that come with the arena play every ruleset and every variant, legally and without a fault of their own."""

import importlib.util
import random
from dataclasses import replace
from pathlib import Path

import pytest

from arena.model import GameSpec, Player, TimeControl
from arena.referee import Referee
from arena.rules.loading import load_ruleset, ruleset_names, switch_names
from protocol.bot import Bot, Conversation
from protocol.codec import decode_for_bot, encode_from_bot
from protocol.notation import Color

BOTS = sorted((Path(__file__).parent.parent / "bots").glob("*.py"))
PLIES = 60
RICH = ("vintage/lightning", "jumbo-81320/infiltrator")
"""Rulesets with special pieces, to which every switch that fits is applied as well."""

VARIANTS = [
    *ruleset_names(),
    *(f"isf+{switch}" for switch in switch_names() if switch not in ("infiltration",)),
    *(f"{name}+mobile-bombs+mobile-flag+rescue+silent-defence+attackers-advantage" for name in RICH),
    "vintage/duel+rescue+exploding-bombs",
]


def bot_class(path: Path) -> type[Bot]:
    """The bot that a file defines."""
    found = importlib.util.spec_from_file_location(f"sample_{path.stem}", path)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    (made,) = [
        thing
        for thing in vars(module).values()
        if isinstance(thing, type) and issubclass(thing, Bot) and thing.__module__ == module.__name__
    ]
    return made


def play(variant: str, red: type[Bot], blue: type[Bot], seed: int) -> Referee:
    """A whole game between two bots without processes; anything that a bot raises comes out of here."""
    ruleset = replace(load_ruleset(variant), max_plies=PLIES)
    referee = Referee(
        GameSpec("0" * 16, ruleset, TimeControl(), (Player("r", "1"), Player("b", "2")), (seed, seed + 1), 5)
    )
    conversations = (Conversation(red), Conversation(blue))
    while referee.verdict is None:
        for color in referee.due():
            lines = referee.take(color).splitlines(keepends=True)
            referee.sent(color, 0.0)
            for line in lines:
                message = decode_for_bot(line)
                assert message is not None
                for answer in conversations[color].receive(message):
                    referee.receive(color, encode_from_bot(answer), 0.0)
    return referee


@pytest.mark.parametrize("path", BOTS, ids=lambda path: path.stem)
@pytest.mark.parametrize("variant", VARIANTS)
def test_a_bot_plays_legally_under_every_ruleset(path: Path, variant: str) -> None:
    seed = random.Random(variant).randrange(2**32 - 1)
    drifter = bot_class(next(path for path in BOTS if path.stem == "drifter"))
    tested = bot_class(path)
    for color, sides in ((Color.RED, (tested, drifter)), (Color.BLUE, (drifter, tested))):
        referee = play(variant, *sides, seed=seed)
        assert referee.verdict is not None
        assert not referee.verdict.reason.is_forfeit, (color, referee.verdict)


def test_there_are_five_bots_and_nothing_else_in_their_folder() -> None:
    folder = Path(__file__).parent.parent / "bots"
    assert len(BOTS) == 5
    assert {entry.name for entry in folder.iterdir() if entry.name != "__pycache__"} == {path.name for path in BOTS}
