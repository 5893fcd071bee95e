"""The ratings say what the games say: checked against closed forms, simulated truth and choix, an independent fit.

What two players' games say of their difference is checked in test_difference.py.
"""

import dataclasses
import itertools
import math
import os
import random
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.league.ratings.bounds import bounds_of
from arena.league.ratings.league_table import RatedLeague, Rating, Standing
from arena.league.ratings.pair import ELO_PER_LOGIT, difference
from arena.league.ratings.score_counts import Results, Score
from arena.report.standings import Crosstable


class GameScore(NamedTuple):
    """One game; the first player had Red."""

    first: str
    second: str
    score: Score


def results_of(names: Sequence[str], games: Sequence[GameScore]) -> Results:
    found = Results(names)
    for game in games:
        found.add(names.index(game.first), names.index(game.second), game.score)
    return found


def ratings(names: Sequence[str], games: Sequence[GameScore]) -> dict[str, Rating | None]:
    return RatedLeague(results_of(names, games)).ratings()


def standings(names: Sequence[str], games: Sequence[GameScore]) -> list[Standing]:
    return RatedLeague(results_of(names, games)).standings()


def crosstable(names: Sequence[str], games: Sequence[GameScore]) -> dict[str, dict[str, tuple[float, int]]]:
    """By player and opponent, the points and the games."""
    table = Crosstable(names, names, results_of(names, games).rows())
    return {name: {other: (met.points, met.games) for other, met in table.row(name).items()} for name in names}


NAMES = ["ann", "bob", "cat", "dan"]
DECIDED = [Score.FIRST, Score.DRAW, Score.SECOND]
MIRRORED = {
    Score.FIRST: Score.SECOND,
    Score.SECOND: Score.FIRST,
    Score.DRAW: Score.DRAW,
    Score.NEITHER: Score.NEITHER,
}

some_games = st.lists(
    st.builds(
        lambda pair, score: GameScore(pair[0], pair[1], score),
        st.sampled_from(list(itertools.permutations(NAMES, 2))),
        st.sampled_from(Score),
    ),
    max_size=30,
)


def match(first: str, second: str, wins: int, draws: int, losses: int) -> list[GameScore]:
    """Games in which the colours change after each result of a kind."""
    counts = zip(DECIDED, (wins, draws, losses), strict=True)
    return [turned(GameScore(first, second, score), number) for score, count in counts for number in range(count)]


def turned(game: GameScore, number: int) -> GameScore:
    """The same result, with the other colours where the number is odd."""
    return GameScore(game.second, game.first, MIRRORED[game.score]) if number % 2 else game


def round_robin(
    elos: dict[str, float], draws: float, games_per_pair: int, rng: random.Random, red: float = 0.0
) -> list[GameScore]:
    """Games by Davidson's model between players of these strengths, the colours changing after each game.

    `draws` is the share of their games that equals draw, `red` what the side of Red is worth in Elo.
    """
    games = []
    for one, other in itertools.combinations(elos, 2):
        for number in range(games_per_pair):
            first, second = (other, one) if number % 2 else (one, other)
            games.append(GameScore(first, second, rng.choices(DECIDED, chances(elos, first, second, draws, red))[0]))
    return games


def chances(
    elos: dict[str, float], first: str, second: str, draws: float, red: float = 0.0
) -> tuple[float, float, float]:
    """Of win, draw and loss of the first player: Davidson's formula as the paper has it, with the worths of the two."""
    worths = [10 ** (elo / (1 - draws) / 400) for elo in (elos[first] + red, elos[second])]
    even = 2 * draws / (1 - draws) * math.sqrt(worths[0] * worths[1])
    total = sum(worths) + even
    return worths[0] / total, even / total, worths[1] / total


def rated(names: Sequence[str], games: Sequence[GameScore]) -> dict[str, Rating]:
    found = {name: rating for name, rating in ratings(names, games).items() if rating is not None}
    assert len(found) == len(names)
    return found


def lead(wins: int, draws: int, losses: int) -> float:
    result = rated(["a", "b"], match("a", "b", wins, draws, losses))
    return result["a"].elo - result["b"].elo


