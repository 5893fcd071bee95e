"""The games of a league as specifications, and the other game of a pair.

To resume a league, to add a bot or a round, or to rename a bot is the same: play the ids that are missing.
"""

from collections.abc import Container, Mapping, Sequence
from contextlib import suppress
from itertools import product
from types import MappingProxyType

import msgspec

from arena.game.game_spec import GameSpec, Player
from arena.game.record import GameRecord
from arena.game.time_control import TimeControl
from arena.league.game_ids import (
    Named,
    common_of,
    common_of_equals,
    game_id,
    opening_of,
    pair_seed_of,
    seeds_of,
)
from arena.league.settings import Settings
from arena.league.store import DamagedError, Store
from arena.league.store.document import KEEP_BOTS


class Games:
    """Makes the games of a league. A game that an older version of a player (`former`) has played stays as it was."""

    def __init__(
        self,
        settings: Settings,
        stored: Container[str] = frozenset(),
        former: Mapping[str, Sequence[Player]] = MappingProxyType({}),
    ) -> None:
        self._settings = settings
        self._rules = settings.variant.kind.digest(settings.variant)
        self._own_times = dict(settings.bot_times)
        self._usual = common_of_equals(self._rules, settings.seed, settings.time)
        self._stored = stored
        self._former = former

    @property
    def are_in_pairs(self) -> bool:
        """Whether the return game has to follow its game at once, in the same processes."""
        return self._settings.keep_bots

    def versions(self, player: Player) -> tuple[Player, ...]:
        """Return a player after its older versions, the oldest first."""
        return (*self._former.get(player.digest, ()), player)

    def game(self, red: Player, blue: Player, number: int) -> GameSpec:
        """Return the game of these two in a round in which `red` has Red."""
        for one, other in product(self.versions(red), self.versions(blue)) if self._former else ():
            game = self._made(one, other, number)
            if game.id in self._stored:
                return game
        return self._made(red, blue, number)

    def _made(self, red: Player, blue: Player, number: int) -> GameSpec:
        settings, players = self._settings, (red, blue)
        times, common = (settings.time, settings.time), self._usual
        if self._own_times:
            times = self._time_of(red), self._time_of(blue)
            common = common_of(self._rules, settings.seed, players, times)
        opening = opening_of(common, players, number, settings.openings)
        pair_seed = pair_seed_of(common, players, number, opening)
        return GameSpec(
            id=game_id(pair_seed, players),
            variant=settings.variant.kind.settled(settings.variant, pair_seed),
            time=times[0],
            players=players,
            seeds=seeds_of(pair_seed, players),
            pair_seed=pair_seed,
            blue_time=times[1] if times[1] != times[0] else None,
            opening=opening,
            names_told=settings.names_told,
        )

    def _time_of(self, player: Player) -> TimeControl:
        return self._own_times.get(player.digest, self._settings.time)


def return_id(game: Named) -> str:
    return game_id(game.pair_seed, game.players[::-1])


def return_game(game: GameSpec) -> GameSpec:
    """Return the game with colours swapped, and the same seeds and times for each player."""
    return msgspec.structs.replace(
        game,
        id=return_id(game),
        players=game.players[::-1],
        seeds=game.seeds[::-1],
        time=game.nominal_times[1],
        blue_time=None if game.blue_time is None else game.time,
    )


def was_followed(record: GameRecord, store: Store) -> bool:
    """Return whether another game was to follow a stored one in the same processes (`--keep-bots`)."""
    if record.kept:
        return False
    with suppress(DamagedError):
        return store.settings().get(KEEP_BOTS) == "yes"
    return False
