"""The source of a league's games, `Pairing`, places by a format's own rules, and what formats have in common.

A *pair* is two games of two players, with colours swapped and the same seeds.
"""

import enum
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar, runtime_checkable

import msgspec

from arena.game.faults import GameResult
from arena.game.game_spec import GameSpec, Player
from arena.league.game_ids import Games
from arena.league.store import Disqualified, GameRow
from protocol.seats import Color

Bot = TypeVar("Bot")


class Pairing(Protocol):
    """Gives out the games of a league in batches, in the order of play; they follow from players and results."""

    @property
    def planned(self) -> int | None:
        """The number of games; None where that depends on results."""

    @property
    def at_most(self) -> int | None:
        """The upper bound of the number of games, if known."""
        return self.planned

    def next(self, results: Sequence[GameRow]) -> Sequence[GameSpec] | None:
        """Return more games, each only once, or None when there are no more; none if results are needed first."""


class Format(Protocol):
    def __call__(self, games: Games, players: Sequence[Player], rounds: int, most: int | None) -> Pairing:
        """Return the pairing of these players for `rounds` rounds, or of the first `most` games."""


class SwissPlace(msgspec.Struct, frozen=True):
    """A line of a Swiss: `points` include those of the `byes`, `wins` counts meetings won."""

    place: int | None
    player: Player
    points: float
    byes: int
    buchholz: float
    wins: int


class KnockoutPlace(msgspec.Struct, frozen=True):
    """A line of a knockout; `lost_in` is the number of places in the round of the lost match (2: the final).

    `decided_by` says how it was decided if not by the points of the planned pairs, or that a bot is not in the draw.
    """

    place: int | None
    player: Player
    lost_in: int | None
    lost_to: Player | None
    points: float
    opponent_points: float
    decided_by: str


class LadderPlace(msgspec.Struct, frozen=True):
    """A line of a ladder: `above_next` is how likely the bot is stronger than the next one; None for the last."""

    place: int | None
    player: Player
    elo: float
    games: int
    above_next: float | None


FormatPlace = SwissPlace | KnockoutPlace | LadderPlace


class StopReason(enum.Enum):
    SURE = "sure"
    """Each bot is above the next one with the requested confidence."""
    GAMES = "games"
    NO_PAIR = "no pair"


class LadderStop(msgspec.Struct, frozen=True):
    """The end of a ladder after `games`, of which `known` came before it; `unclear` places are below `confidence`."""

    reason: StopReason
    games: int
    known: int
    confidence: float | None
    unclear: int | None


class Meeting(msgspec.Struct, Generic[Bot], frozen=True):
    """Two bots in a round, their points against each other, and the numbers of their games that are over.

    A bot is None if it is not known yet, and the second one of a bye. In a knockout the `winner` stays in; `decided_by`
    tells how a match was decided other than by points.
    """

    bots: tuple[Bot | None, Bot | None]
    points: tuple[float, float]
    games: tuple[int, ...]
    is_over: bool
    is_bye: bool = False
    winner: Bot | None = None
    decided_by: str = ""


class Round(msgspec.Struct, frozen=True):
    """A round of a Swiss, or of a knockout with `left` places, a power of two. `games` were given out."""

    number: int
    meetings: tuple[Meeting[Player], ...]
    games: int
    left: int | None = None

    @property
    def is_over(self) -> bool:
        return all(meeting.is_over for meeting in self.meetings)

    @property
    def played(self) -> int:
        return sum(len(meeting.games) for meeting in self.meetings)


class FormatStage(msgspec.Struct, frozen=True):
    is_over: bool
    done: int
    of: int


class Placing(msgspec.Struct, frozen=True):
    """The places of bots in a Swiss, a knockout or a ladder, and the disqualified bots of any format."""

    places: tuple[FormatPlace, ...] = ()
    disqualified: tuple[Disqualified, ...] = ()
    stop: LadderStop | None = None
    others: dict[Player, int] = msgspec.field(default_factory=dict)
    """The games of disqualified bots that a table of the whole store counts and their league left out."""
    stage: FormatStage | None = None
    rounds: tuple[Round, ...] = ()
    problem: str = ""
    """Why the places of a store's league are missing, if they cannot be worked out."""


@runtime_checkable
class Placed(Protocol):
    """A pairing that places bots by rules of its own, or disqualifies."""

    def placing(self) -> Placing: ...


