"""What a record says of its machine, games by machine, and whether results depend on it."""

import platform
from collections import Counter
from random import Random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from unplayed import record_of

from arena.game.faults import GameResult, Verdict
from arena.game.game_spec import GameSpec, Player
from arena.game.record import GameRecord
from arena.game.time_control import TimeControl
from arena.league.ratings.homogeneity import chi_square_tail, homogeneity
from arena.play.machine import LONGEST, played_on, this_machine, worker_of
from arena.report.machines import NO_MACHINE, by_machine, machine_of, verdict_text
from arena.stratego.game import variant_of
from arena.stratego.rules.rulesets import load_ruleset
from protocol.notation import Reason

LINUX = "Linux 6.1.0 x86_64, 4 CPUs (A; worker of the year), CPython 3.11.7"
ANN, BOB = Player("ann", "a" * 64), Player("bob", "b" * 64)


def record(
    number: int,
    machine: str | msgspec.UnsetType,
    result: GameResult,
    reason: Reason = Reason.FLAG,
    seconds: float = 1.0,
) -> GameRecord:
    spec = GameSpec(f"{number:016x}", variant_of(load_ruleset("duel")), TimeControl(), (ANN, BOB), (1, 2), 3)
    verdict = Verdict(result, reason, 0, "in words")
    return msgspec.structs.replace(
        record_of(spec), times_us=(1000, 3000), verdict=verdict, seconds=seconds, machine=machine
    )


def on(worker: str) -> str:
    return played_on(LINUX, worker, 0.5, 25_000)


@pytest.mark.parametrize("name", ["attic", "10.0.0.3", "two words, and more"])
def test_the_worker_of_a_record_is_the_one_that_was_written(name: str) -> None:
    assert worker_of(on(name)) == name


def test_without_a_cluster_the_machine_is_what_the_record_says() -> None:
    assert worker_of(LINUX) == ""
    assert machine_of(record(1, LINUX, GameResult.RED)) == LINUX
    assert machine_of(record(1, msgspec.UNSET, GameResult.RED)) == NO_MACHINE


def test_games_are_counted_by_machine() -> None:
    entry = by_machine(
        [
            record(1, on("a"), GameResult.RED),
            record(2, on("a"), GameResult.DRAW, Reason.PLY_CAP),
            record(3, on("b"), GameResult.BLUE, Reason.TIMEOUT),
            record(4, on("b"), GameResult.NEITHER, Reason.NO_START, seconds=10.2),
        ]
    )
    a, b = entry.machines
    assert (a.machine, a.games, a.red_score, a.late, a.mean_ms) == ("a", 2, 0.75, 0, 2.0)
    assert (b.machine, b.games, b.red_score, b.late) == ("b", 2, 0.0, 2)
    assert entry.compared == 4


@pytest.mark.parametrize("seconds", [0.0, 9.9])
def test_a_bot_that_is_broken_or_exits_at_once_is_not_late(seconds: float) -> None:
    """It had ten seconds to start, and did not need a CPU for them."""
    (one,) = by_machine([record(1, on("a"), GameResult.RED, Reason.NO_START, seconds)]).machines
    assert one.late == 0


def test_what_depends_on_the_machine_is_said_and_what_does_not_is_not() -> None:
    unfair = [record(n, on("ab"[n % 2]), GameResult.RED if n % 2 else GameResult.BLUE) for n in range(40)]
    assert verdict_text(by_machine(unfair)).startswith("Results depend on the machine: p = ")
    fair = [record(n, on("ab"[n % 2]), GameResult.RED if n % 4 < 2 else GameResult.BLUE) for n in range(40)]
    assert verdict_text(by_machine(fair)).startswith("No sign that results depend on the machine: p = ")
    assert "No two machines can be compared" in verdict_text(by_machine([record(1, on("a"), GameResult.RED)]))


def test_the_machine_is_described_without_its_name() -> None:
    words = this_machine()
    assert words.isprintable()
    assert len(words) <= LONGEST
    assert platform.machine() in words
    assert platform.python_version() in words
    node = platform.node()
    assert len(node) < 6 or node not in words


Game = tuple[str, str, str]


def random_games(random: Random, groups: int, games: int, red: dict[str, float]) -> list[Game]:
    machines = sorted(red)
    found = []
    for group in range(groups):
        for _ in range(games):
            machine = random.choice(machines)
            draw = random.random()
            found.append((f"{group}", machine, "red" if draw < red[machine] else "blue" if draw < 0.95 else "draw"))
    return found


@given(st.floats(1e-6, 1e4), st.integers(1, 5000))
@settings(max_examples=100, deadline=None)
def test_the_tail_is_that_of_another_implementation(value: float, degrees: int) -> None:
    stats = pytest.importorskip("scipy.stats")
    assert chi_square_tail(value, degrees) == pytest.approx(stats.chi2.sf(value, degrees), rel=1e-7, abs=1e-12)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xyz")), min_size=2, max_size=60))
@settings(max_examples=50, deadline=None)
def test_of_one_group_chi_square_is_that_of_another_implementation(games: list[tuple[str, str]]) -> None:
    stats = pytest.importorskip("scipy.stats")
    cells = Counter(games)
    machines, results = sorted({a for a, _ in cells}), sorted({b for _, b in cells})
    found = homogeneity(("g", machine, result) for machine, result in games)
    if len(machines) < 2 or len(results) < 2:
        assert (found.degrees, found.p) == (0, 1.0)
        return
    table = [[cells[machine, result] for result in results] for machine in machines]
    expected = stats.chi2_contingency(table, correction=False)
    assert found.chi_square == pytest.approx(expected.statistic * (len(games) - 1) / len(games))
    assert found.degrees == expected.dof


def test_where_nothing_depends_on_the_machine_p_is_that_of_shuffled_machines() -> None:
    random = Random(5)
    for _ in range(5):
        games = random_games(random, 12, 14, {"a": 0.5, "b": 0.5, "c": 0.5})
        found = homogeneity(games)
        reached = 0
        for _ in range(300):
            shuffled = []
            for group in {group for group, _, _ in games}:
                own = [game for game in games if game[0] == group]
                machines = [machine for _, machine, _ in own]
                random.shuffle(machines)
                shuffled += [(group, machine, game[2]) for machine, game in zip(machines, own, strict=True)]
            reached += homogeneity(shuffled).chi_square >= found.chi_square - 1e-9
        assert found.p == pytest.approx(reached / 300, abs=0.12)


def test_games_of_different_bots_are_never_compared() -> None:
    games = [("1", "a", "red")] * 50 + [("2", "b", "blue")] * 50
    assert homogeneity(games) == homogeneity([])
    assert homogeneity(games).p == 1.0
