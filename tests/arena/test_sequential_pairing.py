"""A sequential test gives out pairs until it is decided, and its verdict does not depend on which game ends first."""

import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
import trio
from executors import executor_here
from hypothesis import given, settings
from hypothesis import strategies as st
from unplayed import record_of, run_of

from arena.bots.spec import BotSpec
from arena.game.faults import GameResult
from arena.game.game_spec import GameSpec, Player
from arena.game.record import GameRecord
from arena.game.time_control import TimeControl
from arena.league.executor.task import GameTask
from arena.league.game_ids import Games
from arena.league.pairing.sequential import MOST_IN_VAIN, SequentialState, SequentialTest
from arena.league.play_missing import LeagueRun
from arena.league.ratings.sequential_test import Decision, Hypotheses, log_likelihood_ratio
from arena.league.settings import Settings
from arena.league.store import GameRow, PlayerTime, Store
from arena.stratego.game import variant_of
from arena.stratego.rules.rulesets import load_ruleset
from protocol.notation import Reason

GAMES = Games(Settings(variant_of(load_ruleset("duel")), TimeControl()))
NEW, OLD, OTHER = (Player(name, f"digest-of-{name}") for name in ("new", "old", "other"))
WIDE = Hypotheses(0, 200)
TIME = PlayerTime(1, 1, 1, 1)
Plays = Callable[[GameSpec], GameResult]


def pairing(budget: int = 100, hypotheses: Hypotheses = WIDE, ahead: int = 1000) -> SequentialTest:
    return SequentialTest(GAMES, (NEW, OLD), budget, hypotheses=hypotheses, ahead=ahead)


def row_of(game: GameSpec, result: GameResult, reason: Reason = Reason.FLAG) -> GameRow:
    return GameRow(1, game.id, game.players, result, reason, 1, "", (TIME, TIME), 0.1)


def new_wins(game: GameSpec) -> GameResult:
    return GameResult.RED if game.players[0] == NEW else GameResult.BLUE


def new_loses(game: GameSpec) -> GameResult:
    return GameResult.BLUE if game.players[0] == NEW else GameResult.RED


def at_random(seed: int, win: float) -> Plays:
    """A result for each game, whenever it is asked for: a third is drawn, and of the others a share won."""

    def play(game: GameSpec) -> GameResult:
        rng = random.Random(f"{seed} {game.id}")
        if rng.random() < 1 / 3:
            return GameResult.DRAW
        return new_wins(game) if rng.random() < win else new_loses(game)

    return play


def in_order(play: Plays, test: SequentialTest) -> SequentialState:
    """One game at a time, each told before the next one is asked for."""
    results: list[GameRow] = []
    while (batch := test.next(results)) is not None:
        results = [row_of(game, play(game)) for game in batch]
    return test.state


def at_once(play: Plays, test: SequentialTest, slots: int, rng: random.Random) -> SequentialState:
    """So many games at a time, which end in any order. All that were begun are told, to the last."""
    waiting: list[GameSpec] = []
    under_way: list[GameSpec] = []
    results: list[GameRow] = []
    is_exhausted = False
    while True:
        while not is_exhausted and len(under_way) + len(waiting) < slots:
            batch = test.next(results)
            results = []
            is_exhausted = batch is None
            if not batch:
                break
            waiting += batch
        while waiting and len(under_way) < slots:
            under_way.append(waiting.pop(0))
        if not under_way:
            test.tell(results)
            return test.state
        ended = under_way.pop(rng.randrange(len(under_way)))
        results.append(row_of(ended, play(ended)))


