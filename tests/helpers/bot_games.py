"""Games between bots that are processes."""

import secrets

import trio

from arena.bots.spec import BotSpec
from arena.game.game_spec import GameSpec, Player
from arena.game.record import GameRecord
from arena.game.time_control import TimeControl
from arena.play.game_options import USUAL, GameOptions
from arena.play.runner import play_game
from arena.stratego.game import variant_of
from arena.stratego.rules.rulesets import load_ruleset

PATIENT = TimeControl(move_ms=600_000, setup_ms=600_000, start_ms=600_000)
"""Limits that no game reaches, however busy the machine is."""
NEVER_ENDS = 120.0
"""Seconds after which a game counts as one that never ends."""


async def play(
    red: BotSpec,
    blue: BotSpec,
    time: TimeControl = PATIENT,
    ruleset: str = "barrage",
    seeds: tuple[int, int] = (11, 22),
    *,
    conditions: GameOptions = USUAL,
    blue_time: TimeControl | None = None,
) -> GameRecord:
    """Play one game; fail if it never ends."""
    game = GameSpec(
        id=secrets.token_hex(8),
        variant=variant_of(load_ruleset(ruleset)),
        time=time,
        players=(Player(red.name, red.digest), Player(blue.name, blue.digest)),
        seeds=seeds,
        pair_seed=33,
        blue_time=blue_time,
    )
    with trio.fail_after(NEVER_ENDS):
        return await play_game(game, red, blue, conditions)
