"""Games between bots that are made with the kit, without processes."""

import importlib.util
from dataclasses import replace
from pathlib import Path

from arena.game.game_spec import GameSpec, Player
from arena.game.referee import Referee
from arena.game.time_control import TimeControl
from arena.stratego.game import variant_of
from arena.stratego.rules.rulesets import load_ruleset
from protocol.bot import Bot, Conversation
from protocol.bot_codec import decode_for_bot, encode_from_bot


def bot_class(path: Path) -> type[Bot]:
    """Return the bot that a file defines."""
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


def play_kit_bots(variant: str, red: type[Bot], blue: type[Bot], seed: int, plies: int = 400) -> Referee:
    """Play a game of two bots, cut off after so many plies. What a bot raises is raised here."""
    ruleset = replace(load_ruleset(variant), max_plies=plies)
    referee = Referee(
        GameSpec(
            "0" * 16, variant_of(ruleset), TimeControl(), (Player("r", "1"), Player("b", "2")), (seed, seed + 1), 5
        )
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