_HALF_POINTS = {
    GameResult.RED: (2, 0),
    GameResult.BLUE: (0, 2),
    GameResult.DRAW: (1, 1),
    GameResult.NEITHER: (0, 0),
}
PAIR_HALF_POINTS = 4
LARGEST_GAP = 64
"""The most missing numbers of pairs in a store: a stopped league has stored games of later rounds."""


def half_points(row: GameRow) -> tuple[int, int]:
    return _HALF_POINTS[row.result]


def faults(row: GameRow) -> tuple[bool, bool]:
    """Return whether Red, and whether Blue, lost the game by a fault; resigning is none."""
    if not row.reason.is_forfeit:
        return False, False
    return row.result.winner is not Color.RED, row.result.winner is not Color.BLUE


@dataclass(slots=True)
class Pair:
    """Two games of two players. Half points and faults are those of the first player, then of the second."""

    players: tuple[int, int]
    given: int = 0
    left: int = 0
    """The number of games given out, and of those that are not over."""
    half_points: list[int] = field(default_factory=lambda: [0, 0])
    faults: list[int] = field(default_factory=lambda: [0, 0])
    numbers: list[int] = field(default_factory=list)


class Ledger:
    """Gives out pairs of games, and counts their results. Players are numbers, in the order in which they take part."""

    def __init__(self, games: Games, players: Sequence[Player]) -> None:
        self.players = tuple(players)
        self.faults = Counter[int]()
        self._games = games
        self._numbers = Counter[tuple[int, int]]()
        self._open: dict[str, tuple[Pair, bool]] = {}
        """By the id of a game, the pair and whether its second player has Red."""

    def met(self, one: int, other: int) -> int:
        return self._numbers[min(one, other), max(one, other)]

    def give(self, one: int, other: int, most: int = 2) -> tuple[Pair, list[GameSpec]]:
        """Give out the next pair of these two, or the first `most` games of it; the first player has Red first."""
        number = self.met(one, other)
        self._numbers[min(one, other), max(one, other)] += 1
        pair = Pair((one, other))
        given: list[GameSpec] = []
        for is_return in (False, True)[:most]:
            red, blue = (other, one) if is_return else (one, other)
            game = self._games.game(self.players[red], self.players[blue], number)
            self._open[game.id] = pair, is_return
            given.append(game)
        pair.given = pair.left = len(given)
        return pair, given

    def give_known(self, rows: Sequence[GameRow]) -> list[tuple[Pair, list[GameSpec]]]:
        """Return the pairs that stored games belong to, with the games that are stored."""
        places = {
            version.digest: place
            for place, player in enumerate(self.players)
            for version in self._games.versions(player)
        }
        stored: dict[tuple[int, int], set[str]] = {}
        for row in rows:
            one, other = sorted(places.get(player.digest, -1) for player in row.players)
            if 0 <= one < other:
                stored.setdefault((one, other), set()).add(row.id)
        found: list[tuple[Pair, list[GameSpec]]] = []
        for (one, other), ids in sorted(stored.items()):
            gap = 0
            while ids and gap <= LARGEST_GAP:
                pair, games = self.give(one, other)
                kept = [game for game in games if game.id in ids]
                for game in games:
                    if game not in kept:
                        del self._open[game.id]
                ids.difference_update(game.id for game in kept)
                gap = 0 if kept else gap + 1
                pair.given = pair.left = len(kept)
                if kept:
                    found.append((pair, kept))
            self._numbers[one, other] -= gap
        return found

    def tell(self, results: Sequence[GameRow]) -> None:
        for row in results:
            pair, is_return = self._open.pop(row.id)
            for side, (points, fault) in enumerate(zip(half_points(row), faults(row), strict=True)):
                pair.half_points[side ^ is_return] += points
                pair.faults[side ^ is_return] += fault
                self.faults[pair.players[side ^ is_return]] += fault
            pair.left -= 1
            pair.numbers.append(row.number)

    def disqualified(self, limit: int | None) -> dict[int, int]:
        """Return the players with at least `limit` faults, and their faults."""
        return {player: count for player, count in sorted(self.faults.items()) if limit and count >= limit}

    def as_disqualified(self, players: Mapping[int, int]) -> tuple[Disqualified, ...]:
        return tuple(Disqualified(self.players[player], count, None) for player, count in players.items())
