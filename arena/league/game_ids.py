"""The games of a league: their specifications, with ids and seeds that are hashes of what each game is.

Names of bots, their order and the time of play do not count. So to resume a league, to add a bot or a round, or to
rename a bot is the same: play the ids that are missing. The hashed values and their spelling must never change.
"""

from collections.abc import Container, Mapping, Sequence
from itertools import product
from types import MappingProxyType

import msgspec

from arena.game.game_spec import GameSpec, Opening, Player
from arena.game.record import GameRecord
from arena.game.time_control import TimeControl
from arena.league.settings import Settings, hashed
from arena.league.store import Store
from arena.league.store.document import Setting

Players = tuple[Player, Player]
Times = tuple[TimeControl, TimeControl]
ROUNDS_BEYOND = 1000
ID_LENGTH = 16
"""Hexadecimal digits of a game's id: two of a million games share one with a chance of one in 37 million."""


def common_of(rules: str, seed: int, players: Players, times: Times) -> str:
    """Return a fingerprint of what all games of two players share: the digest of the rules, the seed and the clocks."""
    first, second = times
    if first == second:
        return hashed("settings", rules, _clock(first), seed)
    clocks = sorted((player.digest, repr(_clock(time))) for player, time in zip(players, times, strict=True))
    return hashed("settings with a handicap", rules, clocks, seed)


def _clock(time: TimeControl) -> tuple[int | None, ...]:
    return time.move_ms, time.bank_ms, time.increment_ms, time.start_ms, time.setup_ms, time.margin_ms


def pair_seed_of(common: str, players: Players, number: int, opening: Opening | None = None) -> int:
    """Return the seed of the pair of games of two players in a round; `common` is their digest of the settings."""
    who = sorted((player.digest,) for player in players)
    given = () if opening is None else (tuple(opening),)
    return int(hashed("pair by content", common, who, number, *given)[:12], 16)


def opening_of(common: str, players: Players, number: int, openings: Sequence[Opening]) -> Opening | None:
    """Return the opening of the pair of games of two players in a round; None without openings."""
    return openings[place_of_opening(common, players, number, len(openings))] if openings else None


def place_of_opening(common: str, players: Players, number: int, count: int) -> int:
    """Return the place of the opening of a pair in a file of `count` openings, from 0.

    The first one is random for two players; each further pair takes the next in the file, cyclically.
    """
    start = int(hashed("first opening", common, sorted(player.digest for player in players))[:12], 16)
    return (start + number) % count


def contents_of(players: Players) -> frozenset[str]:
    return frozenset(player.digest for player in players)


def rounds_tried(games: int) -> range:
    """Return the rounds that a game of two players with so many games can be of: a record does not say."""
    return range(2 * games + ROUNDS_BEYOND)


def seeds_of(pair_seed: int, players: Players) -> tuple[int, int]:
    red, blue = (int(hashed("bot by content", pair_seed, player.digest)[:8], 16) for player in players)
    return red, blue


def game_id(pair_seed: int, players: Players) -> str:
    red, blue = players
    return hashed("game by content", pair_seed, red.digest, blue.digest)[:ID_LENGTH]


def misfit(game: GameSpec | GameRecord) -> str | None:
    """Return why a game does not match its own id and seeds; None if it does."""
    red, blue = game.players
    if red.digest == blue.digest:
        return "both sides are the same player"
    expected = game_id(game.pair_seed, game.players)
    if game.id != expected:
        return f"its id does not follow from its players and its pair, which give {expected}"
    if game.seeds != seeds_of(game.pair_seed, game.players):
        return "its seeds do not follow from its players and its pair"
    return None


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
        times, common = self._times(players), self.common(players)
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

    def _times(self, players: Players) -> Times:
        first, second = (self._own_times.get(player.digest, self._settings.time) for player in players)
        return first, second

    def common(self, players: Players) -> str:
        return common_of(self._rules, self._settings.seed, players, self._times(players))


def return_game(game: GameSpec) -> GameSpec:
    """Return the game with colours swapped, and the same seeds and times for each player."""
    return msgspec.structs.replace(
        game,
        id=game_id(game.pair_seed, game.players[::-1]),
        players=game.players[::-1],
        seeds=game.seeds[::-1],
        time=game.nominal_times[1],
        blue_time=None if game.blue_time is None else game.time,
    )


def was_followed(record: GameRecord, store: Store) -> bool:
    """Return whether another game was to follow a stored one in the same processes (`--keep-bots`)."""
    return not record.kept and store.read_document()[0].games.get(Setting.KEEP_BOTS) == "yes"
