"""Turns finished games into standings, a crosstable and Elo ratings with 95% intervals.

The idea: every player has one number, its strength, and every result between two players speaks about the ratio of
their strengths (Bradley & Terry 1952).  Games can be drawn, so Davidson's extension (1970) is used: for strengths a and
b and one draw parameter nu that all players share,

    P(first wins) : P(draw) : P(second wins)  =  a : nu * sqrt(a * b) : b

All strengths and nu are fitted to all the games together, so the order of the games does not matter and the strength of
the opposition counts.  In log a, log b and log nu the log likelihood is concave: it has no second peak to get lost on,
and Newton's method finds its peak in ten steps or so.  The MM iteration of Hunter (2004) is simpler, but takes many
more steps, and does not yield the covariance that the intervals are made from.

The likelihood alone would send a player that won all its games to infinity, and could not compare two groups that never
met.  So each log strength, and log nu, has a normal prior around 0 with a standard deviation of 1000 Elo.  It weighs as
much as an eighth of a game between equals, once per player and not once per opponent.  (An imagined draw for each pair
that met would outweigh the real games of a large tournament with few games per pair, and would not connect groups.)
With it the peak is unique and finite whatever the games are.  Groups that never met each have a mean of 0, and wide
intervals that own up to this being a guess.

400 Elo are ten wins for each loss.  For two players the difference is therefore 400 * log10(wins / losses).  Where
nothing is drawn this is the classic 400 * log10(p / (1 - p)) of the score p; with draws it is larger, 1 + nu / 2 times
between near equals, because the model lays draws to nu and not to the strengths.

Sources: R. A. Bradley & M. E. Terry, Biometrika 39 (1952) 324-345; R. R. Davidson, JASA 65 (1970) 317-328;
D. R. Hunter, Annals of Statistics 32 (2004) 384-406.
"""

import enum
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import mul

ELO_PER_LOGIT = 400 / math.log(10)
PRIOR_PRECISION = (ELO_PER_LOGIT / 1000) ** 2  # per square logit; a game between equals brings at most 0.25
NORMAL_95 = 1.96  # standard deviations to each side that hold 95% of a normal distribution
SETTLED = 1e-12  # squared distance from the peak in standard deviations, at which the search ends
MAX_STEPS = 1000  # ten to twenty are usual; the bound only keeps a mistake from running for ever


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


@dataclass(frozen=True, slots=True)
class Rating:
    """A rating and its 95% interval, in Elo relative to the mean of all rated players; always finite."""

    elo: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Standing:
    """One line of the table. Points are wins + draws / 2; a double forfeit is a loss here."""

    name: str
    games: int
    wins: int
    draws: int
    losses: int
    points: float
    rating: Rating | None


@dataclass(frozen=True, slots=True)
class Cell:
    """The points that a row's player took in its games against a column's player."""

    points: float
    games: int


@dataclass(slots=True)
class _Meeting:
    """All the games of one pair, seen from one of the two. Mere counts, so the order of the games cannot matter."""

    wins: int = 0
    draws: int = 0
    losses: int = 0
    double_forfeits: int = 0

    @property
    def rated(self) -> int:
        return self.wins + self.draws + self.losses

    @property
    def points(self) -> float:
        return self.wins + self.draws / 2


_Pair = tuple[int, int]  # two places in the list of players: the one who sees the meeting, and the opponent
_Vector = list[float]
_Triangle = list[_Vector]  # the lower half of a square matrix: row i has i + 1 numbers


def standings(names: Sequence[str], games: Iterable[GameScore]) -> list[Standing]:
    """The table of all players: by points, then by Elo (the unrated last), then by name.

    A double forfeit is a game and a loss for both. Raises ValueError as `ratings` does.
    """
    meetings = _meetings(names, games)
    rating_of = _ratings(names, meetings)
    table = []
    for player, name in enumerate(names):
        seen = [meeting for (viewer, _), meeting in meetings.items() if viewer == player]
        wins, draws = sum(meeting.wins for meeting in seen), sum(meeting.draws for meeting in seen)
        losses = sum(meeting.losses + meeting.double_forfeits for meeting in seen)
        games_played, points = wins + draws + losses, wins + draws / 2
        table.append(Standing(name, games_played, wins, draws, losses, points, rating_of[name]))
    return sorted(table, key=_order)