@pytest.mark.parametrize(("play", "decision"), [(new_wins, Decision.BETTER), (new_loses, Decision.NOT_BETTER)])
def test_it_stops_as_soon_as_it_is_decided(play: Plays, decision: Decision) -> None:
    test = pairing()
    state = in_order(play, test)
    assert state.decision is decision
    assert (state.wins, state.losses) == ((2 * state.pairs, 0) if play is new_wins else (0, 2 * state.pairs))
    before = list(state.counts)
    before[4 if play is new_wins else 0] -= 1
    llr = log_likelihood_ratio(WIDE, (before[0], before[1], before[2], before[3], before[4]))
    assert WIDE.decision(llr) is Decision.UNDECIDED
    assert test.next(()) is None


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.floats(0.3, 0.8), st.integers(1, 12))
def test_the_verdict_is_that_of_the_pairs_in_order_however_games_end(seed: int, win: float, slots: int) -> None:
    play = at_random(seed, win)
    assert at_once(play, pairing(60), slots, random.Random(seed)) == in_order(play, pairing(60))


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.integers(0, 80))
def test_a_test_that_goes_on_comes_to_the_same_verdict(seed: int, told: int) -> None:
    """Whatever was stored when it was stopped, in any order, and with games of others in between."""
    play, whole = at_random(seed, 0.6), pairing(60)
    expected = in_order(play, whole)
    games = [game for _ in range(60) for game in pairing_games(_)]
    rng = random.Random(seed)
    rng.shuffle(games)
    again = pairing(60)
    alien = GAMES.game(NEW, OTHER, 0)
    stored = [row_of(alien, GameResult.RED), *(row_of(game, play(game)) for game in games[:told])]
    again.tell(stored)
    known = {row.id for row in stored}
    results: list[GameRow] = []
    while (batch := again.next(results)) is not None:
        results = [row_of(game, play(game)) for game in batch if game.id not in known]
    assert again.state == expected


def pairing_games(number: int) -> Sequence[GameSpec]:
    return GAMES.game(NEW, OLD, number), GAMES.game(OLD, NEW, number)


def test_the_budget_ends_an_undecided_test_and_a_larger_one_goes_on() -> None:
    play = at_random(5, 0.5)
    small, large = (in_order(play, pairing(budget, Hypotheses(0, 10))) for budget in (7, 12))
    assert (small.pairs, small.decision, small.is_over) == (7, Decision.UNDECIDED, True)
    assert (large.pairs, large.is_over) == (12, True)
    again = pairing(12, Hypotheses(0, 10))
    again.tell(row_of(game, play(game)) for number in range(7) for game in pairing_games(number))
    assert again.state.counts == small.counts
    assert not again.state.is_over


def test_two_bots_that_never_start_are_undecided_and_are_not_played_to_the_end() -> None:
    test = pairing(hypotheses=Hypotheses(-100, 1))
    batch = test.next(())
    while batch:
        batch = test.next([row_of(game, GameResult.NEITHER, Reason.NO_START) for game in batch])
    state = test.state
    assert batch is None
    assert (state.decision, state.void, state.pairs) == (Decision.UNDECIDED, MOST_IN_VAIN, 0)
    assert state.never_started == (True, True)


def test_a_bot_that_never_starts_is_not_played_to_the_end() -> None:
    test = pairing(hypotheses=Hypotheses(0, 10))
    batch = test.next(())
    while batch:
        batch = test.next([row_of(game, new_loses(game), Reason.NO_START) for game in batch])
    assert batch is None
    assert (test.state.pairs, test.state.never_started) == (MOST_IN_VAIN, (True, False))


def test_void_pairs_use_up_the_budget_and_those_after_them_count() -> None:
    test = pairing(budget=4, hypotheses=Hypotheses(0, 10))
    first = test.next(()) or ()
    batch = test.next([row_of(game, GameResult.NEITHER, Reason.CRASH) for game in first])
    while batch:
        batch = test.next([row_of(game, new_loses(game), Reason.NO_START) for game in batch])
    assert (test.state.over, test.state.pairs, test.state.void) == (4, 3, 1)
    assert test.state.counts[0] == 3
    assert test.state.never_started == (False, False), "it started, and crashed, in the first pair"


# --- where games are played -------------------------------------------------------------------------------------------


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "c.sqlite", create=True) as store:
        yield store


def play_all(test: SequentialTest, store: Store, play: Callable[[GameTask], GameRecord]) -> LeagueRun:
    bots = {player: BotSpec(player.name, Path(), (), Path(), player.digest) for player in (NEW, OLD)}
    run = run_of(test, bots, store)

    async def played(task: GameTask) -> GameRecord:
        return play(task)

    async def main() -> None:
        async with executor_here(played, 4) as executor:
            await run.play(executor)

    trio.run(main)
    return run


def test_a_store_that_has_decided_is_not_added_to(store: Store) -> None:
    def play(task: GameTask) -> GameRecord:
        return record_of(task.spec, new_wins(task.spec))

    assert play_all(pairing(ahead=3), store, play).is_complete
    stored = len({row.id for row in store.rows()})
    again = pairing()
    assert play_all(again, store, play).is_complete
    assert len({row.id for row in store.rows()}) == stored
    assert again.state.counts == in_order(new_wins, pairing()).counts
    assert stored <= 2 * (again.state.pairs + 3)