@pytest.mark.parametrize(("wins", "draws", "losses"), [(400, 0, 600), (500, 300, 200), (100, 9700, 200)])
def test_two_players_differ_by_the_classic_formula_of_the_score(wins: int, draws: int, losses: int) -> None:
    score = (wins + draws / 2) / (wins + draws + losses)
    assert lead(wins, draws, losses) == pytest.approx(400 * math.log10(score / (1 - score)), abs=0.2)


@pytest.mark.parametrize(("games_per_pair", "tolerance"), [(40, 3.0), (1000, 0.2)])
def test_choix_finds_the_same_ratings_where_there_are_no_draws(games_per_pair: int, tolerance: float) -> None:
    choix = pytest.importorskip("choix")
    truth = {"a": -300.0, "b": -100.0, "c": 0.0, "d": 50.0, "e": 350.0}
    names = list(truth)
    games = round_robin(truth, 0.0, games_per_pair, random.Random(3))
    wins = []
    for game in games:
        a, b = names.index(game.first), names.index(game.second)
        wins.append((a, b) if game.score is Score.FIRST else (b, a))
    logits = choix.ilsr_pairwise(len(names), wins)
    found = rated(names, games)
    for name, logit in zip(names, logits - logits.mean(), strict=True):
        assert found[name].elo == pytest.approx(ELO_PER_LOGIT * logit, abs=tolerance)


# --- intervals ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("players", "games_per_pair", "spread", "draws"), [(3, 10, 300, 0.6), (6, 4, 700, 0.0)])
def test_at_least_95_percent_of_the_intervals_hold_the_truth(
    players: int, games_per_pair: int, spread: float, draws: float
) -> None:
    """Relative to the field, as they are given; where all are in it, this is the mean of all."""
    truth = {f"p{number}": spread * (number / (players - 1) - 0.5) for number in range(players)}
    rng = random.Random(2)
    held = intervals = 0
    while intervals < 600:
        games = round_robin(truth, draws, games_per_pair, rng)
        found = rated(list(truth), games)
        if len(bounds_of(results_of(list(truth), games).rows()).field) == players and all(
            math.isfinite(r.low) for r in found.values()
        ):
            held += sum(found[name].low <= elo <= found[name].high for name, elo in truth.items())
            intervals += players
    assert held / intervals > 0.95 - 2 * math.sqrt(0.95 * 0.05 / intervals)


def test_intervals_are_those_of_the_profile_likelihood_with_all_other_ratings_fitted_anew() -> None:
    """An independent profile, by scipy: half a point is taken from b or added, and the others settle for each value."""
    optimize = pytest.importorskip("scipy.optimize")
    results = {
        ("a", "b"): (23, 17),
        ("a", "c"): (30, 10),
        ("b", "c"): (24, 16),
        ("a", "d"): (33, 7),
        ("b", "d"): (31, 9),
    }
    games = [game for (first, second), (won, lost) in results.items() for game in match(first, second, won, 0, lost)]
    found = rated(["a", "b", "c", "d"], games)["b"]

    def loss(others: Sequence[float], own: float, taken: float) -> float:
        a, c = others
        logit = {"a": a, "b": own, "c": c, "d": -a - c - own}  # the mean is 0
        total = -taken * own * 4 / 3  # all differences of b grow by a third more than b itself
        for (first, second), (won, lost) in results.items():
            x = logit[first] - logit[second]
            total -= won * -math.log1p(math.exp(-x)) + lost * -math.log1p(math.exp(x))
        return total

    for taken, end in ((-0.5, found.low), (0.5, found.high)):

        def best(own: float, taken: float = taken) -> float:
            return float(optimize.minimize(loss, (0.0, 0.0), args=(own, taken), tol=1e-10).fun)

        top = optimize.minimize_scalar(best, bounds=(-1, 1), method="bounded")
        limits = (top.x, top.x + math.copysign(2, taken))
        expected = optimize.brentq(lambda own, low=top.fun: best(own) - low - 3.8415 / 2, *limits)
        assert end == pytest.approx(ELO_PER_LOGIT * expected, abs=2)