def _order(line: Standing) -> tuple[float, float, str]:
    # Rounded, so that equals are ordered by name and not by the last bit of a float.
    return -line.points, -round(line.rating.elo, 6) if line.rating else math.inf, line.name


def crosstable(names: Sequence[str], games: Iterable[GameScore]) -> dict[str, dict[str, Cell]]:
    """For each player (row), the points and games against each player it met (column), in the order of `names`.

    Players that did not meet have no cell. Raises ValueError as `ratings` does.
    """
    table: dict[str, dict[str, Cell]] = {name: {} for name in names}
    for (row, column), meeting in _meetings(names, games).items():
        table[names[row]][names[column]] = Cell(meeting.points, meeting.rated + meeting.double_forfeits)
    return table


def ratings(names: Sequence[str], games: Iterable[GameScore]) -> dict[str, Rating | None]:
    """Elo ratings of all players with 95% intervals, anchored so that the mean of the rated players is 0.

    Double forfeits are left out, as they say nothing about who is stronger; a player with no other game has None.

    The interval is 1.96 standard deviations to each side of a player's Elo *relative to the mean of all rated players*,
    by the normal approximation at the peak: the covariance is the inverse of the observed information, prior included,
    with nu and the other players' uncertainty allowed for. In repeated tournaments about 95% of such intervals hold the
    truth. It is not the uncertainty of the difference between two players, whose errors are correlated. For very few
    games, or a perfect score, the approximation is rough: the truth is then not spread evenly to both sides.

    Raises ValueError where a game names a player that is not in `names`, or one player twice, or `names` has a repeat.
    """
    return _ratings(names, _meetings(names, games))


def _meetings(names: Sequence[str], games: Iterable[GameScore]) -> dict[_Pair, _Meeting]:
    """Every meeting twice, as seen from either side, sorted."""
    place = {name: number for number, name in enumerate(names)}
    if len(place) != len(names):
        raise ValueError("a name occurs twice in the list of players")
    meetings: defaultdict[_Pair, _Meeting] = defaultdict(_Meeting)
    for (first, second, score), count in Counter((game.first, game.second, game.score) for game in games).items():
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


def _ratings(names: Sequence[str], meetings: dict[_Pair, _Meeting]) -> dict[str, Rating | None]:
    rated = sorted({viewer for (viewer, _), meeting in meetings.items() if meeting.rated})
    result: dict[str, Rating | None] = dict.fromkeys(names)
    if not rated:
        return result
    row = {player: number for number, player in enumerate(rated)}
    once = {(row[a], row[b]): meeting for (a, b), meeting in meetings.items() if a < b and meeting.rated}
    logits, factor = _fit(len(rated), once)
    mean = sum(logits) / len(logits)  # 0 up to rounding already: the prior pulls it there and the games leave it free
    for player, logit, deviation in zip(rated, logits, _deviations_from_mean(factor), strict=True):
        elo, margin = ELO_PER_LOGIT * (logit - mean), ELO_PER_LOGIT * NORMAL_95 * deviation
        result[names[player]] = Rating(elo, elo - margin, elo + margin)
    return result


def _fit(players: int, meetings: dict[_Pair, _Meeting]) -> tuple[_Vector, _Triangle]:
    """The log strengths at the peak, and the Cholesky factor of the information there.

    The unknowns are the log strengths and, as the last one, log nu.
    """
    draws = sum(meeting.draws for meeting in meetings.values())
    decided = sum(meeting.rated for meeting in meetings.values()) - draws
    # Start from equal strengths and the nu that fits those, kept off 0 and infinity by half a game to each side.
    unknowns = [0.0] * players + [math.log(2 * (draws + 0.5) / (decided + 0.5))]
    for _ in range(MAX_STEPS):
        slope, information = _slope_and_information(unknowns, meetings)
        factor = _cholesky(information)
        step = _solve_transposed(factor, _solve(factor, slope))
        if sum(map(mul, slope, step)) < SETTLED:
            return unknowns[:-1], factor
        spread = max(step[:-1]) - min(step[:-1])
        # A full step can overshoot. No result's log odds against another move by more than `reach`, so the information
        # grows at most e^(t * reach)-fold over the fraction t of the step, and up to this fraction it leads uphill.
        reach = max(spread, spread / 2 + abs(step[-1]))
        fraction = math.log1p(reach) / reach
        unknowns = [value + fraction * change for value, change in zip(unknowns, step, strict=True)]
    raise ArithmeticError(f"the ratings did not settle in {MAX_STEPS} steps")


