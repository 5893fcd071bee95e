"""The ratings say what the games say: checked against closed forms, simulated truth and choix, an independent fit."""

import itertools
import math
import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.ratings import ELO_PER_LOGIT, Cell, GameScore, Rating, Score, crosstable, ratings, standings

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
    counts = zip(DECIDED, (wins, draws, losses), strict=True)
    return [GameScore(first, second, score) for score, count in counts for _ in range(count)]


def round_robin(elos: dict[str, float], nu: float, games_per_pair: int, rng: random.Random) -> list[GameScore]:
    """Games simulated from Davidson's model, written anew from its definition."""
    games = []
    for first, second in itertools.combinations(elos, 2):
        a, b = 10 ** (elos[first] / 400), 10 ** (elos[second] / 400)
        scores = rng.choices(DECIDED, [a, nu * math.sqrt(a * b), b], k=games_per_pair)
        games += [GameScore(first, second, score) for score in scores]
    return games


def rated(names: Sequence[str], games: Sequence[GameScore]) -> dict[str, Rating]:
    found = {name: rating for name, rating in ratings(names, games).items() if rating is not None}
    assert len(found) == len(names)
    return found


def lead(wins: int, draws: int, losses: int) -> float:
    result = rated(["a", "b"], match("a", "b", wins, draws, losses))
    return result["a"].elo - result["b"].elo


def margin(rating: Rating) -> float:
    assert rating.high - rating.elo == pytest.approx(rating.elo - rating.low)
    return rating.high - rating.elo


@pytest.mark.parametrize(("wins", "losses"), [(600, 400), (400, 600), (900, 100), (5000, 5000), (9900, 100)])
def test_two_players_without_draws_differ_by_the_classic_formula_of_the_score(wins: int, losses: int) -> None:
    score = wins / (wins + losses)
    assert lead(wins, 0, losses) == pytest.approx(400 * math.log10(score / (1 - score)), abs=0.2)


@pytest.mark.parametrize(("wins", "draws", "losses"), [(500, 300, 200), (200, 700, 100), (900, 50, 50)])
def test_two_players_with_draws_differ_by_400_elo_per_tenfold_wins(wins: int, draws: int, losses: int) -> None:
    assert lead(wins, draws, losses) == pytest.approx(400 * math.log10(wins / losses), abs=0.2)


def test_between_near_equals_draws_stretch_the_classic_difference_by_1_plus_half_nu() -> None:
    wins, draws, losses = 4200, 2000, 3800
    nu = draws / math.sqrt(wins * losses)
    score = (wins + draws / 2) / (wins + draws + losses)
    classic = 400 * math.log10(score / (1 - score))
    assert lead(wins, draws, losses) == pytest.approx(classic * (1 + nu / 2), abs=0.05)


@pytest.mark.parametrize(("wins", "draws", "losses"), [(600, 0, 400), (500, 300, 200), (800, 100, 100)])
def test_the_interval_of_two_players_is_half_that_of_the_log_of_wins_to_losses(
    wins: int, draws: int, losses: int
) -> None:
    """The variance of log(wins / losses) is 1/wins + 1/losses; each player stands half the difference off the mean."""
    expected = 1.96 * ELO_PER_LOGIT * math.sqrt(1 / wins + 1 / losses) / 2
    for rating in rated(["a", "b"], match("a", "b", wins, draws, losses)).values():
        assert margin(rating) == pytest.approx(expected, rel=0.002)


def test_known_strengths_are_recovered_from_a_large_round_robin() -> None:
    truth = {f"p{number}": 60.0 * (number - 5.5) for number in range(12)}
    found = rated(list(truth), round_robin(truth, 0.4, 1500, random.Random(1)))
    assert all(margin(rating) < 8 for rating in found.values())
    inside = [found[name].low <= elo <= found[name].high for name, elo in truth.items()]
    assert sum(inside) >= 10, "of 12 intervals at 95%, three or more miss in one run of fifty"
    assert all(abs(found[name].elo - elo) < 2 * margin(found[name]) for name, elo in truth.items())


def test_about_95_percent_of_the_intervals_hold_the_truth() -> None:
    truth = {"a": -350.0, "b": -150.0, "c": -20.0, "d": 80.0, "e": 140.0, "f": 300.0}
    rng = random.Random(2)
    held = 0
    for _ in range(300):
        found = rated(list(truth), round_robin(truth, 0.3, 20, rng))
        held += sum(found[name].low <= elo <= found[name].high for name, elo in truth.items())
    assert 0.93 <= held / (300 * len(truth)) <= 0.97


