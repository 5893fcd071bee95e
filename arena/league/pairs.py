"""The two games of a pair, colours swapped: the other one of a game that is stored."""

from contextlib import suppress

import msgspec

from arena.game.record import GameRecord
from arena.game.spec import GameSpec
from arena.league.game_ids import Named, game_id
from arena.league.store import KEEP_BOTS, DamagedError, Store


def return_id(game: Named) -> str:
    """The id of the game in which the same two meet with colours swapped."""
    return game_id(game.pair_seed, game.players[::-1])


def return_game(game: GameSpec) -> GameSpec:
    """That game: whoever has Red here has Blue in it, with the same seed and the same time."""
    return msgspec.structs.replace(
        game,
        id=return_id(game),
        players=game.players[::-1],
        seeds=game.seeds[::-1],
        time=game.nominal_times[1],
        blue_time=None if game.blue_time is None else game.time,
    )


def was_followed(record: GameRecord, store: Store) -> bool:
    """Whether another game was to follow a stored one in the same processes (`--keep-bots`)."""
    if record.kept:
        return False
    with suppress(DamagedError):
        return store.settings().get(KEEP_BOTS) == "yes"
    return False