def _chances(difference: float, log_nu: float) -> tuple[float, float, float]:
    """The chances of win, draw and loss at this difference in log strength."""
    half = difference / 2
    top = max(abs(half), log_nu)  # taken out before exp, which could overflow
    win, draw, loss = math.exp(half - top), math.exp(log_nu - top), math.exp(-half - top)
    total = win + draw + loss
    return win / total, draw / total, loss / total


def _slope_and_information(unknowns: _Vector, meetings: dict[_Pair, _Meeting]) -> tuple[_Vector, _Triangle]:
    """The first derivatives of the log posterior, and the second derivatives with the sign turned.

    The slope is what was counted minus what was expected, and the information is the covariance of what is counted:
    (wins - losses) / 2 for the strengths, draws for nu.
    """
    log_nu, nu_row = unknowns[-1], len(unknowns) - 1
    slope = [-PRIOR_PRECISION * value for value in unknowns]
    information = [[0.0] * number + [PRIOR_PRECISION] for number in range(len(unknowns))]
    for (low, high), meeting in meetings.items():
        games = meeting.rated
        win, draw, loss = _chances(unknowns[low] - unknowns[high], log_nu)
        won = meeting.wins - meeting.losses - games * (win - loss)
        slope[low] += won / 2
        slope[high] -= won / 2
        slope[nu_row] += meeting.draws - games * draw
        # The variances are written as sums of products, which keep their digits where one result is near certain.
        strength = games * (win * loss + draw * (win + loss) / 4)
        information[low][low] += strength
        information[high][high] += strength
        information[high][low] -= strength
        mixed = games * draw * (win - loss) / 2
        information[nu_row][low] -= mixed
        information[nu_row][high] += mixed
        information[nu_row][nu_row] += games * draw * (win + loss)
    return slope, information


def _deviations_from_mean(factor: _Triangle) -> _Vector:
    """The standard deviation of each log strength minus the mean of all, from the factor of the information.

    The variance of a combination c of the unknowns is c' inverse(L L') c = |inverse(L) c|^2. To take differences in c,
    and not between entries of the inverse, keeps digits: the mean is known from the prior alone, and varies far more.
    """
    players = len(factor) - 1
    deviations = []
    for player in range(players):
        from_mean = [-1 / players] * players + [0.0]
        from_mean[player] += 1
        deviations.append(math.hypot(*_solve(factor, from_mean)))
    return deviations


def _cholesky(matrix: _Triangle) -> _Triangle:
    """The lower triangle L with L L' = matrix, which the prior makes positive definite."""
    factor: _Triangle = []
    for row, entries in enumerate(matrix):
        current: _Vector = []
        for column in range(row):
            above = factor[column]
            current.append((entries[column] - sum(map(mul, current, above))) / above[column])  # map ends with current
        current.append(math.sqrt(entries[row] - sum(map(mul, current, current))))
        factor.append(current)
    return factor


def _solve(factor: _Triangle, right: _Vector) -> _Vector:
    """The x with L x = right."""
    solution: _Vector = []
    for entries, value in zip(factor, right, strict=True):
        solution.append((value - sum(map(mul, entries, solution))) / entries[-1])
    return solution


def _solve_transposed(factor: _Triangle, right: _Vector) -> _Vector:
    """The x with L' x = right."""
    remaining = list(right)
    for row in reversed(range(len(factor))):
        entries = factor[row]
        remaining[row] /= entries[row]
        for column in range(row):
            remaining[column] -= entries[column] * remaining[row]
    return remaining