@pytest.mark.parametrize(("games_per_pair", "tolerance"), [(40, 3.0), (1000, 0.2)])
def test_choix_finds_the_same_ratings_where_nothing_is_drawn(games_per_pair: int, tolerance: float) -> None:
    choix = pytest.importorskip("choix")
    truth = {"a": -300.0, "b": -100.0, "c": 0.0, "d": 50.0, "e": 350.0}
    names = list(truth)
    games = round_robin(truth, 0.0, games_per_pair, random.Random(3))
    wins = [(game.first, game.second) if game.score is Score.FIRST else (game.second, game.first) for game in games]
    logits = choix.ilsr_pairwise(len(names), [(names.index(winner), names.index(loser)) for winner, loser in wins])
    found = rated(names, games)
    for name, logit in zip(names, logits - logits.mean(), strict=True):
        assert found[name].elo == pytest.approx(ELO_PER_LOGIT * logit, abs=tolerance)


def test_strength_of_the_opposition_counts() -> None:
    """Two players with the same score, one against the strongest and one against the weakest."""
    games = match("top", "bottom", 90, 0, 10) + match("x", "top", 50, 0, 50) + match("y", "bottom", 50, 0, 50)
    found = rated(["top", "bottom", "x", "y"], games)
    assert found["x"].elo == pytest.approx(found["top"].elo, abs=1)
    assert found["y"].elo == pytest.approx(found["bottom"].elo, abs=1)
    assert found["x"].elo - found["y"].elo == pytest.approx(400 * math.log10(9), abs=5)


@pytest.mark.parametrize("games_each", [1, 10, 1000])
def test_perfect_scores_have_finite_ratings_that_grow_with_the_evidence(games_each: int) -> None:
    def winner(count: int) -> Rating:
        pairs = [("all", "none"), ("all", "some"), ("some", "none")]
        games = [game for first, second in pairs for game in match(first, second, count, 0, 0)]
        found = rated(["none", "some", "all"], games)
        assert all(math.isfinite(bound) for rating in found.values() for bound in (rating.low, rating.elo, rating.high))
        assert found["none"].elo < found["some"].elo < found["all"].elo
        return found["all"]

    assert winner(games_each).elo < winner(2 * games_each).elo


@pytest.mark.parametrize("games", [10, 100_000])
def test_nothing_but_draws_makes_equals(games: int) -> None:
    found = rated(["a", "b", "c"], match("a", "b", 0, games, 0) + match("c", "b", 0, games, 0))
    for rating in found.values():
        assert rating.elo == pytest.approx(0, abs=1e-6)
        assert 0 < margin(rating) < 3000


def test_a_fit_on_which_full_newton_steps_swing_for_ever_settles() -> None:
    """A hundred draws in one pair and a lone win in the other: nu and the strengths pull at each other."""
    found = rated(["a", "b", "c"], match("a", "b", 1, 0, 0) + match("b", "c", 0, 100, 0))
    assert found["a"].elo > found["b"].elo == pytest.approx(found["c"].elo, abs=250)


def test_groups_that_never_met_have_mean_0_each_and_wide_intervals() -> None:
    apart = match("a", "b", 60, 10, 30) + match("c", "d", 80, 10, 10)
    joined = [*apart, *match("a", "c", 40, 20, 40), *match("b", "d", 40, 20, 40)]
    names = ["a", "b", "c", "d"]
    separate, together = rated(names, apart), rated(names, joined)
    assert separate["a"].elo + separate["b"].elo == pytest.approx(0, abs=1e-6)
    assert separate["c"].elo + separate["d"].elo == pytest.approx(0, abs=1e-6)
    for name in names:
        assert 10 * margin(together[name]) < margin(separate[name]) < 3000


@given(some_games, st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=60)
def test_neither_the_order_of_the_games_nor_of_the_names_in_them_matters(
    games: list[GameScore], rng: random.Random
) -> None:
    other = [rng.choice([game, GameScore(game.second, game.first, MIRRORED[game.score])]) for game in games]
    rng.shuffle(other)
    assert standings(NAMES, other) == standings(NAMES, games)
    assert crosstable(NAMES, other) == crosstable(NAMES, games)
    assert ratings(NAMES, other) == ratings(NAMES, games)


@given(some_games)
@settings(deadline=None, max_examples=60)
def test_the_mean_of_the_rated_is_0_and_every_interval_is_finite_and_around_its_rating(games: list[GameScore]) -> None:
    found = ratings(NAMES, games)
    met = {name for game in games if game.score is not Score.NEITHER for name in (game.first, game.second)}
    assert {name for name, rating in found.items() if rating} == met
    given_ratings = [rating for rating in found.values() if rating]
    assert sum(rating.elo for rating in given_ratings) == pytest.approx(0, abs=1e-6)
    assert all(-math.inf < rating.low < rating.elo < rating.high < math.inf for rating in given_ratings)


