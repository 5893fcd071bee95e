"""Places by a format's own rules, as values. Disqualified bots come last, without a place."""

import enum
from typing import Protocol, runtime_checkable

import msgspec

from arena.game.game_spec import Player
from arena.league.store import Disqualified


class SwissPlace(msgspec.Struct, frozen=True, tag="swiss"):
    """A line of a Swiss: `points` include those of the `byes`, `wins` counts meetings won."""

    place: int | None
    player: Player
    points: float
    byes: int
    buchholz: float
    wins: int


class KnockoutPlace(msgspec.Struct, frozen=True, tag="knockout"):
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
    is_winner: bool


class LadderPlace(msgspec.Struct, frozen=True, tag="ladder"):
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
    """All bots but one are disqualified."""


class LadderStop(msgspec.Struct, frozen=True):
    """The end of a ladder after so many games, of which `known` were played before; `unclear` counts places."""

    reason: StopReason
    games: int
    known: int
    confidence: float | None
    unclear: int | None


class Meeting(msgspec.Struct, frozen=True):
    """Two bots in a round, their points against each other, and the numbers of their games that are over."""

    players: tuple[Player | None, Player | None]
    points: tuple[float, float]
    games: tuple[int, ...]
    is_over: bool
    is_bye: bool = False
    winner: Player | None = None
    decided_by: str = ""


class Round(msgspec.Struct, frozen=True):
    """A round of a Swiss, or of a knockout with `left` places, a power of two. `games` were given out."""

    number: int
    meetings: tuple[Meeting, ...]
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
