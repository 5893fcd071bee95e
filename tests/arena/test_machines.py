"""Games by machine: who is compared, and what is said of it."""

from pathlib import Path

import msgspec
import pytest
from unplayed import record_of

from arena.game.game_spec import GameSpec, Player
from arena.game.record import GameRecord
from arena.game.time_control import TimeControl
from arena.game.verdict import GameResult, Verdict
from arena.league.store import Store
from arena.play.machine import played_on, worker_of
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


def test_a_store_keeps_what_a_record_says_of_its_worker(tmp_path: Path) -> None:
    with Store(tmp_path / "l.sqlite", create=True) as store:
        added = store.add(record(1, on("attic"), GameResult.RED))
        stored = store.stored(added.number).record
    assert stored is not None
    assert machine_of(stored) == "attic"
