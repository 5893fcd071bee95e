"""What a game's ids and seeds are made from: what the game is, and nothing else. Pure; all of it is hashed.

A game is two contents, a round and who has Red, under the league's settings. What the bots are called, in which order
they were named and when they play is no part of it.

How long each of the two may take is part of what it is: where both have the same time control, the game is that of any
league of that time; where one has a handicap, it is another game, and so under every other pair of clocks.

A game that begins with an opening of a file is another than one in which the bots choose their set-ups. Which one a
pair of games has follows from its two contents, the number of the pair and the seed (`opening_of`); the return game
has the same, so that each bot plays either side of it.

The trap: stored leagues go on by these ids. What is hashed here, and how it is spelled, never changes.
"""

import hashlib
from collections.abc import Sequence
from typing import Protocol

from arena.game.spec import Opening, Player
from arena.game.time_control import TimeControl
from arena.rules.ruleset import Starts

Players = tuple[Player, Player]
Times = tuple[TimeControl, TimeControl]
"""Those of two players, in their order."""
OPENINGS_DIGITS = 16
ROUNDS_BEYOND = 1000
"""So many rounds are looked at for a game beyond twice the games that its players have played."""
ID_LENGTH = 16
"""Hexadecimal digits of a game's id: two of a million games share one with a chance of one in 37 million."""


def common_of(rules: str, seed: int, players: Players, times: Times) -> str:
    """A fingerprint of what all games of two players in a league share: the rules, by digest, its seed, their clocks.

    Where both have the same clock, that is all that counts of the two; where not, each clock counts as its player's,
    whoever of them has Red.
    """
    first, second = times
    if first == second:
        return common_of_equals(rules, seed, first)
    clocks = sorted((player.digest, repr(_clock(time))) for player, time in zip(players, times, strict=True))
    return _hash("settings with a handicap", rules, clocks, seed)


def common_of_equals(rules: str, seed: int, time: TimeControl) -> str:
    """Return `common_of` for any two players who have this clock."""
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
    """Return the seed of the pair of games of two players in a round.

    `common` is their digest of the settings, `opening` the one that both games begin with, if there is one.
    """
    who = sorted((player.digest,) for player in players)
    given = () if opening is None else (tuple(opening),)
    return int(_hash("pair by content", common, who, number, *given)[:12], 16)


def opening_of(common: str, players: Players, number: int, openings: Sequence[Opening]) -> Opening | None:
    """Return the opening of the pair of games of two players in a round; None if there are no openings.

    Where in the file two players begin is random, by a hash of what they are and the seed; from there each further
    pair takes the next one, and the first follows the last. So where bots meet but once, as in a Swiss, the games of a
    league do not all begin alike.
    """
    return openings[place_of_opening(common, players, number, len(openings))] if openings else None


def place_of_opening(common: str, players: Players, number: int, count: int) -> int:
    """Return the place of that opening in a file of `count` openings, from 0."""
    start = int(_hash("first opening", common, sorted(player.digest for player in players))[:12], 16)
    return (start + number) % count


def openings_digest(openings: Sequence[Opening]) -> str:
    """A fingerprint of openings in their order."""
    return _hash("openings", *map(tuple, openings))[:OPENINGS_DIGITS]


def contents_of(players: Players) -> frozenset[str]:
    """Return the digests of two players, without names and colours."""
    return frozenset(player.digest for player in players)


def rounds_tried(games: int) -> range:
    """The rounds that a game of two players can be of, who have played so many: a record does not say which."""
    return range(2 * games + ROUNDS_BEYOND)


def starter(pair_seed: int) -> Starts:
    """Return the side that begins, where the rules leave it open."""
    return Starts.BLUE if pair_seed & 1 else Starts.RED


def seeds_of(pair_seed: int, players: Players) -> tuple[int, int]:
    """Return the numbers that the two bots are given."""
    red, blue = (int(_hash("bot by content", pair_seed, player.digest)[:8], 16) for player in players)
    return red, blue


def game_id(pair_seed: int, players: Players) -> str:
    """Return the id of the game in which the first of the players has Red."""
    red, blue = players
    return _hash("game by content", pair_seed, red.digest, blue.digest)[:ID_LENGTH]


def misfit(game: Named) -> str | None:
    """Return why a game is not what its own id and seeds say, in words; None if it is."""
    red, blue = game.players
    if red.digest == blue.digest:
        return "both sides are the same player"
    expected = game_id(game.pair_seed, game.players)
    if game.id != expected:
        return f"its id does not follow from its players and its pair, which give {expected}"
    if game.seeds != seeds_of(game.pair_seed, game.players):
        return "its seeds do not follow from its players and its pair"
    return None