def test_a_league_of_two_is_bounded_by_half_their_difference() -> None:
    found = rated(["a", "b"], match("a", "b", 15, 2, 5))
    exact = difference(15, 2, 5)
    assert (found["a"].low, found["a"].high) == (exact.low / 2, exact.high / 2)
    assert (found["b"].low, found["b"].high) == (-exact.high / 2, -exact.low / 2)


@pytest.mark.parametrize("games_each", [1, 20])
def test_perfect_scores_have_finite_ratings_that_grow_with_the_evidence_and_one_open_end(games_each: int) -> None:
    def outer(count: int) -> tuple[Rating, Rating]:
        four = list("wxyz")
        games = [game for a, b in itertools.combinations(four, 2) for game in match(a, b, 1, 0, 1) * (count + 1)]
        games += [game for name in four for game in match("all", name, count, 0, 0) + match(name, "none", count, 0, 0)]
        found = rated(["all", *four, "none"], games + match("all", "none", count, 0, 0))
        assert all(-math.inf < found[name].low < found[name].high < math.inf for name in four)
        return found["all"], found["none"]

    best, worst = outer(games_each)
    assert best.high == -worst.low == math.inf
    assert math.isfinite(best.elo)
    assert math.isfinite(best.low)
    assert best.low == pytest.approx(-worst.high)
    more, _ = outer(2 * games_each)
    assert more.elo > best.elo
    assert more.low > best.low


