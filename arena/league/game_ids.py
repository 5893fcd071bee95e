"""Derive the ids and seeds of a game from what the game is, by hashes.

Names of bots, their order and the time of play do not count. Stored leagues resume by these ids: the hashed values and
their spelling must never change.
"""

import hashlib
from collections.abc import Sequence
from typing import Protocol

from arena.game.game_spec import Opening, Player
from arena.game.time_control import TimeControl

Players = tuple[Player, Player]
Times = tuple[TimeControl, TimeControl]
OPENINGS_DIGITS = 16
ROUNDS_BEYOND = 1000
ID_LENGTH = 16
"""Hexadecimal digits of a game's id: two of a million games share one with a chance of one in 37 million."""


def common_of(rules: str, seed: int, players: Players, times: Times) -> str:
    """Return a fingerprint of what all games of two players share: the digest of the rules, the seed and the clocks."""
    first, second = times
    if first == second:
        return common_of_equals(rules, seed, first)
    clocks = sorted((player.digest, repr(_clock(time))) for player, time in zip(players, times, strict=True))
    return _hash("settings with a handicap", rules, clocks, seed)


def common_of_equals(rules: str, seed: int, time: TimeControl) -> str:
    """Return the fingerprint of `common_of` for any two players with this clock."""
    return _hash("settings", rules, _clock(time), seed)


def _clock(time: TimeControl) -> tuple[int | None, ...]:
    return time.move_ms, time.bank_ms, time.increment_ms, time.start_ms, time.setup_ms, time.margin_ms


class Named(Protocol):
    """The identity of a game, in specifications, records and saved games alike."""

    @property
    def id(self) -> str: ...
    @property
    def players(self) -> Players: ...
    @property
    def seeds(self) -> tuple[int, int]: ...
    @property
    def pair_seed(self) -> int: ...


def _hash(*parts: object) -> str:
    return hashlib.sha256("\n".join(map(repr, parts)).encode()).hexdigest()


def pair_seed_of(common: str, players: Players, number: int, opening: Opening | None = None) -> int:
    """Return the seed of the pair of games of two players in a round; `common` is their digest of the settings."""
    who = sorted((player.digest,) for player in players)
    given = () if opening is None else (tuple(opening),)
    return int(_hash("pair by content", common, who, number, *given)[:12], 16)


def opening_of(common: str, players: Players, number: int, openings: Sequence[Opening]) -> Opening | None:
    """Return the opening of the pair of games of two players in a round; None without openings."""
    return openings[place_of_opening(common, players, number, len(openings))] if openings else None


def place_of_opening(common: str, players: Players, number: int, count: int) -> int:
    """Return the place of the opening of a pair in a file of `count` openings, from 0.

    The first one is random for two players; each further pair takes the next in the file, cyclically.
    """
    start = int(_hash("first opening", common, sorted(player.digest for player in players))[:12], 16)
    return (start + number) % count


def openings_digest(openings: Sequence[Opening]) -> str:
    return _hash("openings", *map(tuple, openings))[:OPENINGS_DIGITS]


def contents_of(players: Players) -> frozenset[str]:
    return frozenset(player.digest for player in players)


def rounds_tried(games: int) -> range:
    """Return the rounds that a game of two players with so many games can be of: a record does not say."""
    return range(2 * games + ROUNDS_BEYOND)


def seeds_of(pair_seed: int, players: Players) -> tuple[int, int]:
    red, blue = (int(_hash("bot by content", pair_seed, player.digest)[:8], 16) for player in players)
    return red, blue


def game_id(pair_seed: int, players: Players) -> str:
    """Return the id of the game in which the first of the players has Red."""
    red, blue = players
    return _hash("game by content", pair_seed, red.digest, blue.digest)[:ID_LENGTH]


def misfit(game: Named) -> str | None:
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
