"""Results of games as counts: who met whom, and how often each of the two won, drew or lost."""

import enum
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass


class Score(enum.Enum):
    """How one game ended for the two players it names."""

    FIRST = "first"
    DRAW = "draw"
    SECOND = "second"
    NEITHER = "neither"  # a double forfeit: both lost


@dataclass(frozen=True, slots=True)
class GameScore:
    """One finished game between two different players."""

    first: str
    second: str
    score: Score


@dataclass(slots=True)
class Meeting:
    """All the games of one pair, seen from one of the two. Mere counts, so the order of the games cannot matter."""

    wins: int = 0
    draws: int = 0
    losses: int = 0
    double_forfeits: int = 0

    @property
    def rated(self) -> int:
        """Games that say something about who is stronger: all but double forfeits."""
        return self.wins + self.draws + self.losses

    @property
    def games(self) -> int:
        return self.rated + self.double_forfeits

    @property
    def half_points(self) -> int:
        return 2 * self.wins + self.draws

    @property
    def points(self) -> float:
        return self.half_points / 2


Pair = tuple[int, int]
"""Two places in the list of players: the one who sees the meeting, and the opponent."""
Meetings = dict[Pair, Meeting]


Games = Iterable[GameScore] | Mapping[GameScore, int]
"""Finished games, or how many of them came to each result."""


def meetings_of(names: Sequence[str], games: Games) -> Meetings:
    """Every meeting twice, as seen from either side, sorted.

    Raises ValueError where a game names a player that is not in `names`, or one player twice, or `names` has a repeat.
    """
    place = {name: number for number, name in enumerate(names)}
    if len(place) != len(names):
        raise ValueError("a name occurs twice in the list of players")
    meetings: defaultdict[Pair, Meeting] = defaultdict(Meeting)
    for game, count in (games if isinstance(games, Mapping) else Counter(games)).items():
        first, second, score = game.first, game.second, game.score
        for name in (first, second):
            if name not in place:
                raise ValueError(f"a game names {name!r}, which is not in the list of players")
        if first == second:
            raise ValueError(f"a game names {first!r} as both players")
        for pair, won in (((first, second), Score.FIRST), ((second, first), Score.SECOND)):
            meeting = meetings[place[pair[0]], place[pair[1]]]
            if score is Score.NEITHER:
                meeting.double_forfeits += count
            elif score is Score.DRAW:
                meeting.draws += count
            elif score is won:
                meeting.wins += count
            else:
                meeting.losses += count
    # Sorted, so that sums of floats come out the same to the last bit in whatever order the games came.
    return dict(sorted(meetings.items()))
