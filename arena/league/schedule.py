"""Which games a league consists of.

A league is a set of game ids. Everything about a game (its id, who has Red, the seeds) follows from the league's
settings, the two players' names and digests and the number of the round, and from nothing else: not from the order of
the paths, not from the clock. To resume a league, to add a bot or to add a round is therefore the same thing: play the
ids that are missing.

In each round every pair meets twice, with colours swapped and the same seeds: what luck there is in a bot's random
numbers is the same for it on either side. Each bot gets a seed of its own, which tells it nothing of the other's.

The games are listed in the order in which they are to be played, so that at any time all bots have played about equally
often: each round is played in match days, on which every bot plays once, and the return games follow in the same order.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Protocol

import msgspec

from arena.bots.limits import Limits
from arena.game.spec import GameSpec, Player
from arena.game.time_control import TimeControl
from arena.rules.ruleset import Ruleset, Starts

ID_LENGTH = 16
"""Hexadecimal digits of a game's id: two of a million games share one with a chance of one in 37 million."""


class Settings(msgspec.Struct, frozen=True):
    """What all games of a league share."""

    ruleset: Ruleset
    time: TimeControl
    seed: int = 1
    limits: Limits = Limits()
    bot_limits: tuple[tuple[str, Limits], ...] = ()
    """The limits of bots that have their own, by name."""
    pondering: bool = True

    def described(self, bots: Sequence[str] = ()) -> dict[str, str]:
        """The settings in words, by name, with these bots' limits; leagues that agree in all may share a store."""
        own = dict(self.bot_limits)
        time = self.time
        return {
            "ruleset": self.ruleset.name,
            "rules": "; ".join(f"{name} {value}" for name, value in self.ruleset.lasting_lines()),
            "time": time.text,
            "other times": f"start {time.start_ms}ms, set-up {time.setup_ms}ms, margin {time.margin_ms}ms",
            "seed": str(self.seed),
            "pondering": "yes" if self.pondering else "no",
            **{f"limits of {name}": own.get(name, self.limits).text for name in bots},
        }

    def digest(self) -> str:
        """A fingerprint of the settings that games are named by. What a bot may use is not among them."""
        time = self.time
        clock = (time.move_ms, time.bank_ms, time.increment_ms, time.start_ms, time.setup_ms, time.margin_ms)
        return _hash("settings", self.ruleset.digest(), clock, self.seed)


class Named(Protocol):
    """What a game's identity is made of, in specifications, records and saved games alike."""

    @property
    def id(self) -> str: ...
    @property
    def players(self) -> tuple[Player, Player]: ...
    @property
    def seeds(self) -> tuple[int, int]: ...
    @property
    def pair_seed(self) -> int: ...


def _hash(*parts: object) -> str:
    return hashlib.sha256("\n".join(repr(part) for part in parts).encode()).hexdigest()


def schedule(settings: Settings, players: Sequence[Player], rounds: int) -> list[GameSpec]:
    """All games of a league, in the order of play.

    At any time the numbers of games that two players have played differ by one at most, or by two where the number of
    players is odd.
    """
    common = settings.digest()
    games = []
    for number in range(rounds):
        pairs = [_pair(settings, common, first, second, number) for first, second in _match_days(players)]
        games += [game for game, _ in pairs] + [return_game for _, return_game in pairs]
    return games


def _match_days(players: Sequence[Player]) -> Iterator[tuple[Player, Player]]:
    """Every pair once, match day by match day, with Red first (the circle method).

    One player stays, the others move on by one seat each day, and those who sit opposite each other meet. With an odd
    number of players nobody stays. Colours change with the seats, so that all have either about as often.
    """
    stays, *circle = [*[None] * (len(players) % 2), *players] or [None]
    for day in range(len(circle)):
        seats = [stays, *circle]
        for place in range(len(seats) // 2):
            one, other = seats[place], seats[-1 - place]
            if one is not None and other is not None:
                yield (other, one) if (place or day) % 2 else (one, other)
        circle = [circle[-1], *circle[:-1]]


def _pair(settings: Settings, common: str, first: Player, second: Player, number: int) -> tuple[GameSpec, GameSpec]:
    """The two games of a pair in a round: with the first as Red, and with colours swapped."""
    pair_seed = pair_seed_of(common, (first, second), number)
    ruleset = settings.ruleset
    if ruleset.starts is Starts.CHOSEN:  # the lot, alike for both games: each bot begins one of them
        ruleset = replace(ruleset, starts=starter(pair_seed))

    def game(*players: Player) -> GameSpec:
        red, blue = players
        return GameSpec(
            id=game_id(pair_seed, (red, blue)),
            ruleset=ruleset,
            time=settings.time,
            players=(red, blue),
            seeds=seeds_of(pair_seed, (red, blue)),
            pair_seed=pair_seed,
        )

    return game(first, second), game(second, first)


def pair_seed_of(common: str, players: tuple[Player, Player], number: int) -> int:
    """What names the pair of games of two players in a round; `common` is the digest of the settings."""
    who = sorted((player.name, player.digest) for player in players)
    return int(_hash("pair", common, who, number)[:12], 16)


def starter(pair_seed: int) -> Starts:
    """Who begins, where the rules have the players choose."""
    return Starts.BLUE if pair_seed & 1 else Starts.RED


def seeds_of(pair_seed: int, players: tuple[Player, Player]) -> tuple[int, int]:
    """The numbers that the two bots are given."""
    red, blue = (int(_hash("bot", pair_seed, player.name, player.digest)[:8], 16) for player in players)
    return red, blue


def game_id(pair_seed: int, players: tuple[Player, Player]) -> str:
    """The id of the game in which the first of the players has Red."""
    red, blue = players
    return _hash("game", pair_seed, red.name, red.digest, blue.name, blue.digest)[:ID_LENGTH]


def misfit(game: Named) -> str | None:
    """Why a game is not what its own id and seeds say, in words; None if it is."""
    if game.players[0] == game.players[1]:
        return "both sides are the same player"
    expected = game_id(game.pair_seed, game.players)
    if game.id != expected:
        return f"its id does not follow from its players and its pair, which give {expected}"
    if game.seeds != seeds_of(game.pair_seed, game.players):
        return "its seeds do not follow from its players and its pair"
    return None