@pytest.mark.parametrize(("rounds", "rest"), [(6, (1, 1)), (24, (1, 0))])
def test_a_bot_that_won_every_game_has_a_higher_lower_end_than_with_one_loss(
    rounds: int, rest: tuple[int, int]
) -> None:
    """Whether the other two are equals, or one of them won all of its games against the other."""
    wins, losses = (share * rounds // sum(rest) for share in rest)
    others = match("b", "c", wins, 0, losses) + match("a", "c", rounds, 0, 0)
    clean = rated(["a", "b", "c"], others + match("a", "b", rounds, 0, 0))["a"]
    beaten = rated(["a", "b", "c"], others + match("a", "b", rounds - 1, 0, 1))["a"]
    assert clean.low > beaten.low
    assert clean.high == math.inf


def bounded(results: str, anchor: str = "") -> list[str]:
    """The field, and who is bounded below and above, after such results as "ab bc": a won against b, b against c."""
    names = sorted(set(results) - {" "})
    games = [GameScore(winner, loser, Score.FIRST) for winner, loser in map(list, results.split())]
    found = bounds_of(results_of(names, games).rows(), names.index(anchor) if anchor else None)
    groups = (found.field, found.bounded_below, found.bounded_above)
    return ["".join(names[player] for player in sorted(group)) for group in groups]


@pytest.mark.parametrize(
    ("results", "field", "below", "above"),
    [
        ("ab ba", "ab", "ab", "ab"),
        ("ab", "ab", "a", "b"),
        ("ab bc ca", "abc", "abc", "abc"),
        ("ab bc ac", "abc", "a", "c"),
        ("ab ba ca", "ab", "abc", "ab"),
        ("ab ba bd cb", "ab", "abc", "abd"),
        ("ab ba ca da cd dc ea", "ab", "abcde", "ab"),
        ("ab ba cd dc de ed", "cde", "cde", "cde"),
        ("ab cd", "abcd", "", ""),
    ],
)
def test_who_scored_against_whom_bounds_the_ratings(results: str, field: str, below: str, above: str) -> None:
    """`ab` means that a won against b."""
    assert bounded(results) == [field, below, above]


@pytest.mark.parametrize(
    ("results", "anchor", "below", "above"),
    [
        ("ab bc", "b", "ab", "bc"),
        ("ab bc", "a", "a", "abc"),
        ("ab ba ca", "c", "c", "abc"),
        ("ab cd dc", "c", "cd", "cd"),
    ],
)
def test_an_anchor_is_the_field_alone(results: str, anchor: str, below: str, above: str) -> None:
    assert bounded(results, anchor) == [anchor, below, above]


# --- properties -----------------------------------------------------------------------------------------------------


@given(some_games, st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=30)
def test_the_order_of_the_games_does_not_matter(games: list[GameScore], rng: random.Random) -> None:
    other = games.copy()
    rng.shuffle(other)
    assert standings(NAMES, other) == standings(NAMES, games)
    assert crosstable(NAMES, other) == crosstable(NAMES, games)
    assert ratings(NAMES, other) == ratings(NAMES, games)


@given(some_games)
@settings(deadline=None, max_examples=20)
def test_with_all_colours_changed_the_advantage_changes_its_sign_and_nothing_else_does(games: list[GameScore]) -> None:
    other = [GameScore(game.second, game.first, MIRRORED[game.score]) for game in games]
    here, there = (RatedLeague(results_of(NAMES, each)) for each in (games, other))
    for one, two in zip(here.standings(), there.standings(), strict=True):
        assert (one.place, one.name, one.points, one.merits) == (two.place, two.name, two.points, two.merits)
        if one.rating and two.rating:
            assert dataclasses.astuple(one.rating) == pytest.approx(dataclasses.astuple(two.rating), abs=1e-3)
    if here.advantage and there.advantage:
        assert dataclasses.astuple(there.advantage) == pytest.approx(
            (-here.advantage.elo, -here.advantage.high, -here.advantage.low), abs=1e-3
        )


@given(some_games)
@settings(deadline=None, max_examples=30)
def test_the_mean_of_the_rated_is_0_and_every_interval_is_around_its_rating(games: list[GameScore]) -> None:
    found = ratings(NAMES, games)
    met = {name for game in games if game.score is not Score.NEITHER for name in (game.first, game.second)}
    assert {name for name, rating in found.items() if rating} == met
    given_ratings = [rating for rating in found.values() if rating]
    assert sum(rating.elo for rating in given_ratings) == pytest.approx(0, abs=1e-6)
    assert all(math.isfinite(rating.elo) for rating in given_ratings)
    assert all(rating.low <= rating.elo <= rating.high for rating in given_ratings)
    assert all(rating.low < rating.high for rating in given_ratings)


@given(some_games)
@settings(deadline=None, max_examples=30)
def test_every_game_hands_out_one_point_except_a_double_forfeit(games: list[GameScore]) -> None:
    table = standings(NAMES, games)
    assert sum(line.points for line in table) == sum(game.score is not Score.NEITHER for game in games)
    assert sum(line.games for line in table) == 2 * len(games)
    for line in table:
        assert line.games == line.wins + line.draws + line.losses
        assert line.points == line.wins + line.draws / 2


@given(some_games)
@settings(deadline=None, max_examples=30)
def test_the_crosstable_is_symmetric_and_adds_up_to_the_standings(games: list[GameScore]) -> None:
    table = crosstable(NAMES, games)
    assert list(table) == NAMES
    for row, column in itertools.permutations(NAMES, 2):
        between = [game for game in games if {game.first, game.second} == {row, column}]
        assert (column in table[row]) == (row in table[column]) == bool(between)
        if between:
            here, there = table[row][column], table[column][row]
            assert here[1] == there[1] == len(between)
            assert here[0] + there[0] == sum(game.score is not Score.NEITHER for game in between)
    for line in standings(NAMES, games):
        assert sum(points for points, _ in table[line.name].values()) == line.points
        assert sum(played for _, played in table[line.name].values()) == line.games


def test_a_double_forfeit_is_a_game_and_a_loss_for_both_and_leaves_the_ratings_alone() -> None:
    games = match("ann", "bob", 3, 1, 2)
    forfeits = [GameScore("bob", "ann", Score.NEITHER), GameScore("ann", "cat", Score.NEITHER)]
    assert ratings(NAMES, games + forfeits) == ratings(NAMES, games)
    lines = {line.name: line for line in standings(NAMES, games + forfeits)}
    ann, cat = lines["ann"], lines["cat"]
    assert (ann.games, ann.wins, ann.draws, ann.losses, ann.points) == (8, 3, 1, 4, 3.5)
    assert (cat.games, cat.wins, cat.draws, cat.losses, cat.points, cat.rating) == (1, 0, 0, 1, 0.0, None)


# --- places ---------------------------------------------------------------------------------------------------------


def places(games: list[GameScore], names: Sequence[str]) -> list[tuple[int, str]]:
    return [(line.place, line.name) for line in standings(names, games)]


def in_order(names: Sequence[str], games: Sequence[GameScore]) -> list[list[str]]:
    """Groups of equals, best first, by what the documentation says of places."""
    worth = {Score.FIRST: (2, 0), Score.DRAW: (1, 1), Score.SECOND: (0, 2), Score.NEITHER: (0, 0)}
    taken: dict[str, list[tuple[str, int]]] = {name: [] for name in names}
    for game in games:
        first, second = worth[game.score]
        taken[game.first].append((game.second, first))
        taken[game.second].append((game.first, second))

    def rate(name: str, opponents: Collection[str] = names) -> Fraction | None:
        found = [half_points for other, half_points in taken[name] if other in opponents]
        return Fraction(sum(found), 2 * len(found)) if found else None

    def sonneborn_berger(name: str) -> Fraction:
        found = (half_points * (rate(other) or Fraction(0)) for other, half_points in taken[name])
        return sum(found, Fraction(0)) / max(1, len(taken[name]))

    def wins(name: str) -> Fraction:
        return Fraction(sum(half == 2 for _, half in taken[name]), max(1, len(taken[name])))

    def by(rule: Callable[[str], Fraction | int], group: Sequence[str]) -> Iterator[list[str]]:
        for value in sorted({rule(name) for name in group}, reverse=True):
            yield [name for name in group if rule(name) == value]

    found = []
    for with_games in by(lambda name: bool(taken[name]), names):
        for equals in by(lambda name: rate(name) or 0, with_games):

            def among_equals(name: str, equals: Sequence[str] = equals) -> Fraction:
                own = rate(name, equals)
                return Fraction(1, 2) if own is None else own

            for level in by(among_equals, equals):
                for still_level in by(sonneborn_berger, level):
                    found += list(by(wins, still_level))
    return [sorted(group) for group in found]


@given(some_games)
@settings(deadline=None, max_examples=30)
def test_places_are_those_of_the_rules_one_after_the_other(games: list[GameScore]) -> None:
    groups = [
        (place, sorted(name for _, name in equals))
        for place, equals in itertools.groupby(places(games, NAMES), key=lambda line: line[0])
    ]
    assert [names for _, names in groups] == in_order(NAMES, games)


def test_no_games_leave_everyone_unrated() -> None:
    assert ratings(NAMES, []) == dict.fromkeys(NAMES)
    assert [line.name for line in standings(NAMES, [])] == NAMES
    assert ratings([], []) == {}
    assert standings([], []) == []


ONE_THREAD = """
import os, psutil
from arena.league.ratings.strengths import MOST_IN_PYTHON, solved
size = MOST_IN_PYTHON + 3
identity = [[float(row == column) for column in range(size)] for row in range(size)]
assert solved(identity, identity) == identity
print(psutil.Process().num_threads(), "OPENBLAS_NUM_THREADS" in os.environ)
"""


def test_the_equations_of_many_players_take_one_thread_and_leave_the_environment_as_it_was() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    line = [sys.executable, "-c", ONE_THREAD]
    done = subprocess.run(line, capture_output=True, text=True, check=True, env=environment)
    assert done.stdout == "1 False\n"


def test_games_of_unknown_or_doubled_players_are_refused() -> None:
    results = Results(["ann", "bob"])
    for first, second in ((0, 2), (-1, 0), (1, 1)):
        with pytest.raises(ValueError, match="two different numbers below 2"):
            results.add(first, second, Score.DRAW)
    with pytest.raises(ValueError, match="twice"):
        Results(["ann", "bob", "ann"])