@given(some_games)
@settings(deadline=None, max_examples=60)
def test_every_game_hands_out_one_point_except_a_double_forfeit(games: list[GameScore]) -> None:
    table = standings(NAMES, games)
    assert sum(line.points for line in table) == sum(game.score is not Score.NEITHER for game in games)
    assert sum(line.games for line in table) == 2 * len(games)
    for line in table:
        assert line.games == line.wins + line.draws + line.losses
        assert line.points == line.wins + line.draws / 2


@given(some_games)
@settings(deadline=None, max_examples=60)
def test_the_crosstable_is_symmetric_and_adds_up_to_the_standings(games: list[GameScore]) -> None:
    table = crosstable(NAMES, games)
    assert list(table) == NAMES
    for row, column in itertools.permutations(NAMES, 2):
        between = [game for game in games if {game.first, game.second} == {row, column}]
        assert (column in table[row]) == (row in table[column]) == bool(between)
        if between:
            here, there = table[row][column], table[column][row]
            assert here.games == there.games == len(between)
            assert here.points + there.points == sum(game.score is not Score.NEITHER for game in between)
    for line in standings(NAMES, games):
        assert sum(cell.points for cell in table[line.name].values()) == line.points
        assert sum(cell.games for cell in table[line.name].values()) == line.games


def test_the_crosstable_holds_the_row_players_points_in_the_order_of_the_names() -> None:
    games = [*match("cat", "ann", 2, 1, 0), GameScore("ann", "cat", Score.NEITHER), *match("ann", "bob", 1, 0, 0)]
    table = crosstable(NAMES, games)
    assert table == {
        "ann": {"bob": Cell(1.0, 1), "cat": Cell(0.5, 4)},
        "bob": {"ann": Cell(0.0, 1)},
        "cat": {"ann": Cell(2.5, 4)},
        "dan": {},
    }
    assert list(table["ann"]) == ["bob", "cat"]


def test_a_double_forfeit_is_a_game_and_a_loss_for_both_and_leaves_the_ratings_alone() -> None:
    games = match("ann", "bob", 3, 1, 2)
    forfeits = [GameScore("bob", "ann", Score.NEITHER), GameScore("ann", "cat", Score.NEITHER)]
    assert ratings(NAMES, games + forfeits) == ratings(NAMES, games)
    lines = {line.name: line for line in standings(NAMES, games + forfeits)}
    ann, cat = lines["ann"], lines["cat"]
    assert (ann.games, ann.wins, ann.draws, ann.losses, ann.points) == (8, 3, 1, 4, 3.5)
    assert (cat.games, cat.wins, cat.draws, cat.losses, cat.points, cat.rating) == (1, 0, 0, 1, 0.0, None)


def test_standings_go_by_points_then_elo_then_name_with_the_unrated_last() -> None:
    """x and y have a point each, x against the stronger; the two of each last pair differ by name only."""
    games = [
        *match("top", "bottom", 9, 0, 1),
        *match("x", "top", 1, 0, 1),
        *match("y", "bottom", 1, 0, 1),
        *match("v", "u", 0, 2, 0),
        *match("lost", "top", 0, 0, 1),
    ]
    names = ["absent", "lost", "v", "u", "y", "x", "bottom", "top"]
    table = standings(names, games)
    assert [line.name for line in table] == ["top", "bottom", "x", "u", "v", "y", "lost", "absent"]
    assert {line.name: line.rating for line in table} == ratings(names, games)


def test_players_with_equal_results_are_ordered_by_name_and_not_by_rounding_errors() -> None:
    """Every result of a, b and c among themselves happens to f, e and d too, which makes a and f twins, and so on."""
    twins = {"a": "f", "b": "e", "c": "d"}
    for seed in range(20):
        games = round_robin({"a": 100, "b": 0, "c": -100}, 0.5, 3, random.Random(seed))
        games += [GameScore(twins[game.first], twins[game.second], game.score) for game in games]
        games += match("a", "f", 0, 1, 0)
        order = [line.name for line in standings(list("cafebd"), games)]
        assert all(order.index(name) < order.index(twin) for name, twin in twins.items())


def test_no_games_leave_everyone_unrated() -> None:
    assert ratings(NAMES, []) == dict.fromkeys(NAMES)
    assert [line.name for line in standings(NAMES, [])] == NAMES
    assert ratings([], []) == {}


@pytest.mark.parametrize(
    ("names", "game", "message"),
    [
        (["ann", "bob"], GameScore("ann", "eve", Score.DRAW), "'eve'"),
        (["ann", "bob"], GameScore("eve", "ann", Score.NEITHER), "'eve'"),
        (["ann", "bob"], GameScore("ann", "ann", Score.FIRST), "both players"),
        (["ann", "bob", "ann"], GameScore("ann", "bob", Score.FIRST), "twice"),
    ],
)
def test_games_of_unknown_or_doubled_players_are_refused(names: list[str], game: GameScore, message: str) -> None:
    for function in (ratings, standings, crosstable):
        with pytest.raises(ValueError, match=message):
            function(names, [game])
